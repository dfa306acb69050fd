#define _GNU_SOURCE
#include "CFuturesTesting.h"

#include <stddef.h>
#include <stdint.h>

typedef void (*Work)(void *context);

static _Thread_local void *currentRun;
static struct cfuturestesting_hooks hooks;
static bool seesDispatch;

void *cfuturestesting_run(void) { return currentRun; }

void cfuturestesting_set_run(void *run) { currentRun = run; }

// MARK: - Jobs of the Swift runtime

#if defined(__ELF__) || defined(__APPLE__)

// The hook of the Swift runtime for a test library that executes the jobs of unstructured tasks: `Task { }` does not inherit an
// executor preference (SE-0417). swift-async-algorithms and swift-concurrency-extras use it for the same purpose.
typedef __attribute__((swiftcall)) void (*EnqueueOriginal)(void *job);
typedef __attribute__((swiftcall)) void (*EnqueueHook)(void *job, EnqueueOriginal original);

// Weak: null in a runtime without the hook.
extern EnqueueHook swift_task_enqueueGlobal_hook __attribute__((weak));

static EnqueueHook previousHook;

static __attribute__((swiftcall)) void enqueueGlobal(void *job, EnqueueOriginal original) {
  if (hooks.enqueue(currentRun, job)) return;
  if (previousHook) previousHook(job, original);
  else original(job);
}

// The hook is never removed. It calls `original` for a job of no run.
static void installJobs(void) {
  if (&swift_task_enqueueGlobal_hook == NULL) return;
  previousHook = swift_task_enqueueGlobal_hook;
  swift_task_enqueueGlobal_hook = enqueueGlobal;
}

#else

static void installJobs(void) {}

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
extern long dispatch_group_wait(void *group, uint64_t timeout) WEAK;
extern void dispatch_retain(void *object) WEAK;
extern void dispatch_release(void *object) WEAK;

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

// The libraries with Dispatch and with Swift's clocks and jobs; null for the latter if it is a part of the executable.
static void *dispatch, *concurrency;

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
  int flags, reserved;
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

static _Thread_local void *origin;  // the work outside that this thread executes
static bool isFromRun(void) { return seesDispatch && (origin || currentRun); }

static void *leaveRun(int kind, void *queue, void *group) {
  if (!isFromRun()) return NULL;
  return hooks.leave(currentRun, origin, kind, queue ? dispatch_queue_get_label(queue) : NULL, group);
}

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

static void after(uint64_t when, void *queue, void *context, Work work) {
  FIND(original, __typeof__(&after), dispatch_after_f)
  original(when, queue, context, work);
}

static void runOutside(void *context) {
  struct Outside *outside = context;
  if (!hooks.begin(outside->token)) return after(dispatch_time_(0, 10000000), outside->queue, outside, runOutside);
  origin = outside->token;
  outside->work(outside->context);
  origin = NULL;
  hooks.end(outside->token);
  if (outside->group) dispatch_release(outside->group);
  free(outside);
}

// Whether `work` runs a job of the Swift runtime, which is then the context of the work. Relaxed: the runtime has one function for
// all jobs, which each thread finds.
static bool isJob(Work work) {
  static Work known;
  if (work == __atomic_load_n(&known, __ATOMIC_RELAXED)) return true;
  bool isJob = work != runBlock && concurrency && imageOf((void *)work) == concurrency;
  if (isJob) __atomic_store_n(&known, work, __ATOMIC_RELAXED);
  return isJob;
}

static bool isOfMain(void *queue, Work work) {
  return currentRun && seesDispatch && queue == (void *)_dispatch_main_q && (work == runBlock || isJob(work));
}

// Submits a block or a job to the run of this thread.
static void submitToRun(bool isOnMain, int64_t delay, void *context, Work work) {
  hooks.submit(currentRun, isOnMain, delay, isJob(work), context);
  if (work == runBlock) _Block_release(context);
}

static void submit(SubmitFunction original, void *queue, void *context, Work work) {
  if (isOfMain(queue, work)) return submitToRun(true, 0, context, work);
  // The executor of the runtime can submit a job itself, past the hook, for example for `Task.yield()` in an actor.
  if (currentRun && isJob(work)) return submitToRun(false, 0, context, work);
  void *token = leaveRun(cfuturestesting_queue, queue, NULL);
  if (token) original(queue, wrap(token, queue, context, work), runOutside);
  else original(queue, context, work);
}

static void submitBlock(void (*original)(void *, void *), bool isOfBarrier, void *queue, void *block) {
  if (!isFromRun()) return original(queue, block);
  FIND(async, SubmitFunction, dispatch_async_f)
  FIND(barrierAsync, SubmitFunction, dispatch_barrier_async_f)
  submit(isOfBarrier || isBarrier(block) ? barrierAsync : async, queue, _Block_copy(block), runBlock);
}

// The jobs of the main actor come here.
static void dispatch_async_f_(void *queue, void *context, Work work) {
  ORIGINAL(dispatch_async_f)
  submit(original, queue, context, work);
}
REPLACE(dispatch_async_f)

static void dispatch_async_(void *queue, void *block) {
  ORIGINAL(dispatch_async)
  submitBlock(original, false, queue, block);
}
REPLACE(dispatch_async)

static void dispatch_barrier_async_(void *queue, void *block) {
  ORIGINAL(dispatch_barrier_async)
  submitBlock(original, true, queue, block);
}
REPLACE(dispatch_barrier_async)

static void submitOfGroup(SubmitOfGroup byFunction, void (*original)(void *, void *, void *), int kind, void *group, void *queue,
                          void *block) {
  void *token = leaveRun(kind, queue, group);
  if (token && !isBarrier(block)) {
    struct Outside *outside = wrap(token, queue, _Block_copy(block), runBlock);
    outside->group = group;
    dispatch_retain(group);  // the run looks at the group until the notification runs
    return byFunction(group, queue, outside, runOutside);
  }
  // Called by its function, a block loses its flag for a barrier. So the run names this work, and does not wait for it.
  original(group, queue, block);
  if (token) hooks.end(token);
}

static void dispatch_group_async_(void *group, void *queue, void *block) {
  ORIGINAL(dispatch_group_async)
  FIND(async, SubmitOfGroup, dispatch_group_async_f)
  submitOfGroup(async, original, cfuturestesting_queue, group, queue, block);
}
REPLACE(dispatch_group_async)

static void dispatch_group_notify_(void *group, void *queue, void *block) {
  ORIGINAL(dispatch_group_notify)
  FIND(notify, SubmitOfGroup, dispatch_group_notify_f)
  submitOfGroup(notify, original, cfuturestesting_notification, group, queue, block);
}
REPLACE(dispatch_group_notify)

static void dispatch_after_f_(uint64_t when, void *queue, void *context, Work work) {
  bool isOnMain = isOfMain(queue, work);
  // The first two bits are the clock: 11 is real time, which no run has, and 10 is that of `ContinuousClock`.
  bool isForever = when == UINT64_MAX, isContinuous = when >> 62 == 2;
  if ((isForever || when >> 62 != 3) && (isOnMain || (currentRun && seesDispatch && isJob(work)))) {
    int64_t delay = (int64_t)(isContinuous ? (when & INT64_MAX) - (uint64_t)frozenTime : when - dispatch_time_(0, 0));
    return submitToRun(isOnMain, isForever ? INT64_MAX : delay, context, work);
  }
  void *token = leaveRun(cfuturestesting_timer, queue, NULL);
  if (token) after(when, queue, wrap(token, queue, context, work), runOutside);
  else after(when, queue, context, work);
}
REPLACE(dispatch_after_f)

static void dispatch_after_(uint64_t when, void *queue, void *block) {
  dispatch_after_f_(when, queue, _Block_copy(block), runBlock);
}
REPLACE(dispatch_after)

// Replaces a function that stays as it is, and says that the run has called it. Dispatch makes its threads, and the sources of its
// timers, on the thread that submits work: that work is counted already. Foundation's run loops call the functions of their own
// library through the dynamic linker.
#define NAME_CALLS(result, name, kind, queue, parameters, arguments) \
  static result name##_ parameters { \
    ORIGINAL(name) \
    bool isOfDispatch = seesDispatch && kind >= cfuturestesting_source && imageOf(__builtin_return_address(0)) == dispatch; \
    __attribute__((cleanup(endCall))) void *token = isOfDispatch ? NULL : leaveRun(kind, queue, NULL); \
    return original arguments; \
  } \
  REPLACE(name)

static void endCall(void **token) {
  if (*token) hooks.end(*token);
}

NAME_CALLS(void, dispatch_sync, cfuturestesting_sync, queue, (void *queue, void *block), (queue, block))
NAME_CALLS(void, dispatch_barrier_sync, cfuturestesting_sync, queue, (void *queue, void *block), (queue, block))
NAME_CALLS(void *, dispatch_source_create, cfuturestesting_source, queue,
           (const void *type, uintptr_t handle, uintptr_t mask, void *queue), (type, handle, mask, queue))
NAME_CALLS(int, pthread_create, cfuturestesting_thread, NULL,
           (pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *context),
           (thread, attributes, start, context))
NAME_CALLS(void, CFRunLoopPerformBlock, cfuturestesting_run_loop, NULL, (void *loop, const void *mode, void *block),
           (loop, mode, block))
NAME_CALLS(void, CFRunLoopAddTimer, cfuturestesting_run_loop, NULL, (void *loop, void *timer, const void *mode),
           (loop, timer, mode))

static bool installDispatch(void) {
#define IS_FIRST(name) (dlsym(RTLD_DEFAULT, #name) == (void *)name##_ && dlsym(RTLD_NEXT, #name))
  dispatch = imageOf(dlsym(RTLD_NEXT, "dispatch_async"));
  concurrency = imageOf(dlsym(RTLD_DEFAULT, "swift_get_time"));
  if (concurrency == imageOf((void *)installDispatch)) concurrency = NULL;
  offsetOfSuspending = -nanosecondsOf(CLOCK_BOOTTIME);
  offsetOfSuspending += nanosecondsOf(CLOCK_MONOTONIC);  // read second: no time in a run is before its start
  return _dispatch_main_q && _Block_copy && IS_FIRST(dispatch_async_f) && IS_FIRST(dispatch_async) &&
         IS_FIRST(dispatch_barrier_async) && IS_FIRST(dispatch_group_async) && IS_FIRST(dispatch_group_notify) &&
         IS_FIRST(dispatch_after) && IS_FIRST(dispatch_source_create) && IS_FIRST(dispatch_sync) &&
         IS_FIRST(dispatch_barrier_sync) && IS_FIRST(pthread_create);
}

bool cfuturestesting_is_empty(void *group) { return dispatch_group_wait(group, 0) == 0; }

int cfuturestesting_stack(void **addresses, int count) { return backtrace(addresses, count); }

const char *cfuturestesting_image(unsigned long address, unsigned long *start) {
  Dl_info image;
  if (!dladdr((void *)address, &image)) return NULL;
  *start = (unsigned long)image.dli_fbase;
  return image.dli_fname;
}

int cfuturestesting_thread_number(void) {
  static _Thread_local int number;
  return number ? number : (number = (int)syscall(SYS_gettid));
}

bool cfuturestesting_sleeps(int thread) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  fread(text, 1, sizeof text - 1, file);
  fclose(file);
  const char *state = strstr(text, "\nState:\t");
  return state && (state[8] == 'S' || state[8] == 'D');
}

#else

static bool installDispatch(void) { return false; }
long long cfuturestesting_real_time(void) { return 0; }
void cfuturestesting_set_time(long long nanoseconds) { (void)nanoseconds; }
bool cfuturestesting_is_empty(void *group) { return group == NULL; }
int cfuturestesting_thread_number(void) { return 0; }
bool cfuturestesting_sleeps(int thread) { return (void)thread, false; }

#endif

bool cfuturestesting_install(struct cfuturestesting_hooks new) {
  hooks = new;
  installJobs();
  return seesDispatch = installDispatch();
}
