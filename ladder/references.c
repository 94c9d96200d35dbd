/* Figures of others, as data: what the tutorials published in their day, and what other programs reached on hardware of
 * today. They are shown beside a run as reference, never mixed with what it measured. */
#include "ladder/ladder.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Published ladders: see references.def
 * ------------------------------------------------------------------------------------------------------------------ */

static const struct published {
    uint64_t n;
    report_reference reference; /* without the count, and rates that follow from times */
} published[] = {
/* clang-format off */
#define LADDER_SOURCE(ID, name, title, machine, n) {n, {title, machine, {
#define LADDER_FIGURE(name, seconds, rate)             {name, seconds, rate},
#define LADDER_SOURCE_END                          }, 0}},
#include "ladder/references.def"
    /* clang-format on */
};

static void add_published(report *r, const struct published *source) {
    report_reference reference = source->reference;
    for (; *reference.point[reference.count].name; reference.count++)
        if (reference.point[reference.count].bytes_per_second <= 0)
            reference.point[reference.count].bytes_per_second =
                4 * (double)source->n / reference.point[reference.count].seconds;
    report_add_reference(r, &reference);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Other programs, measured side by side
 * ------------------------------------------------------------------------------------------------------------------ */

/* f32 sums on one H200, in microseconds, inputs rotated out of the cache; 0 where not measured. */
static const char *const library_names[] = {"CUB Sum",     "CUB not_guaranteed", "CUB gpu_to_gpu", "thrust::reduce",
                                            "cuBLAS asum", "torch.sum",          "one-pass kernel"};
enum { LIBRARIES = sizeof library_names / sizeof *library_names };

static const struct {
    uint64_t n;
    double microseconds[LIBRARIES];
} libraries[] = {
    {UINT64_C(1) << 10, {4.85, 8.33, 6.70, 24.2, 8.5, 0, 3.54}},
    {UINT64_C(1) << 17, {8.81, 7.46, 11.7, 31.1, 8.4, 0, 3.78}},
    {UINT64_C(1) << 20, {8.90, 7.50, 12.9, 30.9, 8.1, 17.6, 4.94}},
    {UINT64_C(1) << 22, {9.39, 9.99, 21.0, 34.0, 13.5, 13.3, 7.78}},
    {UINT64_C(10) << 20, {15.1, 16.1, 33.9, 37.7, 24.3, 17.9, 13.4}},
    {UINT64_C(1) << 25, {35.8, 36.8, 69.8, 60.4, 59.9, 38.4, 33.2}},
    {UINT64_C(1) << 28, {237.0, 240.6, 338.2, 267.3, 421.7, 246.4, 233.1}},
    {UINT64_C(1) << 30, {924.6, 927.4, 1217.4, 962.1, 1660.7, 963.5, 918.6}},
};

static void add_libraries(report *r, uint64_t n) {
    char count[32];
    report_reference reference = {.machine = "H200, 4.8 TB/s nominal, CCCL 3.6"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (libraries[i].n != n)
            continue;
        snprintf(reference.source, sizeof reference.source, "libraries side by side, f32 sum of %s elements",
                 report_count_text(n, count, sizeof count));
        for (size_t k = 0; k < LIBRARIES; k++) {
            double seconds = libraries[i].microseconds[k] * 1e-6;
            if (seconds <= 0)
                continue;
            snprintf(reference.point[reference.count].name, sizeof reference.point->name, "%s", library_names[k]);
            reference.point[reference.count].seconds = seconds;
            reference.point[reference.count++].bytes_per_second = (double)n * 4 / seconds;
        }
        report_add_reference(r, &reference);
    }
}

static const report_reference processor = {
    .source = "CPU libraries side by side, f64 sum of 512 MiB",
    .machine = "2 cores of a 2.5 GHz Cascade Lake",
    .point = {{"plain", 0, 5.6e9},
              {"NumPy sum", 0, 10.3e9},
              {"Eigen sum", 0, 11.1e9},
              {"std::reduce(par_unseq)", 0, 18.9e9},
              {"OpenBLAS dasum, 2 threads", 0, 21.8e9},
              {"reading alone, 1 thread", 0, 11.1e9},
              {"reading alone, 2 threads", 0, 22e9}},
    .count = 7,
};

void ladder_references_add(const ladder_options *options, report *r) {
    if (strncmp(options->device, "cpu", 3) == 0) {
        report_add_reference(r, &processor);
        return;
    }
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        add_published(r, &published[i]);
    if (options->type == REDUCT_F32)
        add_libraries(r, options->n);
}
