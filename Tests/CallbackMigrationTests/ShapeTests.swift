#if DEBUG
  import Testing

  @testable import CallbackMigration

  /// The shapes of calls as public packages have them, and what `convert` makes of each without the compiler.
  @Suite("Shapes of calls")
  struct ShapeTests {
    @Test(
      "each shape becomes its async text, or is left with its reason",
      arguments: all
    )
    func shapes(_ shape: ConvertedShape) throws {
      let outcome = try ShapeConversion(shape.source).outcome
      let becomes = ShapeConversion.withoutIndentation(shape.becomes)
      #expect(ShapeConversion.withoutIndentation(outcome) == becomes)
    }

    private static let all =
      results + passing + values + optionals + closures + left + asyncCode + queues + effects + handlers + paths
      + captures

    @Test("the table has sixty shapes, each of its own name")
    func table() {
      let names = Self.all.map(\.name)
      #expect(names.count >= 60 && Set(names).count == names.count)
    }
  }
#endif
