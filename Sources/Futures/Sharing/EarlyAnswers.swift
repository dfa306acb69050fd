/// Answers to keys without a caller, in the order of their arrival, up to a limit.
///
/// A key can have several answers: its callers take the oldest first. Above the limit the oldest answer of all keys is dropped.
/// Each operation is O(1), because the answers form a doubly linked list, too. The oldest of all is always the oldest of its key.
struct EarlyAnswers<Key: Hashable, Answer> {
  /// An answer, and its neighbours in the order of arrival.
  ///
  /// A class: the code that copies a generic structure takes kilobytes of each executable.
  final class Entry: @unchecked Sendable {
    // @unchecked: the lock of the owner protects the links. The rest is constant.
    let key: Key
    let answer: Answer

    // `answers` owns all entries, so that releasing a long list takes no stack.
    fileprivate unowned(unsafe) var previous: Entry?
    fileprivate unowned(unsafe) var next: Entry?

    fileprivate init(_ key: Key, _ answer: Answer) {
      self.key = key
      self.answer = answer
    }
  }

  /// An entry that was taken out, and the dictionary's copy of its key: for release outside the lock.
  typealias Removed = (entry: Entry, key: Key?)

  private var answers: [Key: FIFO<Entry>] = [:]
  private unowned(unsafe) var oldest: Entry?
  private unowned(unsafe) var newest: Entry?
  private(set) var count = 0

  /// Adds an answer.
  /// - Returns: The oldest answer, which was removed, if there were more than `limit`.
  mutating func add(_ answer: Answer, for key: Key, limit: Int) -> Removed? {
    let entry = Entry(key, answer)
    entry.previous = newest
    newest?.next = entry
    newest = entry
    if oldest == nil { oldest = entry }
    answers[key, default: FIFO()].append(entry)
    count += 1
    return count > limit ? oldest.flatMap { takeOldest(of: $0.key) } : nil
  }

  /// Removes and returns the oldest answer for `key`, with the dictionary's copy of the key if `key` has no other answer.
  mutating func takeOldest(of key: Key) -> Removed? {
    guard let index = answers.index(forKey: key), let entry = answers.values[index].popFirst() else { return nil }
    if let previous = entry.previous { previous.next = entry.next } else { oldest = entry.next }
    if let next = entry.next { next.previous = entry.previous } else { newest = entry.previous }
    count -= 1
    return (entry, answers.values[index].isEmpty ? answers.remove(at: index).key : nil)
  }
}
