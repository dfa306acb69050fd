/// A parameter that only names the queue of the callback.
struct QueueParameter {
  let index: Int

  /// The argument that a counterpart passes; `nil` if it uses the function's default.
  let argument: String?

  /// Finds the parameter with `configuredName`, or without one a queue with a known name; `nil` if no parameter fits.
  ///
  /// A `queue` without a default might be the queue of the work, so it stays a parameter.
  init?(_ declaration: Declaration, _ aliases: TypeAliases, _ configuredName: String?) {
    let parameters = declaration.parameters
    let candidates = parameters.indices.filter { index in
      let parameter = parameters[index]
      let names = [parameter.label, parameter.name]
      if let configuredName { return names.contains(configuredName) }
      let type = aliases.wrapped(parameter.type) ?? aliases.resolve(parameter.type)
      let types = ["DispatchQueue", "Dispatch.DispatchQueue", "OperationQueue", "Foundation.OperationQueue"]
      guard types.contains(type.text) else { return false }  // `withCanonicalTypes` keeps the module of a C type
      return names.contains { CallbackNames.isQueue($0, hasDefault: parameter.defaultValue != nil) }
    }
    // With `hasDefault: false` only a clear name such as `callbackQueue` matches. It wins over `queue = .main`.
    let named = candidates.first { index in
      [parameters[index].label, parameters[index].name].contains { CallbackNames.isQueue($0, hasDefault: false) }
    }
    guard let found = named ?? candidates.first else { return nil }
    index = found
    let type = aliases.resolve(parameters[found].type)
    if parameters[found].defaultValue != nil {
      argument = nil
    } else if aliases.isOptional(type) {
      argument = "nil"
    } else if type.text.hasSuffix("DispatchQueue") {
      argument = ".global()"
    } else if ["OperationQueue", "Foundation.OperationQueue"].contains(type.text) {
      argument = "OperationQueue()"
    } else {
      // No argument is known for the type, so counterparts keep the parameter.
      return nil
    }
  }
}
