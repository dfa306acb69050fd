#pragma once
#include <stddef.h>
#define CALLBACK __stdcall
#define NTAPI __stdcall
#define WINAPI __stdcall
typedef void *HANDLE, *PVOID, *LPVOID;
typedef const void *LPCVOID;
typedef unsigned long DWORD, *LPDWORD;
typedef int BOOL;
typedef size_t SIZE_T;
#define TRUE 1
#define FALSE 0
#define INFINITE 0xFFFFFFFF
#define STD_ERROR_HANDLE ((DWORD)-12)
#define FLS_OUT_OF_INDEXES ((DWORD)0xFFFFFFFF)
typedef union { PVOID Ptr; } INIT_ONCE, *PINIT_ONCE;
#define INIT_ONCE_STATIC_INIT {0}
typedef BOOL(WINAPI *PINIT_ONCE_FN)(PINIT_ONCE, PVOID, PVOID *);
typedef void(NTAPI *PFLS_CALLBACK_FUNCTION)(PVOID);
BOOL WINAPI InitOnceExecuteOnce(PINIT_ONCE, PINIT_ONCE_FN, PVOID, LPVOID *);
DWORD WINAPI FlsAlloc(PFLS_CALLBACK_FUNCTION);
BOOL WINAPI FlsSetValue(DWORD, PVOID);
HANDLE WINAPI GetStdHandle(DWORD);
BOOL WINAPI WriteFile(HANDLE, LPCVOID, DWORD, LPDWORD, void *);
BOOL WINAPI WaitOnAddress(volatile void *, PVOID, SIZE_T, DWORD);
void WINAPI WakeByAddressSingle(PVOID);
