internal import Dispatch

extension GraphBuilder {
  /// The name of a queue or a custom context.
  static func name(of context: AnyObject) -> String {
    guard let queue = context as? DispatchQueue else { return "a custom context" }
    return queue.label == DispatchQueue.main.label ? "the main queue" : "the queue \"\(queue.label)\""
  }

  /// Tells contexts apart.
  ///
  /// On Linux each use of the main queue or of a global one can have another object, so these go by their labels.
  static func identity(of context: AnyObject) -> AnyHashable {
    if let queue = context as? DispatchQueue {
      let label = queue.label
      if label == DispatchQueue.main.label || label.hasPrefix("com.apple.root.") { return label }
    }
    return ObjectIdentifier(context)
  }
}

extension WaitForGraph.Node.Kind {
  init(_ kind: PendingEntry.Kind) {
    self =
      switch kind {
      case .promise: .promise
      case .task: .task
      case .request: .request
      case .process: .process
      case .join: .join
      case .timer: .timer
      case .work: .work
      case .await: .await
      case .wrappedCallback: .wrappedCallback
      case .callbackStream: .callbackStream
      case .state: .future
      }
  }
}
