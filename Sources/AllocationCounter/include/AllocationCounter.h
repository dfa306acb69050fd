#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// The allocations and releases since the start of the process or of the thread.
///
/// Compare two readings; a single reading has no meaning. The bytes are the usable size of each block
/// (`malloc_usable_size`), so a request for 17 bytes counts as 24 with glibc. Under a sanitizer the requested size
/// counts.
typedef struct AllocationCounts {
  /// Calls that returned memory: `malloc`, `calloc`, `memalign` and similar functions, and each `realloc`.
  int64_t allocations;
  /// The bytes that those calls returned.
  int64_t allocatedBytes;
  /// Allocated blocks that are not freed. Negative for a thread that frees blocks of other threads.
  int64_t liveBlocks;
  /// The bytes in those blocks.
  int64_t liveBytes;
} AllocationCounts;

/// Whether this build counts: on Linux with glibc, and under the sanitizers. Elsewhere all counts stay zero.
bool allocationCountsAreSupported(void) __attribute__((swift_name("getter:AllocationCounts.areSupported()")));

/// The counts of all threads together.
AllocationCounts allocationCountsOfProcess(void) __attribute__((swift_name("AllocationCounts.ofProcess()")));

/// The counts of the calling thread. Use them while other threads work, as in tests.
AllocationCounts allocationCountsOfThread(void) __attribute__((swift_name("AllocationCounts.ofThread()")));

/// Turns counting on or off for all threads; it is on at first.
///
/// While it is off, `malloc` costs one more predictable branch than without this target, so times can be measured.
/// The counts then miss all allocations and releases. Compare only readings without such a gap between them.
void allocationCountsSetEnabled(bool enabled) __attribute__((swift_name("AllocationCounts.setEnabled(_:)")));

#endif
