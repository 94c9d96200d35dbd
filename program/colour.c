/* Escape sequences of ECMA-48, the few that every terminal knows. */
#include "program/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int program_has_colour(FILE *stream) {
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (refused && *refused)
        return 0;
    return isatty(fileno(stream)) && terminal && strcmp(terminal, "dumb") != 0;
}

const char *program_style_on(FILE *stream, program_style style) {
    static const char *const sequences[] = {
        [PROGRAM_PLAIN] = "\033[0m", [PROGRAM_BOLD] = "\033[1m", [PROGRAM_DIM] = "\033[2m",
        [PROGRAM_GOOD] = "\033[32m", [PROGRAM_BAD] = "\033[31m",
    };
    return program_has_colour(stream) ? sequences[style] : "";
}
