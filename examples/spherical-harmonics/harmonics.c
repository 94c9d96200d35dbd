/* The first nine real spherical harmonics: see harmonics.h. */
#include "harmonics.h"

#include "angle.h"

#include <math.h>

static const char *const NAMES[HARMONICS] = {"Y(0,0)",  "Y(1,-1)", "Y(1,0)", "Y(1,1)", "Y(2,-2)",
                                             "Y(2,-1)", "Y(2,0)",  "Y(2,1)", "Y(2,2)"};
static const char *const FORMULAS[HARMONICS] = {"1", "y", "z", "x", "x y", "y z", "3 z^2 - 1", "x z", "x^2 - y^2"};

const char *harmonic_name(int k) {
    return NAMES[k];
}

const char *harmonic_formula(int k) {
    return FORMULAS[k];
}

/* The integral of the square of a harmonic over the sphere is 1. */
double harmonic_factor(int k) {
    static const double SQUARES[HARMONICS] = {1, 3, 3, 3, 15, 15, 1.25, 15, 3.75}; /* times 4 pi */
    return sqrt(SQUARES[k] / (4 * PI));
}

void harmonic_polynomials(const double direction[3], double values[HARMONICS]) {
    const double x = direction[0], y = direction[1], z = direction[2];
    values[0] = 1;
    values[1] = y;
    values[2] = z;
    values[3] = x;
    values[4] = x * y;
    values[5] = y * z;
    values[6] = 3 * (z * z) - 1;
    values[7] = x * z;
    values[8] = x * x - y * y;
}

void harmonics_at(const double direction[3], double values[HARMONICS]) {
    harmonic_polynomials(direction, values);
    for (int k = 0; k < HARMONICS; k++)
        values[k] *= harmonic_factor(k);
}

double cosine_of_band(int k) {
    return k == 0 ? PI : k < 4 ? 2 * PI / 3 : PI / 4;
}

double radiance(const coefficients *light, int channel, const double direction[3]) {
    double values[HARMONICS], sum = 0;
    harmonics_at(direction, values);
    for (int k = 0; k < HARMONICS; k++)
        sum += light->of[k][channel] * values[k];
    return sum;
}

double irradiance(const coefficients *light, int channel, const double normal[3]) {
    double values[HARMONICS], sum = 0;
    harmonics_at(normal, values);
    for (int k = 0; k < HARMONICS; k++)
        sum += cosine_of_band(k) * light->of[k][channel] * values[k];
    return sum;
}
