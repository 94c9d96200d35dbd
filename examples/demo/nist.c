/* NIST's reference data: nine sets whose mean and standard deviation are certified to 15 digits. The yardstick is the
 * LRE, the logarithm of the relative error: the number of leading digits that agree, at most 15. */
#include "demo.h"

#include "program/memory.h"
#include "program/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 32 };

typedef struct statistics {
    double mean, deviation;
} statistics;

typedef struct set {
    char name[32], mean_text[32], deviation_text[32]; /* as certified */
    unsigned long certified_count;
    double *values;
    size_t count;
    statistics certified, exact, double_loop, float_loop;
} set;

static FILE *open_file(const char *folder, const char *name, const char *ending) {
    size_t room = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = program_allocate(room);
    snprintf(path, room, "%s/%s%s", folder, name, ending);
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "demo: cannot open %s; run it from the project's folder, or say --data\n", path);
        exit(1);
    }
    free(path);
    return file;
}

static size_t read_certified(const char *folder, set *sets) {
    FILE *file = open_file(folder, "certified", ".tsv");
    char line[256];
    size_t count = 0;
    while (count < MOST_SETS && fgets(line, sizeof line, file)) {
        set *one = &sets[count];
        if (*line != '#' && sscanf(line, "%31s %lu %31s %31s", one->name, &one->certified_count, one->mean_text,
                                   one->deviation_text) == 4)
            count++;
    }
    fclose(file);
    return count;
}

static void read_values(const char *folder, set *one) {
    FILE *file = open_file(folder, one->name, ".txt");
    one->values = program_allocate(one->certified_count * sizeof *one->values);
    while (one->count < one->certified_count && fscanf(file, "%lf", &one->values[one->count]) == 1)
        one->count++;
    fclose(file);
    if (one->count != one->certified_count) {
        fprintf(stderr, "demo: %s has %zu values, not %lu\n", one->name, one->count, one->certified_count);
        exit(1);
    }
}

/* The textbook's one pass: add up the values and their squares, subtract at the end. */
static statistics plain_double(const double *x, size_t count) {
    double sum = 0, squares = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    return (statistics){sum / n, sqrt((squares - sum * sum / n) / (n - 1))};
}

static statistics plain_float(const double *x, size_t count) {
    float sum = 0, squares = 0, n = (float)count;
    for (size_t i = 0; i < count; i++) {
        float value = (float)x[i];
        sum += value;
        squares += value * value;
    }
    return (statistics){(double)(sum / n), (double)sqrtf((squares - sum * sum / n) / (n - 1))};
}

static void compute(set *one) {
    one->certified = (statistics){strtod(one->mean_text, NULL), strtod(one->deviation_text, NULL)};
    demo_require(reduct_mean_f64(one->values, one->count, &one->exact.mean), one->name);
    demo_require(reduct_std_f64(one->values, one->count, &one->exact.deviation), one->name);
    one->double_loop = plain_double(one->values, one->count);
    one->float_loop = plain_float(one->values, one->count);
}

/* Agreeing digits: at most the 15 that are certified, none where less than one agrees. */
static double agreement(double found, double certified) {
    if (isnan(found))
        return 0;
    double error = fabs(found - certified) / fabs(certified);
    double digits = error > 0 ? -log10(error) : 15;
    return digits < 1 ? 0 : digits > 15 ? 15 : digits;
}

static void add_cells(program_table *table, double found, double certified, int digits) {
    program_table_cell(table, "%.*g", digits, isnan(found) ? fabs(found) : found); /* a NaN's sign means nothing */
    program_table_cell(table, "%.1f", agreement(found, certified));
}

static void print_table(const set *sets, size_t count, int deviations) {
    static const char *const headings[] = {"", "n", "", "reduct", "LRE", "double loop", "LRE", "float loop", "LRE"};
    program_table *table = program_table_create("lrrrrrrrr");
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        program_table_cell(table, "%s", i != 2 ? headings[i] : deviations ? "certified deviation" : "certified mean");
    for (size_t i = 0; i < count; i++) {
        const set *one = &sets[i];
        double certified = deviations ? one->certified.deviation : one->certified.mean;
        program_table_cell(table, "%s", one->name);
        program_table_cell(table, "%zu", one->count);
        program_table_cell(table, "%s", deviations ? one->deviation_text : one->mean_text);
        add_cells(table, deviations ? one->exact.deviation : one->exact.mean, certified, 15);
        add_cells(table, deviations ? one->double_loop.deviation : one->double_loop.mean, certified, 15);
        add_cells(table, deviations ? one->float_loop.deviation : one->float_loop.mean, certified, 7);
    }
    program_table_print(table, stdout, 2);
    putchar('\n');
    program_table_destroy(table);
}

/* Explains the row in which even the exact deviation agrees least. */
static void print_note(const set *sets, size_t count) {
    const set *least = &sets[0];
    for (size_t i = 1; i < count; i++)
        if (agreement(sets[i].exact.deviation, sets[i].certified.deviation) <
            agreement(least->exact.deviation, least->certified.deviation))
            least = &sets[i];
    printf(
        "  LRE: leading digits that agree with the certified value, at most 15. The loops add up values and squares\n"
        "  in one pass. NIST certifies decimals; a program that reads them as doubles rounds them first. The exact\n"
        "  standard deviation of the doubles of %s is %.17g, and no correct program can say otherwise:\n"
        "  %.1f digits are all that doubles hold of it.\n",
        least->name, least->exact.deviation, agreement(least->exact.deviation, least->certified.deviation));
}

int demo_nist(const char *data_folder) {
    static set sets[MOST_SETS];
    size_t count = read_certified(data_folder, sets);
    for (size_t i = 0; i < count; i++) {
        read_values(data_folder, &sets[i]);
        compute(&sets[i]);
    }
    demo_title("NIST's reference data: mean and standard deviation beside the certified values");
    print_table(sets, count, 0);
    print_table(sets, count, 1);
    if (count)
        print_note(sets, count);
    for (size_t i = 0; i < count; i++)
        free(sets[i].values);
    return count == 0;
}
