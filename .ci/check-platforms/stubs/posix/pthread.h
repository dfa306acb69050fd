#pragma once
#if defined(__APPLE__)
typedef struct { long __sig; char __opaque[56]; } pthread_mutex_t;
#define PTHREAD_MUTEX_INITIALIZER {0x32AAABA7, {0}}
typedef struct thread *pthread_t;
typedef struct { long __sig; char __opaque[8]; } pthread_once_t;
#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}
typedef unsigned long pthread_key_t;
#else
typedef struct { int __private[10]; } pthread_mutex_t;
#define PTHREAD_MUTEX_INITIALIZER {{0}}
typedef long pthread_t;
typedef int pthread_once_t;
#define PTHREAD_ONCE_INIT 0
typedef int pthread_key_t;
#endif
int pthread_once(pthread_once_t *, void (*)(void));
int pthread_key_create(pthread_key_t *, void (*)(void *));
int pthread_setspecific(pthread_key_t, const void *);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_detach(pthread_t);
