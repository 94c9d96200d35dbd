/* What the benchmarks of several GPUs share (gpus.c, nccl.c): calls that must succeed, and the clock. */
#ifndef BENCH_GPUS_H
#define BENCH_GPUS_H

#include <reduct/reduct.h>

#include "drivers/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEVICES = 16, SKIPPED = 77 };

static const rd_cuda_driver *driver;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void cuda(rd_cu_result result) {
    char text[160];
    if (result != RD_CU_SUCCESS)
        stop("CUDA", rd_cuda_result_text(driver, result, text, sizeof text));
}

static void must(reduct_status status, const reduct_error *error) {
    if (status != REDUCT_OK)
        stop("reduct", error->message);
}

static void *pointer(rd_cu_address address, size_t bytes) {
    return (void *)(uintptr_t)(address + bytes);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Doubles whose upper and lower halves are both 0x3fb99999, which cuMemsetD32Async() writes: nearly 0.1. */
enum { HALF = 0x3fb99999 };

#endif
