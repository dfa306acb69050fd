internal import Foundation

/// A copy of a package, and its functions with a callback.
final class MigrationWorkspace {
  let copy: PackageCopy

  /// The texts of the copy, with annotations.
  let files = SourceFiles()
  private(set) var functions: [AwaitableFunction] = []

  /// The symbol graphs of the modules of the package.
  let graphs: [SymbolGraph]
  private let isolation: CodeIsolationFacts
  private let allowed: Set<CallRisk>
  private var annotated: Set<Int> = []
  private var runningServer: LanguageServer?

  /// The module of a project without Package.swift.
  private let module: MigrationRequest.Target?

  init(
    _ request: MigrationRequest,
    _ plans: [CounterpartPlan],
    copy: PackageCopy,
    allowed: Set<CallRisk>
  ) throws(MigrationError) {
    self.copy = copy
    self.allowed = allowed
    var graphs: [SymbolGraph] = []
    for target in request.targets where !target.isTest {
      guard let folder = target.graphs else { continue }
      graphs.append(try SymbolGraph.read(module: target.module, in: URL(filePath: folder)))
    }
    self.graphs = graphs
    let manifest = PackageManifest(package: copy.original)
    isolation = CodeIsolationFacts(graphs, runsOnCallersActor: manifest.runsAsyncFunctionsOnCallersActor)
    module = request.targets.first
    let overrides = TestOverrides(sources: request.targets.filter(\.isTest).flatMap(\.sources))
    let all = plans.flatMap { plan in
      plan.entries.compactMap { entry in
        let path = copy.copied(entry.function.path)
        return AwaitableFunction(entry, path: path, files.tokens(path), in: plan.inventory)
      }
    }
    functions = overrides.marked(all)
  }

  // MARK: The index

  /// Builds the copy, and so writes the compiler's index.
  func build() throws(MigrationError) {
    runningServer = nil
    for path in files.changed.keys { try write(files.tokens(path).source.text, to: path) }
    if case .done = copy.builder { return }
    Shell.progress("Building a copy of the \(copy.subject), for the compiler's index.")
    guard case .failed(let errors, let output) = try copy.build(isStrict: false) else { return }
    throw MigrationError(
      """
      A copy of the \(copy.subject) does not build, so nothing can be said of the calls.
      \(copy.text(of: errors, output))
      """
    )
  }

  /// The language server for the last build.
  func server() throws(MigrationError) -> LanguageServer {
    if let runningServer { return runningServer }
    let index = try storedIndex()
    // The server parses single files of a project, and must not look for the project's own settings.
    let folder = index == nil ? copy.folder : copy.scratch
    let server = try LanguageServer(package: folder, scratch: copy.scratch, index: index)
    runningServer = server
    return server
  }

  /// The index of a project without Package.swift; `nil` for a package, whose index the server reads.
  private func storedIndex() throws(MigrationError) -> StoredIndex? {
    guard let store = try copy.index(), let module else { return nil }
    let index = try StoredIndex(
      store,
      root: copy.folder,
      required: module.sources.map(copy.copied),
      others: copy.swiftFiles,
      module: module.module,
      files: files
    )
    try index.require(functions)
    return index
  }

  /// The calls, and the functions with the facts that the calls need.
  func calls() throws(MigrationError) -> (calls: [CallbackCall], functions: [AwaitableFunction]) {
    Shell.progress("Looking up the calls of \(functions.count) functions.")
    let finder = CallFinder(server: try server(), copy: copy, files: files, isolation: isolation, allowed: allowed)
    let calls = try finder.calls(of: &functions)
    return (calls, functions)
  }

  // MARK: Changes

  /// Adds attributes to the copy that name the counterparts of functions.
  func annotate() {
    for index in functions.indices
    where functions[index].hasCounterpart && !functions[index].isRenamed && !functions[index].isSync {
      guard annotated.insert(index).inserted else { continue }
      let function = functions[index]
      let source = files.tokens(function.path).source
      guard let edit = Annotations.edit(at: function.offset, title: function.counterpartTitle, in: source) else {
        continue
      }
      apply([(edit, .attribute(function: index))], to: function.path)
    }
  }

  /// Changes a file in memory, and moves the offsets of the functions in it.
  func apply(_ edits: [StepwiseText.Edit], to path: String) {
    files.apply(edits, to: path)
    for index in functions.indices where functions[index].path == path {
      let moved = SourceEdit.offset(functions[index].offset, after: edits.map(\.edit))
      functions[index].offset = moved ?? functions[index].offset
    }
  }

  /// Records that a function has a counterpart in its own file.
  func addCounterpart(to index: Int) {
    functions[index].counterpart = .exists(file: copy.original(functions[index].path))
  }

  func write(_ text: String, to path: String) throws(MigrationError) {
    do {
      try PackageCopy.write(Data(text.utf8), to: URL(filePath: path))
    } catch {
      throw MigrationError("\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
