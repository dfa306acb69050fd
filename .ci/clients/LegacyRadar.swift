// A legacy module: its closures are not `@Sendable`, and it calls them on its own thread.
import Foundation

public final class Radar {
  public init() {}

  public func scan(progress: @escaping (Int, Int) -> Void, done: @escaping (Int?, (any Error)?) -> Void) {
    onAnotherThread {
      progress(1, 2)
      done(1, nil)
    }
  }

  public func scan(bytes: @escaping (Int64, Int64) -> Void, done: @escaping (Int?, (any Error)?) -> Void) {
    onAnotherThread {
      bytes(1, 2)
      done(1, nil)
    }
  }

  public func scan(fraction: @escaping (Double) -> Void, done: @escaping (Int?, (any Error)?) -> Void) {
    onAnotherThread {
      fraction(0.5)
      done(1, nil)
    }
  }

  public func scan(float: @escaping (Float) -> Void, done: @escaping (Int?, (any Error)?) -> Void) {
    onAnotherThread {
      float(0.5)
      done(1, nil)
    }
  }

  public func scan(foundation: @escaping (Progress) -> Void, done: @escaping (Int?, (any Error)?) -> Void) {
    onAnotherThread {
      let progress = Progress(totalUnitCount: 2)
      progress.completedUnitCount = 1
      foundation(progress)
      done(1, nil)
    }
  }

  private func onAnotherThread(_ work: @escaping () -> Void) { DispatchQueue.global().async(execute: work) }
}
