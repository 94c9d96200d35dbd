/* Sines, cosines and solid angles: see angle.h. */
#include "angle.h"

#include <math.h>

/* Sine and cosine of 0 <= x <= pi/4, by their Taylor series: the first term left out is below 2^-56. */
static void first_octant(double x, double *sine, double *cosine) {
    const double y = -x * x;
    double s = 1, c = 1;
    for (int k = 16; k > 0; k -= 2) {
        s = 1 + y / (k * (k + 1)) * s;
        c = 1 + y / ((k - 1) * k) * c;
    }
    *sine = x * s;
    *cosine = c;
}

void angle_of_turn(uint64_t numerator, uint64_t denominator, double *sine, double *cosine) {
    const uint64_t eighths = numerator % denominator * 8;
    const uint64_t octant = eighths / denominator, rest = eighths % denominator;
    /* Odd octants are measured back from their end, so that every octant uses the same arguments. */
    const uint64_t within = octant % 2 ? denominator - rest : rest;
    double s, c;
    first_octant((double)within / (double)denominator * (PI / 4), &s, &c);
    const double ahead = octant % 4 == 0 || octant % 4 == 3 ? c : s; /* |cosine| */
    const double aside = octant % 4 == 0 || octant % 4 == 3 ? s : c; /* |sine| */
    *cosine = octant >= 2 && octant < 6 ? -ahead : ahead;
    *sine = octant >= 4 ? -aside : aside;
}

/* Arc tangent of 0 <= x <= 1: the angle is halved three times, to below 0.1, where 9 terms of the series suffice. */
static double arc_tangent(double x) {
    for (int i = 0; i < 3; i++)
        x = x / (1 + sqrt(1 + x * x));
    const double y = -x * x;
    double sum = 1.0 / 17;
    for (int k = 15; k > 0; k -= 2)
        sum = 1.0 / k + y * sum;
    return 8 * x * sum;
}

/* Solid angle of the triangle whose corners are (x, y, 1) for each of three, by the formula of Van Oosterom and
 * Strackee (1983); `twice` is twice its area in the plane, which is the determinant of the corners. */
static double triangle(double twice, const double a[2], const double b[2], const double c[2]) {
    const double la = sqrt(a[0] * a[0] + a[1] * a[1] + 1);
    const double lb = sqrt(b[0] * b[0] + b[1] * b[1] + 1);
    const double lc = sqrt(c[0] * c[0] + c[1] * c[1] + 1);
    const double ab = a[0] * b[0] + a[1] * b[1] + 1;
    const double bc = b[0] * c[0] + b[1] * c[1] + 1;
    const double ca = c[0] * a[0] + c[1] * a[1] + 1;
    return 2 * arc_tangent(twice / (la * lb * lc + ab * lc + bc * la + ca * lb));
}

double angle_of_rectangle(double u0, double v0, double u1, double v1) {
    const double twice = (u1 - u0) * (v1 - v0);
    const double corners[4][2] = {{u0, v0}, {u1, v0}, {u1, v1}, {u0, v1}};
    return triangle(twice, corners[0], corners[1], corners[2]) + triangle(twice, corners[0], corners[2], corners[3]);
}
