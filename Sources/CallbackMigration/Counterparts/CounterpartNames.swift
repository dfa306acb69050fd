internal import Foundation

extension Declaration {
  /// The name of an async counterpart that cannot have the name of its function: `save` becomes `saveAsync`, and
  /// `saveAsync` becomes `save`.
  var otherName: String {
    let (base, ending) = (plainName, "Async")
    return base.hasSuffix(ending) && base.count > ending.count ? String(base.dropLast(ending.count)) : base + ending
  }

  /// Whether a caller can leave out all callbacks, because each has a default.
  func canOmit(_ callbacks: Callbacks) -> Bool { callbacks.indices.allSatisfy { parameters[$0].defaultValue != nil } }
}

extension FunctionKnowledge {
  /// The base name that the configuration gives the counterpart; `nil` if it gives none.
  func newName(of name: String) -> String? { values[.renames]?.replacingOccurrences(of: "*", with: name) }
}

extension Counterparts {
  /// The async counterpart of a function, if possible with a name that no existing call means.
  struct Named {
    let counterpart: ExpectedCounterpart

    /// Why the counterpart does not have the name of its function; `nil` if it has, or if the package names it.
    var reasonForOtherName: Refusal.OtherName?

    /// The title of an existing declaration that calls of the counterpart could mean; `nil` if the name is free.
    var rival: String?
  }

  /// Names the async counterpart of a function.
  ///
  /// `renamed` is the base name from the package. `scopes` are the function's type, its superclasses and protocols: each can
  /// have the counterpart already. `conformers` are the types that inherit it. If `isClass`, they are subclasses.
  func named(
    _ declaration: Declaration,
    _ callbacks: Callbacks,
    renamed: String?,
    in scopes: [String],
    _ conformers: [String],
    isClass: Bool
  ) -> Named {
    // Makes the counterpart with this base name (`nil`: the default name), and finds a declaration that the name collides with.
    func attempt(_ baseName: String?) -> Named {
      let found = counterpart(.async, of: declaration, callbacks, renamed: baseName, in: scopes)
      let plainName = found.name.filter { $0 != "`" }  // `rivals` has the names without backticks
      // An async function with the same parameters is a rival only in a subclass, where it could not override the counterpart.
      let (members, subclasses) = (scopes + conformers, isClass ? conformers : [])
      let rival = rivals.title(of: plainName, declaration, without: callbacks.omitted, in: members, subclasses, aliases)
      return Named(counterpart: found, rival: rival)
    }
    let plain = attempt(renamed)
    // A name from the package is never replaced, nor the name of an existing counterpart.
    guard renamed == nil, !plain.counterpart.exists else { return plain }
    // A call without an optional callback means the function now; in async code it would mean the counterpart.
    let optional: Refusal.OtherName? = declaration.canOmit(callbacks) ? .callbackIsOptional : nil
    guard let reason = plain.rival.map(Refusal.OtherName.isThere) ?? optional else { return plain }
    var other = attempt(declaration.otherName)
    if other.rival == nil {
      other.reasonForOtherName = reason
      return other
    }
    // Neither name fits. Returns a counterpart that has a rival, so that the plan refuses it: the first one, or else the other.
    return plain.rival == nil ? other : plain
  }
}
