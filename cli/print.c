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

void print_result(reduct_type type, const void *value, bool hex) {
    char text[NUMBER_TEXT];
    number_format(type, value, hex, text);
    puts(text);
}

enum outcome print_finish(void) {
    errno = 0;
    bool failed = ferror(stdout) || fclose(stdout) != 0; /* closing tells more than flushing */
    if (failed)
        return fail("standard output: %s", errno ? strerror(errno) : "could not be written");
    return DONE;
}
