internal import Foundation

/// The names of counterparts.
enum CounterpartNames {
  /// The name of the future counterpart: `user(id:completion:)` becomes `userFuture(id:)`.
  static func future(of base: String) -> String { base + "Future" }

  /// The name of an async counterpart that cannot have the name of its function: `save` becomes `saveAsync`, and
  /// `saveAsync` becomes `save`.
  static func other(for base: String) -> String {
    let ending = "Async"
    return base.hasSuffix(ending) && base.count > ending.count ? String(base.dropLast(ending.count)) : base + ending
  }
}

extension FunctionKnowledge {
  /// The other base name of the counterpart; `nil` if the package names none.
  func newName(of name: String) -> String? { value(.renames)?.replacingOccurrences(of: "*", with: name) }
}

extension Counterparts {
  /// The async counterpart of a function, with the name that no existing call means.
  struct Named {
    let counterpart: ExpectedCounterpart

    /// Why the counterpart has not the name of its function; `nil` if it has, or if the package names it.
    var otherName: Refusal.OtherName?

    /// A declaration that a call of the counterpart could mean under both names; `nil` for none.
    var rival: Refusal.OtherName?
  }

  /// Names the async counterpart of a function.
  ///
  /// `renamed` is the base name that the package gives. The types in `scopes` can have the counterpart, and `conformers`
  /// inherit it.
  func named(
    _ declaration: Declaration,
    _ callbacks: Callbacks,
    renamed: String?,
    in scopes: [String],
    conformers: [String]
  ) -> Named {
    func named(_ name: String?) -> Named {
      let found = counterpart(.async, of: declaration, callbacks, renamed: name, in: scopes)
      let rival = rival(of: found, declaration, callbacks, in: scopes + conformers)
      return Named(counterpart: found, rival: rival.map { .isThere($0) })
    }
    let plain = named(renamed)
    guard renamed == nil, !plain.counterpart.exists else { return plain }
    let canOmit = callbacks.indices.allSatisfy { declaration.parameters[$0].defaultValue != nil }
    guard let reason = plain.rival ?? (canOmit ? .callbackIsOptional : nil) else {
      return plain
    }
    var other = named(CounterpartNames.other(for: declaration.plainName))
    guard other.rival == nil else { return plain.rival == nil ? other : plain }
    other.otherName = reason
    return other
  }
}
