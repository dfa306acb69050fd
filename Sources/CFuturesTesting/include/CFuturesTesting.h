// Functions of the system and the Swift runtime for `exploreOrders` that Swift cannot express. Not part of the public API.
#ifndef CFUTURESTESTING_H
#define CFUTURESTESTING_H

#include <stdbool.h>

/// How work leaves a run.
enum {
  cfuturestesting_queue,
  cfuturestesting_timer,
  cfuturestesting_notification,
  cfuturestesting_run_loop,
  cfuturestesting_sync,
  cfuturestesting_source,
  cfuturestesting_thread,
};

/// The functions that get the work of the runs.
struct cfuturestesting_hooks {
  /// Gets each job that a thread enqueues on the global executor, and the thread's run. Returns whether a run has taken the job.
  bool (*_Nonnull enqueue)(void *_Nullable run, void *_Nonnull job);

  /// Gets the blocks and jobs that a thread with a run submits to the main queue, at once or as a timer, and the jobs that go past
  /// the hook of the runtime.
  void (*_Nonnull submit)(void *_Nonnull run, bool isOnMain, long long nanoseconds, bool isJob, void *_Nonnull context);

  /// Gets work that leaves the run of the thread, or that the outside work `origin` submits; and the group whose end it waits for.
  /// Returns an object for the work, retained, or null if the run is over.
  void *_Nullable (*_Nonnull leave)(void *_Nullable run, void *_Nullable origin, int kind, const char *_Nullable label,
                                    void *_Nullable group);

  /// Called before the work runs, on its thread. Returns whether it can run: a timer waits for the end of its run.
  bool (*_Nonnull begin)(void *_Nonnull work);

  /// Called after the work; releases the object.
  void (*_Nonnull end)(void *_Nonnull work);
};

/// Installs the hooks, for the whole process; call it once. Returns whether they see the main queue, the time, and outside work.
bool cfuturestesting_install(struct cfuturestesting_hooks hooks);

/// Returns the run that this thread executes, or null.
void *_Nullable cfuturestesting_run(void);

/// Sets the run that this thread executes; null ends it.
void cfuturestesting_set_run(void *_Nullable run);

/// Returns the real time of `ContinuousClock` in nanoseconds; zero where the time of that clock cannot be set.
long long cfuturestesting_real_time(void);

/// Sets the time of `ContinuousClock`, `SuspendingClock` and `DispatchTime` on this thread, in nanoseconds; -1 is the real time.
void cfuturestesting_set_time(long long nanoseconds);

/// Returns whether a Dispatch group has no work, so that its notifications run.
bool cfuturestesting_is_empty(void *_Nonnull group);

/// Stores the return addresses of the call stack, and returns how many there are. With glibc only, as the next function.
int cfuturestesting_stack(void *_Nullable *_Nonnull addresses, int count);

/// Returns the path of the image with an address, and stores where it begins; null if that is not known.
const char *_Nullable cfuturestesting_image(unsigned long address, unsigned long *_Nonnull start);

/// Returns the system's number of this thread; zero where `cfuturestesting_sleeps` does not work.
int cfuturestesting_thread_number(void);

/// Returns whether a thread waits for something.
bool cfuturestesting_sleeps(int thread);

#endif
