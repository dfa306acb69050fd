#pragma once
#if defined(__aarch64__)
#define SYS_futex 98
#else
#define SYS_futex 240
#endif
