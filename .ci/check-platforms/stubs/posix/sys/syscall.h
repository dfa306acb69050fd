#pragma once
#if defined(__aarch64__)
#define SYS_futex 98
#define SYS_gettid 178
#else
#define SYS_futex 240
#define SYS_gettid 224
#endif
