internal import Foundation
internal import TestSupport
internal import Testing

/// Relaxes each acquire and each release of the core, one by one; each time, a program must fail.
@Suite(
  "Every ordering of the core is needed",
  .enabled(if: TestTier.current != .standard),
  .serialized,
  .timeLimit(.minutes(20))
)
struct OrderingTests {
  @Test("A program needs each acquire and each release", arguments: WeakenedOrdering.all)
  func isNeeded(ordering: WeakenedOrdering) async {
    // Runs in a separate process: without the ordering the core can destroy its own lists, and crash.
    let result = await #expect(processExitsWith: .failure, observing: [\.standardOutputContent]) { [ordering] in
      signal(SIGILL, SIG_DFL)  // no backtrace
      signal(SIGSEGV, SIG_DFL)
      var runs = 0
      for search in Search.all {
        print("\(search.name), ", terminator: "")
        fflush(nil)  // before a crash
        let exploration = await search.run(ordering)
        runs += exploration.runs
        if let fault = exploration.fault {
          print(fault)
          exit(EXIT_FAILURE)
        }
      }
      print("\(runs) orders")
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    print("\(ordering.testDescription): \(output)")
  }
}

extension WeakenedOrdering: CustomTestStringConvertible {
  var testDescription: String { "\(half) in line \(line) of \(file)" }

  /// All acquires and releases in the sources of the core, except in code of debug builds: these tests run optimised.
  static let all: [WeakenedOrdering] = {
    let core = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Core")
      .resolvingSymlinksInPath()
    let files =
      FileManager.default.enumerator(at: core, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    return files.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }.flatMap { file in
      let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(
        separator: "\n",
        omittingEmptySubsequences: false
      )
      var isForDebugging = false
      return zip(UInt(1)..., lines ?? []).flatMap { number, line in
        let text = line.drop { $0 == " " }
        if text == "#if DEBUG" { isForDebugging = true }
        if text == "#endif" { isForDebugging = false }
        return (isForDebugging ? [] : halves(in: line)).map {
          WeakenedOrdering(half: $0, file: "ExplorationTests/\(file.lastPathComponent)", line: number)
        }
      }
    }
  }()

  private static func halves(in line: Substring) -> [Half] {
    if line.contains("ordering: .acquiringAndReleasing)") { return [.acquire, .release] }
    if line.contains("ordering: .acquiring)") { return [.acquire] }
    return line.contains("ordering: .releasing)") ? [.release] : []
  }
}

/// Short programs of one world, each in all orders with one preemption and one older value, or with two.
private struct Search: Sendable {
  let name: String
  let run: @Sendable (WeakenedOrdering) async -> Exploration

  static let all = [
    Search(name: "one future") { ordering in
      let pairs = [.peek, .attach, .derive, .await, .cancel].map { [[FutureOperation.succeed], [$0]] }
      let programs = pairs + [[[.succeed], [.peek, .listen]]]
      return await explore(programs, in: CancellableWorld.self, FutureShape.fixed, .preemptions(1), weakened: ordering)
    },
    Search(name: "a delivery that is handed on") { ordering in
      let programs: [[[DeliveryWorld.Operation]]] = [[[.succeed], [.attach, .attach], [.peek]]]
      return await explore(programs, in: DeliveryWorld.self, [.plain], .preemptions(2), weakened: ordering)
    },
    Search(name: "a token") { ordering in
      let programs = selections(of: 2, from: TokenWorld.Operation.allCases.map { [$0] })
      return await explore(
        programs,
        in: TokenWorld.self,
        TokenWorld.Shape.allCases,
        .preemptions(1),
        weakened: ordering
      )
    },
    Search(name: "a join") { ordering in
      let programs: [[[JoinWorld.Operation]]] = [
        [[.succeedFirst], [.succeedSecond]], [[.succeedFirst], [.dropSecond]],
      ]
      return await explore(programs, in: JoinWorld.self, JoinWorld.Shape.allCases, .preemptions(1), weakened: ordering)
    },
    Search(name: "a future that a task resolves") { ordering in
      let programs: [[[TaskWorld.Operation]]] = [[[.resolveFromTask], [.peek]]]
      return await explore(programs, in: TaskWorld.self, [.plain], .preemptions(1), weakened: ordering)
    },
    Search(name: "a future that never resolves") { ordering in
      let programs: [[[BreakWorld.Operation]]] = [[[.drop], [.look]]]
      return await explore(
        programs,
        in: BreakWorld.self,
        BreakWorld.Shape.allCases,
        .preemptions(1),
        weakened: ordering
      )
    },
    Search(name: "a private future") { ordering in
      let programs: [[[PrivateWorld.Operation]]] = [[[.follow], [.drop]], [[.follow], [.succeed]]]
      return await explore(
        programs,
        in: PrivateWorld.self,
        PrivateWorld.Shape.allCases,
        .preemptions(2),
        weakened: ordering
      )
    },
    Search(name: "an orphan") { ordering in
      let programs = selections(of: 2, from: OrphanWorld.Operation.allCases.map { [$0] })
      return await explore(
        programs,
        in: OrphanWorld.self,
        OrphanWorld.Shape.allCases,
        .preemptions(1),
        weakened: ordering
      )
    },
    Search(name: "a future that follows") { ordering in
      let programs = FutureOperation.following.map { [[FutureOperation.follow], [$0]] }
      return await explore(
        programs,
        in: CancellableWorld.self,
        FutureShape.following,
        .preemptions(2),
        weakened: ordering
      )
    },
    Search(name: "a future that follows, and cannot represent cancellation") { ordering in
      let programs = FutureOperation.following.map { [[FutureOperation.follow], [$0]] }
      return await explore(programs, in: WaitingWorld.self, FutureShape.following, .preemptions(2), weakened: ordering)
    },
    Search(name: "a stage that moves on to a future that resolves") { ordering in
      let programs: [[[RelinkWorld.Operation]]] = [[[.follow], [.succeed], [.cancel]]]
      return await explore(programs, in: RelinkWorld.self, [.plain], .preemptions(3), weakened: ordering)
    },
    Search(name: "one future, in every order") { ordering in
      let programs: [[[FutureOperation]]] = [[[.succeed], [.remove], [.peek]]]
      return await explore(programs, in: CancellableWorld.self, [.mapped], .everyOrder, weakened: ordering)
    },
  ]
}
