/// The delay between two attempts of `retry`.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
public enum RetryDelay: Sendable {
  /// No delay.
  case none
  /// The same delay after each attempt.
  case constant(Duration)
  /// A growing delay: `initial`, then `multiplier` times the previous delay, at most `maximum`.
  ///
  /// A negative multiplier counts as zero.
  case exponential(initial: Duration, multiplier: Double, maximum: Duration)
  /// The delay that the closure returns for the number of the failed attempt, counted from 1.
  case custom(@Sendable (_ attempt: Int) -> Duration)

  /// Spreads each delay evenly over ± `fraction` of it, so that many clients do not retry at the same time.
  /// - Parameter fraction: From 0 (no change) to 1. A value outside is clamped.
  /// - Returns: The new policy.
  public func jittered(_ fraction: Double) -> RetryDelay {
    jittered(fraction) { Double.random(in: -1...1) }
  }

  /// As `jittered(_:)`, with the given source of random numbers from -1 to 1.
  package func jittered(_ fraction: Double, random: @escaping @Sendable () -> Double) -> RetryDelay {
    guard fraction > 0 else { return self }
    let fraction = min(fraction, 1)
    return .custom { attempt in delay(after: attempt).scaled(by: 1 + fraction * random()) }
  }

  /// Returns the delay after the attempt with the given number.
  @usableFromInline
  package func delay(after attempt: Int) -> Duration {
    switch self {
    case .none: .zero
    case .constant(let delay): delay
    case .exponential(let initial, let multiplier, let maximum):
      min(initial.scaled(by: power(max(multiplier, 0), attempt - 1)), maximum)
    case .custom(let delay): delay(attempt)
    }
  }
}

/// Returns `base` to the power of `exponent` (0 or more) by squaring; `pow` would need libm, as `Int64.nearest(to:)` explains.
private func power(_ base: Double, _ exponent: Int) -> Double {
  var (result, square, rest) = (1.0, base, exponent)
  while rest > 0 {
    if rest & 1 == 1 { result *= square }
    square *= square
    rest >>= 1
  }
  return result
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Duration {
  /// Returns the duration times `factor`, at most 2⁶² seconds; zero if `factor` or the duration is negative, or `factor` is NaN.
  fileprivate func scaled(by factor: Double) -> Duration {
    guard factor > 0, self > .zero else { return .zero }
    let longest = Duration.seconds(Int64.max / 2)  // below the overflow, and far above the 292 years of a timer
    // In seconds, because `self * factor` would trap if it overflowed.
    guard self / .seconds(1) * factor < longest / .seconds(1) else { return longest }
    return self * factor
  }
}
