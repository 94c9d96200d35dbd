/* Fuzz target: the command line of a reduction.
 *
 * Every byte pair of the input is an option with a good or a bad value, in one of the spellings that there are (--name=value,
 * --name value, the name cut short, -nvalue, -n value), or a file; so it is known what the options must come to, or that
 * the line must be refused. Where the first byte says so, the rest of the input is the arguments as they are, of which only
 * is known that they must be taken, refused in words that can be shown, or answered by help.
 */
#include "options.h"

#include <setjmp.h>
#include <string.h>

#include "fuzz.h"
#include "support.h"
#include "values.h"

enum { ARGUMENTS_MOST = 40, TEXT_MOST = 64 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Help ends the process: exit() comes here by the linker (--wrap)
 * ------------------------------------------------------------------------------------------------------------------ */

void __real_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status) __attribute__((noreturn));

static jmp_buf answered;
static bool guarded;

void __wrap_exit(int status) {
    if (guarded)
        longjmp(answered, 1);
    __real_exit(status);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What there is, written down once more
 * ------------------------------------------------------------------------------------------------------------------ */

enum option {
    MODE,
    NAN_POLICY,
    POPULATION,
    RESULT,
    WRAP,
    ORDER,
    COUNT,
    FORMAT,
    OFFSET,
    TYPE,
    DEVICE,
    THREADS,
    QUIET,
    HEX,
    AXIS,
    ROWS,
    COLUMNS,
    OUTPUT,
    MASK,
    BY,
    GROUPS,
    SKIP_OUTSIDE,
    KEYS,
    UNSORTED,
    OUTPUT_KEYS,
    MISSING
};
enum { OPTIONS = MISSING + 1 };

/* A value, good for a number or not. */
struct value {
    const char *text;
    uint64_t number;
    bool bad;
};

#define BAD(text)                                                                                                      \
    { text, 0, true }
static const struct value modes[] = {
    {"exact", REDUCT_EXACT, 0}, {"fast", REDUCT_FAST, 0}, BAD("Exact"), BAD(""), BAD("fas")};
static const struct value policies[] = {{"propagate", REDUCT_NAN_PROPAGATE, 0},
                                        {"ignore", REDUCT_NAN_IGNORE, 0},
                                        {"error", REDUCT_NAN_ERROR, 0},
                                        BAD("none"),
                                        BAD("ignore ")};
static const struct value results[] = {
    {"f64", REDUCT_F64, 0}, {"u8", REDUCT_U8, 0}, {"i256", REDUCT_I256, 0}, BAD("i512"), BAD("default")};
static const struct value types[] = {
    {"f32", REDUCT_F32, 0}, {"i16", REDUCT_I16, 0}, {"u64", REDUCT_U64, 0}, BAD("i128"), BAD("float")};
static const struct value formats[] = {
    {"auto", FORMAT_AUTO, 0}, {"npy", FORMAT_NPY, 0}, {"raw", FORMAT_RAW, 0}, {"text", FORMAT_TEXT, 0}, BAD("csv")};
static const struct value orders[] = {
    {"little", ORDER_LITTLE, 0}, {"big", ORDER_BIG, 0}, {"native", ORDER_NATIVE, 0}, BAD("middle"), BAD("LITTLE")};
static const struct value sizes[] = {{"0", 0, 0},
                                     {"17", 17, 0},
                                     {"4Ki", 4096, 0},
                                     {"3Mi", 3145728, 0},
                                     {"1Ti", UINT64_C(1) << 40, 0},
                                     {"9223372036854775807", INT64_MAX, 0},
                                     BAD("9223372036854775808"),
                                     BAD("8388608Ti"),
                                     BAD("99999999999999999999"),
                                     BAD("18446744073709551616"),
                                     BAD("-1"),
                                     BAD(""),
                                     BAD("1k"),
                                     BAD("Ki"),
                                     BAD("1.5"),
                                     BAD("0x10"),
                                     BAD(" 1"),
                                     BAD("4 Ki")};
static const struct value groups[] = {{"0", 0, 0},
                                      {"17", 17, 0},
                                      {"4Ki", 4096, 0},
                                      {"4294967295", UINT32_MAX, 0},
                                      {"4Gi", UINT64_C(1) << 32, 0},
                                      {"9223372036854775807", INT64_MAX, 0},
                                      BAD("9223372036854775808"),
                                      BAD("-1"),
                                      BAD(""),
                                      BAD("1.5")};
static const struct value threads[] = {{"0", 0, 0}, {"1", 1, 0}, {"65536", 65536, 0}, BAD("65537"),
                                       BAD("4Ki"),  BAD("-2"),   BAD("all")};
static const struct value axes[] = {
    {"0", 0, 0}, {"3", 3, 0}, {"-1", (uint64_t)-1, 0},    BAD("64"), BAD("-65"), BAD(""), BAD("one"),
    BAD("+1"),   BAD("1.0"),  BAD("99999999999999999999")};
static const struct value files[] = {{"out.npy", 0, 0}, {"", 0, 0}, {"-", 0, 0}};
static const struct value outputs[] = {{"out.npy", 0, 0}, {"-", 0, 0}, BAD("")};
static const struct value more_outputs[] = {{"keys.npy", 0, 0}, {"out.npy", 0, 0}, {"-", 0, 0}, BAD("")};
static const struct value texts[] = {{"nan", 0, 0}, {"", 0, 0}, {"NaN", 0, 0}, {"-", 0, 0}};
static const struct value devices[] = {{"cpu", 0, 0}, {"", 0, 0}, {"nowhere", 0, 0}, {"-", 0, 0}};

static const struct {
    const char *name;
    char character; /* 0 if it has none */
    const struct value *values;
    size_t count; /* 0: it takes none */
} options[OPTIONS] = {
#define VALUES(list) list, sizeof(list) / sizeof *(list)
    [MODE] = {"mode", 0, VALUES(modes)},
    [NAN_POLICY] = {"nan", 0, VALUES(policies)},
    [POPULATION] = {"population", 0, NULL, 0},
    [RESULT] = {"result", 'r', VALUES(results)},
    [WRAP] = {"wrap", 0, NULL, 0},
    [ORDER] = {"byte-order", 0, VALUES(orders)},
    [COUNT] = {"count", 0, VALUES(sizes)},
    [FORMAT] = {"format", 0, VALUES(formats)},
    [OFFSET] = {"offset", 0, VALUES(sizes)},
    [TYPE] = {"type", 't', VALUES(types)},
    [DEVICE] = {"device", 0, VALUES(devices)},
    [THREADS] = {"threads", 'j', VALUES(threads)},
    [QUIET] = {"quiet", 'q', NULL, 0},
    [HEX] = {"hex", 'x', NULL, 0},
    [AXIS] = {"axis", 0, VALUES(axes)},
    [ROWS] = {"rows", 0, NULL, 0},
    [COLUMNS] = {"columns", 0, NULL, 0},
    [OUTPUT] = {"output", 'o', VALUES(outputs)},
    [MASK] = {"mask", 0, VALUES(files)},
    [BY] = {"by", 0, VALUES(files)},
    [GROUPS] = {"groups", 0, VALUES(groups)},
    [SKIP_OUTSIDE] = {"skip-outside", 0, NULL, 0},
    [KEYS] = {"keys", 0, VALUES(files)},
    [UNSORTED] = {"unsorted", 0, NULL, 0},
    [OUTPUT_KEYS] = {"output-keys", 0, VALUES(more_outputs)},
    [MISSING] = {"missing", 0, VALUES(texts)}};
static const char *const standard[] = {"help", "usage", "version"};

/* ---------------------------------------------------------------------------------------------------------------------
 * A command line that is known
 * ------------------------------------------------------------------------------------------------------------------ */

struct line {
    char text[ARGUMENTS_MOST][TEXT_MOST];
    char *argv[ARGUMENTS_MOST + 1];
    int argc;
    struct options expected;
    const char *paths[ARGUMENTS_MOST];
    bool bad;
};

static char *add_argument(struct line *line) {
    char *text = line->text[line->argc];
    line->argv[line->argc++] = text;
    line->argv[line->argc] = NULL;
    *text = 0;
    return text;
}

/* The shortest beginning of a name that no other has. */
static size_t shortest(enum option option) {
    for (size_t size = 1;; size++) {
        size_t same = 0;
        for (size_t i = 0; i < OPTIONS + 3; i++)
            same += strncmp(i < OPTIONS ? options[i].name : standard[i - OPTIONS], options[option].name, size) == 0;
        if (same == 1 || !options[option].name[size])
            return size;
    }
}

static void spell(struct line *line, enum option option, const char *value, unsigned how) {
    const char *name = options[option].name;
    char *text = add_argument(line);
    const size_t room = TEXT_MOST, cut = how & 1 ? shortest(option) : strlen(name);
    const bool brief = options[option].character && how & 2 && (!value || *value); /* -t '' is another matter */
    if (brief)
        snprintf(text, room, "-%c%s", options[option].character, value && how & 4 ? value : "");
    else
        snprintf(text, room, "--%.*s%s%s", (int)cut, name, value && how & 4 ? "=" : "", value && how & 4 ? value : "");
    if (value && !(how & 4))
        snprintf(add_argument(line), room, "%s", value);
}

/* What an option means. */
static void take(struct options *expected, enum option option, const struct value *value) {
    const uint64_t number = value ? value->number : 0;
    switch (option) {
    case MODE:
        expected->mode = (reduct_mode)number;
        break;
    case NAN_POLICY:
        expected->nan = (reduct_nan)number;
        break;
    case POPULATION:
        expected->population = true;
        break;
    case RESULT:
        expected->result = (reduct_type)number;
        break;
    case WRAP:
        expected->wrap = true;
        break;
    case ORDER:
        expected->input.order = (enum byte_order)number;
        break;
    case COUNT:
        expected->input.has_count = true;
        expected->input.count = number;
        break;
    case FORMAT:
        expected->input.format = (enum format)number;
        break;
    case OFFSET:
        expected->input.has_offset = true;
        expected->input.offset = number;
        break;
    case TYPE:
        expected->input.type = (reduct_type)number;
        break;
    case DEVICE:
        expected->device = value->text;
        break;
    case THREADS:
        expected->input.threads = (unsigned)number;
        break;
    case QUIET:
        expected->quiet = true;
        break;
    case HEX:
        expected->hex = true;
        break;
    case AXIS:
        expected->axes[expected->axis_count++] = (int)(int64_t)number;
        break;
    case ROWS:
        expected->rows = true;
        break;
    case COLUMNS:
        expected->columns = true;
        break;
    case OUTPUT:
        expected->output = value->text;
        break;
    case MASK:
        expected->mask = value->text;
        break;
    case BY:
        expected->by = value->text;
        break;
    case GROUPS:
        expected->has_groups = true;
        expected->groups = number;
        break;
    case SKIP_OUTSIDE:
        expected->skip_outside = true;
        break;
    case KEYS:
        expected->keys = value->text;
        break;
    case UNSORTED:
        expected->unsorted = true;
        break;
    case OUTPUT_KEYS:
        expected->output_keys = value->text;
        break;
    case MISSING:
        expected->missing = value->text;
    }
}

static void add_file(struct line *line, unsigned which) {
    static const char *const names[] = {"a.txt", "-", "b c", "--x", "data.npy"};
    const char *name = names[which % 5 == 3 ? 0 : which % 5];
    strcpy(add_argument(line), name);
    line->paths[line->expected.path_count++] = name;
}

static bool is_one_of(reduct_operator op, const reduct_operator *ops, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (op == ops[i])
            return true;
    return false;
}

/* What does not go together. */
static void check_together(struct line *line) {
    static const reduct_operator divided[] = {REDUCT_VAR, REDUCT_STD};
    static const reduct_operator wide[] = {REDUCT_SUM, REDUCT_SUMSQ, REDUCT_NORM1, REDUCT_DOT, REDUCT_PRODUCT};
    struct options *expected = &line->expected;
    size_t standard_inputs = 0;
    const size_t inputs = oracle_inputs(expected->ops[0]);
    if (expected->path_count == 0 && inputs == 1)
        line->paths[expected->path_count++] = "-";
    for (size_t i = 0; i < expected->path_count; i++)
        standard_inputs += strcmp(line->paths[i], "-") == 0;
    standard_inputs += expected->mask && strcmp(expected->mask, "-") == 0;
    standard_inputs += expected->by && strcmp(expected->by, "-") == 0;
    standard_inputs += expected->keys && strcmp(expected->keys, "-") == 0;
    line->bad = line->bad || (expected->population && !is_one_of(expected->ops[0], divided, 2)) ||
                (expected->wrap && !is_one_of(expected->ops[0], wide, 5)) ||
                (inputs == 2 && expected->path_count != 2) || standard_inputs > 1 ||
                (expected->input.format == FORMAT_RAW && !expected->input.type);
    const int kinds = (expected->axis_count > 0) + expected->rows + expected->columns + (expected->by != NULL) +
                      (expected->keys != NULL);
    if (expected->keys)
        line->bad = line->bad || !expected->output != !expected->output_keys ||
                    (expected->output && expected->output_keys && strcmp(expected->output, expected->output_keys) == 0);
    else
        line->bad = line->bad || expected->unsorted || expected->output_keys;
    line->bad = line->bad || (!expected->by && (expected->has_groups || expected->skip_outside));
    line->bad = line->bad || kinds > 1 || ((kinds || expected->mask) && expected->path_count != inputs) ||
                (!kinds && expected->output) ||
                (expected->output && expected->missing && strcmp(expected->missing, "nan") != 0);
}

/* An option with a value is given once, but for axes. */
static void write_line(struct line *line, struct fuzz_input *input) {
    bool given[OPTIONS] = {false};
    while (input->size >= 2 && line->argc < ARGUMENTS_MOST - 4) {
        const unsigned what = fuzz_byte(input), how = fuzz_byte(input);
        const enum option option = (enum option)(what % (OPTIONS + 2));
        if ((size_t)option >= OPTIONS) {
            add_file(line, how);
            continue;
        }
        const size_t count = options[option].count;
        const struct value *value = count ? &options[option].values[how / 8 % count] : NULL;
        spell(line, option, value ? value->text : NULL, how);
        line->bad = line->bad || (value && (value->bad || (given[option] && option != AXIS)));
        given[option] = true;
        if (!line->bad)
            take(&line->expected, option, value);
    }
    check_together(line);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------------------------------------------------ */

/* What is said goes to memory; where that cannot be done, it is shown. */
static enum outcome parse(const struct line *line, struct options *got, char **said, size_t *size) {
    static char *argv[ARGUMENTS_MOST + 1]; /* parsing puts it into another order */
    enum outcome outcome = MISUSED;
    memcpy(argv, line->argv, sizeof argv);
#if defined(__GLIBC__)
    FILE *const out = stdout, *const error = stderr;
    FILE *const memory = open_memstream(said, size);
    FUZZ_REQUIRE(memory);
    stdout = stderr = memory;
#endif
    guarded = true;
    if (setjmp(answered) == 0)
        outcome = options_parse(line->argc, argv, got);
    else
        outcome = INTERRUPTED; /* by help */
    guarded = false;
#if defined(__GLIBC__)
    stdout = out;
    stderr = error;
    fclose(memory);
#endif
    return outcome;
}

static void check_same(const struct line *line, const struct options *got) {
    const struct options *expected = &line->expected;
    FUZZ_REQUIRE(got->ops[0] == expected->ops[0] && got->mode == expected->mode && got->nan == expected->nan);
    FUZZ_REQUIRE(got->result == expected->result && got->population == expected->population);
    FUZZ_REQUIRE(got->wrap == expected->wrap && got->hex == expected->hex && got->quiet == expected->quiet);
    FUZZ_REQUIRE(got->rows == expected->rows && got->columns == expected->columns && !got->output == !expected->output);
    FUZZ_REQUIRE(!got->output || strcmp(got->output, expected->output) == 0);
    FUZZ_REQUIRE(!got->by == !expected->by && (!got->by || strcmp(got->by, expected->by) == 0));
    FUZZ_REQUIRE(got->has_groups == expected->has_groups && got->groups == expected->groups);
    FUZZ_REQUIRE(got->skip_outside == expected->skip_outside && got->unsorted == expected->unsorted);
    FUZZ_REQUIRE(!got->keys == !expected->keys && (!got->keys || strcmp(got->keys, expected->keys) == 0));
    FUZZ_REQUIRE(!got->output_keys == !expected->output_keys &&
                 (!got->output_keys || strcmp(got->output_keys, expected->output_keys) == 0));
    FUZZ_REQUIRE(!got->missing == !expected->missing &&
                 (!got->missing || strcmp(got->missing, expected->missing) == 0));
    FUZZ_REQUIRE(!got->mask == !expected->mask && (!got->mask || strcmp(got->mask, expected->mask) == 0));
    FUZZ_REQUIRE(got->axis_count == expected->axis_count && got->op_count == 1);
    for (size_t i = 0; i < got->axis_count; i++)
        FUZZ_REQUIRE(got->axes[i] == expected->axes[i]);
    FUZZ_REQUIRE(strcmp(got->device, expected->device) == 0 && got->input.format == expected->input.format);
    FUZZ_REQUIRE(got->input.order == expected->input.order && got->input.type == expected->input.type);
    FUZZ_REQUIRE(got->input.has_offset == expected->input.has_offset && got->input.offset == expected->input.offset);
    FUZZ_REQUIRE(got->input.has_count == expected->input.has_count && got->input.count == expected->input.count);
    FUZZ_REQUIRE(got->input.threads == expected->input.threads && got->path_count == expected->path_count);
    for (size_t i = 0; i < got->path_count; i++)
        FUZZ_REQUIRE(strcmp(got->paths[i], line->paths[i]) == 0);
}

/* One or two lines that a terminal can show. */
static void check_said(const char *said, size_t size) {
    FUZZ_REQUIRE(size > 10 && strncmp(said, "reduct", 6) == 0 && said[size - 1] == '\n');
    for (size_t i = 0; i < size; i++)
        FUZZ_REQUIRE((said[i] >= ' ' && said[i] <= '~') || said[i] == '\n');
}

/* Arguments as they are, each up to a zero byte. */
static void write_anything(struct line *line, struct fuzz_input *input) {
    while (input->size && line->argc < ARGUMENTS_MOST - 1) {
        char *text = add_argument(line);
        for (size_t i = 0; i < TEXT_MOST - 1 && input->size; i++) {
            text[i] = (char)fuzz_byte(input);
            text[i + 1] = 0;
            if (!text[i])
                break;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct line line;
    struct fuzz_input input = {data, size};
    struct options got;
    char *said = NULL;
    size_t said_size = 0;
    const unsigned first = fuzz_byte(&input);
    memset(&line, 0, sizeof line);
    line.expected.op_count = 1;
    line.expected.ops[0] = test_operators[first % test_operator_count].op;
    line.expected.device = "auto";
    strcpy(add_argument(&line), test_operators[first % test_operator_count].name);
    const bool known = first < 192;
    if (known)
        write_line(&line, &input);
    else
        write_anything(&line, &input);
    const enum outcome outcome = parse(&line, &got, &said, &said_size);
    if (known)
        FUZZ_REQUIRE(outcome == (line.bad ? MISUSED : DONE));
    if (known && outcome == DONE)
        check_same(&line, &got);
    FUZZ_REQUIRE(outcome == DONE || outcome == MISUSED || outcome == INTERRUPTED);
    if (outcome == MISUSED && said)
        check_said(said, said_size);
    free(said);
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    static const char anything[] =
        "--mode=fast\0--help\0-t\0f64\0--no\0--threads=\0-j4x\0--\0-\0--usage\0-V\0--population\0-\xff\n";
    struct rng rng = rng_of(number);
    size_t size = 1 + 2 * rng_below(&rng, 8);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rng_next(&rng);
    if (data[0] < 192)
        return size;
    const size_t skip = rng_below(&rng, sizeof anything);
    memcpy(data + 1, anything + skip, sizeof anything - skip);
    return 1 + sizeof anything - skip;
}
