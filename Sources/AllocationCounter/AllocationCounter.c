#include "AllocationCounter.h"

#include <stdatomic.h>
#include <stddef.h>
#if defined(__linux__)
#include <errno.h>
#include <stdlib.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS_BY_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTS_BY_SANITIZER 1
#endif
#endif

#if !defined(COUNTS_BY_SANITIZER) && defined(__GLIBC__)
#define COUNTS_BY_INTERPOSITION 1
#endif

// All atomic operations are relaxed: each counter is a sum that orders nothing. A reader that needs the counts of
// another thread has synchronised with that thread before.
static atomic_bool isEnabled = true;

static struct {
  atomic_int_least64_t allocations, allocatedBytes, frees, freedBytes;
} process;

#if defined(COUNTS_BY_INTERPOSITION)
// This TLS model reads a fixed offset from the thread pointer. The default model can call malloc.
__attribute__((tls_model("initial-exec")))
#endif
static _Thread_local struct {
  int64_t allocations, allocatedBytes, frees, freedBytes;
} thread;

#if defined(COUNTS_BY_INTERPOSITION) || defined(COUNTS_BY_SANITIZER)
static void countAllocation(size_t bytes) {
  thread.allocations += 1;
  thread.allocatedBytes += (int64_t)bytes;
  atomic_fetch_add_explicit(&process.allocations, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&process.allocatedBytes, (int64_t)bytes, memory_order_relaxed);
}

static void countFree(size_t bytes) {
  thread.frees += 1;
  thread.freedBytes += (int64_t)bytes;
  atomic_fetch_add_explicit(&process.frees, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&process.freedBytes, (int64_t)bytes, memory_order_relaxed);
}

static bool counts(void) { return atomic_load_explicit(&isEnabled, memory_order_relaxed); }
#endif

bool allocationCountsAreSupported(void) {
#if defined(COUNTS_BY_INTERPOSITION) || defined(COUNTS_BY_SANITIZER)
  return true;
#else
  return false;
#endif
}

AllocationCounts allocationCountsOfProcess(void) {
  int64_t allocations = atomic_load_explicit(&process.allocations, memory_order_relaxed);
  int64_t allocatedBytes = atomic_load_explicit(&process.allocatedBytes, memory_order_relaxed);
  int64_t frees = atomic_load_explicit(&process.frees, memory_order_relaxed);
  int64_t freedBytes = atomic_load_explicit(&process.freedBytes, memory_order_relaxed);
  return (AllocationCounts){allocations, allocatedBytes, allocations - frees, allocatedBytes - freedBytes};
}

AllocationCounts allocationCountsOfThread(void) {
  return (AllocationCounts){thread.allocations, thread.allocatedBytes, thread.allocations - thread.frees,
                            thread.allocatedBytes - thread.freedBytes};
}

void allocationCountsSetEnabled(bool enabled) { atomic_store_explicit(&isEnabled, enabled, memory_order_relaxed); }

#if defined(COUNTS_BY_INTERPOSITION)

// Every shared library in the process calls the executable's malloc instead of the C library's.
// Why not dlsym(RTLD_NEXT, "malloc")? dlsym allocates, even before the program starts. glibc exports its
// allocator under a second name, which needs no lookup at run time.
#include <malloc.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

// Counts a new block, and returns it; NULL is a failed allocation.
static void *counted(void *block) {
  if (block != NULL && counts()) countAllocation(malloc_usable_size(block));
  return block;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *block = counted(__libc_memalign(alignment, size));
  if (block == NULL) return ENOMEM;
  *result = block;
  return 0;
}

void *realloc(void *block, size_t size) {
  if (!counts()) return __libc_realloc(block, size);
  size_t before = block == NULL ? 0 : malloc_usable_size(block);
  void *moved = __libc_realloc(block, size);
  // glibc frees the block when the size is zero; otherwise NULL means that the block is unchanged.
  if (block != NULL && (moved != NULL || size == 0)) countFree(before);
  if (moved != NULL) countAllocation(malloc_usable_size(moved));
  return moved;
}

void free(void *block) {
  if (block != NULL && counts()) countFree(malloc_usable_size(block));
  __libc_free(block);
}

#elif defined(COUNTS_BY_SANITIZER)

// A sanitizer needs its own malloc to find errors, so its malloc stays in place. It calls these hooks.
extern size_t __sanitizer_get_allocated_size(const volatile void *);
extern int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                                     void (*)(const volatile void *));

static void didAllocate(const volatile void *block, size_t size) {
  if (counts()) countAllocation(size);
}

static void willFree(const volatile void *block) {
  if (block != NULL && counts()) countFree(__sanitizer_get_allocated_size(block));
}

__attribute__((constructor)) static void installHooks(void) {
  __sanitizer_install_malloc_and_free_hooks(didAllocate, willFree);
}

#endif
