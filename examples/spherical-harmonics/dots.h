/* A way to compute dot products: the one place where this program meets a device.
 *
 * Each of some arrays on the left times each of some on the right, exactly, rounded once to double. Since the result is
 * the correctly rounded one, every way gives the same bits. dots.c lists the ways; a new one is a function here and a
 * line there. */
#ifndef HARMONICS_DOTS_H
#define HARMONICS_DOTS_H

#include "problem.h"

#include <stddef.h>

typedef struct dots_input {
    size_t count;              /* floats in every array */
    const float *const *left;  /* `lefts` arrays */
    const float *const *right; /* `rights` arrays */
    size_t lefts, rights;
} dots_input;

typedef struct dots_request {
    const char *device; /* "auto", "cpu", "cpu:avx2", "cuda:0", "vulkan:0", "vulkan:llvmpipe", ... */
    unsigned threads;   /* most to use; 0 for as many as pay */
} dots_request;

/* The device that did it. */
typedef struct dots_used {
    char device[64];
} dots_used;

/* results[i * rights + j] = left[i] . right[j]. Chooses the way by the device's name. */
bool dots(const dots_request *request, const dots_input *input, double *results, dots_used *used, problem *why);

/* One way. */
typedef bool dots_way(const dots_request *request, const dots_input *input, double *results, dots_used *used,
                      problem *why);

/* The library's operator `dot`, on every device that the library knows. */
dots_way dots_by_library;

/* The library's exact shaders on Vulkan devices, which the ladder's code drives: the library itself drives none. */
dots_way dots_by_vulkan;

#endif
