/* The ladder: every step of parallel reduction, runnable, verified, measured. This header is what its parts share. */
#ifndef LADDER_LADDER_H
#define LADDER_LADDER_H

#include "report/report.h"

#include <reduct/reduct.h>

#include <stdbool.h>

/* A step of the ladder: see rungs.def, where all are listed. */
typedef enum ladder_rung_kind { LADDER_RUNG_CPU, LADDER_RUNG_GPU, LADDER_RUNG_SPECIMEN } ladder_rung_kind;
typedef struct ladder_rung {
    ladder_rung_kind kind;
    const char *name;
    const char *idea; /* who adds what, in one line */
} ladder_rung;

/* Rung number i, the CPU's first, each ladder in the order in which it is climbed; null beyond the last. */
const ladder_rung *ladder_rung_at(size_t i);

/* How block sums become one number; independent of the rung. */
typedef enum ladder_finish {
    LADDER_FINISH_DEFAULT, /* what the rung is best with */
    LADDER_FINISH_HOST,
    LADDER_FINISH_ATOMIC,
    LADDER_FINISH_SECOND_LAUNCH,
    LADDER_FINISH_RECURSIVE,
    LADDER_FINISH_LAST_BLOCK
} ladder_finish;

/* "host", "atomic", "second-launch", "recursive", "last-block"; parse returns 0, or -1 and leaves `finish`. */
const char *ladder_finish_name(ladder_finish finish);
int ladder_finish_parse(const char *name, ladder_finish *finish);

/* What to run. */
typedef struct ladder_options {
    const char *device; /* "cpu", "cuda:0", "vulkan:0", "vulkan:llvmpipe" */
    uint64_t n;
    reduct_type type; /* REDUCT_I32, REDUCT_F32 or REDUCT_F64 */
    const char *rung; /* null for all */
    ladder_finish finish;
    bool every_finish; /* each rung with each finish */
    unsigned block;    /* threads per block, 0 for the rung's own */
    unsigned rounds;   /* timed rounds */
    bool specimens, applications, peers, profile, sweep;
    const char *language; /* of a Vulkan device's shaders: "glsl", "hlsl" or "all"; null for the device's own */
} ladder_options;

/* The data that every rung reduces, and the answers that judge it. */
typedef struct ladder_data {
    reduct_type type;
    uint64_t n;
    void *values;     /* n elements on the host */
    char exact[48];   /* the exact sum as text, shortest that reads back */
    int64_t integer;  /* i32: the sum modulo 2^32 as int32_t, which is what 32-bit rungs compute */
    double real;      /* f32, f64: the exact sum, correctly rounded to the type */
    double rest;      /* what that rounding took off */
    double magnitude; /* sum of absolute values, for error bounds */
} ladder_data;

/* Makes data for n elements of a type: seeded, the same everywhere. Integers are uniform on [-512, 512), so that nothing
 * overflows; floats are uniform on [0, 1), in steps of 2^-24 (f32) or 2^-53 (f64). Sums are formed with the library.
 * Returns 0, or -1 without memory. Destroying what was never created is fine if it is all zero. */
int ladder_data_create(ladder_data *data, reduct_type type, uint64_t n);
void ladder_data_destroy(ladder_data *data);

/* Fills verdict, expected, got and ulp of a row from a result in the element type, as report/judge.h says. A float is within
 * its bound when it is off by at most `terms` times the unit roundoff times the sum of magnitudes (terms: the longest chain
 * of additions that the method can form); with no terms it must be the exact sum, correctly rounded. */
void ladder_judge(report_row *row, const ladder_data *data, const void *result, double terms);

/* The passes that a recursive finish takes: group sums of g (at least 2) until one is left; 0 for n <= 1. From bit lengths
 * where g is a power of two, since floating logarithms are wrong at exact powers; by division otherwise. */
unsigned ladder_passes(uint64_t n, uint64_t g);

/* Adds the published and measured figures that belong beside this run: see references.c. */
void ladder_references_add(const ladder_options *options, report *r);

/* Each device's ladder: adds rows (and series, when options->sweep) to the report. Return REDUCT_OK, or a status with a sentence in
 * `error`: REDUCT_ERROR_NO_DEVICE where there is no such device. */
reduct_status ladder_cpu_run(const ladder_options *options, report *r, reduct_error *error);
reduct_status ladder_cuda_run(const ladder_options *options, report *r, reduct_error *error);
reduct_status ladder_vulkan_run(const ladder_options *options, report *r, reduct_error *error);

#endif
