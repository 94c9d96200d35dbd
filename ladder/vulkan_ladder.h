/* What the parts of the Vulkan ladder share: the device and its kernels, rungs, and a rung with a finish made ready to
 * run. vulkan.c runs and times them (the climb itself is gpu.c's), vulkan_check.c verifies them, vulkan_specimens.c has
 * the mistakes, vulkan_applications.c what is no sum, vulkan_exact.c the exact rung.
 *
 * What a rung's shader is given, in GLSL and HLSL alike:
 *
 *   binding 0   input      n elements from element 0 on; 32 bits count them, as a binding has 4 GiB at most
 *   binding 1   partials   group sums: this dispatch's begin at element `first`
 *   binding 2   result     one element, cleared before an atomic finish
 *   binding 3   ticket     one uint: groups that are done; zero before and after (finish last-block)
 *   push constants         vulkan_push, below
 *
 * and what defines it when it is compiled:
 *
 *   GLSL   glsl/RUNG.comp, with TYPE_I32, TYPE_F32 or TYPE_F64, once each: "glsl/halving_f32"; with ATOMIC_NATIVE besides
 *          where the finish atomic needs what not every device has: "glsl/halving_f32_atomic" (float addition),
 *          "glsl/halving_f64_atomic" (64-bit compare-and-swap); with NO_SUBGROUPS for the variant without subgroup
 *          operations of a rung that uses them: "glsl/shuffle_f32_shared". Specialisation constants: 0 the group's
 *          size, 1 the way out (vulkan_way)
 *   HLSL   hlsl/RUNG.hlsl, with TYPE_I32 or TYPE_F32, GROUP=size for powers of two from 16 to 1024, and WAY=0, 1, 2
 *          (vulkan_way): "hlsl/halving_f32_store_256"
 *   Slang  slang/RUNG.slang, compiled beforehand: slang/spirv/ has a module for each type, with a point of entry for each way
 *          out: "slang/halving_f32_store"; for f64 the one that needs 64-bit atomics has a module of its own,
 *          "slang/halving_f64_atomic_atomic". Specialisation constant 0 is the group's size
 */
#ifndef LADDER_VULKAN_LADDER_H
#define LADDER_VULKAN_LADDER_H

#include "gpu/vulkan.h"
#include "ladder/gpu.h"

/* Embedded shaders, from the sources in glsl/, hlsl/ and slang/; empty where the compilers were not there. */
extern const rd_vulkan_shader *const ladder_vulkan_shaders[];

/* The push constants of every rung. */
typedef struct vulkan_push {
    uint32_t n;      /* elements */
    uint32_t groups; /* that have work; a dispatch in rows may have more, which must not touch anything */
    uint32_t row;    /* groups in a row: a group's number is y * row + x */
    uint32_t first;  /* where this dispatch's sums begin among the partials */
    uint32_t total;  /* groups of all dispatches over the pieces of one array, which share partials and ticket */
} vulkan_push;

/* How a group hands over its sum. */
typedef enum vulkan_way {
    VULKAN_STORE,     /* partials[first + group] */
    VULKAN_ATOMIC,    /* added to the result */
    VULKAN_LAST_GROUP /* stored; the last of `total` groups adds up all of them, in a fixed order, and resets the ticket */
} vulkan_way;

/* ---------------------------------------------------------------------------------------------------------------------
 * Rungs
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct vulkan_lab vulkan_lab;

/* What rungs are written in, in the order in which a report has them. */
typedef enum vulkan_language { VULKAN_GLSL, VULKAN_HLSL, VULKAN_SLANG, VULKAN_LANGUAGES } vulkan_language;

/* In options and reports, "hlsl"; in sentences, "HLSL". */
const char *vulkan_language_name(vulkan_language language);
const char *vulkan_language_title(vulkan_language language);

/* What a device lacks for every kernel in it; null if nothing. */
const char *vulkan_language_lack(vulkan_language language, const gpu_vulkan_facts *facts);

/* What a group takes at once, which decides how many groups there are. */
typedef enum vulkan_cover {
    VULKAN_COVER_ONE,     /* an element per invocation */
    VULKAN_COVER_TWO,     /* two elements per invocation */
    VULKAN_COVER_WALK,    /* an element per invocation, again and again: as many groups as the device holds */
    VULKAN_COVER_VECTORS, /* four 16-byte vectors per invocation, again and again */
    VULKAN_COVER_EXACT    /* as vulkan_exact.h says */
} vulkan_cover;

/* What a rung asks of subgroups; where that is not there, or wrong, its variant in shared memory runs. */
typedef enum vulkan_needs {
    VULKAN_NEEDS_NOTHING,
    VULKAN_NEEDS_BARRIERS, /* of a subgroup; and ballots, to count its lanes, as all that follow */
    VULKAN_NEEDS_SHUFFLES,
    VULKAN_NEEDS_SUMS /* reductions by the driver */
} vulkan_needs;

typedef struct vulkan_rung {
    ladder_step step; /* of a specimen the rung that the mistake is in */
    const char *file; /* of a specimen's shader; that of a rung is in a file of its name */
    vulkan_cover cover;
    vulkan_needs needs;
    bool is_untried; /* a specimen: its mistakes are not the device's */
    bool destroys_input;
    unsigned lacks;  /* the languages that it is not written in: a bit for each */
    bool window_u32; /* of the exact rungs, the one with its window in 32-bit integers */
} vulkan_rung;

enum { VULKAN_GROUP_DEFAULT = 256, VULKAN_GROUP_LEAST = 16, VULKAN_GROUP_MOST = 1024 };

/* Rung number i in order, null beyond the last; and the first of a rung of the list, null if Vulkan has none. */
const vulkan_rung *vulkan_rung_at(size_t i);
const vulkan_rung *vulkan_rung_of(ladder_step step);

/* Whether there is such a rung for a type in the lab's language; another row says the same otherwise. */
bool vulkan_has_rung(const vulkan_lab *lab, const vulkan_rung *rung, reduct_type type);

/* ---------------------------------------------------------------------------------------------------------------------
 * The device
 * ------------------------------------------------------------------------------------------------------------------ */

/* A rung, a finish, a type, an input and a group size, ready to run as often as one likes. */
typedef struct vulkan_run {
    vulkan_lab *lab;
    const vulkan_rung *rung;
    ladder_finish finish;
    reduct_type type;
    uint64_t n;
    const gpu_vulkan_input *input;
    unsigned group;  /* invocations */
    uint64_t groups; /* of the first pass, over all pieces */
    gpu_passes passes;
    bool in_shared_memory; /* the variant without subgroups, as `note` says why */
    bool compares;         /* the finish atomic goes by compare-and-swap */
    char note[120];
    gpu_vulkan_kernel *kernel, *last_step; /* last_step: of the finish second-launch */
    struct vulkan_exact *exact;
    uint64_t bound_beyond; /* bytes behind the array that a binding shows as well: a specimen reads them */
    bool clears;           /* the finish atomic clears the result first; a specimen does not */
    _Alignas(8) unsigned char host_result[8];
} vulkan_run;

typedef struct vulkan_kernel vulkan_kernel; /* a kernel that was made once, and whether it passed its trial */

/* A device, the kernels made so far, and scratch memory that grows as needed. */
struct vulkan_lab {
    gpu_vulkan *device;
    const gpu_vulkan_facts *facts;
    vulkan_language language;       /* of the rungs */
    gpu_vulkan_buffer *partials[2]; /* group sums; recursive passes go from one to the other */
    uint64_t partials_bytes;
    gpu_vulkan_buffer *result, *ticket, *trial;
    void *host_partials;
    vulkan_kernel **kernels;
    size_t kernel_count;
    gpu_vulkan_input input; /* of the climb */
    vulkan_run run;         /* of the climb */
    double read_limit;      /* bytes per second; 0 until measured */
    uint64_t piece_most;    /* bytes of a piece of an input; 0 for what the device can */
    bool doubts_subgroups;  /* for tests: every trial of subgroups fails */
    char distrusted[160];   /* the last kernel whose trial failed; empty if none did */
};

/* Opens "vulkan", "vulkan:N" or "vulkan:NAME". On failure `error` says why: no such device, or no shaders here. */
reduct_status vulkan_lab_open(vulkan_lab *lab, const char *device, vulkan_language language, reduct_error *error);
void vulkan_lab_close(vulkan_lab *lab);

/* The shader of that name as a kernel for groups of that size and a way out (null if it is not there or cannot be
 * made, with one sentence in `why`); it is kept until the lab is closed. `needs` says whether it must pass a trial: a
 * sum by one group whose result is known. `*passed` says whether it did. */
gpu_vulkan_kernel *vulkan_lab_kernel(vulkan_lab *lab, const char *shader, unsigned group, vulkan_way way,
                                     reduct_type type, vulkan_needs needs, bool *passed, char *why, size_t room);

/* Records a dispatch of a kernel as above on n elements; sums go to `partials` from element `first`. */
void vulkan_lab_dispatch(vulkan_lab *lab, gpu_vulkan_kernel *kernel, gpu_vulkan_slice elements,
                         gpu_vulkan_buffer *partials, vulkan_push push);

/* Room for so many bytes of group sums, twice on the device and once on the host. */
void vulkan_lab_reserve(vulkan_lab *lab, uint64_t bytes);

/* Groups of that size that the device holds at once, as far as it tells; what keeps it busy otherwise. */
uint64_t vulkan_lab_resident_groups(const vulkan_lab *lab, unsigned group, int registers);

/* Measures bytes per second that the device can read; 0 on failure. */
double vulkan_lab_read_limit(vulkan_lab *lab);

/* ---------------------------------------------------------------------------------------------------------------------
 * A rung made ready
 * ------------------------------------------------------------------------------------------------------------------ */

/* Prepares; `finish` may be the default one and `group` 0. Returns false, and one sentence in `why`, where the rung
 * cannot be run like that on this device. The input must live as long as the run. */
bool vulkan_run_prepare(vulkan_run *run, vulkan_lab *lab, const vulkan_rung *rung, ladder_finish finish,
                        reduct_type type, const gpu_vulkan_input *input, unsigned group, char *why, size_t room);

/* Records the reduction of the copy of that number, once. The finish host waits for the device. */
void vulkan_run_once(vulkan_run *run, uint64_t copy);

/* What the last run gave, in the element type. */
void vulkan_run_result(vulkan_run *run, void *result);

/* Frees what the run holds beside the lab's; a run of zeros is fine. */
void vulkan_run_destroy(vulkan_run *run);

/* The longest chain of additions that an element goes through: what its rounding error is judged by. 0 if exact. */
double vulkan_run_terms(const vulkan_run *run);

/* The fields of a report's row that do not need a measurement. */
void vulkan_run_describe(const vulkan_run *run, report_row *row);

/* A row of a group, with device and language. */
report_row vulkan_row(const vulkan_lab *lab, const char *group, const char *name, reduct_type type, uint64_t n);

/* Adds the rows of the applications in the lab's language to the report. */
void vulkan_run_applications(vulkan_lab *lab, const ladder_options *options, report *r);

/* One of them, `op` being dot, max or mean, of n elements in x (and n in y, which only dot looks at), in memory that held
 * something else before. Returns false, and one sentence in `why`, where it cannot be run. */
bool vulkan_apply(vulkan_lab *lab, reduct_operator op, reduct_type type, const void *x, const void *y, uint64_t n,
                  void *result, char *why, size_t room);

/* Adds those of sums of texels, of floats in `data`, which `array` begins with; part of the applications. */
void vulkan_run_textures(vulkan_lab *lab, const ladder_options *options, const ladder_data *data,
                         const gpu_vulkan_input *array, report *r);

/* Adds the specimens' rows to the report. */
void vulkan_run_specimens(vulkan_lab *lab, const ladder_options *options, report *r);

#endif
