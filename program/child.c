/* Other programs: see child.h. */
#include "program/child.h"

#include "program/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

char *program_read_all(int file) {
    size_t size = 0, room = 1 << 16;
    char *text = program_reallocate(NULL, room);
    for (;;) {
        ssize_t got = read(file, text + size, room - size - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        size += (size_t)got;
        if (room - size < 2)
            text = program_reallocate(text, room *= 2);
    }
    text[size] = 0;
    return text;
}

/* In the child: becomes the program. Its alarm outlives that. */
static void become(const char *const *arguments, unsigned seconds, int with_errors, const int ends[2]) {
    dup2(ends[1], STDOUT_FILENO);
    if (with_errors)
        dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    alarm(seconds);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments); /* which does not write to them */
    _exit(127);
}

int program_run(const char *const *arguments, unsigned seconds, int with_errors, char **output) {
    int ends[2], status = -1;
    *output = NULL;
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0)
        become(arguments, seconds, with_errors, ends);
    close(ends[1]);
    *output = program_read_all(ends[0]);
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
