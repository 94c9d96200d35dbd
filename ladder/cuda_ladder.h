/* What the parts of the CUDA ladder share: the device and its kernels, rungs, and a rung with a finish made ready to
 * run. cuda_lab.c has the device, cuda_rungs.c the rungs, cuda.c runs and times them (the climb itself is gpu.c's),
 * cuda_check.c verifies them; specimens, applications, peers and the profiler have a file each. */
#ifndef LADDER_CUDA_LADDER_H
#define LADDER_CUDA_LADDER_H

#include "drivers/cuda.h"
#include "gpu/cuda.h"
#include "gpu/cuda_peers.h"
#include "ladder/gpu.h"

/* Embedded kernels, from the sources in cuda/; empty where nvcc was not there. */
extern const rd_cuda_image ladder_cuda_images[];

/* ---------------------------------------------------------------------------------------------------------------------
 * Rungs
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a block takes at once, which decides how many blocks there are. */
typedef enum cuda_cover {
    CUDA_COVER_ONE,     /* an element per thread */
    CUDA_COVER_TWO,     /* two elements per thread */
    CUDA_COVER_WALK,    /* an element per thread, again and again: as many blocks as the device holds */
    CUDA_COVER_PAIRS,   /* two elements per thread, again and again */
    CUDA_COVER_VECTORS, /* four 16-byte vectors per thread, again and again */
    CUDA_COVER_TILES,   /* 16 KiB per block, again and again */
    CUDA_COVER_EXACT    /* what the library chooses: the rung is one call of it */
} cuda_cover;

/* Dynamic shared memory that a launch asks for. */
typedef enum cuda_shared { CUDA_SHARED_NONE, CUDA_SHARED_ONE, CUDA_SHARED_TWO, CUDA_SHARED_RING } cuda_shared;

typedef struct cuda_rung {
    ladder_step step;   /* of a specimen the rung that the mistake is in */
    const char *image;  /* of a specimen: where the kernels are; those of a rung are in a file of its name */
    const char *kernel; /* of a specimen: what their names begin with */
    cuda_cover cover;
    cuda_shared shared; /* an element, or two, per thread; or the ring of ring.cuh */
    gpu_cuda_way way;
    unsigned cluster;   /* blocks that leave one sum together; 0 where each leaves its own */
    unsigned producers; /* threads of a block that order copies and add nothing */
    bool destroys_input;
    bool per_block_size; /* there is a kernel for each power of two, and one for other sizes */
    bool whole_warps;    /* blocks must be multiples of 32 */
    bool own_finish;     /* there is a kernel for last-block alone, which does it in another way */
} cuda_rung;

/* Whether a rung is made for a finish and for blocks of so many threads, or 0 for its own; if not, one sentence in `why`. */
bool cuda_rung_suits(const cuda_rung *rung, ladder_finish finish, unsigned block, char *why, size_t room);

enum { CUDA_BLOCK_DEFAULT = 256 };

/* Rung number i in order, null beyond the last; and the one of the list of all rungs, null if CUDA has none. */
const cuda_rung *cuda_rung_at(size_t i);

/* The name of the image that a rung's kernels are in, for which `text` has room. */
enum { CUDA_IMAGE_NAME = 40 };
const char *cuda_rung_image(const cuda_rung *rung, char text[CUDA_IMAGE_NAME]);
const cuda_rung *cuda_rung_of(ladder_step step);

/* ---------------------------------------------------------------------------------------------------------------------
 * The device
 * ------------------------------------------------------------------------------------------------------------------ */

enum { CUDA_MODULES_MOST = 64 };

typedef struct cuda_lab cuda_lab;

/* A rung, a finish, a type, n elements and a block size, ready to run as often as one likes. */
typedef struct cuda_run {
    cuda_lab *lab;
    const cuda_rung *rung;
    ladder_finish finish;
    reduct_type type;
    uint64_t n;
    unsigned block;  /* threads */
    unsigned blocks; /* that leave a sum, of the first launch: clusters, where the rung has them */
    gpu_passes passes;
    char kernel_name[64];
    gpu_cuda_kernel kernel, last_step; /* last_step: of the finish second-launch */
    bool clears;                       /* the finish atomic clears the result first; a specimen does not */
    _Alignas(8) unsigned char host_result[8];
} cuda_run;

/* The profiler's counters for a kernel. */
typedef struct cuda_counters {
    char kernel[64];
    double bank_conflicts, shared_transactions, divergence, active_lanes;
} cuda_counters;

/* A device, the modules loaded so far, and scratch memory that grows as needed. */
struct cuda_lab {
    gpu_cuda *device;
    const gpu_cuda_facts *facts;
    char name[24]; /* "cuda:0" */
    struct {
        const char *image;
        gpu_cuda_module *module;
    } modules[CUDA_MODULES_MOST];
    size_t module_count;
    uint64_t partials[2], partials_bytes; /* block sums; recursive passes go from one to the other */
    uint64_t result;                      /* 64 bytes */
    uint64_t ticket;                      /* 4 bytes, zero between launches */
    void *host_partials;
    reduct_plan *plan;       /* of the exact rung, as it was last made ready */
    double read_limit;       /* bytes per second; 0 until measured */
    gpu_cuda_input input;    /* of the climb */
    cuda_run run;            /* of the climb */
    cuda_counters *counters; /* the profiler's, if it ran */
    size_t counter_count;
};

/* Opens "cuda" or "cuda:N". On failure `error` says why: no such device, or no kernels in this build. */
reduct_status cuda_lab_open(cuda_lab *lab, const char *device, reduct_error *error);
void cuda_lab_close(cuda_lab *lab);

/* A kernel of an embedded image; function null, and one sentence in `why`, where it cannot be had. */
gpu_cuda_kernel cuda_lab_kernel(cuda_lab *lab, const char *image, const char *name, unsigned dynamic_shared, char *why,
                                size_t room);

/* Room for so many bytes of block sums, twice on the device and once on the host. */
void cuda_lab_reserve(cuda_lab *lab, uint64_t bytes);

/* The library's reduction of n elements, in the exact mode; null, and one sentence in `why`, where it cannot be had. */
reduct_plan *cuda_plan(const char *device, reduct_operator op, reduct_type type, uint64_t n, char *why, size_t room);

/* Queues one execution of a plan for the lab's device, into the lab's result, or into memory of the device. A failure is the
 * device's. */
void cuda_lab_execute(cuda_lab *lab, const reduct_plan *plan, uint64_t x, uint64_t y);
void cuda_lab_execute_into(cuda_lab *lab, const reduct_plan *plan, uint64_t x, uint64_t y, uint64_t result);

/* ---------------------------------------------------------------------------------------------------------------------
 * A rung made ready
 * ------------------------------------------------------------------------------------------------------------------ */

/* Prepares; `finish` may be the default one and `block` 0. Returns false, and one sentence in `why`, where the rung
 * cannot be run like that on this device. Of the exact rung, one run is ready at a time. */
bool cuda_run_prepare(cuda_run *run, cuda_lab *lab, const cuda_rung *rung, ladder_finish finish, reduct_type type,
                      uint64_t n, unsigned block, char *why, size_t room);

/* Queues the reduction of the elements at `input`, once. The finish host waits for the device. */
void cuda_run_once(cuda_run *run, uint64_t input);

/* What the last run gave, in the element type. */
void cuda_run_result(cuda_run *run, void *result);

/* The longest chain of additions that an element goes through: what its rounding error is judged by. 0 if exact. */
double cuda_run_terms(const cuda_run *run);

/* The fields of a report's row that do not need a measurement. */
void cuda_run_describe(const cuda_run *run, report_row *row);

/* Fills in a time, and its shares of this device's limits. */
void cuda_row_time(const cuda_lab *lab, report_row *row, const measure_statistics *seconds);

/* Fills in what a kernel needs, launched in blocks of so many threads; nothing where it is not known. */
void cuda_row_kernel(const cuda_lab *lab, report_row *row, const gpu_cuda_kernel *kernel, unsigned block);

/* A row of a group, with device and language. */
report_row cuda_row(const cuda_lab *lab, const char *group, const char *name, reduct_type type, uint64_t n);

/* ---------------------------------------------------------------------------------------------------------------------
 * The other parts of a run; each adds rows to the report
 * ------------------------------------------------------------------------------------------------------------------ */

void cuda_run_specimens(cuda_lab *lab, const ladder_options *options, report *r);
void cuda_run_applications(cuda_lab *lab, const ladder_options *options, report *r);
/* Of the applications, sums of texels: of floats in `data`, which `array` has. */
void cuda_run_textures(cuda_lab *lab, const ladder_options *options, const ladder_data *data,
                       const gpu_cuda_input *array, report *r);
void cuda_run_peers(cuda_lab *lab, const ladder_options *options, const ladder_data *data, const gpu_cuda_input *input,
                    report *r);

/* What the peers call an element type of the ladder. */
enum gpu_peer_type cuda_peer_type(reduct_type type);

/* "3.0.1", behind a name. */
void cuda_peer_version(int version, const char *name, char *text, size_t room);

/* Points of the peers' curves: bandwidth over n. */
void cuda_add_peer_points(cuda_lab *lab, const ladder_options *options, uint64_t n, unsigned rounds,
                          const gpu_cuda_input *input, report *r);

enum { CUDA_COUNTERS_MOST = 256 };

/* Whether this process is the one that a profiler watches: it launches each kernel once, and reports nothing. */
bool cuda_profile_is_watched(void);

/* Whether a watched process is there for this type and this many elements: its arguments may name several. */
bool cuda_profile_is_for(const ladder_options *options);

/* Runs this program again, with the same arguments, under the profiler, for the type and the number of elements of
 * `options`. Returns the number of kernels seen; 0, and one sentence in `why`, where that cannot be. */
size_t cuda_profile(const ladder_options *options, cuda_counters counters[CUDA_COUNTERS_MOST], char *why, size_t room);

#endif
