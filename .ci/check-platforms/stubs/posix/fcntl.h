#pragma once
#if defined(__APPLE__)
#define O_NONBLOCK 0x0004
#else
#define O_NONBLOCK 04000
#endif
#define F_SETFD 2
#define F_SETFL 4
#define FD_CLOEXEC 1
int fcntl(int, int, ...);
