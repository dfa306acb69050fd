internal import CallbackMigration
internal import Foundation
internal import Testing

/// Shapes whose counterpart would compile and do something else than the callback.
@Suite("A counterpart does the same as its callback, or is refused")
struct PrecisionTests {
  private var builder: GraphBuilder {
    var builder = GraphBuilder()
    builder.type("class Database")
    builder.type("struct User", "Swift.Sendable")
    builder.type("class Pool")
    builder.foreignType("Session", "s:3Orm7SessionC")
    builder.foreignType("UnsafeRawBufferPointer", "s:SW")
    return builder
  }

  private func generated(_ declaration: String, documentation: String? = nil, configuration: String = "{}") -> String {
    var builder = builder
    builder.function(declaration, of: "Pool", documentation: documentation)
    return builder.generated(.async, configuration: configuration)
  }

  private func isWritten(_ text: String) -> Bool { text.contains(" async throws") }

  @Test(
    "A value that is valid inside its callback only is not returned",
    arguments: [
      ("func asyncRead(_ value: @escaping (Result<Database, any Error>) -> Void)", nil),
      ("func write(then: @escaping (Database) -> Void)", nil),
      ("func perform(completion: @escaping (Session) -> Void)", nil),
      ("func withDatabase(completion: @escaping (Database?, (any Error)?) -> Void)", nil),
      ("func inDatabase(completion: @escaping ([Database]) -> Void)", nil),
      ("func bytes(completion: @escaping (UnsafeRawBufferPointer) -> Void)", nil),
      ("func open(completion: @escaping (Database) -> Void)", "Opens it.\n\nDo not store the database."),
      ("func open(completion: @escaping (Database) -> Void)", "The database must not escape the closure."),
      ("func open(completion: @escaping (Database) -> Void)", "It is only valid during the call."),
      ("func open(completion: @escaping (Database, Result<Int, any Error>) -> Void)", nil),
      ("func asyncWriteWithoutTransaction(_ updates: @escaping (Database) -> Void)", nil),
    ]
  )
  func scopedValuesAreRefused(declaration: String, documentation: String?) {
    let text = generated(declaration, documentation: documentation)
    #expect(!isWritten(text), "\(text)")
    #expect(text.contains("an async function that takes a closure"), "\(text)")
  }

  @Test(
    "A value that outlives its callback is returned",
    arguments: [
      "func asyncRead(completion: @escaping (Result<User, any Error>) -> Void)",
      "func open(completion: @escaping (Database) -> Void)",
      "func insert(completion: @escaping (Database) -> Void)",
      "func logIn(completion: @escaping (Database) -> Void)",
      "func loginWithToken(completion: @escaping (Database) -> Void)",
      "func readComments(completion: @escaping (Result<[Database], any Error>) -> Void)",
      "func writeAll<T>(_ value: T, completion: @escaping (Result<T, any Error>) -> Void)",
    ]
  )
  func ownValuesAreReturned(declaration: String) {
    let text = generated(declaration)
    #expect(isWritten(text), "\(text)")
  }

  @Test(
    "A callback that can come again is not awaited",
    arguments: [
      "func forEach(operation: @escaping ([Any?]?, (any Error)?) -> Void)",
      "func onMessage(_ handler: @escaping (Result<User, any Error>) -> Void)",
      "func startPolling(handler: @escaping (Result<User, any Error>) -> Void)",
      "func stream(handler: @escaping (Result<User, any Error>) -> Void)",
      "func updateDownload(_ id: Int, callback: @escaping (Result<User, any Error>) -> Void)",
      "func onConnectionDidOpen(_ callback: @escaping (User) -> Void)",
      "func fetchChanges(callback: @escaping (User?, (any Error)?) -> Void)",
      "func whenAnswered(_ callback: @escaping (User) -> Void)",
      "func add(_ handler: @escaping (Result<User, any Error>) -> Void)",
      "func execute(onNext: @escaping (User) -> Void)",
      "func connect(reactions: @escaping (User) -> Void, problem: @escaping (any Error) -> Void)",
      "func f(_ block: @escaping ((any Error)?) -> Void)",
      "func monitor(success: @escaping (User) -> Void, failure: @escaping (any Error) -> Void)",
    ]
  )
  func repeatedCallbacksAreRefused(declaration: String) {
    let text = generated(declaration)
    #expect(!isWritten(text), "\(text)")
    #expect(text.contains(#""once": ["Pool."#), "\(text)")
  }

  @Test(
    "A callback that comes once is awaited",
    arguments: [
      "func load(completionHandler: @escaping (Result<User, any Error>) -> Void)",
      "func f(_ x: @escaping (Result<User, any Error>) -> Void)",
      "func f(_ x: @escaping (User?, (any Error)?) -> Void)",
      "func f(reactions: @escaping (User) -> Void, problem: ((any Error) -> Void)?)",
      "func getThreadSubscription(completion: @escaping (Result<User, any Error>) -> Void)",
      "func updateUser(completion: @escaping (Result<User, any Error>) -> Void)",
      "func fetchUser(callback: @escaping (User?, (any Error)?) -> Void)",
      "func deleteUser(handler: @escaping ((any Error)?) -> Void)",
      "func getName(result: @escaping (String) -> Void)",
      "func stopListening(completion: @escaping () -> Void)",
      "func load(_ done: @escaping () -> Void)",
      "func sendPoll(completion: @escaping (Result<User, any Error>) -> Void)",
    ]
  )
  func singleCallbacksAreAwaited(declaration: String) {
    let text = generated(declaration)
    #expect(isWritten(text), "\(text)")
  }

  @Test(
    "A parameter that says only where the callback comes is dropped from the counterpart",
    arguments: [
      ("callbackQueue: DispatchQueue = .main", "self.load(id: id, completion: "),
      ("on queue: DispatchQueue = .main", "self.load(id: id, completion: "),
      ("queue: DispatchQueue? = nil", "self.load(id: id, completion: "),
      ("completionQueue: DispatchQueue", "self.load(id: id, completionQueue: .global(), completion: "),
      ("responseQueue: DispatchQueue?", "self.load(id: id, responseQueue: nil, completion: "),
    ]
  )
  func queuesAreDropped(parameter: String, call: String) {
    let function = "func load(id: Int, \(parameter), completion: @escaping (Result<User, any Error>) -> Void)"
    let text = generated(function)
    #expect(text.contains("func load(id: Int) async throws -> User"), "\(text)")
    #expect(text.contains(call), "\(text)")
    for queue in ["", ", \(parameter)"] {
      var migrated = builder
      migrated.function(function, of: "Pool")
      migrated.function("func load(id: Int\(queue)) async throws -> User", of: "Pool")
      #expect(!isWritten(migrated.generated(.async)), "a counterpart is there")
    }
  }

  @Test("A queue that might be the one of the work stays a parameter, unless the package says otherwise")
  func otherQueuesStay() {
    let function = "func load(on queue: DispatchQueue, completion: @escaping (Result<User, any Error>) -> Void)"
    #expect(generated(function).contains("func load(on queue: DispatchQueue) async"))
    let settled = generated(function, configuration: #"{"queue": {"Pool.load(*": "queue"}}"#)
    #expect(settled.contains("func load() async throws"), "\(settled)")
  }

  @Test("Of two functions that differ in their queue, the one without it gets the counterpart")
  func functionWithoutQueueWins() {
    var builder = builder
    builder.function("func load(queue: DispatchQueue = .main, completion: @escaping (User) -> Void)", of: "Pool")
    builder.function("func load(completion: @escaping (User) -> Void)", of: "Pool", line: 2)
    let text = builder.generated(.async)
    #expect(text.components(separatedBy: " async throws").count == 2, "\(text)")
    #expect(text.contains("another function differs from it only in its callback"), "\(text)")
    #expect(text.contains("App.swift:1: Pool.load(queue:completion:)"), "\(text)")
  }

  private func handles(_ declaration: String, _ style: CounterpartStyle = .async, _ configuration: String = "{}")
    -> String
  {
    var builder = builder
    builder.type("class Request")
    builder.function("@discardableResult func cancel() -> Self", of: "Request")
    builder.type("class Upload", inherits: "Request")
    builder.type("class Timer")
    builder.function("func stop()", of: "Timer")
    builder.type("struct Ticket", "Swift.Sendable")
    builder.function("mutating func cancel()", of: "Ticket")
    builder.type("class Screen", "Swift.Sendable")
    builder.function("@MainActor func cancel()", of: "Screen")
    builder.type("class Photos")
    builder.function("func cancelRequest(_ id: Int)", of: "Photos")
    builder.type("class Plain")
    builder.type("protocol Job", "Swift.Sendable")
    builder.function("func resume()", of: "Job", isRequirement: true)
    builder.function("func cancel()", of: "Job", isRequirement: true)
    builder.foreignType("URLSessionDataTask", "s:20FoundationNetworking18URLSessionDataTaskC")
    builder.foreignType("Subscription", "s:3Orm12SubscriptionC")
    let parts = declaration.split(separator: " | ").map(String.init)
    builder.function(parts[1], of: parts[0])
    return builder.generated(style, configuration: configuration)
  }

  @Test(
    "Cancelling a counterpart cancels the work, whatever its function returns",
    arguments: [
      ("Request | func f(completion: @escaping (Int) -> Void) -> Self", "handle.value.cancel()"),
      ("Upload | @discardableResult func f(completion: @escaping (Int) -> Void) -> Self", "handle.value.cancel()"),
      ("Request | @discardableResult func f(completion: @escaping (Int) -> Void) -> Request", "handle.value.cancel()"),
      ("Pool | func f(completion: @escaping (Int) -> Void) -> Upload?", "handle.value?.cancel()"),
      ("Pool | func f(completion: @escaping (Int) -> Void) -> Screen", "Task { await handle.cancel() }"),
    ]
  )
  func handleCancels(declaration: String, call: String) {
    for style in [CounterpartStyle.async, .futures] {
      let text = handles(declaration, style)
      #expect(text.contains(call), "\(text)")
      #expect(!call.contains("value") || text.contains("let handle = UncheckedTransfer(self.f("), "\(text)")
      #expect(!call.contains("value") || text.contains("import Futures\n"), "\(text)")
    }
  }

  @Test(
    "A function whose work could be cancelled, and not by its counterpart, is refused",
    arguments: [
      ("Pool | func f(completion: @escaping (Int) -> Void) -> Ticket", "none"),
      ("Pool | func f(completion: @escaping (Int) -> Void) -> Timer", "stop()"),
      ("Pool | @discardableResult func f(completion: @escaping (Int) -> Void) -> Timer", "stop()"),
      ("Pool | func f(completion: @escaping (Int) -> Void) -> Int", "none"),
      ("Photos | @discardableResult func f(completion: @escaping (Int) -> Void) -> Int", "none"),
      ("Pool | func f(completion: @escaping (Int) -> Void) -> Subscription", "cancel()"),
      ("Pool | func f(completion: @escaping (Int) -> Void) -> any Job", "cancel()"),
      ("Pool | func f(completion: @escaping (Int) -> Void) -> URLSessionDataTask?", "cancel()"),
    ]
  )
  func lostCancellationIsRefused(declaration: String, handle: String) {
    let title = declaration.prefix { $0 != " " } + ".f(completion:)"
    let setting = #""handle": {"\#(title)": "\#(handle)"}"#
    let text = handles(declaration)
    #expect(!isWritten(text), "\(text)")
    #expect(text.contains(setting), "\(text)")
    let settled = handles(declaration, .async, "{\(setting)}")
    #expect(isWritten(settled), "\(settled)")
    let calls = ["handle.\(handle)", "handle.value.\(handle)", "handle.value?.\(handle)"]
    #expect(handle == "none" || calls.contains(where: settled.contains), "\(settled)")
  }

  @Test("A result that nothing cancels is dropped where callers can ignore it")
  func discardableResultIsDropped() {
    #expect(isWritten(handles("Pool | @discardableResult func f(completion: @escaping (Int) -> Void) -> Int")))
    #expect(isWritten(handles("Plain | @discardableResult func f(completion: @escaping (Int) -> Void) -> Self")))
  }

  private func failing(_ type: String, _ configuration: String = "{}") -> String {
    var builder = builder
    builder.type("enum Fault", "Swift.Error")
    builder.type("struct Response<Success, Failure> where Failure : Error")
    builder.member("let result: Result<Success, Failure>", of: "Response")
    builder.member("var error: Failure? { get }", of: "Response")
    builder.type("enum Found<Value>")
    builder.member("case found(Value)", of: "Found")
    builder.member("case lost((any Error)?)", of: "Found")
    builder.type("enum Reply")
    builder.member("case one", of: "Reply")
    builder.member("case failure(any Error)", of: "Reply")
    builder.type("enum Login")
    builder.member("case welcome", of: "Login")
    builder.member("case failed", of: "Login")
    builder.type("struct Receipt")
    builder.member("let error: (any Error)?", of: "Receipt")
    builder.foreignType("AFDataResponse", "s:9Alamofire14AFDataResponsea")
    builder.foreignType("AFError", "s:9Alamofire7AFErrorO")
    builder.foreignType("URLResponse", "s:20FoundationNetworking11URLResponseC")
    builder.function("func load(completion: @escaping \(type) -> Void)", of: "Pool")
    return builder.generated(.async, configuration: configuration)
  }

  @Test(
    "A failure that a value holds is thrown",
    arguments: [
      ("(Response<User, Fault>)", "async throws -> User", "callback.resultHandler(of: Fault.self)(response.result)"),
      ("(Response<[User], any Error>)", "async throws -> [User]", "callback.resultHandler(response.result)"),
    ]
  )
  func failuresInValuesAreThrown(type: String, result: String, call: String) {
    let text = failing(type)
    #expect(text.contains(result), "\(text)")
    #expect(text.contains(call), "\(text)")
  }

  @Test("The whole value is returned where the package asks for it")
  func wholeValueIsReturned() {
    let text = failing("(Response<User, Fault>)", #"{"whole": ["Pool.*"]}"#)
    #expect(text.contains("async throws -> Response<User, Fault> {"), "\(text)")
    #expect(isWritten(failing("(Reply)", #"{"whole": ["Pool.*"]}"#)))
  }

  @Test(
    "A value that might hold a failure is returned, and the notes say so",
    arguments: [
      "(Reply)", "(Found<User>)", "((User?, (any Error)?))", "((User, Fault?))", "(Login)", "(Receipt)",
      "(AFDataResponse<User>)", "(Result<User, any Error>?)", "([Result<User, any Error>])",
      "(_ user: User?, _ error: String?)", "((User, Receipt?))",
    ]
  )
  func hiddenFailuresAreReturned(type: String) {
    let text = failing(type)
    #expect(isWritten(text), "\(text)")
    #expect(text.contains("which might hold a failure") || text.contains("they return `error`"), "\(text)")
    #expect(!failing(type, #"{"whole": ["Pool.*"]}"#).contains("they return"), "the package asks for it")
  }

  @Test(
    "An error that is not the last value, or a type that might be an error, is refused",
    arguments: ["(User?, AFError?)", "(User, any Error)", "(Int, (any Error)?, User?)"]
  )
  func errorsAreRefused(type: String) {
    let text = failing(type)
    #expect(!isWritten(text), "\(text)")
    #expect(text.contains("Not written"), "\(text)")
  }

  @Test(
    "Values that hold no failure are returned",
    arguments: ["(User?)", "(User, Int)", "((User, Int))", "(URLResponse)"]
  )
  func plainValuesAreReturned(type: String) {
    let text = failing(type)
    #expect(isWritten(text), "\(text)")
  }

  @Test("A requirement's counterpart serves all conforming types")
  func witnessesAreRefused() {
    var builder = builder
    builder.type("protocol Loading", access: "public")
    builder.type("class Disk", "Loading", access: "public")
    builder.type("class Cloud", "Loading", access: "public")
    let load = "func load(completion: @escaping (Result<User, any Error>) -> Void)"
    builder.function(load, of: "Loading", access: "public", isRequirement: true)
    builder.function(load, of: "Disk", access: "public", line: 2, origin: "Loading.load(completion:)")
    builder.function(load, of: "Cloud", access: "public", line: 3)
    let text = builder.generated()
    #expect(text.components(separatedBy: " async throws").count == 2, "\(text)")
    #expect(text.contains("1. it implements a requirement of `Loading`, whose counterpart calls it"), "\(text)")
    #expect(text.contains(": Disk.load(completion:)\n") && text.contains(": Cloud.load(completion:)\n"), "\(text)")
    builder.function("func load() async throws -> User", of: "Loading", access: "public")
    #expect(!isWritten(builder.generated(.async)))
  }

  @Test("A default implementation, and a method of an open class, are served by the requirement's counterpart")
  func defaultImplementationsAreServed() {
    var builder = builder
    builder.type("protocol Loading", access: "public")
    builder.type("protocol Caching", "Loading", access: "public")
    builder.type("class Disk", "Loading", access: "open")
    let load = "func load(completion: @escaping (Result<User, any Error>) -> Void)"
    builder.function(load, of: "Loading", access: "public", isRequirement: true)
    builder.function(load, of: "Loading", access: "public", origin: "Loading.load(completion:)", isDefault: true)
    builder.function(load, of: "Caching", access: "public", origin: "Loading.load(completion:)", isDefault: true)
    builder.function(load, of: "Disk", access: "open", origin: "Loading.load(completion:)")
    let text = builder.generated(.async)
    #expect(text.components(separatedBy: " async throws").count == 2, "\(text)")
    #expect(text.contains("extension Loading {"), "\(text)")
  }

  @Test("A value of a type that another function lends is not returned")
  func lentTypesAreRefused() {
    let migrate = "func asyncMigrate(completion: @escaping (Result<Database, any Error>) -> Void)"
    #expect(isWritten(generated(migrate)))
    for lender in [
      "func read<T>(_ value: (Database) throws -> T) -> T", "func write(_ b: @escaping (Database) -> Int)",
    ] {
      var builder = builder
      builder.function(lender, of: "Pool")
      builder.function(migrate, of: "Pool")
      let text = builder.generated(.async)
      #expect(!isWritten(text) && text.contains("`Database`, which `"), "\(text)")
      #expect(isWritten(builder.generated(.async, configuration: #"{"once": ["Pool.asyncMigrate*"]}"#)))
    }
    var builder = builder
    builder.function("func perform(completion: @escaping (Database) -> Void)", of: "Pool")
    builder.function(migrate, of: "Pool")
    #expect(isWritten(builder.generated(.async)), "a completion handler lends nothing")
  }

  @Test("A public type keeps a counterpart of its own, if the protocol is internal")
  func publicWitnessesAreWritten() {
    var builder = builder
    builder.type("protocol Loading")
    builder.type("class Disk", "Loading", access: "public")
    let load = "func load(completion: @escaping (Result<User, any Error>) -> Void)"
    builder.function(load, of: "Loading", isRequirement: true)
    builder.function(load, of: "Disk", access: "public", line: 2)
    #expect(builder.generated(.async).contains("public nonisolated(nonsending) func load()"))
  }

  @Test("A method that the system calls gets no counterpart")
  func delegateMethodsAreRefused() {
    let method = "func urlSession(_ s: Int, task: Int, didReceive c: Int, completionHandler: @escaping (Int) -> Void)"
    for origin in ["URLSessionTaskDelegate.urlSession(_:task:didReceive:completionHandler:)", nil] {
      var builder = builder
      builder.type("class Session", "URLSessionTaskDelegate")
      builder.function(method, of: "Session", origin: origin)
      let text = builder.generated()
      #expect(!isWritten(text) && text.contains("which other code calls"), "\(text)")
    }
    var plain = builder
    plain.function(
      "func finish(completion: @escaping (Int) -> Void)",
      of: "Pool",
      origin: "FeedDelegate.finish(completion:)"
    )
    #expect(!isWritten(plain.generated()))
    var own = builder
    own.type("protocol StoreDelegate")
    own.function("func store(_ s: Int, completion: @escaping (Int) -> Void)", of: "StoreDelegate", isRequirement: true)
    #expect(!isWritten(own.generated()))
  }

  @Test("A handler that throws is listed, and refused unless its name says that it comes once")
  func throwingHandlersAreListed() {
    let refused = generated("func each(handler: @escaping (User) throws -> Void)")
    #expect(!isWritten(refused) && refused.contains(#""once": ["Pool.each(handler:)"]"#), "\(refused)")
    #expect(isWritten(generated("func load(completion: @escaping (User) throws -> Void)")))
  }
}
