/* Along axes, by groups, and with masks: see axes.h. The arrays are kept in memory, as they lie in the files. */
#include "axes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "number.h"
#include "outputs.h"
#include "print.h"
#include "reducer.h"
#include "tables.h"

enum { INPUTS_MOST = 2 };

struct array {
    struct reader reader;
    unsigned char *elements;
    uint64_t count;
    int64_t strides[LAYOUT_MOST]; /* in elements */
};

/* What is reduced, and what comes of it. */
struct axes {
    const struct options *options;
    struct array arrays[INPUTS_MOST], mask, by;
    size_t array_count;
    uint64_t reduced; /* axes, by bit */
    bool by_row;      /* groups are of rows, which are what the first axis counts, and not of elements */
    struct key_groups keys;
    reduct_reduction reductions[OPERATORS_MOST];
    void *results[OPERATORS_MOST];
    reduct_outcome *outcomes[OPERATORS_MOST]; /* of each result, where some fail; null before */
    uint64_t count;                           /* results of each */
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

static enum outcome read_elements(struct array *array) {
    size_t size = reduct_type_size(array->reader.type);
    uint64_t room = 0;
    for (;;) {
        struct chunk chunk;
        enum outcome outcome = reader_next(&array->reader, &chunk);
        if (outcome != DONE || chunk.count == 0)
            return outcome != DONE ? outcome : source_check_length(&array->reader.source);
        if (chunk.count > room - array->count) {
            uint64_t known = array->reader.count, more = 2 * (array->count + chunk.count);
            room = known != COUNT_UNKNOWN && known >= array->count + chunk.count ? known : more;
            void *grown = room <= SIZE_MAX / size ? realloc(array->elements, room * size) : NULL;
            if (!grown)
                return fail_memory();
            array->elements = grown;
        }
        memcpy(array->elements + array->count * size, chunk.data, chunk.count * size);
        array->count += chunk.count;
    }
}

static void find_strides(struct array *array) {
    const struct layout *layout = &array->reader.layout;
    int64_t step = 1;
    for (unsigned k = 0; k < layout->rank; k++) {
        unsigned axis = layout->fortran ? k : layout->rank - 1 - k;
        array->strides[axis] = step;
        step *= (int64_t)layout->shape[axis];
    }
}

/* An array that is open. */
static enum outcome read_array(struct array *array, const struct options *options) {
    enum outcome outcome = options_groups_file(options) ? reader_in_order(&array->reader) : DONE;
    if (outcome == DONE)
        outcome = read_elements(array);
    if (outcome != DONE)
        return outcome;
    struct layout *layout = &array->reader.layout;
    if (!layout->shaped && options_have_axes(options))
        return fail("%s: raw binary has no axes; expected a .npy array, or a matrix in text",
                    reader_name(&array->reader));
    if (!layout->shaped) {
        layout->rank = 1;
        layout->shape[0] = array->count;
    }
    find_strides(array);
    return DONE;
}

/* The type as NumPy names it; null where it has none. It has none of its own for bf16: this is what arrays of the package
 * ml_dtypes are saved as. */
static const char *numpy_type(reduct_type type) {
    static const char *const NAMES[] = {
        [REDUCT_F64] = "<f8", [REDUCT_F32] = "<f4", [REDUCT_F16] = "<f2", [REDUCT_BF16] = "<V2", [REDUCT_BOOL] = "|b1",
        [REDUCT_I8] = "|i1",  [REDUCT_I16] = "<i2", [REDUCT_I32] = "<i4", [REDUCT_I64] = "<i8",  [REDUCT_U8] = "|u1",
        [REDUCT_U16] = "<u2", [REDUCT_U32] = "<u4", [REDUCT_U64] = "<u8"};
    return (size_t)type < sizeof NAMES / sizeof *NAMES ? NAMES[type] : NULL;
}

/* Whether a file can hold the results of a reduction. */
static enum outcome check_output(const struct options *options, const reduct_reduction *reduction) {
    const reduct_type type = reduction->result;
    const char *op = operator_table((int)reduction->op);
    if (!numpy_type(type))
        return misuse("--output: %s is %s, which .npy files do not hold; give another --result, such as i64", op,
                      reduct_type_name(type));
    if (options->missing && !reduct_type_is_float(type))
        return misuse("--missing: %s is %s, which has no nan; expected a float type, where there is --output", op,
                      reduct_type_name(type));
    return DONE;
}

/* What the elements' type makes of the reductions, and whether a file can hold that. */
static enum outcome resolve(struct axes *axes) {
    const struct options *options = axes->options;
    const struct reader *reader = &axes->arrays[0].reader;
    enum outcome outcome = DONE;
    for (size_t i = 0; i < options->op_count && outcome == DONE; i++)
        outcome = reducer_resolve(options, options->ops[i], reader->type, reader_name(reader), &axes->reductions[i]);
    if (outcome != DONE || !options->output)
        return outcome;
    for (size_t i = 0; i < options->op_count && outcome == DONE; i++)
        outcome = check_output(options, &axes->reductions[i]);
    return outcome;
}

/* The types are known, and checked, before the elements are read. */
static enum outcome open_arrays(struct axes *axes) {
    const struct options *options = axes->options;
    enum outcome outcome = DONE;
    while (axes->array_count < options->path_count && outcome == DONE) {
        const size_t i = axes->array_count++;
        outcome = reader_open(&axes->arrays[i].reader, options->paths[i], &options->input);
        if (outcome == DONE && i == 0)
            outcome = resolve(axes);
        if (outcome == DONE)
            outcome = read_array(&axes->arrays[i], options);
    }
    return outcome;
}

/* A .npy array of bytes, truth values in text, or bytes alone, which are told apart as other inputs are. */
static enum outcome open_mask(struct axes *axes) {
    struct options options = *axes->options;
    const enum format said = options.input.format == FORMAT_NPY ? FORMAT_AUTO : options.input.format;
    options.input =
        (struct input_options){.format = said, .type = REDUCT_BOOL, .or_npy = true, .threads = options.input.threads};
    options.axis_count = 0;
    options.rows = options.columns = false;
    if (!options.mask)
        return DONE;
    enum outcome outcome = reader_open(&axes->mask.reader, options.mask, &options.input);
    if (outcome == DONE)
        outcome = read_array(&axes->mask, &options);
    if (outcome == DONE && reduct_type_size(axes->mask.reader.type) != 1)
        return fail("%s: %s elements; expected bytes, which are 0 where an element does not count",
                    reader_name(&axes->mask.reader), reduct_type_name(axes->mask.reader.type));
    return outcome;
}

/* What the file of groups holds. */
static const char *groups_word(const struct options *options) {
    return options->keys ? "keys" : "numbers of groups";
}

/* The numbers of groups, or their keys. */
static enum outcome open_groups(struct axes *axes) {
    struct options options = *axes->options;
    const char *file = options_groups_file(&options);
    options.input = (struct input_options){
        .format = FORMAT_TEXT, .type = REDUCT_I64, .or_npy = true, .widens = true, .threads = options.input.threads};
    if (!file)
        return DONE;
    enum outcome outcome = reader_open(&axes->by.reader, file, &options.input);
    if (outcome == DONE)
        outcome = read_array(&axes->by, &options);
    const reduct_type type = axes->by.reader.type;
    const bool large = type == REDUCT_U32 || type == REDUCT_U64 || type == REDUCT_I32 || type == REDUCT_I64;
    if (outcome == DONE && !large && (options.keys || (type != REDUCT_U8 && type != REDUCT_U16)))
        return fail("%s: %s elements; expected the %s, as %s, i32 or i64", reader_name(&axes->by.reader),
                    reduct_type_name(type), groups_word(&options), options.keys ? "u32, u64" : "u8 to u64");
    return outcome;
}

/* There is a number, or a key, for each element, or for each row. */
static enum outcome match_groups(struct axes *axes) {
    const struct array *array = &axes->arrays[0], *by = &axes->by;
    const struct layout *layout = &array->reader.layout;
    if (!options_groups_file(axes->options) || by->count == array->count)
        return DONE;
    axes->by_row = layout->rank > 1 && by->count == layout->shape[0];
    if (axes->by_row)
        return DONE;
    return fail("%s holds %" PRIu64 " elements%s, %s %" PRIu64 " %s; expected as many", reader_name(&array->reader),
                array->count, layout->rank > 1 ? " in rows" : "", reader_name(&by->reader), by->count,
                groups_word(axes->options));
}

/* Negative numbers, which are no group's, are above `most` as unsigned ones. */
#define LARGEST(T, most)                                                                                               \
    for (uint64_t i = 0; i < by->count; i++) {                                                                         \
        const uint64_t number = (uint64_t)((const T *)elements)[i];                                                    \
        if (number <= (most) && (at == by->count || number > *largest)) {                                              \
            *largest = number;                                                                                         \
            at = i;                                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    break

/* Where the largest number of a group is; the end where there is none. */
static uint64_t find_largest(const struct array *by, uint64_t *largest) {
    const void *elements = by->elements;
    uint64_t at = by->count;
    *largest = 0;
    switch ((int)by->reader.type) { /* those that open_groups() lets pass */
    case REDUCT_U8:
        LARGEST(uint8_t, UINT8_MAX);
    case REDUCT_U16:
        LARGEST(uint16_t, UINT16_MAX);
    case REDUCT_U32:
        LARGEST(uint32_t, UINT32_MAX);
    case REDUCT_I32:
        LARGEST(int32_t, INT32_MAX);
    case REDUCT_I64:
        LARGEST(int64_t, INT64_MAX);
    default:
        LARGEST(uint64_t, UINT64_MAX);
    }
    return at;
}

/* There are as many groups as is said, or one more than the largest number; of 2^64, which no plan takes, one less. */
static uint64_t count_groups(const struct axes *axes) {
    uint64_t largest;
    if (axes->options->keys)
        return axes->keys.count;
    if (axes->options->has_groups || !axes->options->by)
        return axes->options->groups;
    if (find_largest(&axes->by, &largest) == axes->by.count)
        return 0;
    return largest == UINT64_MAX ? largest : largest + 1;
}

/* Says that memory ran out: because of the groups, where there are more than numbers in the file. */
static enum outcome fail_groups(const struct axes *axes) {
    const struct options *options = axes->options;
    uint64_t largest, at;
    char count[NUMBER_TEXT];
    if (!options->by || count_groups(axes) <= axes->by.count)
        return fail_memory();
    if (options->has_groups)
        return fail("--groups: %" PRIu64 " groups are more than there is memory for", options->groups);
    at = find_largest(&axes->by, &largest);
    number_format(REDUCT_U128, (const uint64_t[2]){largest + 1, largest == UINT64_MAX}, 0, count);
    return fail("%s: number %" PRIu64 " is %" PRIu64
                ", the largest; as groups are numbered from 0, that makes %s of them, which are more than there is "
                "memory for (--keys takes any numbers)",
                reader_name(&axes->by.reader), at, largest, count);
}

/* How many elements a number, or a key, is of. */
static uint64_t group_width(const struct axes *axes) {
    return axes->by_row ? axes->arrays[0].count / axes->by.count : 1;
}

/* Numbers groups that have keys. */
static enum outcome number_keys(struct axes *axes) {
    const struct keyed keyed = {.keys = axes->by.elements,
                                .type = axes->by.reader.type,
                                .count = axes->by.count,
                                .width = group_width(axes),
                                .mask = axes->mask.elements,
                                .ascending = !axes->options->unsorted};
    return axes->options->keys ? keys_number(&keyed, &axes->keys) : DONE;
}

/* A mask has the shape of the array; one without a shape as many elements. */
static enum outcome match_mask(struct axes *axes) {
    struct array *mask = &axes->mask;
    const struct array *array = &axes->arrays[0];
    char text_a[LAYOUT_TEXT], text_b[LAYOUT_TEXT];
    bool shaped = mask->reader.layout.shaped && array->reader.layout.shaped;
    if (!axes->options->mask)
        return DONE;
    if (shaped && !layout_same_shape(&array->reader.layout, &mask->reader.layout))
        return fail("%s has the shape %s, the mask %s %s; expected the same", reader_name(&array->reader),
                    layout_text(&array->reader.layout, text_a), reader_name(&mask->reader),
                    layout_text(&mask->reader.layout, text_b));
    if (mask->count != array->count)
        return fail("%s holds %" PRIu64 " elements, the mask %s %" PRIu64 "; expected as many",
                    reader_name(&array->reader), array->count, reader_name(&mask->reader), mask->count);
    if (!shaped) {
        struct layout layout = array->reader.layout;
        layout.fortran = false;
        mask->reader.layout = layout;
        find_strides(mask);
    }
    return DONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reducing
 * ------------------------------------------------------------------------------------------------------------------ */

static enum outcome choose_axes(struct axes *axes) {
    const struct options *options = axes->options;
    const struct reader *reader = &axes->arrays[0].reader;
    const struct layout *layout = &reader->layout;
    char text[LAYOUT_TEXT];
    int rank = (int)layout->rank;
    if ((options->rows || options->columns) && rank != 2)
        return fail("%s has the shape %s; expected a matrix, of two axes, for --%s%s", reader_name(reader),
                    layout_text(layout, text), options->rows ? "rows" : "columns",
                    rank == 1  ? " (--axis 0 reduces this one)"
                    : rank > 2 ? " (--axis K reduces any axis of this one)"
                               : "");
    axes->reduced = options->rows ? 2 : options->columns ? 1 : options_have_axes(options) ? 0 : UINT64_MAX;
    for (size_t i = 0; i < options->axis_count; i++) {
        int axis = options->axes[i] < 0 ? options->axes[i] + rank : options->axes[i];
        if (axis < 0 || axis >= rank)
            return misuse("--axis %d: %s has the shape %s, of %d ax%s", options->axes[i], reader_name(reader),
                          layout_text(layout, text), rank, rank == 1 ? "is" : "es");
        if (axes->reduced >> axis & 1)
            return misuse("--axis %d: axis %d is named twice", options->axes[i], axis);
        axes->reduced |= (uint64_t)1 << axis;
    }
    return DONE;
}

static enum outcome match_arrays(const struct axes *axes) {
    const struct reader *a = &axes->arrays[0].reader, *b = &axes->arrays[1].reader;
    char text_a[LAYOUT_TEXT], text_b[LAYOUT_TEXT];
    if (axes->array_count < 2)
        return DONE;
    if (a->type != b->type)
        return fail("%s: %s elements; expected %s, as in %s", reader_name(b), reduct_type_name(b->type),
                    reduct_type_name(a->type), reader_name(a));
    if (!layout_same_shape(&a->layout, &b->layout))
        return fail("%s has the shape %s, %s %s; expected the same", reader_name(a), layout_text(&a->layout, text_a),
                    reader_name(b), layout_text(&b->layout, text_b));
    return DONE;
}

/* Bytes of a result, with all its values. */
static size_t result_size(const reduct_reduction *reduction) {
    return reduct_type_size(reduction->result) * (size_t)reduct_operator_outputs(reduction->op);
}

/* Whether an axis of the array is one of the results. */
static bool stays(const struct axes *axes, unsigned axis) {
    return options_groups_file(axes->options) ? axes->by_row && axis > 0 : !(axes->reduced >> axis & 1);
}

/* Room for what tells a result from the others. */
enum { RESULT_TEXT = LAYOUT_TEXT + NUMBER_TEXT + 32 };

/* Where a result is along the axes that stay, counted from 0; nothing where none does. */
static void name_place(const struct axes *axes, uint64_t place, char *text, size_t room) {
    const struct layout *layout = &axes->arrays[0].reader.layout;
    struct layout at = {.rank = 0};
    char index[LAYOUT_TEXT];
    for (unsigned k = 0; k < layout->rank; k++)
        at.rank += stays(axes, k);
    for (unsigned k = layout->rank, i = at.rank; k-- > 0;)
        if (stays(axes, k)) {
            at.shape[--i] = place % layout->shape[k];
            place /= layout->shape[k];
        }
    text[0] = 0;
    if (at.rank == 1 && layout->rank == 2)
        snprintf(text, room, "%s %" PRIu64 ": ", stays(axes, 0) ? "row" : "column", at.shape[0]);
    else if (at.rank > 0)
        snprintf(text, room, "place %s: ", layout_text(&at, index));
}

/* Says which result it is, as the beginning of a message. */
static void name_result(const struct axes *axes, uint64_t result, char text[RESULT_TEXT]) {
    const reduct_type type = axes->by.reader.type;
    const uint64_t width = group_width(axes), group = result / width;
    char key[NUMBER_TEXT];
    int size;
    if (!options_groups_file(axes->options)) {
        name_place(axes, result, text, RESULT_TEXT);
        return;
    }
    if (axes->options->keys)
        number_format(type, axes->keys.keys + group * reduct_type_size(type), 0, key);
    else
        snprintf(key, sizeof key, "%" PRIu64, group);
    size = snprintf(text, RESULT_TEXT, "%s %s: ", axes->options->keys ? "key" : "group", key);
    name_place(axes, result % width, text + size, RESULT_TEXT - (size_t)size);
}

/* Says why a result does not exist. */
static enum outcome fail_result(const struct axes *axes, uint64_t result, size_t which) {
    char place[RESULT_TEXT];
    const char *name = reader_name(&axes->arrays[0].reader);
    const reduct_reduction *reduction = &axes->reductions[which];
    const char *op = operator_table((int)reduction->op);
    const reduct_outcome *outcome = &axes->outcomes[which][result];
    const bool sample = operator_traits(reduction->op).population && !axes->options->population;
    name_result(axes, result, place);
    switch (outcome->status) {
    case REDUCT_ERROR_EMPTY:
        return fail("%s: %s%s of too few elements does not exist; it takes at least %d", name, place, op,
                    sample ? 2 : 1);
    case REDUCT_ERROR_NAN:
        return fail("%s: %s%s: %s %" PRIu64 " is NaN; --nan error expects none", name, place, op,
                    axes->by_row ? "row" : "element", outcome->index);
    case REDUCT_ERROR_OVERFLOW:
        return fail("%s: %s%s: the result does not fit %s; another --result may hold it", name, place, op,
                    reduct_type_name(reduction->result));
    default:
        return fail("%s: %s%s: %s", name, place, op, reduct_status_text((reduct_status)outcome->status));
    }
}

/* Whether a result does not exist, and need not. */
static bool is_missing(const struct axes *axes, uint64_t result, size_t which) {
    return axes->options->missing && axes->outcomes[which] &&
           axes->outcomes[which][result].status == REDUCT_ERROR_EMPTY;
}

/* Says which result is the first that fails. */
static enum outcome check_outcomes(const struct axes *axes) {
    for (uint64_t r = 0; r < axes->count; r++)
        for (size_t i = 0; i < axes->options->op_count; i++)
            if (axes->outcomes[i][r].status != REDUCT_OK && !is_missing(axes, r, i))
                return fail_result(axes, r, i);
    return DONE;
}

/* Says why there are no results at all. */
static enum outcome fail_execution(const struct axes *axes, reduct_status status, const reduct_error *error) {
    if (status == REDUCT_ERROR_OUT_OF_MEMORY)
        return fail_groups(axes);
    if (axes->options->by && status == REDUCT_ERROR_ARGUMENT) /* an index, which is the file's fault */
        return fail("%s: %s", reader_name(&axes->by.reader), error->message);
    return pass_on(reader_name(&axes->arrays[0].reader), error);
}

/* With an outcome for each result; what does not exist is NaN. */
static enum outcome execute_each(struct axes *axes, const reduct_plan *plan, const void *const *inputs) {
    reduct_error error;
    for (size_t i = 0; i < axes->options->op_count; i++) {
        axes->outcomes[i] = calloc(axes->count + 1, sizeof *axes->outcomes[i]);
        if (!axes->outcomes[i])
            return fail_groups(axes);
    }
    reduct_status status = reduct_plan_execute_each(plan, inputs, axes->results, axes->outcomes, NULL, &error);
    return status == REDUCT_OK ? check_outcomes(axes) : fail_execution(axes, status, &error);
}

/* Whether a failure is that of one result. */
static bool is_of_result(reduct_status status) {
    return status == REDUCT_ERROR_EMPTY || status == REDUCT_ERROR_NAN || status == REDUCT_ERROR_OVERFLOW;
}

static enum outcome execute(struct axes *axes, const reduct_plan *plan) {
    const void *inputs[INPUTS_MOST + 2];
    size_t input_count = 0;
    reduct_error error;
    axes->count = reduct_plan_result_count(plan);
    for (size_t i = 0; i < axes->options->op_count; i++) {
        size_t size = result_size(&axes->reductions[i]);
        axes->results[i] = axes->count <= SIZE_MAX / size - 1 ? malloc((axes->count + 1) * size) : NULL;
        if (!axes->results[i])
            return fail_groups(axes);
    }
    for (size_t i = 0; i < axes->array_count; i++)
        inputs[input_count++] = axes->arrays[i].elements;
    if (options_groups_file(axes->options))
        inputs[input_count++] = axes->options->keys ? (const void *)axes->keys.numbers : axes->by.elements;
    inputs[input_count] = axes->mask.elements;
    if (axes->options->missing)
        return execute_each(axes, plan, inputs);
    reduct_status status = reduct_plan_execute(plan, inputs, axes->results, NULL, &error);
    if (is_of_result(status)) /* once more, to say which */
        return execute_each(axes, plan, inputs);
    return status == REDUCT_OK ? DONE : fail_execution(axes, status, &error);
}

static enum outcome reduce(struct axes *axes) {
    const struct options *options = axes->options;
    const struct reader *reader = &axes->arrays[0].reader;
    enum outcome outcome = match_arrays(axes);
    if (outcome == DONE)
        outcome = match_mask(axes);
    if (outcome == DONE)
        outcome = match_groups(axes);
    if (outcome == DONE)
        outcome = number_keys(axes);
    if (outcome == DONE)
        outcome = choose_axes(axes);
    if (outcome != DONE)
        return outcome;
    const reduct_array array = {.rank = reader->layout.rank,
                                .lengths = reader->layout.shape,
                                .strides = {axes->arrays[0].strides, axes->arrays[1].strides},
                                .axes = axes->reduced,
                                .mask_strides = axes->mask.strides};
    const reduct_groups groups = {.count = count_groups(axes),
                                  .elements = axes->by.count,
                                  .index = options->keys ? REDUCT_U64 : axes->by.reader.type,
                                  .width = group_width(axes),
                                  .skip = options->skip_outside};
    const reduct_plan_options wanted = {.reductions = axes->reductions,
                                        .reduction_count = options->op_count,
                                        .device = options->device,
                                        .threads = options->input.threads,
                                        .kind = options_groups_file(options) ? REDUCT_GROUPS : REDUCT_ARRAY,
                                        .array = &array,
                                        .groups = &groups,
                                        .mask = options->mask ? REDUCT_MASK_BYTES : REDUCT_MASK_NONE};
    reduct_plan *plan = NULL;
    reduct_error error;
    reduct_status status = reduct_plan_create(&wanted, &plan, &error);
    if (status == REDUCT_ERROR_TOO_LARGE || status == REDUCT_ERROR_OUT_OF_MEMORY)
        return fail_groups(axes);
    if (status != REDUCT_OK)
        return pass_on(error.status == REDUCT_ERROR_NO_DEVICE || error.status == REDUCT_ERROR_UNSUPPORTED
                           ? "--device"
                           : reader_name(reader),
                       &error);
    outcome = execute(axes, plan);
    reduct_plan_destroy(plan);
    return outcome;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------------------------------ */

/* A line for each place, or each group and place of a row, the results of the operators beside each other, after the key if
 * there are keys; of the array as a whole one for each operator. */
static void print(const struct axes *axes) {
    bool beside = options_have_results(axes->options);
    const reduct_type key = axes->by.reader.type;
    const uint64_t width = group_width(axes);
    for (uint64_t r = 0; r < axes->count; r++) {
        if (axes->options->keys) {
            print_numbers(key, axes->keys.keys + r / width * reduct_type_size(key), 1, false);
            putchar(' ');
        }
        for (size_t i = 0; i < axes->options->op_count; i++) {
            const reduct_reduction *reduction = &axes->reductions[i];
            const int values = reduct_operator_outputs(reduction->op);
            if (is_missing(axes, r, i))
                print_missing(axes->options->missing, values);
            else
                print_numbers(reduction->result, (const char *)axes->results[i] + r * result_size(reduction), values,
                              axes->options->hex);
            putchar(beside && i + 1 < axes->options->op_count ? ' ' : '\n');
        }
    }
}

/* The lengths of the array of results, as .npy files have them. Results of several values have one axis more, the last. */
static void make_shape(const struct axes *axes, size_t which, char shape[OUTPUT_SHAPE]) {
    const struct layout *layout = &axes->arrays[0].reader.layout;
    const bool groups = options_groups_file(axes->options);
    const int values = reduct_operator_outputs(axes->reductions[which].op);
    int size = snprintf(shape, OUTPUT_SHAPE, "(");
    if (groups) {
        uint64_t places = 1;
        for (unsigned k = 1; axes->by_row && k < layout->rank; k++)
            places *= layout->shape[k];
        size += snprintf(shape + size, OUTPUT_SHAPE - (size_t)size, "%" PRIu64 ",", places ? axes->count / places : 0);
    }
    for (unsigned k = 0; k < layout->rank; k++)
        if (stays(axes, k))
            size += snprintf(shape + size, OUTPUT_SHAPE - (size_t)size, "%" PRIu64 ",", layout->shape[k]);
    if (values > 1)
        size += snprintf(shape + size, OUTPUT_SHAPE - (size_t)size, "%d,", values);
    snprintf(shape + size, OUTPUT_SHAPE - (size_t)size, ")");
}

/* The name of an operator's file, in memory of malloc(). */
static char *name_file(const char *pattern, reduct_operator op) {
    const char *name = operator_table((int)op);
    const size_t length = strlen(name), mark = sizeof OPERATOR_MARK - 1;
    char *file = malloc(strlen(pattern) * length + 1), *end = file;
    while (file && *pattern) {
        const bool marked = strncmp(pattern, OPERATOR_MARK, mark) == 0;
        memcpy(end, marked ? name : pattern, marked ? length : 1);
        end += marked ? length : 1;
        pattern += marked ? mark : 1;
    }
    if (file)
        *end = 0;
    return file;
}

/* The results of each operator, and the keys of all. */
static enum outcome write_files(const struct axes *axes) {
    const struct options *options = axes->options;
    struct output outputs[OPERATORS_MOST + 1];
    char *files[OPERATORS_MOST];
    size_t count = 0;
    bool named = true;
    for (; count < options->op_count; count++) {
        const reduct_reduction *reduction = &axes->reductions[count];
        files[count] = name_file(options->output, reduction->op);
        named = named && files[count];
        outputs[count] = (struct output){.path = files[count],
                                         .type = numpy_type(reduction->result),
                                         .data = axes->results[count],
                                         .bytes = axes->count * result_size(reduction)};
        make_shape(axes, count, outputs[count].shape);
    }
    if (options->keys) {
        const reduct_type type = axes->by.reader.type;
        outputs[count] = (struct output){.path = options->output_keys,
                                         .type = numpy_type(type),
                                         .data = axes->keys.keys,
                                         .bytes = axes->keys.count * reduct_type_size(type)};
        snprintf(outputs[count++].shape, OUTPUT_SHAPE, "(%" PRIu64 ",)", axes->keys.count);
    }
    enum outcome outcome = named ? outputs_write(outputs, count) : fail_memory();
    for (size_t i = 0; i < options->op_count; i++)
        free(files[i]);
    return outcome;
}

enum outcome axes_command(const struct options *options) {
    struct axes axes = {.options = options};
    enum outcome outcome = open_arrays(&axes);
    if (outcome == DONE)
        outcome = open_mask(&axes);
    if (outcome == DONE)
        outcome = open_groups(&axes);
    if (outcome == DONE)
        outcome = reduce(&axes);
    if (outcome == DONE && options->output)
        outcome = write_files(&axes);
    else if (outcome == DONE)
        print(&axes);
    for (size_t i = 0; i < axes.array_count; i++) {
        reader_close(&axes.arrays[i].reader);
        free(axes.arrays[i].elements);
    }
    if (options->mask)
        reader_close(&axes.mask.reader);
    if (options_groups_file(options))
        reader_close(&axes.by.reader);
    free(axes.mask.elements);
    free(axes.by.elements);
    free(axes.keys.keys);
    free(axes.keys.numbers);
    for (size_t i = 0; i < options->op_count; i++) {
        free(axes.results[i]);
        free(axes.outcomes[i]);
    }
    return outcome;
}
