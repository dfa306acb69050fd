// Functions of the system and the Swift runtime for `exploreOrders` that Swift cannot express. Not part of the public
// API.
#ifndef CFUTURESTESTING_H
#define CFUTURESTESTING_H

#include <stdbool.h>

/// Returns the run that this thread executes, or null.
void *_Nullable cfuturestesting_run(void);

/// Sets the run that this thread executes; null ends it.
void cfuturestesting_set_run(void *_Nullable run);

/// Passes each job that a thread with a run enqueues on the global executor to `enqueue`, with the run of the thread.
///
/// While a run is active, `enqueueOutside` gets each job of other threads. It returns whether a run has taken the job,
/// because the job's task belongs to that run. Returns whether the runtime has the hook for this. Call it once.
bool cfuturestesting_divert_jobs(void (*_Nonnull enqueue)(void *_Nonnull run, void *_Nonnull job),
                                 bool (*_Nonnull enqueueOutside)(void *_Nonnull job));

/// Adds to the number of active runs.
void cfuturestesting_add_runs(int count);

/// Returns the real time of `ContinuousClock` in nanoseconds; zero where the time of that clock cannot be set.
long long cfuturestesting_real_time(void);

/// Sets the time of `ContinuousClock` on this thread, in nanoseconds, and that of `SuspendingClock` and `DispatchTime`.
///
/// A negative number is the real time.
///
/// Linux only: elsewhere it does nothing.
void cfuturestesting_set_time(long long nanoseconds);

/// Passes each piece of work that a thread with a run submits to the main queue to `submit`, with the run of the thread.
///
/// The code of `submit` calls `cfuturestesting_on_main` to run the work. Returns whether that is possible: Linux, and Dispatch as a
/// shared library. Call it once.
bool cfuturestesting_divert_main(void (*_Nonnull submit)(void *_Nonnull run, void *_Nullable context,
                                                         void (*_Nonnull work)(void *_Nullable)),
                                 void (*_Nonnull submitAfter)(void *_Nonnull run, long long nanoseconds,
                                                              void *_Nullable context,
                                                              void (*_Nonnull work)(void *_Nullable)));

/// Releases work of the main queue that never runs, if it is a block.
void cfuturestesting_drop(void *_Nullable context, void (*_Nonnull work)(void *_Nullable));

/// Returns whether `work` of the main queue runs a job of the Swift runtime, which is then the context of the work.
bool cfuturestesting_is_job(void (*_Nonnull work)(void *_Nullable));

/// How work leaves a run.
enum {
  cfuturestesting_queue = 0,
  cfuturestesting_timer = 1,
  cfuturestesting_notification = 2,
  cfuturestesting_source = 3,
  cfuturestesting_thread = 4,
  cfuturestesting_iterations = 5,
  cfuturestesting_run_loop_block = 6,
  cfuturestesting_run_loop_timer = 7,
  cfuturestesting_main_sync = 8,
};

/// Observes work that leaves the runs: for Dispatch queues, Dispatch sources, threads and run loops.
///
/// `leave` gets the run of the thread, or the outside work that this thread executes, the kind, the label of the queue, and
/// the group whose end the work waits for. It returns an object for the work, retained, or null if the run is over.
/// `begin` is called before the work runs, on the thread of the work. `isOver` returns whether the run of the work is over,
/// and `end` releases the object.
/// Returns whether that is possible: Linux, Dispatch as a shared library, no sanitizer. Call it once.
bool cfuturestesting_observe_outside(void *_Nullable (*_Nonnull leave)(void *_Nullable run, void *_Nullable origin,
                                                                       int kind, const char *_Nullable label,
                                                                       void *_Nullable group),
                                     void (*_Nonnull begin)(void *_Nonnull work),
                                     bool (*_Nonnull isOver)(void *_Nonnull work),
                                     void (*_Nonnull end)(void *_Nonnull work));

/// Returns whether a Dispatch group has no work, so that its notifications run.
bool cfuturestesting_is_empty(void *_Nonnull group);

/// Returns the outside work that this thread executes, or null.
void *_Nullable cfuturestesting_origin(void);

/// Stores the return addresses of the call stack, and returns how many there are.
int cfuturestesting_stack(void *_Nullable *_Nonnull addresses, int count);

/// Returns the system's number of this thread; zero where `cfuturestesting_sleeping` does not work.
int cfuturestesting_thread_number(void);

/// Returns the processor time of a thread that waits for something, in ticks; -1 if it runs, or if the system does not tell.
long long cfuturestesting_sleeping(int thread);

/// Submits work to the main queue itself.
void cfuturestesting_on_main(void *_Nullable context, void (*_Nonnull work)(void *_Nullable));

#endif
