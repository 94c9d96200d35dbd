/* Reading lists: each item is checked by the table that knows it. */
#include "matrix.h"

#include "cuda_cases.h"

#include "measure/machine.h"
#include "program/sizes.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned matrix_all_threads(void) {
    measure_machine machine;
    measure_machine_describe(&machine);
    return machine.processors;
}

int matrix_is_gpu(const char *devices) {
    return devices && strncmp(devices, "cuda", 4) == 0;
}

uint64_t matrix_bytes(const bench_matrix *matrix, unsigned at, reduct_type type) {
    return matrix->in_elements[at] ? matrix->sizes[at] * reduct_type_size(type) : matrix->sizes[at];
}

/* The operators that have plain loops. */
static const char cpu_ops[] = "sum,mean,dot,norm1,norm2,var,min,max,argmin";

/* Each of these stores item number `at` of its list. They return 0; 1 when it is in the list already; -1 when the text
 * means nothing here. */

static int set_op(bench_matrix *matrix, unsigned at, const char *text) {
    if (reduct_operator_parse(text, &matrix->ops[at]) != REDUCT_OK)
        return -1;
    if (bench_has(matrix->ops[at], REDUCT_F64))
        return 0;
    snprintf(matrix->absent, sizeof matrix->absent, "%s has no plain loop to be compared with; expected one of %s",
             text, cpu_ops);
    return -1;
}

static int set_type(bench_matrix *matrix, unsigned at, const char *text) {
    return reduct_type_parse(text, &matrix->types[at]) == REDUCT_OK && bench_has(REDUCT_SUM, matrix->types[at]) ? 0
                                                                                                                : -1;
}

/* One operator, or several of one array, as in sum+min+max. */
static int set_gpu_op(bench_matrix *matrix, unsigned at, const char *text) {
    bench_others *others = &matrix->others[at];
    char copy[256], *rest = NULL;
    if (strlen(text) >= sizeof copy)
        return -1;
    strcpy(copy, text);
    *others = (bench_others){.count = 0};
    const char *first = strtok_r(copy, "+", &rest);
    if (!first || reduct_operator_parse(first, &matrix->ops[at]) != REDUCT_OK)
        return -1;
    for (const char *name; (name = strtok_r(NULL, "+", &rest)); others->count++)
        if (others->count == BENCH_OTHERS || reduct_operator_parse(name, &others->op[others->count]) != REDUCT_OK ||
            reduct_operator_inputs(others->op[others->count]) != 1)
            return -1;
    bool two_values = matrix->ops[at] == REDUCT_MINMAX;
    for (unsigned i = 0; i < others->count; i++)
        two_values = two_values || others->op[i] == REDUCT_MINMAX;
    if (two_values)
        snprintf(matrix->absent, sizeof matrix->absent, "minmax is not measured, as its results are two values each");
    return two_values || (others->count && reduct_operator_inputs(matrix->ops[at]) != 1) ? -1 : 0;
}

static int set_gpu_type(bench_matrix *matrix, unsigned at, const char *text) {
    return reduct_type_parse(text, &matrix->types[at]) == REDUCT_OK && cuda_has_type(matrix->types[at]) ? 0 : -1;
}

static int set_data(bench_matrix *matrix, unsigned at, const char *text) {
    if (strcmp(text, "range60") == 0)
        text = measure_data_name(MEASURE_WIDE);
    for (int data = 0; data < MEASURE_DATA_COUNT; data++)
        if (strcmp(text, measure_data_name((measure_data)data)) == 0) {
            matrix->data[at] = (measure_data)data;
            return 0;
        }
    return -1;
}

/* Bytes, or 2^N elements. */
static int set_size(bench_matrix *matrix, unsigned at, const char *text) {
    char *end;
    matrix->in_elements[at] = strncmp(text, "2^", 2) == 0;
    if (matrix->in_elements[at]) {
        unsigned long log = text[2] >= '0' && text[2] <= '9' ? strtoul(text + 2, &end, 10) : 99;
        if (log > 36 || *end)
            return -1;
        matrix->sizes[at] = UINT64_C(1) << log;
        return 0;
    }
    return program_size_parse(text, &matrix->sizes[at]) == 0 && matrix->sizes[at] >> 40 == 0 ? 0 : -1;
}

static int set_device(bench_matrix *matrix, unsigned at, const char *text) {
    reduct_error error = {0};
    if (strlen(text) >= sizeof matrix->devices[at])
        return -1;
    if (!bench_device(text, &error)) {
        snprintf(matrix->absent, sizeof matrix->absent, "%s", error.message);
        return -1;
    }
    strcpy(matrix->devices[at], text);
    return 0;
}

static int set_threads(bench_matrix *matrix, unsigned at, const char *text) {
    char *end = "";
    unsigned long number = strcmp(text, "all") == 0 ? matrix_all_threads() : strtoul(text, &end, 10);
    if (*end || number < 1 || number > 1024)
        return -1;
    for (unsigned i = 0; i < at; i++)
        if (matrix->threads[i] == number) /* "1,all" on one processor */
            return 1;
    matrix->threads[at] = (unsigned)number;
    return 0;
}

static int set_offset(bench_matrix *matrix, unsigned at, const char *text) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || number > 63)
        return -1;
    matrix->offsets[at] = (unsigned)number;
    return 0;
}

static int set_shape(bench_matrix *matrix, unsigned at, const char *text) {
    static const char *const names[] = {[BENCH_WHOLE] = "whole",
                                        [BENCH_ROWS] = "rows:",
                                        [BENCH_COLUMNS] = "columns:",
                                        [BENCH_SEGMENTS] = "segments:",
                                        [BENCH_SEGMENTS_RAGGED] = "ragged:",
                                        [BENCH_SEGMENTS_FALLING] = "falling:",
                                        [BENCH_SEGMENTS_ONE] = "one:",
                                        [BENCH_GROUPS] = "groups:",
                                        [BENCH_GROUPS_SKEWED] = "skewed:",
                                        [BENCH_GROUPS_SORTED] = "sorted:"};
    bench_shape_kind kind = BENCH_WHOLE;
    uint64_t columns = 0;
    while (kind < BENCH_SHAPES && strncmp(text, names[kind], strlen(names[kind])) != 0)
        kind++;
    if (kind == BENCH_SHAPES)
        return -1;
    text += strlen(names[kind]);
    char number[32];
    uint64_t width = 0;
    const char *by = kind >= BENCH_GROUPS ? strchr(text, 'x') : NULL;
    snprintf(number, sizeof number, "%.*s", by ? (int)(by - text) : (int)strlen(text), text);
    if (by && (program_size_parse(by + 1, &width) != 0 || width == 0 || width >> 36 != 0))
        return -1;
    if (kind == BENCH_WHOLE ? *text : program_size_parse(number, &columns) != 0 || columns == 0 || columns >> 36 != 0)
        return -1;
    if (width && columns > (UINT64_C(1) << 36) / width)
        return -1;
    matrix->shapes[at] = (bench_shape){kind, columns, width};
    return 0;
}

/* CPUs are measured where a plain loop over all elements does as much: in matrices. */
static int set_cpu_shape(bench_matrix *matrix, unsigned at, const char *text) {
    const int outcome = set_shape(matrix, at, text);
    if (outcome == 0 && matrix->shapes[at].kind > BENCH_COLUMNS) {
        snprintf(matrix->absent, sizeof matrix->absent, "'%s' is only for GPUs; expected whole, rows:N or columns:N",
                 text);
        return -1;
    }
    return outcome;
}

static int set_calls(bench_matrix *matrix, unsigned at, const char *text) {
    matrix->waits[at] = strcmp(text, "waited") == 0;
    return matrix->waits[at] || strcmp(text, "queued") == 0 ? 0 : -1;
}

/* Of CPUs, and of GPUs. */
static const struct {
    int (*set)(bench_matrix *matrix, unsigned at, const char *text);
    const char *all; /* what "all" stands for; null where it is an item itself, or nothing */
} lists_of[2][LISTS] = {
    {
        [LIST_OP] = {set_op, cpu_ops},
        [LIST_TYPE] = {set_type, "f64,f32,f16,bf16,i64,i32"},
        [LIST_DATA] = {set_data, "normal,uniform,wide,full"},
        [LIST_SIZE] = {set_size, "32Ki,512Ki,8Mi,256Mi"},
        [LIST_DEVICE] = {set_device, "cpu:portable,cpu:avx2,cpu:avx512"},
        [LIST_THREADS] = {set_threads, NULL},
        [LIST_OFFSET] = {set_offset, NULL},
        [LIST_SHAPE] = {set_cpu_shape, "whole,rows:16,rows:64,rows:1Ki,columns:16,columns:64,columns:1Ki"},
        [LIST_CALLS] = {set_calls, NULL},
    },
    {
        [LIST_OP] = {set_gpu_op, "sum,mean,min,max,argmin,argmax,dot,norm1,norm2,norminf,var"},
        [LIST_TYPE] = {set_gpu_type, "f64,f32,f16,bf16,i8,i16,i32,i64,u8,u16,u32,u64"},
        [LIST_DATA] = {set_data, "normal,uniform,wide,full"},
        [LIST_SIZE] = {set_size, "2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^23,2^24,2^26,2^28,2^30"},
        [LIST_DEVICE] = {set_device, NULL},
        [LIST_THREADS] = {set_threads, NULL},
        [LIST_OFFSET] = {set_offset, NULL},
        [LIST_SHAPE] = {set_shape,
                        "whole,rows:16,rows:32,rows:64,rows:128,rows:256,rows:512,rows:1Ki,rows:4Ki,rows:16Ki,rows:4Mi,"
                        "columns:64,columns:1Ki,columns:16Ki,columns:256Ki,columns:4Mi"},
        [LIST_CALLS] = {set_calls, "queued,waited"},
    },
};

int matrix_set(bench_matrix *matrix, int gpu, matrix_list list, const char *text, char fault[MATRIX_FAULT]) {
    char copy[512];
    int all = lists_of[gpu][list].all && strcmp(text, "all") == 0;
    snprintf(copy, sizeof copy, "%s", all ? lists_of[gpu][list].all : text);
    matrix->count[list] = 0;
    *matrix->absent = '\0';
    for (char *rest = NULL, *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
        if (matrix->count[list] == MATRIX_ITEMS) {
            snprintf(fault, MATRIX_FAULT, "at most %d items fit in a list", MATRIX_ITEMS);
            return -1;
        }
        int outcome = lists_of[gpu][list].set(matrix, matrix->count[list], item);
        if (outcome == 0)
            matrix->count[list]++;
        else if (outcome < 0 && !all) { /* of all kernels, those that this processor lacks are left out */
            if (*matrix->absent)
                snprintf(fault, MATRIX_FAULT, "%s", matrix->absent);
            else
                snprintf(fault, MATRIX_FAULT, "'%s' is not known", item);
            return -1;
        }
    }
    if (matrix->count[list] == 0) {
        snprintf(fault, MATRIX_FAULT, "the list is empty");
        return -1;
    }
    return 0;
}

bench_matrix matrix_make(int gpu, const matrix_standard *standard, const char *const asked[LISTS]) {
    bench_matrix matrix = {.count = {0}};
    char fault[MATRIX_FAULT];
    for (int i = 0; i < LISTS; i++) {
        const char *text = asked[i] ? asked[i] : standard->lists[i];
        if (text && matrix_set(&matrix, gpu, (matrix_list)i, text, fault) != 0) {
            fprintf(stderr, "reduct: %s\n", fault);
            exit(1);
        }
    }
    return matrix;
}

size_t matrix_combinations(const bench_matrix *matrix, const matrix_list *order, size_t lists) {
    size_t combinations = 1;
    for (size_t i = 0; i < lists; i++)
        combinations *= matrix->count[order[i]];
    return combinations;
}

void matrix_combination(const bench_matrix *matrix, const matrix_list *order, size_t lists, size_t number,
                        unsigned at[LISTS]) {
    memset(at, 0, LISTS * sizeof *at);
    for (size_t i = 0; i < lists; i++) {
        at[order[i]] = (unsigned)(number % matrix->count[order[i]]);
        number /= matrix->count[order[i]];
    }
}

const char *matrix_shape_text(bench_shape shape, char *text, size_t room) {
    static const struct {
        const char *before, *after; /* the number */
    } words[BENCH_SHAPES] = {[BENCH_ROWS] = {"rows of ", ""},
                             [BENCH_COLUMNS] = {"", " columns"},
                             [BENCH_SEGMENTS] = {"segments of ", ""},
                             [BENCH_SEGMENTS_RAGGED] = {"ragged segments of ", ""},
                             [BENCH_SEGMENTS_FALLING] = {"", " segments as 1/k"},
                             [BENCH_SEGMENTS_ONE] = {"one long of ", " segments"},
                             [BENCH_GROUPS] = {"", " groups"},
                             [BENCH_GROUPS_SKEWED] = {"", " skewed groups"},
                             [BENCH_GROUPS_SORTED] = {"", " sorted groups"}};
    char columns[20], width[20];
    *text = '\0';
    if (shape.kind != BENCH_WHOLE)
        snprintf(text, room, "%s%s%s%s%s", words[shape.kind].before,
                 report_count_text(shape.columns, columns, sizeof columns), words[shape.kind].after,
                 shape.width ? " of rows of " : "",
                 shape.width ? report_count_text(shape.width, width, sizeof width) : "");
    return text;
}
