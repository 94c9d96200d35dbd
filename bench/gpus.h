/* What the benchmarks of GPUs share (gpus.c, keys.c, nccl.c): their arguments, calls that must succeed, and the clock. */
#ifndef BENCH_GPUS_H
#define BENCH_GPUS_H

#include <reduct/reduct.h>

#include "arguments.h"
#include "drivers/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEVICES = 16, SKIPPED = 77 };

static const rd_cuda_driver *driver;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* Argument number `which` after the program's name, a number from `least` to `most`, or `otherwise` where there are fewer. */
static double argument(int argc, char **argv, int which, const char *name, double least, double most,
                       double otherwise) {
    double number = otherwise;
    char why[200];
    if (argc > which && !read_number(argv[which], least, most, &number)) {
        snprintf(why, sizeof why, "'%.60s'; expected a number from %.15g to %.15g", argv[which], least, most);
        stop(name, why);
    }
    return number;
}

/* Whether the first argument is --verify. Ends the program where more than `most` follow, or any other option is there. */
static bool read_arguments(int *argc, char ***argv, int most) {
    const bool verifies = *argc > 1 && strcmp((*argv)[1], "--verify") == 0;
    char why[200];
    *argc -= verifies;
    *argv += verifies;
    if (*argc > 1 + most) {
        snprintf(why, sizeof why, "'%.60s'; expected at most %d, after --verify or without", (*argv)[1 + most], most);
        stop("arguments", why);
    }
    return verifies;
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
