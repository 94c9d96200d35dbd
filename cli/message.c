/* Messages on standard error: see message.h. */
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "progress.h"

static bool is_silent;

bool message_silence(bool silent) {
    bool before = is_silent;
    is_silent = silent;
    return before;
}

static void say(const char *format, va_list arguments) {
    if (is_silent)
        return;
    progress_erase();
    fputs("reduct: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

enum outcome fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return FAILED;
}

enum outcome misuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    if (!is_silent)
        fputs("Try 'reduct --help' for more information.\n", stderr);
    return MISUSED;
}

enum outcome fail_memory(void) {
    return fail("%s", strerror(ENOMEM));
}

const char *quote(char quoted[QUOTED], const char *text, size_t size) {
    enum { SHOWN = 40 }; /* four characters each at most */
    char *out = quoted;
    *out++ = '\'';
    for (size_t i = 0; i < size && i < SHOWN; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c < 0x7f)
            *out++ = (char)c;
        else
            out += snprintf(out, 5, "\\x%02x", c);
    }
    strcpy(out, size > SHOWN ? "'..." : "'");
    return quoted;
}
