#define _GNU_SOURCE
#include "Outside.h"
#include "CFuturesTesting.h"

#include <stddef.h>
#if __has_include(<features.h>)
#include <features.h>  // declares __GLIBC__
#endif

static _Thread_local void *origin;

void *cfuturestesting_origin(void) { return origin; }

#if defined(__GLIBC__)
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Replaces functions of the shared libraries, as CFuturesTesting.c does. On threads without a run, the replacements
// only call the original functions.

extern const char *dispatch_queue_get_label(void *queue) __attribute__((weak));
extern void *dispatch_block_create(unsigned long flags, void *block) __attribute__((weak));
extern void *dispatch_get_global_queue(long identifier, unsigned long flags) __attribute__((weak));
extern void dispatch_group_notify_f(void *group, void *queue, void *context, Work work) __attribute__((weak));
extern long dispatch_group_wait(void *group, uint64_t timeout) __attribute__((weak));
extern void dispatch_retain(void *object) __attribute__((weak));
extern void dispatch_release(void *object) __attribute__((weak));
extern uint64_t dispatch_time(uint64_t base, int64_t delta) __attribute__((weak));
extern void *_Block_copy(const void *) __attribute__((weak));
extern void _Block_release(const void *) __attribute__((weak));
extern char _NSConcreteGlobalBlock[] __attribute__((weak));

void cfuturestesting_async(void *queue, void *context, Work work);

static void *(*leave)(void *run, void *origin, int kind, const char *label, void *group);
static void (*begin)(void *work);
static bool (*isOver)(void *work);
static void (*end)(void *work);

bool isOnThreadOfRun(void) { return leave && (origin || cfuturestesting_run()); }

static void *leaveRunAfter(void *group, int kind, void *queue) {
  if (!isOnThreadOfRun()) return NULL;
  return leave(cfuturestesting_run(), origin, kind, queue ? dispatch_queue_get_label(queue) : NULL, group);
}

static void *leaveRun(int kind, void *queue) { return leaveRunAfter(NULL, kind, queue); }

bool cfuturestesting_is_empty(void *group) { return dispatch_group_wait(group, 0) == 0; }

// Work, and the run's object (`token`) that describes the work.
struct Outside {
  void *token;
  void *context;
  void *queue;
  Work work;
  void *group;  // of a notification
};

static struct Outside *wrap(void *token, void *queue, void *context, Work work) {
  struct Outside *outside = malloc(sizeof *outside);
  *outside = (struct Outside){token, context, queue, work, NULL};
  return outside;
}

static void runOutside(void *context) {
  struct Outside *outside = context;
  void *previous = origin;
  begin(outside->token);
  origin = outside->token;
  outside->work(outside->context);
  origin = previous;
  end(outside->token);
  free(outside);
}

// Relaxed: each thread finds the same function.
#define FIND(variable, type, name) \
  static type found_##variable; \
  type variable = __atomic_load_n(&found_##variable, __ATOMIC_RELAXED); \
  if (!variable) { \
    variable = (type)dlsym(RTLD_NEXT, #name); \
    __atomic_store_n(&found_##variable, variable, __ATOMIC_RELAXED); \
  }

#define ORIGINAL(name) FIND(original, __typeof__(&name##_), name)

// Blocks of `DispatchWorkItem` have extra data after the block. Such a block, called directly, waits, notifies and is
// cancelled as in Dispatch. Only the flag for a barrier is read here, from libdispatch's structures.
static void (*invokeOfItems)(struct Block *);

struct Item {
  struct Block block;
  void *descriptor;
  unsigned long magic;
  unsigned long flags;
};

static bool isBarrier(void *block) {
  static const unsigned long magic = 0xD159B10C, barrier = 1;
  struct Item *item = block;
  return item->block.invoke == invokeOfItems && item->magic == magic && (item->flags & barrier);
}

void submitOutside(void *queue, void *context, Work work) {
  void *token = leaveRun(cfuturestesting_queue, queue);
  if (token) cfuturestesting_async(queue, wrap(token, queue, context, work), runOutside);
  else cfuturestesting_async(queue, context, work);
}

typedef void (*SubmitFunction)(void *queue, void *context, Work work);
typedef void (*SubmitOfGroup)(void *group, void *queue, void *context, Work work);

static void submitBarrier(void *queue, void *context, Work work) {
  FIND(original, SubmitFunction, dispatch_barrier_async_f)
  void *token = leaveRun(cfuturestesting_queue, queue);
  if (token) original(queue, wrap(token, queue, context, work), runOutside);
  else original(queue, context, work);
}

void submitBlockOutside(void *queue, void *block) {
  if (isBarrier(block)) submitBarrier(queue, _Block_copy(block), runBlock);
  else submitOutside(queue, _Block_copy(block), runBlock);
}

static void dispatch_barrier_async_(void *queue, void *block) { submitBarrier(queue, _Block_copy(block), runBlock); }

static void dispatch_group_async_(void *group, void *queue, void *block) {
  ORIGINAL(dispatch_group_async)
  FIND(function, SubmitOfGroup, dispatch_group_async_f)
  void *token = leaveRun(cfuturestesting_queue, queue);
  if (!token) return original(group, queue, block);
  // A barrier block is passed on unchanged, so it keeps its flag. The run waits for the group instead of the block.
  if (isBarrier(block)) {
    original(group, queue, block);
    return dispatch_group_notify_f(group, dispatch_get_global_queue(0, 0), token, end);
  }
  function(group, queue, wrap(token, queue, _Block_copy(block), runBlock), runOutside);
}

// Keeps the group and the queue until the notification has run.
static struct Outside *wrapNotification(void *token, void *group, void *queue, void *context, Work work) {
  struct Outside *outside = wrap(token, queue, context, work);
  outside->group = group;
  dispatch_retain(group);
  dispatch_retain(queue);
  return outside;
}

static void runNotification(void *context) {
  struct Outside *outside = context;
  void *group = outside->group, *queue = outside->queue;
  runOutside(outside);
  dispatch_release(group);
  dispatch_release(queue);
}

static void runBarrierNotification(void *context) {
  FIND(submit, SubmitFunction, dispatch_barrier_async_f)
  submit(((struct Outside *)context)->queue, context, runNotification);
}

static void dispatch_group_notify_f_(void *group, void *queue, void *context, Work work) {
  FIND(original, SubmitOfGroup, dispatch_group_notify_f)
  void *token = work == end ? NULL : leaveRunAfter(group, cfuturestesting_notification, queue);
  if (!token) return original(group, queue, context, work);
  original(group, queue, wrapNotification(token, group, queue, context, work), runNotification);
}

static void dispatch_group_notify_(void *group, void *queue, void *block) {
  ORIGINAL(dispatch_group_notify)
  FIND(function, SubmitOfGroup, dispatch_group_notify_f)
  void *token = leaveRunAfter(group, cfuturestesting_notification, queue);
  if (!token) return original(group, queue, block);
  struct Outside *outside = wrapNotification(token, group, queue, _Block_copy(block), runBlock);
  // Called by its function, a block loses its flag for a barrier.
  if (isBarrier(block)) function(group, dispatch_get_global_queue(0, 0), outside, runBarrierNotification);
  else function(group, queue, outside, runNotification);
}

static void dispatch_after_f_(uint64_t when, void *queue, void *context, Work work);

static void originalAfter(uint64_t when, void *queue, void *context, Work work) {
  ORIGINAL(dispatch_after_f)
  original(when, queue, context, work);
}

// A timer in real time does not fire while its run lasts: its place in the order would depend on chance.
static void fire(void *context) {
  struct Outside *outside = context;
  if (isOver(outside->token)) runOutside(outside);
  else originalAfter(dispatch_time(0, 10000000), outside->queue, outside, fire);
}

static void dispatch_after_f_(uint64_t when, void *queue, void *context, Work work) {
  if (submitMainAfter(when, queue, context, work)) return;
  void *token = leaveRun(cfuturestesting_timer, queue);
  if (token) originalAfter(when, queue, wrap(token, queue, context, work), fire);
  else originalAfter(when, queue, context, work);
}

static void dispatch_after_(uint64_t when, void *queue, void *block) {
  dispatch_after_f_(when, queue, _Block_copy(block), runBlock);
}

static void dispatch_apply_(size_t count, void *queue, void *block) {
  void *token = leaveRun(cfuturestesting_iterations, queue);
  ORIGINAL(dispatch_apply)
  original(count, queue, block);
  if (token) end(token);
}

// The block runs on the main thread itself, also if the run holds back earlier work of the main queue.
static void *leaveRunForMain(void *queue) {
  return cfuturestesting_run() && isMainQueue(queue) ? leaveRun(cfuturestesting_main_sync, queue) : NULL;
}

static void dispatch_sync_(void *queue, void *block) {
  void *token = leaveRunForMain(queue);
  ORIGINAL(dispatch_sync)
  original(queue, block);
  if (token) end(token);
}

static void dispatch_barrier_sync_(void *queue, void *block) {
  void *token = leaveRunForMain(queue);
  ORIGINAL(dispatch_barrier_sync)
  original(queue, block);
  if (token) end(token);
}

static void *dispatch_source_create_(const void *type, uintptr_t handle, uintptr_t mask, void *queue) {
  void *token = leaveRun(cfuturestesting_source, queue);
  ORIGINAL(dispatch_source_create)
  void *source = original(type, handle, mask, queue);
  if (token) end(token);
  return source;
}

// Foundation's run loops call these functions of its own library through the dynamic linker.
static void CFRunLoopPerformBlock_(void *loop, const void *mode, void *block) {
  void *token = leaveRun(cfuturestesting_run_loop_block, NULL);
  ORIGINAL(CFRunLoopPerformBlock)
  original(loop, mode, block);
  if (token) end(token);
}

static void CFRunLoopAddTimer_(void *loop, void *timer, const void *mode) {
  void *token = leaveRun(cfuturestesting_run_loop_timer, NULL);
  ORIGINAL(CFRunLoopAddTimer)
  original(loop, timer, mode);
  if (token) end(token);
}

typedef void *(*Start)(void *);

static void *runThread(void *context) {
  struct Outside *outside = context;
  Start start = (Start)(void *)outside->work;
  context = outside->context;
  begin(outside->token);
  origin = outside->token;
  void *result = start(context);
  origin = NULL;
  end(outside->token);
  free(outside);
  return result;
}

static int pthread_create_(pthread_t *thread, const pthread_attr_t *attributes, Start start, void *context) {
  ORIGINAL(pthread_create)
  if (!isOnThreadOfRun()) return original(thread, attributes, start, context);
  // Dispatch makes its threads on the thread that submits work. That work is counted already.
  Dl_info caller;
  bool isDispatch =
      dladdr(__builtin_return_address(0), &caller) && caller.dli_fname && strstr(caller.dli_fname, "libdispatch");
  void *token = isDispatch ? NULL : leaveRun(cfuturestesting_thread, NULL);
  if (!token) return original(thread, attributes, start, context);
  struct Outside *outside = wrap(token, NULL, context, (Work)(void *)start);
  int error = original(thread, attributes, runThread, outside);
  if (error) {
    end(token);
    free(outside);
  }
  return error;
}

#define REPLACE(name) extern __typeof__(name##_) name __attribute__((weak, alias(#name "_")));

REPLACE(dispatch_barrier_async)
REPLACE(dispatch_group_async)
REPLACE(dispatch_group_notify)
extern void dispatch_group_notify_f(void *, void *, void *, Work) __attribute__((weak, alias("dispatch_group_notify_f_")));
REPLACE(dispatch_after)
REPLACE(dispatch_after_f)
REPLACE(dispatch_apply)
REPLACE(dispatch_source_create)
REPLACE(dispatch_sync)
REPLACE(dispatch_barrier_sync)
REPLACE(CFRunLoopPerformBlock)
REPLACE(CFRunLoopAddTimer)
extern int pthread_create(pthread_t *, const pthread_attr_t *, Start, void *) __attribute__((weak, alias("pthread_create_")));

static void nothing(struct Block *block) { (void)block; }

static struct {
  unsigned long reserved, size;
} descriptor = {0, sizeof(struct Block) + sizeof(void *)};

bool cfuturestesting_observe_outside(void *(*leaveRunOf)(void *, void *, int, const char *, void *),
                                     void (*beginOf)(void *), bool (*isOverOf)(void *), void (*endOf)(void *)) {
  bool isFirst = true;
#define CHECK(name) isFirst = isFirst && dlsym(RTLD_DEFAULT, #name) == (void *)name##_ && dlsym(RTLD_NEXT, #name);
  CHECK(dispatch_barrier_async)
  CHECK(dispatch_group_async)
  CHECK(dispatch_group_notify)
  CHECK(dispatch_after)
  CHECK(dispatch_apply)
  CHECK(dispatch_source_create)
  CHECK(dispatch_sync)
  CHECK(dispatch_barrier_sync)
  CHECK(pthread_create)
  if (!isFirst || !dispatch_block_create || !_Block_copy || !_NSConcreteGlobalBlock) return false;
  struct {
    struct Block block;
    void *descriptor;
  } block = {{_NSConcreteGlobalBlock, 1 << 28, 0, nothing}, &descriptor};
  struct Block *item = dispatch_block_create(0, &block);
  invokeOfItems = item->invoke;
  _Block_release(item);
  leave = leaveRunOf;
  begin = beginOf;
  isOver = isOverOf;
  end = endOf;
  return true;
}

int cfuturestesting_stack(void **addresses, int count) { return backtrace(addresses, count); }

#else

bool isOnThreadOfRun(void) { return false; }
void submitOutside(void *queue, void *context, Work work) { (void)queue, (void)context, (void)work; }
void submitBlockOutside(void *queue, void *block) { (void)queue, (void)block; }

bool cfuturestesting_observe_outside(void *(*leave)(void *, void *, int, const char *, void *), void (*begin)(void *),
                                     bool (*isOver)(void *), void (*end)(void *)) {
  (void)leave, (void)begin, (void)isOver, (void)end;
  return false;
}

bool cfuturestesting_is_empty(void *group) {
  (void)group;
  return false;
}

int cfuturestesting_stack(void **addresses, int count) {
  (void)addresses, (void)count;
  return 0;
}

#endif
