/* The command at work: real command lines, run by the shell, with what they print. */
#include "demo.h"

#include "measure/data.h"
#include "program/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 1 << 22 };

/* A .npy file, version 1: magic, length of the header, the header padded to 64 bytes in all, the data. */
static int write_npy(const char *path) {
    char header[128];
    int length = snprintf(header, sizeof header, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", COUNT);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[117] = '\n';
    const unsigned char magic[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
    double *values = program_allocate(COUNT * sizeof *values);
    measure_team *team = measure_team_create(1);
    measure_fill_f64(values, COUNT, MEASURE_NORMAL, 3, team);
    measure_team_destroy(team);
    FILE *file = fopen(path, "wb");
    int good = file && fwrite(magic, sizeof magic, 1, file) == 1 && fwrite(header, 118, 1, file) == 1 &&
               fwrite(values, sizeof *values, COUNT, file) == COUNT;
    good = file && fclose(file) == 0 && good;
    free(values);
    return good ? 0 : -1;
}

/* Prints a command line and runs it; returns 0 when it succeeded. */
static int show(const char *line) {
    printf("  $ %s\n", line);
    fflush(stdout);
    FILE *output = popen(line, "r");
    char text[512];
    while (output && fgets(text, sizeof text, output))
        printf("  %s", text);
    return !output || pclose(output) != 0;
}

/* Puts the folder of the command first in PATH, so that what is shown is what is run. */
static int put_in_path(const char *command) {
    char *full = realpath(command, NULL);
    if (!full)
        return -1;
    *strrchr(full, '/') = '\0';
    const char *path = getenv("PATH");
    size_t room = strlen(full) + (path ? strlen(path) : 0) + 2;
    char *longer = program_allocate(room);
    snprintf(longer, room, "%s:%s", full, path ? path : "");
    int outcome = setenv("PATH", longer, 1);
    free(longer);
    free(full);
    return outcome;
}

/* In a folder where data/ is the reference data. */
static int show_all(void) {
    static const char *const lines[] = {
        "reduct mean data/Lew.txt",
        "reduct std data/Michelso.txt",
        "reduct sum numbers.npy",
        "reduct sum --hex --threads 1 numbers.npy",
        "reduct sum --mode fast numbers.npy",
        "cat numbers.npy | reduct norm2",
        "reduct dot numbers.npy numbers.npy",
        "reduct argmax numbers.npy",
        "seq 1 1000000 | reduct sum --type i64",
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        wrong |= show(lines[i]);
    return wrong;
}

/* A temporary folder with the reference data and a large file in it; gone when done. */
static int show_in_folder(const char *data) {
    char folder[] = "/tmp/reduct-demo-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        perror("demo: cannot make a temporary folder");
        return 1;
    }
    int wrong = symlink(data, "data") != 0 || write_npy("numbers.npy") != 0;
    if (wrong)
        perror("demo: cannot write to the temporary folder");
    else
        wrong = show_all();
    unlink("numbers.npy");
    unlink("data");
    rmdir(folder);
    return wrong;
}

int demo_command(const char *command, const char *data_folder) {
    demo_title("The command");
    if (access(command, X_OK) != 0 || put_in_path(command) != 0) {
        printf("  %s is not there: skipped.\n", command);
        return 0;
    }
    char *data = realpath(data_folder, NULL), *home = getcwd(NULL, 0);
    int wrong = !data || !home || show_in_folder(data) != 0 || chdir(home) != 0;
    free(home);
    free(data);
    return wrong;
}
