/* Results on standard output: see print.h. */
#include "print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "number.h"

void print_prepare(void) {
    static char buffer[1 << 16];
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

void print_numbers(reduct_type type, const void *values, int count, bool hex) {
    char text[NUMBER_TEXT];
    for (int i = 0; i < count; i++) {
        number_format(type, (const char *)values + (size_t)i * reduct_type_size(type), hex, text);
        if (i)
            putchar(' ');
        fputs(text, stdout);
    }
}

void print_missing(const char *text, int count) {
    for (int i = 0; i < count; i++) {
        if (i)
            putchar(' ');
        fputs(text, stdout);
    }
}

enum outcome print_finish(void) {
    errno = 0;
    bool failed = ferror(stdout) || fclose(stdout) != 0; /* closing tells more than flushing */
    if (failed)
        return fail("standard output: %s", errno ? strerror(errno) : "could not be written");
    return DONE;
}
