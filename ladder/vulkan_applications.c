/* Applications: reductions other than a sum, each as one plain shader (glsl/applications/, hlsl/applications/; slang/dot.slang,
 * slang/maximum.slang, slang/mean.slang), judged by one call of the library. */
#include "ladder/vulkan_ladder.h"

#include "gpu/whole.h"
#include "program/memory.h"
#include "report/judge.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = VULKAN_GROUP_DEFAULT };

typedef struct application {
    const char *name;
    reduct_operator op;
    bool rounds;         /* otherwise the result is an element */
    double more;         /* roundings on top of the additions */
    const char *in_glsl; /* its shader, where a specimen has the name */
} application;

static const application applications[] = {
    {"dot", REDUCT_DOT, true, 1, "dot"},
    {"maximum", REDUCT_MAX, false, 0, "largest"},
    {"mean", REDUCT_MEAN, true, 2, "mean"},
};

/* n floats in x, and as many in y, the other factors of the dot product: on the device they follow. */
typedef struct lab {
    vulkan_lab *vulkan;
    reduct_type type;
    const void *x, *y;
    uint64_t n;
    gpu_vulkan_input input;
} lab;

typedef struct run {
    const lab *l;
    gpu_vulkan_kernel *kernel;
    uint64_t groups;
} run;

static void run_once(void *context, uint64_t number) {
    const run *a = context;
    uint64_t bytes;
    vulkan_lab_dispatch(
        a->l->vulkan, a->kernel, gpu_vulkan_input_piece(&a->l->input, number, 0, &bytes), a->l->vulkan->partials[0],
        (vulkan_push){.n = (uint32_t)a->l->n, .groups = (uint32_t)a->groups, .total = (uint32_t)a->groups});
}

/* Sums in GLSL, and all there is in Slang, go by the driver's reductions of subgroups; the rest by trees in shared memory. */
static bool needs_subgroups(const lab *l, const application *a) {
    return l->vulkan->language == VULKAN_SLANG || (l->vulkan->language == VULKAN_GLSL && a->rounds);
}

/* What a device does not offer; null if nothing. */
static const char *lack(const lab *l, const application *a) {
    const gpu_vulkan_facts *facts = l->vulkan->facts;
    if (l->type == REDUCT_F64 && l->vulkan->language == VULKAN_HLSL)
        return "in HLSL compiled for f32";
    if (l->type == REDUCT_F64 && !facts->f64)
        return "this device has no f64";
    if (needs_subgroups(l, a) && !(facts->subgroup_arithmetic && facts->subgroup_ballot && facts->subgroup_vote))
        return "no arithmetic of subgroups here";
    if (l->input.pieces != 1)
        return "two arrays in one binding: it holds no more";
    return vulkan_language_lack(l->vulkan->language, facts);
}

/* Returns false, and one sentence in `why`, where it cannot be run. */
static bool prepare(run *a, const lab *l, const application *which, char *why, size_t room) {
    char name[64];
    bool passed;
    const char *lacks = lack(l, which);
    vulkan_language language = l->vulkan->language;
    *a = (run){.l = l};
    if (lacks) {
        snprintf(why, room, "%s", lacks);
        return false;
    }
    snprintf(name, sizeof name, "%s/%s_%s%s", vulkan_language_name(language),
             language == VULKAN_GLSL ? which->in_glsl : which->name, reduct_type_name(l->type),
             language == VULKAN_SLANG ? "_last" : "");
    a->kernel =
        vulkan_lab_kernel(l->vulkan, name, GROUP, VULKAN_LAST_GROUP, l->type, VULKAN_NEEDS_NOTHING, &passed, why, room);
    if (!a->kernel)
        return false;
    a->groups = gpu_ceil_divide(l->n, GROUP);
    a->groups =
        gpu_least(a->groups, vulkan_lab_resident_groups(l->vulkan, GROUP, gpu_vulkan_kernel_registers(a->kernel)));
    vulkan_lab_reserve(l->vulkan, a->groups * reduct_type_size(l->type));
    return true;
}

static void judge(const lab *l, const application *which, const run *a, const void *result, report_row *row) {
    judge_exact expected = {.type = l->type};
    const void *y = reduct_operator_inputs(which->op) == 2 ? l->y : NULL;
    if (reduct_reduce(which->op, l->type, l->x, y, l->n, &expected.value) != REDUCT_OK)
        return;
    judge_find_rest(&expected, which->op, l->type, l->x, y, l->n);
    double real = judge_real(l->type, &expected.value);
    double terms = (double)l->n / ((double)a->groups * GROUP) + (double)a->groups / GROUP + GROUP + which->more;
    double bound = terms * judge_roundoff(l->type) * real + judge_unit(l->type, real) / 2;
    judge_finding finding = judge_result(&expected, result, which->rounds ? bound : 0);
    judge_fill(row, &finding);
}

static void add(const lab *l, const application *which, unsigned rounds, report *r) {
    vulkan_lab *vulkan = l->vulkan;
    report_row row = vulkan_row(vulkan, "applications", which->name, l->type, l->n);
    _Alignas(8) unsigned char result[8] = {0};
    run a;
    row.bytes *= (uint64_t)reduct_operator_inputs(which->op);
    snprintf(row.variant, sizeof row.variant, "one launch");
    if (prepare(&a, l, which, row.note, sizeof row.note)) {
        report_set(&row, MEASURE_BLOCK, GROUP);
        measure_statistics seconds = gpu_vulkan_time(vulkan->device, run_once, &a, rounds);
        gpu_row_time(&row, &seconds, vulkan->read_limit, 0);
        run_once(&a, 0);
        gpu_vulkan_download(vulkan->device, result, vulkan->result, 0, reduct_type_size(l->type));
        judge(l, which, &a, result, &row);
    } else {
        row.verdict = REPORT_NOT_RUN;
    }
    gpu_row_error(&row, "", gpu_vulkan_error(vulkan->device));
    if (gpu_vulkan_error(vulkan->device))
        gpu_vulkan_forgive(vulkan->device);
    report_add_row(r, &row);
}

/* Both arrays, one after the other; where they are timed, in as many copies as exceed every cache. */
static void upload(lab *l, bool timed) {
    size_t bytes = l->n * reduct_type_size(l->type);
    unsigned char *both = program_allocate(2 * bytes);
    memcpy(both, l->x, bytes);
    memcpy(both + bytes, l->y, bytes);
    l->input = gpu_vulkan_input_create(l->vulkan->device, both, 2 * bytes, timed, 0);
    free(both);
}

bool vulkan_apply(vulkan_lab *vulkan, reduct_operator op, reduct_type type, const void *x, const void *y, uint64_t n,
                  void *result, char *why, size_t room) {
    lab l = {.vulkan = vulkan, .type = type, .x = x, .y = y, .n = n};
    const application *which = applications;
    run a;
    while (which->op != op)
        which++;
    upload(&l, false);
    bool can = prepare(&a, &l, which, why, room);
    if (can) {
        gpu_vulkan_fill(vulkan->device, vulkan->result, 0, UINT32_MAX, 8);
        for (size_t i = 0; i < 2; i++)
            gpu_vulkan_fill(vulkan->device, vulkan->partials[i], 0, UINT32_MAX, vulkan->partials_bytes);
        run_once(&a, 0);
        gpu_vulkan_download(vulkan->device, result, vulkan->result, 0, reduct_type_size(type));
    }
    gpu_vulkan_input_destroy(vulkan->device, &l.input);
    return can;
}

/* The other factors: 1 - x. */
static void *others(const ladder_data *x) {
    void *y = program_allocate(x->n * reduct_type_size(x->type));
    for (uint64_t i = 0; i < x->n; i++) {
        if (x->type == REDUCT_F32)
            ((float *)y)[i] = 1 - ((const float *)x->values)[i];
        else
            ((double *)y)[i] = 1 - ((const double *)x->values)[i];
    }
    return y;
}

/* They are about real numbers: of floats, f32 where the ladder is climbed with integers. */
void vulkan_run_applications(vulkan_lab *vulkan, const ladder_options *options, report *r) {
    reduct_type type = options->type == REDUCT_F64 ? REDUCT_F64 : REDUCT_F32;
    ladder_data x;
    if (options->n == 0) {
        report_warning(r, "no applications: most have no result for no elements");
        return;
    }
    if (ladder_data_create(&x, type, options->n) != 0) {
        report_warning(r, "no applications: there is no memory for their data");
        return;
    }
    void *y = others(&x);
    lab l = {.vulkan = vulkan, .type = type, .x = x.values, .y = y, .n = x.n};
    upload(&l, true);
    for (size_t i = 0; i < sizeof applications / sizeof *applications; i++)
        add(&l, &applications[i], options->rounds, r);
    if (type == REDUCT_F32) /* texels have no 64 bits */
        vulkan_run_textures(vulkan, options, &x, &l.input, r);
    gpu_vulkan_input_destroy(vulkan->device, &l.input);
    free(y);
    ladder_data_destroy(&x);
}
