/* Specimens: the tutorials' mistakes, each beside its repair, on data of their own. What happens is reported; nothing
 * is forced, and what is right by luck is called that. The kernels, and what is wrong with them, are in
 * cuda/specimens/. */
#include "ladder/cuda_ladder.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = GPU_SPECIMEN_ELEMENTS, BLOCK = GPU_SPECIMEN_BLOCK, BEYOND = GPU_SPECIMEN_BEYOND };

typedef struct lab {
    cuda_lab *cuda;
    const ladder_options *options;
    report *r;
    ladder_data data;
    gpu_cuda_input input; /* the data, and what lies beyond */
} lab;

/* A failed launch is the row's result; the next specimen still runs where the device can go on. */
static void add(const lab *l, report_row *row) {
    gpu_row_error(row, "the device stopped it: ", gpu_cuda_error(l->cuda->device));
    if (gpu_cuda_error(l->cuda->device))
        gpu_cuda_forgive(l->cuda->device);
    row->may_be_wrong = true;
    report_add_row(l->r, row);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Mistakes that a kernel makes, or a launch
 * ------------------------------------------------------------------------------------------------------------------ */

#define SPECIMEN(spoilt, file, prefix, covers, memory)                                                                 \
    { .step = LADDER_##spoilt, .image = "specimens/" file, .kernel = prefix, .cover = covers, .shared = memory }

typedef struct specimen {
    const char *name, *variant;
    bool mistake;
    unsigned block;
    cuda_rung flawed;   /* what runs, where there is no repair */
    ladder_step repair; /* the rung that runs; 0: none */
} specimen;

/* clang-format off */
static const specimen specimens[] = {
    {"last-warp-implicit", "no synchronisation", true, BLOCK,
     SPECIMEN(LAST_WARP, "last_warp_implicit", "last_warp_implicit", CUDA_COVER_TWO, CUDA_SHARED_ONE), 0},
    {"last-warp-implicit", "volatile", true, BLOCK,
     SPECIMEN(LAST_WARP, "last_warp_implicit", "last_warp_volatile", CUDA_COVER_TWO, CUDA_SHARED_ONE), 0},
    {"last-warp-implicit", "repair: __syncwarp", false, BLOCK, {0}, LADDER_LAST_WARP},
    {"load-unchecked", "no i < n", true, BLOCK,
     SPECIMEN(HALVING, "load_unchecked", "load_unchecked", CUDA_COVER_ONE, CUDA_SHARED_ONE), 0},
    {"load-unchecked", "repair: i < n", false, BLOCK, {0}, LADDER_HALVING},
    {"grid-not-halved", "two loads, as many blocks", true, BLOCK,
     SPECIMEN(FIRST_ADD, "load_unchecked", "first_add_unchecked", CUDA_COVER_ONE, CUDA_SHARED_ONE), 0},
    {"grid-not-halved", "repair: half the blocks", false, BLOCK, {0}, LADDER_FIRST_ADD},
    {"halving-rounded-down", "96 threads", true, 96,
     SPECIMEN(HALVING, "halving_rounded_down", "halving_rounded_down", CUDA_COVER_ONE, CUDA_SHARED_ONE), 0},
    {"halving-rounded-down", "96 threads, against n", true, 96,
     SPECIMEN(HALVING, "halving_rounded_down", "halving_against_n", CUDA_COVER_ONE, CUDA_SHARED_ONE), 0},
    {"halving-rounded-down", "1000 threads", true, 1000,
     SPECIMEN(HALVING, "halving_rounded_down", "halving_rounded_down", CUDA_COVER_ONE, CUDA_SHARED_ONE), 0},
    {"halving-rounded-down", "1000 threads, against n", true, 1000,
     SPECIMEN(HALVING, "halving_rounded_down", "halving_against_n", CUDA_COVER_ONE, CUDA_SHARED_ONE), 0},
    {"halving-rounded-down", "repair: rounded up, 96", false, 96, {0}, LADDER_HALVING},
    {"halving-rounded-down", "repair: rounded up, 1000", false, 1000, {0}, LADDER_HALVING},
    {"shared-too-small", "sized for 128 threads", true, BLOCK,
     SPECIMEN(HALVING, "shared_too_small", "shared_too_small", CUDA_COVER_ONE, CUDA_SHARED_TWO), 0},
    {"shared-too-small", "repair: sized by blockDim", false, BLOCK,
     SPECIMEN(HALVING, "shared_too_small", "shared_sized_right", CUDA_COVER_ONE, CUDA_SHARED_TWO), 0},
    {"partial-warp", "full mask, 8 lanes", true, BLOCK,
     SPECIMEN(SHUFFLE, "partial_warp", "partial_warp", CUDA_COVER_WALK, CUDA_SHARED_NONE), 0},
    {"partial-warp", "repair: the whole warp", false, BLOCK, {0}, LADDER_SHUFFLE},
    {"two-levels", "subgroups of 4", true, BLOCK,
     SPECIMEN(WARP_REDUCE, "two_levels", "two_levels", CUDA_COVER_WALK, CUDA_SHARED_ONE), 0},
    {"two-levels", "repair: all levels", false, BLOCK,
     SPECIMEN(WARP_REDUCE, "two_levels", "all_levels", CUDA_COVER_WALK, CUDA_SHARED_ONE), 0},
};
/* clang-format on */

typedef struct timed_run {
    cuda_run *run;
    const gpu_cuda_input *input;
} timed_run;

static void run_for_time(void *context, uint64_t number) {
    timed_run *timed = context;
    cuda_run_once(timed->run, gpu_cuda_input_at(timed->input, number));
}

static void run_specimen(const lab *l, const specimen *s) {
    cuda_run run;
    unsigned char result[8] = {0};
    const cuda_rung *rung = s->repair ? cuda_rung_of(s->repair) : &s->flawed;
    report_row row = cuda_row(l->cuda, "specimens", s->name, l->data.type, ELEMENTS);
    if (!cuda_run_prepare(&run, l->cuda, rung, LADDER_FINISH_SECOND_LAUNCH, l->data.type, ELEMENTS, s->block, row.note,
                          sizeof row.note)) {
        row.verdict = REPORT_NOT_RUN;
    } else {
        cuda_run_describe(&run, &row);
        cuda_run_once(&run, l->input.address);
        cuda_run_result(&run, result);
        ladder_judge(&row, &l->data, result, cuda_run_terms(&run));
        timed_run timed = {&run, &l->input};
        measure_statistics seconds = gpu_cuda_time(l->cuda->device, run_for_time, &timed, l->options->rounds);
        cuda_row_time(l->cuda, &row, &seconds);
        if (s->mistake)
            gpu_specimen_call(&row, &l->data, result);
    }
    snprintf(row.variant, sizeof row.variant, "%s", s->variant);
    add(l, &row);
}

/* An atomic finish, run twice: without clearing, the second run adds to the first. */
static void run_not_cleared(const lab *l) {
    for (int cleared = 0; cleared < 2; cleared++) {
        cuda_run run;
        unsigned char result[8] = {0};
        report_row row = cuda_row(l->cuda, "specimens", "result-not-cleared", l->data.type, ELEMENTS);
        if (cuda_run_prepare(&run, l->cuda, cuda_rung_of(LADDER_HALVING), LADDER_FINISH_ATOMIC, l->data.type, ELEMENTS,
                             BLOCK, row.note, sizeof row.note)) {
            cuda_run_describe(&run, &row);
            cuda_run_once(&run, l->input.address);
            run.clears = cleared;
            cuda_run_once(&run, l->input.address);
            cuda_run_result(&run, result);
            ladder_judge(&row, &l->data, result, cuda_run_terms(&run));
            if (!cleared)
                gpu_specimen_call(&row, &l->data, result);
        } else {
            row.verdict = REPORT_NOT_RUN;
        }
        snprintf(row.variant, sizeof row.variant, "%s", cleared ? "repair: cleared" : "second run");
        add(l, &row);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Maxima of floats as integers
 * ------------------------------------------------------------------------------------------------------------------ */

static float run_maximum(const lab *l, const gpu_maximum *m, uint64_t input, char *why, size_t room) {
    gpu_cuda *device = l->cuda->device;
    uint64_t n = ELEMENTS, result = l->cuda->result, decoded = result + 4;
    bool plain = !m->is_ordered;
    float start = m->start, got = 0;
    gpu_cuda_kernel kernel =
        cuda_lab_kernel(l->cuda, "specimens/maximum", plain ? "max_of_bits" : "max_of_ordered_bits", 0, why, room);
    gpu_cuda_kernel decode = cuda_lab_kernel(l->cuda, "specimens/maximum", "max_decode", 0, why, room);
    if (!kernel.function || !decode.function)
        return 0;
    if (plain)
        gpu_cuda_upload(device, result, &start, sizeof start);
    else
        gpu_cuda_fill(device, result, 0, 4);
    gpu_cuda_launch(device, &kernel, l->cuda->facts->multiprocessors, BLOCK, (void *[]){&input, &n, &start, &result});
    if (!plain)
        gpu_cuda_launch(device, &decode, 1, 1, (void *[]){&result, &decoded});
    gpu_cuda_download(device, &got, plain ? result : decoded, sizeof got);
    return got;
}

static void add_maximum(const lab *l, const gpu_maximum *m) {
    float most;
    float *values = gpu_specimen_negatives(m->infinite, &most);
    gpu_cuda_input input = gpu_cuda_input_create(l->cuda->device, values, ELEMENTS * sizeof *values, false);
    report_row row = cuda_row(l->cuda, "specimens", m->name, REDUCT_F32, ELEMENTS);
    float got = run_maximum(l, m, input.address, row.note, sizeof row.note);
    snprintf(row.variant, sizeof row.variant, "%s", m->variant);
    report_set(&row, MEASURE_BLOCK, BLOCK);
    if (row.note[0])
        row.verdict = REPORT_NOT_RUN;
    else
        gpu_specimen_call_maximum(&row, m->is_mistake, most, got);
    gpu_cuda_input_destroy(l->cuda->device, &input);
    free(values);
    add(l, &row);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * All of them
 * ------------------------------------------------------------------------------------------------------------------ */

void cuda_run_specimens(cuda_lab *cuda, const ladder_options *options, report *r) {
    lab l = {.cuda = cuda, .options = options, .r = r};
    if (ladder_data_create(&l.data, options->type, ELEMENTS) != 0) {
        report_warning(r, "there was no memory for the specimens");
        return;
    }
    void *values = gpu_specimen_values(&l.data);
    l.input = gpu_cuda_input_create(cuda->device, values, (ELEMENTS + BEYOND) * reduct_type_size(options->type), true);
    for (size_t i = 0; i < sizeof specimens / sizeof *specimens; i++)
        if (ladder_wants(options->rung, specimens[i].name))
            run_specimen(&l, &specimens[i]);
    if (ladder_wants(options->rung, "result-not-cleared"))
        run_not_cleared(&l);
    for (size_t i = 0; i < GPU_MAXIMA; i++)
        if (ladder_wants(options->rung, gpu_maxima[i].name))
            add_maximum(&l, &gpu_maxima[i]);
    gpu_cuda_input_destroy(cuda->device, &l.input);
    free(values);
    ladder_data_destroy(&l.data);
}
