/* The command line of a reduction: see options.h. */
#include "options.h"

#include "program/command_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

enum {
    MODE = 256,
    NAN_POLICY,
    FORMAT,
    OFFSET,
    COUNT,
    ORDER,
    DEVICE,
    POPULATION,
    WRAP,
    AXIS,
    ROWS,
    COLUMNS,
    MASK,
    BY,
    GROUPS,
    KEYS,
    MISSING,
    UNSORTED,
    OUTPUT_KEYS,
    SKIP_OUTSIDE,
    RESULT = 'r',
    TYPE = 't'
};
enum { THREADS = 'j', HEX = 'x', QUIET = 'q', OUTPUT = 'o' };

static const program_option OPTIONS[] = {
    {.text = "What is computed:"},
    {"axis", AXIS, "K",
     "reduce this axis of an array, counted from 0, or from the end as in -1; several --axis reduce several. One "
     "result for "
     "each place of the other axes, in C order"},
    {"by", BY, "FILE",
     "one result for each group of elements: FILE holds the number of its group, from 0, for each element or, as many "
     "as an array has rows, "
     "for each row; a .npy array of u8 to u64, i32 or i64, or whole numbers of i64 or u64 in text"},
    {"columns", COLUMNS, NULL,
     "one result for each column of a matrix, which is a .npy array of two axes or lines of text"},
    {"groups", GROUPS, "N", "with --by: there are N groups. By default one more than the largest number"},
    {"keys", KEYS, "FILE",
     "one result for each key, printed after it, in ascending order of the keys: FILE holds a key for each element or, "
     "as "
     "many as an array has rows, for each row; a .npy array of u32, u64, i32 or i64, or whole numbers of i64 or u64 in "
     "text"},
    {"mask", MASK, "FILE",
     "which elements count: a .npy array of bytes and of the same shape, or as many numbers 0 and 1 in text, or raw "
     "bytes, 0 for those that do not count; which of them, the content or --format says. "
     "Indices count all elements"},
    {"mode", MODE, "MODE", "exact, correctly rounded (the default), or fast, plain hardware sums; MODE is"},
    {"nan", NAN_POLICY, "POLICY",
     "what NaN elements do: give a NaN (the default), count as absent, or fail; POLICY is"},
    {"population", POPULATION, NULL, "var and std divide by n, not by n - 1"},
    {"result", RESULT, "TYPE",
     "type of the result, rounded once. By default sums and products of floats and all that is built on them are f64, "
     "those of integers are printed in full, and extremes keep the type of the elements. TYPE is"},
    {"rows", ROWS, NULL, "one result for each row of a matrix"},
    {"skip-outside", SKIP_OUTSIDE, NULL,
     "with --by: leave out elements whose number is no group's; otherwise they are an error"},
    {"unsorted", UNSORTED, NULL, "with --keys: in order of the first appearance of each key"},
    {"wrap", WRAP, NULL,
     "an integer result that does not fit its type (i64 or u64, or --result) is taken modulo 2^bits"},
    {.text = "What is read:"},
    {"byte-order", ORDER, "ORDER", "raw binary: ORDER is"},
    {"count", COUNT, "N", "raw binary: elements to read, such as 1000 or 64Mi"},
    {"format", FORMAT, "FORMAT", "how all inputs are read; FORMAT is"},
    {"offset", OFFSET, "BYTES", "raw binary: bytes to skip first, such as 4096 or 4Ki"},
    {"type", TYPE, "TYPE", "element type of text (f64 by default) or of raw binary; TYPE is"},
    {.text = "How it runs, what is printed:"},
    {"device", DEVICE, "NAME",
     "where it runs: auto (the default), cpu, cpu:NAME for one instruction set, cuda:N for an NVIDIA GPU, "
     "or cuda:0,1 or cuda:all for several"},
    {"threads", THREADS, "N", "most threads to use; 0, the default, for one per processor"},
    {"quiet", QUIET, NULL, "no progress, no remarks"},
    {"hex", HEX, NULL, "print the result in base 16, exactly"},
    {"missing", MISSING, "TEXT",
     "what is written for a result that does not exist, as its elements are too few: a minimum of none, a variance of "
     "one; TEXT is such as nan, and may be empty. By default that is an error. With --output TEXT is nan, and results "
     "are of a float type"},
    {"output", OUTPUT, "FILE",
     "with --axis, --rows, --columns, --by or --keys: write the results to FILE, as NumPy's .npy; - is standard "
     "output. "
     "%s in FILE stands for the operator's name: several have a file each, as in out-%s.npy. A file that is there is "
     "replaced when all is written, and not where anything fails"},
    {"output-keys", OUTPUT_KEYS, "FILE", "with --keys and --output: write the keys to FILE, as NumPy's .npy"},
    {0}};

/* clang-format off */
static const char INPUTS[] =
    "Several operators, as in sum,mean,max, are computed in one pass; their results are printed on a line each or, along axes and by groups, beside "
    "each other. minmax has two values for each result, which are printed on one line; a file has them along one axis more, the last.\n\n"
    "No FILE, or -, is standard input, also of --mask, --by and --keys; it can be read only once. Several files are reduced as one array; dot and weighted-mean take two, the weights second, and other operators beside them, as in sum,dot, read the first. A directory stands for "
    "all files in it, of one format, in the order of their names, but for hidden ones, whose names begin with a point; not with --axis, --rows, "
    "--columns, --by, --keys or --mask. What a file holds is "
    "told by its content, unless --format says it:\n\n"
    "  npy   begins as NumPy's arrays do\n"
    "  raw   --offset, --count or --byte-order is given; or --type is, or it is a\n"
    "        mask, and the first 4096 bytes cannot be text (control characters, such\n"
    "        as bytes 0 and 1, or no UTF-8)\n"
    "  text  all else: numbers such as -1.5e3, 0x1.8p3, inf or nan between white\n"
    "        space, each rounded straight to its type\n\n"
    "Compressed files, archives, tables and images are known by their first bytes, and refused. Scripts that read raw "
    "binary do well to say --format raw.\n\n"
    "An array's elements are in the order of their indices (C order), however they lie in the file; dot and "
    "weighted-mean take arrays of one shape. To put an array in Fortran order into that order, these and product keep it in memory if it comes "
    "through a pipe; a file need not fit.\n\n"
    "Under an MPI launcher (mpirun -n 4 reduct sum FILE) files are shared out to the ranks and the result is printed once; with "
    "REDUCT_RANKS=alone in the environment each rank reduces by itself.";
/* clang-format on */

/* The table that completes the help of an option. */
static table *table_of(int key) {
    switch (key) {
    case MODE:
        return mode_table;
    case NAN_POLICY:
        return nan_table;
    case RESULT:
        return result_table;
    case TYPE:
        return element_table;
    case FORMAT:
        return format_table;
    case ORDER:
        return order_table;
    default:
        return NULL;
    }
}

static const char *list_values(int key, char room[PROGRAM_VALUES]) {
    return table_of(key) ? table_list(table_of(key), room) : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------------------------------------------------ */

static const char *option_name(int key) {
    const program_option *option = OPTIONS;
    while (option->key != key)
        option++;
    return option->name;
}

/* A name of the option's table. */
static enum outcome parse_name(int key, const char *value, int *number) {
    char list[TABLE_LIST], found[QUOTED];
    if (table_find(table_of(key), value, number))
        return DONE;
    return misuse("--%s: found %s; expected %s", option_name(key), quote(found, value, strlen(value)),
                  table_list(table_of(key), list));
}

/* Moves past digits; false if there are none. */
static bool parse_digits(const char **text, uint64_t *number, bool *overflow) {
    const char *begin = *text;
    *number = 0;
    *overflow = false;
    for (; **text >= '0' && **text <= '9'; ++*text) {
        *overflow = __builtin_mul_overflow(*number, (uint64_t)10, number) || *overflow;
        *overflow = __builtin_add_overflow(*number, (uint64_t)(**text - '0'), number) || *overflow;
    }
    return *text > begin;
}

/* A whole number, with a suffix where `suffixes` are allowed. */
static enum outcome parse_number(int key, const char *value, bool suffixes, uint64_t most, uint64_t *number) {
    static const char *const SUFFIXES[] = {"", "Ki", "Mi", "Gi", "Ti"};
    const size_t allowed = suffixes ? sizeof SUFFIXES / sizeof *SUFFIXES : 1;
    char found[QUOTED];
    const char *rest = value;
    bool overflow;
    bool good = parse_digits(&rest, number, &overflow);
    size_t suffix = 0;
    while (suffix < allowed && strcmp(rest, SUFFIXES[suffix]) != 0)
        suffix++;
    quote(found, value, strlen(value));
    if (!good || suffix == allowed)
        return misuse("--%s: found %s; expected a whole number%s", option_name(key), found,
                      suffixes ? ", such as 4096 or 4Ki" : "");
    overflow = __builtin_mul_overflow(*number, (uint64_t)1 << (10 * suffix), number) || overflow;
    if (overflow || *number > most)
        return misuse("--%s: found %s; expected at most %" PRIu64, option_name(key), found, most);
    return DONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parsing
 * ------------------------------------------------------------------------------------------------------------------ */

/* Options whose value is a name. */
static enum outcome take_name(int key, const char *value, struct options *options) {
    int number;
    enum outcome outcome = parse_name(key, value, &number);
    if (outcome != DONE)
        return outcome;
    switch (key) {
    case MODE:
        options->mode = (reduct_mode)number;
        break;
    case NAN_POLICY:
        options->nan = (reduct_nan)number;
        break;
    case RESULT:
        options->result = (reduct_type)number;
        break;
    case TYPE:
        options->input.type = (reduct_type)number;
        break;
    case FORMAT:
        options->input.format = (enum format)number;
        break;
    default:
        options->input.order = (enum byte_order)number;
    }
    return DONE;
}

/* Options whose value is a number. */
static enum outcome take_number(int key, const char *value, struct options *options) {
    uint64_t threads = 0;
    enum outcome outcome;
    switch (key) {
    case OFFSET:
        options->input.has_offset = true;
        return parse_number(key, value, true, INT64_MAX, &options->input.offset);
    case COUNT:
        options->input.has_count = true;
        return parse_number(key, value, true, INT64_MAX, &options->input.count);
    case GROUPS:
        options->has_groups = true;
        return parse_number(key, value, true, INT64_MAX, &options->groups);
    default:
        outcome = parse_number(key, value, false, 65536, &threads);
        options->input.threads = (unsigned)threads;
        return outcome;
    }
}

/* A number of axes from either end. */
static enum outcome take_axis(const char *value, struct options *options) {
    char found[QUOTED], *end;
    long axis = strtol(value, &end, 10);
    bool number = end != value && !*end && (*value == '-' || (*value >= '0' && *value <= '9'));
    if (!number || axis >= AXES_MOST || axis < -AXES_MOST)
        return misuse("--axis: found %s; expected the number of an axis, such as 0 or -1",
                      quote(found, value, strlen(value)));
    if (options->axis_count == AXES_MOST)
        return misuse("--axis: given more than %d times", AXES_MOST);
    options->axes[options->axis_count++] = (int)axis;
    return DONE;
}

/* A file to write. */
static enum outcome take_output(int key, const char *value, const char **output) {
    if (!*value)
        return misuse("--%s: found ''; expected the name of a file, or - for standard output", option_name(key));
    *output = value;
    return DONE;
}

static int take_option(int key, char *value, void *state) {
    struct options *options = state;
    switch (key) {
    case AXIS:
        return (int)take_axis(value, options);
    case ROWS:
        options->rows = true;
        return DONE;
    case COLUMNS:
        options->columns = true;
        return DONE;
    case MASK:
        options->mask = value;
        return DONE;
    case BY:
        options->by = value;
        return DONE;
    case KEYS:
        options->keys = value;
        return DONE;
    case UNSORTED:
        options->unsorted = true;
        return DONE;
    case OUTPUT_KEYS:
        return (int)take_output(key, value, &options->output_keys);
    case SKIP_OUTSIDE:
        options->skip_outside = true;
        return DONE;
    case MISSING:
        options->missing = value;
        return DONE;
    case OUTPUT:
        return (int)take_output(key, value, &options->output);
    case OFFSET:
    case COUNT:
    case THREADS:
    case GROUPS:
        return (int)take_number(key, value, options);
    case DEVICE:
        options->device = value;
        return DONE;
    case POPULATION:
        options->population = true;
        return DONE;
    case WRAP:
        options->wrap = true;
        return DONE;
    case HEX:
        options->hex = true;
        return DONE;
    case QUIET:
        options->quiet = true;
        return DONE;
    default:
        return (int)take_name(key, value, options);
    }
}

static program_command command_line(const char *name, const char *about) {
    static const int SEVERAL[] = {AXIS, 0};
    return (program_command){.name = name,
                             .version = reduct_version(),
                             .arguments = "[FILE...]",
                             .about = about,
                             .notes = INPUTS,
                             .options = OPTIONS,
                             .several = SEVERAL,
                             .take = take_option,
                             .values = list_values};
}

/* Refuses options for keys that do not go together. Results in a file without their keys are of no use. */
static enum outcome check_keys(const struct options *options) {
    if (!options->keys && (options->unsorted || options->output_keys))
        return misuse("--%s: expected with --keys", options->unsorted ? "unsorted" : "output-keys");
    if (!options->keys || (!options->output && !options->output_keys))
        return DONE;
    if (!options->output || !options->output_keys)
        return misuse("--%s: expected with --%s", options->output ? "output" : "output-keys",
                      options->output ? "output-keys, where there are --keys" : "output");
    if (strcmp(options->output, options->output_keys) == 0)
        return misuse("--output, --output-keys: both name the same file");
    return DONE;
}

/* Refuses options along axes and by groups that do not go together. */
static enum outcome check_axes(const struct options *options) {
    char found[QUOTED];
    if ((options->axis_count > 0) + options->rows + options->columns + (options->by != NULL) + (options->keys != NULL) >
        1)
        return misuse("--axis, --rows, --columns, --by, --keys: expected one of them");
    if (!options_have_results(options) && options->output)
        return misuse("--output: expected with --axis, --rows, --columns, --by or --keys");
    if (!options->by && (options->has_groups || options->skip_outside))
        return misuse("--%s: expected with --by", options->has_groups ? "groups" : "skip-outside");
    if (!options_have_results(options) && !options->mask)
        return check_keys(options);
    if (options->path_count != options_inputs(options))
        return misuse("--%s: one array at a time; %zu inputs given",
                      options->rows      ? "rows"
                      : options->columns ? "columns"
                      : options->by      ? "by"
                      : options->keys    ? "keys"
                      : options->mask    ? "mask"
                                         : "axis",
                      options->path_count);
    if (options->output && options->op_count > 1 && !strstr(options->output, OPERATOR_MARK))
        return misuse("--output: found %s with %zu operators; expected %s in it, which stands for the operator's name, "
                      "as in out-%s.npy",
                      quote(found, options->output, strlen(options->output)), options->op_count, OPERATOR_MARK,
                      OPERATOR_MARK);
    return check_keys(options);
}

/* Whether any operator has a trait. */
static bool any_has(const struct options *options, table *trait) {
    for (size_t i = 0; i < options->op_count; i++)
        if (trait(options->ops[i]))
            return true;
    return false;
}

size_t options_inputs(const struct options *options) {
    size_t most = 1;
    for (size_t i = 0; i < options->op_count; i++)
        if ((size_t)reduct_operator_inputs(options->ops[i]) > most)
            most = (size_t)reduct_operator_inputs(options->ops[i]);
    return most;
}

/* How many of the inputs are standard input: of the arrays, and of the files that options name. */
static size_t standard_inputs(const struct options *options) {
    const char *const named[] = {options->mask, options->by, options->keys};
    size_t count = 0;
    for (size_t i = 0; i < options->path_count; i++)
        count += strcmp(options->paths[i], "-") == 0;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        count += named[i] && strcmp(named[i], "-") == 0;
    return count;
}

/* Refuses what does not go together. */
static enum outcome check(const struct options *options, const char *names) {
    size_t inputs = options_inputs(options), standard = standard_inputs(options);
    char list[TABLE_LIST], found[QUOTED];
    if (options->population && !any_has(options, population_table))
        return misuse("--population: found with %s; expected with %s", names, table_list(population_table, list));
    if (options->wrap && !any_has(options, wide_table))
        return misuse("--wrap: found with %s; expected with %s", names, table_list(wide_table, list));
    if (inputs > 1 && options->path_count != inputs)
        return misuse("%s reduces %zu inputs together; %zu given", names, inputs, options->path_count);
    if (standard > 1)
        return misuse("-: standard input can be read only once; given %zu times", standard);
    if (options->output && options->missing && strcmp(options->missing, "nan") != 0)
        return misuse("--missing: found %s; expected nan, as --output writes numbers",
                      quote(found, options->missing, strlen(options->missing)));
    if (options->input.format == FORMAT_RAW && !options->input.type)
        return misuse("--format raw: raw binary does not say what it holds; give its element type, as in --type f64");
    return check_axes(options);
}

/* The operators of a list separated by commas. */
static enum outcome parse_operators(const char *names, struct options *options) {
    char name[32], found[QUOTED], list[TABLE_LIST];
    for (const char *at = names;;) {
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, at);
        if (options->op_count == OPERATORS_MOST)
            return misuse("%s: more than %d operators", quote(found, names, strlen(names)), OPERATORS_MOST);
        if (!operator_find(name, &options->ops[options->op_count]))
            return misuse("%s is not an operator; expected %s", quote(found, at, length),
                          table_list(operator_table, list));
        options->op_count++;
        if (!at[length])
            return DONE;
        at += length + 1;
    }
}

enum outcome options_parse(int argc, char **argv, struct options *options) {
    static const char *const STANDARD_INPUT[] = {"-"};
    char name[128], about[256];
    int rest;
    *options = (struct options){.device = "auto"};
    enum outcome outcome = parse_operators(argv[0], options);
    if (outcome != DONE)
        return outcome;
    snprintf(name, sizeof name, "reduct %.100s", argv[0]);
    snprintf(about, sizeof about, "Prints the %s%s.", reduct_operator_text(options->ops[0]),
             options->op_count > 1 ? ", and so on" : "");
    program_command command = command_line(name, about);
    int status = program_command_read(&command, argc, argv, options, &rest);
    if (status != 0)
        return (enum outcome)status;
    options->paths = (const char *const *)argv + rest;
    options->path_count = (size_t)(argc - rest);
    if (options->path_count == 0 && options_inputs(options) == 1) {
        options->paths = STANDARD_INPUT;
        options->path_count = 1;
    }
    options->input.matrix = options_have_results(options);
    return check(options, argv[0]);
}

void options_print_operators(FILE *stream) {
    for (int number = 0; number < TABLE_MOST; number++) {
        if (operator_table(number))
            fprintf(stream, "  %-13s %s\n", operator_table(number), reduct_operator_text((reduct_operator)number));
    }
}

void options_print(FILE *stream) {
    program_command command = command_line("reduct OP", NULL);
    program_command_write_options(&command, stream);
}

void options_print_usage(FILE *stream) {
    program_command command = command_line("reduct OP", NULL);
    program_command_write_usage(&command, stream);
}
