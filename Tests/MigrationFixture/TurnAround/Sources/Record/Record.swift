import Dispatch
import OldPost
import Post
import Synchronization

// Each function in both forms, with a result and with an error. A line has the form, the name, the result and the place.
// Before and after `turn-around`, this prints the same.

private let place = DispatchSpecificKey<String>()

@MainActor private func callback<Value>(
  _ name: String,
  _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
) async {
  let line: String = await withCheckedContinuation { continuation in
    start { result in
      let place = DispatchQueue.getSpecific(key: place) ?? "elsewhere"
      continuation.resume(returning: "\(text(result)) on \(place)")
    }
    print("returned \(name)")
  }
  print("callback \(name): \(line)")
}

@MainActor private func awaited<Value: Sendable>(
  _ name: String,
  on place: String = "main",
  _ work: () async throws -> Value
) async {
  do {
    print("async \(name): \(text(Result<Value, any Error>.success(try await work()))) on \(place)")
  } catch {
    print("async \(name): \(text(Result<Value, any Error>.failure(error))) on \(place)")
  }
}

private final class Steps: Sendable {
  private let steps = Mutex<[Double]>([])

  var all: [Double] { steps.withLock(\.self) }

  func add(_ step: Double) { steps.withLock { $0.append(step) } }
}

private func text<Value>(_ result: Result<Value, some Error>) -> String {
  switch result {
  case .success(let value): "\(value)"
  case .failure(let error): "\(error)"
  }
}

private func result<Value>(_ value: Value?, _ error: (any Error)?) -> Result<Value, any Error> {
  value.map { .success($0) } ?? .failure(error ?? CancellationError())
}

@main @MainActor struct Record {
  static func main() async {
    DispatchQueue.main.setSpecific(key: place, value: "main")
    let desk = DispatchQueue(label: "desk")
    desk.setSpecific(key: place, value: "desk")
    let office = Office(desk: desk)
    for id in [1, -1] {
      await callback("weight \(id)") { office.weight(of: id, completion: $0) }
      await awaited("weight \(id)") { try await office.weight(of: id) }
      await callback("stamp \(id)") { done in office.stamp(id) { done($0.mapError { $0 }) } }
      await awaited("stamp \(id)") {
        do { return try await office.stamp(id) } catch { throw PostError.other(error) }
      }
      await callback("insure \(id)") { done in office.insure(id) { done($0.mapError { $0 }) } }
      await awaited("insure \(id)", on: "desk") { try await office.insure(id) }
      await callback("label \(id)") { done in office.label(of: id) { done(result($0, $1)) } }
      await awaited("label \(id)") { try await office.label(of: id) }
      await callback("size \(id)") { done in
        office.size(of: id) { width, height, error in
          done(result(width.flatMap { width in height.map { (width: width, height: $0) } }, error))
        }
      }
      await awaited("size \(id)") { try await office.size(of: id) }
      await callback("send \(id)") { done in office.send(id) { done($0.map { .failure($0) } ?? .success(())) } }
      await awaited("send \(id)") { try await office.send(id) as Void }
      await callback("find \(id)") { done in
        office.find(id, success: { done(.success($0)) }, failure: { done(.failure($0)) })
      }
      await awaited("find \(id)") { try await office.find(id) }
      await callback("sort \(id)") { office.sort(id, completion: $0) }
      await awaited("sort \(id)") { try await office.sort(id) }
      await callback("sort at desk \(id)") { office.sort(id, queue: desk, completion: $0) }
      await awaited("sort at desk \(id)", on: "desk") { try await office.sort(id) }
      await callback("address \(id)") { office.address(of: id, completion: $0) }
      await awaited("address \(id)", on: "elsewhere") { try await office.address(of: id) }
      await callback("order \(id)") { office.order(id, completion: $0) }
      await awaited("order \(id)") { try await office.order(id) }
      await callback("pay \(id)") { office.pay(id, completion: $0) }
      await awaited("pay \(id)") { try await office.pay(id) }
      let steps = Steps()
      await callback("pack \(id)") { office.pack(id, progress: { steps.add($0) }, completion: $0) }
      await awaited("pack \(id)") { try await office.pack(id, progress: { steps.add($0) }) }
      print("progress \(steps.all)")
      await old(id)
    }
    await callback("count") { done in office.count { done(.success($0)) } }
    await awaited("count") { await office.count() }
    await callback("close") { done in office.close { done(.success(())) } }
    await awaited("close") { await office.close() }
    await handles(office)
  }

  private static func old(_ id: Int) async {
    let stall = Stall()
    await callback("price \(id)") { stall.price(of: id, completion: $0) }
    await awaited("price \(id)") { try await stall.price(of: id) }
    await callback("stock \(id)") { done in stall.stock(of: id) { done(result($0, $1)) } }
    await awaited("stock \(id)") { try await stall.stock(of: id) }
    let window = Window()
    await callback("window \(id)") { done in window.open(id) { done(result($0, $1)) } }
    await awaited("window \(id)") { try await window.open(id) }
  }

  /// Cancelling a handle ends the work.
  private static func handles(_ office: Office) async {
    await callback("track") { office.track(1, completion: $0).cancel() }
    await callback("mail") { office.mail(1, completion: $0).cancel() }
    for work in ["track", "mail"] {
      let task = Task { _ = work == "track" ? try await office.track(1) : try await office.mail(1) }
      task.cancel()
      await awaited(work) { try await task.value }
    }
  }
}
