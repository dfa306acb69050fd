/// The needed part of the language server protocol.
enum LanguageServerMessage {
  /// A place: both numbers begin at 0, and the character counts UTF-16.
  struct Position: Codable, Hashable, Comparable {
    var line: Int
    var character: Int

    static func < (left: Position, right: Position) -> Bool {
      (left.line, left.character) < (right.line, right.character)
    }
  }

  struct Range: Codable, Hashable {
    var start: Position
    var end: Position
  }

  struct Document: Codable {
    var uri: String
  }

  struct Location: Decodable, Hashable {
    var uri: String
    var range: Range
  }

  struct TextEdit: Decodable {
    var range: Range
    var newText: String
  }

  /// A declaration, with the declarations inside it.
  struct DocumentSymbol: Decodable {
    var name: String
    var kind: Int
    var range: Range
    var children: [DocumentSymbol]?
  }

  struct CodeAction: Decodable {
    var title: String
    var command: Command?

    private enum Key: String, CodingKey { case title, command }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      title = try container.decode(String.self, forKey: .title)
      // The server can also answer with a plain command, which has a string here.
      command = try? container.decode(Command.self, forKey: .command)
    }
  }

  struct Command: Decodable {
    var command: String
    var arguments: [JSONValue]?
  }

  /// The parameters of `workspace/applyEdit`.
  struct ApplyEdit: Decodable {
    struct Edit: Decodable {
      var changes: [String: [TextEdit]]?
    }
    var edit: Edit
  }

  struct Failure: Decodable {
    var message: String
  }

  /// The head of a message from the server.
  struct Head: Decodable {
    var id: JSONValue?
    var method: String?
  }

  struct Answer<Result: Decodable>: Decodable {
    var result: Result?
    var error: Failure?
  }

  struct Call<Parameters: Encodable>: Encodable {
    let jsonrpc = "2.0"
    var id: Int?
    var method: String
    var params: Parameters
  }

  struct Reply<Result: Encodable>: Encodable {
    let jsonrpc = "2.0"
    var id: JSONValue
    var result: Result
  }
}

/// Any JSON value, to send values of the server back unchanged.
enum JSONValue: Codable, Equatable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
