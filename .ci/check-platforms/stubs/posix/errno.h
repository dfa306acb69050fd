#pragma once
#if defined(__APPLE__)
extern int *__error(void);
#define errno (*__error())
#define EAGAIN 35
#elif defined(__ANDROID__)
extern int *__errno(void);
#define errno (*__errno())
#define EAGAIN 11
#endif
#define EINTR 4
