/* From an environment map to nine coefficients per colour: the order of the work, and what is printed of it. */
#include "analytic.h"
#include "options.h"
#include "picture.h"
#include "projection.h"

#include "program/table.h"

#include <inttypes.h>
#include <stdio.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

static void remark_invalid(const char *path, const invalid_pixels *found, invalid_policy policy) {
    if (found->nan + found->infinite + found->negative > 0)
        fprintf(stderr,
                "spherical-harmonics: %s: numbers that light cannot have are %s: %" PRIu64 " negative, %" PRIu64
                " infinite, %" PRIu64 " NaN\n",
                path, policy == INVALID_ZERO ? "taken as 0" : "kept", found->negative, found->infinite, found->nan);
}

static bool read_image(const char *path, invalid_policy policy, image *picture, problem *why) {
    invalid_pixels found = {0};
    if (!image_read(path, picture, why) || !image_sanitise(picture, path, policy, &found, why))
        return false;
    remark_invalid(path, &found, policy);
    return true;
}

static bool read_environment(const options *all, environment *light, const char **form, problem *why) {
    image sources[FACES] = {0};
    bool good = true;
    for (int i = 0; i < all->path_count && good; i++)
        good = read_image(all->paths[i], all->invalid, &sources[i], why);
    if (!good) {
        for (int i = 0; i < FACES; i++)
            image_free(&sources[i]);
        return false;
    }
    *form = "six faces";
    return all->path_count == 1 ? environment_from_image(&sources[0], all->paths[0], light, form, why)
                                : environment_from_faces(sources, (const char *const *)all->paths, light, why);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Printing
 * ------------------------------------------------------------------------------------------------------------------ */

enum { COLUMNS_MOST = 2 * CHANNELS };

/* A table with a row per harmonic and `columns` numbers in it, number i of row k as `cell` writes it. */
typedef void cell_writer(program_table *table, const void *context, int k, int i);

static void print_table(const char *title, const char *const heads[COLUMNS_MOST], int columns, cell_writer *cell,
                        const void *context) {
    program_table *table = program_table_create(columns == CHANNELS ? "llrrr" : "llrrrrrr");
    program_table_cell(table, "harmonic");
    program_table_cell(table, "polynomial");
    for (int i = 0; i < columns; i++)
        program_table_cell(table, "%s", heads[i]);
    for (int k = 0; k < HARMONICS; k++) {
        program_table_cell(table, "%s", harmonic_name(k));
        program_table_cell(table, "%s", harmonic_formula(k));
        for (int i = 0; i < columns; i++)
            cell(table, context, k, i);
    }
    printf("\n%s\n\n", title);
    program_table_print(table, stdout, 2);
    program_table_destroy(table);
}

static void write_decimal(program_table *table, const void *context, int k, int i) {
    program_table_cell(table, "%.17g", ((const coefficients *)context)->of[k][i]);
}

static void write_hex(program_table *table, const void *context, int k, int i) {
    program_table_cell(table, "%a", ((const coefficients *)context)->of[k][i]);
}

/* Two sets of coefficients side by side, channel by channel: the first in columns 0, 2 and 4. */
static void write_pair(program_table *table, const void *context, int k, int i) {
    program_table_cell(table, "%.9g", ((const coefficients *)context)[i % 2].of[k][i / 2]);
}

static void write_known(program_table *table, const void *context, int k, int i) {
    program_table_cell(table, i % 2 ? "%+.1e" : "%.9g", ((const coefficients *)context)[i % 2].of[k][i / 2]);
}

static void print_coefficients(const coefficients *result) {
    static const char *const HEADS[COLUMNS_MOST] = {"red", "green", "blue"};
    print_table("Coefficients, correctly rounded to double:", HEADS, CHANNELS, write_decimal, result);
    print_table("The same in base 16, to the last bit:", HEADS, CHANNELS, write_hex, result);
}

static void print_expected(const char *name, const coefficients *result) {
    static const char *const HEADS[COLUMNS_MOST] = {"red", "off by", "green", "off by", "blue", "off by"};
    coefficients known[2];
    char title[120];
    analytic_coefficients(analytic_find(name), &known[0]);
    for (int k = 0; k < HARMONICS; k++) {
        for (int c = 0; c < CHANNELS; c++)
            known[1].of[k][c] = result->of[k][c] - known[0].of[k][c];
    }
    snprintf(title, sizeof title, "Known coefficients of the light '%s', and how far the map's are from them:", name);
    print_table(title, HEADS, COLUMNS_MOST, write_known, known);
}

static void print_plain(const environment *light, const weights *table) {
    static const char *const HEADS[COLUMNS_MOST] = {"red", "backwards", "green", "backwards", "blue", "backwards"};
    coefficients plain[2];
    project_plainly(light, table, false, &plain[0]);
    project_plainly(light, table, true, &plain[1]);
    print_table("What a plain loop over floats gives, from the first texel to the last and backwards:", HEADS,
                COLUMNS_MOST, write_pair, plain);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The work
 * ------------------------------------------------------------------------------------------------------------------ */

static bool make_map(const options *all, problem *why) {
    environment map = {0};
    const bool good = analytic_map(analytic_find(all->made), all->form, all->size ? all->size : 256, &map, why) &&
                      hdr_write(all->paths[0], &map.image, why);
    if (good)
        printf("%s: '%s', %" PRIu32 " x %" PRIu32 " pixels\n", all->paths[0], all->made, map.image.width,
               map.image.height);
    environment_free(&map);
    return good;
}

static bool show(const options *all, const environment *light, const char *form, problem *why) {
    weights table = {0};
    coefficients result;
    dots_used used;
    if (!weights_tabulate(light, &table, why))
        return false;
    bool good = project(light, &table, &all->request, &result, &used, why);
    if (good) {
        printf("%s: %s, %zu texels; 27 exact dot products on %s\n", all->paths[0], form, environment_count(light),
               used.device);
        print_coefficients(&result);
        if (all->expected)
            print_expected(all->expected, &result);
        if (all->plain)
            print_plain(light, &table);
    }
    weights_free(&table);
    return good && (!all->picture ||
                    picture_write(all->picture, light, &result, all->exposure, all->size ? all->size : 652, why));
}

static bool run(const options *all, problem *why) {
    environment light = {0};
    const char *form;
    if (all->made)
        return make_map(all, why);
    if (!read_environment(all, &light, &form, why))
        return false;
    const bool good = show(all, &light, form, why);
    environment_free(&light);
    return good;
}

int main(int argc, char **argv) {
    options all;
    problem why;
    const int status = options_parse(argc, argv, &all);
    if (status != 0)
        return status;
    if (!run(&all, &why)) {
        fprintf(stderr, "spherical-harmonics: %s\n", why.text);
        return 1;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "spherical-harmonics: standard output cannot be written\n");
        return 1;
    }
    return 0;
}
