/// How long `retry` waits between two attempts.
public enum RetryDelay: Sendable {
  /// Not at all.
  case none
  /// Always as long.
  case constant(Duration)
  /// `initial` after the first attempt, `multiplier` times as long after each further one, at most `maximum`.
  ///
  /// A negative multiplier counts as zero.
  case exponential(initial: Duration, multiplier: Double, maximum: Duration)
  /// As long as the closure says, which gets the number of the attempt that failed, from 1.
  case custom(@Sendable (_ attempt: Int) -> Duration)

  /// The same policy with each delay spread evenly over ± `fraction` of it, so that many clients do not come back as one.
  /// - Parameter fraction: From 0, which changes nothing, to 1; what is outside is taken for the nearer of them.
  /// - Returns: The policy.
  public func jittered(_ fraction: Double) -> RetryDelay {
    jittered(fraction) { Double.random(in: -1...1) }
  }

  /// The same, with a source of numbers from -1 to 1.
  package func jittered(_ fraction: Double, random: @escaping @Sendable () -> Double) -> RetryDelay {
    guard fraction > 0 else { return self }
    let fraction = min(fraction, 1)
    return .custom { attempt in delay(after: attempt).scaled(by: 1 + fraction * random()) }
  }

  /// How long to wait after the attempt with the given number.
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

/// `base` to the power of `exponent`, which is not negative, by squaring.
private func power(_ base: Double, _ exponent: Int) -> Double {
  var (result, square, rest) = (1.0, base, exponent)
  while rest > 0 {
    if rest & 1 == 1 { result *= square }
    square *= square
    rest >>= 1
  }
  return result
}

extension Duration {
  /// The duration times `factor`, or the longest there is if that is too long; zero if `factor` is negative or no number.
  fileprivate func scaled(by factor: Double) -> Duration {
    guard factor > 0, self > .zero else { return .zero }
    let longest = Duration.seconds(Int64.max / 2)
    guard self / .seconds(1) * factor < longest / .seconds(1) else { return longest }
    return self * factor
  }
}
