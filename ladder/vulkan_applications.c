/* Applications: reductions other than a sum, each as one plain shader (glsl/applications/, slang/maximum.slang), judged by one
 * call of the library. */
#include "ladder/vulkan_ladder.h"

#include "gpu/whole.h"
#include "program/memory.h"
#include "report/judge.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP = VULKAN_GROUP_DEFAULT };

typedef struct application {
    const char *name, *file;
    reduct_operator op;
    vulkan_language language;
    bool rounds;        /* otherwise the result is an element */
    double more;        /* roundings on top of the additions */
    vulkan_needs needs; /* of the shader */
} application;

static const application applications[] = {
    {"dot", "dot", REDUCT_DOT, VULKAN_GLSL, true, 1, VULKAN_NEEDS_SUMS},
    {"maximum", "largest", REDUCT_MAX, VULKAN_GLSL, false, 0, VULKAN_NEEDS_NOTHING},
    {"mean", "mean", REDUCT_MEAN, VULKAN_GLSL, true, 2, VULKAN_NEEDS_SUMS},
    {"maximum", "maximum", REDUCT_MAX, VULKAN_SLANG, false, 0, VULKAN_NEEDS_SUMS},
};

/* x: n floats in [0, 1); on the device 1 - x follows them, the other factors of the dot product. */
typedef struct lab {
    vulkan_lab *vulkan;
    const ladder_options *options;
    report *r;
    reduct_type type;
    ladder_data x;
    void *y;
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
        (vulkan_push){.n = (uint32_t)a->l->x.n, .groups = (uint32_t)a->groups, .total = (uint32_t)a->groups});
}

/* What a device does not offer; null if nothing. */
static const char *lack(const lab *l, const application *a) {
    const gpu_vulkan_facts *facts = l->vulkan->facts;
    if (l->type == REDUCT_F64 && !facts->f64)
        return "this device has no f64";
    if (l->type == REDUCT_F64 && a->language == VULKAN_SLANG)
        return "compiled for f32";
    if (a->needs == VULKAN_NEEDS_SUMS &&
        !(facts->subgroup_arithmetic && facts->subgroup_ballot && facts->subgroup_vote))
        return "no arithmetic of subgroups here";
    if (l->input.pieces != 1)
        return "two arrays in one binding: it holds no more";
    return vulkan_language_lack(a->language, facts);
}

static bool prepare(run *a, const lab *l, const application *which, report_row *row) {
    char name[64];
    bool passed;
    const char *lacks = lack(l, which);
    *a = (run){.l = l};
    if (lacks) {
        snprintf(row->note, sizeof row->note, "%s", lacks);
        return false;
    }
    snprintf(name, sizeof name, "%s/%s_%s%s", vulkan_language_name(which->language), which->file,
             reduct_type_name(l->type), which->language == VULKAN_SLANG ? "_last" : "");
    a->kernel = vulkan_lab_kernel(l->vulkan, name, GROUP, VULKAN_LAST_GROUP, l->type, VULKAN_NEEDS_NOTHING, &passed,
                                  row->note, sizeof row->note);
    if (!a->kernel)
        return false;
    a->groups = gpu_ceil_divide(l->x.n, GROUP);
    a->groups =
        gpu_least(a->groups, vulkan_lab_resident_groups(l->vulkan, GROUP, gpu_vulkan_kernel_registers(a->kernel)));
    vulkan_lab_reserve(l->vulkan, a->groups * reduct_type_size(l->type));
    report_set(row, MEASURE_BLOCK, GROUP);
    return true;
}

static void judge(const lab *l, const application *which, const run *a, const void *result, report_row *row) {
    judge_exact expected = {.type = l->type};
    const void *y = reduct_operator_inputs(which->op) == 2 ? l->y : NULL;
    if (reduct_reduce(which->op, l->type, l->x.values, y, l->x.n, &expected.value) != REDUCT_OK)
        return;
    judge_find_rest(&expected, which->op, l->type, l->x.values, y, l->x.n);
    double real = judge_real(l->type, &expected.value);
    double terms = (double)l->x.n / ((double)a->groups * GROUP) + (double)a->groups / GROUP + GROUP + which->more;
    double bound = terms * judge_roundoff(l->type) * real + judge_unit(l->type, real) / 2;
    judge_finding finding = judge_result(&expected, result, which->rounds ? bound : 0);
    judge_fill(row, &finding);
}

static void add(const lab *l, const application *which) {
    vulkan_lab *vulkan = l->vulkan;
    report_row row = vulkan_row(vulkan, "applications", which->name, l->type, l->x.n);
    _Alignas(8) unsigned char result[8] = {0};
    run a;
    row.bytes *= (uint64_t)reduct_operator_inputs(which->op);
    snprintf(row.variant, sizeof row.variant, "one launch");
    if (prepare(&a, l, which, &row)) {
        measure_statistics seconds = gpu_vulkan_time(vulkan->device, run_once, &a, l->options->rounds);
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
    report_add_row(l->r, &row);
}

/* Both arrays, one after the other. */
static void upload(lab *l) {
    size_t size = reduct_type_size(l->type), n = l->x.n;
    unsigned char *both = program_allocate(2 * n * size);
    l->y = both + n * size;
    memcpy(both, l->x.values, n * size);
    for (size_t i = 0; i < n; i++) {
        if (l->type == REDUCT_F32)
            ((float *)l->y)[i] = 1 - ((const float *)l->x.values)[i];
        else
            ((double *)l->y)[i] = 1 - ((const double *)l->x.values)[i];
    }
    l->input = gpu_vulkan_input_create(l->vulkan->device, both, 2 * n * size, true, 0);
}

/* They are about real numbers: of floats, f32 where the ladder is climbed with integers. */
void vulkan_run_applications(vulkan_lab *vulkan, const ladder_options *options, report *r) {
    lab l = {.vulkan = vulkan, .options = options, .r = r};
    l.type = options->type == REDUCT_F64 ? REDUCT_F64 : REDUCT_F32;
    if (options->n == 0) {
        report_warning(r, "no applications: most have no result for no elements");
        return;
    }
    if (ladder_data_create(&l.x, l.type, options->n) != 0) {
        report_warning(r, "no applications: there is no memory for their data");
        return;
    }
    upload(&l);
    for (size_t i = 0; i < sizeof applications / sizeof *applications; i++)
        if (applications[i].language == vulkan->language)
            add(&l, &applications[i]);
    if (l.type == REDUCT_F32) /* texels have no 64 bits */
        vulkan_run_textures(vulkan, options, &l.x, &l.input, r);
    gpu_vulkan_input_destroy(vulkan->device, &l.input);
    free((unsigned char *)l.y - l.x.n * reduct_type_size(l.type));
    ladder_data_destroy(&l.x);
}
