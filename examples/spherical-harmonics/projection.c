/* The projection: see projection.h. */
#include "projection.h"

#include <stdlib.h>

bool weights_tabulate(const environment *shape, weights *table, problem *why) {
    const size_t count = environment_count(shape);
    float *memory = malloc(HARMONICS * count * sizeof *memory);
    if (!memory)
        return refuse(why, "no memory for the weights of %zu texels", count);
    table->count = count;
    for (size_t k = 0; k < HARMONICS; k++)
        table->of[k] = memory + k * count;
    for (size_t i = 0; i < count; i++) {
        double direction[3], values[HARMONICS], solid_angle;
        environment_texel(shape, i, direction, &solid_angle);
        harmonics_at(direction, values);
        for (size_t k = 0; k < HARMONICS; k++)
            table->of[k][i] = (float)(values[k] * solid_angle);
    }
    return true;
}

void weights_free(weights *table) {
    free(table->of[0]);
    *table = (weights){0};
}

bool project(const environment *light, const weights *table, const dots_request *request, coefficients *result,
             dots_used *used, problem *why) {
    const dots_input input = {.count = table->count,
                              .left = (const float *const *)table->of,
                              .lefts = HARMONICS,
                              .right = (const float *const *)light->image.channel,
                              .rights = CHANNELS};
    return dots(request, &input, &result->of[0][0], used, why);
}

void project_plainly(const environment *light, const weights *table, bool backwards, coefficients *result) {
    for (int k = 0; k < HARMONICS; k++) {
        for (int c = 0; c < CHANNELS; c++) {
            float sum = 0;
            for (size_t i = 0; i < table->count; i++) {
                const size_t at = backwards ? table->count - 1 - i : i;
                sum += table->of[k][at] * light->image.channel[c][at];
            }
            result->of[k][c] = (double)sum;
        }
    }
}
