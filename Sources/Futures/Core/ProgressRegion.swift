/// The part of a whole for which a stage counts: `[offset, offset + width]` of 0...1.
///
/// A chain of `flatMap` splits the whole again and again; each stage knows its region, so that the progress of its source can
/// be placed in the whole without a look at the others.
@frozen
@usableFromInline
struct ProgressRegion: Sendable {
  @usableFromInline var offset: Double
  @usableFromInline var width: Double

  @inlinable
  init(offset: Double, width: Double) {
    self.offset = offset
    self.width = width
  }

  @inlinable
  static var whole: ProgressRegion { ProgressRegion(offset: 0, width: 1) }

  /// What `share` of the whole leaves; a share of everything, which stages that pass progress on have, leaves the whole.
  @inlinable
  static func rest(after share: Double) -> ProgressRegion {
    share < 1 ? ProgressRegion(offset: share, width: 1 - share) : .whole
  }

  /// The same part of this region as `part` is of the whole.
  @inlinable
  func of(_ part: ProgressRegion) -> ProgressRegion {
    ProgressRegion(offset: offset + width * part.offset, width: width * part.width)
  }

  var isWhole: Bool { offset == 0 && width == 1 }
}

/// A part of a whole in units of 2⁻⁶², so that parts add up to the same in whatever order they come, and one that is taken
/// away leaves no trace.
struct ProgressPart: Comparable {
  private var units: Int64

  private init(units: Int64) { self.units = units }

  /// The part nearest to `fraction`, which is clamped to 0...1.
  init(_ fraction: Double) { units = Int64(fraction.clampedToFraction * 0x1p62) }

  static let nothing = ProgressPart(0)
  static let whole = ProgressPart(1)

  var fraction: Double { Double(units) * 0x1p-62 }

  static func + (left: Self, right: Self) -> Self { Self(units: left.units + right.units) }
  static func - (left: Self, right: Self) -> Self { Self(units: left.units - right.units) }
  static func < (left: Self, right: Self) -> Bool { left.units < right.units }

  /// This part of another: `part * 0.5` is half of it.
  static func * (left: Self, right: Double) -> Self {
    // All of it without rounding, so that what has ended counts in full.
    right >= 1 ? left : Self(left.fraction * right)
  }
}
