#pragma once
#if defined(__APPLE__)
typedef struct { long __sig; char __opaque[8]; } pthread_once_t;
#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}
typedef unsigned long pthread_key_t;
int pthread_main_np(void);
#else
typedef int pthread_once_t;
#define PTHREAD_ONCE_INIT 0
typedef int pthread_key_t;
#endif
int pthread_once(pthread_once_t *, void (*)(void));
int pthread_key_create(pthread_key_t *, void (*)(void *));
int pthread_setspecific(pthread_key_t, const void *);
