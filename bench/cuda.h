/* `reduct bench --device cuda:N`. */
#ifndef BENCH_CUDA_H
#define BENCH_CUDA_H

#include "bench/bench.h"

/* Measures, and reports. Returns the status that the program ends with. */
int bench_cuda(const bench_options *options);

#endif
