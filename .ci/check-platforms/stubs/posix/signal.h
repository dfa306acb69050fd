#pragma once
#if defined(__APPLE__)
typedef unsigned int sigset_t;
#define SIG_SETMASK 3
#define SA_RESTART 0x0002
#else
typedef unsigned long sigset_t;
#define SIG_SETMASK 2
#define SA_RESTART 0x10000000
#endif
struct sigaction { void (*sa_handler)(int); sigset_t sa_mask; int sa_flags; };
int sigaction(int, const struct sigaction *, struct sigaction *);
int sigemptyset(sigset_t *);
int sigfillset(sigset_t *);
int pthread_sigmask(int, const sigset_t *, sigset_t *);
