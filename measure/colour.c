/* Escape sequences of ECMA-48, the few that every terminal knows. */
#include "measure/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int measure_has_colour(FILE *stream) {
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (refused && *refused)
        return 0;
    return isatty(fileno(stream)) && terminal && strcmp(terminal, "dumb") != 0;
}

const char *measure_style_on(FILE *stream, measure_style style) {
    static const char *const sequences[] = {
        [MEASURE_PLAIN] = "\033[0m", [MEASURE_BOLD] = "\033[1m", [MEASURE_DIM] = "\033[2m",
        [MEASURE_GOOD] = "\033[32m", [MEASURE_BAD] = "\033[31m",
    };
    return measure_has_colour(stream) ? sequences[style] : "";
}
