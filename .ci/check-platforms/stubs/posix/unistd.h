#pragma once
#include <stddef.h>
typedef __PTRDIFF_TYPE__ ssize_t;
#define STDERR_FILENO 2
ssize_t write(int, const void *, size_t);
ssize_t read(int, void *, size_t);
int pipe(int[2]);
int close(int);
#if defined(__ANDROID__)
long syscall(long, ...);
#endif
