/* Light whose coefficients are known: to test the projection, and to have a map without downloading one.
 *
 * Each is a sum of harmonics, whose coefficients are what they are, and of lobes max(0, n . d)^p about a direction d.
 * By the theorem of Funk and Hecke a lobe has the coefficients
 *
 *   Y_lm(d) * 2 pi * integral from 0 to 1 of t^p P_l(t) dt,   P_l: Legendre's polynomials 1, t, (3 t^2 - 1) / 2
 */
#ifndef HARMONICS_ANALYTIC_H
#define HARMONICS_ANALYTIC_H

#include "environment.h"

typedef struct analytic analytic;

/* The light of this name, or null. */
const analytic *analytic_find(const char *name);

/* "constant, gradient, harmonic, cosine or sky". */
const char *analytic_names(void);

/* Name of light number i, null after the last, and one line about it. */
const char *analytic_name(size_t i);
const char *analytic_text(size_t i);

void analytic_light(const analytic *light, const double direction[3], double colour[CHANNELS]);

/* What the projection would give with infinitely many texels. */
void analytic_coefficients(const analytic *light, coefficients *result);

/* Fills a map of 2 * rows x rows pixels, or a cube with faces of rows x rows. */
bool analytic_map(const analytic *light, layout form, uint32_t rows, environment *map, problem *why);

#endif
