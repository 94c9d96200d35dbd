/* A reader's kernel on the ladder: see mine.h. What the judge answers is told in ladder/mine/judge.cuh. */
#include "ladder/mine.h"

#include "ladder/gpu.h"
#include "program/child.h"
#include "program/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ladder/mine/before.cuh and judge.cuh, as the build has written them out. */
extern const char ladder_mine_before[], ladder_mine_judge[];

enum {
    COMPILE_SECONDS = 300,
    RUN_SECONDS = 120, /* a kernel may wait for ever */
    WATCHED_SECONDS = 600,
    FIELDS_MOST = 8
};

struct ladder_mine {
    char folder[64];
    char source[80], program[80];
    const char *device, *ordinal; /* "cuda:0", "0" */
};

static const char group[] = "your kernel, checked";

/* ---------------------------------------------------------------------------------------------------------------------
 * Compiling
 * ------------------------------------------------------------------------------------------------------------------ */

/* The program's source: lines of the reader's file keep their numbers, for the compiler's messages. */
static int write_source(const char *to, const char *path, const char *kernel) {
    FILE *file = fopen(to, "w");
    if (!file)
        return -1;
    fprintf(file, "%s#line 1 \"%s\"\n%s\n#line 1 \"judge.cuh\"\n%s", ladder_mine_before, path, kernel,
            ladder_mine_judge);
    return fclose(file);
}

static int compile(const ladder_mine *mine, const char *compiler) {
    const char *arguments[] = {
        compiler,      "-std=c++17", "-O3", "-arch=native", "-lineinfo", "--expt-relaxed-constexpr", "-o",
        mine->program, mine->source, NULL};
    char *output;
    int status = program_run(arguments, COMPILE_SECONDS, 1, &output);
    if (status != 0 && status != 127 && output)
        fputs(output, stderr);
    free(output);
    return status;
}

static reduct_status build(const ladder_mine *mine, const char *path, reduct_error *error) {
    const char *asked = getenv("REDUCT_NVCC"), *compiler = asked && *asked ? asked : "nvcc";
    int status = compile(mine, compiler);
    if (status == 127 && compiler != asked)
        status = compile(mine, "/usr/local/cuda/bin/nvcc");
    if (status == 127)
        return ladder_fail(
            error, REDUCT_ERROR_UNSUPPORTED,
            "--mine: '%s' is not here, which compiles CUDA; NVIDIA's CUDA toolkit has it, and REDUCT_NVCC "
            "names another",
            compiler);
    if (status != 0)
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT, "--mine: %s does not compile", path);
    return REDUCT_OK;
}

/* What a file is by its name, if that is a shader: the language; null otherwise. */
static const char *shader_language(const char *path) {
    static const struct {
        const char *ending, *language;
    } shaders[] = {{".wgsl", "WGSL"}, {".comp", "GLSL"}, {".glsl", "GLSL"}, {".hlsl", "HLSL"}, {".slang", "Slang"}};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof shaders / sizeof *shaders; i++)
        if (strcmp(ending, shaders[i].ending) == 0)
            return shaders[i].language;
    return NULL;
}

static reduct_status prepare(ladder_mine *mine, const char *path, reduct_error *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT, "--mine: %s: %s", path, strerror(errno));
    if (shader_language(path)) {
        close(file);
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT,
                           "--mine: %s is in %s; expected a kernel in CUDA (kernels in WGSL are judged by the page, in "
                           "its editor)",
                           path, shader_language(path));
    }
    char *kernel = program_read_all(file);
    close(file);
    snprintf(mine->folder, sizeof mine->folder, "/tmp/reduct-mine-XXXXXX");
    if (!mkdtemp(mine->folder)) {
        *mine->folder = 0;
    } else {
        snprintf(mine->source, sizeof mine->source, "%s/mine.cu", mine->folder);
        snprintf(mine->program, sizeof mine->program, "%s/mine", mine->folder);
    }
    int failed = !*mine->folder || write_source(mine->source, path, kernel) != 0;
    free(kernel);
    if (failed)
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT, "--mine: no temporary file can be written: %s",
                           strerror(errno));
    return build(mine, path, error);
}

ladder_mine *ladder_mine_create(const char *path, const char *device, reduct_error *error) {
    ladder_mine *mine = program_allocate(sizeof *mine);
    *mine = (ladder_mine){.device = device, .ordinal = strchr(device, ':') + 1};
    if (prepare(mine, path, error) == REDUCT_OK)
        return mine;
    ladder_mine_destroy(mine);
    return NULL;
}

void ladder_mine_destroy(ladder_mine *mine) {
    if (!mine)
        return;
    if (*mine->folder) {
        unlink(mine->source);
        unlink(mine->program);
        rmdir(mine->folder);
    }
    free(mine);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------------------------------------------------------ */

/* Cuts a line at its tabs, in place; fields that are not there are empty. Returns what is left behind the last. */
static char *cut(char *line, char *fields[FIELDS_MOST], size_t count) {
    static char none[] = "";
    for (size_t i = 0; i < count; i++) {
        char *end = line ? strchr(line, '\t') : NULL;
        fields[i] = line ? line : none;
        line = end ? end + 1 : NULL;
        if (end)
            *end = 0;
    }
    return line;
}

static void set_verdict(report_row *row, const char *word) {
    row->verdict = strcmp(word, "right") == 0 ? REPORT_RIGHT : REPORT_WRONG;
}

/* What ended the judge before it had answered: its own word, or that it took too long. */
static reduct_status explain(char *output, int status, reduct_error *error) {
    char *sentence = output ? strstr(output, "error\t") : NULL;
    if (sentence)
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT, "--mine: %.*s", (int)strcspn(sentence + 6, "\n"),
                           sentence + 6);
    if (status < 0)
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT,
                           "--mine: the kernel was stopped: it crashed, or did not end within %d seconds", RUN_SECONDS);
    return ladder_fail(error, REDUCT_ERROR_ARGUMENT, "--mine: the kernel ended with status %d", status);
}

/* One line of `check`. */
static void add_check(char *line, report *r) {
    char *fields[FIELDS_MOST];
    cut(line, fields, 6);
    report_row row = report_row_empty();
    snprintf(row.group, sizeof row.group, "%s", group);
    snprintf(row.name, sizeof row.name, "mine");
    snprintf(row.variant, sizeof row.variant, "%s, many sizes", fields[1]);
    set_verdict(&row, fields[2]);
    snprintf(row.expected, sizeof row.expected, "%s", fields[3]);
    snprintf(row.got, sizeof row.got, "%s", fields[4]);
    snprintf(row.note, sizeof row.note, "%s", fields[5]);
    report_add_row(r, &row);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Checking
 * ------------------------------------------------------------------------------------------------------------------ */

/* The first line in which a tool of compute-sanitizer complains: "========= Error: ...", "========= Invalid ...". */
static void complaint(const char *output, char *note, size_t room) {
    static const char *const marks[] = {"========= Error", "========= Invalid"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *found = strstr(output, marks[i]);
        if (found) {
            found += strlen("========= ");
            snprintf(note, room, "%.*s", (int)strcspn(found, "\n"), found);
            return;
        }
    }
}

/* Races in shared memory, and accesses to what is not there. */
static void watch(const ladder_mine *mine, const char *tool, report *r) {
    enum { FOUND = 9 };
    const char *arguments[] = {"compute-sanitizer", "--tool", tool, "--error-exitcode", "9", mine->program,
                               mine->ordinal,       "races",  NULL};
    char *output;
    int status = program_run(arguments, WATCHED_SECONDS, 1, &output);
    report_row row = report_row_empty();
    snprintf(row.group, sizeof row.group, "%s", group);
    snprintf(row.name, sizeof row.name, "mine");
    snprintf(row.variant, sizeof row.variant, "%s", tool);
    row.verdict = status == FOUND ? REPORT_WRONG : status == 0 || status == 1 ? REPORT_RIGHT : REPORT_NOT_RUN;
    if (status == FOUND)
        complaint(output, row.note, sizeof row.note);
    else if (row.verdict == REPORT_NOT_RUN)
        snprintf(row.note, sizeof row.note, "%s",
                 status == 127 ? "compute-sanitizer is not here" : "compute-sanitizer could not watch it");
    report_add_row(r, &row);
    free(output);
}

reduct_status ladder_mine_check(const ladder_mine *mine, report *r, reduct_error *error) {
    const char *arguments[] = {mine->program, mine->ordinal, "check", NULL};
    char *output, *rest = NULL;
    int status = program_run(arguments, RUN_SECONDS, 0, &output);
    reduct_status result = status == 0 || status == 1 ? REDUCT_OK : explain(output, status, error);
    for (char *line = strtok_r(output, "\n", &rest); line && result == REDUCT_OK; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "check\t", 6) == 0)
            add_check(line, r);
    free(output);
    if (result == REDUCT_OK) {
        watch(mine, "racecheck", r);
        watch(mine, "memcheck", r);
    }
    return result;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Time and place
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_beside(const report_row *row, const report_row *mine) {
    return strcmp(row->group, "rungs") == 0 && strcmp(row->type, mine->type) == 0 && row->n == mine->n &&
           row->seconds > 0 && row->verdict != REPORT_WRONG && strcmp(row->name, mine->name) != 0;
}

/* Whether further launches add up its block sums. */
static bool is_launched_again(const report_row *row) {
    return strcmp(row->variant, ladder_finish_name(LADDER_FINISH_RECURSIVE)) == 0 ||
           strcmp(row->variant, ladder_finish_name(LADDER_FINISH_SECOND_LAUNCH)) == 0;
}

enum { NAME = 46 }; /* so that two are in a note */

/* A rung with its finish: "halving (recursive)". */
static const char *name_of(const report_row *row, char text[NAME]) {
    if (*row->variant)
        snprintf(text, NAME, "%.24s (%.18s)", row->name, row->variant);
    else
        snprintf(text, NAME, "%.40s", row->name);
    return text;
}

void ladder_mine_place(report_row *mine, const report *r) {
    const report_row *below = NULL, *above = NULL;
    double rate = (double)mine->bytes / mine->seconds;
    bool alike = false; /* there are rungs to compare with that end as it does */
    for (size_t i = 0; i < report_row_count(r); i++) {
        const report_row *row = report_row_at(r, i);
        if (!is_beside(row, mine))
            continue;
        if (row->of_limit > 0)
            mine->of_limit = row->of_limit * rate / ((double)row->bytes / row->seconds);
        alike |= is_launched_again(mine) && is_launched_again(row);
    }
    for (size_t i = 0; i < report_row_count(r); i++) {
        const report_row *row = report_row_at(r, i);
        if (!is_beside(row, mine) || (alike && !is_launched_again(row)))
            continue;
        if (row->seconds >= mine->seconds)
            below = !below || row->seconds < below->seconds ? row : below;
        else
            above = !above || row->seconds > above->seconds ? row : above;
    }
    char one[NAME], other[NAME];
    if (below && above)
        snprintf(mine->note, sizeof mine->note, "faster than %s, slower than %s", name_of(below, one),
                 name_of(above, other));
    else if (below || above)
        snprintf(mine->note, sizeof mine->note, "%s than all%s, by time next to %s", below ? "faster" : "slower",
                 alike ? " that are launched again" : "", name_of(below ? below : above, one));
}

/* Sums of rows stand among no single sums. */
static void set_apart(report_row *mine, uint64_t columns) {
    uint64_t size = mine->bytes / mine->n, n = mine->n / columns * columns;
    mine->n = n;
    mine->bytes = n * size;
    snprintf(mine->group, sizeof mine->group, "rows of %" PRIu64, columns);
    snprintf(mine->variant, sizeof mine->variant, "sums of rows");
    snprintf(mine->note, sizeof mine->note,
             "not ranked: its rungs are those of 'reduct ladder rows --n %" PRIu64 " --columns %" PRIu64 "'", n,
             columns);
}

/* The line of `time`; false where there is none. */
static bool read_time(char *output, report_row *row) {
    char *line = output ? strstr(output, "time\t") : NULL, *fields[FIELDS_MOST];
    double samples[256];
    size_t count = 0;
    if (!line)
        return false;
    char *from = cut(line, fields, 7);
    set_verdict(row, fields[1]);
    snprintf(row->expected, sizeof row->expected, "%s", fields[2]);
    snprintf(row->got, sizeof row->got, "%s", fields[3]);
    report_set(row, MEASURE_BLOCK, strtod(fields[4], NULL));
    snprintf(row->variant, sizeof row->variant, "%s", fields[5]);
    uint64_t columns = strtoull(fields[6], NULL, 10);
    if (columns)
        set_apart(row, columns);
    for (char *end; from && count < sizeof samples / sizeof *samples; from = end) {
        double seconds = strtod(from, &end);
        if (end == from)
            break;
        samples[count++] = seconds;
    }
    measure_statistics seconds = measure_summarise(samples, count);
    gpu_row_time(row, &seconds, 0, 0);
    return count > 0;
}

reduct_status ladder_mine_time(const ladder_mine *mine, const ladder_options *options, report *r, reduct_error *error) {
    char n[32], rounds[16], *output;
    snprintf(n, sizeof n, "%llu", (unsigned long long)options->n);
    snprintf(rounds, sizeof rounds, "%u", options->rounds < 256 ? options->rounds : 256);
    const char *arguments[] = {mine->program, mine->ordinal, "time", reduct_type_name(options->type), n, rounds, NULL};
    int status = program_run(arguments, RUN_SECONDS, 0, &output);
    report_row row = ladder_row("rungs", "mine", mine->device, "cuda", options->type, options->n);
    reduct_status result = REDUCT_OK;
    if (status != 0 || !read_time(output, &row)) {
        result = explain(output, status, error);
    } else {
        if (strcmp(row.group, "rungs") == 0)
            ladder_mine_place(&row, r);
        report_add_row(r, &row);
    }
    free(output);
    return result;
}
