#include "CFutures.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#pragma comment(lib, "Synchronization.lib")  // WaitOnAddress
#else
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#endif

// WASI without threads has no thread that ends before the process.
#if defined(__wasi__) && !defined(_REENTRANT)
#define HAS_ONE_THREAD 1
#elif !defined(_WIN32)
#include <pthread.h>
#include <sched.h>
#endif

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

// AtomicByte.swift uses these numbers.
_Static_assert(__ATOMIC_RELAXED == 0 && __ATOMIC_ACQUIRE == 2 && __ATOMIC_RELEASE == 3 && __ATOMIC_ACQ_REL == 4, "");

// MARK: - Objects of Swift

// Functions of the runtime that the compiler calls, for `unowned` and for `weak`.
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);
extern void *swift_tryRetain(void *object);

void cfutures_retain_memory(void *object) { swift_unownedRetain(object); }

void cfutures_release_memory(void *object) { swift_unownedRelease(object); }

bool cfutures_retain_object(void *object) { return swift_tryRetain(object) != NULL; }

// MARK: - Lock

#if !defined(__APPLE__)

// `waitWhileContended` can return early. When `cfutures_wake_waiter` runs, the lock is free, so another thread can have
// released its memory. Both systems then only compare the address. If a new lock has that address, its waiter returns
// early.

#if defined(__linux__)

static void waitWhileContended(uint32_t *lock) { syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0); }

void cfutures_wake_waiter(uint32_t *lock) { syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

#elif defined(_WIN32)

static void waitWhileContended(uint32_t *lock) {
  uint32_t contended = 2;
  WaitOnAddress(lock, &contended, sizeof contended, INFINITE);
}

void cfutures_wake_waiter(uint32_t *lock) { WakeByAddressSingle(lock); }

#elif defined(HAS_ONE_THREAD)

// The only thread has the lock already, so it would wait for ever.
static void waitWhileContended(uint32_t *lock) { __builtin_trap(); }

void cfutures_wake_waiter(uint32_t *lock) { (void)lock; }

#else

// A system without a portable way to wait for an address: BSD, WASI with threads.
static void waitWhileContended(uint32_t *lock) { sched_yield(); }

void cfutures_wake_waiter(uint32_t *lock) { (void)lock; }

#endif

// The owner leaves the lock after a few dozen instructions, unless its thread was interrupted. Parking takes thousands.
enum { spinsBeforeParking = 100 };

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

void cfutures_lock_slowly(uint32_t *lock) {
  for (int spin = 0; spin < spinsBeforeParking; spin++) {
    if (__atomic_load_n(lock, __ATOMIC_RELAXED) == 0 && cfutures_try_lock(lock)) return;
    relax();
  }
  // This thread does not know whether other threads wait. The value 2 makes its unlock wake one of them.
  while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0) waitWhileContended(lock);
}

#endif

// MARK: - Thread-local storage

// Not in the header: each object file that includes the header would have a copy of the variable.
// No TLS model: "initial-exec" fails in some libraries loaded by dlopen. In an executable the linker chooses the
// fastest.
static _Thread_local struct {
  void *pointer;
  void (*destroy)(void *);
} slot;

void *cfutures_thread_pointer(void) { return slot.pointer; }

#if !defined(HAS_ONE_THREAD)

// Runs when the thread ends.
static void threadEnds(void *pointer) {
  // On Windows this can be another thread, which deletes the fiber that has set the pointer. Its thread can still use the pointer.
  if (slot.pointer != pointer) return;
  // Before `destroy`, which can need a new pointer.
  slot.pointer = NULL;
  slot.destroy(pointer);
}

#endif

#if defined(HAS_ONE_THREAD)

static bool registerEnd(void *pointer) {
  (void)pointer;  // the only thread ends with the process, which destroys no pointer
  return true;
}

#elif defined(_WIN32)

static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
static DWORD key = FLS_OUT_OF_INDEXES;

static void NTAPI fiberEnds(void *pointer) { threadEnds(pointer); }

static BOOL CALLBACK makeKey(PINIT_ONCE once, void *parameter, void **context) {
  (void)once, (void)parameter, (void)context;
  key = FlsAlloc(fiberEnds);
  return TRUE;
}

// Registers `threadEnds` for this thread.
static bool registerEnd(void *pointer) {
  InitOnceExecuteOnce(&once, makeKey, NULL, NULL);
  return key != FLS_OUT_OF_INDEXES && FlsSetValue(key, pointer);
}

#else

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool hasKey;

static void makeKey(void) { hasKey = pthread_key_create(&key, threadEnds) == 0; }

// Registers `threadEnds` for this thread.
static bool registerEnd(void *pointer) {
  return pthread_once(&once, makeKey) == 0 && hasKey && pthread_setspecific(key, pointer) == 0;
}

#endif

bool cfutures_set_thread_pointer(void *pointer, void (*destroy)(void *)) {
  if (!registerEnd(pointer)) return false;
  slot.pointer = pointer;
  slot.destroy = destroy;
  return true;
}

// MARK: - Dispatch queues

#if defined(__APPLE__)

bool cfutures_is_on_main_thread(void) { return pthread_main_np() != 0; }

extern void *dispatch_get_specific(const void *key);
extern const char *object_getClassName(const void *object);

// Without a key nothing tells which queue is current. It can be a serial one, so the result is true.
bool cfutures_is_on_serial_queue(const void *queue, const void *key) {
  return !key || (strstr(object_getClassName(queue), "queue_serial") && dispatch_get_specific(key));
}

#elif defined(__linux__)

typedef struct {
  void *identity;
  uintptr_t implementation;
} Executor;

extern Executor swift_task_getCurrentExecutor(void) __attribute__((swiftcall));
extern Executor swift_task_getMainExecutor(void) __attribute__((swiftcall));

bool cfutures_is_on_main_thread(void) {
  return syscall(SYS_gettid) == getpid() || swift_task_getCurrentExecutor().identity == swift_task_getMainExecutor().identity;
}

extern void *dispatch_get_current_queue(void);
extern void *dispatch_queue_get_specific(void *queue, const void *key);

// The beginning of the table that libdispatch exports for debuggers.
extern const struct {
  uint16_t version, label, labelSize, flags, flagsSize, serialNumber, serialNumberSize, width, widthSize;
} dispatch_queue_offsets __attribute__((weak));

bool cfutures_is_on_serial_queue(const void *queue, const void *key) {
  (void)queue;
  if (!&dispatch_queue_offsets || dispatch_queue_offsets.widthSize != sizeof(uint16_t)) return false;
  void *current = dispatch_get_current_queue();
  uint16_t width;
  memcpy(&width, (const char *)current + dispatch_queue_offsets.width, sizeof width);
  return width == 1 && (!key || dispatch_queue_get_specific(current, key));
}

#else

bool cfutures_is_on_main_thread(void) { return false; }

bool cfutures_is_on_serial_queue(const void *queue, const void *key) {
  (void)queue, (void)key;
  return false;
}

#endif

// MARK: - Standard error

#if defined(_WIN32)

// Returns the number of bytes that were written; zero or less after an error.
static ptrdiff_t writeSome(const char *bytes, size_t count) {
  DWORD most = count < 0x10000 ? (DWORD)count : 0x10000;
  DWORD written = 0;
  return WriteFile(GetStdHandle(STD_ERROR_HANDLE), bytes, most, &written, NULL) ? (ptrdiff_t)written : -1;
}

#else

// Returns the number of bytes that were written; zero or less after an error.
static ptrdiff_t writeSome(const char *bytes, size_t count) {
  while (true) {
    ssize_t written = write(STDERR_FILENO, bytes, count);
    if (written >= 0) return written;
    // Another process can make a shared terminal or pipe non-blocking.
    if (errno == EAGAIN) poll(&(struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT}, 1, -1);
    else if (errno != EINTR) return -1;
  }
}

#endif

void cfutures_write_to_standard_error(const void *bytes, size_t count) {
  const char *next = bytes;
  while (count > 0) {
    ptrdiff_t written = writeSome(next, count);
    if (written <= 0) return;
    next += written;
    count -= (size_t)written;
  }
}
