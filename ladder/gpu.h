/* What the ladders of GPUs have in common, whatever their language: the climb itself. Each rung is verified, timed and
 * verified again; the sweep over n, the warnings, and how specimens are judged. A ladder (cuda.c, vulkan.c) says in a table
 * of functions how things are done on its device. */
#ifndef LADDER_GPU_H
#define LADDER_GPU_H

#include "ladder/ladder.h"
#include "measure/statistics.h"

/* How a ladder does what every ladder does. `lab` is its own; it holds one input and one run at a time. */
typedef struct gpu_device {
    /* Names of its rungs in order; null beyond the last. A name may come twice, for two ways of doing it. And whether the
     * lab has that rung for a type at all: what it has and cannot run here has a row that says why. */
    const char *(*rung_at)(size_t i);
    bool (*has_rung)(void *lab, size_t i, reduct_type type);
    /* A row of a group, with the device's and the language's names. */
    report_row (*row)(void *lab, const char *group, const char *name, reduct_type type, uint64_t n);
    /* Elements on the device, in as many copies as runs in turn must have to find none in cache; one input at a time. */
    void (*create_input)(void *lab, const void *values, uint64_t bytes);
    void (*restore_input)(void *lab, const void *values, uint64_t bytes);
    void (*destroy_input)(void *lab);
    /* Makes rung number i ready; false, and one sentence in `why`, where it cannot be run like that. */
    bool (*prepare)(void *lab, size_t i, ladder_finish finish, reduct_type type, uint64_t n, unsigned block, char *why,
                    size_t room);
    /* Of the rung made ready: its finish, whether it destroys its input, what a row says of it, how many additions an
     * element goes through (0: exact). */
    ladder_finish (*finish)(void *lab);
    bool (*destroys_input)(void *lab);
    void (*describe)(void *lab, report_row *row);
    double (*terms)(void *lab);
    /* Runs it once on the copy of that number; what the last run gave. */
    void (*run_once)(void *lab, uint64_t number);
    void (*result)(void *lab, void *result);
    measure_statistics (*time)(void *lab, unsigned rounds);
    /* Bytes per second that the device can read. */
    double (*read_limit)(void *lab);
    double nominal; /* bytes per second, 0 if not known */
    uint64_t (*free_memory)(void *lab);
    /* What failed, null if nothing has; and forgetting it, false where the device cannot go on. */
    const char *(*error)(void *lab);
    bool (*forgive)(void *lab);
    /* More points of a sweep, on the input that is there; may be null. */
    void (*add_points)(void *lab, const ladder_options *options, uint64_t n, unsigned rounds, report *r);
} gpu_device;

/* A climb of one device's ladder: type, n and all else as the options say. */
typedef struct gpu_climb {
    const gpu_device *device;
    void *lab;
    const ladder_options *options;
    report *r;
    ladder_data data;
    double limit;         /* bytes per second that the device can read, measured at the start */
    double first_seconds; /* of the first rung, for speed-ups */
    char first_finish[64];
    bool finishes_differ; /* among the rungs that are compared with it */
    uint64_t sweep_most;  /* elements; 0 for 2^28 */
    unsigned timed, noisy;
} gpu_climb;

/* Adds a row for every rung that is wanted, with every finish that is. Returns false where the device cannot go on. */
bool gpu_add_rungs(gpu_climb *c);

/* Bandwidth over n: powers of two from 2^10 to 2^28 or `sweep_most`, as far as memory goes; each size has data of its
 * own, and is verified. The input must have been destroyed. */
void gpu_sweep(const gpu_climb *c);

/* That times spread widely, or that the device has slowed down. */
void gpu_add_warnings(const gpu_climb *c);

/* A rate in GB/s with three digits, of large ones all: "3119 GB/s", "1.65 GB/s". Returns `text`. */
char *gpu_rate_text(double bytes_per_second, char *text, size_t room);

/* Whether the options ask for specimens. */
bool gpu_wants_specimens(const ladder_options *options);

/* What every GPU's ladder refuses: types that it has no kernels for, rungs that are not on it. */
reduct_status gpu_check_options(const ladder_options *options, const char *ladder, reduct_error *error);

/* The name of the file that a rung's kernel is in, in CUDA and GLSL: "first_add". Returns `text`. */
const char *gpu_file_name(ladder_step step, char *text, size_t room);

/* The ladder's entry of that name, rungs and specimens of GPUs alone; null for any other. */
const ladder_rung *gpu_rung_named(const char *name);

/* Fills in a time, and its shares of the limits (bytes per second; 0 if not known). */
void gpu_row_time(report_row *row, const measure_statistics *seconds, double limit, double nominal);

/* The failure of a device, if there is one, becomes the row's: `where` is said before it. */
void gpu_row_error(report_row *row, const char *where, const char *error);

/* A point of a rung's curve of bandwidth over n. Nothing is added for 0 seconds. */
void gpu_add_point(report *r, const char *name, const char *language, reduct_type type, uint64_t n, double seconds);

/* The launches of a recursive finish: block sums of block sums, until one is left. */
enum { GPU_PASSES_MOST = 64 }; /* a block takes two elements at least */
typedef struct gpu_passes {
    unsigned count;
    uint64_t blocks[GPU_PASSES_MOST]; /* of each pass; they are the elements of the next */
} gpu_passes;

/* The passes that follow from the blocks of the first; `blocks_for` says how many blocks a run has for n elements. */
gpu_passes gpu_plan_passes(uint64_t blocks, uint64_t (*blocks_for)(const void *run, uint64_t n), const void *run);

/* In the element type, one after the other, as one would: the finish `host`. */
void gpu_sum_on_host(reduct_type type, const void *partials, uint64_t count, void *sum);

/* Times that spread by more than GPU_NOISY of the median: something else must use the device, or its clocks move. */
#define GPU_NOISY 0.05

/* ---------------------------------------------------------------------------------------------------------------------
 * Textures: floats that fill one row by row, and the ways of reading them that are compared
 * ------------------------------------------------------------------------------------------------------------------ */

typedef enum gpu_texture_way {
    GPU_TEXTURE_ARRAY,
    GPU_TEXTURE_ROWS,
    GPU_TEXTURE_TILES,
    GPU_TEXTURE_WAYS
} gpu_texture_way;
typedef struct gpu_texture {
    const char *file, *variant; /* as in the names of kernels, "rows"; as in reports */
} gpu_texture;
extern const gpu_texture gpu_textures[GPU_TEXTURE_WAYS];

/* In whole tiles of 16 x 16 texels, which groups of 256 take in turn. */
typedef struct gpu_texture_shape {
    unsigned width, height; /* the width a power of two */
} gpu_texture_shape;

/* Copies of a texture that runs take in turn, so that none is in a cache: of fewer elements than a million or so some are. */
enum { GPU_TEXTURE_LAYERS_MOST = 64 };

/* The least texture that is about as wide as high. What is behind the elements is to be 0. */
gpu_texture_shape gpu_texture_shape_of(uint64_t n);
uint64_t gpu_texture_tiles(const gpu_texture_shape *shape);

/* The longest chain of additions, for ladder_judge(). */
double gpu_texture_terms(const gpu_texture_shape *shape, uint64_t groups, unsigned group);

/* ---------------------------------------------------------------------------------------------------------------------
 * Specimens
 * ------------------------------------------------------------------------------------------------------------------ */

enum {
    GPU_SPECIMEN_ELEMENTS = 1000003, /* a prime near a million: no group size divides it */
    GPU_SPECIMEN_BLOCK = 256,
    /* Behind the elements: as many again and some, for kernels that read past the end, full of thousands. */
    GPU_SPECIMEN_BEYOND = GPU_SPECIMEN_ELEMENTS + 4096
};

/* The data with what lies beyond, as one array, to be freed. */
void *gpu_specimen_values(const ladder_data *data);

/* Maxima of floats, which are found by atomic maxima of integers. */
typedef struct gpu_maximum {
    const char *name, *variant;
    bool is_mistake;
    bool is_ordered; /* of bits that have the floats' order; otherwise of the bits as they are */
    float start;     /* what the maximum starts from */
    bool infinite;   /* of an array of -infinity; otherwise of numbers from -2 to -1 */
} gpu_maximum;

enum { GPU_MAXIMA = 4 };
extern const gpu_maximum gpu_maxima[GPU_MAXIMA];

/* Numbers from -2 to -1, or nothing but -infinity, to be freed; and their maximum. */
float *gpu_specimen_negatives(bool infinite, float *most);

/* A mistake that was judged right is right by luck; one that was judged wrong says by how much. */
void gpu_specimen_call(report_row *row, const ladder_data *data, const void *result);

/* The same of a maximum; of a repair, right or wrong. */
void gpu_specimen_call_maximum(report_row *row, bool is_mistake, float most, float got);

#endif
