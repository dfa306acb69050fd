import Testing

extension Trait where Self == ConditionTrait {
  /// Disables tests while LeakSanitizer looks for leaks.
  ///
  /// Foundation for Linux never frees an ended `Process`, the timers of a run loop whose thread has ended, and some
  /// memory that libcurl allocates for a transfer.
  static var unlessLookingForLeaks: Self {
    #if ASAN
      .disabled("Foundation leaks here")
    #else
      .enabled(if: true)
    #endif
  }
}

extension Result {
  /// The value of a success.
  var value: Success? { if case .success(let value) = self { value } else { nil } }

  /// The error of a failure.
  var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
