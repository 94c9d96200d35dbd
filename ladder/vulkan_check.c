/* Verifies the Vulkan ladder: every rung in all languages with every finish and type, over sizes and groups at which
 * mistakes show.
 *
 *   ladder_vulkan_check [--device vulkan:N|vulkan:NAME] [--quick [--few]] [--rung NAME]
 *
 * --quick is for drivers that run shaders on the CPU, and for the validation layer: few sizes and groups; with --few two sizes of
 * arrays and of groups, as compiling for each takes longest. Otherwise one array is longer than a binding and a buffer can be, memory permitting,
 * and the ladder is run as users run it. With REDUCT_VULKAN_VALIDATION=1 every message of the validation layer is a failure.
 *
 * Whatever surrounds an array, and whatever sums are stored in, holds bytes before that would show in any sum: NaNs, or
 * -1.
 *
 * Prints what is wrong, then one line: "N passed, N failed". Ends with status 0 if nothing failed. */
#include "ladder/vulkan_check.h"
#include "ladder/vulkan_rows.h"

#include "program/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lab {
    vulkan_lab vulkan;
    const char *device, *rung;
    bool quick, few;
    check_count count;
    ladder_data data; /* of the moment */
    gpu_vulkan_input input;
} lab;

static void count(lab *l, bool right, const char *what, const char *expected, const char *got) {
    check_add(&l->count, right, what, expected, got);
}

static const char *name_of(const vulkan_rung *rung) {
    return ladder_rungs[rung->step].name;
}

/* After a failure of the device: on with the next, or the end. */
static void forgive(lab *l) {
    if (gpu_vulkan_error(l->vulkan.device) && !gpu_vulkan_forgive(l->vulkan.device)) {
        printf("The device cannot go on.\n%lu passed, %lu failed\n", l->count.passed, l->count.failed);
        exit(1);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rungs over sizes and groups
 * ------------------------------------------------------------------------------------------------------------------ */

static bool upload(lab *l, reduct_type type, uint64_t n) {
    gpu_vulkan *device = l->vulkan.device;
    if (ladder_data_create(&l->data, type, n) != 0)
        return false;
    l->input = gpu_vulkan_input_create(device, l->data.values, n * reduct_type_size(type), false, l->vulkan.piece_most);
    for (size_t i = 0; i < l->input.buffer_count && !gpu_vulkan_error(device); i++) {
        uint64_t bytes = l->input.pieces > 1 ? l->input.piece_bytes : l->input.stride;
        if (i + 1 == l->input.buffer_count && l->input.pieces > 1)
            bytes = (l->input.bytes - i * l->input.piece_bytes) / 4 * 4;
        gpu_vulkan_fill(device, l->input.buffers[i], 0, UINT32_MAX, bytes);
    }
    gpu_vulkan_input_restore(device, &l->input, l->data.values);
    return gpu_vulkan_error(device) == NULL;
}

static void release(lab *l) {
    gpu_vulkan_input_destroy(l->vulkan.device, &l->input);
    ladder_data_destroy(&l->data);
}

/* One result, in memory that held something else before; the data are then as they were. */
static void run(lab *l, vulkan_run *r, void *result) {
    vulkan_lab *vulkan = &l->vulkan;
    gpu_vulkan_fill(vulkan->device, vulkan->result, 0, UINT32_MAX, 8);
    for (size_t i = 0; i < 2; i++)
        gpu_vulkan_fill(vulkan->device, vulkan->partials[i], 0, UINT32_MAX, vulkan->partials_bytes);
    vulkan_run_once(r, 0);
    vulkan_run_result(r, result);
    if (r->rung->destroys_input)
        gpu_vulkan_input_restore(vulkan->device, &l->input, l->data.values);
}

/* Sums of floats whose order may differ from run to run: by atomics, and in HLSL, where waves have no numbers, by waves. */
static bool has_any_order(const vulkan_run *r) {
    if (r->type == REDUCT_I32 || r->exact)
        return false;
    return r->finish == LADDER_FINISH_ATOMIC ||
           (r->lab->language == VULKAN_HLSL && r->rung->needs >= VULKAN_NEEDS_SHUFFLES);
}

/* Runs twice: the first result must be right, and the second the same bits, where the order is fixed. */
static void check(lab *l, vulkan_run *r) {
    _Alignas(8) unsigned char first[8] = {0}, second[8] = {0};
    char what[200];
    report_row row = report_row_empty(), again = row;
    run(l, r, first);
    run(l, r, second);
    ladder_judge(&row, &l->data, first, vulkan_run_terms(r));
    ladder_judge(&again, &l->data, second, vulkan_run_terms(r));
    bool right = report_verdict_is_good(row.verdict) && report_verdict_is_good(again.verdict) &&
                 (has_any_order(r) || memcmp(first, second, sizeof first) == 0);
    const char *error = gpu_vulkan_error(l->vulkan.device);
    snprintf(what, sizeof what, "%s %s %s %s, n = %" PRIu64 ", groups of %u, %zu pieces",
             vulkan_language_title(l->vulkan.language), name_of(r->rung), ladder_finish_name(r->finish),
             reduct_type_name(r->type), r->n, r->group, r->input->pieces);
    const char *got = report_verdict_is_good(row.verdict) ? again.got : row.got;
    count(l, right && !error, what, row.expected, error ? error : got);
    forgive(l);
}

/* What is not claimed is not checked: types, atomics and group sizes that the device or the language lacks, rungs that
 * the language lacks, finishes of the exact rung. Everything else must run. */
static bool is_claimed(const lab *l, const vulkan_rung *rung, ladder_finish finish, unsigned group) {
    const gpu_vulkan_facts *facts = l->vulkan.facts;
    bool f64 = l->data.type == REDUCT_F64, is_exact = rung->cover == VULKAN_COVER_EXACT;
    if (!vulkan_has_rung(&l->vulkan, rung, l->data.type))
        return false;
    if (is_exact)
        return finish == LADDER_FINISH_LAST_BLOCK && group == VULKAN_GROUP_DEFAULT;
    if (group > facts->group_most || (f64 && !facts->f64))
        return false;
    if (f64 && finish == LADDER_FINISH_ATOMIC && !facts->i64_atomics)
        return false;
    if (l->vulkan.language == VULKAN_SLANG)
        return facts->local_size_id;
    return l->vulkan.language == VULKAN_GLSL || (!f64 && (group & (group - 1)) == 0);
}

static void check_rung(lab *l, const vulkan_rung *rung, ladder_finish finish, unsigned group) {
    vulkan_run r;
    char why[240] = "";
    if (!ladder_wants(l->rung, name_of(rung)) || !is_claimed(l, rung, finish, group))
        return;
    if (rung->cover == VULKAN_COVER_EXACT)
        group = 0;
    if (vulkan_run_prepare(&r, &l->vulkan, rung, finish, l->data.type, &l->input, group, why, sizeof why))
        check(l, &r);
    else
        count(l, false, name_of(rung), "a kernel", why);
    vulkan_run_destroy(&r);
    forgive(l);
}

static void check_all(lab *l, const unsigned *groups, size_t group_count) {
    for (int language = 0; language < VULKAN_LANGUAGES; language++) {
        l->vulkan.language = (vulkan_language)language;
        /* A group's size is in Slang the constant that it is in GLSL, and the layer takes long over modules of several points of
         * entry: every second size when it should be quick. */
        size_t step = l->quick && language == VULKAN_SLANG ? 2 : 1;
        for (size_t i = 0; vulkan_rung_at(i); i++)
            for (int finish = LADDER_FINISH_DEFAULT + 1; finish < LADDER_FINISHES; finish++)
                for (size_t g = 0; g < group_count; g += step)
                    check_rung(l, vulkan_rung_at(i), (ladder_finish)finish, groups[g]);
    }
}

static const reduct_type types[] = {REDUCT_I32, REDUCT_F32, REDUCT_F64};
enum { TYPES = sizeof types / sizeof *types };

static void check_sizes_in(lab *l, const uint64_t *sizes, size_t size_count, const unsigned *groups,
                           size_t group_count) {
    for (size_t t = 0; t < TYPES; t++)
        for (size_t s = 0; s < size_count; s++) {
            if (types[t] == REDUCT_F64 && !l->vulkan.facts->f64)
                continue;
            if (upload(l, types[t], sizes[s]))
                check_all(l, groups, group_count);
            else
                count(l, false, "data", "memory", "none");
            release(l);
        }
}

static void check_sizes(lab *l) {
    static const uint64_t sizes[] = {0, 1, 2, 31, 32, 33, 1000, 1023, 1024, 1025, 65535, 1 << 20, (1 << 20) + 1};
    static const uint64_t few_sizes[] = {0, 1, 1000, 10007};
    static const unsigned groups[] = {16, 32, 64, 96, 128, 256, 512, 1000, 1024};
    static const unsigned few_groups[] = {16, 256, 100, 1024};
    static const uint64_t two_sizes[] = {0, 10007};
    static const unsigned two_groups[] = {16, 100};
    if (l->few)
        check_sizes_in(l, two_sizes, 2, two_groups, 2);
    else if (l->quick)
        check_sizes_in(l, few_sizes, sizeof few_sizes / sizeof *few_sizes, few_groups,
                       sizeof few_groups / sizeof *few_groups);
    else
        check_sizes_in(l, sizes, sizeof sizes / sizeof *sizes, groups, sizeof groups / sizeof *groups);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The ladder of rows
 * ------------------------------------------------------------------------------------------------------------------ */

/* One rung on the data of the moment, seen as a matrix. */
static void check_matrix(lab *l, size_t i, uint64_t rows, uint64_t columns) {
    vulkan_rows_run r;
    char why[240] = "", what[160];
    const char *name = ladder_rungs[rows_rungs[i].step].name;
    gpu_vulkan *device = l->vulkan.device;
    report_row row = report_row_empty();
    if (vulkan_rows_prepare(&r, &l->vulkan, i, l->data.type, rows, columns, why, sizeof why)) {
        uint64_t bytes, filled = (r.results * reduct_type_size(r.type) + 3) / 4 * 4;
        if (filled)
            gpu_vulkan_fill(device, r.result, 0, UINT32_MAX, filled);
        vulkan_rows_once(&r, gpu_vulkan_input_piece(&l->input, 0, 0, &bytes));
        rows_sums sums = rows_sums_create(&l->data, rows, columns);
        vulkan_rows_judge(&r, &sums, &row);
        rows_sums_destroy(&sums);
        const char *error = gpu_vulkan_error(device);
        snprintf(what, sizeof what, "%s %s, %" PRIu64 " x %" PRIu64, name, reduct_type_name(l->data.type), rows,
                 columns);
        count(l, report_verdict_is_good(row.verdict) && !error, what, row.expected, error ? error : row.got);
    } else {
        /* What may be refused: vectors that rows do not begin at; and what llvmpipe would not loop through to the end. */
        bool vectors = rows_rungs[i].cover == VECTOR_LANES && columns * reduct_type_size(l->data.type) % 16 != 0,
             loops = strncmp(l->vulkan.facts->name, "llvmpipe", 8) == 0 && rows * columns > UINT16_MAX;
        count(l, vectors || loops, name, "a kernel", why);
    }
    vulkan_rows_release(&r);
    forgive(l);
}

static void check_matrices(lab *l) {
    static const uint64_t shapes[][2] = {{0, 8},      {1, 1},     {3, 5},      {33, 64},  {257, 33},
                                         {300, 16},   {129, 129}, {5, 20000},  {1000, 7}, {100003, 1},
                                         {4096, 128}, {5, 65536}, {1, 1000003}};
    size_t shape_count = l->quick ? 8 : sizeof shapes / sizeof *shapes;
    for (size_t t = 0; t < TYPES; t++)
        for (size_t s = 0; s < shape_count; s++) {
            if (types[t] == REDUCT_F64 && !l->vulkan.facts->f64)
                continue;
            if (!upload(l, types[t], shapes[s][0] * shapes[s][1]))
                count(l, false, "data", "memory", "none");
            for (size_t i = 0; i < VULKAN_ROWS_COUNT; i++)
                if (ladder_wants(l->rung, ladder_rungs[rows_rungs[i].step].name))
                    check_matrix(l, i, shapes[s][0], shapes[s][1]);
            release(l);
        }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Limits
 * ------------------------------------------------------------------------------------------------------------------ */

/* Arrays in pieces, which are here as small as they can be, so that there are many. */
static void check_pieces(lab *l) {
    static const uint64_t sizes[] = {64, 65, 1000, 4097};
    static const unsigned groups[] = {16, 256};
    l->vulkan.piece_most = l->quick ? 1024 : 256;
    check_sizes_in(l, sizes, l->few ? 2 : sizeof sizes / sizeof *sizes, groups, l->quick ? 1 : 2);
    l->vulkan.piece_most = 0;
}

/* More than 65535 groups, which come in rows; one rung each that takes one and two elements per invocation. */
static void check_rows(lab *l) {
    static const ladder_step rungs[] = {LADDER_HALVING, LADDER_FIRST_ADD};
    uint64_t sizes[] = {16 * UINT64_C(65535) + 1, 32 * UINT64_C(65535) + 33};
    for (size_t i = 0; i < 2; i++) {
        if (!upload(l, REDUCT_I32, sizes[i]))
            count(l, false, "data", "memory", "none");
        for (int language = 0; language < VULKAN_LANGUAGES; language++) {
            l->vulkan.language = (vulkan_language)language;
            check_rung(l, vulkan_rung_of(rungs[i]), LADDER_FINISH_RECURSIVE, 16);
            check_rung(l, vulkan_rung_of(rungs[i]), LADDER_FINISH_LAST_BLOCK, 16);
        }
        release(l);
    }
}

/* An array that no binding can hold, and on most devices no buffer. */
static void check_large(lab *l) {
    const gpu_vulkan_facts *facts = l->vulkan.facts;
    uint64_t n = facts->range / 4 + 12345;
    if (gpu_vulkan_free_memory(l->vulkan.device) < 5 * n) {
        printf("Not checked for lack of memory on the device: %" PRIu64 " elements\n", n);
        return;
    }
    for (size_t t = 0; t < 2; t++) {
        if (!upload(l, types[t], n))
            count(l, false, "data", "memory", "none");
        for (size_t i = 0; vulkan_rung_at(i); i++)
            check_rung(l, vulkan_rung_at(i), ladder_rungs[vulkan_rung_at(i)->step].finish, VULKAN_GROUP_DEFAULT);
        release(l);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Subgroups that are not to be trusted
 * ------------------------------------------------------------------------------------------------------------------ */

static void check_doubted(lab *l, const vulkan_rung *rung) {
    vulkan_run r;
    char why[240] = "";
    bool ready = vulkan_run_prepare(&r, &l->vulkan, rung, LADDER_FINISH_RECURSIVE, l->data.type, &l->input,
                                    VULKAN_GROUP_DEFAULT, why, sizeof why);
    if (l->vulkan.language != VULKAN_GLSL) {
        count(l, !ready && strstr(why, "wrong sum"), name_of(rung), "a refusal that names the wrong sum", why);
    } else {
        count(l, ready && r.in_shared_memory && strstr(r.note, "in shared memory"), name_of(rung),
              "the variant in shared memory, and a note", ready ? r.note : why);
        if (ready)
            check(l, &r);
    }
    vulkan_run_destroy(&r);
}

/* Where every trial fails: each rung that uses subgroups is right all the same, or refused, and says why. */
static void check_trials(lab *l) {
    reduct_error error;
    lab doubting = *l;
    if (vulkan_lab_open(&doubting.vulkan, l->device, VULKAN_GLSL, &error) != REDUCT_OK) {
        count(l, false, "a second lab", "a device", error.message);
        return;
    }
    doubting.vulkan.doubts_subgroups = true;
    if (upload(&doubting, REDUCT_F32, 10007))
        for (int language = 0; language < VULKAN_LANGUAGES; language++)
            for (size_t i = 0; vulkan_rung_at(i); i++) {
                doubting.vulkan.language = (vulkan_language)language;
                bool has = vulkan_has_rung(&doubting.vulkan, vulkan_rung_at(i), REDUCT_F32);
                has = has && (language != VULKAN_SLANG || l->vulkan.facts->local_size_id);
                if (vulkan_rung_at(i)->needs != VULKAN_NEEDS_NOTHING && has &&
                    ladder_wants(l->rung, name_of(vulkan_rung_at(i))))
                    check_doubted(&doubting, vulkan_rung_at(i));
            }
    count(&doubting, l->rung || doubting.vulkan.distrusted[0], "a failed trial", "a name", "none");
    release(&doubting);
    vulkan_lab_close(&doubting.vulkan);
    l->count = doubting.count;
}

/* Whether the validation layer works and follows shaders: it must report a store behind a buffer, which it then prevents. (It
 * knows the sizes of buffers, not of the parts that are bound.) */
static void check_watch(lab *l) {
    vulkan_lab *vulkan = &l->vulkan;
    char why[240] = "no message";
    bool passed;
    if (!vulkan->facts->is_validated)
        return;
    gpu_vulkan_buffer *small = gpu_vulkan_allocate(vulkan->device, 64);
    printf("One message of the validation layer is wanted:\n");
    gpu_vulkan_kernel *kernel = vulkan_lab_kernel(vulkan, "glsl/halving_i32", 16, VULKAN_STORE, REDUCT_I32,
                                                  VULKAN_NEEDS_NOTHING, &passed, why, sizeof why);
    const gpu_vulkan_slice slices[] = {
        {vulkan->trial, 0, 64}, {small, 0, 64}, {vulkan->result, 0, 64}, {vulkan->ticket, 0, 16}};
    const vulkan_push push = {.n = 16, .groups = 1, .row = 1, .first = 100, .total = 1};
    if (kernel)
        gpu_vulkan_dispatch(vulkan->device, kernel, 1, slices, &push);
    gpu_vulkan_wait(vulkan->device);
    const char *error = gpu_vulkan_error(vulkan->device);
    count(l, error && strstr(error, "validation: "), "a store behind a buffer", "a message of the layer",
          error ? error : why);
    forgive(l);
    gpu_vulkan_free(vulkan->device, small);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Applications
 * ------------------------------------------------------------------------------------------------------------------ */

/* Arrays for them. The dot product and the mean are of whole numbers, whose sums f32 holds; the maximum is of what a wrong
 * identity, a wrong comparison or a lost element shows in: nothing but -infinity, nothing but negative numbers, one NaN among
 * infinities. */
typedef enum series { WHOLE, NEGATIVE, LEAST, A_NAN, SERIES } series;
static const char *const series_names[] = {"whole numbers", "negative numbers", "-infinity alone",
                                           "infinities and a NaN"};

static double element(series of, uint64_t i, uint64_t n) {
    switch (of) {
    case WHOLE:
        return (double)(i * 7919 % 17) - 8;
    case NEGATIVE:
        return -1 - (double)(i * 7919 % n);
    case LEAST:
        return -HUGE_VAL;
    default:
        return i == n * 3 / 4 ? (double)NAN : HUGE_VAL;
    }
}

static double other_element(uint64_t i) {
    return (double)(i * 31 % 13) - 6;
}

static double expected_of(reduct_operator op, series of, uint64_t n) {
    if (of != WHOLE)
        return of == NEGATIVE ? -1 : of == LEAST ? -HUGE_VAL : (double)NAN;
    double sum = 0, most = -HUGE_VAL;
    for (uint64_t i = 0; i < n; i++) {
        double x = element(of, i, n);
        sum += op == REDUCT_DOT ? x * other_element(i) : x;
        most = x > most ? x : most;
    }
    return op == REDUCT_MAX ? most : op == REDUCT_MEAN ? sum / (double)n : sum;
}

/* Shaders may divide with an error of 2.5 ulp; all else is exact here. */
static bool is_result(reduct_operator op, reduct_type type, double got, double expected) {
    double unit = type == REDUCT_F32 ? 0x1p-23 : 0x1p-52;
    if (isnan(expected) || isinf(expected))
        return isnan(expected) ? (bool)isnan(got) : got == expected;
    return fabs(got - expected) <= (op == REDUCT_MEAN ? 3 * unit * fabs(expected) : 0);
}

static void check_application(lab *l, reduct_operator op, reduct_type type, series of, uint64_t n) {
    char what[160], wanted[40], told[160], why[160] = "";
    size_t size = reduct_type_size(type);
    unsigned char *x = program_allocate(2 * n * size), *y = x + n * size;
    for (uint64_t i = 0; i < 2 * n; i++) {
        double value = i < n ? element(of, i, n) : other_element(i - n);
        if (type == REDUCT_F32)
            ((float *)x)[i] = (float)value;
        else
            ((double *)x)[i] = value;
    }
    double expected = expected_of(op, of, n);
    for (int run = 0; run < 2; run++) { /* the second finds what the first has left */
        _Alignas(8) unsigned char result[8] = {0};
        float f32;
        double f64;
        bool can = vulkan_apply(&l->vulkan, op, type, x, y, n, result, why, sizeof why);
        memcpy(&f32, result, sizeof f32);
        memcpy(&f64, result, sizeof f64);
        double got = type == REDUCT_F32 ? f32 : f64;
        const char *error = gpu_vulkan_error(l->vulkan.device);
        snprintf(what, sizeof what, "%s %s %s of %" PRIu64 " %s", vulkan_language_title(l->vulkan.language),
                 reduct_operator_name(op), reduct_type_name(type), n, series_names[of]);
        snprintf(wanted, sizeof wanted, "%.17g", expected);
        snprintf(told, sizeof told, "%.17g", got);
        bool excused = !can && !error && (type == REDUCT_F64 || l->vulkan.doubts_subgroups);
        count(l, excused || (can && !error && is_result(op, type, got, expected)), what, wanted,
              error ? error
              : can ? told
                    : why);
        forgive(l);
    }
    free(x);
}

static void check_applications(lab *l) {
    static const uint64_t counts[] = {1, 2, 255, 256, 257, 10007};
    static const reduct_operator operators[] = {REDUCT_DOT, REDUCT_MAX, REDUCT_MEAN};
    static const reduct_type kinds[] = {REDUCT_F32, REDUCT_F64};
    vulkan_language before = l->vulkan.language;
    if (l->rung)
        return;
    for (int language = 0; language < VULKAN_LANGUAGES; language++) {
        l->vulkan.language = (vulkan_language)language;
        for (size_t t = 0; t < 2; t++)
            for (size_t o = 0; o < 3; o++)
                for (int of = 0; of < (operators[o] == REDUCT_MAX ? SERIES : NEGATIVE); of++)
                    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                        check_application(l, operators[o], kinds[t], (series)of, counts[i]);
    }
    l->vulkan.language = before;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows of reports
 * ------------------------------------------------------------------------------------------------------------------ */

static void check_run(lab *l, const ladder_options *options) {
    reduct_error error = {.message = ""};
    report *r = report_create("check", "");
    if (ladder_vulkan_run(options, r, &error) != REDUCT_OK)
        count(l, false, "the ladder", "a report", error.message);
    for (size_t i = 0; i < report_row_count(r); i++)
        check_row(&l->count, report_row_at(r, i), NULL);
    report_destroy(r);
}

/* The ladders as users run them. Without specimens, whose results are not defined. */
static void check_report(lab *l, reduct_type type) {
    ladder_options options = {
        .device = l->device, .n = l->quick ? 10007 : 1000003, .type = type, .rung = l->rung, .rounds = 3};
    ladder_options rows = options;
    bool of_sums = l->rung && gpu_rung_named(l->rung);
    rows.columns = 1000;
    options.every_finish = !l->quick;
    options.applications = true;
    options.language = "all";
    if (!l->rung || of_sums)
        check_run(l, &options);
    if (!of_sums)
        check_run(l, &rows);
}

/* Every rung of the list must be there, but those that only CUDA can say. */
static void check_list(lab *l) {
    for (int i = 0; i < LADDER_RUNGS; i++)
        if (ladder_rungs[i].kind == LADDER_RUNG_GPU && !ladder_rungs[i].only_cuda)
            count(l, vulkan_rung_of((ladder_step)i) != NULL, ladder_rungs[i].name, "a rung", "none");
}

static int parse(int argc, char **argv, lab *l) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            l->quick = true;
        } else if (strcmp(argv[i], "--few") == 0) {
            l->few = true;
        } else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            l->device = argv[++i];
        } else if (strcmp(argv[i], "--rung") == 0 && i + 1 < argc) {
            l->rung = argv[++i];
        } else {
            fprintf(stderr,
                    "usage: ladder_vulkan_check [--device vulkan:N|vulkan:NAME] [--quick [--few]] [--rung NAME]\n");
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    lab l = {.device = "vulkan:0"};
    reduct_error error = {.message = ""};
    if (parse(argc, argv, &l) != 0)
        return 2;
    if (vulkan_lab_open(&l.vulkan, l.device, VULKAN_GLSL, &error) != REDUCT_OK) {
        printf("%s\n0 passed, 1 failed\n", error.message);
        return 1;
    }
    printf("%s, %s%s\n", l.vulkan.facts->name, l.vulkan.facts->driver,
           l.vulkan.facts->is_validated ? ", watched by the validation layer" : "");
    check_watch(&l);
    check_list(&l);
    check_sizes(&l);
    check_pieces(&l);
    check_matrices(&l);
    check_rows(&l);
    check_applications(&l);
    check_trials(&l);
    if (ladder_wants(l.rung, ladder_rungs[LADDER_GPU_EXACT].name))
        vulkan_check_exact(&l.vulkan, l.quick, &l.count);
    if (!l.quick)
        check_large(&l);
    count(&l, !*l.vulkan.distrusted, "subgroups", "sums that are right in every trial", l.vulkan.distrusted);
    vulkan_lab_close(&l.vulkan);
    for (size_t t = 0; t < (l.quick ? 1 : TYPES); t++)
        check_report(&l, types[t]);
    printf("%lu passed, %lu failed\n", l.count.passed, l.count.failed);
    return l.count.failed != 0;
}
