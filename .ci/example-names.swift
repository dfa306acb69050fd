// Declarations that the examples in documentation comments use, so that CI can compile the examples.

import Foundation
import Futures

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class Image { var width = 0 }
struct Thumbnail: Sendable {}
struct Archive: Sendable {}
struct Reading: Sendable {}
enum RequestID: Hashable, Sendable {
  case only
  @TaskLocal static var current = "none"
}
struct Token: Equatable, Sendable { let lifetime: Duration }

func load(_ url: URL) -> Future<Data, any Error> { .succeeded(Data()) }
func load(_ url: URL, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) { completion(Data(), nil) }
func load(_ completion: @escaping @Sendable (Image?, (any Error)?) -> Void) { completion(Image(), nil) }
func legacyLoad(_ completion: @escaping @Sendable (Int?, (any Error)?) -> Void) { completion(1, nil) }
func loadName() -> Future<String, any Error> { .succeeded("Ada") }
func refresh() -> Future<Token, any Error> { .succeeded(Token(lifetime: .seconds(60))) }
func loadPicture() -> Future<Data, any Error> { .succeeded(Data()) }
func download(_ url: URL) -> Future<Data, any Error> { .succeeded(Data()) }
func download(
  _ url: URL,
  progress: @escaping @Sendable (Int64, Int64) -> Void,
  completion: @escaping @Sendable (Data?, (any Error)?) -> Void
) {
  progress(1, 1)
  completion(Data(), nil)
}
@Sendable func decode(_ data: Data) -> Thumbnail { Thumbnail() }
func finish(with result: Result<Data, any Error>) {}

final class Request: Sendable { func cancel() {} }
final class Loader: Sendable {
  func load(_ url: URL, completion: @escaping @Sendable (Image?, (any Error)?) -> Void) -> Request { Request() }
}
final class Listener: Sendable { func stop() {} }
final class Sensor: Sendable {
  func listen(_ listener: @escaping @Sendable (Reading) -> Void) -> Listener { Listener() }
}
final class Connection: Sendable {
  enum Message { case request(RequestID), cancel(RequestID) }
  func send(_ message: Message) {}
}
final class Archiver: Sendable {
  func unpack(_ file: URL, completion: @escaping @Sendable (Archive?, (any Error)?) -> Void) -> Progress {
    Progress(totalUnitCount: 1)
  }
}
final class Screen: Sendable {
  func load() -> Future<Data, any Error> { .succeeded(Data()) }
  func reload() {}
}
@MainActor final class Label { var text = "" }
@MainActor final class Bar {
  var fraction = 0.0
  var observedProgress: Progress?
}
extension Notification.Name { static let batteryLevelChanged = Notification.Name("battery") }

let url = URL(filePath: "/")
let file = url
let request = URLRequest(url: url)
let session = URLSession.shared
let loader = Loader()
let sensor = Sensor()
let connection = Connection()
let archiver = Archiver()
let screen = Screen()
let (download, upload, future) = (load(url), load(url), load(url))
@MainActor let label = Label()
@MainActor let bar = Bar()

struct JobID: Hashable, Sendable {}
struct Receipt: Sendable {}
struct Page: Sendable {}
struct Printer: Sendable { func begin(_ page: Page) -> JobID { JobID() } }
let printer = Printer()
struct User: Sendable {}
enum APIError: Error { case cancelled, noAnswer, tooManyRequests(Duration) }
struct UserAPI: Sendable { func user(_ id: Int, completion: @escaping @Sendable (Result<User, APIError>) -> Void) {} }
let api = UserAPI()
actor Store { func set(_ key: String, _ value: Int) {} }
let store = Store()
@Sendable func completion(_ result: Result<Void, Never>) {}
func newLoad(on context: ExecutionContext) async throws -> Int { 1 }

struct Place: Sendable {}
@MainActor final class Tracker {
  var onPlace: ((Place) -> Void)?
  func start() {}
  func stop() {}
}
enum ScanError: Error { case cancelled, noAnswer }
@MainActor final class Scanner {
  func start(_ completion: @escaping @Sendable (String?, (any Error)?) -> Void) {}
  func start(_ completion: @escaping @Sendable (Result<String, ScanError>) -> Void) {}
  func stop() {}
}
struct Document: Sendable {}
extension Store { func save(_ document: Document) throws {} }
struct Renderer: Sendable { func thumbnail(of image: Data) async -> Thumbnail { Thumbnail() } }
let urls = [url, url]
let documents = [Document()]
let images = [Data()]
let renderer = Renderer()
func fetch(_ url: URL) async throws -> Data { Data() }
