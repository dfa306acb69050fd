internal import Foundation

/// A place in a source file.
struct SourcePlace: Hashable {
  let path: String
  let position: LanguageServerMessage.Position
}

/// The toolchain's `sourcekit-lsp`, for one package that has been built.
///
/// Requests block until their answer. The index comes from the build: the server itself builds nothing. For a project
/// without Package.swift, the server only parses files: the tool reads the index itself, and there are no refactorings.
final class LanguageServer {
  typealias Message = LanguageServerMessage

  private let connection: LanguageServerConnection

  /// The index of a project without Package.swift.
  private let index: StoredIndex?
  private var lastIdentifier = 0
  private var edits: [String: [Message.TextEdit]] = [:]

  /// The documents that the server has open, with their texts, the oldest first.
  private var documents: [(uri: String, version: Int, text: String)] = []

  /// Each open document keeps a syntax tree of its module in memory.
  private static let documentLimit = 50

  /// Starts a server for a package.
  /// - Parameters:
  ///   - package: The folder of the package.
  ///   - scratch: The folder of the package's build.
  ///   - index: The index of a project without Package.swift.
  /// - Throws: An error if there is no server.
  init(package: URL, scratch: URL, index: StoredIndex? = nil) throws(MigrationError) {
    self.index = index
    connection = try LanguageServerConnection(arguments: ["--scratch-path", scratch.path])
    struct Parameters: Encodable {
      struct Options: Encodable { let backgroundIndexing = false }
      struct Workspace: Encodable { let applyEdit = true }
      struct Hierarchical: Encodable { let hierarchicalDocumentSymbolSupport = true }
      // Without these kinds the server answers with commands, and not with actions.
      struct Kinds: Encodable { let valueSet = ["refactor", "quickfix"] }
      struct Literals: Encodable { let codeActionKind = Kinds() }
      struct CodeAction: Encodable { let codeActionLiteralSupport = Literals() }
      struct TextDocument: Encodable {
        let documentSymbol = Hierarchical()
        let codeAction = CodeAction()
      }
      struct Capabilities: Encodable {
        let workspace = Workspace()
        let textDocument = TextDocument()
      }
      let processId = ProcessInfo.processInfo.processIdentifier
      let rootUri: String
      let capabilities = Capabilities()
      let initializationOptions = Options()
    }
    struct Empty: Encodable {}
    _ = try request("initialize", Parameters(rootUri: package.absoluteString), JSONValue.self)
    try notify("initialized", Empty())
    if index == nil { try synchronize() }
  }

  deinit { connection.close() }

  /// Waits until the server knows the build settings and has read the index.
  ///
  /// Before that, the server answers from guessed settings.
  private func synchronize() throws(MigrationError) {
    struct Parameters: Encodable {
      let index = true
    }
    _ = try request("workspace/synchronize", Parameters(), JSONValue.self)
  }

  // MARK: Documents

  /// Shows a text to the server as the content of a file.
  func open(_ path: String, _ text: String) throws(MigrationError) {
    let uri = Self.uri(path)
    if let index = documents.firstIndex(where: { $0.uri == uri }) {
      guard documents[index].text != text else { return }
      documents[index].version += 1
      documents[index].text = text
      struct Change: Encodable { let text: String }
      struct Document: Encodable {
        let uri: String
        let version: Int
      }
      struct Parameters: Encodable {
        let textDocument: Document
        let contentChanges: [Change]
      }
      let document = Document(uri: uri, version: documents[index].version)
      try notify("textDocument/didChange", Parameters(textDocument: document, contentChanges: [Change(text: text)]))
      return
    }
    if documents.count == Self.documentLimit { try close(documents.removeFirst().uri) }
    documents.append((uri, 1, text))
    struct Document: Encodable {
      let uri: String
      let languageId = "swift"
      let version = 1
      let text: String
    }
    struct Parameters: Encodable { let textDocument: Document }
    try notify("textDocument/didOpen", Parameters(textDocument: Document(uri: uri, text: text)))
  }

  private func close(_ uri: String) throws(MigrationError) {
    struct Parameters: Encodable { let textDocument: Message.Document }
    try notify("textDocument/didClose", Parameters(textDocument: Message.Document(uri: uri)))
  }

  /// The declarations of an open file.
  func symbols(_ path: String) throws(MigrationError) -> [Message.DocumentSymbol] {
    struct Parameters: Encodable { let textDocument: Message.Document }
    let parameters = Parameters(textDocument: Message.Document(uri: Self.uri(path)))
    return try request("textDocument/documentSymbol", parameters, [Message.DocumentSymbol].self) ?? []
  }

  // MARK: Index

  /// The references to the declaration whose name is at a place of an open file.
  func references(_ path: String, _ position: Message.Position) throws(MigrationError) -> [SourcePlace] {
    if let index { return index.references(path, position) }
    struct Context: Encodable { let includeDeclaration = false }
    struct Parameters: Encodable {
      let textDocument: Message.Document
      let position: Message.Position
      let context = Context()
    }
    let document = Message.Document(uri: Self.uri(path))
    return try places("textDocument/references", Parameters(textDocument: document, position: position))
  }

  /// The declarations of the name at a place of an open file.
  func definitions(_ path: String, _ position: Message.Position) throws(MigrationError) -> [SourcePlace] {
    if let index { return index.definitions(path, position) }
    struct Parameters: Encodable {
      let textDocument: Message.Document
      let position: Message.Position
    }
    let document = Message.Document(uri: Self.uri(path))
    return try places("textDocument/definition", Parameters(textDocument: document, position: position))
  }

  private func places(_ method: String, _ parameters: some Encodable) throws(MigrationError) -> [SourcePlace] {
    let found = try request(method, parameters, [Message.Location].self) ?? []
    return Set(found).compactMap { location in
      Self.path(location.uri).map { SourcePlace(path: $0, position: location.range.start) }
    }.sorted { ($0.path, $0.position) < ($1.path, $1.position) }
  }

  // MARK: Refactoring

  /// Performs a code action at a place of an open file; `nil` if the server does not offer the action.
  func perform(_ title: String, _ path: String, _ position: Message.Position) throws(MigrationError) -> Refactored? {
    if index != nil { return nil }
    struct Context: Encodable { let diagnostics: [String] = [] }
    struct Parameters: Encodable {
      let textDocument: Message.Document
      let range: Message.Range
      let context = Context()
    }
    let uri = Self.uri(path)
    let place = Message.Range(start: position, end: position)
    let actions = try request(
      "textDocument/codeAction",
      Parameters(textDocument: Message.Document(uri: uri), range: place),
      [Message.CodeAction].self
    )
    guard let command = actions?.first(where: { $0.title == title })?.command else { return nil }
    struct Execution: Encodable {
      let command: String
      let arguments: [JSONValue]
    }
    edits = [:]
    let execution = Execution(command: command.command, arguments: command.arguments ?? [])
    let answer = try answer("workspace/executeCommand", execution, JSONValue.self)
    if let error = answer.error { return .failed(Self.reason(error.message)) }
    return .edits(edits[uri] ?? [])
  }

  /// The outcome of a code action.
  enum Refactored {
    case edits([Message.TextEdit])

    /// The compiler's reason.
    case failed(String)
  }

  /// The compiler's sentence in an error of the server.
  static func reason(_ message: String) -> String {
    guard let start = message.range(of: "error: ", options: .backwards) else { return message }
    let rest = message[start.upperBound...]
    return String(rest.prefix(upTo: rest.range(of: "\\n")?.lowerBound ?? rest.endIndex))
  }

  // MARK: Messages

  private func request<Result: Decodable>(
    _ method: String,
    _ parameters: some Encodable,
    _ type: Result.Type
  ) throws(MigrationError) -> Result? {
    let answer = try answer(method, parameters, type)
    if let error = answer.error { throw MigrationError("sourcekit-lsp refuses \(method): \(error.message)") }
    return answer.result
  }

  private func answer<Result: Decodable>(
    _ method: String,
    _ parameters: some Encodable,
    _ type: Result.Type
  ) throws(MigrationError) -> Message.Answer<Result> {
    lastIdentifier += 1
    try connection.send(Message.Call(id: lastIdentifier, method: method, params: parameters))
    while true {
      let data = try connection.receive()
      guard let head = try? JSONDecoder().decode(Message.Head.self, from: data) else { continue }
      if let called = head.method {
        if let id = head.id { try reply(to: called, id, data) }
      } else if head.id == .integer(lastIdentifier) {
        do {
          return try JSONDecoder().decode(Message.Answer<Result>.self, from: data)
        } catch {
          throw MigrationError("sourcekit-lsp answers \(method) with something else: \(error)")
        }
      }
    }
  }

  /// Answers a request of the server, and keeps the edits that the server wants to apply.
  private func reply(to method: String, _ id: JSONValue, _ data: Data) throws(MigrationError) {
    guard method == "workspace/applyEdit" else {
      return try connection.send(Message.Reply(id: id, result: JSONValue.null))
    }
    struct Request: Decodable { let params: Message.ApplyEdit }
    let changes = (try? JSONDecoder().decode(Request.self, from: data))?.params.edit.changes ?? [:]
    for (uri, found) in changes { edits[uri, default: []] += found }
    try connection.send(Message.Reply(id: id, result: ["applied": true]))
  }

  private func notify(_ method: String, _ parameters: some Encodable) throws(MigrationError) {
    try connection.send(Message.Call(id: nil, method: method, params: parameters))
  }

  private static func uri(_ path: String) -> String { URL(filePath: path).absoluteString }

  private static func path(_ uri: String) -> String? { URL(string: uri)?.path }
}
