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

/// Returns the real time of `ContinuousClock` in nanoseconds; zero where it cannot be set.
long long cfuturestesting_real_time(void);

/// Sets the time of `ContinuousClock` on this thread, in nanoseconds; a negative number is the real time.
///
/// Linux only: elsewhere it does nothing.
void cfuturestesting_set_time(long long nanoseconds);

/// Passes each piece of work that a thread with a run submits to the main queue to `submit`, with the run of the thread.
///
/// The code of `submit` calls `cfuturestesting_on_main` to run the work. Returns whether that is possible: Linux, and Dispatch as a
/// shared library. Call it once.
bool cfuturestesting_divert_main(void (*_Nonnull submit)(void *_Nonnull run, void *_Nullable context,
                                                         void (*_Nonnull work)(void *_Nullable)));

/// Returns whether `work` of the main queue runs a job of the Swift runtime, which is then the context of the work.
bool cfuturestesting_is_job(void (*_Nonnull work)(void *_Nullable));

/// Submits work to the main queue itself.
void cfuturestesting_on_main(void *_Nullable context, void (*_Nonnull work)(void *_Nullable));

#endif
