#pragma once
#include <stddef.h>
void *memcpy(void *, const void *, size_t);
char *strstr(const char *, const char *);
