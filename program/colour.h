/* Colour on terminals: none in files and pipes, none when NO_COLOR is set (https://no-color.org). */
#ifndef PROGRAM_COLOUR_H
#define PROGRAM_COLOUR_H

#include <stdio.h>

typedef enum program_style {
    PROGRAM_PLAIN, /* back to normal */
    PROGRAM_BOLD,
    PROGRAM_DIM,
    PROGRAM_GOOD,
    PROGRAM_BAD
} program_style;

/* 1 if `stream` may be coloured: it is a terminal other than a dumb one, and NO_COLOR is unset or empty. */
int program_has_colour(FILE *stream);

/* The escape sequence that switches `stream` to a style; empty where it may not be coloured. Static storage. */
const char *program_style_on(FILE *stream, program_style style);

#endif
