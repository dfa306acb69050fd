internal import Foundation

/// The toolchain's `libIndexStore`, which reads the index that the compiler writes.
///
/// The tool loads the library at run time, because each toolchain has its own.
struct IndexStoreLibrary {
  typealias Object = UnsafeMutableRawPointer

  /// A pointer and a length: the layout of the library's own type for strings.
  typealias Text = iovec
  typealias Visitor = @convention(c) (Object?, Object) -> Bool
  typealias TextVisitor = @convention(c) (Object?, Text) -> Bool
  typealias Getter = @convention(c) (Object) -> Text
  typealias Reader = @convention(c) (Object, UnsafePointer<CChar>, UnsafeMutablePointer<Object?>?) -> Object?
  typealias Disposer = @convention(c) (Object) -> Void
  typealias Enumeration = @convention(c) (Object, Object?, Visitor) -> Bool

  let createStore: @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Object?>?) -> Object?
  let disposeStore: Disposer
  let units: @convention(c) (Object, UInt32, Object?, TextVisitor) -> Bool
  let unitTime:
    @convention(c) (
      Object, UnsafePointer<CChar>, UnsafeMutablePointer<Int64>, UnsafeMutablePointer<Int64>,
      UnsafeMutablePointer<Object?>?
    ) -> Bool
  let createUnit: Reader
  let disposeUnit: Disposer
  let isSystemUnit: @convention(c) (Object) -> Bool
  let mainFile: Getter
  let workingFolder: Getter
  let target: Getter
  let moduleName: Getter
  let dependencies: Enumeration
  let dependencyKind: @convention(c) (Object) -> UInt32
  let dependencyName: Getter
  let createRecord: Reader
  let disposeRecord: Disposer
  let symbols: @convention(c) (Object, Bool, Object?, Visitor) -> Bool
  let occurrences: Enumeration
  let symbol: @convention(c) (Object) -> Object
  let symbolRoles: @convention(c) (Object) -> UInt64
  let symbolName: Getter
  let identifier: Getter
  let roles: @convention(c) (Object) -> UInt64
  let place: @convention(c) (Object, UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>) -> Void
  let relations: Enumeration
  let relationRoles: @convention(c) (Object) -> UInt64
  let relatedSymbol: @convention(c) (Object) -> Object

  /// The kind of a unit's dependency that holds the occurrences of a file.
  static let record: UInt32 = 2

  /// Loads the library of the toolchain in use.
  init() throws(MigrationError) {
    let library = try Self.load()
    func function<Function>(_ name: String) throws(MigrationError) -> Function {
      guard let address = dlsym(library, "indexstore_" + name) else {
        throw MigrationError("The toolchain's libIndexStore has no function indexstore_\(name).")
      }
      return unsafeBitCast(address, to: Function.self)
    }
    createStore = try function("store_create")
    disposeStore = try function("store_dispose")
    units = try function("store_units_apply_f")
    unitTime = try function("store_get_unit_modification_time")
    createUnit = try function("unit_reader_create")
    disposeUnit = try function("unit_reader_dispose")
    isSystemUnit = try function("unit_reader_is_system_unit")
    mainFile = try function("unit_reader_get_main_file")
    workingFolder = try function("unit_reader_get_working_dir")
    target = try function("unit_reader_get_target")
    moduleName = try function("unit_reader_get_module_name")
    dependencies = try function("unit_reader_dependencies_apply_f")
    dependencyKind = try function("unit_dependency_get_kind")
    dependencyName = try function("unit_dependency_get_name")
    createRecord = try function("record_reader_create")
    disposeRecord = try function("record_reader_dispose")
    symbols = try function("record_reader_symbols_apply_f")
    occurrences = try function("record_reader_occurrences_apply_f")
    symbol = try function("occurrence_get_symbol")
    symbolRoles = try function("symbol_get_roles")
    symbolName = try function("symbol_get_name")
    identifier = try function("symbol_get_usr")
    roles = try function("occurrence_get_roles")
    place = try function("occurrence_get_line_col")
    relations = try function("occurrence_relations_apply_f")
    relationRoles = try function("symbol_relation_get_roles")
    relatedSymbol = try function("symbol_relation_get_symbol")
  }

  private static func load() throws(MigrationError) -> Object {
    struct Description: Decodable {
      struct Paths: Decodable { let runtimeResourcePath: String }
      let paths: Paths
    }
    let (_, output) = try Shell.run(["swiftc", "-print-target-info"])
    guard let description = try? JSONDecoder().decode(Description.self, from: Data(output.utf8)) else {
      throw MigrationError("`swiftc -print-target-info` does not say where the toolchain is.")
    }
    let folder = URL(filePath: description.paths.runtimeResourcePath).deletingLastPathComponent().path
    for name in ["libIndexStore.so", "libIndexStore.dylib"] {
      if let library = dlopen("\(folder)/\(name)", RTLD_NOW) { return library }
    }
    throw MigrationError("The toolchain has no libIndexStore in \(folder), which reads the compiler's index.")
  }

  // MARK: Enumerations

  /// Calls a closure with each object of an enumeration.
  static func each(_ enumerate: (Object, Visitor) -> Bool, _ body: (Object) -> Void) {
    withoutActuallyEscaping(body) { body in
      var body = body
      withUnsafeMutablePointer(to: &body) { context in
        _ = enumerate(context) { context, object in
          context?.assumingMemoryBound(to: ((Object) -> Void).self).pointee(object)
          return true
        }
      }
    }
  }

  /// The names of the units of a store.
  func unitNames(of store: Object) -> [String] {
    var names: [String] = []
    withUnsafeMutablePointer(to: &names) { context in
      _ = units(store, 1, context) { context, name in
        context?.assumingMemoryBound(to: [String].self).pointee.append(IndexStoreLibrary.string(name))
        return true
      }
    }
    return names
  }

  static func string(_ text: Text) -> String {
    String(decoding: UnsafeRawBufferPointer(start: text.iov_base, count: Int(text.iov_len)), as: UTF8.self)
  }
}
