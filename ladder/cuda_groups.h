/* The ladder of groups on CUDA: keys for the ladder's data, and a rung made ready for them, run, and judged. cuda_groups.c has it,
 * cuda.c climbs it, cuda_check.c verifies it. */
#ifndef LADDER_CUDA_GROUPS_H
#define LADDER_CUDA_GROUPS_H

#include "ladder/cuda_ladder.h"
#include "ladder/many.h"

/* The rungs in order. */
size_t cuda_groups_count(void);
const char *cuda_groups_name(size_t i);

/* In what order keys come. */
typedef enum cuda_groups_order {
    CUDA_GROUPS_RANDOM, /* every group is as likely, for each element */
    CUDA_GROUPS_SORTED, /* all elements of a group together */
    CUDA_GROUPS_ORDERS
} cuda_groups_order;

/* A key for each element of the data, below `groups`, and what the groups' sums are. */
typedef struct cuda_groups_keys {
    uint64_t groups;
    gpu_cuda_input input; /* 32-bit keys on the device */
    many_units *sums;     /* of each group */
    uint64_t most;        /* elements of the largest group */
} cuda_groups_keys;

/* Makes keys; `rotate` as gpu_cuda_input_create() has it. Memory that is lacking on the device is the device's failure. */
cuda_groups_keys cuda_groups_keys_create(cuda_lab *lab, const ladder_data *data, uint64_t groups,
                                         cuda_groups_order order, bool rotate);
void cuda_groups_keys_destroy(cuda_lab *lab, cuda_groups_keys *keys);

typedef struct cuda_groups_run {
    cuda_lab *lab;
    ladder_step step;
    reduct_type type;
    uint64_t n, groups;
    unsigned blocks;
    gpu_cuda_kernel kernel, last_step;
    reduct_plan *plan;            /* of the exact rung */
    const gpu_peers *peers;       /* of group-sorted alone, and null where they are not there */
    uint64_t scratch;             /* on the device: what they ask for */
    size_t scratch_bytes;         /* of it */
    uint64_t slices;              /* on the device: two integers for each group, of group-slices alone */
    uint64_t result;              /* on the device */
    size_t cleared, result_bytes; /* cleared: bytes of the slices or the results, before each run */
} cuda_groups_run;

/* Makes rung number i ready for n elements; false, and one sentence in `why`, where it cannot be run. To be released either
 * way. */
bool cuda_groups_prepare(cuda_groups_run *run, cuda_lab *lab, size_t i, reduct_type type, uint64_t n, uint64_t groups,
                         char *why, size_t room);
void cuda_groups_release(cuda_groups_run *run);

/* Queues it once on the elements at `values`, whose keys are at `keys`. */
void cuda_groups_once(cuda_groups_run *run, uint64_t keys, uint64_t values);

/* Fills in what came of the last run: the worst of its results. */
void cuda_groups_judge(cuda_groups_run *run, const cuda_groups_keys *keys, report_row *row);

/* Adds a row of the report for each rung and order of keys: options->groups groups of the ladder's data, which are the lab's
 * input. */
void cuda_run_groups(cuda_lab *lab, const ladder_options *options, const ladder_data *data, report *r);

#endif
