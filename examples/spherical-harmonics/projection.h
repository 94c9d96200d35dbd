/* The projection: nine tables of weights, then 27 dot products.
 *
 *   coefficient of Y_lm = integral of light * Y_lm over the sphere = sum over texels of light * (Y_lm * solid angle)
 */
#ifndef HARMONICS_PROJECTION_H
#define HARMONICS_PROJECTION_H

#include "dots.h"
#include "environment.h"

/* Y_lm * solid angle for every texel of a layout and size, rounded once to float: computed once, used for every map of
 * that shape. Free with weights_free(). */
typedef struct weights {
    size_t count;
    float *of[HARMONICS];
} weights;

bool weights_tabulate(const environment *shape, weights *table, problem *why);
void weights_free(weights *table);

/* Projects light on the nine harmonics by one way of computing dot products. */
bool project(const environment *light, const weights *table, const dots_request *request, coefficients *result,
             dots_used *used, problem *why);

/* The same by a plain loop over floats, as one would first write it: for comparison. Backwards: from the last texel. */
void project_plainly(const environment *light, const weights *table, bool backwards, coefficients *result);

#endif
