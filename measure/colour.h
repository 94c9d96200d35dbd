/* Colour on terminals: none in files and pipes, none when NO_COLOR is set (https://no-color.org). */
#ifndef MEASURE_COLOUR_H
#define MEASURE_COLOUR_H

#include <stdio.h>

typedef enum measure_style {
    MEASURE_PLAIN, /* back to normal */
    MEASURE_BOLD,
    MEASURE_DIM,
    MEASURE_GOOD,
    MEASURE_BAD
} measure_style;

/* 1 if `stream` may be coloured: it is a terminal other than a dumb one, and NO_COLOR is unset or empty. */
int measure_has_colour(FILE *stream);

/* The escape sequence that switches `stream` to a style; empty where it may not be coloured. Static storage. */
const char *measure_style_on(FILE *stream, measure_style style);

#endif
