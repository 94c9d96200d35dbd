/* Command lines: one table of options, from which they are read, and help and usage written.
 *
 * Reading is getopt_long()'s, which glibc, musl, macOS and the BSDs all have: options may be abbreviated and may follow
 * other arguments, and -- ends them. One that has a value is given once, as the other value would be lost. Every program also has --help, -h and -?, --usage, and --version and -V where it
 * says its version. */
#ifndef PROGRAM_COMMAND_LINE_H
#define PROGRAM_COMMAND_LINE_H

#include <stdio.h>

typedef struct program_option {
    const char *name;     /* the long one; null for the heading of a group, which `text` is */
    int key;              /* what take() gets, also the short option where it is a character; 0: the one before's */
    const char *argument; /* what the help calls its value; null if it takes none */
    const char *text;
} program_option;

/* Room for the values that an option can have. */
#define PROGRAM_VALUES 512

typedef struct program_command {
    const char *name;      /* in usage and messages: the program's, and a word more for a part of it: "reduct sum" */
    const char *version;   /* of the program, such as "1.2.3"; null: it does not say */
    const char *arguments; /* other than options, such as "[FILE...]"; lines are alternatives; null if there are none */
    const char *about;     /* in the help before the options, or null */
    const char *notes;     /* after them, or null */
    const program_option *options; /* as they are shown, up to one without name and text */

    const int *several; /* keys of options that may be given several times, then 0; null for none */

    /* Takes an option, `value` being null if it has none. Returns 0, or the exit status after saying what is wrong. */
    int (*take)(int key, char *value, void *state);

    /* What ends an option's text in the help, such as "one, two or three"; null if nothing does. May be null. */
    const char *(*values)(int key, char room[PROGRAM_VALUES]);
} program_command;

/* Reads a command line, whose first argument is passed over. Moves what is no option to the end of `argv`, where it
 * begins at `*rest`. Returns 0, or the exit status after saying what is wrong; --help, --usage and --version end the
 * program with status 0. */
int program_command_read(const program_command *command, int argc, char **argv, void *state, int *rest);

/* Says what is wrong with a command line, what is not printable escaped, and where there is help. Returns the exit
 * status, 2. */
int program_command_refuse(const program_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The options with their headings, and the notes. */
void program_command_write_options(const program_command *command, FILE *stream);

/* All options on a few lines. */
void program_command_write_usage(const program_command *command, FILE *stream);

#endif
