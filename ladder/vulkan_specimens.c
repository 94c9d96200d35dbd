/* Specimens: the tutorials' mistakes, each beside its repair, on data of their own. What happens is reported; a right
 * result that nothing guarantees is called lucky. The shaders, and what is wrong with them, are in
 * glsl/specimens/; HLSL and Slang have one of them. */
#include "ladder/vulkan_ladder.h"

#include "program/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SOFTWARE_ROUNDS_MOST = 3 };

typedef struct lab {
    vulkan_lab *vulkan;
    const ladder_options *options;
    report *r;
    ladder_data data;
    gpu_vulkan_input input; /* the data, and what lies beyond */
    gpu_vulkan_input seen;  /* the same, without what lies beyond */
} lab;

/* A failure of the device is the row's result; the next specimen still runs where the device can go on. */
static void add(const lab *l, report_row *row) {
    gpu_row_error(row, "the device stopped it: ", gpu_vulkan_error(l->vulkan->device));
    if (gpu_vulkan_error(l->vulkan->device))
        gpu_vulkan_forgive(l->vulkan->device);
    row->may_be_wrong = true;
    report_add_row(l->r, row);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Mistakes that a shader makes, or a dispatch
 * ------------------------------------------------------------------------------------------------------------------ */

#define SPECIMEN(spoilt, shader, covers, asks)                                                                         \
    { .step = LADDER_##spoilt, .file = shader, .cover = covers, .needs = asks, .is_untried = true }

typedef struct specimen {
    const char *name, *variant;
    bool is_mistake, in_all_languages;
    unsigned group;
    vulkan_rung flawed; /* what runs, where there is no repair */
    ladder_step repair; /* the rung that runs; 0: none */
} specimen;

enum { GROUP = GPU_SPECIMEN_BLOCK };

/* clang-format off */
static const specimen specimens[] = {
    {"last-warp-implicit", "no synchronisation", true, true, GROUP,
     SPECIMEN(LAST_WARP, "last_warp_implicit", VULKAN_COVER_TWO, VULKAN_NEEDS_NOTHING), 0},
    {"last-warp-implicit", "repair: barriers", false, true, GROUP, {0}, LADDER_LAST_WARP},
    {"load-unchecked", "no i < n", true, false, GROUP,
     SPECIMEN(HALVING, "load_unchecked", VULKAN_COVER_ONE, VULKAN_NEEDS_NOTHING), 0},
    {"load-unchecked", "repair: i < n", false, false, GROUP, {0}, LADDER_HALVING},
    {"grid-not-halved", "two loads, as many groups", true, false, GROUP,
     SPECIMEN(FIRST_ADD, "load_unchecked_first_add", VULKAN_COVER_ONE, VULKAN_NEEDS_NOTHING), 0},
    {"grid-not-halved", "repair: half the groups", false, false, GROUP, {0}, LADDER_FIRST_ADD},
    {"halving-rounded-down", "96 invocations", true, false, 96,
     SPECIMEN(HALVING, "halving_rounded_down", VULKAN_COVER_ONE, VULKAN_NEEDS_NOTHING), 0},
    {"halving-rounded-down", "96 invocations, against n", true, false, 96,
     SPECIMEN(HALVING, "halving_rounded_down_against_n", VULKAN_COVER_ONE, VULKAN_NEEDS_NOTHING), 0},
    {"halving-rounded-down", "1000 invocations", true, false, 1000,
     SPECIMEN(HALVING, "halving_rounded_down", VULKAN_COVER_ONE, VULKAN_NEEDS_NOTHING), 0},
    {"halving-rounded-down", "1000 invocations, against n", true, false, 1000,
     SPECIMEN(HALVING, "halving_rounded_down_against_n", VULKAN_COVER_ONE, VULKAN_NEEDS_NOTHING), 0},
    {"halving-rounded-down", "repair: rounded up, 96", false, false, 96, {0}, LADDER_HALVING},
    {"halving-rounded-down", "repair: rounded up, 1000", false, false, 1000, {0}, LADDER_HALVING},
    {"shared-too-small", "sized for 128 invocations", true, false, GROUP,
     SPECIMEN(HALVING, "shared_too_small", VULKAN_COVER_ONE, VULKAN_NEEDS_NOTHING), 0},
    {"shared-too-small", "repair: sized by the group", false, false, GROUP,
     SPECIMEN(HALVING, "shared_too_small_sized_right", VULKAN_COVER_ONE, VULKAN_NEEDS_NOTHING), 0},
    {"partial-warp", "shuffles, few lanes there", true, false, GROUP,
     SPECIMEN(SHUFFLE, "partial_warp", VULKAN_COVER_WALK, VULKAN_NEEDS_SHUFFLES), 0},
    {"partial-warp", "repair: the whole subgroup", false, false, GROUP, {0}, LADDER_SHUFFLE},
    {"two-levels", "a second subgroupAdd", true, false, GROUP,
     SPECIMEN(WARP_REDUCE, "two_levels", VULKAN_COVER_WALK, VULKAN_NEEDS_SUMS), 0},
    {"two-levels", "repair: all subgroups", false, false, GROUP, {0}, LADDER_WARP_REDUCE},
};
/* clang-format on */

static void run_for_time(void *run, uint64_t number) {
    vulkan_run_once(run, number);
}

static unsigned rounds_of(const lab *l) {
    unsigned rounds = l->options->rounds;
    return l->vulkan->facts->is_software && rounds > SOFTWARE_ROUNDS_MOST ? SOFTWARE_ROUNDS_MOST : rounds;
}

/* The binding is longer than the array, so that a shader that reads past the end reads the thousands behind it. */
static void measure_specimen(const lab *l, const specimen *s, vulkan_run *run, report_row *row) {
    _Alignas(8) unsigned char result[8] = {0};
    vulkan_run_describe(run, row);
    run->bound_beyond = l->input.bytes - l->seen.bytes;
    vulkan_run_once(run, 0);
    vulkan_run_result(run, result);
    ladder_judge(row, &l->data, result, vulkan_run_terms(run));
    measure_statistics seconds = gpu_vulkan_time(l->vulkan->device, run_for_time, run, rounds_of(l));
    gpu_row_time(row, &seconds, l->vulkan->read_limit, 0);
    if (s->is_mistake)
        gpu_specimen_call(row, &l->data, result);
}

static void run_specimen(const lab *l, const specimen *s) {
    vulkan_run run;
    const vulkan_rung *rung = s->repair ? vulkan_rung_of(s->repair) : &s->flawed;
    report_row row = vulkan_row(l->vulkan, "specimens", s->name, l->data.type, GPU_SPECIMEN_ELEMENTS);
    if (vulkan_run_prepare(&run, l->vulkan, rung, LADDER_FINISH_SECOND_LAUNCH, l->data.type, &l->seen, s->group,
                           row.note, sizeof row.note))
        measure_specimen(l, s, &run, &row);
    else
        row.verdict = REPORT_NOT_RUN;
    snprintf(row.variant, sizeof row.variant, "%s", s->variant);
    add(l, &row);
}

/* An atomic finish, run twice: without clearing, the second run adds to the first. */
static void run_not_cleared(const lab *l) {
    for (int cleared = 0; cleared < 2; cleared++) {
        vulkan_run run;
        _Alignas(8) unsigned char result[8] = {0};
        report_row row = vulkan_row(l->vulkan, "specimens", "result-not-cleared", l->data.type, GPU_SPECIMEN_ELEMENTS);
        if (vulkan_run_prepare(&run, l->vulkan, vulkan_rung_of(LADDER_HALVING), LADDER_FINISH_ATOMIC, l->data.type,
                               &l->seen, GROUP, row.note, sizeof row.note)) {
            vulkan_run_describe(&run, &row);
            vulkan_run_once(&run, 0);
            run.clears = cleared;
            vulkan_run_once(&run, 0);
            vulkan_run_result(&run, result);
            ladder_judge(&row, &l->data, result, vulkan_run_terms(&run));
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

/* As in maximum.comp, and back. */
static uint32_t ordered_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & UINT32_C(0x80000000) ? ~bits : bits | UINT32_C(0x80000000);
}

static float from_ordered_bits(uint32_t bits) {
    float x;
    bits = bits & UINT32_C(0x80000000) ? bits & UINT32_C(0x7fffffff) : ~bits;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float run_maximum(const lab *l, const gpu_maximum *m, const gpu_vulkan_input *input, char *why, size_t room) {
    vulkan_lab *vulkan = l->vulkan;
    uint64_t bytes;
    bool passed;
    float got = 0;
    uint32_t bits;
    gpu_vulkan_kernel *kernel =
        vulkan_lab_kernel(vulkan, m->is_ordered ? "glsl/maximum_ordered" : "glsl/maximum", GROUP, VULKAN_STORE,
                          REDUCT_F32, VULKAN_NEEDS_NOTHING, &passed, why, room);
    if (!kernel)
        return 0;
    memcpy(&bits, &m->start, sizeof bits);
    if (m->is_ordered)
        bits = ordered_bits(m->start);
    gpu_vulkan_fill(vulkan->device, vulkan->result, 0, bits, 4);
    vulkan_lab_dispatch(vulkan, kernel, gpu_vulkan_input_piece(input, 0, 0, &bytes), vulkan->partials[0],
                        (vulkan_push){.n = GPU_SPECIMEN_ELEMENTS, .groups = 64, .total = 64});
    gpu_vulkan_download(vulkan->device, &bits, vulkan->result, 0, 4);
    memcpy(&got, &bits, sizeof got);
    return m->is_ordered ? from_ordered_bits(bits) : got;
}

static void add_maximum(const lab *l, const gpu_maximum *m) {
    float most;
    float *values = gpu_specimen_negatives(m->infinite, &most);
    gpu_vulkan_input input =
        gpu_vulkan_input_create(l->vulkan->device, values, GPU_SPECIMEN_ELEMENTS * sizeof *values, false, 0);
    report_row row = vulkan_row(l->vulkan, "specimens", m->name, REDUCT_F32, GPU_SPECIMEN_ELEMENTS);
    float got = run_maximum(l, m, &input, row.note, sizeof row.note);
    report_set(&row, MEASURE_BLOCK, GROUP);
    snprintf(row.variant, sizeof row.variant, "%s", m->variant);
    if (row.note[0])
        row.verdict = REPORT_NOT_RUN;
    else
        gpu_specimen_call_maximum(&row, m->is_mistake, most, got);
    gpu_vulkan_input_destroy(l->vulkan->device, &input);
    free(values);
    add(l, &row);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * All of them
 * ------------------------------------------------------------------------------------------------------------------ */

static void run_all(const lab *l) {
    bool glsl = l->vulkan->language == VULKAN_GLSL;
    for (size_t i = 0; i < sizeof specimens / sizeof *specimens; i++)
        if (ladder_wants(l->options->rung, specimens[i].name) && (glsl || specimens[i].in_all_languages))
            run_specimen(l, &specimens[i]);
    if (ladder_wants(l->options->rung, "result-not-cleared"))
        run_not_cleared(l);
    for (size_t i = 0; i < GPU_MAXIMA && glsl; i++)
        if (ladder_wants(l->options->rung, gpu_maxima[i].name))
            add_maximum(l, &gpu_maxima[i]);
}

void vulkan_run_specimens(vulkan_lab *vulkan, const ladder_options *options, report *r) {
    lab l = {.vulkan = vulkan, .options = options, .r = r};
    size_t size = reduct_type_size(options->type);
    if (ladder_data_create(&l.data, options->type, GPU_SPECIMEN_ELEMENTS) != 0) {
        report_warning(r, "there was no memory for the specimens");
        return;
    }
    void *values = gpu_specimen_values(&l.data);
    l.input = gpu_vulkan_input_create(vulkan->device, values,
                                      ((size_t)GPU_SPECIMEN_ELEMENTS + GPU_SPECIMEN_BEYOND) * size, true, 0);
    l.seen = l.input;
    l.seen.bytes = GPU_SPECIMEN_ELEMENTS * size;
    run_all(&l);
    gpu_vulkan_input_destroy(vulkan->device, &l.input);
    free(values);
    ladder_data_destroy(&l.data);
}
