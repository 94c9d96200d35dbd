/* From the files on the command line to the number on standard output. */
#include "reduce.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axes.h"
#include "files.h"
#include "options.h"
#include "print.h"
#include "progress.h"
#include "ranks.h"
#include "reducer.h"
#include "tables.h"

/* The most inputs that an operator reads at a time. */
enum { INPUTS_MOST = 2 };

struct run {
    const struct options *options;
    struct files files;
    struct reducer reducers[OPERATORS_MOST]; /* one for each operator */
    struct input inputs[INPUTS_MOST];
    size_t input_count; /* read at a time */
    uint64_t bytes;     /* of inputs that are done */
    const char *first;  /* name of the first input, whose type the others must have, */
    reduct_type type;   /* and its type */
    const char *shard;  /* the first input of a directory, whose format the others there must have, */
    enum format format; /* and its format */
    struct ranks ranks; /* of which this one takes a part of each input */
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Before: what is missing is said before work begins
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_typed(const char *path) {
    return strcmp(path, "-") == 0 && isatty(STDIN_FILENO);
}

/* Adds up the sizes of all inputs, 0 if one is not known. */
static enum outcome survey(const struct run *run, uint64_t *total, bool *typed) {
    bool known = !run->options->input.has_count;
    *total = 0;
    *typed = false;
    for (size_t i = 0; i < run->files.count; i++) {
        const char *path = run->files.names[i];
        struct stat status;
        *typed = *typed || is_typed(path);
        if (strcmp(path, "-") == 0)
            known = known && fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
        else if (stat(path, &status) != 0)
            return fail("%s: %s", path, strerror(errno));
        else
            known = known && S_ISREG(status.st_mode);
        *total += known ? (uint64_t)status.st_size : 0;
    }
    *total = known ? *total : 0;
    return DONE;
}

static enum outcome check_type(const struct run *run, const struct reader *reader) {
    if (reader->type == run->type)
        return DONE;
    return fail("%s: %s elements; expected %s, as in %s%s", reader_name(reader), reduct_type_name(reader->type),
                reduct_type_name(run->type), run->first,
                run->options->input.type ? "" : " (text is f64 unless --type says otherwise)");
}

/* What lies in a directory is meant as one array: where one file there is read otherwise than those before, it is there by mistake,
 * or has been taken for what it is not. */
static enum outcome check_format(struct run *run, size_t file, const struct reader *reader) {
    static const char *const FORMATS[] = {
        [FORMAT_NPY] = "a .npy file", [FORMAT_RAW] = "raw binary", [FORMAT_TEXT] = "text"};
    const char *const *directories = run->files.directories;
    if (!directories[file])
        return DONE;
    if (file == 0 || directories[file] != directories[file - 1]) {
        run->shard = reader_name(reader);
        run->format = reader->format;
    }
    if (reader->format == run->format)
        return DONE;
    return fail("%s: this is %s; expected %s, as %s in the same directory is%s", reader_name(reader),
                FORMATS[reader->format], FORMATS[run->format], run->shard,
                run->options->input.type ? " (--format says how all are read)" : "");
}

/* Cuts an input, where its parts come to what it comes to as a whole. An index needs the numbers of elements, and pairs need the
 * elements of the same index: text does not tell them, and in Fortran order they lie elsewhere. */
static enum outcome take_part(struct run *run, struct input *input) {
    const struct reader *reader = &input->reader;
    bool pairs = options_inputs(run->options) > 1, can = true;
    for (size_t i = 0; i < run->options->op_count; i++)
        can =
            can && reducer_has_parts(&run->reducers[i]) && (!run->reducers[i].index || reader->count != COUNT_UNKNOWN);
    if (pairs)
        can = can && reader->count != COUNT_UNKNOWN && !reader->layout.fortran;
    can = can && reader_take_part(&input->reader, (unsigned)run->ranks.rank, (unsigned)run->ranks.size);
    return can ? DONE : FAILED;
}

static enum outcome open_input(struct run *run, struct input *input, size_t file) {
    const char *path = run->files.names[file];
    bool last = file + options_inputs(run->options) >= run->files.count;
    *input = (struct input){.used = 0};
    if (is_typed(path) && !run->options->quiet) /* someone who gave no file should know what it waits for */
        fputs("reduct: reading numbers from the terminal; an end of file (Ctrl-D) ends them\n", stderr);
    enum outcome outcome = reader_open(&input->reader, path, &run->options->input);
    if (outcome == DONE)
        outcome = check_format(run, file, &input->reader);
    if (outcome != DONE)
        return outcome;
    if (run->first) {
        outcome = check_type(run, &input->reader);
    } else {
        run->first = reader_name(&input->reader);
        run->type = input->reader.type;
        for (size_t i = 0; i < run->options->op_count && outcome == DONE; i++)
            outcome = reducer_open(&run->reducers[i], run->options, run->options->ops[i], run->type, run->first);
    }
    if (outcome == DONE && run->ranks.size > 1)
        outcome = take_part(run, input);
    for (size_t i = 0; i < run->options->op_count && outcome == DONE; i++)
        reducer_begin_input(&run->reducers[i], input, last);
    return outcome;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * During
 * ------------------------------------------------------------------------------------------------------------------ */

/* Sees to it that an input has elements in hand, unless it has ended. */
static enum outcome fill(struct input *input) {
    if (input->used < input->chunk.count)
        return DONE;
    input->used = 0;
    return reader_next(&input->reader, &input->chunk);
}

static void report_progress(const struct run *run) {
    uint64_t done = run->bytes;
    for (size_t i = 0; i < run->input_count; i++)
        done += run->inputs[i].reader.source.position;
    progress_update(done);
}

static enum outcome check_sources(const struct run *run) {
    enum outcome outcome = DONE;
    for (size_t i = 0; i < run->input_count && outcome == DONE; i++)
        outcome = source_check_length(&run->inputs[i].reader.source);
    return outcome;
}

/* Reduces the inputs that are open, in lockstep, up to the end of the shortest. */
static enum outcome reduce_inputs(struct run *run) {
    for (;;) {
        uint64_t count = UINT64_MAX;
        for (size_t i = 0; i < run->input_count; i++) {
            struct input *input = &run->inputs[i];
            enum outcome outcome = fill(input);
            if (outcome != DONE)
                return outcome;
            uint64_t left = input->chunk.count - input->used;
            count = left < count ? left : count;
        }
        if (count == 0)
            return check_sources(run);
        for (size_t i = 0; i < run->options->op_count; i++) {
            enum outcome outcome = reducer_add(&run->reducers[i], run->inputs, count);
            if (outcome != DONE)
                return outcome;
        }
        for (size_t i = 0; i < run->input_count; i++)
            run->inputs[i].used += count;
        report_progress(run);
    }
}

/* The elements that an input has in all: read to its end where that is known to come. */
static enum outcome count_elements(struct input *input, uint64_t *count, const char **more) {
    struct reader *reader = &input->reader;
    *more = "";
    while (reader->count == COUNT_UNKNOWN && input->chunk.count > 0) {
        if (reader->source.size == SOURCE_SIZE_UNKNOWN) {
            *more = " or more";
            break;
        }
        enum outcome outcome = reader_next(reader, &input->chunk);
        if (outcome != DONE)
            return outcome;
    }
    *count = reader->count != COUNT_UNKNOWN ? reader->count : reader->chunk_first + reader->chunk_count;
    return DONE;
}

static enum outcome check_lengths(struct input *a, struct input *b) {
    uint64_t count_a, count_b;
    const char *more_a, *more_b;
    enum outcome outcome = count_elements(a, &count_a, &more_a);
    if (outcome == DONE)
        outcome = count_elements(b, &count_b, &more_b);
    if (outcome != DONE || count_a == count_b)
        return outcome;
    return fail("%s holds %" PRIu64 "%s elements, %s %" PRIu64 "%s; expected as many", reader_name(&a->reader), count_a,
                more_a, reader_name(&b->reader), count_b, more_b);
}

/* Pairs must be of elements with the same index. */
static enum outcome check_shapes(const struct reader *a, const struct reader *b) {
    char text_a[LAYOUT_TEXT], text_b[LAYOUT_TEXT];
    bool rows = a->layout.rank == 1 && b->layout.rank == 1; /* of which only the length counts */
    if (!a->layout.shaped || !b->layout.shaped || rows || layout_same_shape(&a->layout, &b->layout))
        return DONE;
    return fail("%s has the shape %s, %s %s; expected the same", reader_name(a), layout_text(&a->layout, text_a),
                reader_name(b), layout_text(&b->layout, text_b));
}

/* Whether a result depends on the order of the elements. */
static bool needs_order(const struct run *run) {
    for (size_t i = 0; i < run->options->op_count; i++)
        if (operator_traits(run->options->ops[i]).ordered && reduct_type_is_float(run->type))
            return true;
    return false;
}

/* Two arrays that lie alike are read alike, whatever their order, unless a result depends on it. */
static enum outcome match_orders(const struct run *run, struct reader *a, struct reader *b) {
    if (a->layout.fortran && b->layout.fortran && !needs_order(run))
        return DONE;
    enum outcome outcome = reader_in_order(a);
    return outcome == DONE ? reader_in_order(b) : outcome;
}

/* Operators of one input: all files, one after the other. */
static enum outcome reduce_in_turn(struct run *run) {
    const struct options *options = run->options;
    struct input *input = &run->inputs[0];
    enum outcome outcome = DONE;
    run->input_count = 1;
    for (size_t i = 0; i < run->files.count && outcome == DONE; i++) {
        outcome = open_input(run, input, i);
        if (outcome == DONE && needs_order(run))
            outcome = reader_in_order(&input->reader);
        if (outcome == DONE)
            outcome = reduce_inputs(run);
        for (size_t k = 0; k < options->op_count; k++)
            reducer_end_input(&run->reducers[k], input);
        run->bytes += input->reader.source.position;
        reader_close(&input->reader);
    }
    return outcome;
}

/* Where an operator reads two inputs: pair by pair. Others take the first of each. */
static enum outcome reduce_together(struct run *run) {
    enum outcome outcome = DONE;
    struct input *inputs = run->inputs;
    for (run->input_count = 0; run->input_count < INPUTS_MOST && outcome == DONE; run->input_count++)
        outcome = open_input(run, &inputs[run->input_count], run->input_count);
    if (outcome == DONE)
        outcome = check_shapes(&inputs[0].reader, &inputs[1].reader);
    bool known = outcome == DONE && inputs[0].reader.count != COUNT_UNKNOWN && inputs[1].reader.count != COUNT_UNKNOWN;
    if (known)
        outcome = check_lengths(&inputs[0], &inputs[1]);
    if (outcome == DONE)
        outcome = match_orders(run, &inputs[0].reader, &inputs[1].reader);
    if (outcome == DONE)
        outcome = reduce_inputs(run);
    if (outcome == DONE)
        outcome = check_lengths(&inputs[0], &inputs[1]);
    for (size_t i = 0; i < run->input_count; i++)
        reader_close(&inputs[i].reader);
    return outcome;
}

/* A line for each operator, with all its values; nothing before all of them are known. */
static enum outcome print_results(struct run *run) {
    union result results[OPERATORS_MOST];
    bool missing[OPERATORS_MOST] = {false};
    const char *text = run->options->missing;
    size_t count = run->options->op_count;
    for (size_t i = 0; i < count; i++) {
        enum outcome outcome = reducer_result(&run->reducers[i], run->first, &results[i], text ? &missing[i] : NULL);
        if (outcome != DONE)
            return outcome;
    }
    for (size_t i = 0; i < count; i++) {
        const reduct_reduction *reduction = &run->reducers[i].reduction;
        if (missing[i])
            print_missing(text, reduct_operator_outputs(reduction->op));
        else
            print_numbers(reduction->result, &results[i], reduct_operator_outputs(reduction->op), run->options->hex);
        putchar('\n');
    }
    return DONE;
}

static void close_run(struct run *run) {
    for (size_t i = 0; i < run->options->op_count; i++)
        reducer_close(&run->reducers[i]);
    files_free(&run->files);
}

/* Lists the inputs. Directories are for operators that take any number of them. */
static enum outcome find_files(struct run *run) {
    const struct options *options = run->options;
    bool any_number = options_inputs(options) == 1;
    return files_find(&run->files, options->paths, options->path_count, any_number);
}

/* From the files up to the results. */
static enum outcome reduce_all(struct run *run) {
    const struct options *options = run->options;
    uint64_t total;
    bool typed;
    enum outcome outcome = survey(run, &total, &typed);
    if (outcome != DONE)
        return outcome;
    progress_start(total / (uint64_t)run->ranks.size, options->quiet || typed || run->ranks.rank > 0);
    outcome = options_inputs(options) == 1 ? reduce_in_turn(run) : reduce_together(run);
    progress_erase();
    return outcome;
}

static enum outcome reduce_whole(const struct options *options) {
    struct run run = {.options = options, .ranks = {0, 1}};
    enum outcome outcome = find_files(&run);
    if (outcome == DONE)
        outcome = reduce_all(&run);
    if (outcome == DONE)
        outcome = print_results(&run);
    close_run(&run);
    return outcome;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * On several ranks
 * ------------------------------------------------------------------------------------------------------------------ */

/* Merges what the ranks have of one operator, in their order, at rank 0. */
static enum outcome merge_ranks(struct reducer *reducer, const struct ranks *ranks) {
    unsigned char mine[REDUCER_STATE] = {0}, *all = NULL;
    size_t count = ranks->rank == 0 ? (size_t)ranks->size : 0;
    bool good = reducer_save(reducer, mine) == DONE;
    if (count > 0 && !(all = malloc(count * REDUCER_STATE)))
        good = false;
    if (!ranks_all(good)) {
        free(all);
        return FAILED;
    }
    ranks_gather(mine, REDUCER_STATE, all);
    enum outcome outcome = DONE;
    for (size_t r = 1; r < count && outcome == DONE; r++)
        outcome = reducer_merge(reducer, all + r * REDUCER_STATE);
    free(all);
    return outcome;
}

/* Whether all ranks find their inputs, and the same ones. Whatever goes wrong is no failure yet. What is no regular file rank 0 alone may open:
 * a pipe has its bytes for one reader, and would keep the others waiting. */
static bool find_same(struct run *run) {
    const struct options *options = run->options;
    bool before = message_silence(true);
    bool good = ranks_all(files_are_regular(options->paths, options->path_count) && find_files(run) == DONE) &&
                ranks_same(run->files.count, run->files.names);
    message_silence(before);
    return good;
}

/* Each rank reduces its part. Whatever goes wrong is no failure yet. */
static bool reduce_parts(struct run *run) {
    bool before = message_silence(true);
    bool good = ranks_all(reduce_all(run) == DONE);
    for (size_t i = 0; i < run->options->op_count && good; i++)
        good = ranks_all(merge_ranks(&run->reducers[i], &run->ranks) == DONE);
    message_silence(before);
    return good;
}

/* Whether all elements come to one result. */
static bool is_whole(const struct options *options) {
    return !options_have_results(options) && !options->mask;
}

static enum outcome reduce_alone(const struct options *options) {
    return !is_whole(options) ? axes_command(options) : reduce_whole(options);
}

/* What cannot be done in parts, or fails, rank 0 does alone, and says what there is to say. */
static enum outcome reduce_on_ranks(const struct options *options, const struct ranks *ranks) {
    struct run run = {.options = options, .ranks = *ranks};
    bool in_parts = is_whole(options) && find_same(&run);
    enum outcome outcome =
        in_parts ? ranks_check_sizes(ranks, run.files.count, run.files.names, run.files.sizes) : DONE;
    in_parts = in_parts && outcome == DONE && reduce_parts(&run);
    if (ranks->rank == 0 && in_parts)
        outcome = print_results(&run);
    close_run(&run);
    if (ranks->rank == 0 && !in_parts && outcome == DONE)
        outcome = reduce_alone(options);
    return ranks_close(outcome);
}

enum outcome reduce_command(int argc, char **argv, struct ranks ranks) {
    struct options options;
    enum outcome outcome = options_parse(argc, argv, &options);
    if (outcome == DONE)
        outcome = ranks_open(&ranks, argc, argv);
    if (outcome != DONE)
        return outcome;
    return ranks.size > 1 ? reduce_on_ranks(&options, &ranks) : reduce_alone(&options);
}
