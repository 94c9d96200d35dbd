#include "support.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef REDUCT_TEST_SCALE
#define REDUCT_TEST_SCALE 1.0
#endif

const struct test_type test_types[] = {
#define REDUCT_TYPE(ID, id, number, kind, bytes, digits, top, text)                                                    \
    {.type = REDUCT_##ID,                                                                                              \
     .name = #id,                                                                                                      \
     .class = kind,                                                                                                    \
     .size = bytes,                                                                                                    \
     .precision = digits,                                                                                              \
     .max_exponent = top,                                                                                              \
     .element = bytes <= 8,                                                                                            \
     .required = bytes <= 8},
#include <reduct/types.def>
};
const size_t test_type_count = sizeof test_types / sizeof *test_types;

const struct test_operator test_operators[] = {
#define REDUCT_OPERATOR(ID, id, number, arrays, transform, combine, finish, least, text)                               \
    {.op = REDUCT_##ID, .name = #id, .inputs = arrays, .minimum = least},
#include <reduct/operators.def>
};
const size_t test_operator_count = sizeof test_operators / sizeof *test_operators;

const struct test_type *test_type(reduct_type type) {
    for (size_t i = 0; i < test_type_count; i++)
        if (test_types[i].type == type)
            return &test_types[i];
    return NULL;
}

const struct test_operator *test_operator(reduct_operator op) {
    for (size_t i = 0; i < test_operator_count; i++)
        if (test_operators[i].op == op)
            return &test_operators[i];
    return NULL;
}

uint64_t test_seed(void) {
    const char *text = getenv("REDUCT_TEST_SEED");
    return text ? strtoull(text, NULL, 0) : 20240229;
}

double test_scale(void) {
    const char *text = getenv("REDUCT_TEST_SCALE");
    return text ? strtod(text, NULL) : REDUCT_TEST_SCALE;
}

uint64_t test_scaled(uint64_t count, uint64_t least) {
    const uint64_t scaled = (uint64_t)((double)count * test_scale());
    return scaled > least ? scaled : least;
}

uint64_t test_fewest(uint64_t on_device) {
    return test_device() && test_scale() >= 0.02 ? on_device : on_device / 3;
}

/* Whether /proc/cpuinfo lists every one of `flags`, each with a space on both sides. */
static bool processor_has(const char *const *flags) {
    static char line[8192];
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, file))
        found = strncmp(line, "flags", 5) == 0;
    fclose(file);
    if (!found)
        return false;
    const size_t length = strlen(line);
    if (length && line[length - 1] == '\n')
        line[length - 1] = ' ';
    for (; *flags; flags++)
        if (!strstr(line, *flags))
            return false;
    return true;
}

/* The devices of a list such as "cuda:0,cpu:avx2", all of which must be here. */
static size_t named_devices(const char *names, const char *devices[TEST_MAX_DEVICES]) {
    static char list[256];
    size_t count = 0;
    snprintf(list, sizeof list, "%s", names);
    for (char *rest = list, *name; (name = strtok_r(rest, ",", &rest)) && count < TEST_MAX_DEVICES;) {
        const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
        const struct test_outcome outcome = test_run(&sum, name, 1, NULL, NULL, 0);
        if (outcome.status != REDUCT_OK)
            test_fail("REDUCT_TEST_DEVICES: %s: %s", name, outcome.error.message);
        devices[count++] = name;
    }
    return count;
}

size_t test_devices(const char *devices[TEST_MAX_DEVICES]) {
    const char *const named = getenv("REDUCT_TEST_DEVICES");
    if (named && *named)
        return named_devices(named, devices);
    static const char *const none[] = {NULL};
    static const char *const avx2[] = {" avx2 ", " fma ", " f16c ", NULL};
    static const char *const avx512[] = {" avx512f ", " avx512dq ", " avx512bw ", " avx512vl ",
                                         " avx2 ",    " fma ",      NULL};
    static const struct {
        const char *device;
        const char *const *flags;
        bool portable;
    } all[] = {{"cpu:portable", none, true}, {"cpu:avx2", avx2, false}, {"cpu:avx512", avx512, false}};
    /* An emulator such as valgrind shows the host's flags in /proc/cpuinfo and fewer to the program. */
    const bool emulated = getenv("REDUCT_TEST_EMULATED") != NULL;
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
        const struct test_outcome outcome = test_run(&sum, all[i].device, 1, NULL, NULL, 0);
        if (outcome.status == REDUCT_OK) {
            devices[count++] = all[i].device;
            continue;
        }
        if (outcome.status != REDUCT_ERROR_NO_DEVICE)
            test_fail("%s: status %d, %s", all[i].device, (int)outcome.status, outcome.error.message);
#if defined(__x86_64__)
        if (all[i].portable || (!emulated && processor_has(all[i].flags)))
            test_fail("%s is refused on a processor that has it: %s", all[i].device, outcome.error.message);
#else
        (void)processor_has;
        (void)emulated;
#endif
        print_message("not tested here: %s: %s\n", all[i].device, outcome.error.message);
    }
    return count;
}

static char first_device[64];

static void read_first_device(void) {
    const char *const named = getenv("REDUCT_TEST_DEVICES");
    if (named)
        snprintf(first_device, sizeof first_device, "%.*s", (int)strcspn(named, ","), named);
}

/* Threads call this at once. */
const char *test_device(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_first_device);
    return *first_device ? first_device : NULL;
}

bool test_removes(const reduct_reduction *reduction) {
    switch (reduction->op) {
    case REDUCT_MIN:
    case REDUCT_MAX:
    case REDUCT_NORMINF:
    case REDUCT_ARGMIN:
    case REDUCT_ARGMAX:
    case REDUCT_MINMAX:
    case REDUCT_PTP:
        return false;
    case REDUCT_AND:
    case REDUCT_OR:
        return reduction->element == REDUCT_BOOL;
    default:
        return true;
    }
}

/* Whether REDUCT_TEST_TYPES names a type, or is not set. */
static bool is_asked_for(const struct test_type *type) {
    const char *at = getenv("REDUCT_TEST_TYPES");
    if (!at || !*at)
        return true;
    for (size_t length; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        if (length == strlen(type->name) && memcmp(at, type->name, length) == 0)
            return true;
    }
    return false;
}

size_t test_elements(const struct test_type *elements[TEST_MAX_TYPES]) {
    const char *const device = test_device() ? test_device() : "cpu";
    size_t count = 0;
    for (size_t i = 0; i < test_type_count; i++) {
        if (!test_types[i].element || !is_asked_for(&test_types[i]))
            continue;
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = test_types[i].type};
        const struct test_outcome outcome = test_run(&sum, device, 1, NULL, NULL, 0);
        if (outcome.status == REDUCT_OK) {
            elements[count++] = &test_types[i];
            continue;
        }
        if (test_types[i].required || outcome.status != REDUCT_ERROR_UNSUPPORTED)
            test_fail("%s elements: status %d, %s", test_types[i].name, (int)outcome.status, outcome.error.message);
        print_message("not tested here: %s elements: %s\n", test_types[i].name, outcome.error.message);
    }
    if (count == 0)
        test_fail("REDUCT_TEST_TYPES=%s names no type that can be tested", getenv("REDUCT_TEST_TYPES"));
    return count;
}

struct test_outcome test_outcome(void) {
    struct test_outcome outcome = {.status = REDUCT_OK};
    memset(outcome.bytes, ORACLE_UNTOUCHED, sizeof outcome.bytes);
    return outcome;
}

struct test_outcome test_run(const reduct_reduction *reduction, const char *device, unsigned threads, const void *x,
                             const void *y, uint64_t count) {
    struct test_outcome outcome = test_outcome();
    const reduct_plan_options options = {
        .reductions = reduction,
        .reduction_count = 1,
        .shape = {.outer = 1, .n = count, .inner = 1, .outer_stride = 0, .stride = 1, .inner_stride = 0},
        .device = device,
        .threads = threads,
    };
    reduct_plan *plan = NULL;
    outcome.status = reduct_plan_create(&options, &plan, &outcome.error);
    if (outcome.status == REDUCT_OK) {
        const void *inputs[2] = {x, y};
        void *results[1] = {outcome.bytes};
        outcome.status = reduct_plan_execute(plan, inputs, results, NULL, &outcome.error);
    }
    reduct_plan_destroy(plan);
    return outcome;
}

bool test_agrees(const struct test_outcome *got, const struct oracle_result *expected) {
    if (got->status != expected->status || memcmp(got->bytes, expected->bytes, sizeof got->bytes) != 0)
        return false;
    return got->status != REDUCT_ERROR_NAN || got->error.index == expected->index;
}

void test_check(const struct test_outcome *got, const struct oracle_result *expected, const reduct_reduction *reduction,
                const char *format, ...) {
    if (test_agrees(got, expected))
        return;
    char where[256], got_hex[2 * ORACLE_RESULT_BYTES + 3], expected_hex[2 * ORACLE_RESULT_BYTES + 3];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    const struct test_type *result = test_type(reduction->result);
    const size_t shown = result ? oracle_result_size(reduction) : ORACLE_RESULT_BYTES;
    bool beyond = false;
    for (size_t i = shown; i < ORACLE_RESULT_BYTES; i++)
        beyond = beyond || got->bytes[i] != ORACLE_UNTOUCHED;
    test_fail("%s of %s as %s (mode %d, nan %d, flags %u), %s:\n"
              "  got      status %d %s%s index %" PRIu64 " %s\n"
              "  expected status %d %s index %" PRIu64,
              reduct_operator_name(reduction->op), reduct_type_name(reduction->element), result ? result->name : "?",
              (int)reduction->mode, (int)reduction->nan, (unsigned)reduction->flags, where, (int)got->status,
              oracle_hex(got_hex, got->bytes, shown), beyond ? " and wrote beyond it," : "", got->error.index,
              got->status ? got->error.message : "", (int)expected->status,
              oracle_hex(expected_hex, expected->bytes, shown), expected->index);
}

void test_fail(const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fail_msg("%s\n  REDUCT_TEST_SEED=%" PRIu64 " REDUCT_TEST_SCALE=%g", message, test_seed(), test_scale());
    abort(); /* fail_msg does not return, but does not say so */
}

void test_status_at(reduct_status got, reduct_status expected, const char *call, const char *file, int line) {
    if (got != expected)
        test_fail("%s:%d: %s gave status %d (%s), not %d", file, line, call, (int)got, reduct_status_text(got),
                  (int)expected);
}

void *test_alloc(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory)
        test_fail("no memory for %zu bytes", size);
    return memory;
}

reduct_reduction test_reduction(reduct_operator op, reduct_type element, reduct_type result) {
    const reduct_reduction reduction = {
        .op = op, .element = element, .result = result ? result : oracle_default_result(op, element)};
    return reduction;
}
