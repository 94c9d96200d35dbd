/* The vector rung with AVX-512. */
#ifndef __AVX512F__
#error "compile this file with -mavx512f"
#endif
#define VECTOR_BYTES 64
#define VECTOR_TABLE cpu_vectors_avx512
#define VECTOR_SET   "avx512"
#include "ladder/cpu/vectors_each.h"
