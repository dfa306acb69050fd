#define _GNU_SOURCE
#include "CFuturesTesting.h"

#include <stddef.h>
#if __has_include(<features.h>)
#include <features.h>  // declares __GLIBC__
#endif
#if defined(__GLIBC__)
#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

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

// MARK: - Time and the main queue

typedef void (*Work)(void *context);

static _Thread_local long long frozenTime = -1;

void cfuturestesting_set_time(long long nanoseconds) { frozenTime = nanoseconds; }

#if defined(__GLIBC__)

// The functions of this part replace those of the shared libraries, for the whole process: a symbol of the executable comes first.
// On threads without a run they only call the original. They are weak: an executable with a static Dispatch has its own.

typedef int (*ClockGetTime)(clockid_t, struct timespec *);

__attribute__((weak)) int clock_gettime(clockid_t clock, struct timespec *time) {
  // Only the clock of `ContinuousClock`: Dispatch and Foundation use others.
  if (clock == CLOCK_BOOTTIME && frozenTime >= 0) {
    time->tv_sec = frozenTime / 1000000000;
    time->tv_nsec = frozenTime % 1000000000;
    return 0;
  }
  static ClockGetTime original;
  // Relaxed: each thread finds the same function.
  ClockGetTime function = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (!function) {
    function = (ClockGetTime)dlsym(RTLD_NEXT, "clock_gettime");
    if (!function) return (int)syscall(SYS_clock_gettime, clock, time);
    __atomic_store_n(&original, function, __ATOMIC_RELAXED);
  }
  return function(clock, time);
}

long long cfuturestesting_real_time(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &time);
  return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

extern char _dispatch_main_q[] __attribute__((weak));
extern void *_Block_copy(const void *) __attribute__((weak));
extern void _Block_release(const void *) __attribute__((weak));

static void (*submitInRun)(void *run, void *context, Work work);

typedef void (*AsyncFunction)(void *queue, void *context, Work work);
typedef void (*AsyncBlock)(void *queue, void *block);

static bool isMainOfRun(void *queue) { return currentRun && submitInRun && queue == (void *)_dispatch_main_q; }

static AsyncFunction originalAsyncFunction(void) {
  static AsyncFunction original;
  AsyncFunction function = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (!function) {
    function = (AsyncFunction)dlsym(RTLD_NEXT, "dispatch_async_f");
    __atomic_store_n(&original, function, __ATOMIC_RELAXED);
  }
  return function;
}

// The jobs of the main actor come here.
__attribute__((weak)) void dispatch_async_f(void *queue, void *context, Work work) {
  if (isMainOfRun(queue)) submitInRun(currentRun, context, work);
  else originalAsyncFunction()(queue, context, work);
}

struct Block {
  void *class;
  int flags;
  int reserved;
  void (*invoke)(struct Block *);
};

static void runBlock(void *context) {
  struct Block *block = context;
  block->invoke(block);
  _Block_release(block);
}

__attribute__((weak)) void dispatch_async(void *queue, void *block) {
  static AsyncBlock original;
  if (isMainOfRun(queue)) return submitInRun(currentRun, _Block_copy(block), runBlock);
  AsyncBlock function = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (!function) {
    function = (AsyncBlock)dlsym(RTLD_NEXT, "dispatch_async");
    __atomic_store_n(&original, function, __ATOMIC_RELAXED);
  }
  function(queue, block);
}

bool cfuturestesting_divert_main(void (*submit)(void *run, void *context, Work work)) {
  bool isFirst = dlsym(RTLD_DEFAULT, "dispatch_async_f") == (void *)dispatch_async_f &&
                 dlsym(RTLD_DEFAULT, "dispatch_async") == (void *)dispatch_async;
  if (!isFirst || !_dispatch_main_q || !_Block_copy || !originalAsyncFunction()) return false;
  submitInRun = submit;
  return true;
}

bool cfuturestesting_is_job(Work work) {
  Dl_info ofWork, ofRuntime;
  return dladdr((void *)work, &ofWork) && dladdr((void *)&swift_task_enqueueGlobal_hook, &ofRuntime) &&
         ofWork.dli_fbase == ofRuntime.dli_fbase;
}

void cfuturestesting_on_main(void *context, Work work) { originalAsyncFunction()(_dispatch_main_q, context, work); }

#else

long long cfuturestesting_real_time(void) { return 0; }

bool cfuturestesting_divert_main(void (*submit)(void *run, void *context, Work work)) {
  (void)submit;
  return false;
}

bool cfuturestesting_is_job(Work work) {
  (void)work;
  return false;
}

void cfuturestesting_on_main(void *context, Work work) { work(context); }

#endif
