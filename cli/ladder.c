/* `reduct ladder`: see ladder.h. The command line is read here, the ladders are in ladder/. */
#include "ladder.h"

#include "ladder/ladder.h"
#include "ladder/mine.h"
#include "measure/machine.h"
#include "program/command_line.h"
#include "program/sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZES_MOST = 16, /* also lengths of rows, and numbers of groups */
    DEVICES_MOST = 8,
    BLOCK_LEAST = 16,
    BLOCK_MOST = 1024,
    ROUNDS_DEFAULT = 15,
    ROUNDS_MOST = 10000
};

/* A ladder beside the first, asked for by name: of as many sums as one of its own options says. */
struct second_ladder {
    const char *name, *title;
    ladder_rung_kind kind;
    bool vulkan;                   /* Vulkan devices have it, too */
    const char *option, *expected; /* what the option's values are */
    uint64_t most;
    uint64_t parts[SIZES_MOST]; /* where nothing else is asked for */
    size_t part_count;
};
static const struct second_ladder SECOND_LADDERS[] = {
    {.name = "rows",
     .title = "The ladder of row sums",
     .kind = LADDER_RUNG_ROWS,
     .vulkan = true,
     .option = "--columns",
     .expected = "lengths of rows of one element at least",
     .most = UINT64_MAX,
     .parts = {16, 64, 256, 1024, 4096, 65536},
     .part_count = 6},
    {.name = "groups",
     .title = "The ladder of sums by group",
     .kind = LADDER_RUNG_GROUPS,
     .option = "--groups",
     .expected = "numbers of groups from 1 to 256Mi",
     .most = LADDER_GROUPS_MOST,
     .parts = {1, 100, 10000, 1000000},
     .part_count = 4},
};
enum { SECOND_LADDER_COUNT = sizeof SECOND_LADDERS / sizeof *SECOND_LADDERS };

/* The command line. */
struct climb {
    char *devices[DEVICES_MOST]; /* none: the first GPU if there is one, else the CPU */
    size_t device_count;
    uint64_t sizes[SIZES_MOST], parts[SIZES_MOST];
    size_t size_count, part_count;
    bool sizes_given;
    const struct second_ladder *second;      /* null: the first ladder */
    const struct second_ladder *parts_given; /* whose option `parts` are; null: none was given */
    bool every_type;
    ladder_options ladder;  /* device, n and type of one run at a time */
    report_writer *write;   /* to standard output */
    const char *html;       /* file to write, or null */
    const char *mine;       /* the file of a kernel that is climbed with, or null */
    const char *submission; /* likewise */
    const char *needs_gpu;  /* an option given that only GPUs have, or null */
    const char *needs_cuda; /* one that only CUDA's ladder has */
    bool list, quiet;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Help
 * ------------------------------------------------------------------------------------------------------------------ */

enum {
    DEVICE = 256,
    TYPE = 't',
    RUNG = 'r',
    COUNT = 'n',
    FINISH = 257,
    BLOCK,
    LANGUAGE,
    MINE,
    SPECIMENS,
    APPLICATIONS,
    PEERS,
    COLUMNS,
    GROUPS,
    DATA
};
enum { ROUNDS = 320, SWEEP, PROFILE, JSON, CSV, MARKDOWN, HTML, LIST, SUBMIT, QUIET = 'q' };

static const program_option OPTIONS[] = {
    {.text = "What is climbed:"},
    {"applications", APPLICATIONS, NULL,
     "also dot product, maximum, mean and, in CUDA, others built from a rung (GPUs)"},
    {"block", BLOCK, "N", "threads per block, from 16 to 1024; by default what suits the rung"},
    {"columns", COLUMNS, "N[,N...]", "of `reduct ladder rows`: elements in each row (16,64,256,1024,4096,65536)"},
    {"data", DATA, "NAME", "uniform (the default), or cancelling: floats whose sum is far smaller than they are"},
    {"device", DEVICE, "NAME[,NAME...]",
     "cpu, cuda:N, vulkan:N, or vulkan: and a part of a device's name; several for one report; by default cuda:0 where "
     "there is one, and the CPU elsewhere"},
    {"finish", FINISH, "NAME",
     "how block sums become one; by default what suits the rung, with all one after the other:"},
    {"groups", GROUPS, "N[,N...]", "of `reduct ladder groups`: how many groups there are (1,100,10000,1000000)"},
    {"language", LANGUAGE, "NAME", "of a Vulkan device's shaders: glsl (the default), hlsl, slang, or all for each"},
    {"mine", MINE, "FILE",
     "also the kernel in FILE, yours: compiled by nvcc, checked, timed and placed among the rungs; exercises/README.md "
     "says how "
     "it is written (CUDA)"},
    {"n", COUNT, "N[,N...]", "elements to sum, such as 1000 or 4Mi, which is the default; several for a run each"},
    {"peers", PEERS, NULL, "also other libraries on the same data (CUDA)"},
    {"rung", RUNG, "NAME", "this rung alone; --list names them"},
    {"specimens", SPECIMENS, NULL, "also the mistakes that tutorials make, each beside its repair"},
    {"type", TYPE, "TYPE", "of the elements: i32, f32 (the default), f64, or all for a run each"},
    {.text = "How it is measured:"},
    {"profile", PROFILE, NULL, "also the profiler's counters, where it may run (CUDA)"},
    {"rounds", ROUNDS, "N", "times each rung is timed; the median counts (15)"},
    {"sweep", SWEEP, NULL, "also bandwidth over the number of elements, up to N"},
    {.text = "What is printed:"},
    {"csv", CSV, NULL, "its rows as CSV"},
    {"html", HTML, "FILE", "beside that, a page with charts in FILE, which needs nothing else"},
    {"json", JSON, NULL, "the report as JSON"},
    {"list", LIST, NULL, "the rungs, one line each; nothing is run"},
    {"markdown", MARKDOWN, NULL, "the report as Markdown"},
    {"quiet", QUIET, NULL, "no remarks"},
    {"submit-file", SUBMIT, "FILE", "beside that, what docs/results/ collects, in FILE"},
    {0}};

static const char ABOUT[] =
    "Climbs the ladder of parallel reduction: from the first loop or kernel that everyone writes to the exact one of "
    "this library, every rung sums the same numbers, is checked against the exact sum, and is timed beside what "
    "reading alone takes. `reduct ladder rows` climbs that of row sums, one for each row of a matrix (CUDA, "
    "and Vulkan in GLSL), and `reduct ladder groups` that of sums by group, one for each key (CUDA).";

static const char NOTES[] =
    "Examples:\n\n"
    "  reduct ladder                          on the GPU if there is one\n"
    "  reduct ladder --device cpu --n 64Mi    from memory rather than cache\n"
    "  reduct ladder --type all --sweep --html ladder.html\n"
    "  reduct ladder --rung halving --finish all --block 1000\n"
    "  reduct ladder --device cuda:0,vulkan:0 --n 256Mi    one GPU, two ways to it\n"
    "  reduct ladder --device vulkan:llvmpipe --language all\n"
    "  reduct ladder --n 1Mi,4Mi,10Mi,32Mi --json > h200.json\n"
    "  reduct ladder --mine my.cu\n"
    "  reduct ladder --device cpu --data cancelling      where sums differ\n"
    "  reduct ladder rows --columns 64,4096\n"
    "  reduct ladder groups --groups 1000 --type f64\n\n"
    "Results of integers must be exact; of floats, within the error that the method promises, which is shown in units "
    "in "
    "the last place (ulp). Exit status: 0 if all is right, 1 if a rung is wrong or cannot be run, 2 if the command "
    "line "
    "is wrong.";

static void print_list_of(ladder_rung_kind kind, const char *heading) {
    printf("%s\n", heading);
    for (const ladder_rung *rung = ladder_rungs; rung < ladder_rungs + LADDER_RUNGS; rung++) {
        if (rung->kind == kind)
            printf("  %-18s  %s\n", rung->name, rung->idea);
    }
}

static void print_list(void) {
    print_list_of(LADDER_RUNG_CPU, "On the CPU:");
    print_list_of(LADDER_RUNG_GPU, "\nOn a GPU, with any finish (but exact, which has its own):");
    print_list_of(LADDER_RUNG_SPECIMEN, "\nA mistake, run with --specimens:");
    print_list_of(LADDER_RUNG_ROWS, "\nSums of rows, by reduct ladder rows:");
    print_list_of(LADDER_RUNG_GROUPS, "\nSums by group, by reduct ladder groups:");
}

/* "host, atomic, ... or all". */
static const char *list_finishes(char room[PROGRAM_VALUES]) {
    size_t used = 0;
    for (int i = LADDER_FINISH_DEFAULT + 1; i < LADDER_FINISHES; i++)
        used += (size_t)snprintf(room + used, PROGRAM_VALUES - used, "%s, ", ladder_finish_name((ladder_finish)i));
    snprintf(room + used - 2, PROGRAM_VALUES - used + 2, " or all");
    return room;
}

static const char *list_values(int key, char room[PROGRAM_VALUES]) {
    return key == FINISH ? list_finishes(room) : NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------------------------------------------------ */

/* Says what is wrong with an option's value. */
static enum outcome refuse(const char *option, const char *value, size_t length, const char *expected) {
    char found[QUOTED];
    return misuse("%s: found %s; expected %s", option, quote(found, value, length), expected);
}

static enum outcome take_sizes(const char *option, const char *value, uint64_t sizes[SIZES_MOST], size_t *count) {
    static const char EXPECTED[] = "up to 16 numbers of elements, such as 1000 or 1Mi,4Mi";
    *count = 0;
    for (const char *from = value;; from++) {
        size_t length = strcspn(from, ",");
        char number[32];
        snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : 0), from);
        if (*count == SIZES_MOST || program_size_parse(number, &sizes[*count]) != 0)
            return refuse(option, value, strlen(value), EXPECTED);
        ++*count;
        from += length;
        if (!*from)
            return DONE;
    }
}

static enum outcome take_parts(const struct second_ladder *of, const char *value, struct climb *climb) {
    climb->parts_given = of;
    enum outcome outcome = take_sizes(of->option, value, climb->parts, &climb->part_count);
    for (size_t i = 0; outcome == DONE && i < climb->part_count; i++)
        if (!climb->parts[i] || climb->parts[i] > of->most)
            return refuse(of->option, value, strlen(value), of->expected);
    return outcome;
}

static enum outcome take_data(const char *value, struct climb *climb) {
    climb->ladder.cancelling = strcmp(value, "cancelling") == 0;
    if (climb->ladder.cancelling || strcmp(value, "uniform") == 0)
        return DONE;
    return refuse("--data", value, strlen(value), "uniform or cancelling");
}

static enum outcome take_type(const char *value, struct climb *climb) {
    reduct_type type = REDUCT_F32;
    climb->every_type = strcmp(value, "all") == 0;
    bool known = climb->every_type || reduct_type_parse(value, &type) == REDUCT_OK;
    if (!known || (type != REDUCT_I32 && type != REDUCT_F32 && type != REDUCT_F64))
        return refuse("--type", value, strlen(value), "i32, f32, f64 or all");
    climb->ladder.type = type;
    return DONE;
}

static enum outcome take_finish(const char *value, struct climb *climb) {
    climb->needs_gpu = "--finish";
    climb->ladder.every_finish = strcmp(value, "all") == 0;
    if (climb->ladder.every_finish || ladder_finish_parse(value, &climb->ladder.finish) == 0)
        return DONE;
    char names[PROGRAM_VALUES];
    return refuse("--finish", value, strlen(value), list_finishes(names));
}

static enum outcome take_number(const char *option, const char *value, unsigned least, unsigned most,
                                unsigned *number) {
    char expected[64];
    uint64_t parsed;
    if (program_size_parse(value, &parsed) == 0 && parsed >= least && parsed <= most) {
        *number = (unsigned)parsed;
        return DONE;
    }
    snprintf(expected, sizeof expected, "a whole number from %u to %u", least, most);
    return refuse(option, value, strlen(value), expected);
}

static bool is_number(const char *text) {
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool is_device(const char *name) {
    return strcmp(name, "cpu") == 0 || (strncmp(name, "cuda:", 5) == 0 && is_number(name + 5)) ||
           (strncmp(name, "vulkan:", 7) == 0 && name[7]);
}

/* `value` is cut into names where it stands. */
static enum outcome take_devices(char *value, struct climb *climb) {
    climb->device_count = 0;
    for (char *name = value, *next; name; name = next) {
        next = strchr(name, ',');
        if (next)
            *next++ = '\0';
        if (climb->device_count == DEVICES_MOST || !is_device(name))
            return refuse("--device", name, strlen(name), "cpu, cuda:N or vulkan:N, as in cuda:0, or up to 8 of them");
        climb->devices[climb->device_count++] = name;
    }
    return DONE;
}

static enum outcome take_language(const char *value, struct climb *climb) {
    static const char *const names[] = {"glsl", "hlsl", "slang", "all"};
    bool known = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        known = known || strcmp(value, names[i]) == 0;
    if (!known)
        return refuse("--language", value, strlen(value), "glsl, hlsl, slang or all");
    climb->ladder.language = value;
    return DONE;
}

static enum outcome take_format(report_writer *format, struct climb *climb) {
    if (climb->write && climb->write != format)
        return misuse("--json, --csv, --markdown: expected one of them; standard output can hold one report");
    climb->write = format;
    return DONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parsing
 * ------------------------------------------------------------------------------------------------------------------ */

static enum outcome take_value(int key, char *value, struct climb *climb) {
    switch (key) {
    case DEVICE:
        return take_devices(value, climb);
    case LANGUAGE:
        return take_language(value, climb);
    case COUNT:
        climb->sizes_given = true;
        return take_sizes("--n", value, climb->sizes, &climb->size_count);
    case COLUMNS:
        return take_parts(&SECOND_LADDERS[0], value, climb);
    case GROUPS:
        return take_parts(&SECOND_LADDERS[1], value, climb);
    case DATA:
        return take_data(value, climb);
    case TYPE:
        return take_type(value, climb);
    case FINISH:
        return take_finish(value, climb);
    case BLOCK:
        climb->needs_gpu = "--block";
        return take_number("--block", value, BLOCK_LEAST, BLOCK_MOST, &climb->ladder.block);
    case ROUNDS:
        return take_number("--rounds", value, 1, ROUNDS_MOST, &climb->ladder.rounds);
    case JSON:
        return take_format(report_write_json, climb);
    case CSV:
        return take_format(report_write_csv, climb);
    default:
        return take_format(report_write_markdown, climb);
    }
}

/* Options that switch something on; `gpu` names those that only a GPU has, `cuda` those that only CUDA has. */
static bool take_switch(int key, struct climb *climb) {
    ladder_options *ladder = &climb->ladder;
    const struct {
        int key;
        bool *on;
        const char *gpu, *cuda;
    } switches[] = {
        {SPECIMENS, &ladder->specimens, "--specimens", NULL},
        {APPLICATIONS, &ladder->applications, "--applications", NULL},
        {PEERS, &ladder->peers, "--peers", "--peers"},
        {PROFILE, &ladder->profile, "--profile", "--profile"},
        {SWEEP, &ladder->sweep, NULL, NULL},
        {LIST, &climb->list, NULL, NULL},
        {QUIET, &climb->quiet, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (switches[i].key != key)
            continue;
        *switches[i].on = true;
        climb->needs_gpu = switches[i].gpu ? switches[i].gpu : climb->needs_gpu;
        climb->needs_cuda = switches[i].cuda ? switches[i].cuda : climb->needs_cuda;
        return true;
    }
    return false;
}

static int take_option(int key, char *value, void *state) {
    struct climb *climb = state;
    switch (key) {
    case RUNG:
        climb->ladder.rung = value;
        return DONE;
    case HTML:
        climb->html = value;
        return DONE;
    case MINE:
        climb->mine = value;
        climb->needs_gpu = climb->needs_cuda = "--mine";
        return DONE;
    case SUBMIT:
        climb->submission = value;
        return DONE;
    default:
        return take_switch(key, climb) ? DONE : (int)take_value(key, value, climb);
    }
}

/* Whether a kind of ladder has a rung of that name. */
static bool has_rung(ladder_rung_kind kind, const char *name) {
    for (const ladder_rung *rung = ladder_rungs; rung < ladder_rungs + LADDER_RUNGS; rung++) {
        if (rung->kind == kind && strcmp(rung->name, name) == 0)
            return true;
    }
    return false;
}

static bool is_on_cpu(const char *rung) {
    return !rung || has_rung(LADDER_RUNG_CPU, rung);
}

static bool is_on_gpu(const char *rung) {
    return !rung || has_rung(LADDER_RUNG_GPU, rung) || has_rung(LADDER_RUNG_SPECIMEN, rung);
}

static size_t count_devices(const struct climb *climb, const char *kind) {
    size_t count = 0;
    for (size_t i = 0; i < climb->device_count; i++)
        count += strncmp(climb->devices[i], kind, strlen(kind)) == 0;
    return count;
}

static enum outcome check_rung(const struct climb *climb, bool cpu) {
    const char *rung = climb->ladder.rung;
    char found[QUOTED];
    if (cpu ? is_on_cpu(rung) : is_on_gpu(rung))
        return DONE;
    return misuse("--rung: %s is not on the ladder of %s; expected one that 'reduct ladder --list' names for it",
                  quote(found, rung, strlen(rung)), cpu ? "the CPU" : "GPUs");
}

/* Who has such a ladder, in a sentence. */
static const char *ladders_with(const struct second_ladder *second) {
    return second->vulkan ? "the ladder of GPUs" : "CUDA's ladder";
}

/* The ladders beside the first have fewer choices. */
static enum outcome check_second(const struct climb *climb) {
    const struct second_ladder *second = climb->second;
    const char *rung = climb->ladder.rung;
    const char *strange = climb->needs_gpu                                     ? climb->needs_gpu
                          : climb->ladder.sweep                                ? "--sweep"
                          : climb->ladder.cancelling                           ? "--data cancelling"
                          : climb->ladder.language                             ? "--language"
                          : climb->parts_given && climb->parts_given != second ? climb->parts_given->option
                                                                               : NULL;
    char expected[80];
    snprintf(expected, sizeof expected, "one that 'reduct ladder --list' names for %s", second->name);
    if (strange)
        return misuse("%s: the ladder of %s does not have it", strange, second->name);
    if (rung && !has_rung(second->kind, rung))
        return refuse("--rung", rung, strlen(rung), expected);
    if (climb->device_count > count_devices(climb, "cuda") + (second->vulkan ? count_devices(climb, "vulkan") : 0))
        return misuse("%s: only %s has them; found --device %s", second->name, ladders_with(second), climb->devices[0]);
    return DONE;
}

/* Refuses what does not exist or does not go together. */
static enum outcome check(const struct climb *climb) {
    const char *rung = climb->ladder.rung;
    size_t cpus = count_devices(climb, "cpu");
    for (size_t i = 0; climb->mine && i < climb->size_count; i++)
        if (!climb->sizes[i])
            return misuse("--mine: your kernel is timed on --n elements; expected at least 1, found 0");
    if (climb->second)
        return check_second(climb);
    if (climb->parts_given)
        return misuse("%s: only the ladder of %s has it; expected 'reduct ladder %s'", climb->parts_given->option,
                      climb->parts_given->name, climb->parts_given->name);
    if (!is_on_cpu(rung) && !is_on_gpu(rung))
        return refuse("--rung", rung, strlen(rung), "one that 'reduct ladder --list' names");
    if (climb->ladder.language && !count_devices(climb, "vulkan"))
        return misuse("--language: only Vulkan devices have it; expected --device vulkan:N");
    if (!climb->device_count)
        return DONE;
    if (cpus && climb->needs_gpu)
        return misuse("%s: only GPUs have it; found --device cpu", climb->needs_gpu);
    if (climb->needs_cuda && !count_devices(climb, "cuda"))
        return misuse("%s: only CUDA's ladder has it; found --device %s", climb->needs_cuda, climb->devices[0]);
    if (cpus && check_rung(climb, true) != DONE)
        return MISUSED;
    return cpus < climb->device_count ? check_rung(climb, false) : DONE;
}

/* The ladder beside the first that is called so, if there is one, with what it starts from where nothing else is asked for. */
static bool take_second(const char *name, struct climb *climb) {
    for (size_t i = 0; i < SECOND_LADDER_COUNT && !climb->second; i++)
        if (strcmp(SECOND_LADDERS[i].name, name) == 0)
            climb->second = &SECOND_LADDERS[i];
    if (!climb->second)
        return false;
    if (!climb->sizes_given)
        climb->sizes[0] = UINT64_C(16) << 20;
    if (!climb->parts_given) {
        climb->part_count = climb->second->part_count;
        memcpy(climb->parts, climb->second->parts, sizeof climb->parts);
    }
    return true;
}

static enum outcome parse(int argc, char **argv, struct climb *climb) {
    const program_command command = {.name = "reduct ladder",
                                     .version = reduct_version(),
                                     .about = ABOUT,
                                     .notes = NOTES,
                                     .options = OPTIONS,
                                     .take = take_option,
                                     .values = list_values};
    char found[QUOTED];
    int rest;
    *climb = (struct climb){.sizes = {UINT64_C(4) << 20},
                            .size_count = 1,
                            .part_count = 1,
                            .ladder = {.type = REDUCT_F32, .rounds = ROUNDS_DEFAULT}};
    int status = program_command_read(&command, argc, argv, climb, &rest);
    if (status != 0)
        return (enum outcome)status;
    if (rest < argc && take_second(argv[rest], climb))
        rest++;
    if (rest < argc)
        return misuse("%s: the ladder reads no files; it makes its own numbers",
                      quote(found, argv[rest], strlen(argv[rest])));
    return check(climb);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status run_device(const ladder_options *options, report *r, reduct_error *error) {
    if (strcmp(options->device, "cpu") == 0)
        return ladder_cpu_run(options, r, error);
    if (strncmp(options->device, "vulkan", 6) == 0)
        return ladder_vulkan_run(options, r, error);
    return ladder_cuda_run(options, r, error);
}

static size_t types_of(const struct climb *climb) {
    return climb->every_type ? 3 : 1;
}

/* The types asked for, one after the other. */
static reduct_type type_of(const struct climb *climb, size_t i) {
    static const reduct_type EVERY[] = {REDUCT_I32, REDUCT_F32, REDUCT_F64};
    return climb->every_type ? EVERY[i] : climb->ladder.type;
}

/* Each length of rows, or number of groups; or one sum, whose number of parts is 0. */
static reduct_status run_parts(const struct climb *climb, ladder_options *options, report *r, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; i < climb->part_count && status == REDUCT_OK; i++) {
        if (climb->second)
            *(climb->second->kind == LADDER_RUNG_ROWS ? &options->columns : &options->groups) = climb->parts[i];
        status = run_device(options, r, error);
    }
    return status;
}

/* One device: every size with every type. What does not depend on the size is done once. */
static reduct_status run_all(const struct climb *climb, const char *device, report *r, reduct_error *error) {
    uint64_t largest = 0;
    for (size_t s = 0; s < climb->size_count; s++)
        largest = climb->sizes[s] > largest ? climb->sizes[s] : largest;
    for (size_t s = 0; s < climb->size_count; s++)
        for (size_t t = 0; t < types_of(climb); t++) {
            ladder_options options = climb->ladder;
            options.device = device;
            options.n = climb->sizes[s];
            options.type = type_of(climb, t);
            options.sweep = climb->ladder.sweep && options.n == largest;
            options.specimens = climb->ladder.specimens && s == 0; /* on data of their own */
            reduct_status status = run_parts(climb, &options, r, error);
            if (status != REDUCT_OK)
                return status;
            if (!climb->second)
                ladder_references_add(&options, r);
        }
    return REDUCT_OK;
}

static enum outcome fail_with(reduct_status status, const reduct_error *error) {
    return fail("%s", *error->message ? error->message : reduct_status_text(status));
}

/* Those that are asked for, one after the other. */
static enum outcome run_devices(const struct climb *climb, report *r) {
    reduct_error error = {.index = UINT64_MAX};
    for (size_t i = 0; i < climb->device_count; i++) {
        reduct_status status = run_all(climb, climb->devices[i], r, &error);
        if (status == REDUCT_ERROR_NO_DEVICE)
            return misuse("--device: %s: %s", climb->devices[i], error.message);
        if (status != REDUCT_OK)
            return fail_with(status, &error);
    }
    return DONE;
}

/* Where no device is asked for: the first GPU, if there is one and it has the rung; else the CPU. */
static enum outcome run_any(const struct climb *climb, report *r) {
    reduct_error error = {.index = UINT64_MAX};
    const char *rung = climb->ladder.rung;
    reduct_status status = REDUCT_ERROR_NO_DEVICE;
    if (climb->second || is_on_gpu(rung))
        status = run_all(climb, "cuda:0", r, &error);
    bool absent = status == REDUCT_ERROR_NO_DEVICE || status == REDUCT_ERROR_UNSUPPORTED;
    if (absent && climb->mine) { /* it has means of its own to find a GPU, and to say that there is none */
        report_warning(r, "no rungs to compare with: %s", error.message);
        return DONE;
    }
    if (!absent)
        return status == REDUCT_OK ? DONE : fail_with(status, &error);
    if (climb->second)
        return fail("%s: only %s has them. %s", climb->second->name, ladders_with(climb->second), error.message);
    if (climb->needs_gpu || !is_on_cpu(rung))
        return fail("%s: only GPUs have it. %s", climb->needs_gpu ? climb->needs_gpu : rung, error.message);
    if (*error.message && !climb->quiet)
        fprintf(stderr, "reduct: %s; climbing the ladder of the CPU instead\n", error.message);
    status = run_all(climb, "cpu", r, &error);
    return status == REDUCT_OK ? DONE : fail_with(status, &error);
}

/* The reader's kernel, checked once, then timed with every size and type. */
static reduct_status add_mine(const struct climb *climb, const ladder_mine *mine, report *r, reduct_error *error) {
    reduct_status status = ladder_mine_check(mine, r, error);
    for (size_t s = 0; s < climb->size_count && status == REDUCT_OK; s++)
        for (size_t t = 0; t < types_of(climb) && status == REDUCT_OK; t++) {
            ladder_options options = climb->ladder;
            options.n = climb->sizes[s];
            options.type = type_of(climb, t);
            status = ladder_mine_time(mine, &options, r, error);
        }
    return status;
}

static enum outcome run(const struct climb *climb, report *r) {
    return climb->device_count ? run_devices(climb, r) : run_any(climb, r);
}

static const char *first_cuda(const struct climb *climb) {
    for (size_t i = 0; i < climb->device_count; i++) {
        if (strncmp(climb->devices[i], "cuda:", 5) == 0)
            return climb->devices[i];
    }
    return "cuda:0";
}

/* The rungs first, so that there is a ladder to place it on; but nothing where it does not compile. */
static enum outcome run_with_mine(const struct climb *climb, report *r) {
    reduct_error error = {.index = UINT64_MAX};
    ladder_mine *mine = ladder_mine_create(climb->mine, first_cuda(climb), &error);
    if (!mine)
        return fail("%s", error.message);
    enum outcome outcome = run(climb, r);
    reduct_status status = outcome == DONE ? add_mine(climb, mine, r, &error) : REDUCT_OK;
    ladder_mine_destroy(mine);
    return status == REDUCT_OK ? outcome : fail_with(status, &error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Printing
 * ------------------------------------------------------------------------------------------------------------------ */

static enum outcome write_file(const report *r, report_writer *write, const char *path) {
    return report_write_file(r, write, path) != 0 ? fail("%s: %s", path, strerror(errno)) : DONE;
}

enum outcome ladder_command(int argc, char **argv) {
    struct climb climb;
    enum outcome outcome = parse(argc, argv, &climb);
    if (outcome != DONE)
        return outcome;
    if (climb.list) {
        print_list();
        return DONE;
    }
    report *r = report_create(climb.second ? climb.second->title : "The ladder of parallel reduction",
                              "Every rung sums the same numbers; every result is checked against the exact sum.");
    report_feature(r, "rungs");
    measure_machine machine;
    measure_machine_describe(&machine);
    report_fact(r, "program", "reduct %s", reduct_version());
    report_fact(r, "date", "%s", machine.date);
    outcome = climb.mine ? run_with_mine(&climb, r) : run(&climb, r);
    if (outcome == DONE && climb.html)
        outcome = write_file(r, report_write_html, climb.html);
    if (outcome == DONE && climb.submission)
        outcome = write_file(r, report_write_submission, climb.submission);
    /* What cannot be written to standard output is noticed when the command ends. */
    if (outcome == DONE)
        (climb.write ? climb.write : report_write_terminal)(r, stdout);
    if (outcome == DONE && report_has_wrong(r))
        outcome = fail("a result is wrong");
    report_destroy(r);
    return outcome;
}
