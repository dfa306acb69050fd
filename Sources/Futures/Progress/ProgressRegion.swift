/// The region of the whole that a stage fills: `[offset, offset + width]` of 0...1.
///
/// A chain of `flatMap` splits the whole again and again. Each stage knows its region. So the progress of its source
/// maps to the whole without access to the other stages.
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

  /// Returns the region of the future after a source with `share`: the rest, or the whole, because an empty rest shows nothing.
  @inlinable
  static func rest(after share: Double) -> ProgressRegion {
    share < 1 ? ProgressRegion(offset: share, width: 1 - share) : .whole
  }

  /// Returns `part` of the whole, mapped to the same part of this region.
  @inlinable
  func of(_ part: ProgressRegion) -> ProgressRegion {
    ProgressRegion(offset: offset + width * part.offset, width: width * part.width)
  }

  var isWhole: Bool { offset == 0 && width == 1 }
}

/// Where a stage stands in the progress of the state that it resolves.
@frozen
@usableFromInline
package struct ProgressPlace: Sendable {
  /// The region for the stage's source, and for the future that its transform makes.
  @usableFromInline var region: ProgressRegion

  /// The source's share of the region.
  ///
  /// The rest is for the future that a transform makes. A stage that passes progress on has a share of 1: its source, and then
  /// that future, fills the whole region.
  @usableFromInline var share: Double

  @inlinable
  init(region: ProgressRegion = .whole, share: Double) {
    self.region = region
    self.share = share
  }

  static var whole: ProgressPlace { ProgressPlace(share: 1) }

  var regionOfSource: ProgressRegion { region.of(ProgressRegion(offset: 0, width: share)) }

  /// The place of the stage after its transform has run: the future that the transform made fills the region after the share.
  var next: ProgressPlace { ProgressPlace(region: region.of(.rest(after: share)), share: 1) }

  /// Returns this place, mapped into the region of `outer`.
  func inside(_ outer: ProgressPlace) -> ProgressPlace {
    ProgressPlace(region: outer.region.of(region), share: share)
  }
}

/// A part of the whole, in units of 2⁻⁶².
///
/// Integers, so that a sum does not depend on the order, and a subtraction is exact.
struct ProgressPart: Comparable {
  private var units: Int64

  private init(units: Int64) { self.units = units }

  /// The part for `fraction`, which is clamped to 0...1 and rounded down.
  init(_ fraction: Double) { units = Int64(fraction.clampedToFraction * 0x1p62) }

  static let nothing = ProgressPart(0)
  static let whole = ProgressPart(1)

  var fraction: Double { Double(units) * 0x1p-62 }

  static func + (left: Self, right: Self) -> Self { Self(units: left.units + right.units) }
  static func - (left: Self, right: Self) -> Self { Self(units: left.units - right.units) }
  static func < (left: Self, right: Self) -> Bool { left.units < right.units }

  /// Scales a part: `part * 0.5` is half of it.
  static func * (left: Self, right: Double) -> Self {
    // No rounding at 1, so that an ended child counts in full.
    right >= 1 ? left : Self(left.fraction * right)
  }
}

extension Double {
  /// The nearest number in 0...1; 0 for NaN.
  @inlinable
  var clampedToFraction: Double { self > 0 ? Swift.min(self, 1) : 0 }
}
