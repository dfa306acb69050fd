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
bool isObserved(void);

// Work that was submitted to a queue: passes it to `original`, and tells the run of the caller.
void submitOutside(void *queue, void *context, Work work);
void submitBlockOutside(void *queue, void *block);

// Submits work with a delay to the main queue of the run that this thread executes. Returns whether that is the queue.
bool submitMainAfter(uint64_t when, void *queue, void *context, Work work);

#endif
