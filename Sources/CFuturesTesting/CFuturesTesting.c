#include "CFuturesTesting.h"

#include <stddef.h>

static _Thread_local void *currentRun;

void *cfuturestesting_run(void) { return currentRun; }

void cfuturestesting_set_run(void *run) { currentRun = run; }

#if defined(__ELF__) || defined(__APPLE__)

// The hook of the Swift runtime for a test library that executes the jobs of unstructured tasks: `Task { }` does not inherit an
// executor preference (SE-0417). swift-async-algorithms and swift-concurrency-extras use it for the same purpose.
typedef __attribute__((swiftcall)) void (*EnqueueOriginal)(void *job);
typedef __attribute__((swiftcall)) void (*EnqueueHook)(void *job, EnqueueOriginal original);

// Weak: null in a runtime without the hook.
extern EnqueueHook swift_task_enqueueGlobal_hook __attribute__((weak));

static void (*enqueueInRun)(void *run, void *job);
static EnqueueHook previousHook;

static __attribute__((swiftcall)) void enqueueGlobal(void *job, EnqueueOriginal original) {
  if (currentRun) enqueueInRun(currentRun, job);
  else if (previousHook) previousHook(job, original);
  else original(job);
}

bool cfuturestesting_divert_jobs(void (*enqueue)(void *run, void *job)) {
  if (&swift_task_enqueueGlobal_hook == NULL) return false;
  enqueueInRun = enqueue;
  previousHook = swift_task_enqueueGlobal_hook;
  // Never removed: a thread without a run takes the usual way.
  swift_task_enqueueGlobal_hook = enqueueGlobal;
  return true;
}

#else

bool cfuturestesting_divert_jobs(void (*enqueue)(void *run, void *job)) {
  (void)enqueue;
  return false;
}

#endif
