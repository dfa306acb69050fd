/// A value that is not `Sendable` and calls a closure when it is released.
final class Page {
  let number: Int
  private let onRelease: () -> Void

  init(_ number: Int, onRelease: @escaping () -> Void = {}) {
    self.number = number
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}
