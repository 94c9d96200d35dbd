/* The univariate data sets of NIST's Statistical Reference Datasets: mean and deviation of the doubles that their
 * decimals read as, bit for bit against rationals. How many digits agree with NIST's certified values, which are those
 * of the decimals, is a question for the demonstration, not for a test of exactness; that they agree at all is checked.
 *
 * The folder of the sets is the first argument.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const struct set {
    const char *name;
    size_t count;
    double mean, deviation; /* certified */
} sets[] = {
    {"Lew", 200, -177.435000000000, 277.332168044316},
    {"Lottery", 218, 518.958715596330, 291.699727470969},
    {"Mavro", 50, 2.00185600000000, 0.000429123454003053},
    {"Michelso", 100, 299.852400000000, 0.0790105478190518},
    {"PiDigits", 5000, 4.53480000000000, 2.86733906028871},
    {"NumAcc1", 3, 10000002, 1},
    {"NumAcc2", 1001, 1.2, 0.1},
    {"NumAcc3", 1001, 1000000.2, 0.1},
    {"NumAcc4", 1001, 10000000.2, 0.1},
};
enum { MOST = 5000 };

static const char *folder;

static size_t read_set(const char *name, double values[MOST]) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    FILE *file = fopen(path, "r");
    if (!file)
        test_fail("%s cannot be opened", path);
    size_t count = 0;
    while (count < MOST && fscanf(file, "%lf", &values[count]) == 1)
        count++;
    fclose(file);
    return count;
}

static void check_set(const struct set *set) {
    static double values[MOST];
    static const reduct_operator ops[] = {REDUCT_MEAN, REDUCT_STD, REDUCT_VAR, REDUCT_SUM};
    const size_t count = read_set(set->name, values);
    assert_int_equal(count, set->count);
    struct oracle oracle;
    oracle_init(&oracle);
    oracle_read(&oracle, REDUCT_F64, values, NULL, count);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t r = 0; r < test_type_count; r++) {
            const reduct_reduction reduction = test_reduction(ops[o], REDUCT_F64, test_types[r].type);
            if (test_types[r].class != FLOAT)
                continue;
            const struct oracle_result expected = oracle_expect(&oracle, &reduction);
            const struct test_outcome got = test_run(&reduction, NULL, 0, values, NULL, count);
            test_check(&got, &expected, &reduction, "%s", set->name);
        }
    double mean, deviation;
    test_status(reduct_mean_f64(values, count, &mean), REDUCT_OK);
    test_status(reduct_std_f64(values, count, &deviation), REDUCT_OK);
    assert_true(fabs(mean / set->mean - 1) < 1e-14);
    assert_true(fabs(deviation / set->deviation - 1) < 1e-8); /* the decimals of NumAcc4 keep no more as doubles */
    oracle_clear(&oracle);
}

static void all_sets(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        check_set(&sets[i]);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_sets)};
    folder = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests_name("nist", tests, NULL, NULL);
}
