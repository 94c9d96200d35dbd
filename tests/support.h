/* What every test program shares: the two tables as data, seeds and scale, devices, running a reduction, failing with
 * enough said to reproduce it. */
#ifndef REDUCT_TESTS_SUPPORT_H
#define REDUCT_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <reduct/reduct.h>

#include "oracle.h"

/* One line of reduct/types.def. */
enum test_class { FLOAT, SIGNED, UNSIGNED };
struct test_type {
    reduct_type type;
    const char *name;
    enum test_class class;
    size_t size;
    int precision, max_exponent;
    bool element;  /* can be an element type: not one of the wide integers */
    bool required; /* must be supported as an element type by this version */
};
extern const struct test_type test_types[];
extern const size_t test_type_count;
const struct test_type *test_type(reduct_type type);

/* One line of reduct/operators.def. */
struct test_operator {
    reduct_operator op;
    const char *name;
    int inputs;
    unsigned minimum;
};
extern const struct test_operator test_operators[];
extern const size_t test_operator_count;
const struct test_operator *test_operator(reduct_operator op);

/* The seed of every pseudo-random choice: REDUCT_TEST_SEED, or a fixed number. Failures print it. */
uint64_t test_seed(void);

/* How much to do: 1 in the quick tier of a plain build, less under sanitizers, more when looking for trouble.
 * REDUCT_TEST_SCALE overrides what the build set. test_scaled gives `count` times that, at least `least`. */
double test_scale(void);
uint64_t test_scaled(uint64_t count, uint64_t least);

/* The least for test_scaled where a device has kernels of its own: that many on such a device, a third of it on the CPU, and where next to
 * nothing is to be tested. */
uint64_t test_fewest(uint64_t on_device);

/* The devices to test: those that REDUCT_TEST_DEVICES names ("cuda:0"), otherwise the CPU devices here. Prints why one is
 * missing, and fails when the processor's flags say that it should be there. */
enum { TEST_MAX_DEVICES = 8 };
size_t test_devices(const char *devices[TEST_MAX_DEVICES]);

/* The first device that REDUCT_TEST_DEVICES names; null, for the library's choice, where it is not set. For tests that
 * need one device, whichever it is. */
const char *test_device(void);

/* Whether states and tables can take elements of a reduction out again. */
bool test_removes(const reduct_reduction *reduction);

/* The element types that the tested devices support, of those that REDUCT_TEST_TYPES names ("f64,f16") if it is set; prints those
 * that they do not, fails when a required one is missing. */
enum { TEST_MAX_TYPES = 16 };
size_t test_elements(const struct test_type *elements[TEST_MAX_TYPES]);

/* What a call gave: the status, the error's details, the result in a buffer that was ORACLE_UNTOUCHED before. */
struct test_outcome {
    reduct_status status;
    reduct_error error;
    unsigned char bytes[ORACLE_RESULT_BYTES];
};

/* Runs a reduction of whole arrays through a plan. A status may come from making the plan or from running it. */
struct test_outcome test_run(const reduct_reduction *reduction, const char *device, unsigned threads, const void *x,
                             const void *y, uint64_t count);

/* A zeroed outcome with the result ORACLE_UNTOUCHED; for calls other than test_run. */
struct test_outcome test_outcome(void);

/* Whether an outcome is what the oracle says: status, index of a NaN, every bit of the result, and nothing written
 * beyond it or on failure. */
bool test_agrees(const struct test_outcome *got, const struct oracle_result *expected);

/* Fails unless they agree, saying what was asked for and what came; the format describes the case. */
void test_check(const struct test_outcome *got, const struct oracle_result *expected, const reduct_reduction *reduction,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Fails the running test with a message and the seed. */
void test_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Fails unless the status is the expected one. */
#define test_status(call, expected) test_status_at((call), (expected), #call, __FILE__, __LINE__)
void test_status_at(reduct_status got, reduct_status expected, const char *call, const char *file, int line);

/* Memory or a failed test. */
void *test_alloc(size_t size);

/* A reduction with its result type resolved by the oracle's table. */
reduct_reduction test_reduction(reduct_operator op, reduct_type element, reduct_type result);

#endif
