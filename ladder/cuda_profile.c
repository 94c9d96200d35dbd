/* The profiler's counters. Nsight Compute (ncu) watches a process from its start, so this program runs itself again
 * under it, with the same arguments, and a variable in the environment that says so; the process that is watched
 * launches each kernel once and ends. */
#include "ladder/cuda_ladder.h"

#include "program/child.h"
#include "program/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char watched_variable[] = "REDUCT_LADDER_WATCHED";

/* In this order in every line of the log. */
static const char bank_conflicts[] = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
static const char shared_transactions[] = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
static const char uniform_branches[] = "smsp__sass_average_branch_targets_threads_uniform.pct";
static const char active_lanes[] = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio";

bool cuda_profile_is_watched(void) {
    return getenv(watched_variable) != NULL;
}

/* What a watched process is for, as the variable says it: "f32 4194304". */
static void describe(const ladder_options *options, char *text, size_t room) {
    snprintf(text, room, "%s %llu", reduct_type_name(options->type), (unsigned long long)options->n);
}

bool cuda_profile_is_for(const ladder_options *options) {
    char text[64];
    const char *asked = getenv(watched_variable);
    describe(options, text, sizeof text);
    return asked && strcmp(asked, text) == 0;
}

/* This process's arguments, ended by null, behind `before`. The strings lie in `text`. */
static char **arguments_after(const char *const *before, size_t count, char **text) {
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    *text = program_read_all(file);
    close(file);
    char **arguments = program_allocate((count + 258) * sizeof *arguments);
    size_t used = 0;
    for (; used < count; used++)
        arguments[used] = (char *)(uintptr_t)before[used]; /* execvp() does not write to them */
    char *argument = *text + strlen(*text) + 1;            /* the program itself is already named */
    for (; *argument && used < count + 256; argument += strlen(argument) + 1)
        arguments[used++] = argument;
    arguments[used] = NULL;
    return arguments;
}

/* Runs the profiler; its exit status, 127 where there is none. */
static int run_profiler(const ladder_options *options, const char *log) {
    char program[4096], metrics[320], purpose[64], *text = NULL;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return -1;
    program[length] = 0;
    snprintf(metrics, sizeof metrics, "%s,%s,%s,%s", bank_conflicts, shared_transactions, uniform_branches,
             active_lanes);
    describe(options, purpose, sizeof purpose);
    const char *before[] = {"ncu", "--csv",     "--page", "raw",  "--clock-control", "none", "--log-file",
                            log,   "--metrics", metrics,  program};
    char **arguments = arguments_after(before, sizeof before / sizeof *before, &text);
    if (!arguments)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        setenv(watched_variable, purpose, 1);
        execvp("ncu", arguments);
        execv("/usr/local/cuda/bin/ncu", arguments);
        _exit(127);
    }
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    free(arguments);
    free(text);
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The log: comma-separated, every field in quotes; a line of names, a line of units, a line per kernel
 * ------------------------------------------------------------------------------------------------------------------ */

/* Cuts a line into fields in place. */
static size_t split(char *line, char **fields, size_t most) {
    size_t count = 0;
    while (count < most && (line = strchr(line, '"'))) {
        char *end = strchr(++line, '"');
        if (!end)
            break;
        *end = 0;
        fields[count++] = line;
        line = end + 1;
    }
    return count;
}

static size_t column(char *const *names, size_t count, const char *name) {
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* A number as the profiler writes it: 1,234,567.8; negative where there is none. */
static double number(char *const *fields, size_t count, size_t which) {
    char digits[64], *end;
    size_t used = 0;
    if (which >= count)
        return -1;
    for (const char *c = fields[which]; *c && used < sizeof digits - 1; c++)
        if (*c != ',')
            digits[used++] = *c;
    digits[used] = 0;
    double value = strtod(digits, &end);
    return end == digits ? -1 : value;
}

static size_t parse(char *text, cuda_counters *counters) {
    enum { FIELDS_MOST = 2048 }; /* the page lists every attribute of the device before the counters */
    char *names[FIELDS_MOST], *fields[FIELDS_MOST], *rest = NULL;
    size_t name_count = 0, found = 0, kernel = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        size_t count = *line == '"' ? split(line, fields, FIELDS_MOST) : 0;
        if (!name_count) {
            kernel = column(fields, count, "Kernel Name");
            if (kernel < count) {
                memcpy(names, fields, sizeof fields);
                name_count = count;
            }
        } else if (kernel < count && fields[kernel][0] && found < CUDA_COUNTERS_MOST) {
            cuda_counters *c = &counters[found++];
            size_t length = strcspn(fields[kernel], "( "); /* parameters may follow the name */
            double uniform = number(fields, count, column(names, name_count, uniform_branches));
            snprintf(c->kernel, sizeof c->kernel, "%.*s", (int)length, fields[kernel]);
            c->bank_conflicts = number(fields, count, column(names, name_count, bank_conflicts));
            c->shared_transactions = number(fields, count, column(names, name_count, shared_transactions));
            c->divergence = uniform < 0 ? -1 : 1 - uniform / 100;
            c->active_lanes = number(fields, count, column(names, name_count, active_lanes));
        }
    }
    return found;
}

/* The first line in which the profiler complains. */
static void complaint(const char *text, int status, char *why, size_t room) {
    const char *error = strstr(text, "==ERROR== ");
    if (error)
        snprintf(why, room, "ncu: %.*s", (int)strcspn(error + 10, "\n"), error + 10);
    else
        snprintf(why, room, "ncu ended with status %d and counted nothing", status);
}

size_t cuda_profile(const ladder_options *options, cuda_counters counters[CUDA_COUNTERS_MOST], char *why, size_t room) {
    char log[] = "/tmp/reduct-ncu-XXXXXX";
    int file = mkstemp(log);
    if (file < 0) {
        snprintf(why, room, "no temporary file can be made: %s", strerror(errno));
        return 0;
    }
    int status = run_profiler(options, log);
    close(file); /* ncu may have put another in its place */
    file = open(log, O_RDONLY | O_CLOEXEC);
    char *text = file < 0 ? NULL : program_read_all(file);
    size_t count = 0;
    if (status == 127) {
        snprintf(why, room, "NVIDIA's profiler, ncu, is not here");
    } else if (status < 0 || !text) {
        snprintf(why, room, "NVIDIA's profiler, ncu, could not be run");
    } else {
        complaint(text, status, why, room);
        count = parse(text, counters);
    }
    free(text);
    if (file >= 0)
        close(file);
    unlink(log);
    return count;
}
