#pragma once
#if defined(__APPLE__)
typedef unsigned int nfds_t;
#else
typedef unsigned long nfds_t;
#endif
struct pollfd { int fd; short events; short revents; };
#define POLLOUT 0x0004
int poll(struct pollfd *, nfds_t, int);
