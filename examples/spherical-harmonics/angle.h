/* Sines, cosines and solid angles from additions, products, quotients and square roots alone.
 *
 * IEEE 754 rounds those correctly everywhere, so the results have the same bits on every machine. The C library's sin()
 * and atan() promise nothing of the kind: with them, two systems would start from different tables, and no sum however
 * exact could agree afterwards. */
#ifndef HARMONICS_ANGLE_H
#define HARMONICS_ANGLE_H

#include <stdint.h>

#define PI 3.14159265358979323846

/* Sine and cosine of `numerator` / `denominator` of a full turn. Symmetric to the bit: angles that mirror each other
 * have the same magnitudes. denominator < 2^60. */
void angle_of_turn(uint64_t numerator, uint64_t denominator, double *sine, double *cosine);

/* Solid angle of the rectangle u0..u1, v0..v1 on the face of a cube whose faces are at distance 1 and reach from -1 to
 * 1. Without cancellation, so a small texel keeps its digits. */
double angle_of_rectangle(double u0, double v0, double u1, double v1);

#endif
