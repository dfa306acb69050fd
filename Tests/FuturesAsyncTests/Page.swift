/// A value that is not `Sendable`, and says when it goes away.
final class Page {
  let number: Int
  private let onRelease: () -> Void

  init(_ number: Int, onRelease: @escaping () -> Void = {}) {
    self.number = number
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}
