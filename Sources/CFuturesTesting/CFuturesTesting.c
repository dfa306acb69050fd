#define _GNU_SOURCE
#include "CFuturesTesting.h"

#include <stddef.h>
#include <stdint.h>
#if __has_include(<features.h>)
#include <features.h>  // declares __GLIBC__
#endif

typedef cfuturestesting_work Work;

static _Thread_local void *currentRun, *origin;
static struct cfuturestesting_hooks hooks;
static int seen;  // what the hooks see

void *cfuturestesting_run(void) { return currentRun; }

void cfuturestesting_set_run(void *run) { currentRun = run; }

void *cfuturestesting_origin(void) { return origin; }

// MARK: - Jobs of the Swift runtime

#if defined(__ELF__) || defined(__APPLE__)

// The hook of the Swift runtime for a test library that executes the jobs of unstructured tasks: `Task { }` does not inherit an
// executor preference (SE-0417). swift-async-algorithms and swift-concurrency-extras use it for the same purpose.
typedef __attribute__((swiftcall)) void (*EnqueueOriginal)(void *job);
typedef __attribute__((swiftcall)) void (*EnqueueHook)(void *job, EnqueueOriginal original);

// Weak: null in a runtime without the hook.
extern EnqueueHook swift_task_enqueueGlobal_hook __attribute__((weak));

static int activeRuns;
static EnqueueHook previousHook;

// Relaxed: a thread that resumes a task of a run got that task from a thread of the run.
void cfuturestesting_add_runs(int count) { __atomic_fetch_add(&activeRuns, count, __ATOMIC_RELAXED); }

static __attribute__((swiftcall)) void enqueueGlobal(void *job, EnqueueOriginal original) {
  if (currentRun) return hooks.enqueue(currentRun, job);
  if (__atomic_load_n(&activeRuns, __ATOMIC_RELAXED) > 0 && hooks.enqueueFromOutside(job)) return;
  if (previousHook) previousHook(job, original);
  else original(job);
}

// The hook is never removed. For a thread without a run it calls `original`.
static int installJobs(void) {
  if (&swift_task_enqueueGlobal_hook == NULL) return 0;
  previousHook = swift_task_enqueueGlobal_hook;
  swift_task_enqueueGlobal_hook = enqueueGlobal;
  return cfuturestesting_sees_jobs;
}

#else

void cfuturestesting_add_runs(int count) { (void)count; }

static int installJobs(void) { return 0; }

#endif

#if defined(__GLIBC__)
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The functions `name_` of this part replace functions of the shared libraries, for the whole process: a symbol of the executable
// comes first. On threads without a run they only call the original functions. They are weak symbols, because an executable with a
// static Dispatch has its own functions; and aliases, so that `install` can see whether a sanitizer's symbols come first.
#define REPLACE(name) extern __typeof__(name##_) name __attribute__((weak, alias(#name "_")));

// Finds the original function. Relaxed: each thread finds the same one.
#define FIND(variable, type, name) \
  static type found_##variable; \
  type variable = __atomic_load_n(&found_##variable, __ATOMIC_RELAXED); \
  if (!variable) { \
    variable = (type)dlsym(RTLD_NEXT, #name); \
    __atomic_store_n(&found_##variable, variable, __ATOMIC_RELAXED); \
  }
#define ORIGINAL(name) FIND(original, __typeof__(&name##_), name)

typedef void (*SubmitFunction)(void *queue, void *context, Work work);
typedef void (*SubmitOfGroup)(void *group, void *queue, void *context, Work work);

#define WEAK __attribute__((weak))
extern char _dispatch_main_q[] WEAK;
extern void *_Block_copy(const void *) WEAK;
extern void _Block_release(const void *) WEAK;
extern const char *dispatch_queue_get_label(void *queue) WEAK;
extern void *dispatch_get_global_queue(long identifier, unsigned long flags) WEAK;
extern long dispatch_group_wait(void *group, uint64_t timeout) WEAK;
extern void dispatch_retain(void *object) WEAK;
extern void dispatch_release(void *object) WEAK;
extern uint64_t dispatch_walltime(const struct timespec *base, int64_t delta) WEAK;

// MARK: - Time

static _Thread_local long long frozenTime = -1;

void cfuturestesting_set_time(long long nanoseconds) { frozenTime = nanoseconds; }

static int64_t nanosecondsOf(clockid_t clock) {
  struct timespec time;
  syscall(SYS_clock_gettime, clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

long long cfuturestesting_real_time(void) { return nanosecondsOf(CLOCK_BOOTTIME); }

// The distance from the clock of `ContinuousClock` to that of `SuspendingClock` and Dispatch, which stops while the machine sleeps.
static int64_t offsetOfSuspending;

// The library with Swift's clocks and jobs; null if it is a part of the executable.
static void *concurrency;

static void *imageOf(void *address) {
  Dl_info image;
  return address && dladdr(address, &image) ? image.dli_fbase : NULL;
}

static int clock_gettime_(clockid_t clock, struct timespec *time) {
  ORIGINAL(clock_gettime)
  bool isContinuous = clock == CLOCK_BOOTTIME;
  // The clock of `SuspendingClock`. Dispatch and Foundation use it too, and wait with it.
  bool isFrozen = frozenTime >= 0 && (isContinuous || (clock == CLOCK_MONOTONIC && concurrency &&
                                                       imageOf(__builtin_return_address(0)) == concurrency));
  if (!isFrozen) return original ? original(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
  int64_t now = frozenTime + (isContinuous ? 0 : offsetOfSuspending);
  *time = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
  return 0;
}
REPLACE(clock_gettime)

// `DispatchTime.now()` stands still in a move too: a deadline is as far away as the code says.
static uint64_t dispatch_time_(uint64_t base, int64_t delta) {
  ORIGINAL(dispatch_time)
  if (base == 0 && frozenTime >= 0) base = (uint64_t)(frozenTime + offsetOfSuspending);
  return original(base, delta);
}
REPLACE(dispatch_time)

// MARK: - Work that a run submits

struct Block {
  void *class;
  int flags;
  int reserved;
  void (*invoke)(struct Block *);
  struct {
    unsigned long reserved, size;
  } *descriptor;
  unsigned long magic, flagsOfItem;  // of a `DispatchWorkItem` only
};

// Whether a block belongs to a `DispatchWorkItem` with the flag for a barrier, which libdispatch keeps behind the block.
static bool isBarrier(void *context) {
  static const unsigned long magic = 0xD159B10C, barrier = 1;
  struct Block *block = context;
  return block->descriptor->size >= sizeof *block && block->magic == magic && (block->flagsOfItem & barrier);
}

static void runBlock(void *context) {
  struct Block *block = context;
  block->invoke(block);
  _Block_release(block);
}

// A call of Dispatch within Dispatch is no work of its own.
static _Thread_local bool isInDispatch;

static bool isMainOfRun(void *queue) {
  return currentRun && (seen & cfuturestesting_sees_main) && queue == (void *)_dispatch_main_q;
}

static bool isFromRun(void) { return seen && !isInDispatch && (origin || currentRun); }

static void *leaveRunAfter(void *group, int kind, void *queue) {
  if (!isFromRun() || !(seen & cfuturestesting_sees_outside)) return NULL;
  return hooks.leave(currentRun, origin, kind, queue ? dispatch_queue_get_label(queue) : NULL, group);
}

static void *leaveRun(int kind, void *queue) { return leaveRunAfter(NULL, kind, queue); }

// Work outside a run, and the run's object (`token`) that describes the work.
struct Outside {
  void *token, *context, *queue, *group;
  Work work;
};

static struct Outside *wrap(void *token, void *queue, void *context, Work work) {
  struct Outside *outside = malloc(sizeof *outside);
  *outside = (struct Outside){.token = token, .context = context, .queue = queue, .work = work};
  return outside;
}

static void runOutside(void *context) {
  struct Outside *outside = context;
  void *previous = origin;
  hooks.begin(outside->token);
  origin = outside->token;
  outside->work(outside->context);
  origin = previous;
  hooks.end(outside->token);
  if (outside->group) dispatch_release(outside->group);
  free(outside);
}

static void submit(SubmitFunction original, void *queue, void *context, Work work) {
  if (isMainOfRun(queue)) return hooks.submitOnMain(currentRun, context, work);
  // The executor of the runtime can submit a job itself, past the hook, for example for `Task.yield()` in an actor.
  if (currentRun && cfuturestesting_is_job(work)) return hooks.enqueue(currentRun, context);
  void *token = leaveRun(cfuturestesting_queue, queue);
  if (token) original(queue, wrap(token, queue, context, work), runOutside);
  else original(queue, context, work);
}

// The jobs of the main actor come here.
static void dispatch_async_f_(void *queue, void *context, Work work) {
  ORIGINAL(dispatch_async_f)
  submit(original, queue, context, work);
}
REPLACE(dispatch_async_f)

static void dispatch_async_(void *queue, void *block) {
  ORIGINAL(dispatch_async)
  FIND(async, SubmitFunction, dispatch_async_f)
  FIND(barrierAsync, SubmitFunction, dispatch_barrier_async_f)
  if (isFromRun()) submit(isBarrier(block) ? barrierAsync : async, queue, _Block_copy(block), runBlock);
  else original(queue, block);
}
REPLACE(dispatch_async)

static void dispatch_barrier_async_(void *queue, void *block) {
  ORIGINAL(dispatch_barrier_async)
  FIND(barrierAsync, SubmitFunction, dispatch_barrier_async_f)
  if (isFromRun()) submit(barrierAsync, queue, _Block_copy(block), runBlock);
  else original(queue, block);
}
REPLACE(dispatch_barrier_async)

static void dispatch_group_async_(void *group, void *queue, void *block) {
  ORIGINAL(dispatch_group_async)
  FIND(async, SubmitOfGroup, dispatch_group_async_f)
  FIND(notify, SubmitOfGroup, dispatch_group_notify_f)
  void *token = leaveRun(cfuturestesting_queue, queue);
  if (token && !isBarrier(block)) return async(group, queue, wrap(token, queue, _Block_copy(block), runBlock), runOutside);
  original(group, queue, block);
  // Called by its function, a block loses its flag for a barrier. So the run waits for the group in the place of the block.
  if (token) notify(group, dispatch_get_global_queue(0, 0), token, hooks.end);
}
REPLACE(dispatch_group_async)

static void runBarrierNotification(void *context) {
  FIND(submit, SubmitFunction, dispatch_barrier_async_f)
  void *queue = ((struct Outside *)context)->queue;
  submit(queue, context, runOutside);
  dispatch_release(queue);
}

static void dispatch_group_notify_(void *group, void *queue, void *block) {
  ORIGINAL(dispatch_group_notify)
  FIND(notify, SubmitOfGroup, dispatch_group_notify_f)
  void *token = leaveRunAfter(group, cfuturestesting_notification, queue);
  if (!token) return original(group, queue, block);
  struct Outside *outside = wrap(token, queue, _Block_copy(block), runBlock);
  outside->group = group;
  dispatch_retain(group);  // the run looks at the group until the notification runs
  if (!isBarrier(block)) return notify(group, queue, outside, runOutside);
  dispatch_retain(queue);
  notify(group, dispatch_get_global_queue(0, 0), outside, runBarrierNotification);
}
REPLACE(dispatch_group_notify)

static void originalAfter(uint64_t when, void *queue, void *context, Work work);

// A timer in real time does not fire while its run lasts: its place in the order would depend on chance.
static void fire(void *context) {
  struct Outside *outside = context;
  if (hooks.isOver(outside->token)) runOutside(outside);
  else originalAfter(dispatch_time_(0, 10000000), outside->queue, outside, fire);
}

static void dispatch_after_f_(uint64_t when, void *queue, void *context, Work work) {
  if (isMainOfRun(queue) || (currentRun && (seen & cfuturestesting_sees_main) && cfuturestesting_is_job(work))) {
    bool isForever = when == UINT64_MAX;
    // Dispatch counts real time downwards from zero.
    bool isRealTime = (int64_t)when < 0;
    int64_t delay = isRealTime ? (int64_t)(dispatch_walltime(NULL, 0) - when) : (int64_t)(when - dispatch_time_(0, 0));
    return hooks.submitAfter(currentRun, isMainOfRun(queue), isForever ? INT64_MAX : delay, context, work);
  }
  void *token = leaveRun(cfuturestesting_timer, queue);
  if (token) originalAfter(when, queue, wrap(token, queue, context, work), fire);
  else originalAfter(when, queue, context, work);
}
REPLACE(dispatch_after_f)

static void originalAfter(uint64_t when, void *queue, void *context, Work work) {
  ORIGINAL(dispatch_after_f)
  bool previous = isInDispatch;
  isInDispatch = true;  // Dispatch makes a source for the timer
  original(when, queue, context, work);
  isInDispatch = previous;
}

static void dispatch_after_(uint64_t when, void *queue, void *block) {
  dispatch_after_f_(when, queue, _Block_copy(block), runBlock);
}
REPLACE(dispatch_after)

// Replaces a function that stays as it is, and says that the run has called it. Foundation's run loops call the functions of their
// own library through the dynamic linker.
#define NAME_CALLS(name, kind, queue, parameters, arguments) \
  static void name##_ parameters { \
    ORIGINAL(name) \
    void *token = leaveRun(kind, queue); \
    original arguments; \
    if (token) hooks.end(token); \
  } \
  REPLACE(name)

NAME_CALLS(dispatch_apply, cfuturestesting_iterations, queue, (size_t count, void *queue, void *block), (count, queue, block))
NAME_CALLS(dispatch_sync, cfuturestesting_sync, queue, (void *queue, void *block), (queue, block))
NAME_CALLS(dispatch_barrier_sync, cfuturestesting_sync, queue, (void *queue, void *block), (queue, block))
NAME_CALLS(CFRunLoopPerformBlock, cfuturestesting_run_loop_block, NULL, (void *loop, const void *mode, void *block),
           (loop, mode, block))
NAME_CALLS(CFRunLoopAddTimer, cfuturestesting_run_loop_timer, NULL, (void *loop, void *timer, const void *mode),
           (loop, timer, mode))

static void *dispatch_source_create_(const void *type, uintptr_t handle, uintptr_t mask, void *queue) {
  ORIGINAL(dispatch_source_create)
  void *token = leaveRun(cfuturestesting_source, queue);
  void *source = original(type, handle, mask, queue);
  if (token) hooks.end(token);
  return source;
}
REPLACE(dispatch_source_create)

typedef void *(*Start)(void *);

static void *runThread(void *context) {
  struct Outside outside = *(struct Outside *)context;
  free(context);
  hooks.begin(outside.token);
  origin = outside.token;
  void *result = ((Start)(void *)outside.work)(outside.context);
  origin = NULL;
  hooks.end(outside.token);
  return result;
}

static int pthread_create_(pthread_t *thread, const pthread_attr_t *attributes, Start start, void *context) {
  ORIGINAL(pthread_create)
  if (!isFromRun()) return original(thread, attributes, start, context);
  // Dispatch makes its threads on the thread that submits work. That work is counted already.
  Dl_info caller;
  bool isDispatch =
      dladdr(__builtin_return_address(0), &caller) && caller.dli_fname && strstr(caller.dli_fname, "libdispatch");
  void *token = isDispatch ? NULL : leaveRun(cfuturestesting_thread, NULL);
  if (!token) return original(thread, attributes, start, context);
  struct Outside *outside = wrap(token, NULL, context, (Work)(void *)start);
  int error = original(thread, attributes, runThread, outside);
  if (error) {
    hooks.end(token);
    free(outside);
  }
  return error;
}
REPLACE(pthread_create)

static int installDispatch(void) {
#define IS_FIRST(name) (dlsym(RTLD_DEFAULT, #name) == (void *)name##_ && dlsym(RTLD_NEXT, #name))
  if (!IS_FIRST(dispatch_async_f) || !IS_FIRST(dispatch_async) || !_dispatch_main_q || !_Block_copy) return 0;
  bool seesOutside = IS_FIRST(dispatch_barrier_async) && IS_FIRST(dispatch_group_async) && IS_FIRST(dispatch_group_notify) &&
                     IS_FIRST(dispatch_after) && IS_FIRST(dispatch_apply) && IS_FIRST(dispatch_source_create) &&
                     IS_FIRST(dispatch_sync) && IS_FIRST(dispatch_barrier_sync) && IS_FIRST(pthread_create);
  concurrency = imageOf(dlsym(RTLD_DEFAULT, "swift_get_time"));
  if (concurrency == imageOf((void *)installDispatch)) concurrency = NULL;
  offsetOfSuspending = -nanosecondsOf(CLOCK_BOOTTIME);
  offsetOfSuspending += nanosecondsOf(CLOCK_MONOTONIC);  // read second: no time in a run is before its start
  return cfuturestesting_sees_main | (seesOutside ? cfuturestesting_sees_outside : 0);
}

void cfuturestesting_on_main(void *context, Work work) {
  FIND(original, SubmitFunction, dispatch_async_f)
  original(_dispatch_main_q, context, work);
}

void cfuturestesting_drop(void *context, Work work) {
  if (work == runBlock) _Block_release(context);
}

// Relaxed: the runtime has one function for all jobs, which each thread finds.
bool cfuturestesting_is_job(Work work) {
  static Work known;
  if (work == __atomic_load_n(&known, __ATOMIC_RELAXED)) return true;
  bool isJob = work != runBlock && concurrency && imageOf((void *)work) == concurrency;
  if (isJob) __atomic_store_n(&known, work, __ATOMIC_RELAXED);
  return isJob;
}

bool cfuturestesting_is_empty(void *group) { return dispatch_group_wait(group, 0) == 0; }

int cfuturestesting_stack(void **addresses, int count) { return backtrace(addresses, count); }

const char *cfuturestesting_image(unsigned long address, unsigned long *start) {
  Dl_info image;
  if (!dladdr((void *)address, &image)) return NULL;
  *start = (unsigned long)image.dli_fbase;
  return image.dli_fname;
}

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

static int installDispatch(void) { return 0; }
long long cfuturestesting_real_time(void) { return 0; }
void cfuturestesting_set_time(long long nanoseconds) { (void)nanoseconds; }
void cfuturestesting_on_main(void *context, Work work) { work(context); }
void cfuturestesting_drop(void *context, Work work) { (void)context, (void)work; }
bool cfuturestesting_is_job(Work work) { return work == NULL; }
bool cfuturestesting_is_empty(void *group) { return group == NULL; }
int cfuturestesting_stack(void **addresses, int count) { return addresses == NULL && count; }
const char *cfuturestesting_image(unsigned long address, unsigned long *start) { return *start = address, NULL; }
int cfuturestesting_thread_number(void) { return 0; }
long long cfuturestesting_sleeping(int thread) { return (void)thread, -1; }

#endif

int cfuturestesting_install(struct cfuturestesting_hooks new) {
  hooks = new;
  return seen = installJobs() | installDispatch();
}
