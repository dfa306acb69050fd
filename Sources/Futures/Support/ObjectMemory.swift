private import CFutures

/// The address of an object whose memory the owner keeps, but not the object.
///
/// It replaces a weak reference, which costs more: the first weak reference to an object allocates a table of its counters, and each
/// retain and release takes a longer way from then on. In return, the memory of a released object is freed only at `release`.
struct ObjectMemory {
  private let address: UnsafeMutableRawPointer

  /// Keeps the memory until `release`.
  init(of object: AnyObject) {
    address = Unmanaged.passUnretained(object).toOpaque()
    cfutures_retain_memory(address)
  }

  /// Gives the memory back; the last use of the address.
  func release() { cfutures_release_memory(address) }

  /// The object; `nil` once its last reference is gone.
  var object: AnyObject? {
    // Atomic in the runtime: it counts a reference only if the object has one.
    cfutures_retain_object(address) ? Unmanaged.fromOpaque(address).takeRetainedValue() : nil
  }

  /// Identifies the object among all whose memory is kept.
  var identity: ObjectIdentifier { unsafeBitCast(address, to: ObjectIdentifier.self) }
}
