/* Other programs, run to their end. */
#ifndef PROGRAM_CHILD_H
#define PROGRAM_CHILD_H

/* Everything that can be read from a file descriptor, as text, to be freed. */
char *program_read_all(int file);

/* Runs arguments[0], found as a shell would find it, and waits for its end: no longer than `seconds`, after which it is
 * ended. `*output` is what it wrote to standard output, to be freed; where `with_errors`, what it wrote to standard error as
 * well. Returns its exit status; 127 where there is no such program; -1 where it was ended, or could not be run. */
int program_run(const char *const *arguments, unsigned seconds, int with_errors, char **output);

#endif
