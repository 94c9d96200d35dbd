/* The list of figures: see figures.def. */
#include "measure/figures.h"

#include <stddef.h>

const measure_figure_facts measure_figures[MEASURE_FIGURES] = {
#define MEASURE_FIGURE(ID, field, heading, KIND, PLACE, unit) {field, heading, MEASURE_##KIND, MEASURE_##PLACE, unit},
#include "measure/figures.def"
};
