/* Results of a CUDA device, for people and for programs. */
#include "cuda_report.h"

#include "matrix.h"

#include "program/colour.h"
#include "program/sizes.h"
#include "program/table.h"

#include <string.h>

static const char *const way_names[CUDA_WAYS] = {[CUDA_EXACT] = "exact",
                                                 [CUDA_FAST] = "fast",
                                                 [CUDA_SUM] = "fast, same bytes",
                                                 [CUDA_PEER] = "CUB",
                                                 [CUDA_GPU_TO_GPU] = "gpu_to_gpu"};

static double rate(const cuda_result *result, cuda_way way) {
    return result->runs[way].ran ? (double)result->bytes_read / result->runs[way].seconds.median : 0;
}

static const char *data_name(const cuda_case *which) {
    return reduct_type_is_float(which->type) ? measure_data_name(which->data) : "uniform";
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The terminal
 * ------------------------------------------------------------------------------------------------------------------ */

static void add_number(program_table *table, double number, const char *format) {
    char text[32];
    snprintf(text, sizeof text, format, number);
    program_table_cell(table, "%s", number > 0 ? text : "-");
}

static void add_finding(program_table *table, const cuda_run *run) {
    char ulp[32];
    report_ulp_text(run->ran ? run->finding.ulp : -1, ulp, sizeof ulp);
    program_table_cell(table, "%s%s%s", run->ran ? report_verdict_name(run->finding.verdict) : "-", *ulp ? ", " : "",
                       ulp);
}

static void add_row(program_table *table, const cuda_result *result, double read_limit, bool gpu_to_gpu,
                    bool has_shapes) {
    static const cuda_way shown[] = {CUDA_EXACT, CUDA_FAST, CUDA_PEER};
    const cuda_case *which = &result->which;
    const cuda_run *exact = &result->runs[CUDA_EXACT];
    char text[48], ops[CUDA_OPS_TEXT];
    program_table_cell(table, "%s", cuda_ops_text(which, ops));
    program_table_cell(table, "%s", reduct_type_name(which->type));
    program_table_cell(table, "%s", data_name(which));
    program_table_cell(table, "%s", report_count_text(which->n, text, sizeof text));
    if (has_shapes)
        program_table_cell(table, "%s", matrix_shape_text(which->shape, text, sizeof text));
    program_table_cell(table, "%u", which->offset);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        add_number(table, result->runs[shown[i]].seconds.median * 1e6, "%.2f");
    add_number(table, rate(result, CUDA_EXACT) / 1e9, "%.0f");
    add_number(table, rate(result, CUDA_FAST) / 1e9, "%.0f");
    add_number(table, read_limit > 0 ? rate(result, CUDA_EXACT) / read_limit * 100 : 0, "%.1f%%");
    add_number(table, result->ratio[CUDA_EXACT][CUDA_FAST], "%.3f");
    add_number(table, result->ratio[CUDA_EXACT][CUDA_PEER], "%.3f");
    add_number(table, result->ratio[CUDA_FAST][CUDA_PEER], "%.3f");
    add_number(table, result->ratio[CUDA_EXACT][CUDA_SUM], "%.3f");
    if (gpu_to_gpu) {
        add_number(table, result->runs[CUDA_GPU_TO_GPU].seconds.median * 1e6, "%.2f");
        add_number(table, result->ratio[CUDA_EXACT][CUDA_GPU_TO_GPU], "%.3f");
    }
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        add_finding(table, &result->runs[shown[i]]);
    program_table_cell(table, "%s", exact->launches.kernel);
    program_table_cell(table, "%u x %u", exact->launches.blocks, exact->launches.threads);
}

void cuda_report_table(const char *title, const cuda_result *results, size_t count, double read_limit, FILE *stream) {
    static const char *const headings[] = {"op",       "type",       "data",      "elements",   "off",
                                           "exact us", "fast us",    "CUB us",    "exact GB/s", "fast GB/s",
                                           "of limit", "exact/fast", "exact/CUB", "fast/CUB",   "exact/sum"};
    enum { ELEMENTS = 3 }; /* the shape comes after it */
    bool gpu_to_gpu = false, has_shapes = false;
    for (size_t i = 0; i < count; i++) {
        gpu_to_gpu = gpu_to_gpu || results[i].runs[CUDA_GPU_TO_GPU].ran;
        has_shapes = has_shapes || results[i].which.shape.kind != BENCH_WHOLE;
    }
    char alignments[32];
    snprintf(alignments, sizeof alignments, "lllr%srrrrrrrrrrr%sllllr", has_shapes ? "l" : "", gpu_to_gpu ? "rr" : "");
    program_table *table = program_table_create(alignments);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        program_table_cell(table, "%s", headings[i]);
        if (i == ELEMENTS && has_shapes)
            program_table_cell(table, "shape");
    }
    if (gpu_to_gpu) {
        program_table_cell(table, "gpu_to_gpu us");
        program_table_cell(table, "exact/gpu_to_gpu");
    }
    program_table_cell(table, "exact is");
    program_table_cell(table, "fast is");
    program_table_cell(table, "CUB is");
    program_table_cell(table, "kernel");
    program_table_cell(table, "grid");
    for (size_t i = 0; i < count; i++)
        add_row(table, &results[i], read_limit, gpu_to_gpu, has_shapes);
    fprintf(stream, "%s%s%s\n\n", program_style_on(stream, PROGRAM_BOLD), title,
            program_style_on(stream, PROGRAM_PLAIN));
    program_table_print(table, stream, 0);
    fputc('\n', stream);
    program_table_destroy(table);
    for (size_t i = 0; i < count; i++)
        for (int way = 0; way < CUDA_WAYS; way++)
            if (results[i].runs[way].finding.verdict == REPORT_WRONG)
                fprintf(stream, "WRONG: row %zu: %s gave %s, expected %s\n", i + 1, way_names[way],
                        results[i].runs[way].finding.got, results[i].runs[way].finding.expected);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reports
 * ------------------------------------------------------------------------------------------------------------------ */

/* The version of the kernel's driver, as in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05 ..."; empty where
 * the system does not tell. */
static void find_driver(char *version, size_t room) {
    char line[256] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    *version = '\0';
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        const char *module = strstr(line, "Module");
        const char *digits = module ? module + strcspn(module, "0123456789") : "";
        snprintf(version, room, "%.*s", (int)strspn(digits, "0123456789."), digits);
    }
    fclose(file);
}

void cuda_report_facts(report *r, const cuda_lab *lab) {
    const gpu_cuda_facts *facts = cuda_lab_facts(lab);
    unsigned cub = cuda_lab_cub_version(lab);
    char l2[32], memory[32], driver[32];
    report_fact(r, "GPU", "%s, compute capability %u.%u, %u multiprocessors", facts->name, facts->capability / 10,
                facts->capability % 10, facts->multiprocessors);
    report_fact(r, "GPU memory", "%s, L2 cache %s", program_size_text(facts->memory, memory, sizeof memory),
                program_size_text(facts->l2, l2, sizeof l2));
    if (facts->nominal > 0)
        report_fact(r, "nominal bandwidth", "%.0f GB/s, from memory clock and bus width", facts->nominal / 1e9);
    report_fact(r, "read limit", "%.0f GB/s, measured: 16-byte loads and next to no arithmetic",
                cuda_lab_read_limit(lab) / 1e9);
    find_driver(driver, sizeof driver);
    report_fact(r, "driver", "%s%sfor CUDA %u.%u", driver, *driver ? ", " : "", facts->driver / 1000,
                facts->driver % 1000 / 10);
    if (!cub)
        report_fact(r, "CUB", "not measured: %s", cuda_lab_no_cub(lab));
    else
        report_fact(r, "CUB", "%u.%u.%u, with scratch memory allocated before; %s", cub / 100000, cub / 100 % 1000,
                    cub % 100,
                    cuda_lab_has_gpu_to_gpu(lab)
                        ? "run_to_run determinism, its default, and gpu_to_gpu, of which every call also asks for the "
                          "size of that memory"
                        : "gpu_to_gpu determinism is not in this CCCL: it came with 3.1");
    report_fact(r, "data", "in device memory; runs read parts of it in turn that exceed three times the L2 cache");
    report_fact(r, "time",
                "per run, runs queued back to back, or, where that is said, each waited for, between events on the "
                "device; ways take turns");
}

static void name_row(const cuda_lab *lab, const cuda_result *result, cuda_way way, report_row *row) {
    const cuda_case *which = &result->which;
    unsigned cub = cuda_lab_cub_version(lab);
    const char *waits = which->waits ? ", waited for" : "";
    char shape[48], off[24] = "", ops[CUDA_OPS_TEXT];
    if (which->offset)
        snprintf(off, sizeof off, ", %u off", which->offset);
    matrix_shape_text(which->shape, shape, sizeof shape);
    snprintf(row->group, sizeof row->group, "%.60s, %s data%s%s%s%s", cuda_ops_text(which, ops), data_name(which),
             *shape ? ", " : "", shape, off, waits);
    snprintf(row->name, sizeof row->name, "%.39s",
             cuda_is_peer(way) ? cuda_peer_name(which)
             : way == CUDA_SUM ? "sum"
                               : ops);
    snprintf(row->variant, sizeof row->variant, "%s", way_names[way]);
    if (way == CUDA_PEER)
        snprintf(row->variant, sizeof row->variant, "%u.%u.%u", cub / 100000, cub / 100 % 1000, cub % 100);
}

/* What ran, as the driver tells. */
static void describe_launches(const cuda_run *run, report_row *row) {
    const gpu_cuda_launches *launches = &run->launches;
    unsigned all = launches->kernels + launches->others;
    if (*launches->kernel && all == 1)
        snprintf(row->note, sizeof row->note, "%s, %u x %u threads", launches->kernel, launches->blocks,
                 launches->threads);
    else if (*launches->kernel)
        snprintf(row->note, sizeof row->note, "%s, %u x %u threads; %u launches in all", launches->kernel,
                 launches->blocks, launches->threads, all);
}

static void add_report_row(report *r, const cuda_lab *lab, const cuda_result *result, cuda_way way) {
    const cuda_run *run = &result->runs[way];
    const gpu_cuda_facts *facts = cuda_lab_facts(lab);
    report_row row = report_row_empty();
    name_row(lab, result, way, &row);
    snprintf(row.type, sizeof row.type, "%s", reduct_type_name(result->which.type));
    snprintf(row.device, sizeof row.device, "cuda:%u", facts->ordinal);
    snprintf(row.language, sizeof row.language, "cuda");
    row.n = result->which.n;
    row.bytes = result->bytes_read;
    row.verdict = run->finding.verdict;
    if (run->ran) {
        judge_fill(&row, &run->finding);
        row.seconds = run->seconds.median;
        row.spread = measure_spread(&run->seconds);
        row.of_limit = cuda_lab_read_limit(lab) > 0 ? rate(result, way) / cuda_lab_read_limit(lab) : -1;
        row.of_nominal = facts->nominal > 0 ? rate(result, way) / facts->nominal : -1;
        report_set(&row, MEASURE_TO_FAST, way == CUDA_EXACT ? result->ratio[way][CUDA_FAST] : 0);
        report_set(&row, MEASURE_TO_PEER, way == CUDA_SUM ? 0 : result->ratio[way][CUDA_PEER]);
        report_set(&row, MEASURE_TO_GPU_TO_GPU, result->ratio[way][CUDA_GPU_TO_GPU]);
        report_set(&row, MEASURE_TO_SUM, way == CUDA_PEER ? 0 : result->ratio[way][CUDA_SUM]);
        describe_launches(run, &row);
    } else {
        snprintf(row.note, sizeof row.note, "%s", run->note);
    }
    report_add_row(r, &row);
}

static void add_point(report *r, const cuda_result *result, cuda_way way) {
    const cuda_case *which = &result->which;
    char name[48];
    snprintf(name, sizeof name, "%s sum, %s %s", way_names[way], data_name(which), reduct_type_name(which->type));
    report_add_point(report_series_named(r, name), (double)which->n, rate(result, way) / 1e9);
}

/* Whether the results hold this sum with another number of elements. */
static bool is_curve(const cuda_result *results, size_t count, const cuda_case *which) {
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        const cuda_case *other = &results[i].which;
        found = found || (cuda_same_ops(other, which) && other->type == which->type && other->data == which->data &&
                          other->offset == which->offset && other->waits == which->waits &&
                          other->shape.kind == BENCH_WHOLE && other->n != which->n);
    }
    return found && which->op == REDUCT_SUM && !which->others.count && which->offset == 0 && !which->waits &&
           which->shape.kind == BENCH_WHOLE;
}

void cuda_report_fill(report *r, const cuda_lab *lab, const cuda_result *results, size_t count) {
    static const cuda_way order[] = {CUDA_PEER, CUDA_GPU_TO_GPU, CUDA_EXACT, CUDA_FAST, CUDA_SUM};
    for (size_t i = 0; i < count; i++)
        for (size_t w = 0; w < CUDA_WAYS; w++) {
            const cuda_run *run = &results[i].runs[order[w]];
            if (!run->ran && !*run->note)
                continue;
            add_report_row(r, lab, &results[i], order[w]);
            if (run->ran && is_curve(results, count, &results[i].which))
                add_point(r, &results[i], order[w]);
        }
}
