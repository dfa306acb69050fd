internal import Dispatch

extension GraphBuilder {
  /// The name of a queue or a custom context; compares labels, because on Linux the main queue can have several objects.
  static func name(of context: AnyObject) -> String {
    guard let queue = context as? DispatchQueue else { return "a custom context" }
    return queue.label == DispatchQueue.main.label ? "the main queue" : "the queue \"\(queue.label)\""
  }

  /// Returns a key that is equal for the same context, so that its callbacks become one node.
  ///
  /// On Linux each use of the main queue or of a global queue can have another object, so their labels identify them.
  static func identity(of context: AnyObject) -> AnyHashable {
    if let queue = context as? DispatchQueue {
      let label = queue.label
      if label == DispatchQueue.main.label || label.hasPrefix("com.apple.root.") { return label }
    }
    return ObjectIdentifier(context)
  }
}
