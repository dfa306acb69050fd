#define _GNU_SOURCE
#include "CFuturesTesting.h"

#include <stddef.h>
#include "Outside.h"
#if __has_include(<features.h>)
#include <features.h>  // declares __GLIBC__
#endif
#if defined(__GLIBC__)
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
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
static bool (*enqueueFromOutside)(void *job);
static int activeRuns;
static EnqueueHook previousHook;

// Relaxed: a thread that resumes a task of a run got that task from a thread of the run.
void cfuturestesting_add_runs(int count) { __atomic_fetch_add(&activeRuns, count, __ATOMIC_RELAXED); }

static __attribute__((swiftcall)) void enqueueGlobal(void *job, EnqueueOriginal original) {
  if (currentRun) return enqueueInRun(currentRun, job);
  if (__atomic_load_n(&activeRuns, __ATOMIC_RELAXED) > 0 && enqueueFromOutside(job)) return;
  if (previousHook) previousHook(job, original);
  else original(job);
}

bool cfuturestesting_divert_jobs(void (*enqueue)(void *run, void *job), bool (*enqueueOutside)(void *job)) {
  if (&swift_task_enqueueGlobal_hook == NULL) return false;
  enqueueInRun = enqueue;
  enqueueFromOutside = enqueueOutside;
  previousHook = swift_task_enqueueGlobal_hook;
  // The hook is never removed. For a thread without a run it calls `original`.
  swift_task_enqueueGlobal_hook = enqueueGlobal;
  return true;
}

#else

bool cfuturestesting_divert_jobs(void (*enqueue)(void *run, void *job), bool (*enqueueOutside)(void *job)) {
  (void)enqueue, (void)enqueueOutside;
  return false;
}

void cfuturestesting_add_runs(int count) { (void)count; }

#endif

// MARK: - Time and the main queue

static _Thread_local long long frozenTime = -1;

void cfuturestesting_set_time(long long nanoseconds) { frozenTime = nanoseconds; }

#if defined(__GLIBC__)

// The functions of this part replace functions of the shared libraries, for the whole process: a symbol of the
// executable comes first. On threads without a run, the replacements only call the original functions. The replacements
// are weak symbols: an executable with a static Dispatch has its own functions.

typedef int (*ClockGetTime)(clockid_t, struct timespec *);

static struct timespec timespecOf(int64_t nanoseconds) {
  return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

// Whether an address is in the library with Swift's clocks. False if that library is a part of the executable.
static bool isInConcurrency(void *address) {
  Dl_info caller, clocks, own;
  void *function = dlsym(RTLD_DEFAULT, "swift_get_time");
  return function && dladdr(address, &caller) && dladdr(function, &clocks) && dladdr((void *)isInConcurrency, &own) &&
         caller.dli_fbase == clocks.dli_fbase && clocks.dli_fbase != own.dli_fbase;
}

long long cfuturestesting_real_time(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &time);
  return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

// The distance from the clock of `ContinuousClock` to that of `SuspendingClock` and Dispatch, which stops while the machine sleeps.
static int64_t offsetOfSuspending(void) {
  static int64_t offset;
  int64_t known = __atomic_load_n(&offset, __ATOMIC_RELAXED);
  if (known) return known;
  struct timespec time;
  long long other = cfuturestesting_real_time();
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);  // read second: no time in a run is before its start
  known = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec - other;
  int64_t none = 0;
  bool isFirst = __atomic_compare_exchange_n(&offset, &none, known, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return isFirst ? known : none;
}

__attribute__((weak)) int clock_gettime(clockid_t clock, struct timespec *time) {
  if (frozenTime >= 0) {
    if (clock == CLOCK_BOOTTIME) {
      *time = timespecOf(frozenTime);
      return 0;
    }
    // The clock of `SuspendingClock`. Dispatch and Foundation use it too, and wait with it.
    if (clock == CLOCK_MONOTONIC && isInConcurrency(__builtin_return_address(0))) {
      *time = timespecOf(frozenTime + offsetOfSuspending());
      return 0;
    }
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

typedef uint64_t (*DispatchTime)(uint64_t base, int64_t delta);

// `DispatchTime.now()` stands still in a move too: a deadline is as far away as the code says.
static uint64_t dispatchTime(uint64_t base, int64_t delta) {
  static DispatchTime original;
  DispatchTime function = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (!function) {
    function = (DispatchTime)dlsym(RTLD_NEXT, "dispatch_time");
    __atomic_store_n(&original, function, __ATOMIC_RELAXED);
  }
  if (base == 0 && frozenTime >= 0) base = (uint64_t)(frozenTime + offsetOfSuspending());
  return function(base, delta);
}

__attribute__((weak, alias("dispatchTime"))) uint64_t dispatch_time(uint64_t base, int64_t delta);

extern char _dispatch_main_q[] __attribute__((weak));
extern void *_Block_copy(const void *) __attribute__((weak));
extern void _Block_release(const void *) __attribute__((weak));

extern uint64_t dispatch_walltime(const struct timespec *base, int64_t delta) __attribute__((weak));

static void (*submitInRun)(void *run, void *context, Work work);
static void (*submitInRunAfter)(void *run, long long nanoseconds, void *context, Work work);

typedef void (*AsyncFunction)(void *queue, void *context, Work work);
typedef void (*AsyncBlock)(void *queue, void *block);

bool isMainQueue(void *queue) { return queue == (void *)_dispatch_main_q; }

static bool isMainOfRun(void *queue) { return currentRun && submitInRun && isMainQueue(queue); }

bool submitMainAfter(uint64_t when, void *queue, void *context, Work work) {
  if (!isMainOfRun(queue)) return false;
  bool isForever = when == UINT64_MAX;
  // Dispatch counts real time downwards from zero.
  bool isRealTime = (int64_t)when < 0;
  int64_t delay = isRealTime ? (int64_t)(dispatch_walltime(NULL, 0) - when) : (int64_t)(when - dispatch_time(0, 0));
  submitInRunAfter(currentRun, isForever ? INT64_MAX : delay, context, work);
  return true;
}

static AsyncFunction originalAsyncFunction(void) {
  static AsyncFunction original;
  AsyncFunction function = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (!function) {
    function = (AsyncFunction)dlsym(RTLD_NEXT, "dispatch_async_f");
    __atomic_store_n(&original, function, __ATOMIC_RELAXED);
  }
  return function;
}

// The public names are aliases, so that `cfuturestesting_divert_main` can see whether a sanitizer's weak symbols come
// first.
static void asyncFunction(void *queue, void *context, Work work) {
  // The jobs of the main actor come here.
  if (isMainOfRun(queue)) submitInRun(currentRun, context, work);
  else if (isOnThreadOfRun()) submitOutside(queue, context, work);
  else originalAsyncFunction()(queue, context, work);
}

__attribute__((weak, alias("asyncFunction"))) void dispatch_async_f(void *queue, void *context, Work work);

void runBlock(void *context) {
  struct Block *block = context;
  block->invoke(block);
  _Block_release(block);
}

static void asyncBlock(void *queue, void *block) {
  static AsyncBlock original;
  if (isMainOfRun(queue)) return submitInRun(currentRun, _Block_copy(block), runBlock);
  if (isOnThreadOfRun()) return submitBlockOutside(queue, block);
  AsyncBlock function = __atomic_load_n(&original, __ATOMIC_RELAXED);
  if (!function) {
    function = (AsyncBlock)dlsym(RTLD_NEXT, "dispatch_async");
    __atomic_store_n(&original, function, __ATOMIC_RELAXED);
  }
  function(queue, block);
}

__attribute__((weak, alias("asyncBlock"))) void dispatch_async(void *queue, void *block);

bool cfuturestesting_divert_main(void (*submit)(void *run, void *context, Work work),
                                 void (*submitAfter)(void *run, long long nanoseconds, void *context, Work work)) {
  bool isFirst = dlsym(RTLD_DEFAULT, "dispatch_async_f") == (void *)asyncFunction &&
                 dlsym(RTLD_DEFAULT, "dispatch_async") == (void *)asyncBlock;
  if (!isFirst || !_dispatch_main_q || !_Block_copy || !originalAsyncFunction()) return false;
  submitInRun = submit;
  submitInRunAfter = submitAfter;
  return true;
}

void cfuturestesting_drop(void *context, Work work) {
  if (work == runBlock) _Block_release(context);
}

bool cfuturestesting_is_job(Work work) {
  Dl_info ofWork, ofRuntime;
  return dladdr((void *)work, &ofWork) && dladdr((void *)&swift_task_enqueueGlobal_hook, &ofRuntime) &&
         ofWork.dli_fbase == ofRuntime.dli_fbase;
}

void cfuturestesting_async(void *queue, void *context, Work work) { originalAsyncFunction()(queue, context, work); }

void cfuturestesting_on_main(void *context, Work work) { originalAsyncFunction()(_dispatch_main_q, context, work); }

int cfuturestesting_thread_number(void) { return (int)syscall(SYS_gettid); }

long long cfuturestesting_sleeping(int thread) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  FILE *file = fopen(path, "re");
  if (!file) return -1;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  // The thread's name, which stands before the last ")", can contain any character.
  const char *rest = strrchr(text, ')');
  unsigned long long user, kernel;
  char state;
  if (!rest || sscanf(rest, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &state, &user, &kernel) != 3) return -1;
  return state == 'S' || state == 'D' ? (long long)(user + kernel) : -1;
}

#else

int cfuturestesting_thread_number(void) { return 0; }

long long cfuturestesting_sleeping(int thread) {
  (void)thread;
  return -1;
}

long long cfuturestesting_real_time(void) { return 0; }

bool cfuturestesting_divert_main(void (*submit)(void *run, void *context, Work work),
                                 void (*submitAfter)(void *run, long long nanoseconds, void *context, Work work)) {
  (void)submit, (void)submitAfter;
  return false;
}

void cfuturestesting_drop(void *context, Work work) { (void)context, (void)work; }

bool cfuturestesting_is_job(Work work) {
  (void)work;
  return false;
}

void cfuturestesting_on_main(void *context, Work work) { work(context); }

#endif
