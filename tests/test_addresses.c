/* Arrays at every address: every offset of one element within a cache line, ending where a page that cannot be touched
 * begins, and starting right after one.
 *
 * From the survival list: "every misalignment down to one element"; "arrays that end at a guard page".
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"
#include "values.h"

enum { PAGES = 20 };

/* Memory with an untouchable page on both sides. */
struct guarded {
    char *mapping, *first, *last; /* the usable bytes are [first, last) */
    size_t mapped;
};

static struct guarded guard(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guarded memory = {.mapped = (PAGES + 2) * page};
    memory.mapping = mmap(NULL, memory.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory.mapping == MAP_FAILED)
        test_fail("no memory to map");
    memory.first = memory.mapping + page;
    memory.last = memory.first + PAGES * page;
    assert_int_equal(mprotect(memory.mapping, page, PROT_NONE), 0);
    assert_int_equal(mprotect(memory.last, page, PROT_NONE), 0);
    return memory;
}

static void unguard(struct guarded *memory) {
    munmap(memory->mapping, memory->mapped);
}

struct context {
    struct rng rng;
    struct oracle oracle;
    const char *devices[TEST_MAX_DEVICES];
    size_t device_count;
    struct guarded x, y;
};

static void start(struct context *context, uint64_t stream) {
    context->rng = rng_of(test_seed() + stream);
    oracle_init(&context->oracle);
    context->device_count = test_devices(context->devices);
    context->x = guard();
    context->y = guard();
}

static void stop(struct context *context) {
    unguard(&context->x);
    unguard(&context->y);
    oracle_clear(&context->oracle);
}

static void check_at(struct context *context, const struct test_type *type, reduct_operator op, char *x, char *y,
                     size_t count, const char *where) {
    if (!oracle_has(op, type->type))
        return;
    static const char *const float_names[] = {"normal", "300_binades", "sparse", "anything"};
    static const char *const integer_names[] = {"raw", "limits", "one_limit", "small_integer"};
    const char *name = (type->class == FLOAT ? float_names : integer_names)[rng_below(&context->rng, 4)];
    if (test_operator(op)->inputs == 1)
        y = NULL;
    distribution_named(name)->fill(&context->rng, type, x, y, count);
    oracle_read(&context->oracle, type->type, x, y, count);
    const reduct_reduction reduction = test_reduction(op, type->type, REDUCT_DEFAULT);
    const struct oracle_result expected = oracle_expect(&context->oracle, &reduction);
    for (size_t d = 0; d < context->device_count; d++) {
        const struct test_outcome got = test_run(&reduction, context->devices[d], 1, x, y, count);
        test_check(&got, &expected, &reduction, "%zu %s %s on %s", count, name, where, context->devices[d]);
    }
}

static size_t any_count(struct rng *rng) {
    return rng_below(rng, rng_below(rng, 4) ? 300 : 5000);
}

/* Every offset of x within two cache lines, y at any other; some of them where little is to be tested. */
static void misaligned(void **state) {
    (void)state;
    struct context context;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    start(&context, 0);
    for (size_t e = 0; e < element_count; e++)
        for (size_t o = 0; o < test_operator_count; o++)
            for (size_t offset = 0; offset < 128; offset += elements[e]->size)
                for (uint64_t round = test_scaled(2, 1); round-- > 0;) {
                    if (rng_unit(&context.rng) >= 10 * test_scale())
                        continue;
                    const size_t other = rng_below(&context.rng, 128 / elements[e]->size) * elements[e]->size;
                    check_at(&context, elements[e], test_operators[o].op, context.x.first + offset,
                             context.y.first + other, any_count(&context.rng), "misaligned");
                }
    stop(&context);
}

/* The last element is the last byte before a guard page; the first one the first after another. */
static void guarded(void **state) {
    (void)state;
    struct context context;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    start(&context, 1);
    for (size_t e = 0; e < element_count; e++)
        for (size_t o = 0; o < test_operator_count; o++)
            for (size_t n = 0; n < 140; n++) {
                if (rng_unit(&context.rng) >= test_scale())
                    continue;
                const size_t count = n < 130 ? n : any_count(&context.rng), size = elements[e]->size;
                check_at(&context, elements[e], test_operators[o].op, context.x.last - count * size,
                         context.y.last - count * size, count, "before a guard page");
                check_at(&context, elements[e], test_operators[o].op, context.x.first, context.y.first, count,
                         "after a guard page");
            }
    stop(&context);
}

/* An address that the element type does not allow is refused, not read. */
static void impossible_addresses(void **state) {
    (void)state;
    struct context context;
    start(&context, 2);
    for (size_t e = 0; e < test_type_count; e++) {
        if (!test_types[e].required)
            continue;
        for (size_t offset = 1; offset < test_types[e].size; offset++) {
            const reduct_reduction sum = test_reduction(REDUCT_SUM, test_types[e].type, REDUCT_DEFAULT);
            const struct test_outcome got = test_run(&sum, "cpu", 1, context.x.first + offset, NULL, 10);
            assert_int_equal(got.status, REDUCT_ERROR_ARGUMENT);
            const reduct_reduction dot = test_reduction(REDUCT_DOT, test_types[e].type, REDUCT_DEFAULT);
            const struct test_outcome second = test_run(&dot, "cpu", 1, context.x.first, context.y.first + offset, 10);
            assert_int_equal(second.status, REDUCT_ERROR_ARGUMENT);
        }
    }
    stop(&context);
}

/* Threads share an array that ends at a guard page. */
static void guarded_threads(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 3);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 800 * page;
    char *mapping = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(mapping != MAP_FAILED);
    assert_int_equal(mprotect(mapping + size, page, PROT_NONE), 0);
    struct oracle oracle;
    oracle_init(&oracle);
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F32, REDUCT_I8};
    for (size_t t = 0; t < 3; t++) {
        const struct test_type *type = test_type(types[t]);
        const size_t count = size / type->size - 1 - rng_below(&rng, 70);
        char *x = mapping + size - count * type->size;
        distribution_named(type->class == FLOAT ? "60_binades" : "raw")->fill(&rng, type, x, NULL, count);
        oracle_read(&oracle, type->type, x, NULL, count);
        for (size_t o = 0; o < test_operator_count; o++) {
            if (test_operators[o].inputs == 2 || !oracle_has(test_operators[o].op, type->type))
                continue;
            const reduct_reduction reduction = test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT);
            const struct oracle_result expected = oracle_expect(&oracle, &reduction);
            const struct test_outcome got = test_run(&reduction, NULL, 4, x, NULL, count);
            test_check(&got, &expected, &reduction, "%zu before a guard page, 4 threads", count);
        }
    }
    oracle_clear(&oracle);
    munmap(mapping, size + page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misaligned),
        cmocka_unit_test(guarded),
        cmocka_unit_test(impossible_addresses),
        cmocka_unit_test(guarded_threads),
    };
    return cmocka_run_group_tests_name("addresses", tests, NULL, NULL);
}
