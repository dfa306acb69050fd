/// Tells LeakSanitizer to ignore what the calling thread allocates from now on.
///
/// For a separate process with a circle of futures, which nothing ever releases.
public func ignoreLeaksFromNowOn() {
  #if ASAN
    disableLeakCheck()
  #endif
}

#if ASAN
  @_silgen_name("__lsan_disable") private func disableLeakCheck()
#endif
