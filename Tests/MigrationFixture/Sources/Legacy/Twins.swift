// Written by `swift package migrate-callbacks generate`; it may write this file again.

public import Futures
import FuturesAsync
import Dispatch
import Synchronization
import FuturesAsync
public import struct Futures.Future

extension Aliases {
  /// A plain name.
  public nonisolated(nonsending) func plain(id: UserID) async throws -> User {
    try await withCallback("plain(id:completion:)") { callback in
      self.plain(id: id, completion: callback.resultHandler)
    }
  }

  /// A plain name.
  public func plainFuture(id: UserID) -> Future<User, any Error> {
    Future("plain(id:completion:)") { promise in
      self.plain(id: id, completion: promise.resultHandler)
    }
  }

  /// A generic name.
  public nonisolated(nonsending) func generic(id: UserID) async throws -> User {
    try await withCallback("generic(id:completion:)") { callback in
      self.generic(id: id, completion: callback.resultHandler)
    }
  }

  /// A generic name.
  public func genericFuture(id: UserID) -> Future<User, any Error> {
    Future("generic(id:completion:)") { promise in
      self.generic(id: id, completion: promise.resultHandler)
    }
  }

  /// A generic name of a closure that is Sendable.
  public nonisolated(nonsending) func sendable(id: UserID) async throws -> [User] {
    try await withCallback("sendable(id:completion:)") { callback in
      self.sendable(id: id, completion: callback.resultHandler)
    }
  }

  /// A generic name of a closure that is Sendable.
  public func sendableFuture(id: UserID) -> Future<[User], any Error> {
    Future("sendable(id:completion:)") { promise in
      self.sendable(id: id, completion: promise.resultHandler)
    }
  }

  /// A name of an optional closure.
  public nonisolated(nonsending) func optional(id: UserID) async throws -> User {
    try await withCallback("optional(id:completion:)") { callback in
      self.optional(id: id, completion: callback.valueOrErrorHandler)
    }
  }

  /// A name of an optional closure.
  public func optionalFuture(id: UserID) -> Future<User, any Error> {
    Future("optional(id:completion:)") { promise in
      self.optional(id: id, completion: promise.valueOrErrorHandler)
    }
  }

  /// A name, made optional here.
  public nonisolated(nonsending) func made(id: UserID) async throws -> User {
    try await withCallback("made(id:completion:)") { callback in
      self.made(id: id, completion: callback.resultHandler)
    }
  }

  /// A name, made optional here.
  public func madeFuture(id: UserID) -> Future<User, any Error> {
    Future("made(id:completion:)") { promise in
      self.made(id: id, completion: promise.resultHandler)
    }
  }

  /// A name that is nested in a type.
  public nonisolated(nonsending) func nested() async throws {
    try await withCallback("nested(completion:)") { callback in
      self.nested(completion: callback.errorHandler)
    }
  }

  /// A name that is nested in a type.
  public func nestedFuture() -> Future<Void, any Error> {
    Future("nested(completion:)") { promise in
      self.nested(completion: promise.errorHandler)
    }
  }

  /// A name that is nested in a type, written in full.
  public nonisolated(nonsending) func qualified(progress: @escaping Aliases.ProgressHandler) async throws {
    try await withCallback("qualified(progress:completion:)") { callback in
      self.qualified(progress: progress, completion: callback.errorHandler)
    }
  }

  /// A name that is nested in a type, written in full.
  public func qualifiedFuture() -> Future<Void, any Error> {
    Future("qualified(progress:completion:)") { promise in
      let progress_ = promise.progress
      self.qualified(progress: { @Sendable in progress_.report(fraction: $0) }, completion: promise.errorHandler)
    }
  }

  /// A name of the result alone.
  public nonisolated(nonsending) func result(id: UserID) async throws -> User {
    try await withCallback("result(id:completion:)") { callback in
      self.result(id: id, completion: callback.resultHandler)
    }
  }

  /// A name of the result alone.
  public func resultFuture(id: UserID) -> Future<User, any Error> {
    Future("result(id:completion:)") { promise in
      self.result(id: id, completion: promise.resultHandler)
    }
  }

  /// A generic name of the result alone.
  public nonisolated(nonsending) func answer(id: UserID) async throws -> User {
    try await withCallback("answer(id:completion:)") { callback in
      self.answer(id: id, completion: callback.resultHandler)
    }
  }

  /// A generic name of the result alone.
  public func answerFuture(id: UserID) -> Future<User, any Error> {
    Future("answer(id:completion:)") { promise in
      self.answer(id: id, completion: promise.resultHandler)
    }
  }
}

extension Loading {
  /// Loads an item.
  public nonisolated(nonsending) func loadItem() async throws -> Self.Item {
    try await withCallback("loadItem(completion:)") { callback in
      self.loadItem(completion: callback.resultHandler)
    }
  }

  /// Loads an item, or says why not.
  public nonisolated(nonsending) func item(named name: String) async throws -> Self.Item {
    try await withCallback("item(named:completion:)") { callback in
      let handle = self.item(named: name, completion: callback.valueOrErrorHandler)
      callback.onCancel { handle.cancel() }
    }
  }
}

extension UserLoading {
  /// Loads an item.
  public nonisolated(nonsending) func loadItem() async throws -> User {
    try await withCallback("loadItem(completion:)") { callback in
      self.loadItem(completion: callback.resultHandler)
    }
  }

  /// Loads an item.
  public func loadItemFuture() -> Future<User, any Error> {
    Future("loadItem(completion:)") { promise in
      self.loadItem(completion: promise.resultHandler)
    }
  }

  /// Loads an item, or says why not.
  public nonisolated(nonsending) func item(named name: String) async throws -> User {
    try await withCallback("item(named:completion:)") { callback in
      let handle = self.item(named: name, completion: callback.valueOrErrorHandler)
      callback.onCancel { handle.cancel() }
    }
  }

  /// Loads an item, or says why not.
  public func itemFuture(named name: String) -> Future<User, any Error> {
    Future("item(named:completion:)") { promise in
      let handle = self.item(named: name, completion: promise.valueOrErrorHandler)
      promise.onCancel { handle.cancel() }
    }
  }
}

extension Opening {
  /// As `open(_:completion:)`.
  nonisolated(nonsending) func open(_ name: String) async throws -> Self.Document {
    try await withCallback("open(_:completion:)") { callback in
      self.open(name, completion: callback.resultHandler)
    }
  }
}

extension Copying {
  /// Copies it.
  public nonisolated(nonsending) func copied() async throws -> Self {
    try await withCallback("copied(completion:)") { callback in
      self.copied(completion: callback.resultHandler)
    }
  }
}

extension Backend {
  /// Copies it.
  public nonisolated(nonsending) func copied() async throws -> Backend {
    try await withCallback("copied(completion:)") { callback in
      self.copied(completion: callback.resultHandler)
    }
  }

  /// Copies it.
  public func copiedFuture() -> Future<Backend, any Error> {
    Future("copied(completion:)") { promise in
      self.copied(completion: promise.resultHandler)
    }
  }

  /// As `ask(for:_:)`.
  nonisolated(nonsending) func ask<Value>(for value: Value) async throws -> Value {
    try await withCallback("ask(for:_:)") { callback in
      let handle = self.ask(for: value, callback.resultHandler)
      callback.onCancel { handle.cancel() }
    }
  }
}

extension Downloads {
  /// Downloads a file.
  /// - Parameters:
  ///   - path: Where it is.
  ///   - progress: How far it is.
  public nonisolated(nonsending) func file(at path: String, progress: @escaping (Double) -> Void) async throws -> Picture {
    try await withCallback("file(at:progress:completion:)") { callback in
      self.file(at: path, progress: progress, completion: callback.resultHandler)
    }
  }

  /// Downloads a file.
  /// - Parameters:
  ///   - path: Where it is.
  public func fileFuture(at path: String) -> Future<Picture, any Error> {
    Future("file(at:progress:completion:)") { promise in
      let progress_ = promise.progress
      self.file(at: path, progress: { @Sendable in progress_.report(fraction: $0) }, completion: promise.resultHandler)
    }
  }

  /// Downloads, and counts bytes.
  public nonisolated(nonsending) func bytes(progressHandler: @escaping @Sendable (Int64, Int64) -> Void) async throws -> Picture {
    try await withCallback("bytes(progressHandler:completion:)") { callback in
      let handle = self.bytes(progressHandler: progressHandler, completion: callback.valueOrErrorHandler)
      callback.onCancel { handle.cancel() }
    }
  }

  /// Downloads, and counts bytes.
  public func bytesFuture() -> Future<Picture, any Error> {
    Future("bytes(progressHandler:completion:)") { promise in
      let progress = promise.progress
      let handle = self.bytes(progressHandler: { @Sendable in progress.report(completed: Int64($0), of: Int64($1)) }, completion: promise.valueOrErrorHandler)
      promise.onCancel { handle.cancel() }
    }
  }

  /// Downloads, and may not know how much there is.
  public nonisolated(nonsending) func items(onProgress: ((Int, Int?) -> Void)? = nil) async throws {
    try await withCallback("items(onProgress:completion:)") { callback in
      self.items(onProgress: onProgress, completion: callback.errorHandler)
    }
  }

  /// Downloads, and may not know how much there is.
  public func itemsFuture() -> Future<Void, any Error> {
    Future("items(onProgress:completion:)") { promise in
      let progress = promise.progress
      self.items(onProgress: { @Sendable in progress.report(completed: Int64($0), of: $1.map { Int64($0) }) }, completion: promise.errorHandler)
    }
  }

  /// Uploads, and tells with single precision how far it is.
  public nonisolated(nonsending) func upload(_ picture: Picture, progress: ((Float) -> Void)?) async throws {
    try await withCallback("upload(_:progress:success:failure:)") { callback in
      self.upload(picture, progress: progress, success: callback.voidHandler, failure: callback.failureHandler)
    }
  }

  /// Uploads, and tells with single precision how far it is.
  public func uploadFuture(_ picture: Picture) -> Future<Void, any Error> {
    Future("upload(_:progress:success:failure:)") { promise in
      let progress_ = promise.progress
      self.upload(picture, progress: { @Sendable in progress_.report(fraction: Double($0)) }, success: promise.voidHandler, failure: promise.failureHandler)
    }
  }

  /// Tells its progress in a way of its own.
  public nonisolated(nonsending) func track(progress: @escaping (DownloadState) -> Void) async throws {
    try await withCallback("track(progress:completion:)") { callback in
      self.track(progress: progress, completion: callback.voidHandler)
    }
  }

  /// Tells its progress in a way of its own.
  public func trackFuture(progress: @escaping (DownloadState) -> Void) -> Future<Void, any Error> {
    Future("track(progress:completion:)") { promise in
      self.track(progress: progress, completion: promise.voidHandler)
    }
  }

  /// Tells its progress to a caller who needs not listen.
  public nonisolated(nonsending) func size(of path: String, progress: (@Sendable (Double) -> Void)? = nil) async throws -> Int {
    try await withCallback("size(of:progress:completion:)") { callback in
      self.size(of: path, progress: progress, completion: callback.valueHandler)
    }
  }

  /// Tells its progress to a caller who needs not listen.
  public func sizeFuture(of path: String) -> Future<Int, any Error> {
    Future("size(of:progress:completion:)") { promise in
      let progress_ = promise.progress
      self.size(of: path, progress: { @Sendable in progress_.report(fraction: $0) }, completion: promise.valueHandler)
    }
  }

  /// Fetches something that can be cancelled.
  public nonisolated(nonsending) func fetch(_ path: String) async throws -> Picture {
    try await withCallback("fetch(_:completion:)") { callback in
      let handle = self.fetch(path, completion: callback.resultHandler)
      callback.onCancel { handle.cancel() }
    }
  }

  /// Fetches something that can be cancelled.
  public func fetchFuture(_ path: String) -> Future<Picture, any Error> {
    Future("fetch(_:completion:)") { promise in
      let handle = self.fetch(path, completion: promise.resultHandler)
      promise.onCancel { handle.cancel() }
    }
  }

  /// Fetches, unless there is nothing to do.
  public nonisolated(nonsending) func fetchIfNeeded(_ isNeeded: Bool) async throws -> Picture {
    try await withCallback("fetchIfNeeded(_:completion:)") { callback in
      let handle = self.fetchIfNeeded(isNeeded, completion: callback.resultHandler)
      callback.onCancel { handle?.cancel() }
    }
  }

  /// Fetches, unless there is nothing to do.
  public func fetchIfNeededFuture(_ isNeeded: Bool) -> Future<Picture, any Error> {
    Future("fetchIfNeeded(_:completion:)") { promise in
      let handle = self.fetchIfNeeded(isNeeded, completion: promise.resultHandler)
      promise.onCancel { handle?.cancel() }
    }
  }

  /// Hands out a handle of which only the protocol is known.
  public nonisolated(nonsending) func fetchAny(_ path: String) async throws -> Picture {
    try await withCallback("fetchAny(_:completion:)") { callback in
      let handle = self.fetchAny(path, completion: callback.resultHandler)
      callback.onCancel { handle.cancel() }
    }
  }

  /// Hands out a handle of which only the protocol is known.
  public func fetchAnyFuture(_ path: String) -> Future<Picture, any Error> {
    Future("fetchAny(_:completion:)") { promise in
      let handle = self.fetchAny(path, completion: promise.resultHandler)
      promise.onCancel { handle.cancel() }
    }
  }

  /// Hands out a handle that may be missing, of which only the protocol is known.
  public nonisolated(nonsending) func fetchMaybe() async throws -> Picture {
    try await withCallback("fetchMaybe(completion:)") { callback in
      let handle = self.fetchMaybe(completion: callback.resultHandler)
      callback.onCancel { handle?.cancel() }
    }
  }

  /// Hands out a handle that may be missing, of which only the protocol is known.
  public func fetchMaybeFuture() -> Future<Picture, any Error> {
    Future("fetchMaybe(completion:)") { promise in
      let handle = self.fetchMaybe(completion: promise.resultHandler)
      promise.onCancel { handle?.cancel() }
    }
  }

  /// Hands out a handle by another name.
  public nonisolated(nonsending) func fetchRequest() async throws -> Picture {
    try await withCallback("fetchRequest(completion:)") { callback in
      let handle = self.fetchRequest(completion: callback.resultHandler)
      callback.onCancel { handle.cancel() }
    }
  }

  /// Hands out a handle by another name.
  public func fetchRequestFuture() -> Future<Picture, any Error> {
    Future("fetchRequest(completion:)") { promise in
      let handle = self.fetchRequest(completion: promise.resultHandler)
      promise.onCancel { handle.cancel() }
    }
  }

  /// Hands out a handle that belongs to one thread.
  public nonisolated(nonsending) func fetchLoosely() async throws -> Picture {
    try await withCallback("fetchLoosely(completion:)") { callback in
      _ = self.fetchLoosely(completion: callback.resultHandler)
    }
  }

  /// Hands out a handle that belongs to one thread.
  public func fetchLooselyFuture() -> Future<Picture, any Error> {
    Future("fetchLoosely(completion:)") { promise in
      _ = self.fetchLoosely(completion: promise.resultHandler)
    }
  }

  /// Hands out a handle that belongs to the main actor.
  public nonisolated(nonsending) func fetchForScreen() async throws -> Picture {
    try await withCallback("fetchForScreen(completion:)") { callback in
      _ = self.fetchForScreen(completion: callback.resultHandler)
    }
  }

  /// Hands out a handle that belongs to the main actor.
  public func fetchForScreenFuture() -> Future<Picture, any Error> {
    Future("fetchForScreen(completion:)") { promise in
      _ = self.fetchForScreen(completion: promise.resultHandler)
    }
  }

  /// Hands out a number.
  public nonisolated(nonsending) func fetchNumbered() async throws -> Picture {
    try await withCallback("fetchNumbered(completion:)") { callback in
      _ = self.fetchNumbered(completion: callback.resultHandler)
    }
  }

  /// Hands out a number.
  public func fetchNumberedFuture() -> Future<Picture, any Error> {
    Future("fetchNumbered(completion:)") { promise in
      _ = self.fetchNumbered(completion: promise.resultHandler)
    }
  }
}

extension Loader {
  /// With a constraint.
  public nonisolated(nonsending) func load<Value>(_ type: Value.Type, from text: String) async throws -> Value where Value : Decoding {
    try await withCallback("load(_:from:completion:)") { callback in
      self.load(type, from: text, completion: callback.resultHandler)
    }
  }

  /// With a type that only the callback names.
  public nonisolated(nonsending) func loadAny<Value>() async throws -> Value where Value : Decoding {
    try await withCallback("loadAny(completion:)") { callback in
      self.loadAny(completion: callback.valueOrErrorHandler)
    }
  }

  /// With a `where` clause.
  public nonisolated(nonsending) func store<Item>(_ items: [Item]) async throws -> Item where Item : Identifiable, Item : Sendable, Item.ID == Int {
    try await withCallback("store(_:completion:)") { callback in
      self.store(items, completion: callback.resultHandler)
    }
  }

  /// With a `where` clause.
  public func storeFuture<Item>(_ items: [Item]) -> Future<Item, any Error> where Item : Identifiable, Item : Sendable, Item.ID == Int {
    Future("store(_:completion:)") { promise in
      self.store(items, completion: promise.resultHandler)
    }
  }

  /// With a value that need not be Sendable.
  public nonisolated(nonsending) func keep<Item>(_ item: Item) async throws -> Item {
    try await withCallback("keep(_:completion:)") { callback in
      self.keep(item, completion: callback.resultHandler)
    }
  }

  /// With an error of any type.
  public nonisolated(nonsending) func attempt<Value, Failure>(_ result: Result<Value, Failure>) async throws -> Value where Value : Sendable, Failure : Error {
    try await withCallback("attempt(_:completion:)") { callback in
      self.attempt(result, completion: callback.resultHandler(of: (Failure).self))
    }
  }

  /// With an error of any type.
  public func attemptFuture<Value, Failure>(_ result: Result<Value, Failure>) -> Future<Value, any Error> where Value : Sendable, Failure : Error {
    Future("attempt(_:completion:)") { promise in
      self.attempt(result, completion: promise.resultHandler(of: (Failure).self))
    }
  }

  /// With an opaque parameter.
  public nonisolated(nonsending) func count(_ items: some Collection<Int> & Sendable) async throws -> Int {
    try await withCallback("count(_:completion:)") { callback in
      self.count(items, completion: callback.valueHandler)
    }
  }

  /// With an opaque parameter.
  public func countFuture(_ items: some Collection<Int> & Sendable) -> Future<Int, any Error> {
    Future("count(_:completion:)") { promise in
      self.count(items, completion: promise.valueHandler)
    }
  }

  /// With an associated type.
  public nonisolated(nonsending) func first<Items>(of items: Items) async throws -> Items.Element where Items : Collection, Items : Sendable, Items.Element : Sendable {
    try await withCallback("first(of:completion:)") { callback in
      self.first(of: items, completion: callback.resultHandler)
    }
  }

  /// With an associated type.
  public func firstFuture<Items>(of items: Items) -> Future<Items.Element, any Error> where Items : Collection, Items : Sendable, Items.Element : Sendable {
    Future("first(of:completion:)") { promise in
      self.first(of: items, completion: promise.resultHandler)
    }
  }

  /// With a metatype of a protocol.
  public nonisolated(nonsending) func anyIdentifiable() async throws -> any Decoding {
    try await withCallback("anyIdentifiable(completion:)") { callback in
      self.anyIdentifiable(completion: callback.resultHandler)
    }
  }

  /// With a metatype of a protocol.
  public func anyIdentifiableFuture() -> Future<any Decoding, any Error> {
    Future("anyIdentifiable(completion:)") { promise in
      self.anyIdentifiable(completion: promise.resultHandler)
    }
  }
}

extension Cache {
  /// Looks a value up.
  public nonisolated(nonsending) func value(for key: Key) async throws -> Value {
    try await withCallback("value(for:completion:)") { callback in
      self.value(for: key, completion: callback.resultHandler)
    }
  }
}

extension Cache.Entry {
  /// Reads it.
  public nonisolated(nonsending) func read() async throws -> Value {
    try await withCallback("read(completion:)") { callback in
      self.read(completion: callback.valueOrErrorHandler)
    }
  }
}

extension Cache where Key == String, Value: Sendable {
  /// Looks a name up.
  public nonisolated(nonsending) func value(named name: String) async throws -> Value {
    try await withCallback("value(named:completion:)") { callback in
      self.value(named: name, completion: callback.valueHandler)
    }
  }
}

extension Cache where Key: Hashable, Key: Sendable, Value: Identifiable, Value: Sendable, Value.ID: Sendable {
  /// Lists the numbers.
  public nonisolated(nonsending) func identifiers() async throws -> [Value.ID] {
    try await withCallback("identifiers(completion:)") { callback in
      self.identifiers(completion: callback.valueHandler)
    }
  }
}

extension Array where Element == User {
  /// Saves all of them.
  public nonisolated(nonsending) func saveAll(to backend: Backend) async throws {
    try await withCallback("saveAll(to:completion:)") { callback in
      self.saveAll(to: backend, completion: callback.errorHandler)
    }
  }

  /// Saves all of them.
  public func saveAllFuture(to backend: Backend) -> Future<Void, any Error> {
    Future("saveAll(to:completion:)") { promise in
      self.saveAll(to: backend, completion: promise.errorHandler)
    }
  }
}

extension Collection where Self: Sendable, Self.Element: Sendable {
  /// Picks one.
  public nonisolated(nonsending) func pick(from backend: Backend) async throws -> Self.Element? {
    try await withCallback("pick(from:completion:)") { callback in
      self.pick(from: backend, completion: callback.valueHandler)
    }
  }
}

extension Optional where Wrapped: Sendable {
  /// Unwraps it, in time.
  public nonisolated(nonsending) func unwrap(from backend: Backend) async throws -> Wrapped {
    try await withCallback("unwrap(from:completion:)") { callback in
      self.unwrap(from: backend, completion: callback.resultHandler)
    }
  }
}

extension String {
  /// Translates it.
  public nonisolated(nonsending) func translated(by backend: Backend) async throws -> String {
    try await withCallback("translated(by:completion:)") { callback in
      let handle = self.translated(by: backend, completion: callback.valueOrErrorHandler)
      callback.onCancel { handle.cancel() }
    }
  }

  /// Translates it.
  public func translatedFuture(by backend: Backend) -> Future<String, any Error> {
    Future("translated(by:completion:)") { promise in
      let handle = self.translated(by: backend, completion: promise.valueOrErrorHandler)
      promise.onCancel { handle.cancel() }
    }
  }

  /// Belongs to the type.
  public static nonisolated(nonsending) func random(from backend: Backend) async throws -> String {
    try await withCallback("random(from:completion:)") { callback in
      self.random(from: backend, completion: callback.resultHandler)
    }
  }

  /// Belongs to the type.
  public static func randomFuture(from backend: Backend) -> Future<String, any Error> {
    Future("random(from:completion:)") { promise in
      self.random(from: backend, completion: promise.resultHandler)
    }
  }
}

extension Screen {
  /// Loads the title, and calls back on the main actor.
  @MainActor
  public func loadTitle() async throws -> String {
    try await withCallback("loadTitle(completion:)") { callback in
      self.loadTitle(completion: callback.resultHandler)
    }
  }

  /// Loads the title, and calls back on the main actor.
  @MainActor
  public func loadTitleFuture() -> Future<String, any Error> {
    Future("loadTitle(completion:)") { promise in
      self.loadTitle(completion: promise.resultHandler)
    }
  }

  /// Calls back from anywhere.
  @MainActor
  public func loadPicture(id: Int) async throws -> Picture {
    try await withCallback("loadPicture(id:completion:)") { callback in
      let handle = self.loadPicture(id: id, completion: callback.valueOrErrorHandler)
      callback.onCancel { handle.cancel() }
    }
  }

  /// Calls back from anywhere.
  @MainActor
  public func loadPictureFuture(id: Int) -> Future<Picture, any Error> {
    Future("loadPicture(id:completion:)") { promise in
      let handle = self.loadPicture(id: id, completion: promise.valueOrErrorHandler)
      promise.onCancel { handle.cancel() }
    }
  }

  /// Calls back on the main actor, at once.
  @MainActor
  public func measure() async throws -> (Int, Int) {
    try await withCallback("measure(completion:)") { callback in
      self.measure(completion: { @Sendable value1, value2 in callback.valueHandler((value1, value2)) })
    }
  }

  /// Calls back on the main actor, at once.
  @MainActor
  public func measureFuture() -> Future<(Int, Int), any Error> {
    Future("measure(completion:)") { promise in
      self.measure(completion: { @Sendable value1, value2 in promise.valueHandler((value1, value2)) })
    }
  }

  /// Belongs to no actor.
  public nonisolated(nonsending) func describe() async throws -> String {
    try await withCallback("describe(completion:)") { callback in
      self.describe(completion: callback.resultHandler)
    }
  }

  /// Belongs to no actor.
  public nonisolated func describeFuture() -> Future<String, any Error> {
    Future("describe(completion:)") { promise in
      self.describe(completion: promise.resultHandler)
    }
  }

  /// Tells its progress on the main actor.
  @MainActor
  public func render(progress: @escaping @MainActor @Sendable (Double) -> Void) async throws {
    try await withCallback("render(progress:completion:)") { callback in
      self.render(progress: progress, completion: callback.voidHandler)
    }
  }

  /// Tells its progress on the main actor.
  @MainActor
  public func renderFuture() -> Future<Void, any Error> {
    Future("render(progress:completion:)") { promise in
      let progress_ = promise.progress
      self.render(progress: { @Sendable in progress_.report(fraction: $0) }, completion: promise.voidHandler)
    }
  }

  /// A value that belongs to the main actor.
  @MainActor
  public func draft() async throws -> Draft {
    try await withCallback("draft(completion:)") { callback in
      self.draft(completion: callback.resultHandler)
    }
  }

  /// Belongs to the type, on the main actor.
  @MainActor
  public static func warmUp(_ backend: Backend) async throws {
    try await withCallback("warmUp(_:completion:)") { callback in
      self.warmUp(backend, completion: callback.errorHandler)
    }
  }

  /// Belongs to the type, on the main actor.
  @MainActor
  public static func warmUpFuture(_ backend: Backend) -> Future<Void, any Error> {
    Future("warmUp(_:completion:)") { promise in
      self.warmUp(backend, completion: promise.errorHandler)
    }
  }

  /// Presents something.
  @MainActor
  public func present(_ text: String) async throws -> Bool {
    try await withCallback("present(_:completion:)") { callback in
      self.present(text, completion: callback.valueHandler)
    }
  }

  /// Presents something.
  @MainActor
  public func presentFuture(_ text: String) -> Future<Bool, any Error> {
    Future("present(_:completion:)") { promise in
      self.present(text, completion: promise.valueHandler)
    }
  }
}

extension Presenting {
  /// Presents something.
  @MainActor
  public func present(_ text: String) async throws -> Bool {
    try await withCallback("present(_:completion:)") { callback in
      self.present(text, completion: callback.valueHandler)
    }
  }

  /// Presents something.
  @MainActor
  public func presentFuture(_ text: String) -> Future<Bool, any Error> {
    Future("present(_:completion:)") { promise in
      self.present(text, completion: promise.valueHandler)
    }
  }
}

/// Belongs to the main actor, and to no type.
@MainActor
public func showAlert(_ text: String, from backend: Backend) async throws -> Int {
  try await withCallback("showAlert(_:from:completion:)") { callback in
    showAlert(text, from: backend, completion: callback.valueHandler)
  }
}

/// Belongs to the main actor, and to no type.
@MainActor
public func showAlertFuture(_ text: String, from backend: Backend) -> Future<Int, any Error> {
  Future("showAlert(_:from:completion:)") { promise in
    showAlert(text, from: backend, completion: promise.valueHandler)
  }
}

/// Belongs to the storage's actor, and to no type.
@StorageActor
public func compact(_ backend: Backend) async throws {
  try await withCallback("compact(_:completion:)") { callback in
    let handle = compact(backend, completion: callback.errorHandler)
    callback.onCancel { handle.cancel() }
  }
}

/// Belongs to the storage's actor, and to no type.
@StorageActor
public func compactFuture(_ backend: Backend) -> Future<Void, any Error> {
  Future("compact(_:completion:)") { promise in
    let handle = compact(backend, completion: promise.errorHandler)
    promise.onCancel { handle.cancel() }
  }
}

/// Fetches the time, and belongs to no type.
public nonisolated(nonsending) func fetchTime(from backend: Backend) async throws -> Int {
  try await withCallback("fetchTime(from:completion:)") { callback in
    fetchTime(from: backend, completion: callback.resultHandler)
  }
}

/// Fetches the time, and belongs to no type.
public func fetchTimeFuture(from backend: Backend) -> Future<Int, any Error> {
  Future("fetchTime(from:completion:)") { promise in
    fetchTime(from: backend, completion: promise.resultHandler)
  }
}

/// Fetches the day, and belongs to this module.
nonisolated(nonsending) func fetchDay(from backend: Backend) async throws -> Int {
  try await withCallback("fetchDay(from:completion:)") { callback in
    let handle = fetchDay(from: backend, completion: callback.resultHandler)
    callback.onCancel { handle.cancel() }
  }
}

/// Fetches the day, and belongs to this module.
func fetchDayFuture(from backend: Backend) -> Future<Int, any Error> {
  Future("fetchDay(from:completion:)") { promise in
    let handle = fetchDay(from: backend, completion: promise.resultHandler)
    promise.onCancel { handle.cancel() }
  }
}

extension Storage {
  /// Reads.
  @StorageActor
  public func read(_ key: String) async throws -> String {
    try await withCallback("read(_:completion:)") { callback in
      self.read(key, completion: callback.resultHandler)
    }
  }

  /// Reads.
  @StorageActor
  public func readFuture(_ key: String) -> Future<String, any Error> {
    Future("read(_:completion:)") { promise in
      self.read(key, completion: promise.resultHandler)
    }
  }
}

extension Account {
  /// Takes money.
  public func withdraw(_ amount: Int) async throws -> Int {
    try await withCallback("withdraw(_:completion:)") { callback in
      let handle = self.withdraw(amount, completion: callback.resultHandler)
      callback.onCancel { handle.cancel() }
    }
  }

  /// Takes money.
  public func withdrawFuture(_ amount: Int) -> Future<Int, any Error> {
    Future("withdraw(_:completion:)") { promise in
      let handle = self.withdraw(amount, completion: promise.resultHandler)
      promise.onCancel { handle.cancel() }
    }
  }

  /// Calls back at once, on the actor.
  public func peek() async throws -> Int {
    try await withCallback("peek(completion:)") { callback in
      self.peek(completion: callback.valueHandler)
    }
  }

  /// Calls back at once, on the actor.
  public func peekFuture() -> Future<Int, any Error> {
    Future("peek(completion:)") { promise in
      self.peek(completion: promise.valueHandler)
    }
  }

  /// Gives a value away that is not Sendable.
  public func statement() async throws -> Draft {
    try await withCallback("statement(completion:)") { callback in
      self.statement(completion: callback.resultHandler)
    }
  }

  /// Belongs to no actor.
  public nonisolated(nonsending) func name() async throws -> String {
    try await withCallback("name(completion:)") { callback in
      self.name(completion: callback.resultHandler)
    }
  }

  /// Belongs to no actor.
  public nonisolated func nameFuture() -> Future<String, any Error> {
    Future("name(completion:)") { promise in
      self.name(completion: promise.resultHandler)
    }
  }

  /// Belongs to the type.
  public static nonisolated(nonsending) func rate(_ backend: Backend) async throws -> Int {
    try await withCallback("rate(_:completion:)") { callback in
      self.rate(backend, completion: callback.resultHandler)
    }
  }

  /// Belongs to the type.
  public static func rateFuture(_ backend: Backend) -> Future<Int, any Error> {
    Future("rate(_:completion:)") { promise in
      self.rate(backend, completion: promise.resultHandler)
    }
  }

  /// Tells its progress.
  public func audit(progress: @escaping @Sendable (Double) -> Void) async throws {
    try await withCallback("audit(progress:completion:)") { callback in
      self.audit(progress: progress, completion: callback.errorHandler)
    }
  }

  /// Tells its progress.
  public func auditFuture() -> Future<Void, any Error> {
    Future("audit(progress:completion:)") { promise in
      let progress_ = promise.progress
      self.audit(progress: { @Sendable in progress_.report(fraction: $0) }, completion: promise.errorHandler)
    }
  }

  /// Added to the actor elsewhere.
  public func close() async throws {
    try await withCallback("close(completion:)") { callback in
      self.close(completion: callback.errorHandler)
    }
  }

  /// Added to the actor elsewhere.
  public func closeFuture() -> Future<Void, any Error> {
    Future("close(completion:)") { promise in
      self.close(completion: promise.errorHandler)
    }
  }
}

extension Editor {
  /// Opens a draft, which is not Sendable.
  public nonisolated(nonsending) func open(_ name: String) async throws -> Draft {
    try await withCallback("open(_:completion:)") { callback in
      self.open(name, completion: callback.resultHandler)
    }
  }

  /// Opens a draft and says how long it is.
  public nonisolated(nonsending) func openAndCount(_ name: String) async throws -> (Draft, Int) {
    try await withCallback("openAndCount(_:completion:)") { callback in
      self.openAndCount(name, completion: callback.valuesOrErrorHandler())
    }
  }

  /// Saves a draft, which is not Sendable.
  public nonisolated(nonsending) func save(_ draft: Draft) async throws {
    try await withCallback("save(_:completion:)") { callback in
      self.save(draft, completion: callback.errorHandler)
    }
  }

  /// Saves a draft, which is not Sendable.
  public func saveFuture(_ draft: Draft) -> Future<Void, any Error> {
    Future("save(_:completion:)") { promise in
      self.save(draft, completion: promise.errorHandler)
    }
  }

  /// Tells its progress.
  public nonisolated(nonsending) func export(progress: @escaping (Double) -> Void) async throws -> Draft {
    try await withCallback("export(progress:completion:)") { callback in
      let handle = self.export(progress: progress, completion: callback.valueOrErrorHandler)
      callback.onCancel { handle.cancel() }
    }
  }
}

extension Service {
  /// A static function.
  public static nonisolated(nonsending) func connect(to backend: Backend) async throws -> Int {
    try await withCallback("connect(to:completion:)") { callback in
      self.connect(to: backend, completion: callback.resultHandler)
    }
  }

  /// A static function.
  public static func connectFuture(to backend: Backend) -> Future<Int, any Error> {
    Future("connect(to:completion:)") { promise in
      self.connect(to: backend, completion: promise.resultHandler)
    }
  }

  /// A class function.
  public static nonisolated(nonsending) func discover(from backend: Backend) async throws -> Int {
    try await withCallback("discover(from:completion:)") { callback in
      self.discover(from: backend, completion: callback.valueHandler)
    }
  }

  /// A class function.
  public static func discoverFuture(from backend: Backend) -> Future<Int, any Error> {
    Future("discover(from:completion:)") { promise in
      self.discover(from: backend, completion: promise.valueHandler)
    }
  }

  /// Can be overridden.
  public nonisolated(nonsending) func start() async throws -> String {
    try await withCallback("start(completion:)") { callback in
      self.start(completion: callback.resultHandler)
    }
  }

  /// Can be overridden.
  public func startFuture() -> Future<String, any Error> {
    Future("start(completion:)") { promise in
      self.start(completion: promise.resultHandler)
    }
  }

  /// Can be called as a function.
  public nonisolated(nonsending) func callAsFunction(_ text: String) async throws -> String {
    try await withCallback("callAsFunction(_:completion:)") { callback in
      self.callAsFunction(text, completion: callback.valueHandler)
    }
  }

  /// Can be called as a function.
  public func callAsFunctionFuture(_ text: String) -> Future<String, any Error> {
    Future("callAsFunction(_:completion:)") { promise in
      self.callAsFunction(text, completion: promise.valueHandler)
    }
  }

  /// Makes one of the type itself.
  public nonisolated(nonsending) func copied() async throws -> Service {
    try await withCallback("copied(completion:)") { callback in
      self.copied(completion: callback.valueHandler)
    }
  }
}

extension Service.Session {
  /// Changes itself.
  public mutating nonisolated(nonsending) func next() async throws -> Int {
    try await withCallback("next(completion:)") { callback in
      self.next(completion: callback.valueHandler)
    }
  }

  /// Changes itself.
  public mutating func nextFuture() -> Future<Int, any Error> {
    Future("next(completion:)") { promise in
      self.next(completion: promise.valueHandler)
    }
  }

  /// Uses itself up.
  public nonisolated(nonsending) func end() async throws -> Int {
    try await withCallback("end(completion:)") { callback in
      self.end(completion: callback.valueHandler)
    }
  }

  /// Uses itself up.
  public func endFuture() -> Future<Int, any Error> {
    Future("end(completion:)") { promise in
      self.end(completion: promise.valueHandler)
    }
  }
}

extension Service.Session.Mode {
  /// Tries it.
  public nonisolated(nonsending) func check(_ backend: Backend, mode: Service.Session.Mode = .quick) async throws -> Service.Session.Mode {
    try await withCallback("check(_:mode:completion:)") { callback in
      self.check(backend, mode: mode, completion: callback.valueHandler)
    }
  }

  /// Tries it.
  public func checkFuture(_ backend: Backend, mode: Service.Session.Mode = .quick) -> Future<Service.Session.Mode, any Error> {
    Future("check(_:mode:completion:)") { promise in
      self.check(backend, mode: mode, completion: promise.valueHandler)
    }
  }
}

extension SpecialService {
  /// Can be overridden.
  public nonisolated(nonsending) func start() async throws -> String {
    try await withCallback("start(completion:)") { callback in
      self.start(completion: callback.resultHandler)
    }
  }

  /// Can be overridden.
  public func startFuture() -> Future<String, any Error> {
    Future("start(completion:)") { promise in
      self.start(completion: promise.resultHandler)
    }
  }

  /// A class function.
  public static nonisolated(nonsending) func discover(from backend: Backend) async throws -> Int {
    try await withCallback("discover(from:completion:)") { callback in
      self.discover(from: backend, completion: callback.valueHandler)
    }
  }

  /// A class function.
  public static func discoverFuture(from backend: Backend) -> Future<Int, any Error> {
    Future("discover(from:completion:)") { promise in
      self.discover(from: backend, completion: promise.valueHandler)
    }
  }

  /// Is its own.
  public nonisolated(nonsending) func specialize() async throws -> Int {
    try await withCallback("specialize(completion:)") { callback in
      self.specialize(completion: callback.valueHandler)
    }
  }

  /// Is its own.
  public func specializeFuture() -> Future<Int, any Error> {
    Future("specialize(completion:)") { promise in
      self.specialize(completion: promise.valueHandler)
    }
  }
}

extension Socket {
  /// Reads from it.
  public nonisolated(nonsending) func read() async throws -> Int {
    try await withCallback("read(completion:)") { callback in
      self.read(completion: callback.valueHandler)
    }
  }

  /// Reads from it.
  public func readFuture() -> Future<Int, any Error> {
    Future("read(completion:)") { promise in
      self.read(completion: promise.valueHandler)
    }
  }
}

extension Internals {
  /// Is seen in this module alone.
  static nonisolated(nonsending) func measure(_ backend: Backend) async throws -> Int {
    try await withCallback("measure(_:completion:)") { callback in
      self.measure(backend, completion: callback.valueHandler)
    }
  }

  /// Is seen in this module alone.
  static func measureFuture(_ backend: Backend) -> Future<Int, any Error> {
    Future("measure(_:completion:)") { promise in
      self.measure(backend, completion: promise.valueHandler)
    }
  }

  /// Is seen in this package.
  package static nonisolated(nonsending) func weigh(_ backend: Backend) async throws -> Int {
    try await withCallback("weigh(_:completion:)") { callback in
      self.weigh(backend, completion: callback.valueHandler)
    }
  }

  /// Is seen in this package.
  package static func weighFuture(_ backend: Backend) -> Future<Int, any Error> {
    Future("weigh(_:completion:)") { promise in
      self.weigh(backend, completion: promise.valueHandler)
    }
  }

  /// As `reveal(_:completion:)`.
  static nonisolated(nonsending) func reveal(_ backend: Backend) async throws -> Int {
    try await withCallback("reveal(_:completion:)") { callback in
      self.reveal(backend, completion: callback.valueHandler)
    }
  }

  /// As `reveal(_:completion:)`.
  static func revealFuture(_ backend: Backend) -> Future<Int, any Error> {
    Future("reveal(_:completion:)") { promise in
      self.reveal(backend, completion: promise.valueHandler)
    }
  }
}

extension Depot {
  /// Is public, and its type is not.
  public nonisolated(nonsending) func fetch() async throws -> Int {
    try await withCallback("fetch(completion:)") { callback in
      self.fetch(completion: callback.resultHandler)
    }
  }

  /// Is public, and its type is not.
  public func fetchFuture() -> Future<Int, any Error> {
    Future("fetch(completion:)") { promise in
      self.fetch(completion: promise.resultHandler)
    }
  }
}

extension Migrating {
  /// Has an async twin.
  public func userFuture(id: Int) -> Future<User, any Error> {
    Future("user(id:completion:)") { promise in
      self.user(id: id, completion: promise.resultHandler)
    }
  }

  /// Has a future twin.
  public nonisolated(nonsending) func picture(id: Int) async throws -> Picture {
    try await withCallback("picture(id:completion:)") { callback in
      self.picture(id: id, completion: callback.resultHandler)
    }
  }

  /// There is a function of the twin's name, which is not async.
  public func countFuture(of id: Int) -> Future<Int, any Error> {
    Future("count(of:completion:)") { promise in
      self.count(of: id, completion: promise.valueHandler)
    }
  }

  /// An overload of one that has a twin.
  public func userFuture(id: String) -> Future<User, any Error> {
    Future("user(id:completion:)") { promise in
      self.user(id: id, completion: promise.resultHandler)
    }
  }

  /// Is no more to be used.
  public nonisolated(nonsending) func oldUser(id: Int) async throws -> User {
    try await withCallback("oldUser(id:completion:)") { callback in
      self.oldUser(id: id, completion: callback.resultHandler)
    }
  }

  /// Is no more to be used.
  public func oldUserFuture(id: Int) -> Future<User, any Error> {
    Future("oldUser(id:completion:)") { promise in
      self.oldUser(id: id, completion: promise.resultHandler)
    }
  }

  /// Is not to be called from async code.
  public nonisolated(nonsending) func blocking(id: Int) async throws -> Int {
    try await withCallback("blocking(id:completion:)") { callback in
      self.blocking(id: id, completion: callback.valueHandler)
    }
  }

  /// Is not to be called from async code.
  public func blockingFuture(id: Int) -> Future<Int, any Error> {
    Future("blocking(id:completion:)") { promise in
      self.blocking(id: id, completion: promise.valueHandler)
    }
  }

  /// Needs a newer system.
  @available(macOS 15.4, iOS 18.4, *)
  public nonisolated(nonsending) func newer(id: Int) async throws -> Int {
    try await withCallback("newer(id:completion:)") { callback in
      self.newer(id: id, completion: callback.valueHandler)
    }
  }

  /// Needs a newer system.
  @available(macOS 15.4, iOS 18.4, *)
  public func newerFuture(id: Int) -> Future<Int, any Error> {
    Future("newer(id:completion:)") { promise in
      self.newer(id: id, completion: promise.valueHandler)
    }
  }

  /// Is old on one system.
  public nonisolated(nonsending) func older(id: Int) async throws -> Int {
    try await withCallback("older(id:completion:)") { callback in
      self.older(id: id, completion: callback.valueHandler)
    }
  }

  /// Is old on one system.
  public func olderFuture(id: Int) -> Future<Int, any Error> {
    Future("older(id:completion:)") { promise in
      self.older(id: id, completion: promise.valueHandler)
    }
  }

  /// Is for those who ask for it.
  public nonisolated(nonsending) func spied(id: Int) async throws -> Int {
    try await withCallback("spied(id:completion:)") { callback in
      self.spied(id: id, completion: callback.valueHandler)
    }
  }

  /// Is for those who ask for it.
  public func spiedFuture(id: Int) -> Future<Int, any Error> {
    Future("spied(id:completion:)") { promise in
      self.spied(id: id, completion: promise.valueHandler)
    }
  }

  /// Can be inlined.
  public nonisolated(nonsending) func inlined(id: Int) async throws -> Int {
    try await withCallback("inlined(id:completion:)") { callback in
      _ = self.inlined(id: id, completion: callback.valueHandler)
    }
  }

  /// Can be inlined.
  public func inlinedFuture(id: Int) -> Future<Int, any Error> {
    Future("inlined(id:completion:)") { promise in
      _ = self.inlined(id: id, completion: promise.valueHandler)
    }
  }
}

@available(macOS 15.4, iOS 18.4, *)
extension Newer {
  /// Fetches.
  @available(macOS 15.4, iOS 18.4, *)
  public nonisolated(nonsending) func fetch() async throws -> Int {
    try await withCallback("fetch(completion:)") { callback in
      self.fetch(completion: callback.resultHandler)
    }
  }

  /// Fetches.
  @available(macOS 15.4, iOS 18.4, *)
  public func fetchFuture() -> Future<Int, any Error> {
    Future("fetch(completion:)") { promise in
      self.fetch(completion: promise.resultHandler)
    }
  }
}

extension Names {
  /// By type.
  public nonisolated(nonsending) func search(for name: String) async throws -> [User] {
    try await withCallback("search(for:completion:)") { callback in
      self.search(for: name, completion: callback.resultHandler)
    }
  }

  /// By type.
  public func searchFuture(for name: String) -> Future<[User], any Error> {
    Future("search(for:completion:)") { promise in
      self.search(for: name, completion: promise.resultHandler)
    }
  }

  /// By type.
  public nonisolated(nonsending) func search(for id: Int) async throws -> [User] {
    try await withCallback("search(for:completion:)") { callback in
      self.search(for: id, completion: callback.resultHandler)
    }
  }

  /// By type.
  public func searchFuture(for id: Int) -> Future<[User], any Error> {
    Future("search(for:completion:)") { promise in
      self.search(for: id, completion: promise.resultHandler)
    }
  }

  /// By label.
  public nonisolated(nonsending) func search(named name: String) async throws -> [User] {
    try await withCallback("search(named:completion:)") { callback in
      self.search(named: name, completion: callback.resultHandler)
    }
  }

  /// By label.
  public func searchFuture(named name: String) -> Future<[User], any Error> {
    Future("search(named:completion:)") { promise in
      self.search(named: name, completion: promise.resultHandler)
    }
  }

  /// With progress, and below without: the same future.
  public nonisolated(nonsending) func fetch(_ path: String, progress: @escaping (Double) -> Void) async throws {
    try await withCallback("fetch(_:progress:completion:)") { callback in
      self.fetch(path, progress: progress, completion: callback.errorHandler)
    }
  }

  /// Without progress.
  public nonisolated(nonsending) func fetch(_ path: String) async throws {
    try await withCallback("fetch(_:completion:)") { callback in
      self.fetch(path, completion: callback.errorHandler)
    }
  }

  /// Every name that a twin would use.
  public nonisolated(nonsending) func collide(callback: Int, promise: Int, handle: Int, error: Int, value1: Int, value2: Int, self other: Int, progress: @escaping (Double) -> Void) async throws -> (Int, String, Int) {
    try await withCallback("collide(callback:promise:handle:error:value1:value2:self:progress:completion:)") { callback_ in
      let handle_ = self.collide(callback: callback, promise: promise, handle: handle, error: error, value1: value1, value2: value2, self: other, progress: progress, completion: { @Sendable value1, value2, value3, error in if let value1, let value2, let value3 { callback_.valueOrErrorHandler((value1, value2, value3), error) } else { callback_.valueOrErrorHandler(nil, error) } })
      callback_.onCancel { handle_.cancel() }
    }
  }

  /// Every name that a twin would use.
  public func collideFuture(callback: Int, promise: Int, handle: Int, error: Int, value1: Int, value2: Int, self other: Int) -> Future<(Int, String, Int), any Error> {
    Future("collide(callback:promise:handle:error:value1:value2:self:progress:completion:)") { promise_ in
      let progress_ = promise_.progress
      let handle_ = self.collide(callback: callback, promise: promise, handle: handle, error: error, value1: value1, value2: value2, self: other, progress: { @Sendable in progress_.report(fraction: $0) }, completion: { @Sendable value1, value2, value3, error in if let value1, let value2, let value3 { promise_.valueOrErrorHandler((value1, value2, value3), error) } else { promise_.valueOrErrorHandler(nil, error) } })
      promise_.onCancel { handle_.cancel() }
    }
  }

  /// A parameter that is called as the progress.
  public nonisolated(nonsending) func collide(progress: Int, progressHandler: @escaping (Double) -> Void) async throws {
    try await withCallback("collide(progress:progressHandler:completion:)") { callback in
      do {
        try self.collide(progress: progress, progressHandler: progressHandler, completion: callback.voidHandler)
      } catch {
        callback.resume(throwing: error)
      }
    }
  }

  /// A parameter that is called as the progress.
  public func collideFuture(progress: Int) -> Future<Void, any Error> {
    Future("collide(progress:progressHandler:completion:)") { promise in
      let progress_ = promise.progress
      do {
        try self.collide(progress: progress, progressHandler: { @Sendable in progress_.report(fraction: $0) }, completion: promise.voidHandler)
      } catch {
        promise.fail(error)
      }
    }
  }

  /// Words of the language.
  public nonisolated(nonsending) func `repeat`(_ class: Int, in default: Int) async throws -> Int {
    try await withCallback("`repeat`(_:in:completion:)") { callback in
      self.`repeat`(class, in: default, completion: callback.valueHandler)
    }
  }

  /// Words of the language.
  public func repeatFuture(_ class: Int, in default: Int) -> Future<Int, any Error> {
    Future("`repeat`(_:in:completion:)") { promise in
      self.`repeat`(class, in: default, completion: promise.valueHandler)
    }
  }

  /// Words of the language in the labels alone.
  public nonisolated(nonsending) func move(for item: Int, where place: Int) async throws -> Int {
    try await withCallback("move(for:where:completion:)") { callback in
      self.move(for: item, where: place, completion: callback.valueHandler)
    }
  }

  /// Words of the language in the labels alone.
  public func moveFuture(for item: Int, where place: Int) -> Future<Int, any Error> {
    Future("move(for:where:completion:)") { promise in
      self.move(for: item, where: place, completion: promise.valueHandler)
    }
  }

  /// A parameter without a name.
  public nonisolated(nonsending) func ignore(_: Int, label _: Int) async throws -> Int {
    try await withCallback("ignore(_:label:completion:)") { callback in
      self.ignore(_, label: _, completion: callback.valueHandler)
    }
  }

  /// A parameter without a name.
  public func ignoreFuture(_: Int, label _: Int) -> Future<Int, any Error> {
    Future("ignore(_:label:completion:)") { promise in
      self.ignore(_, label: _, completion: promise.valueHandler)
    }
  }

  /// Defaults of every kind.
  public nonisolated(nonsending) func configure(title: String = "a, b) -> (\"c\", completion: {", count: Int = max(1, 2), users: [User] = [.init(id: 1, name: "x, y"), User(id: 2)], map: [String : Int] = ["a": 1, "b": 2], transform: @escaping @Sendable (Int) -> Int = { value in value + 1 }, nothing: Int? = nil) async throws -> Int {
    try await withCallback("configure(title:count:users:map:transform:nothing:completion:)") { callback in
      self.configure(title: title, count: count, users: users, map: map, transform: transform, nothing: nothing, completion: callback.valueHandler)
    }
  }

  /// Defaults of every kind.
  public func configureFuture(title: String = "a, b) -> (\"c\", completion: {", count: Int = max(1, 2), users: [User] = [.init(id: 1, name: "x, y"), User(id: 2)], map: [String : Int] = ["a": 1, "b": 2], transform: @escaping @Sendable (Int) -> Int = { value in value + 1 }, nothing: Int? = nil) -> Future<Int, any Error> {
    Future("configure(title:count:users:map:transform:nothing:completion:)") { promise in
      self.configure(title: title, count: count, users: users, map: map, transform: transform, nothing: nothing, completion: promise.valueHandler)
    }
  }

  /// A default of several lines, and one that tells where it is called.
  public nonisolated(nonsending) func log(_ text: String = """
      one
        two
      """, file: StaticString = #fileID, line: UInt = #line) async throws -> UInt {
    try await withCallback("log(_:file:line:completion:)") { callback in
      self.log(text, file: file, line: line, completion: callback.valueHandler)
    }
  }

  /// A default of several lines, and one that tells where it is called.
  public func logFuture(_ text: String = """
      one
        two
      """, file: StaticString = #fileID, line: UInt = #line) -> Future<UInt, any Error> {
    Future("log(_:file:line:completion:)") { promise in
      self.log(text, file: file, line: line, completion: promise.valueHandler)
    }
  }

  /// A default that only this module may see.
  public nonisolated(nonsending) func limit(_ limit: Int = 3) async throws -> Int {
    try await withCallback("limit(_:completion:)") { callback in
      self.limit(limit, completion: callback.valueHandler)
    }
  }

  /// A default that only this module may see.
  public func limitFuture(_ limit: Int = 3) -> Future<Int, any Error> {
    Future("limit(_:completion:)") { promise in
      self.limit(limit, completion: promise.valueHandler)
    }
  }

  /// Without a default.
  public nonisolated(nonsending) func touch(id: Int) async throws -> User {
    try await withCallback("touch(id:completion:)") { callback in
      self.touch(id: id, completion: callback.resultHandler)
    }
  }

  /// Without a default.
  public func touchFuture(id: Int) -> Future<User, any Error> {
    Future("touch(id:completion:)") { promise in
      self.touch(id: id, completion: promise.resultHandler)
    }
  }

  /// With a default: an async caller may leave it out today.
  public func pingFuture(id: Int) -> Future<User, any Error> {
    Future("ping(id:completion:)") { promise in
      self.ping(id: id, completion: promise.resultHandler)
    }
  }

  /// With a default that does nothing.
  public func pokeFuture(id: Int) -> Future<User, any Error> {
    Future("poke(id:completion:)") { promise in
      self.poke(id: id, completion: promise.valueHandler)
    }
  }

  /// A closure that does not escape.
  public nonisolated(nonsending) func filter(by isKept: (Int) -> Bool) async throws -> [Int] {
    try await withCallback("filter(by:completion:)") { callback in
      self.filter(by: isKept, completion: callback.valueHandler)
    }
  }

  /// A closure that does not escape.
  public func filterFuture(by isKept: (Int) -> Bool) -> Future<[Int], any Error> {
    Future("filter(by:completion:)") { promise in
      self.filter(by: isKept, completion: promise.valueHandler)
    }
  }

  /// A closure that escapes, and returns something.
  public nonisolated(nonsending) func map(_ transform: @escaping (Int) -> String) async throws -> [String] {
    try await withCallback("map(_:completion:)") { callback in
      self.map(transform, completion: callback.valueHandler)
    }
  }

  /// A closure that escapes, and returns something.
  public func mapFuture(_ transform: @escaping (Int) -> String) -> Future<[String], any Error> {
    Future("map(_:completion:)") { promise in
      self.map(transform, completion: promise.valueHandler)
    }
  }

  /// An autoclosure.
  public nonisolated(nonsending) func check(_ condition: @autoclosure () -> Bool) async throws -> Bool {
    try await withCallback("check(_:completion:)") { callback in
      self.check(condition(), completion: callback.valueHandler)
    }
  }

  /// An autoclosure.
  public func checkFuture(_ condition: @autoclosure () -> Bool) -> Future<Bool, any Error> {
    Future("check(_:completion:)") { promise in
      self.check(condition(), completion: promise.valueHandler)
    }
  }

  /// An autoclosure that escapes.
  public nonisolated(nonsending) func checkLater(_ condition: @autoclosure @escaping @Sendable () -> Bool) async throws -> Bool {
    try await withCallback("checkLater(_:completion:)") { callback in
      self.checkLater(condition(), completion: callback.valueHandler)
    }
  }

  /// An autoclosure that escapes.
  public func checkLaterFuture(_ condition: @autoclosure @escaping @Sendable () -> Bool) -> Future<Bool, any Error> {
    Future("checkLater(_:completion:)") { promise in
      self.checkLater(condition(), completion: promise.valueHandler)
    }
  }

  /// An autoclosure that may throw.
  public nonisolated(nonsending) func tryCheck(_ condition: @autoclosure () throws -> Bool) async throws -> Bool {
    try await withCallback("tryCheck(_:completion:)") { callback in
      do {
        try self.tryCheck(condition(), completion: callback.valueHandler)
      } catch {
        callback.resume(throwing: error)
      }
    }
  }

  /// An autoclosure that may throw.
  public func tryCheckFuture(_ condition: @autoclosure () throws -> Bool) -> Future<Bool, any Error> {
    Future("tryCheck(_:completion:)") { promise in
      do {
        try self.tryCheck(condition(), completion: promise.valueHandler)
      } catch {
        promise.fail(error)
      }
    }
  }

  /// Throws before it starts.
  public nonisolated(nonsending) func validate(_ id: Int) async throws -> User {
    try await withCallback("validate(_:completion:)") { callback in
      do {
        try self.validate(id, completion: callback.resultHandler)
      } catch {
        callback.resume(throwing: error)
      }
    }
  }

  /// Throws before it starts.
  public func validateFuture(_ id: Int) -> Future<User, any Error> {
    Future("validate(_:completion:)") { promise in
      do {
        try self.validate(id, completion: promise.resultHandler)
      } catch {
        promise.fail(error)
      }
    }
  }

  /// Throws an error of its own, and can be cancelled.
  public nonisolated(nonsending) func validate(typed id: Int) async throws -> User {
    try await withCallback("validate(typed:completion:)") { callback in
      do {
        let handle = try self.validate(typed: id, completion: callback.resultHandler)
        callback.onCancel { handle.cancel() }
      } catch {
        callback.resume(throwing: error)
      }
    }
  }

  /// Throws an error of its own, and can be cancelled.
  public func validateFuture(typed id: Int) -> Future<User, any Error> {
    Future("validate(typed:completion:)") { promise in
      do {
        let handle = try self.validate(typed: id, completion: promise.resultHandler)
        promise.onCancel { handle.cancel() }
      } catch {
        promise.fail(error)
      }
    }
  }
}

extension Users {
  /// Fetches a user.
  /// - Parameters:
  ///   - id: The number of the user.
  /// - Returns: Nothing.
  public nonisolated(nonsending) func user(id: Int) async throws -> User {
    try await withCallback("user(id:completion:)") { callback in
      self.user(id: id, completion: callback.resultHandler)
    }
  }

  /// Fetches a user.
  /// - Parameters:
  ///   - id: The number of the user.
  /// - Returns: Nothing.
  public func userFuture(id: Int) -> Future<User, any Error> {
    Future("user(id:completion:)") { promise in
      self.user(id: id, completion: promise.resultHandler)
    }
  }

  /// Signs in.
  ///
  /// Fails with an error of its own.
  /// - Parameter name: The name of the user.
  /// - Parameter password: The password.
  public nonisolated(nonsending) func signIn(name: String, password: String = "a, (b") async throws -> User {
    try await withCallback("signIn(name:password:completion:)") { callback in
      self.signIn(name: name, password: password, completion: callback.resultHandler(of: (SignInError).self))
    }
  }

  /// Signs in.
  ///
  /// Fails with an error of its own.
  /// - Parameter name: The name of the user.
  /// - Parameter password: The password.
  public func signInFuture(name: String, password: String = "a, (b") -> Future<User, any Error> {
    Future("signIn(name:password:completion:)") { promise in
      self.signIn(name: name, password: password, completion: promise.resultHandler(of: (SignInError).self))
    }
  }

  /// Looks into the cache, which cannot fail.
  public nonisolated(nonsending) func cachedUser(id: Int) async throws -> User {
    try await withCallback("cachedUser(id:completion:)") { callback in
      self.cachedUser(id: id, completion: callback.resultHandler(of: (Never).self))
    }
  }

  /// Looks into the cache, which cannot fail.
  public func cachedUserFuture(id: Int) -> Future<User, any Error> {
    Future("cachedUser(id:completion:)") { promise in
      self.cachedUser(id: id, completion: promise.resultHandler(of: (Never).self))
    }
  }

  /// Signs out.
  public nonisolated(nonsending) func signOut() async throws {
    try await withCallback("signOut(completion:)") { callback in
      self.signOut(completion: callback.resultHandler)
    }
  }

  /// Signs out.
  public func signOutFuture() -> Future<Void, any Error> {
    Future("signOut(completion:)") { promise in
      self.signOut(completion: promise.resultHandler)
    }
  }

  /// Finds out how the user is called, and how old she is.
  public nonisolated(nonsending) func details(id: Int) async throws -> (name: String, age: Int) {
    try await withCallback("details(id:completion:)") { callback in
      self.details(id: id, completion: callback.resultHandler)
    }
  }

  /// Finds out how the user is called, and how old she is.
  public func detailsFuture(id: Int) -> Future<(name: String, age: Int), any Error> {
    Future("details(id:completion:)") { promise in
      self.details(id: id, completion: promise.resultHandler)
    }
  }

  /// Completes with nothing of use, or a value that is missing.
  public nonisolated(nonsending) func nickname(id: Int) async throws -> String? {
    try await withCallback("nickname(id:completion:)") { callback in
      self.nickname(id: id, completion: callback.resultHandler)
    }
  }

  /// Completes with nothing of use, or a value that is missing.
  public func nicknameFuture(id: Int) -> Future<String?, any Error> {
    Future("nickname(id:completion:)") { promise in
      self.nickname(id: id, completion: promise.resultHandler)
    }
  }

  /// Fetches a picture.
  public nonisolated(nonsending) func picture(id: Int) async throws -> Picture {
    try await withCallback("picture(id:completionHandler:)") { callback in
      self.picture(id: id, completionHandler: callback.valueOrErrorHandler)
    }
  }

  /// Fetches a picture.
  public func pictureFuture(id: Int) -> Future<Picture, any Error> {
    Future("picture(id:completionHandler:)") { promise in
      self.picture(id: id, completionHandler: promise.valueOrErrorHandler)
    }
  }

  /// Fetches a picture and its size.
  public nonisolated(nonsending) func pictureAndSize(id: Int) async throws -> (Picture, Int) {
    try await withCallback("pictureAndSize(id:completion:)") { callback in
      self.pictureAndSize(id: id, completion: callback.valuesOrErrorHandler())
    }
  }

  /// Fetches a picture and its size.
  public func pictureAndSizeFuture(id: Int) -> Future<(Picture, Int), any Error> {
    Future("pictureAndSize(id:completion:)") { promise in
      self.pictureAndSize(id: id, completion: promise.valuesOrErrorHandler())
    }
  }

  /// Fetches a picture, its size and its title.
  public nonisolated(nonsending) func page(id: Int) async throws -> (Picture, Int, String) {
    try await withCallback("page(id:completion:)") { callback in
      self.page(id: id, completion: { @Sendable value1, value2, value3, error in if let value1, let value2, let value3 { callback.valueOrErrorHandler((value1, value2, value3), error) } else { callback.valueOrErrorHandler(nil, error) } })
    }
  }

  /// Fetches a picture, its size and its title.
  public func pageFuture(id: Int) -> Future<(Picture, Int, String), any Error> {
    Future("page(id:completion:)") { promise in
      self.page(id: id, completion: { @Sendable value1, value2, value3, error in if let value1, let value2, let value3 { promise.valueOrErrorHandler((value1, value2, value3), error) } else { promise.valueOrErrorHandler(nil, error) } })
    }
  }

  /// Fetches the friends of a user: none, if that fails.
  public nonisolated(nonsending) func friends(of user: User) async throws -> [User] {
    try await withCallback("friends(of:completion:)") { callback in
      self.friends(of: user, completion: callback.valueOrErrorHandler)
    }
  }

  /// Fetches the friends of a user: none, if that fails.
  public func friendsFuture(of user: User) -> Future<[User], any Error> {
    Future("friends(of:completion:)") { promise in
      self.friends(of: user, completion: promise.valueOrErrorHandler)
    }
  }

  /// Counts friends and followers.
  public nonisolated(nonsending) func counts() async throws -> (Int, Int) {
    try await withCallback("counts(completion:)") { callback in
      self.counts(completion: { @Sendable value1, value2, error in callback.valueOrErrorHandler((value1, value2), error) })
    }
  }

  /// Counts friends and followers.
  public func countsFuture() -> Future<(Int, Int), any Error> {
    Future("counts(completion:)") { promise in
      self.counts(completion: { @Sendable value1, value2, error in promise.valueOrErrorHandler((value1, value2), error) })
    }
  }

  /// Fetches the picture, if there is one, and whether it is new.
  public nonisolated(nonsending) func latest() async throws -> (Picture?, Bool) {
    try await withCallback("latest(completion:)") { callback in
      self.latest(completion: { @Sendable value1, value2, error in callback.valueOrErrorHandler((value1, value2), error) })
    }
  }

  /// Fetches the picture, if there is one, and whether it is new.
  public func latestFuture() -> Future<(Picture?, Bool), any Error> {
    Future("latest(completion:)") { promise in
      self.latest(completion: { @Sendable value1, value2, error in promise.valueOrErrorHandler((value1, value2), error) })
    }
  }

  /// Neither a value nor an error: breaks the rule.
  public nonisolated(nonsending) func nothingAtAll() async throws -> Picture {
    try await withCallback("nothingAtAll(completion:)") { callback in
      self.nothingAtAll(completion: callback.valueOrErrorHandler)
    }
  }

  /// Neither a value nor an error: breaks the rule.
  public func nothingAtAllFuture() -> Future<Picture, any Error> {
    Future("nothingAtAll(completion:)") { promise in
      self.nothingAtAll(completion: promise.valueOrErrorHandler)
    }
  }

  /// Fails with an error of its own.
  public nonisolated(nonsending) func token() async throws -> String {
    try await withCallback("token(completion:)") { callback in
      self.token(completion: callback.valueOrErrorHandler)
    }
  }

  /// Fails with an error of its own.
  public func tokenFuture() -> Future<String, any Error> {
    Future("token(completion:)") { promise in
      self.token(completion: promise.valueOrErrorHandler)
    }
  }

  /// Makes a number.
  public nonisolated(nonsending) func nextID() async throws -> Int {
    try await withCallback("nextID(completion:)") { callback in
      self.nextID(completion: callback.valueHandler)
    }
  }

  /// Makes a number.
  public func nextIDFuture() -> Future<Int, any Error> {
    Future("nextID(completion:)") { promise in
      self.nextID(completion: promise.valueHandler)
    }
  }

  /// Measures.
  public nonisolated(nonsending) func size() async throws -> (Int, Int) {
    try await withCallback("size(completion:)") { callback in
      self.size(completion: { @Sendable value1, value2 in callback.valueHandler((value1, value2)) })
    }
  }

  /// Measures.
  public func sizeFuture() -> Future<(Int, Int), any Error> {
    Future("size(completion:)") { promise in
      self.size(completion: { @Sendable value1, value2 in promise.valueHandler((value1, value2)) })
    }
  }

  /// Fetches a user, or `nil`.
  public nonisolated(nonsending) func userIfAny(id: Int) async throws -> User? {
    try await withCallback("userIfAny(id:completion:)") { callback in
      self.userIfAny(id: id, completion: callback.valueHandler)
    }
  }

  /// Fetches a user, or `nil`.
  public func userIfAnyFuture(id: Int) -> Future<User?, any Error> {
    Future("userIfAny(id:completion:)") { promise in
      self.userIfAny(id: id, completion: promise.valueHandler)
    }
  }

  /// Completes with a tuple.
  public nonisolated(nonsending) func position() async throws -> (x: Int, y: Int) {
    try await withCallback("position(completion:)") { callback in
      self.position(completion: callback.valueHandler)
    }
  }

  /// Completes with a tuple.
  public func positionFuture() -> Future<(x: Int, y: Int), any Error> {
    Future("position(completion:)") { promise in
      self.position(completion: promise.valueHandler)
    }
  }

  /// Completes with a result that is not Swift's.
  public nonisolated(nonsending) func lookUp(id: Int) async throws -> Outcome<User> {
    try await withCallback("lookUp(id:completion:)") { callback in
      self.lookUp(id: id, completion: callback.valueHandler)
    }
  }

  /// Writes everything down.
  public nonisolated(nonsending) func flush() async throws {
    try await withCallback("flush(completion:)") { callback in
      self.flush(completion: callback.voidHandler)
    }
  }

  /// Writes everything down.
  public func flushFuture() -> Future<Void, any Error> {
    Future("flush(completion:)") { promise in
      self.flush(completion: promise.voidHandler)
    }
  }

  /// Deletes a user.
  public nonisolated(nonsending) func delete(id: Int) async throws {
    try await withCallback("delete(id:completion:)") { callback in
      self.delete(id: id, completion: callback.errorHandler)
    }
  }

  /// Deletes a user.
  public func deleteFuture(id: Int) -> Future<Void, any Error> {
    Future("delete(id:completion:)") { promise in
      self.delete(id: id, completion: promise.errorHandler)
    }
  }

  /// Deletes everything, with an error of its own.
  public nonisolated(nonsending) func deleteAll() async throws {
    try await withCallback("deleteAll(completion:)") { callback in
      self.deleteAll(completion: callback.errorHandler)
    }
  }

  /// Deletes everything, with an error of its own.
  public func deleteAllFuture() -> Future<Void, any Error> {
    Future("deleteAll(completion:)") { promise in
      self.deleteAll(completion: promise.errorHandler)
    }
  }

  /// Fetches a user.
  /// - Parameters:
  ///   - id: The number of the user.
  public nonisolated(nonsending) func load(id: Int) async throws -> User {
    try await withCallback("load(id:success:failure:)") { callback in
      self.load(id: id, success: callback.valueHandler, failure: callback.failureHandler)
    }
  }

  /// Fetches a user.
  /// - Parameters:
  ///   - id: The number of the user.
  public func loadFuture(id: Int) -> Future<User, any Error> {
    Future("load(id:success:failure:)") { promise in
      self.load(id: id, success: promise.valueHandler, failure: promise.failureHandler)
    }
  }

  /// Saves a user.
  public nonisolated(nonsending) func save(_ user: User) async throws {
    try await withCallback("save(_:onSuccess:onError:)") { callback in
      self.save(user, onSuccess: callback.voidHandler, onError: callback.failureHandler)
    }
  }

  /// Saves a user.
  public func saveFuture(_ user: User) -> Future<Void, any Error> {
    Future("save(_:onSuccess:onError:)") { promise in
      self.save(user, onSuccess: promise.voidHandler, onError: promise.failureHandler)
    }
  }

  /// Splits a name.
  public nonisolated(nonsending) func split(_ name: String) async throws -> (String, String) {
    try await withCallback("split(_:success:failure:)") { callback in
      self.split(name, success: { @Sendable value1, value2 in callback.valueHandler((value1, value2)) }, failure: callback.failureHandler)
    }
  }

  /// Splits a name.
  public func splitFuture(_ name: String) -> Future<(String, String), any Error> {
    Future("split(_:success:failure:)") { promise in
      self.split(name, success: { @Sendable value1, value2 in promise.valueHandler((value1, value2)) }, failure: promise.failureHandler)
    }
  }

  /// Tells of each change, until the listener goes.
  public nonisolated(nonsending) func add() async throws -> User {
    try await withCallback("add(listener:)") { callback in
      self.add(listener: callback.resultHandler)
    }
  }

  /// Tells of each change, until the listener goes.
  public func addFuture() -> Future<User, any Error> {
    Future("add(listener:)") { promise in
      self.add(listener: promise.resultHandler)
    }
  }

  /// Asks back.
  public nonisolated(nonsending) func confirm() async throws -> @escaping (Bool) -> Void {
    try await withCallback("confirm(completion:)") { callback in
      self.confirm(completion: callback.valueHandler)
    }
  }

  /// Hands over a closure that throws, as was done before there was `Result`.
  public nonisolated(nonsending) func legacyUser(id: Int) async throws -> () throws -> User {
    try await withCallback("legacyUser(id:completion:)") { callback in
      self.legacyUser(id: id, completion: callback.valueHandler)
    }
  }
}

// Not written, because it would be a guess, or not the same:
// - Sources/Legacy/Aliases.swift: Loading.loadItem(completion:), future: nothing here says whether `Self.Item` is Sendable.
// - Sources/Legacy/Aliases.swift: Loading.item(named:completion:), future: nothing here says whether `Self.Item` is Sendable.
// - Sources/Legacy/Aliases.swift: Opening.open(_:completion:), future: nothing here says whether `Self.Document` is Sendable.
// - Sources/Legacy/Aliases.swift: Copying.copied(completion:), future: nothing here says whether `Self` is Sendable.
// - Sources/Legacy/Backend.swift: Backend.ask(before:_:): it takes 2 callbacks.
// - Sources/Legacy/Backend.swift: Backend.ask(for:_:), future: nothing here says whether `Value` is Sendable.
// - Sources/Legacy/Downloads.swift: Downloads.fetchLoosely(completion:), cancelling: `LooseJob` is not Sendable.
// - Sources/Legacy/Downloads.swift: Downloads.fetchForScreen(completion:), cancelling: `ScreenJob.cancel()` is isolated.
// - Sources/Legacy/Generics.swift: Loader.load(_:from:completion:), future: nothing here says whether `Value` is Sendable.
// - Sources/Legacy/Generics.swift: Loader.loadAny(completion:), future: nothing here says whether `Value` is Sendable.
// - Sources/Legacy/Generics.swift: Loader.keep(_:completion:), future: nothing here says whether `Item` is Sendable.
// - Sources/Legacy/Generics.swift: Cache.value(for:completion:), future: nothing here says whether `Value` is Sendable.
// - Sources/Legacy/Generics.swift: Cache.Entry.read(completion:), future: nothing here says whether `Value` is Sendable.
// - Sources/Legacy/Generics.swift: Cache.value(named:completion:), future: nothing here says whether `Value` is Sendable.
// - Sources/Legacy/Generics.swift: Cache.identifiers(completion:), future: nothing here says whether `[Value.ID]` is Sendable.
// - Sources/Legacy/Generics.swift: Collection.pick(from:completion:), future: nothing here says whether `Self.Element?` is Sendable.
// - Sources/Legacy/Generics.swift: Optional.unwrap(from:completion:), future: nothing here says whether `Wrapped` is Sendable.
// - Sources/Legacy/Isolation.swift: Screen.draft(completion:), future: `Draft` is not Sendable.
// - Sources/Legacy/Isolation.swift: Account.statement(completion:), future: `Draft` is not Sendable.
// - Sources/Legacy/Isolation.swift: visit(_:completion:): `account` is `isolated`.
// - Sources/Legacy/Isolation.swift: Editor.open(_:completion:), future: `Draft` is not Sendable.
// - Sources/Legacy/Isolation.swift: Editor.openAndCount(_:completion:), future: `Draft, Int` is not Sendable.
// - Sources/Legacy/Isolation.swift: Editor.export(progress:completion:), future: `Draft` is not Sendable.
// - Sources/Legacy/Isolation.swift: Editor.edit(_:onCompletion:): it takes 2 callbacks.
// - Sources/Legacy/Members.swift: Service.init(connectingTo:completion:): an initializer returns before its callback comes.
// - Sources/Legacy/Members.swift: Service.init(opening:_:completion:): an initializer returns before its callback comes.
// - Sources/Legacy/Members.swift: Service.copied(completion:), future: `Service` is not Sendable.
// - Sources/Legacy/Migrating.swift: Migrating.count(of:completion:), async: `count(of:)` is there, and async code that calls it would get the new one.
// - Sources/Legacy/Migrating.swift: Migrating.stream(id:completion:): it is async already.
// - Sources/Legacy/Names.swift: Names.find(tag:completion:): another function differs from it only in its callback.
// - Sources/Legacy/Names.swift: Names.find(tag:completion:): another function differs from it only in its callback.
// - Sources/Legacy/Names.swift: Names.find(key:completion:): another function differs from it only in its callback.
// - Sources/Legacy/Names.swift: Names.find(key:then:): another function differs from it only in its callback.
// - Sources/Legacy/Names.swift: Names.fetch(_:progress:completion:), future: another function differs from it only in its callback.
// - Sources/Legacy/Names.swift: Names.fetch(_:completion:), future: another function differs from it only in its callback.
// - Sources/Legacy/Names.swift: Names.open(_:completion:): another function differs from it only in its callback.
// - Sources/Legacy/Names.swift: Names.open(_:completion:): another function differs from it only in its callback.
// - Sources/Legacy/Names.swift: Names.ping(id:completion:), async: async code that calls it without its callback would get the new one.
// - Sources/Legacy/Names.swift: Names.poke(id:completion:), async: async code that calls it without its callback would get the new one.
// - Sources/Legacy/Names.swift: Names.forEach(_:completion:): its callback may come again and again; `callbackStream` makes a sequence of it.
// - Sources/Legacy/Names.swift: Names.increase(_:completion:): `value` is `inout`.
// - Sources/Legacy/Names.swift: Names.sum(_:completion:): `values` is variadic, and cannot be passed on.
// - Sources/Legacy/Names.swift: Names.pack(_:completion:): `items` is a parameter pack.
// - Sources/Legacy/Names.swift: Names.give(_:completion:): `draft` is `sending`.
// - Sources/Legacy/Names.swift: Names.spend(_:completion:): `ticket` is `borrowing`.
// - Sources/Legacy/Users.swift: Users.lookUp(id:completion:), future: `Outcome<User>` is not Sendable.
// - Sources/Legacy/Users.swift: Users.reportFailure(completion:): its only closure gets an error.
// - Sources/Legacy/Users.swift: Users.observeUsers(_:): its callback may come again and again; `callbackStream` makes a sequence of it.
// - Sources/Legacy/Users.swift: Users.perform(_:): nothing says whether `block` is called once.
// - Sources/Legacy/Users.swift: Users.negotiate(offer:answer:): it takes 2 callbacks.
// - Sources/Legacy/Users.swift: Users.confirm(completion:), future: nothing here says whether `@escaping (Bool) -> Void` is Sendable.
// - Sources/Legacy/Users.swift: Users.legacyUser(id:completion:), future: `() throws -> User` is not Sendable.
