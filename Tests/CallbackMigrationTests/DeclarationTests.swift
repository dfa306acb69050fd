internal import CallbackMigration
internal import Testing

@Suite("Reading declarations")
struct DeclarationTests {
  private func read(_ text: String) -> Declaration? { Declaration(GraphBuilder().tokens(text)) }

  @Test("The parser reads attributes, modifiers, generics, effects and clauses at their places")
  func everyPartIsRead() throws {
    let text = """
      @MainActor @available(macOS 15, *) public static func `get`<T, U>(_ type: T.Type, from url: URL = .init(a: 1, b: "x, y)"), \
      then done: @escaping @Sendable (Result<[T : U], any Error>) -> Void) throws(Fault) -> Task<T?, any Error> where T : P<U>
      """
    let declaration = try #require(read(text))
    #expect(declaration.attributes == ["@MainActor", "@available(macOS 15, *)"])
    #expect(declaration.modifiers == ["public", "static"])
    #expect(declaration.name == "`get`")
    #expect(declaration.generics.text == "T, U")
    #expect(declaration.parameters.map(\.label) == ["_", "from", "then"])
    #expect(declaration.parameters.map(\.name) == ["type", "url", "done"])
    #expect(declaration.parameters[1].defaultValue?.text == #".init(a: 1, b: "x, y)")"#)
    #expect(declaration.parameters[2].type.text == "@escaping @Sendable (Result<[T : U], any Error>) -> Void")
    #expect(declaration.parameters[2].specifiers == ["@escaping", "@Sendable"])
    #expect(declaration.effects == ["throws(Fault)"])
    #expect(declaration.returnType.text == "Task<T?, any Error>")
    #expect(declaration.requirements.text == "where T : P<U>")
    #expect(declaration.title() == "get(_:from:then:)")
    #expect(declaration.title(without: [2]) == "get(_:from:)")
  }

  @Test("The parser recognises variadic, inout and autoclosure parameters")
  func specifiersAreRead() throws {
    let declaration = try #require(read("func f(_ a: Int..., b: inout Int, c: @autoclosure () -> Int = 3)"))
    #expect(declaration.parameters.map(\.isVariadic) == [true, false, false])
    #expect(declaration.parameters[1].specifiers == ["inout"])
    #expect(declaration.parameters[2].specifiers == ["@autoclosure"])
    let texts = declaration.parameters.map { $0.text($0.type.text) }
    #expect(texts == ["_ a: Int...", "b: inout Int", "c: @autoclosure () -> Int = 3"])
  }

  @Test("The backticks that the compiler puts around `Self` are left out")
  func selfIsPlain() throws {
    let declaration = try #require(read("func f(`in`: Int, done: @escaping (Result<`Self`, any Error>) -> Void)"))
    #expect(declaration.parameters.map(\.type.text) == ["Int", "@escaping (Result<Self, any Error>) -> Void"])
    #expect(declaration.parameters[0].text("Int") == "`in`: Int")
  }

  @Test("Initializers and operators differ from functions; the parser ignores other declarations")
  func otherDeclarationsAreNotRead() {
    #expect(read("convenience init?(a: Int)")?.keyword == "init")
    #expect(read("static func +++ (l: Int, r: Int)")?.isOperator == true)
    #expect(read("func plus(l: Int)")?.isOperator == false)
    #expect(read("var a: Int { get }") == nil)
    #expect(read("struct S") == nil)
  }
}

@Suite("Reading closure types")
struct FunctionTypeTests {
  private func read(_ type: String, _ aliases: String...) -> FunctionType? {
    var builder = GraphBuilder()
    for alias in aliases { builder.type(alias) }
    return TypeAliases(builder.graph).functionType(of: builder.tokens(type)[...])
  }

  @Test(
    "The parser finds a closure behind attributes, parentheses, optionals and type aliases",
    arguments: [
      ("(Int, String?) -> Void", []), ("@escaping @Sendable (Int, String?) -> Void", []),
      ("((Int, String?) -> Void)?", []), ("(@MainActor (Int, String?) -> Void)?", []),
      ("@escaping (_ id: Int, _ name: String?) -> Void", []),
      ("@escaping Done", ["typealias Done = (Int, String?) -> Void"]),
      ("Done?", ["typealias Done = @Sendable (Int, String?) -> Void"]),
      ("Done!", ["typealias Done = (Int, String?) -> Void"]),
      ("Done", ["typealias Done = ((Int, String?) -> Void)?"]),
      ("Done<Int>", ["typealias Done<T> = (T, String?) -> Void"]),
      ("Other", ["typealias Done<T> = (T, String?) -> Void", "typealias Other = Done<Int>"]),
    ]
  )
  func closureIsFoundInItsType(type: String, aliases: [String]) throws {
    var builder = GraphBuilder()
    for alias in aliases { builder.type(alias) }
    let function = try #require(TypeAliases(builder.graph).functionType(of: builder.tokens(type)[...]))
    #expect(function.parameters.map(\.text) == ["Int", "String?"])
    #expect(function.returnsNothing)
  }

  @Test("Effects and results are read, and other types are no closures")
  func otherTypesAreNoClosures() {
    #expect(read("(Int) async throws -> Void")?.effects == ["async", "throws"])
    #expect(read("() -> Int")?.returnsNothing == false)
    #expect(read("() -> ()")?.returnsNothing == true)
    #expect(read("((Int) -> Int) -> Void")?.parameters.map(\.text) == ["(Int) -> Int"])
    for type in ["Int", "(Int, String)", "[Int]", "Result<Int, any Error>", "()", "Int?", "[(Int) -> Void]"] {
      #expect(read(type) == nil, "\(type)")
    }
  }
}
