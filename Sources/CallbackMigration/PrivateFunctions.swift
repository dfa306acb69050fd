internal import Foundation

/// Finds private functions in the text: the compiler's graph has them without a place.
struct PrivateFunctions {
  private var places: [String: [SymbolGraph.Symbol.Location]] = [:]

  /// - Parameter paths: The source files of a module.
  init(_ paths: [String]) {
    for path in paths {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
      let tokens = SourceTokens(text)
      guard tokens.isBalanced else { continue }
      for name in tokens.items.indices where tokens[name - 1] == "func" {
        guard let function = FunctionText(name: name, in: tokens), let scope = tokens.typeNames(around: name) else {
          continue
        }
        let position = tokens.source.position(of: tokens.items[name].range.lowerBound)
        places[(scope + [function.title]).joined(separator: "."), default: []].append(
          SymbolGraph.Symbol.Location(
            uri: URL(filePath: path).absoluteString,
            position: .init(line: position.line, character: position.character)
          )
        )
      }
    }
  }

  /// The place of the function with a title, such as `Store.load(id:completion:)`; `nil` if several functions have it.
  func place(of title: String) -> SymbolGraph.Symbol.Location? {
    let found = places[title] ?? []
    return found.count == 1 ? found[0] : nil
  }
}

extension SymbolGraph {
  /// The graph with the places of its private functions.
  func withPrivatePlaces(in paths: [String]) -> SymbolGraph {
    let isHidden = { (symbol: Symbol) in
      symbol.location == nil && symbol.access < .internal
        && symbol.declarationFragments.contains { $0.kind == "keyword" && $0.spelling == "func" }
    }
    guard symbols.contains(where: isHidden) else { return self }
    let functions = PrivateFunctions(paths)
    var graph = self
    for index in graph.symbols.indices where isHidden(graph.symbols[index]) {
      graph.symbols[index].location = functions.place(of: graph.symbols[index].pathComponents.joined(separator: "."))
    }
    return graph
  }
}
