/* Figures that rows of reports may have besides time and bandwidth: figures.def lists them. */
#ifndef MEASURE_FIGURES_H
#define MEASURE_FIGURES_H

typedef enum measure_kind {
    MEASURE_COUNT,   /* a whole number */
    MEASURE_BYTES,   /* of memory */
    MEASURE_SHARE,   /* of a whole: 0.5 is 50% */
    MEASURE_COUNTER, /* a counter of the hardware's, or an average of one */
    MEASURE_RATIO,   /* of time to that of something else, median over the rounds; above 0 */
    MEASURE_FACTOR   /* how many times as fast as the first row of its group and type; above 0 */
} measure_kind;

typedef enum measure_place { MEASURE_LAUNCH, MEASURE_RESULT, MEASURE_HARDWARE } measure_place;

typedef enum measure_figure {
#define MEASURE_FIGURE(ID, field, heading, KIND, PLACE, unit) MEASURE_##ID,
#include "measure/figures.def"
    MEASURE_FIGURES
} measure_figure;

typedef struct measure_figure_facts {
    const char *field, *heading;
    measure_kind kind;
    measure_place place;
    const char *unit; /* or null */
} measure_figure_facts;

extern const measure_figure_facts measure_figures[MEASURE_FIGURES];

#endif
