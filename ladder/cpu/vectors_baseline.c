/* The vector rung with what every processor of its kind has: SSE2 on x86-64, NEON on AArch64. */
#define VECTOR_BYTES 16
#define VECTOR_TABLE cpu_vectors_baseline
#define VECTOR_SET   "baseline"
#include "ladder/cpu/vectors_each.h"
