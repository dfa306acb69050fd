#pragma once
#include <stddef.h>
typedef __PTRDIFF_TYPE__ ssize_t;
#define STDERR_FILENO 2
ssize_t write(int, const void *, size_t);
#if defined(__ANDROID__)
int getpid(void);
long syscall(long, ...);
#endif
