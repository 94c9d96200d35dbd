/* Light whose coefficients are known: see analytic.h. */
#include "analytic.h"

#include "angle.h"

#include <math.h>
#include <string.h>

enum { LOBES_MOST = 4 };

struct lobe {
    double direction[3]; /* of any length */
    int power;
    double colour[CHANNELS];
};

struct analytic {
    const char *name, *text;
    /* As multiples of the polynomials, not of the harmonics. */
    double terms[HARMONICS][CHANNELS];
    struct lobe lobes[LOBES_MOST];
};

static const struct analytic LIGHTS[] = {
    {.name = "constant", .text = "the same from everywhere: red 1, green 1/2, blue 1/4", .terms = {{1, 0.5, 0.25}}},
    {.name = "gradient",
     .text = "from 0 to 1: red towards +x, green towards +y, blue towards +z",
     .terms = {[0] = {0.5, 0.5, 0.5}, [1] = {0, 0.5, 0}, [2] = {0, 0, 0.5}, [3] = {0.5, 0, 0}}},
    {.name = "harmonic",
     .text = "1 + x y in red, 1 + (3 z^2 - 1) / 2 in green, 1 + x^2 - y^2 in blue",
     .terms = {[0] = {1, 1, 1}, [4] = {1, 0, 0}, [6] = {0, 0.5, 0}, [8] = {0, 0, 1}}},
    {.name = "cosine",
     .text = "what faces a direction: red +x, green +y, blue (1, 2, 2)",
     .lobes = {{{1, 0, 0}, 1, {1, 0, 0}}, {{0, 1, 0}, 1, {0, 1, 0}}, {{1, 2, 2}, 1, {0, 0, 1}}}},
    {.name = "sky",
     .text = "a sky, a low sun to the right, and warm ground",
     .terms = {[0] = {0.16, 0.20, 0.27}, [1] = {0.02, 0.08, 0.18}},
     .lobes = {{{2, 0.9, 2.2}, 2048, {240, 190, 110}}, /* the sun, */
               {{2, 0.7, 2.2}, 24, {1.6, 0.8, 0.25}},  /* its haze, */
               {{2, 0.3, 2.2}, 3, {0.35, 0.2, 0.1}},
               {{0, -1, 0}, 2, {0.10, 0.02, -0.06}}}}, /* and the ground */
};

enum { LIGHT_COUNT = sizeof LIGHTS / sizeof *LIGHTS };

const analytic *analytic_find(const char *name) {
    for (size_t i = 0; i < LIGHT_COUNT; i++) {
        if (strcmp(LIGHTS[i].name, name) == 0)
            return &LIGHTS[i];
    }
    return NULL;
}

const char *analytic_names(void) {
    return "constant, gradient, harmonic, cosine or sky";
}

const char *analytic_name(size_t i) {
    return i < LIGHT_COUNT ? LIGHTS[i].name : NULL;
}

const char *analytic_text(size_t i) {
    return LIGHTS[i].text;
}

static void unit(const double vector[3], double result[3]) {
    const double length = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    for (int i = 0; i < 3; i++)
        result[i] = vector[i] / length;
}

/* Products alone, so that maps have the same bytes wherever they are made. */
static double whole_power(double base, int exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2, base *= base)
        result *= exponent % 2 ? base : 1;
    return result;
}

void analytic_light(const analytic *light, const double direction[3], double colour[CHANNELS]) {
    double polynomials[HARMONICS];
    harmonic_polynomials(direction, polynomials);
    for (int c = 0; c < CHANNELS; c++) {
        colour[c] = 0;
        for (int k = 0; k < HARMONICS; k++)
            colour[c] += light->terms[k][c] * polynomials[k];
    }
    for (int i = 0; i < LOBES_MOST && light->lobes[i].power; i++) {
        const struct lobe *lobe = &light->lobes[i];
        double towards[3];
        unit(lobe->direction, towards);
        const double cosine = towards[0] * direction[0] + towards[1] * direction[1] + towards[2] * direction[2];
        const double strength = cosine > 0 ? whole_power(cosine, lobe->power) : 0;
        for (int c = 0; c < CHANNELS; c++)
            colour[c] += strength * lobe->colour[c];
    }
}

/* 2 pi times the integral from 0 to 1 of t^p P_l(t) dt, for the band l of harmonic k. */
static double lobe_of_band(int k, int power) {
    const double p = power;
    return 2 * PI * (k == 0 ? 1 / (p + 1) : k < 4 ? 1 / (p + 2) : (3 / (p + 3) - 1 / (p + 1)) / 2);
}

void analytic_coefficients(const analytic *light, coefficients *result) {
    for (int k = 0; k < HARMONICS; k++) {
        for (int c = 0; c < CHANNELS; c++)
            result->of[k][c] = light->terms[k][c] / harmonic_factor(k);
    }
    for (int i = 0; i < LOBES_MOST && light->lobes[i].power; i++) {
        const struct lobe *lobe = &light->lobes[i];
        double towards[3], values[HARMONICS];
        unit(lobe->direction, towards);
        harmonics_at(towards, values);
        for (int k = 0; k < HARMONICS; k++) {
            for (int c = 0; c < CHANNELS; c++)
                result->of[k][c] += lobe->colour[c] * lobe_of_band(k, lobe->power) * values[k];
        }
    }
}

bool analytic_map(const analytic *light, layout form, uint32_t rows, environment *map, problem *why) {
    const uint64_t width = form == PANORAMA ? 2 * (uint64_t)rows : rows;
    const uint64_t height = form == PANORAMA ? rows : (uint64_t)rows * FACES;
    map->layout = form;
    if (!image_allocate(&map->image, width, height, why))
        return false;
    for (size_t i = 0; i < environment_count(map); i++) {
        double direction[3], solid_angle, colour[CHANNELS];
        environment_texel(map, i, direction, &solid_angle);
        analytic_light(light, direction, colour);
        for (int c = 0; c < CHANNELS; c++)
            map->image.channel[c][i] = (float)colour[c];
    }
    return true;
}
