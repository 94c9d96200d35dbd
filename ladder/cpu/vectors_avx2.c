/* The vector rung with AVX2. */
#ifndef __AVX2__
#error "compile this file with -mavx2"
#endif
#define VECTOR_BYTES 32
#define VECTOR_TABLE cpu_vectors_avx2
#define VECTOR_SET   "avx2"
#include "ladder/cpu/vectors_each.h"
