// Work that leaves a run: for another Dispatch queue, or a thread. Private to this module.
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*Work)(void *context);

struct Block {
  void *class;
  int flags;
  int reserved;
  void (*invoke)(struct Block *);
};

// Calls a block, and releases it.
void runBlock(void *block);

// Whether the calling thread runs moves, or outside work of a run.
bool isOnThreadOfRun(void);

// Submits work or a block to a Dispatch queue, and reports the work to the run of the calling thread.
void submitOutside(void *queue, void *context, Work work);
void submitBlockOutside(void *queue, void *block);

// Whether a Dispatch queue is the main queue.
bool isMainQueue(void *queue);

// If `queue` is the main queue and this thread executes a run, submits the work to the run with a delay; else returns
// false.
bool submitMainAfter(uint64_t when, void *queue, void *context, Work work);

#endif
