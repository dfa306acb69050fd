import Synchronization

/// A connection that keeps the state of the reader equal on all devices.
protocol SyncConnection: Sendable {
  func open(delegate: any SyncDelegate)
  func ask(_ question: String)
}

/// Each answer names its question.
protocol SyncDelegate: AnyObject, Sendable {
  func didReceive(answer: String, forQuestion question: String)
  func didLoseConnection(_ error: any Error)
}

/// Asks each question once, for any number of callers.
final class SyncClient: SyncDelegate {
  private let connection: any SyncConnection
  private let waiting = Mutex<[String: [Completion<String>]]>([:])

  init(connection: any SyncConnection) {
    self.connection = connection
    connection.open(delegate: self)
  }

  func answer(to question: String, completion: @escaping Completion<String>) {
    let isFirst = waiting.withLock { waiting in
      waiting[question, default: []].append(completion)
      return waiting[question]?.count == 1
    }
    if isFirst { connection.ask(question) }
  }

  func didReceive(answer: String, forQuestion question: String) {
    let completions = waiting.withLock { $0.removeValue(forKey: question) }
    for completion in completions ?? [] { completion(.success(answer)) }
  }

  func didLoseConnection(_ error: any Error) {
    let completions = waiting.withLock { waiting in
      defer { waiting = [:] }
      return waiting.values.flatMap(\.self)
    }
    for completion in completions { completion(.failure(error)) }
  }
}
