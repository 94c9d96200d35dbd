/* The parts of examples/spherical-harmonics: angles against MPFR, texels that cover the sphere, coefficients against
 * closed forms within derived bounds, dot products against the oracle, files cut short anywhere.
 *
 *   test_harmonics [vulkan]     vulkan: instead, dot products on the first Vulkan device against those on the CPU; fails
 *                               where there is none, since whoever asks for it means to have one */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "analytic.h"
#include "angle.h"
#include "projection.h"
#include "support.h"
#include "values.h"

#ifdef HARMONICS_HAS_VULKAN
#include "ladder/vulkan_exact.h"
#endif

static problem why; /* of what failed last */

static void require(bool done) {
    if (!done)
        fail_msg("%s", why.text);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Angles
 * ------------------------------------------------------------------------------------------------------------------ */

/* Distance of a double from an MPFR number, in units of 2^-53 of that number. */
static double distance(double got, mpfr_t expected) {
    mpfr_t error;
    mpfr_init2(error, 200);
    mpfr_sub_d(error, expected, got, MPFR_RNDN);
    if (!mpfr_zero_p(error))
        mpfr_div(error, error, expected, MPFR_RNDN);
    const double units = fabs(mpfr_get_d(error, MPFR_RNDN)) * 0x1p53;
    mpfr_clear(error);
    return units;
}

static void check_turn(uint64_t numerator, uint64_t denominator) {
    double sine, cosine;
    mpfr_t angle, s, c;
    mpfr_inits2(200, angle, s, c, (mpfr_ptr)NULL);
    mpfr_const_pi(angle, MPFR_RNDN);
    mpfr_mul_ui(angle, angle, 2 * numerator, MPFR_RNDN);
    mpfr_div_ui(angle, angle, denominator, MPFR_RNDN);
    mpfr_sin_cos(s, c, angle, MPFR_RNDN);
    angle_of_turn(numerator, denominator, &sine, &cosine);
    const bool crossing = numerator * 4 % denominator == 0; /* one of the two is 0, which MPFR's pi misses a little */
    if (!(crossing || (distance(sine, s) <= 4 && distance(cosine, c) <= 4)) ||
        fabs(sine - mpfr_get_d(s, MPFR_RNDN)) > 1e-15 || fabs(cosine - mpfr_get_d(c, MPFR_RNDN)) > 1e-15)
        fail_msg("%llu/%llu of a turn: sine %a, cosine %a", (unsigned long long)numerator,
                 (unsigned long long)denominator, sine, cosine);
    mpfr_clears(angle, s, c, (mpfr_ptr)NULL);
}

static void turns(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed());
    for (uint64_t i = 0; i <= 1440; i++)
        check_turn(i, 720);
    for (int i = 0; i < 2000; i++) {
        const uint64_t denominator = 1 + rng_below(&rng, 1 << 20);
        check_turn(rng_below(&rng, denominator), denominator);
    }
}

/* The area of 0..u, 0..v of a face is the arc tangent of u v / sqrt(u^2 + v^2 + 1); a rectangle has four such corners. */
static void add_corner(mpfr_t sum, double u, double v, int sign) {
    mpfr_t length, area;
    mpfr_inits2(200, length, area, (mpfr_ptr)NULL);
    mpfr_set_d(length, u, MPFR_RNDN);
    mpfr_set_d(area, v, MPFR_RNDN);
    mpfr_hypot(length, length, area, MPFR_RNDN);
    mpfr_set_ui(area, 1, MPFR_RNDN);
    mpfr_hypot(length, length, area, MPFR_RNDN);
    mpfr_set_d(area, u, MPFR_RNDN);
    mpfr_mul_d(area, area, v, MPFR_RNDN);
    mpfr_div(area, area, length, MPFR_RNDN);
    mpfr_atan(area, area, MPFR_RNDN);
    mpfr_mul_si(area, area, sign, MPFR_RNDN);
    mpfr_add(sum, sum, area, MPFR_RNDN);
    mpfr_clears(length, area, (mpfr_ptr)NULL);
}

static void rectangles(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed());
    for (int i = 0; i < 2000; i++) {
        const double side = (double)(1 + rng_below(&rng, i % 2 ? 4 : 16384));
        const double u0 = (2.0 * (double)rng_below(&rng, (uint64_t)side) - side) / side, u1 = u0 + 2 / side;
        const double v0 = (2.0 * (double)rng_below(&rng, (uint64_t)side) - side) / side, v1 = v0 + 2 / side;
        mpfr_t expected;
        mpfr_init2(expected, 200);
        mpfr_set_ui(expected, 0, MPFR_RNDN);
        add_corner(expected, u1, v1, 1);
        add_corner(expected, u0, v1, -1);
        add_corner(expected, u1, v0, -1);
        add_corner(expected, u0, v0, 1);
        const double got = angle_of_rectangle(u0, v0, u1, v1);
        if (!(distance(got, expected) <= 16))
            fail_msg("rectangle at (%a, %a), 1/%g of a face: %a", u0, v0, side, got);
        mpfr_clear(expected);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Texels
 * ------------------------------------------------------------------------------------------------------------------ */

static const struct {
    layout form;
    uint32_t rows;
} SHAPES[] = {{PANORAMA, 1}, {PANORAMA, 2}, {PANORAMA, 3}, {PANORAMA, 64}, {PANORAMA, 101}, {PANORAMA, 256},
              {CUBE, 1},     {CUBE, 2},     {CUBE, 3},     {CUBE, 64},     {CUBE, 101},     {CUBE, 128}};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

static void make(const char *name, layout form, uint32_t rows, environment *map) {
    require(analytic_map(analytic_find(name), form, rows, map, &why));
}

/* Solid angles add up to 4 pi, directions have length 1. Each solid angle is right to a few units in the last place, and
 * the sum is exact, so what is missing is a few units too. */
static void sphere_is_covered(void **state) {
    (void)state;
    for (size_t s = 0; s < SHAPE_COUNT; s++) {
        environment map;
        make("constant", SHAPES[s].form, SHAPES[s].rows, &map);
        const size_t count = environment_count(&map);
        double *angles = malloc(count * sizeof *angles), sum;
        assert_non_null(angles);
        for (size_t i = 0; i < count; i++) {
            double direction[3];
            environment_texel(&map, i, direction, &angles[i]);
            const double length =
                direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2];
            assert_true(fabs(length - 1) < 0x1p-49);
            assert_true(angles[i] > 0);
        }
        test_status(reduct_sum_f64(angles, count, &sum), REDUCT_OK);
        if (!(fabs(sum - 4 * PI) <= 16 * 0x1p-53 * 4 * PI))
            fail_msg("%s of %u rows: solid angles add up to %a", map.layout == CUBE ? "cube" : "panorama",
                     (unsigned)SHAPES[s].rows, sum);
        free(angles);
        environment_free(&map);
    }
}

/* Looking in the direction of the middle of a texel shows that texel. */
static void looking_finds_texels(void **state) {
    (void)state;
    for (size_t s = 0; s < SHAPE_COUNT; s++) {
        environment map;
        make("gradient", SHAPES[s].form, SHAPES[s].rows, &map);
        for (size_t i = 0; i < environment_count(&map); i += 1 + i / 64) {
            double direction[3], solid_angle, colour[CHANNELS];
            environment_texel(&map, i, direction, &solid_angle);
            environment_look(&map, direction, colour);
            for (int c = 0; c < CHANNELS; c++)
                assert_true(fabs(colour[c] - (double)map.image.channel[c][i]) < 1e-6);
        }
        environment_free(&map);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Coefficients
 * ------------------------------------------------------------------------------------------------------------------ */

static void project_on(const environment *map, const char *device, unsigned threads, coefficients *result) {
    const dots_request request = {device, threads};
    weights table;
    dots_used used;
    require(weights_tabulate(map, &table, &why));
    require(project(map, &table, &request, result, &used, &why));
    weights_free(&table);
}

/* What a midpoint rule with exact solid angles may be off by, for an integrand f that is at most F in magnitude and, on
 * every great circle and circle of latitude, a trigonometric polynomial of degree d, whose n-th derivatives are then at
 * most d^n F (Bernstein). Per texel, by Taylor's formula about its middle, with a half of its width:
 *
 *   panorama  first order: the middle is not the centroid; |integral of s sin(t + s) ds| = |cos t| 2 (sin a - a cos a) <=
 *             2 a^3 / 3, times dF, times a width 2 a; pi^2 / (2 a^2) texels:                       2 pi^2 / 3 d F a^2
 *             second order: 1/2 d^2 F times the mean of s^2 + 2 |s t| + t^2, at most 7/6 a^2:      7 pi / 3 d^2 F a^2
 *   cube      first order: the density (1 + r^2)^-3/2 of the solid angle falls by at most 3/2 of itself per unit, times
 *             the mean of s^2, a^2 / 3, times dF; times the sphere:                                2 pi d F a^2
 *             second order: along a line of the plane f's second derivative is at most (d^2 + d) F, as a line runs over
 *             a great circle with speed and acceleration at most 1:                                4 pi / 3 (d^2 + d) F a^2
 *             and a tenth for third orders.
 *
 * A cosine lobe is a polynomial but for a kink along a great circle. Texels on it, within 2 sqrt(2) a, deviate from that
 * by at most sqrt(2) a times the harmonic: 16 pi F a^2 more at most.
 * Rounding weights and light to float adds 2^-23 times the integral of |f|. */
static double bound(layout form, uint32_t rows, double degree, double most, bool kink) {
    const double a = form == PANORAMA ? PI / (2.0 * rows) : 1.0 / rows;
    const double smooth = form == PANORAMA ? 2 * PI * PI / 3 * degree + 7 * PI / 3 * degree * degree
                                           : 1.1 * (2 * PI * degree + 4 * PI / 3 * (degree * degree + degree));
    return most * (a * a * (smooth + (kink ? 16 * PI : 0)) + 0x1p-23 * 4 * PI);
}

/* Lights with their degree and greatest value per channel. */
static const struct {
    const char *name;
    int degree;
    double most[CHANNELS];
    bool kink;
} KNOWN[] = {{"constant", 0, {1, 0.5, 0.25}, false},
             {"gradient", 1, {1, 1, 1}, false},
             {"harmonic", 2, {1.5, 2, 2}, false},
             {"cosine", 1, {1, 1, 1}, true}};

static void check_known(size_t light, layout form, uint32_t rows) {
    static const double MOST[HARMONICS] = {1, 1, 1, 1, 0.5, 0.5, 2, 0.5, 1}; /* of the polynomials */
    environment map;
    coefficients got, expected;
    make(KNOWN[light].name, form, rows, &map);
    project_on(&map, "auto", 0, &got);
    analytic_coefficients(analytic_find(KNOWN[light].name), &expected);
    for (int k = 0; k < HARMONICS; k++) {
        for (int c = 0; c < CHANNELS; c++) {
            const double degree = KNOWN[light].degree + (k == 0 ? 0 : k < 4 ? 1 : 2);
            const double most = KNOWN[light].most[c] * MOST[k] * harmonic_factor(k);
            const double allowed = bound(form, rows, degree, most, KNOWN[light].kink);
            if (!(fabs(got.of[k][c] - expected.of[k][c]) <= allowed))
                fail_msg("%s, %s of %u rows, %s, channel %d: %.17g; expected %.17g +- %.2g", KNOWN[light].name,
                         form == CUBE ? "cube" : "panorama", (unsigned)rows, harmonic_name(k), c, got.of[k][c],
                         expected.of[k][c], allowed);
        }
    }
    environment_free(&map);
}

static void closed_forms(void **state) {
    (void)state;
    for (size_t light = 0; light < sizeof KNOWN / sizeof *KNOWN; light++) {
        for (size_t s = 0; s < SHAPE_COUNT; s++)
            check_known(light, SHAPES[s].form, SHAPES[s].rows);
    }
}

/* The greatest error among all coefficients. */
static double worst(const char *name, layout form, uint32_t rows) {
    environment map;
    coefficients got, expected;
    double most = 0;
    make(name, form, rows, &map);
    project_on(&map, "auto", 0, &got);
    analytic_coefficients(analytic_find(name), &expected);
    for (int i = 0; i < HARMONICS * CHANNELS; i++)
        most = fmax(most, fabs((&got.of[0][0])[i] - (&expected.of[0][0])[i]));
    environment_free(&map);
    return most;
}

/* Twice as many rows leave a quarter of the error: what is left is the discretisation and nothing else. */
static void converges(void **state) {
    (void)state;
    static const char *const NAMES[] = {"gradient", "harmonic", "cosine", "sky"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        for (int form = PANORAMA; form <= CUBE; form++) {
            const double coarse = worst(NAMES[i], (layout)form, 96), fine = worst(NAMES[i], (layout)form, 192);
            if (!(fine <= coarse / 3.3 + 0x1p-22))
                fail_msg("%s, %s: off by %g with 96 rows, by %g with 192", NAMES[i], form == CUBE ? "cube" : "panorama",
                         coarse, fine);
        }
    }
}

/* A light that is the same from both sides cancels in odd bands, to the last bit. */
static void symmetry_is_exact(void **state) {
    (void)state;
    static const int ODD[] = {1, 2, 3, 4, 5, 7};
    for (size_t s = 0; s < SHAPE_COUNT; s++) {
        environment map;
        coefficients got;
        make("constant", SHAPES[s].form, SHAPES[s].rows, &map);
        project_on(&map, "auto", 0, &got);
        for (size_t i = 0; i < sizeof ODD / sizeof *ODD; i++) {
            for (int c = 0; c < CHANNELS; c++)
                assert_true(got.of[ODD[i]][c] == 0);
        }
        environment_free(&map);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Dot products
 * ------------------------------------------------------------------------------------------------------------------ */

/* The sky, or light over all exponents of a float with negative numbers among it. */
static void wild_map(layout form, uint32_t rows, bool wild, environment *map) {
    struct rng rng = rng_of(test_seed());
    make("sky", form, rows, map);
    for (size_t i = 0; wild && i < CHANNELS * environment_count(map); i++) {
        const uint64_t bits = rng_next(&rng);
        map->image.channel[0][i] = ldexpf((float)(int32_t)(uint32_t)bits, (int)(bits >> 32) % 120 - 60);
    }
}

static void compare_devices(const environment *map, const coefficients *expected) {
    const char *devices[TEST_MAX_DEVICES];
    const size_t count = test_devices(devices);
    for (size_t d = 0; d < count; d++) {
        for (unsigned threads = 0; threads < 6; threads++) {
            coefficients got;
            project_on(map, devices[d], threads, &got);
            if (memcmp(&got, expected, sizeof got) != 0)
                fail_msg("other bits on %s with %u threads", devices[d], threads);
        }
    }
}

static void bits_of_the_oracle(void **state) {
    (void)state;
    const reduct_reduction dot = {.op = REDUCT_DOT, .element = REDUCT_F32, .result = REDUCT_F64};
    for (int wild = 0; wild < 2; wild++) {
        environment map;
        weights table;
        coefficients expected;
        wild_map(PANORAMA, (uint32_t)test_scaled(256, 32), wild, &map);
        require(weights_tabulate(&map, &table, &why));
        for (int k = 0; k < HARMONICS; k++) {
            for (int c = 0; c < CHANNELS; c++) {
                struct oracle oracle;
                oracle_init(&oracle);
                oracle_read(&oracle, REDUCT_F32, table.of[k], map.image.channel[c], table.count);
                const struct oracle_result result = oracle_expect(&oracle, &dot);
                memcpy(&expected.of[k][c], result.bytes, sizeof(double));
                oracle_clear(&oracle);
            }
        }
        compare_devices(&map, &expected);
        weights_free(&table);
        environment_free(&map);
    }
}

static void unknown_device(void **state) {
    (void)state;
    environment map;
    weights table;
    coefficients result;
    dots_used used;
    const dots_request request = {"abacus:0", 0};
    make("sky", CUBE, 4, &map);
    require(weights_tabulate(&map, &table, &why));
    assert_false(project(&map, &table, &request, &result, &used, &why));
    assert_non_null(strstr(why.text, "abacus:0"));
    weights_free(&table);
    environment_free(&map);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Vulkan
 * ------------------------------------------------------------------------------------------------------------------ */

#ifdef HARMONICS_HAS_VULKAN
/* Light that is none: a NaN, an infinity, infinities of both signs, in a channel each. */
static void add_specials(environment *map) {
    const size_t last = environment_count(map) - 1;
    map->image.channel[0][last / 3] = NAN;
    map->image.channel[1][last / 2] = INFINITY;
    map->image.channel[2][0] = INFINITY;
    map->image.channel[2][last] = -INFINITY;
}

static void compare_with_cpu(const environment *map, const char *what) {
    coefficients expected, got;
    project_on(map, "cpu:portable", 1, &expected);
    project_on(map, "vulkan:0", 0, &got);
    if (memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s of %zu texels: other bits on vulkan:0", what, environment_count(map));
}

static void bits_on_vulkan(void **state) {
    (void)state;
    const size_t step = test_scale() < 0.5 ? 4 : 1; /* some devices are slow to start */
    for (size_t s = step / 2; s < SHAPE_COUNT; s += step) {
        environment map;
        wild_map(SHAPES[s].form, SHAPES[s].rows, true, &map);
        compare_with_cpu(&map, "wild light");
        if (s % 3 == 1 || step > 1) {
            add_specials(&map);
            compare_with_cpu(&map, "NaN and infinities");
        }
        environment_free(&map);
    }
}

static void compare_window(vulkan_lab *lab, const environment *map, const weights *table, vulkan_exact_window window,
                           const coefficients *expected) {
    const uint64_t bytes = table->count * sizeof(float), pieces = 4096;
    for (int i = 0; i < HARMONICS * CHANNELS; i++) {
        char text[240];
        double got;
        const int k = i / CHANNELS, c = i % CHANNELS;
        gpu_vulkan_input factors = gpu_vulkan_input_create(lab->device, table->of[k], bytes, false, pieces);
        gpu_vulkan_input light = gpu_vulkan_input_create(lab->device, map->image.channel[c], bytes, false, pieces);
        vulkan_exact *exact = vulkan_exact_create_dot(lab, &factors, &light, window, text, sizeof text);
        if (!exact)
            fail_msg("%s", text);
        vulkan_exact_run(exact, 0);
        vulkan_exact_result(exact, &got);
        if (memcmp(&got, &expected->of[k][c], sizeof got) != 0)
            fail_msg("window %d, %s, channel %d: %a instead of %a", (int)window, harmonic_name(k), c, got,
                     expected->of[k][c]);
        vulkan_exact_destroy(exact);
        gpu_vulkan_input_destroy(lab->device, &light);
        gpu_vulkan_input_destroy(lab->device, &factors);
    }
}

/* Both windows of the shaders, whichever the device is better with, on arrays in pieces. */
static void windows_on_vulkan(void **state) {
    (void)state;
    vulkan_lab lab;
    reduct_error error;
    if (vulkan_lab_open(&lab, "vulkan:0", VULKAN_GLSL, &error) != REDUCT_OK)
        fail_msg("%s", error.message);
    print_message("%s: f64 %s\n", lab.facts->name, lab.facts->f64 ? "yes" : "no, so no window in f64");
    for (int wild = 0; wild < 2; wild++) {
        environment map;
        weights table;
        coefficients expected;
        wild_map(wild ? CUBE : PANORAMA, 61, wild, &map);
        require(weights_tabulate(&map, &table, &why));
        project_on(&map, "cpu:portable", 1, &expected);
        compare_window(&lab, &map, &table, VULKAN_EXACT_U32, &expected);
        if (lab.facts->f64)
            compare_window(&lab, &map, &table, VULKAN_EXACT_F64, &expected);
        weights_free(&table);
        environment_free(&map);
    }
    vulkan_lab_close(&lab);
}

static int test_vulkan(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_on_vulkan), cmocka_unit_test(windows_on_vulkan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static int test_vulkan(void) {
    print_error("this build has no Vulkan\n");
    return 1;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------------------------------ */

/* A file as bytes in memory of exactly its size, for the address sanitizer. */
static unsigned char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_map(const environment *map, unsigned char **bytes, size_t *size) {
    char path[] = "/tmp/harmonics-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    require(hdr_write(path, &map->image, &why));
    *bytes = slurp(path, size);
    remove(path);
}

/* What is written reads back within half a step of the largest channel's eight bits. */
static void hdr_round_trip(void **state) {
    (void)state;
    static const uint32_t ROWS[] = {1, 3, 4, 64, 200}; /* rows of less than 8 pixels are not run-length encoded */
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        environment map;
        image back;
        unsigned char *bytes;
        size_t size;
        make("sky", PANORAMA, ROWS[i], &map);
        write_map(&map, &bytes, &size);
        require(hdr_decode(bytes, size, &back, &why));
        assert_true(back.width == map.image.width && back.height == map.image.height);
        for (size_t p = 0; p < image_pixels(&back); p++) {
            float largest = 0;
            for (int c = 0; c < CHANNELS; c++)
                largest = fmaxf(largest, map.image.channel[c][p]);
            for (int c = 0; c < CHANNELS; c++)
                assert_true(fabsf(back.channel[c][p] - fmaxf(0, map.image.channel[c][p])) <= largest / 256);
        }
        image_free(&back);
        free(bytes);
        environment_free(&map);
    }
}

/* Cut short anywhere, it is refused, with words. */
static void hdr_cut_short(void **state) {
    (void)state;
    environment map;
    unsigned char *bytes;
    size_t size;
    make("sky", PANORAMA, 8, &map);
    write_map(&map, &bytes, &size);
    for (size_t cut = 0; cut < size; cut++) {
        image none = {0};
        unsigned char *part = malloc(cut + 1);
        assert_non_null(part);
        memcpy(part, bytes, cut);
        why.text[0] = 0;
        assert_false(hdr_decode(part, cut, &none, &why));
        assert_true(strlen(why.text) > 10 && !none.channel[0]);
        free(part);
    }
    free(bytes);
    environment_free(&map);
}

/* Repeats of the old kind: 1, 1, 1, n repeats the pixel before, further ones count 256 times as much. */
static void hdr_old_runs(void **state) {
    (void)state;
    static const char HEAD[] = "#?RGBE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 600\n";
    static const unsigned char PIXELS[] = {128, 64, 32, 129, 1, 1, 1, 86, 1, 1, 1, 2, 10, 20, 30, 128};
    unsigned char bytes[sizeof HEAD - 1 + sizeof PIXELS];
    image map;
    memcpy(bytes, HEAD, sizeof HEAD - 1);
    memcpy(bytes + sizeof HEAD - 1, PIXELS, sizeof PIXELS);
    require(hdr_decode(bytes, sizeof bytes, &map, &why)); /* 1 + 86 + 2 * 256 + 1 = 600 */
    for (size_t i = 0; i < 599; i++)
        assert_true(map.channel[0][i] == 1 && map.channel[1][i] == 0.5F && map.channel[2][i] == 0.25F);
    assert_true(map.channel[0][599] == 10 / 256.0F);
    image_free(&map);
}

static void policies(void **state) {
    (void)state;
    static const float BAD[] = {NAN, INFINITY, -INFINITY, -1};
    for (int policy = INVALID_ERROR; policy <= INVALID_KEEP; policy++) {
        for (int b = 0; b < 4; b++) {
            environment map;
            invalid_pixels found = {0};
            make("constant", PANORAMA, 4, &map);
            map.image.channel[1][13] = BAD[b];
            const bool refused = policy == INVALID_ERROR && b < 3;
            assert_true(image_sanitise(&map.image, "map", (invalid_policy)policy, &found, &why) == !refused);
            const float now = map.image.channel[1][13];
            assert_true(policy == INVALID_ZERO ? now == 0 : memcmp(&now, &BAD[b], sizeof now) == 0);
            assert_true(refused ||
                        (found.nan == (b == 0) && found.infinite == (b == 1 || b == 2) && found.negative == (b == 3)));
            assert_true(!refused || strstr(why.text, "map: green of the pixel in column 5, row 1 is"));
            environment_free(&map);
        }
    }
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "vulkan") == 0)
        return test_vulkan();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns),
        cmocka_unit_test(rectangles),
        cmocka_unit_test(sphere_is_covered),
        cmocka_unit_test(looking_finds_texels),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(converges),
        cmocka_unit_test(symmetry_is_exact),
        cmocka_unit_test(bits_of_the_oracle),
        cmocka_unit_test(unknown_device),
        cmocka_unit_test(hdr_round_trip),
        cmocka_unit_test(hdr_cut_short),
        cmocka_unit_test(hdr_old_runs),
        cmocka_unit_test(policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
