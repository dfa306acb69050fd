import Futures
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct LockedReferenceTests {
  /// Calls a closure when it is released.
  private final class Releasable: Sendable {
    let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
  }

  /// Holds the reference, which a closure cannot capture.
  private final class Owner<Object: AnyObject>: Sendable {
    let reference = LockedReference<Object>()
  }

  @Test("The reference is nil at first, and then the object of the last change")
  func lastChange() {
    let reference = LockedReference<Tracked>()
    #expect(reference.isSet == false)
    #expect(reference.object == nil)
    let (first, second) = (Tracked(), Tracked())
    #expect(reference.exchange(first) == nil)
    #expect(reference.isSet == true)
    #expect(reference.object === first)
    #expect(reference.exchange(second) === first)
    #expect(reference.object === second)
    #expect(reference.update { $0 } === second)
    #expect(reference.isSet == true)
    #expect(reference.exchange(nil) === second)
    #expect(reference.isSet == false)
    #expect(reference.object == nil)
  }

  @Test("R5: the reference keeps its object until it is released")
  func lifetime() {
    weak var object: Tracked?
    do {
      let owner = Owner<Tracked>()
      do { _ = owner.reference.exchange(Tracked()) }
      object = owner.reference.object
      #expect(object != nil)
    }
    #expect(object == nil)
  }

  @Test("R3: an old object is released outside the lock")
  func releaseOutsideTheLock() {
    let owner = Owner<Releasable>()
    let log = Recorder<Bool>()
    _ = owner.reference.exchange(Releasable { [unowned owner] in log.record(owner.reference.exchange(nil) == nil) })
    _ = owner.reference.exchange(nil)
    #expect(log.events == [true])
  }

  @Test("Readers that race with changes get nil or a live object, and the last change stays")
  func race() {
    let owner = Owner<Releasable>()
    let released = Locked(0)
    TestSupport.race(
      (0..<4).map { number in
        {
          for _ in 0..<5_000 {
            if number < 2 {
              _ = owner.reference.exchange(Releasable { released.withLock { $0 += 1 } })
              if owner.reference.update({ $0 == nil }) { Issue.record("A change was lost.") }
            } else if let object = owner.reference.object {
              withExtendedLifetime(object) {}
            }
          }
        }
      }
    )
    #expect(owner.reference.isSet == true)
    _ = owner.reference.exchange(nil)
    #expect(released.withLock { $0 } == 10_000)
  }
}
