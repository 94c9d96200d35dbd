/* Why something cannot be done: see problem.h. */
#include "problem.h"

#include <stdarg.h>
#include <stdio.h>

bool refuse(problem *why, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return false;
}
