"""The libraries: how each writes the same operations. `source` puts them into one template."""

import re
from dataclasses import dataclass


@dataclass
class Peer:
    title: str
    imports: str
    make: str  # the type of a promise, and the expression that makes one
    succeed: str  # with the value $v
    attach: str  # a callback with the body $b to the future $f
    map: str
    flat_map: str  # with the library's cheapest resolved future
    all: str  # joins the futures $fs; empty if the library has no such operation
    value: str  # the await of the future
    url: str = ""
    products: tuple = ()
    needs: tuple = ()  # the packages that the checkout needs beside it
    future: str = "promise.future"
    keeps: bool = False  # whether the caller keeps what attaching returns
    each: str = "each"
    waits: bool = False  # whether callbacks of `all` run on a queue, so that the loop waits for them
    helpers: str = ""

    @property
    def checkout(self):
        return self.url.rpartition("/")[2]

    @property
    def name(self):
        return "peer" + re.sub(r"\W", "", self.title)


OURS = Peer(
    "swift-futures", "import Futures\nimport FuturesAsync", "Promise<Int, any Error> { Promise() }", "promise.succeed($v)",
    "$f.whenSucceeded(on: .immediate) { $b }", "$f.map { $0 &+ index }", "$f.flatMap { .succeeded($0 &+ index) }",
    "Future.all($fs)", "try await future.value",
)  # fmt: skip
PEERS = [
    # `Deferred` is the promise and the future, without failures.
    Peer(
        "Deferred", "import Deferred\nimport Dispatch", "Deferred<Int> { Deferred() }", "promise.fill(with: $v)",
        "$f.upon(inline) { $b }", "$f.map(upon: inline) { $0 &+ index }",
        "$f.andThen(upon: inline) { Deferred(filledWith: $0 &+ index) }", "$fs.allFilled()", "await value(of: future)",
        url="https://github.com/bignerdranch/Deferred", products=("Deferred",), future="promise", waits=True,
        helpers="""
private final class Inline: Executor, Sendable {
  func submit(_ body: @escaping () -> Void) { body() }
}
private let inline = Inline()
private func value(of future: Deferred<Int>) async -> Int {
  if let value = future.peek() { return value }
  return await withUnsafeContinuation { continuation in future.upon(inline) { continuation.resume(returning: $0) } }
}
""",
    ),
    # From a task, each await hops to the loop and back.
    Peer(
        "SwiftNIO", "import Dispatch\nimport NIOCore\nimport NIOPosix", "EventLoopPromise<Int> { loop.makePromise() }",
        "promise.succeed($v)", "$f.whenSuccess { $b }", "$f.map { $0 &+ index }",
        "$f.flatMap { loop.makeSucceededFuture($0 &+ index) }", "EventLoopFuture.whenAllSucceed($fs, on: loop)",
        "try await future.get()",
        url="https://github.com/apple/swift-nio", products=("NIOCore", "NIOPosix"), future="promise.futureResult", each="onLoop",
        needs=tuple(f"https://github.com/apple/{name}" for name in ("swift-atomics", "swift-collections", "swift-system")),
        helpers="""
private let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
extension Body {
  /// Runs all repetitions on the event loop, so that callbacks run at once.
  @inline(__always)
  fileprivate static func onLoop(_ operation: @escaping @Sendable (_ index: Int) -> Void) -> Body {
    Body { count in
      let duration = loop.submit {
        let start = DispatchTime.now()
        for index in 0..<count { operation(index) }
        return elapsed(since: start)
      }
      do { return try duration.wait() } catch { fatalError("The event loop threw \\(error).") }
    }
  }
}
""",
    ),
    # Stages are erased to one type, as functions return them. Erasure also stops the publisher from fusing two `map`s.
    Peer(
        "OpenCombine `Future`", "import OpenCombine",
        """(future: Future<Int, any Error>, promise: Future<Int, any Error>.Promise) {
  var promise: Future<Int, any Error>.Promise?
  let future = Future<Int, any Error> { promise = $0 }
  return (future, promise!)
}""",
        "promise.promise(.success($v))", "$f.sink(receiveCompletion: { _ in }, receiveValue: { $b })",
        "$f.map { $0 &+ index }.eraseToAnyPublisher()",
        "$f.flatMap { Result<Int, any Error>.success($0 &+ index).ocombine.publisher }.eraseToAnyPublisher()", "",
        "try await future.value",
        url="https://github.com/OpenCombine/OpenCombine", products=("OpenCombine",), keeps=True,
    ),
]  # fmt: skip


def source(peer):
    """Returns the Swift file of a library."""

    def attached(future, body):
        return peer.attach.replace("$f", future).replace("$b", body)

    def kept(statement):
        return f"let token = {statement}" if peer.keeps else statement

    def chain(stage):
        return f"""let promise = makePromise()
        var future = {stage.replace("$f", peer.future)}
        for _ in 1..<stages {{ future = {stage.replace("$f", "future")} }}
        {kept(attached("future", "Sink.add($0)"))}
        {resolve}"""

    release = "\n        withExtendedLifetime(token) {}" if peer.keeps else ""
    resolve = peer.succeed.replace("$v", "index") + release
    callback = peer.attach.replace("$f", "future").replace("$b", "Sink.add($0 &+ callback)")
    callbacks = f"let token = (0..<many).map {{ callback in {callback} }}" if peer.keeps else f"for callback in 0..<many {{ {callback} }}"
    sum = "Sink.add($0.reduce(0, &+))" + ("; semaphore.signal()" if peer.waits else "")
    futures = "promises" if peer.future == "promise" else f"promises.map {{ promise in {peer.future} }}"
    joined = peer.all.replace("$fs", futures)
    all = f""",
      .all: .{peer.each} {{ _ in
        {"let semaphore = DispatchSemaphore(value: 0)" if peer.waits else ""}
        let promises = (0..<many).map {{ _ in makePromise() }}
        {attached(joined, sum)}
        for index in 0..<many {{ let promise = promises[index]; {peer.succeed.replace("$v", "index")} }}
        {"semaphore.wait()" if peer.waits else ""}
      }}"""
    return f"""{peer.imports}
{peer.helpers}
/// Makes a promise out of line. Otherwise the compiler can see that none outlives the loop, and remove the allocation.
@inline(never)
private func makePromise() -> {peer.make}

extension Peer {{
  static let {peer.name} = Peer("{peer.title}", [
      .callback: .{peer.each} {{ index in
        let promise = makePromise()
        {kept(attached(peer.future, "Sink.add($0 &+ index)"))}
        {resolve}
      }},
      .map: .{peer.each} {{ index in
        {chain(peer.map)}
      }},
      .flatMap: .{peer.each} {{ index in
        {chain(peer.flat_map)}
      }},
      .callbacks: .{peer.each} {{ index in
        let promise = makePromise()
        let future = {peer.future}
        {callbacks}
        {resolve}
      }},
      .await: .asynchronous {{ count in
        let promise = makePromise()
        {peer.succeed.replace("$v", "1")}
        let future = {peer.future}
        for _ in 0..<count {{ Sink.add({peer.value}) }}
      }}{all if peer.all else ""}
  ])
}}
"""
