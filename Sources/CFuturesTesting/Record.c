#define _GNU_SOURCE
#include "CFuturesTesting.h"

#include <stddef.h>

// The order of a run so far, in a mapped file: the system keeps its pages when the process dies.

static _Thread_local struct cfuturestesting_record *current;

void cfuturestesting_set_record(struct cfuturestesting_record *record) { current = record; }

#if __has_include(<sys/mman.h>) && __has_include(<dirent.h>)
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void print(const char *text) {
  size_t length = strlen(text);
  while (length > 0) {
    ssize_t written = write(STDERR_FILENO, text, length);
    if (written <= 0) return;
    text += written;
    length -= (size_t)written;
  }
}

// Calls only functions that a signal handler can call.
static void describe(const struct cfuturestesting_record *record, const char *event) {
  print(event);
  print(" an order of exploreOrders at ");
  print(record->place);
  print(": ");
  print(record->moves[0] ? record->moves : "the beginning of the body");
  print("\nRun it alone: exploreOrders(repeating: \"");
  print(record->decisions);
  print("\")\n");
}

static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
static struct sigaction previous[sizeof signals / sizeof *signals];

static void crashed(int signal) {
  if (current) describe(current, "The process crashes in");
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (signals[i] == signal) sigaction(signal, &previous[i], NULL);
  }
  // The other signals come again when the instruction is repeated.
  if (signal == SIGABRT || signal == SIGTRAP) raise(signal);
}

static void installHandlers(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, &previous[i]);
}

static bool isAlive(long process) { return kill((pid_t)process, 0) == 0 || errno != ESRCH; }

// The folder for the files of this user.
static void findFolder(char *folder, size_t size) {
  const char *temporary = getenv("TMPDIR");
  snprintf(folder, size, "%s/swift-futures-orders-%u", temporary ? temporary : "/tmp", (unsigned)geteuid());
}

void cfuturestesting_print_left(const char *name) {
  char folder[2000];
  findFolder(folder, sizeof folder);
  DIR *directory = opendir(folder);
  if (!directory) return;
  size_t length = strlen(name);
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (strncmp(entry->d_name, name, length) != 0 || entry->d_name[length] != '.') continue;
    if (isAlive(atol(entry->d_name + length + 1))) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct cfuturestesting_record *record = malloc(sizeof *record);
    if (file >= 0 && record && read(file, record, sizeof *record) == sizeof *record && record->isRunning) {
      describe(record, "An earlier process ended in");
    }
    free(record);
    if (file >= 0) close(file);
    unlink(path);
  }
  closedir(directory);
}

struct cfuturestesting_record *cfuturestesting_open_record(const char *name, const char *place) {
  char folder[2000];
  findFolder(folder, sizeof folder);
  static int isFirst = 1, number = 0;
  if (__atomic_exchange_n(&isFirst, 0, __ATOMIC_RELAXED)) installHandlers();
  mkdir(folder, 0700);
  char path[4096];
  int count = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
  snprintf(path, sizeof path, "%s/%s.%ld.%d", folder, name, (long)getpid(), count);
  int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return NULL;
  struct cfuturestesting_record *record = NULL;
  if (ftruncate(file, sizeof *record) == 0) {
    void *address = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (address != MAP_FAILED) record = address;
  }
  close(file);
  if (!record) {
    unlink(path);
    return NULL;
  }
  snprintf(record->place, sizeof record->place, "%s", place);
  snprintf(record->path, sizeof record->path, "%s", path);
  return record;
}

void cfuturestesting_close_record(struct cfuturestesting_record *record) {
  unlink(record->path);
  munmap(record, sizeof *record);
}

static void findKept(char *path, size_t size, const char *name) {
  char folder[2000];
  findFolder(folder, sizeof folder);
  mkdir(folder, 0700);
  snprintf(path, size, "%s/kept-%s", folder, name);
}

void cfuturestesting_keep_order(const char *name, const char *decisions) {
  char path[4096];
  findKept(path, sizeof path, name);
  if (!decisions[0]) {
    unlink(path);
    return;
  }
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  ssize_t written = write(file, decisions, strlen(decisions));
  close(file);
  if (written != (ssize_t)strlen(decisions)) unlink(path);
}

bool cfuturestesting_kept_order(const char *name, char *decisions, int capacity) {
  char path[4096];
  findKept(path, sizeof path, name);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  ssize_t length = read(file, decisions, (size_t)capacity - 1);
  close(file);
  if (length <= 0) return false;
  decisions[length] = 0;
  return true;
}

#else

void cfuturestesting_keep_order(const char *name, const char *decisions) { (void)name, (void)decisions; }

bool cfuturestesting_kept_order(const char *name, char *decisions, int capacity) {
  (void)name, (void)decisions, (void)capacity;
  return false;
}

void cfuturestesting_print_left(const char *name) { (void)name; }

struct cfuturestesting_record *cfuturestesting_open_record(const char *name, const char *place) {
  (void)name, (void)place;
  return NULL;
}

void cfuturestesting_close_record(struct cfuturestesting_record *record) { (void)record; }

#endif

void cfuturestesting_begin_record(struct cfuturestesting_record *record) {
  record->decisionLength = record->moveLength = 0;
  record->decisions[0] = record->moves[0] = 0;
  record->isRunning = 1;
}

// Drops a part that does not fit: the text keeps its beginning.
static void append(char *text, int *length, int capacity, const char *part, int partLength) {
  if (*length + partLength >= capacity) return;
  for (int i = 0; i < partLength; i++) text[*length + i] = part[i];
  *length += partLength;
  text[*length] = 0;
}

void cfuturestesting_append_decision(struct cfuturestesting_record *record, const char *text, int length) {
  append(record->decisions, &record->decisionLength, sizeof record->decisions, text, length);
}

void cfuturestesting_append_move(struct cfuturestesting_record *record, const char *text, int length) {
  static const char separator[] = " \u25b8 ";
  if (record->moveLength > 0) {
    append(record->moves, &record->moveLength, sizeof record->moves, separator, sizeof separator - 1);
  }
  append(record->moves, &record->moveLength, sizeof record->moves, text, length);
}
