import Futures
import FuturesTesting

/// One thread's work on a graph: the random numbers, and the futures and records that the thread has made.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class Worker {
  /// The futures and the records of a worker, for the thread that checks the graph.
  struct Product: Sendable {
    var nodes: [Node] = []
    var records: [Record] = []
  }

  let surroundings: Surroundings
  private var random: SplitMix64
  var product = Product()
  private var nextNumber: Int
  /// For each future and site, the highest turn of the callbacks that ran; a callback's turn is the number of its attachment.
  private var highestTurns: [String: Locked<Int>] = [:]
  private var turns = 0

  /// Makes a worker, whose first future has the number `firstNumber`.
  init(seed: UInt64, _ surroundings: Surroundings, firstNumber: Int) {
    self.surroundings = surroundings
    random = SplitMix64(seed: seed)
    nextNumber = firstNumber
  }

  func random(below limit: Int) -> Int { random.next(below: limit) }

  func site() -> Site { surroundings.sites[random(below: surroundings.sites.count)] }

  /// Makes a ticket, which notes the calls and the release of a closure of the future `node`, and adds its record to the product.
  func ticket(_ role: String, node: Int, _ runs: Record.Runs) -> Ticket {
    let record = Record(role, node: node, runs)
    product.records.append(record)
    return Ticket(record, surroundings.alive)
  }

  private func takeNumber() -> Int {
    defer { nextNumber += 1 }
    return nextNumber
  }

  /// Adds a future without inputs to the product.
  @discardableResult
  func add(_ name: String, _ future: GraphFuture) -> Node {
    let node = Node(name, future, number: takeNumber())
    product.nodes.append(node)
    return node
  }

  /// Derives a future by a random operator, and adds it to the product.
  @discardableResult
  func derive(from first: Node, _ second: Node) -> Node {
    let kind = Operator.all[random(below: Operator.all.count)]
    let node = Node(kind, from: first, second, number: takeNumber(), self)
    product.nodes.append(node)
    return node
  }

  /// Attaches a callback at a random site; on an ordered site, it checks that no callback attached later has run before it.
  @discardableResult
  func attach(to node: Node) -> Attachment {
    let site = site()
    let ticket = ticket("a callback on \(site.name)", node: node.number, site.dropsWork ? .atMostOnce : .once)
    let highestTurn = highestTurns["\(node.number) \(site.name)", default: Locked(0)]
    highestTurns["\(node.number) \(site.name)"] = highestTurn
    turns += 1
    let turn = turns
    let registration = node.future.whenResolved(on: site.context) { _ in
      ticket.run(at: site)
      guard site.isOrdered else { return }
      let isLate = highestTurn.withLock { highest in
        defer { highest = max(highest, turn) }
        return turn < highest
      }
      if isLate { ticket.record.noteMistake("ran after one that was attached later") }
    }
    return Attachment(registration: registration, record: ticket.record)
  }
}

/// A callback that can be removed.
struct Attachment: Sendable {
  let registration: Registration
  let record: Record

  func remove() {
    if registration.remove() { record.noteRemoval() }  // `false`: the callback runs anyway, or was removed before
  }
}
