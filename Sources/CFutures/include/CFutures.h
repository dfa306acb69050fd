// System functions that Swift cannot express, or not for every platform. Not part of the public API.
//
// All conditions on the platform are here and in CFutures.c, so the Swift sources have none.
#ifndef CFUTURES_H
#define CFUTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__APPLE__)
#include <os/lock.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CFUTURES_INLINE static inline __attribute__((always_inline))

// MARK: - Atomic operations

// For AtomicByte.swift and AtomicWord.swift, which own the memory. `order` is a constant after inlining.
// Compiler builtins: <stdatomic.h> needs the type _Atomic, which C++ before 23 does not have.

CFUTURES_INLINE uint8_t cfutures_load_byte(const void *_Nonnull place, int order) {
  return __atomic_load_n((const uint8_t *)place, order);
}

CFUTURES_INLINE void cfutures_store_byte(void *_Nonnull place, uint8_t value, int order) {
  __atomic_store_n((uint8_t *)place, value, order);
}

/// Stores `desired` if the byte is `expected`. Returns the old byte.
CFUTURES_INLINE uint8_t cfutures_compare_exchange_byte(void *_Nonnull place, uint8_t expected, uint8_t desired, int order) {
  __atomic_compare_exchange_n((uint8_t *)place, &expected, desired, false, order, __ATOMIC_RELAXED);
  return expected;
}

/// Returns the old byte.
CFUTURES_INLINE uint8_t cfutures_or_byte(void *_Nonnull place, uint8_t bits, int order) {
  return __atomic_fetch_or((uint8_t *)place, bits, order);
}

/// Returns the old byte.
CFUTURES_INLINE uint8_t cfutures_and_byte(void *_Nonnull place, uint8_t bits, int order) {
  return __atomic_fetch_and((uint8_t *)place, bits, order);
}

CFUTURES_INLINE uintptr_t cfutures_load_word(const void *_Nonnull place, int order) {
  return __atomic_load_n((const uintptr_t *)place, order);
}

CFUTURES_INLINE void cfutures_store_word(void *_Nonnull place, uintptr_t value, int order) {
  __atomic_store_n((uintptr_t *)place, value, order);
}

/// Returns the old word.
CFUTURES_INLINE uintptr_t cfutures_subtract_word(void *_Nonnull place, uintptr_t operand, int order) {
  return __atomic_fetch_sub((uintptr_t *)place, operand, order);
}

// MARK: - Lock

// Four bytes for Lock.swift. Zero means that no thread has the lock; OS_UNFAIR_LOCK_INIT is zero, too.

#if defined(__APPLE__)

CFUTURES_INLINE void cfutures_lock(void *_Nonnull lock) { os_unfair_lock_lock((os_unfair_lock_t)lock); }
CFUTURES_INLINE bool cfutures_try_lock(void *_Nonnull lock) { return os_unfair_lock_trylock((os_unfair_lock_t)lock); }
CFUTURES_INLINE void cfutures_unlock(void *_Nonnull lock) { os_unfair_lock_unlock((os_unfair_lock_t)lock); }

#else

// 0: free. 1: locked. 2: locked, and a thread might wait.

void cfutures_lock_slowly(uint32_t *_Nonnull lock);
void cfutures_wake_waiter(uint32_t *_Nonnull lock);

CFUTURES_INLINE bool cfutures_try_lock(void *_Nonnull lock) {
  uint32_t expected = 0;
  return __atomic_compare_exchange_n((uint32_t *)lock, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

CFUTURES_INLINE void cfutures_lock(void *_Nonnull lock) {
  if (__builtin_expect(!cfutures_try_lock(lock), 0)) cfutures_lock_slowly((uint32_t *)lock);
}

CFUTURES_INLINE void cfutures_unlock(void *_Nonnull lock) {
  if (__builtin_expect(__atomic_exchange_n((uint32_t *)lock, 0, __ATOMIC_RELEASE) == 2, 0))
    cfutures_wake_waiter((uint32_t *)lock);
}

#endif

// MARK: - Thread-local storage

/// Returns the pointer that this thread has set, or null.
void *_Nullable cfutures_thread_pointer(void);

/// Sets the pointer of this thread.
///
/// When the thread ends, the pointer becomes null, and `destroy` runs with it on that thread. `destroy`, and later
/// destructors of the thread, can set a pointer again; `destroy` then runs again. The end of the process destroys no
/// pointer.
///
/// Returns false, and sets nothing, if the system cannot register another destructor.
bool cfutures_set_thread_pointer(void *_Nonnull pointer, void (*_Nonnull destroy)(void *_Nonnull));

// MARK: - Objects of Swift

// For ObjectMemory.swift: the runtime's counts of an object, by its address.

/// Keeps the memory of an object of a Swift class, but not the object.
void cfutures_retain_memory(void *_Nonnull object);

/// Frees the memory that was kept, if this was its last use.
void cfutures_release_memory(void *_Nonnull object);

/// Retains an object whose memory is kept. Returns false if the object has been destroyed.
bool cfutures_retain_object(void *_Nonnull object);

// MARK: - Dispatch queues

/// Returns whether the calling thread runs work of a serial queue of Dispatch; on Apple platforms, without `key`, whether it might.
///
/// With `key`, only if that queue has a specific value for it. `queue` is the object that got this value; Apple platforms
/// recognize a serial queue by its class. Returns false where neither the class nor the width of a queue can be read.
bool cfutures_is_on_serial_queue(const void *_Nullable queue, const void *_Nullable key);

/// Returns whether the calling thread runs the main actor, also inside `sync` of another queue, which runs its work on the caller.
///
/// On Linux, any thread can serve the main queue. There it is known for tasks, and for the first thread of the process.
bool cfutures_is_on_main_thread(void);

// MARK: - Standard error

/// Writes all bytes to standard error, without a buffer.
///
/// Waits while standard error accepts no bytes. Drops the rest if standard error is closed.
void cfutures_write_to_standard_error(const void *_Nullable bytes, size_t count);

#undef CFUTURES_INLINE

#ifdef __cplusplus
}
#endif

#endif
