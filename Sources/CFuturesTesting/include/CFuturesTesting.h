// What `exploreOrders` needs from the system and the Swift runtime, and Swift cannot express. Not part of the public API.
#ifndef CFUTURESTESTING_H
#define CFUTURESTESTING_H

#include <stdbool.h>

/// Returns the run that this thread executes, or null.
void *_Nullable cfuturestesting_run(void);

/// Sets the run that this thread executes; null ends it.
void cfuturestesting_set_run(void *_Nullable run);

/// Passes each job that a thread with a run enqueues on the global executor to `enqueue`, with the run of the thread.
///
/// Jobs of other threads are not affected. Returns whether the runtime has the hook for this. Call it once.
bool cfuturestesting_divert_jobs(void (*_Nonnull enqueue)(void *_Nonnull run, void *_Nonnull job));

#endif
