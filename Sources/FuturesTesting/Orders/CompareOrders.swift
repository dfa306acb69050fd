internal import Futures

/// Runs two versions of code in every order, and compares their outcomes, as a proof that a conversion keeps the behaviour.
///
/// ```swift
/// try await compareOrders { orders in
///   oldLoad(on: orders.context("network")) { orders.record("shown \($0)", in: "screen") }
///   try await orders.runAll()
/// } with: { orders in
///   let value = try await newLoad(on: orders.context("network"))
///   orders.record("shown \(value)", in: "screen")
/// }
/// ```
///
/// The outcome of an order has two parts: the events that the body and its doubles record, in their order within each channel, and
/// the end of the body, which returns, throws, or waits for ever. Record the results, the effects on each context, a cancellation
/// that reaches the work (in the double of the API), and releases (`Orders.releaseRecorder(_:in:)`). Nothing else is compared.
///
/// The two versions need not have the same moves: the comparison is of the sets of outcomes. An outcome that only one version has is a
/// failure.
/// - Parameters:
///   - limit: The greatest number of orders of each version.
///   - seed: Selects the random orders, if `limit` is less than the number of orders.
///   - isolation: The caller's actor.
///   - fileID: The file that the failure names.
///   - line: The line that the failure names.
///   - old: The first version, as a body of `exploreOrders`.
///   - new: The second version.
/// - Returns: How many orders ran, how many outcomes there are, and whether all orders ran.
/// - Throws: `OrderDifference` with the shortest order whose outcome only one version has. `OrderFailure` if a version does not end, or
///   if work enters from outside.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
@discardableResult
public func compareOrders(
  limit: Int = 10_000,
  seed: UInt64 = 0,
  isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID,
  line: UInt = #line,
  @_implicitSelfCapture _ old: @escaping @isolated(any) (Orders) async throws -> Void,
  @_implicitSelfCapture with new: @escaping @isolated(any) (Orders) async throws -> Void
) async throws -> OrderComparison {
  precondition(limit > 0, "compareOrders(limit: \(limit)) runs no order. Pass a limit of 1 or more.")
  let options = OrderSearch.Options(limit: limit, seed: seed, fileID: fileID.description, line: line)
  var found: [(report: OrderReport, outcomes: [String: OrderSearch.Outcome])] = []
  for body in [old, new] {
    // Safe: until `run` returns, only the task of the search uses `search`.
    nonisolated(unsafe) let search = OrderSearch(body, options)
    search.outcomes = [:]
    // `run` returns a `Result`: in Swift 6.3 a call that rethrows after an actor hop resumes off the caller's actor.
    let result = await search.run(repeating: nil)
    found.append((try result.get(), search.outcomes ?? [:]))
  }
  let (before, after) = (found[0], found[1])
  let onlyOne = [(true, before, after), (false, after, before)].flatMap { isOld, one, other in
    one.outcomes.filter { other.outcomes[$0.key] == nil }.map { (isOld, $0.key, $0.value) }
  }
  let shortest = onlyOne.min { left, right in
    (left.2.order.count, left.1) < (right.2.order.count, right.1)
  }
  guard let (isOld, outcome, example) = shortest else {
    return OrderComparison(old: before.report, new: after.report, outcomes: before.outcomes.count)
  }
  throw OrderDifference(
    outcome: outcome,
    isOfOld: isOld,
    order: example.order,
    repeating: example.repeating,
    otherOutcomes: (isOld ? after : before).outcomes.keys.sorted(),
    old: before.report,
    new: after.report,
    fileID: fileID.description,
    line: line
  )
}

/// The result of `compareOrders`, if both versions have the same outcomes.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct OrderComparison: Sendable, CustomStringConvertible {
  /// The orders of the first version.
  public let old: OrderReport

  /// The orders of the second version.
  public let new: OrderReport

  /// The number of outcomes, which are the same for both versions.
  public let outcomes: Int

  /// Whether all orders of both versions ran: only then is the comparison a proof.
  ///
  /// `false` if a task has called an actor, because other work could then come between in an order that did not run.
  public var isExhaustive: Bool { old.isProof && new.isProof }

  /// For example "the same 3 outcomes in all 12 orders of the old code, and in all 20 orders of the new code".
  public var description: String {
    let count = outcomes == 1 ? "the same outcome" : "the same \(outcomes.grouped) outcomes"
    return "\(count) in \(old) of the old code, and in \(new) of the new code"
  }
}

/// An outcome that only one of two versions has.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct OrderDifference: Error, Sendable, CustomStringConvertible {
  /// The recorded events of each channel, and how the body ended.
  public let outcome: String

  /// Whether the first version has this outcome; otherwise the second one has it.
  public let isOfOld: Bool

  /// The moves of the shortest order with this outcome.
  public let order: [String]

  /// Repeats this order: the argument of `exploreOrders(repeating:)`, with the closure of the version that has the outcome.
  public let repeating: String

  /// The outcomes of the other version.
  public let otherOutcomes: [String]

  /// The orders of the first version.
  public let old: OrderReport

  /// The orders of the second version.
  public let new: OrderReport

  /// The file of the call.
  public let fileID: String

  /// The line of the call.
  public let line: UInt

  /// The difference in sentences, with the order and the string that repeats it.
  public var description: String {
    let (one, other) = isOfOld ? ("old", "new") : ("new", "old")
    let (report, otherReport) = isOfOld ? (old, new) : (new, old)
    let doubt =
      otherReport.isProof
      ? "" : "\nThe \(other) code was explored in \(otherReport): another order of it can have this outcome too."
    return """
      Only the \(one) code has this outcome: \(outcome)
      Its shortest order (of \(report)): \(order.isEmpty ? "the body alone" : order.shortList(separator: " ▸ "))
      The \(other) code has: \(otherOutcomes.shortList(separator: " | "))\(doubt)
      Run it alone: exploreOrders(repeating: "\(repeating)") with the closure of the \(one) code, at \(fileID):\(line)
      """
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Orders {
  /// Records an event that `compareOrders` compares.
  ///
  /// Any move can record. Events of one channel are compared in their order; events of different channels have no order. So use one
  /// channel for each context whose effects have an order.
  /// - Parameters:
  ///   - event: The event, for example an effect with its value.
  ///   - channel: The channel.
  public func record(_ event: String, in channel: String = "") { run.record(event, in: channel) }

  /// Returns an object that records its release, for closures and objects that have to be released.
  /// - Parameters:
  ///   - name: The recorded event is “released”, followed by this name.
  ///   - channel: The channel.
  /// - Returns: The object. Capture it in the closure, or keep it in the object, whose release matters.
  public func releaseRecorder(_ name: String, in channel: String = "releases") -> any AnyObject & Sendable {
    ReleaseRecorder(run: run, event: "released \(name)", channel: channel)
  }
}

/// Records an event when this object is released.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class ReleaseRecorder: Sendable {
  private let run: OrderRun
  private let event: String
  private let channel: String

  init(run: OrderRun, event: String, channel: String) { (self.run, self.event, self.channel) = (run, event, channel) }

  deinit { run.record(event, in: channel) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderSearch {
  /// Keeps the outcome of a run that ended, if the search compares outcomes.
  func keepOutcome(of run: OrderRun, _ verdict: OrderRun.Verdict) -> Bool {
    guard outcomes != nil else { return false }
    switch verdict {
    case .returned, .threw: break
    case .deadlock: costlyFailures += 1
    case .uncontrolled, .endless, .strayed: return false
    }
    let outcome = run.outcome(verdict)
    if outcomes?[outcome].map({ run.trace.count < $0.order.count }) ?? true {
      outcomes?[outcome] = Outcome(order: names.describe(run.trace), repeating: OrderChoice.string(run.choices))
    }
    return true
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderReport {
  /// Whether the code has no outcome but those that were found.
  fileprivate var isProof: Bool { isExhaustive && !callsActors }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  fileprivate func record(_ event: String, in channel: String) {
    state.withLock { $0.records[channel, default: []].append(event) }
  }

  /// The outcome of the run, which has ended.
  func outcome(_ verdict: Verdict) -> String {
    let end =
      switch verdict {
      case .threw(let error): "throws \(error)"
      case .deadlock: "waits for ever"
      default: "returns"
      }
    let channels = state.withLock(\.records).sorted { $0.key < $1.key }.map { channel, events in
      "\(channel.isEmpty ? "" : "\(channel): ")\(events.joined(separator: ", "))"
    }
    return (channels + [end]).joined(separator: "; ")
  }
}
