/* The ladder: every step of parallel reduction, runnable, verified, measured. This header is what its parts share. */
#ifndef LADDER_LADDER_H
#define LADDER_LADDER_H

#include "report/report.h"

#include <reduct/reduct.h>

#include <stdbool.h>

/* How block sums become one number; independent of the rung. */
typedef enum ladder_finish {
    LADDER_FINISH_DEFAULT, /* the rung's own */
#define LADDER_FINISH(ID, name, idea) LADDER_FINISH_##ID,
#include "ladder/finishes.def"
    LADDER_FINISHES
} ladder_finish;

/* "host", "atomic" and so on, as in finishes.def; parse returns 0, or -1 and leaves `finish`. */
const char *ladder_finish_name(ladder_finish finish);
int ladder_finish_parse(const char *name, ladder_finish *finish);

/* A step of a ladder: see rungs.def, where all are listed. */
typedef enum ladder_rung_kind {
    LADDER_RUNG_CPU,
    LADDER_RUNG_GPU,
    LADDER_RUNG_SPECIMEN,
    LADDER_RUNG_ROWS,
    LADDER_RUNG_GROUPS
} ladder_rung_kind;
typedef struct ladder_rung {
    ladder_rung_kind kind;
    const char *name;
    ladder_finish finish; /* its own; of the CPU's rungs the default, as they have none */
    const char *idea;     /* who adds what, in one line */
    bool only_cuda;       /* shader languages cannot say it */
} ladder_rung;

/* Rungs as indices: LADDER_PLAIN to LADDER_EXACT are the CPU's. */
typedef enum ladder_step {
#define LADDER_CPU(ID, name, idea)                          LADDER_##ID,
#define LADDER_GPU(ID, name, FINISH, BEFORE, idea)          LADDER_##ID,
#define LADDER_GPU_CUDA(ID, name, FINISH, BEFORE, idea)     LADDER_##ID,
#define LADDER_GPU_SPECIMEN(ID, name, FINISH, BEFORE, idea) LADDER_##ID,
#define LADDER_ROWS(ID, name, idea)                         LADDER_##ID,
#define LADDER_GROUPS(ID, name, idea)                       LADDER_##ID,
#include "ladder/rungs.def"
    LADDER_RUNGS
} ladder_step;

/* All rungs, the CPU's first, each ladder in the order in which it is climbed. */
extern const ladder_rung ladder_rungs[LADDER_RUNGS];

/* What keys of 32 bits can name, and memory hold. */
#define LADDER_GROUPS_MOST (UINT64_C(1) << 28)

/* What to run. */
typedef struct ladder_options {
    const char *device; /* "cpu", "cuda:0", "vulkan:0", "vulkan:llvmpipe" */
    uint64_t n;
    uint64_t columns; /* of the ladder of rows: the length of each; 0 for one sum of everything, or of each group */
    uint64_t
        groups; /* of the ladder of groups: how many, at most LADDER_GROUPS_MOST; 0 for one sum of everything, or of rows */
    reduct_type type; /* REDUCT_I32, REDUCT_F32 or REDUCT_F64 */
    const char *rung; /* null for all */
    ladder_finish finish;
    bool every_finish; /* each rung with each finish */
    unsigned block;    /* threads per block, 0 for the rung's own */
    unsigned rounds;   /* timed rounds */
    bool cancelling;   /* the floats cancel */
    bool specimens, applications, peers, profile, sweep;
    const char
        *language; /* of a Vulkan device's shaders: "glsl", "hlsl", "slang" or "all"; null for the device's own */
} ladder_options;

/* Whether a rung or specimen is asked for: by its name, or as all are where `asked` is null. */
bool ladder_wants(const char *asked, const char *rung);

/* Puts a sentence into `error`, which may be null, and returns the status. */
reduct_status ladder_fail(reduct_error *error, reduct_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A row of n elements of a type with what tells it from others. */
report_row ladder_row(const char *group, const char *name, const char *device, const char *language, reduct_type type,
                      uint64_t n);

/* Adds a point to a rung's curve of bandwidth over n; nothing for 0 seconds. */
void ladder_add_point(report *r, const char *curve, reduct_type type, uint64_t n, double seconds);

/* The data that every rung reduces, and the answers that judge it. */
typedef struct ladder_data {
    reduct_type type;
    bool cancelling;
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

/* The same with floats that cancel: seven of eight are large, up to 2^15, and have their negatives in the other half of the
 * array, as far from its end as they are from its beginning; what remains are the others, below 2^-8. The sum is some seven
 * million times smaller than the sum of magnitudes, so that every order of additions gives another one. */
int ladder_data_create_cancelling(ladder_data *data, reduct_type type, uint64_t n);

/* As the options say. */
int ladder_data_create_for(const ladder_options *options, ladder_data *data);
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

/* Each device's ladder: adds rows (and series, when options->sweep) to the report. Return REDUCT_OK, or a status with a
 * sentence in `error`: REDUCT_ERROR_NO_DEVICE where there is no such device. */
reduct_status ladder_cpu_run(const ladder_options *options, report *r, reduct_error *error);
reduct_status ladder_cuda_run(const ladder_options *options, report *r, reduct_error *error);
reduct_status ladder_vulkan_run(const ladder_options *options, report *r, reduct_error *error);

#endif
