import Futures
import FuturesTesting
import TestSupport
import Testing

/// Compares the progress of random trees of operators with a short model: R18, R19.
///
/// The leaves of a tree report and end in random order.
struct ProgressModelTests {
  typealias Source = Future<Int, any Error>

  static let seeds = 0..<20

  static let treesPerSeed = TestTier.choose(standard: 20, thorough: 200)

  /// A future, as the tree that makes it.
  indirect enum Tree: Sendable {
    /// A promise with its own reports and its parts, whose shares are clamped to the rest that earlier parts leave.
    case promise(Int, [(given: Double, share: Double, part: Tree)])
    /// A future that was made resolved.
    case ready
    /// A tree whose progress one of `operators` passes on.
    case passed(Int, Tree)
    case flatMap(share: Double, Tree, then: Tree)
    case flatMapError(Tree, then: Tree)
    /// One of `averages`.
    case average(Int, [Tree])
    case queue([Tree], limit: Int)
    case first([Tree], mustSucceed: Bool)
  }

  // MARK: - The library

  static let operators: [@Sendable (Source, Promises) -> Source] = [
    { source, _ in source.map { $0 } }, { source, _ in source.shielded },
    { source, _ in source.flatMapError { .failed($0) } }, { source, _ in source.tap(on: .immediate) { _ in } },
    { source, it in source.timeout(after: .seconds(1), on: it.manual.context) },
    { source, it in source.cancelled(by: it.tokens.token) }, { source, _ in source.eraseFailure() },
    { source, _ in source.receive(on: ExecutionContext { $0() }) }, { source, _ in Source { $0.follow(source) } },
    { source, _ in Source.retry(attempts: 1) { source } },
    { source, _ in Source.lazy { $0.follow(source) }.map { $0 } }, { source, _ in Source.race([source]) },
    { source, _ in source.flatMap(progressShare: 1) { .succeeded($0) } },
    { source, _ in Source.succeeded(1).flatMap(progressShare: 0) { _ in source } },
  ]

  /// The joins whose progress is the average of their inputs; a join that settles succeeds although an input fails.
  static let averages: [(settles: Bool, join: @Sendable ([Source]) -> Source)] = [
    (false, { Source.all($0).map { $0[0] } }), (false, { Source.reduce(0, $0) { $0 + $1 } }), (false, zipped),
    (true, { Source.allSettled($0).map { _ in 1 }.setFailureType() }),
    (true, { Source.allOrErrors($0).map { $0[0] }.recover { _ in 1 }.setFailureType() }),
    (true, { Source.allOptional($0).map { _ in 1 }.setFailureType() }),
    (true, { Source.allSucceeding($0).map { _ in 1 }.setFailureType() }),
    (true, { all in Source.concurrentSettled(all.indices, limit: .max) { all[$0] }.map { _ in 1 }.setFailureType() }),
  ]

  @Sendable static func zipped(_ inputs: [Source]) -> Source {
    switch inputs.count {
    case 1: .zip(inputs[0])
    case 2: Future.zip(inputs[0], inputs[1]).map { $0.0 }
    case 3: Future.zip(inputs[0], inputs[1], inputs[2]).map { $0.0 }
    default: Future.zip(inputs[0], inputs[1], inputs[2], inputs[3]).map { $0.0 }
    }
  }

  /// The leaves of a real tree.
  final class Promises: Sendable {
    let all: [Promise<Int, any Error>]
    let manual = ManualContext()
    let tokens = CancellationTokenSource()

    init(_ count: Int) { all = (0..<count).map { _ in Promise() } }

    func future(_ tree: Tree) -> Source {
      switch tree {
      case .promise(let number, let parts):
        for (share, _, part) in parts { all[number].progress.add(future(part), share: share) }
        return all[number].future
      case .ready: return .succeeded(1)
      case .passed(let number, let source): return operators[number](future(source), self)
      case .flatMap(let share, let source, let then):
        return future(source).flatMap(progressShare: share) { _ in self.future(then) }
      case .flatMapError(let source, let then): return future(source).flatMapError { _ in self.future(then) }
      case .average(let number, let inputs): return averages[number].join(inputs.map(future))
      case .queue(let items, let limit):
        return Source.concurrent(items.indices, limit: limit) { self.future(items[$0]) }.map { $0[0] }
      case .first(let inputs, mustSucceed: true): return Source.firstSuccess(inputs.map(future)).mapError { $0 }
      case .first(let inputs, mustSucceed: false): return Source.race(inputs.map(future))
      }
    }
  }

  // MARK: - The model

  /// The progress and the results of the leaves.
  final class Leaves {
    var fractions: [Double]
    var results: [Bool?]

    init(_ count: Int) {
      fractions = Array(repeating: 0, count: count)
      results = Array(repeating: nil, count: count)
    }
  }

  /// One future of the tree.
  final class Model {
    let tree: Tree
    let leaves: Leaves
    /// The futures that this future was made of, so far.
    var children: [Model] = []
    /// The fraction before the end.
    var current = 0.0
    /// `true` after a success, `false` after a failure, `nil` while the future is pending.
    var result: Bool?
    /// Whether the progress was read; a future whose progress was not read records nothing.
    var isTracked: Bool
    /// Whether the future ended before a listener could be added.
    var wasResolved = false
    /// Whether the parent knows that this future has ended.
    var hasEnded = false

    init(_ tree: Tree, _ leaves: Leaves, isTracked: Bool) {
      (self.tree, self.leaves, self.isTracked) = (tree, leaves, isTracked)
      switch tree {
      case .promise(let number, let parts):
        self.isTracked = true
        current = min(leaves.fractions[number], almostDone)  // its reports before it added parts
        if leaves.results[number] == nil { for (_, _, part) in parts { add(part); note() } }
      case .ready: result = true
      case .passed(_, let source), .flatMap(_, let source, _), .flatMapError(let source, _): add(source)
      case .average(_, let inputs), .first(let inputs, _): for input in inputs { add(input) }
      case .queue: break
      }
      // Earlier progress of its children is not a new state.
      step()
      wasResolved = result != nil
      if wasResolved, leaf == nil { current = 0 }
    }

    var leaf: Int? { if case .promise(let number, _) = tree { number } else { nil } }

    var shown: Double { result == true ? 1 : current }

    func add(_ tree: Tree) { children.append(Model(tree, leaves, isTracked: isTracked)) }

    /// Updates the model after an event at one of the leaves.
    func update() {
      guard result == nil else { return }
      for child in children { child.update() }
      step()
    }

    /// Begins to record the progress.
    func track() {
      guard !isTracked else { return }
      isTracked = true
      for child in children {
        child.track()
        child.wasResolved = child.result != nil
      }
      if result == nil { note() }
    }

    /// The fraction of a child that reports before its end, but not afterwards.
    func progress(of child: Model) -> Double { child.wasResolved ? 0 : child.current }

    /// The fraction of a child that counts in full after its end.
    func part(_ child: Model) -> Double { child.result == nil ? child.current : 1 }

    /// The average of `count` children; the end of the last child does not count, because the whole has ended then.
    func average(of count: Int) -> Double {
      let isOver = children.count == count && children.allSatisfy { $0.result != nil }
      let parts = children.map { isOver && !$0.hasEnded ? progress(of: $0) : part($0) }
      for child in children { child.hasEnded = child.result != nil }
      return parts.reduce(0, +) / Double(count)
    }

    func note() {
      let fraction: Double
      switch tree {
      case .promise(let number, let parts):
        let shares = zip(parts, children).map { ($0.share, $1) }
        let own = 1 - shares.reduce(0) { $0 + $1.0 }
        fraction = leaves.fractions[number] * own + shares.reduce(0) { $0 + $1.0 * part($1.1) }
      case .ready: fraction = 0
      case .passed: fraction = progress(of: children[0])
      case .flatMap(let share, _, _):
        if children.count == 1 {
          fraction = share * progress(of: children[0])
        } else if children[1].wasResolved {
          fraction = 0
        } else {
          fraction = share < 1 ? share + (1 - share) * children[1].current : children[1].current
        }
      case .flatMapError: fraction = progress(of: children[children.count - 1])
      case .average(_, let all), .queue(let all, _): fraction = average(of: all.count)
      case .first: fraction = children.map { progress(of: $0) }.max() ?? 0
      }
      if isTracked { current = max(current, min(fraction, almostDone)) }
    }

    /// Advances to the state of the children.
    func step() {
      note()
      switch tree {
      case .promise(let number, _): result = leaves.results[number]
      case .ready: break
      case .passed: result = children[0].result
      case .flatMap(_, _, let then), .flatMapError(_, let then):
        var goesOn = false
        if case .flatMap = tree { goesOn = true }
        if children.count == 1, children[0].result == goesOn {
          add(then)
          note()
        }
        result = children[children.count - 1].result
      case .average(let number, _):
        let results = children.map(\.result)
        if !averages[number].settles, results.contains(false) { result = false }
        if !results.contains(nil) { result = result ?? true }
      case .queue(let items, let limit):
        while result == nil {
          let active = children.filter { $0.result == nil }.count
          if children.contains(where: { $0.result == false }) {
            result = false
          } else if children.count == items.count {
            if active == 0 { result = true }
            return
          } else if active < limit {
            add(items[children.count])
            if children[children.count - 1].result != false { note() }
          } else {
            return
          }
        }
      case .first(_, let mustSucceed):
        let results = children.map(\.result)
        result = mustSucceed ? (results.contains(true) ? true : nil) : results.compactMap { $0 }.first
        if !results.contains(nil) { result = result ?? false }
      }
    }
  }

  // MARK: - Random trees

  struct Maker {
    var generator: SplitMix64
    var leaves = 0

    mutating func tree(_ depth: Int) -> Tree {
      guard depth > 0 else { return promise([]) }
      switch Int.random(in: 0..<9, using: &generator) {
      case 0: return Bool.random(using: &generator) ? promise([]) : .ready
      case 1:
        var left = 1.0
        return promise(
          (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            let given: Double = [0.25, 0.5, 1, 0.1, 7, -1, .nan, .infinity].randomElement(using: &generator)!
            let share = given > 0 ? min(left, given) : 0
            defer { left -= share }
            return (given, share, tree(depth - 1))
          }
        )
      case 2, 3: return .passed(.random(in: 0..<operators.count, using: &generator), tree(depth - 1))
      case 4, 5:
        let share = [0, 0.3, 0.5, 0.75, 1].randomElement(using: &generator)!
        return .flatMap(share: share, tree(depth - 1), then: tree(depth - 1))
      case 6:
        return Bool.random(using: &generator)
          ? .flatMapError(tree(depth - 1), then: tree(depth - 1))
          : .first(trees(depth - 1), mustSucceed: .random(using: &generator))
      case 7: return .average(.random(in: averages.indices, using: &generator), trees(depth - 1))
      default: return .queue(trees(depth - 1), limit: .random(in: 1...3, using: &generator))
      }
    }

    mutating func trees(_ depth: Int) -> [Tree] {
      (0..<Int.random(in: 1...4, using: &generator)).map { _ in tree(depth) }
    }

    mutating func promise(_ parts: [(given: Double, share: Double, part: Tree)]) -> Tree {
      defer { leaves += 1 }
      return .promise(leaves, parts)
    }
  }

  @Test("R18, R19: random trees of operators agree with a simple model, for each moment of asking", arguments: seeds)
  func randomTreesAgreeWithModel(seed: Int) {
    var maker = Maker(generator: SplitMix64(seed: UInt64(seed)))
    for number in 0..<Self.treesPerSeed {
      maker.leaves = 0
      let tree = maker.tree(.random(in: 1...4, using: &maker.generator))
      guard maker.leaves > 0 else { continue }  // all its futures are ready
      guard run(tree, leaves: maker.leaves, "\(seed), \(number)", &maker.generator) else { return }
    }
  }

  /// Runs the same events on two futures and their models; one has a listener from the beginning, the other later.
  private func run(_ tree: Tree, leaves count: Int, _ name: String, _ generator: inout SplitMix64) -> Bool {
    let leaves = Leaves(count)
    let promises = [Promises(count), Promises(count)]
    let futures = promises.map { $0.future(tree) }
    let models = [Model(tree, leaves, isTracked: true), Model(tree, leaves, isTracked: false)]
    var logs = [ProgressLog(futures[0])]
    let steps = 6 * count
    let asksAt = Int.random(in: 0..<steps, using: &generator)
    for step in 0..<steps {
      let number = Int.random(in: 0..<count, using: &generator)
      let dice = Int.random(in: 0..<10, using: &generator)
      let fraction = Double.random(in: -0.1...1.1, using: &generator)
      let total: Int64? = [1_000, 10, nil].randomElement(using: &generator)!
      if step == asksAt {
        models[1].track()
        logs.append(ProgressLog(futures[1]))
      }
      for promises in promises {
        switch dice {
        case 0 where number.isMultiple(of: 2): promises.all[number].fail(TestError(number))
        case 0: promises.all[number].future.cancel()
        case 1, 2: promises.all[number].succeed(number)
        case 3...6: promises.all[number].progress.report(fraction: fraction)
        default: promises.all[number].progress.report(completed: Int64(fraction * Double(total ?? 1)), of: total)
        }
      }
      if leaves.results[number] == nil {
        switch dice {
        case 0: leaves.results[number] = false
        case 1, 2: leaves.results[number] = true
        default:
          let reported = dice <= 6 ? fraction : total.map { Double(Int64(fraction * Double($0))) / Double($0) } ?? 0
          leaves.fractions[number] = max(leaves.fractions[number], min(reported, 1))
        }
      }
      for model in models { model.update() }
      for (index, log) in logs.enumerated() {
        let (model, progress) = (models[index], futures[index].currentProgress)
        guard abs(progress.fractionCompleted - model.shown) < 1e-9, progress.isFinished == (model.result == true),
          futures[index].isResolved == (model.result != nil), log.events.last == progress, log.isSound
        else {
          let asked = index == 0 ? "asked at once" : "asked at \(asksAt)"
          Issue.record("\(name), step \(step), \(asked): \(log.fractions), not \(model.shown), of \(tree)")
          return false
        }
      }
    }
    // The closures of stages that wait hold the promises.
    for promises in promises { for promise in promises.all { promise.fail(TestError()) } }
    return true
  }
}
