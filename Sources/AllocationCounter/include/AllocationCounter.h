#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// What was allocated and freed since the process, or the thread, began.
///
/// Only differences between two readings mean something. Bytes are those the allocator set aside
/// (`malloc_usable_size`, or under a sanitizer the size asked for), so a request for 17 bytes counts as 24 with glibc.
typedef struct AllocationCounts {
  /// Calls that returned memory: `malloc`, `calloc`, `memalign` and their like, and `realloc` whether it moved or not.
  int64_t allocations;
  /// The bytes that those calls returned.
  int64_t allocatedBytes;
  /// Blocks allocated and not yet freed. On one thread: less than zero where it frees what others allocated.
  int64_t liveBlocks;
  /// The bytes in those blocks.
  int64_t liveBytes;
} AllocationCounts;

/// Whether this build counts: yes on Linux with glibc and under the sanitizers, elsewhere all counts stay zero.
bool allocationCountsAreSupported(void) __attribute__((swift_name("getter:AllocationCounts.areSupported()")));

/// The counts of all threads together.
AllocationCounts allocationCountsOfProcess(void) __attribute__((swift_name("AllocationCounts.ofProcess()")));

/// The counts of the calling thread alone: the ones to use where other threads may be at work, as in tests.
AllocationCounts allocationCountsOfThread(void) __attribute__((swift_name("AllocationCounts.ofThread()")));

/// Switches counting, which is on at first, for all threads.
///
/// Switched off, `malloc` costs one predictable branch more than without this target, so that times can be measured.
/// What is allocated or freed meanwhile is missing from every count: compare only readings with no such gap between.
void allocationCountsSetEnabled(bool enabled) __attribute__((swift_name("AllocationCounts.setEnabled(_:)")));

#endif
