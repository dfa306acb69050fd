import Dispatch
import Foundation

public struct NoLetter: Error {}

/// Its closures have no annotations.
public final class Stall {
  public init() {}

  private func work(_ id: Int, _ completion: @escaping (Int?) -> Void) {
    DispatchQueue.global().async { completion(id > 0 ? 10 * id : nil) }
  }

  public func price(of id: Int, completion: @escaping (Result<Int, Error>) -> Void) {
    work(id) { price in
      DispatchQueue.main.async { completion(price.map { .success($0) } ?? .failure(NoLetter())) }
    }
  }

  public func price(of id: Int) async throws -> Int {
    guard id > 0 else { throw NoLetter() }
    return 10 * id
  }

  public func stock(of id: Int, completion: ((Int?, Error?) -> Void)?) {
    work(id) { price in
      DispatchQueue.main.async {
        if let price { completion?(price, nil) } else { completion?(nil, NoLetter()) }
      }
    }
  }

  public func stock(of id: Int) async throws -> Int { try await price(of: id) }
}

@MainActor public final class Window {
  private var opened = 0

  public init() {}

  public func open(_ id: Int, then completion: @escaping (String?, Error?) -> Void) {
    DispatchQueue.global().async {
      DispatchQueue.main.async { if id > 0 { completion("window \(id)", nil) } else { completion(nil, NoLetter()) } }
    }
  }

  public func open(_ id: Int) async throws -> String {
    guard id > 0 else { throw NoLetter() }
    opened += 1
    return "window \(id)"
  }
}
