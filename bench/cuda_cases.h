/* One comparison on a CUDA device: the library's exact and fast modes, CUB, CUB's sum with the same bits on every GPU, and
 * as a yardstick the fast sum of the same bytes, on the same data in device memory, timed in turns. */
#ifndef BENCH_CUDA_CASES_H
#define BENCH_CUDA_CASES_H

#include "bench/cases.h"
#include "gpu/cuda.h"
#include "report/report.h"

typedef struct cuda_case {
    reduct_operator op;
    bench_others others; /* of whole arrays */
    reduct_type type;
    measure_data data;
    uint64_t n;      /* elements of each array; of matrices a multiple of the columns */
    unsigned offset; /* elements between an alignment of 256 bytes and the first */
    bench_shape shape;
    bool waits;         /* for each call, as who needs its result does; otherwise they are queued back to back */
    reduct_type result; /* of what others are checked with; REDUCT_DEFAULT */
} cuda_case;

/* Results that a case has, of each reduction. */
uint64_t cuda_result_count(const cuda_case *which);

/* Its operators, as in "sum+min". */
enum { CUDA_OPS_TEXT = 160 };
const char *cuda_ops_text(const cuda_case *which, char text[CUDA_OPS_TEXT]);

/* Whether two cases reduce to the same. */
bool cuda_same_ops(const cuda_case *a, const cuda_case *b);

/* The ways that are compared. What is the same in both modes is measured as exact. */
typedef enum cuda_way { CUDA_EXACT, CUDA_FAST, CUDA_SUM, CUDA_PEER, CUDA_GPU_TO_GPU, CUDA_WAYS } cuda_way;

/* What came out of one way. */
typedef struct cuda_run {
    bool ran;
    measure_statistics seconds; /* per run */
    gpu_cuda_launches launches;
    judge_finding finding;
    char note[80]; /* why it did not run */
} cuda_run;

typedef struct cuda_result {
    cuda_case which;
    uint64_t bytes_read; /* by one run */
    cuda_run runs[CUDA_WAYS];
    double ratio[CUDA_WAYS][CUDA_WAYS]; /* of time, [of][to], the median of the rounds; 0 where one did not run */
} cuda_result;

/* A device, the data there and on the host, kept from case to case. */
typedef struct cuda_lab cuda_lab;

/* Null, and a sentence in `why`, where the device cannot be used. Measures the read limit. */
cuda_lab *cuda_lab_create(const char *device, bench_settings settings, char *why, size_t room);
void cuda_lab_destroy(cuda_lab *lab);

const gpu_cuda_facts *cuda_lab_facts(const cuda_lab *lab);
double cuda_lab_read_limit(const cuda_lab *lab);    /* bytes per second; 0 if unknown */
unsigned cuda_lab_cub_version(const cuda_lab *lab); /* 300000 for 3.0.0; 0 where CUB is not there */
const char *cuda_lab_no_cub(const cuda_lab *lab);   /* why it is not; null where it is */
bool cuda_lab_has_gpu_to_gpu(const cuda_lab *lab);  /* whether CUB has sums with the same bits on every GPU */

/* Measures the read limit again: true if the device has slowed down since. */
bool cuda_lab_has_slowed(cuda_lab *lab);

/* Makes data for cases of that type and distribution with up to so many elements in all arrays together. Cases make what
 * they need themselves; this saves making it again for each size. */
void cuda_lab_prepare(cuda_lab *lab, reduct_type type, measure_data data, uint64_t elements);

/* Measures one case. 0; 1 when it does not exist (too few elements); ends the program with a message when the library
 * refuses or the device fails. */
int cuda_measure(cuda_lab *lab, const cuda_case *which, cuda_result *result);

/* Whether elements of the type are measured. */
bool cuda_has_type(reduct_type type);

const char *cuda_peer_name(const cuda_case *which); /* "CUB Sum"; null where it has none */

bool cuda_is_peer(cuda_way way); /* CUB's */

/* Its wrong results: of CUB, or of our own. */
int cuda_count_wrong(const cuda_result *result, bool peers);

#endif
