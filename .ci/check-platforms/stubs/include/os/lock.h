#pragma once
#include <stdbool.h>
#define OS_LOCK_AVAILABILITY \
  __attribute__((availability(macos,introduced=10.12),availability(ios,introduced=10.0), \
                 availability(tvos,introduced=10.0),availability(watchos,introduced=3.0)))
typedef struct os_unfair_lock_s { unsigned _os_unfair_lock_opaque; } os_unfair_lock, *os_unfair_lock_t;
#define OS_UNFAIR_LOCK_INIT ((os_unfair_lock){0})
OS_LOCK_AVAILABILITY void os_unfair_lock_lock(os_unfair_lock_t _Nonnull lock);
OS_LOCK_AVAILABILITY bool os_unfair_lock_trylock(os_unfair_lock_t _Nonnull lock);
OS_LOCK_AVAILABILITY void os_unfair_lock_unlock(os_unfair_lock_t _Nonnull lock);
OS_LOCK_AVAILABILITY void os_unfair_lock_assert_owner(const os_unfair_lock *_Nonnull lock);
