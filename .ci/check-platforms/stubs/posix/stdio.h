#pragma once
#include <stddef.h>
typedef struct file FILE;
FILE *fopen(const char *, const char *);
size_t fwrite(const void *, size_t, size_t, FILE *);
int fclose(FILE *);
