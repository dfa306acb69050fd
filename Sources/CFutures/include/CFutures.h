// System functions that Swift cannot express, or not for every platform. Not part of the public API.
//
// All conditions on the platform are here and in CFutures.c, so the Swift sources have none.
#ifndef CFUTURES_H
#define CFUTURES_H

#include <stdbool.h>
#include <stddef.h>

// MARK: - ThreadSanitizer

#if defined(__ELF__)
// Functions of the ThreadSanitizer runtime. Weak: they are null in a process without ThreadSanitizer.
extern void __tsan_acquire(void *_Nonnull) __attribute__((weak));
extern void __tsan_release(void *_Nonnull) __attribute__((weak));
#endif

/// Notifies ThreadSanitizer, if present, that this thread has acquired `lock`.
///
/// Does nothing on Apple platforms, where ThreadSanitizer intercepts the lock, and on Windows, which has no
/// ThreadSanitizer.
static inline __attribute__((always_inline)) void cfutures_lock_acquired(const void *_Nonnull lock) {
#if defined(__ELF__)
  if (__builtin_expect(__tsan_acquire != 0, 0)) __tsan_acquire((void *)lock);
#else
  (void)lock;
#endif
}

/// Notifies ThreadSanitizer, if present, that this thread is about to release `lock`.
static inline __attribute__((always_inline)) void cfutures_lock_releasing(const void *_Nonnull lock) {
#if defined(__ELF__)
  if (__builtin_expect(__tsan_release != 0, 0)) __tsan_release((void *)lock);
#else
  (void)lock;
#endif
}

// MARK: - Thread-local storage

/// Returns the pointer that this thread has set, or null.
void *_Nullable cfutures_thread_pointer(void);

/// Sets the pointer of this thread.
///
/// When the thread ends, the pointer becomes null, and `destroy` runs with it on that thread. `destroy`, and later
/// destructors of the thread, can set a pointer again; it is destroyed too. The end of the process destroys no pointer.
///
/// Returns false, and sets nothing, if the system cannot register another destructor.
bool cfutures_set_thread_pointer(void *_Nonnull pointer, void (*_Nonnull destroy)(void *_Nonnull));

// MARK: - Standard error

/// Writes all bytes to standard error, without a buffer.
///
/// Waits while standard error accepts no bytes. Drops the rest if standard error is closed.
void cfutures_write_to_standard_error(const void *_Nullable bytes, size_t count);

#endif
