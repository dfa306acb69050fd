// Functions of the system and the Swift runtime for `exploreOrders` that Swift cannot express. Not part of the public API.
#ifndef CFUTURESTESTING_H
#define CFUTURESTESTING_H

#include <stdbool.h>

typedef void (*cfuturestesting_work)(void *_Nullable context);

/// How work leaves a run.
enum {
  cfuturestesting_queue,
  cfuturestesting_timer,
  cfuturestesting_notification,
  cfuturestesting_source,
  cfuturestesting_thread,
  cfuturestesting_iterations,
  cfuturestesting_run_loop_block,
  cfuturestesting_run_loop_timer,
  cfuturestesting_sync,
};

/// The functions that hear of the work of the runs.
struct cfuturestesting_hooks {
  /// Gets each job that a thread with a run enqueues on the global executor.
  void (*_Nonnull enqueue)(void *_Nonnull run, void *_Nonnull job);

  /// Gets each such job of other threads while a run is active, and returns whether a run has taken the job.
  bool (*_Nonnull enqueueFromOutside)(void *_Nonnull job);

  /// Gets the work that a thread with a run submits to the main queue, and runs it by `cfuturestesting_on_main`.
  void (*_Nonnull submitOnMain)(void *_Nonnull run, void *_Nullable context, cfuturestesting_work _Nonnull work);

  /// Gets the timers of the main queue, and of sleeping tasks.
  void (*_Nonnull submitAfter)(void *_Nonnull run, bool isOnMain, long long nanoseconds, void *_Nullable context,
                               cfuturestesting_work _Nonnull work);

  /// Gets work that leaves the run of the thread, or that the outside work `origin` submits; and the group whose end it waits for.
  /// Returns an object for the work, retained, or null if the run is over.
  void *_Nullable (*_Nonnull leave)(void *_Nullable run, void *_Nullable origin, int kind, const char *_Nullable label,
                                    void *_Nullable group);

  /// Called before the work runs, on its thread.
  void (*_Nonnull begin)(void *_Nonnull work);

  /// Returns whether the run of the work is over.
  bool (*_Nonnull isOver)(void *_Nonnull work);

  /// Called after the work; releases the object.
  void (*_Nonnull end)(void *_Nonnull work);
};

/// What the runs can see: jobs of `Task { }`, the main queue and the time, other work.
enum { cfuturestesting_sees_jobs = 1, cfuturestesting_sees_main = 2, cfuturestesting_sees_outside = 4 };

/// Installs the hooks, for the whole process. Returns what they see; call it once.
int cfuturestesting_install(struct cfuturestesting_hooks hooks);

/// Returns the run that this thread executes, or null.
void *_Nullable cfuturestesting_run(void);

/// Sets the run that this thread executes; null ends it.
void cfuturestesting_set_run(void *_Nullable run);

/// Returns the outside work that this thread executes, or null.
void *_Nullable cfuturestesting_origin(void);

/// Adds to the number of active runs.
void cfuturestesting_add_runs(int count);

/// Returns the real time of `ContinuousClock` in nanoseconds; zero where the time of that clock cannot be set.
long long cfuturestesting_real_time(void);

/// Sets the time of `ContinuousClock`, `SuspendingClock` and `DispatchTime` on this thread, in nanoseconds; -1 is the real time.
void cfuturestesting_set_time(long long nanoseconds);

/// Submits work to the main queue itself.
void cfuturestesting_on_main(void *_Nullable context, cfuturestesting_work _Nonnull work);

/// Releases work of the main queue that never runs, if it is a block.
void cfuturestesting_drop(void *_Nullable context, cfuturestesting_work _Nonnull work);

/// Returns whether `work` runs a job of the Swift runtime, which is then the context of the work.
bool cfuturestesting_is_job(cfuturestesting_work _Nonnull work);

/// Returns whether a Dispatch group has no work, so that its notifications run.
bool cfuturestesting_is_empty(void *_Nonnull group);

/// Stores the return addresses of the call stack, and returns how many there are.
int cfuturestesting_stack(void *_Nullable *_Nonnull addresses, int count);

/// Returns the path of the image with an address, and stores where it begins; null if that is not known.
const char *_Nullable cfuturestesting_image(unsigned long address, unsigned long *_Nonnull start);

/// Returns the system's number of this thread; zero where `cfuturestesting_sleeping` does not work.
int cfuturestesting_thread_number(void);

/// Returns the processor time of a thread that waits for something, in ticks; -1 if it runs, or if the system does not tell.
long long cfuturestesting_sleeping(int thread);

#endif
