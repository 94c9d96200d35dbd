/* Chunks in, one result out: see reducer.h. */
#include "reducer.h"

#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "tables.h"

enum outcome pass_on(const char *where, const reduct_error *error) {
    switch (error->status) {
    case REDUCT_ERROR_ARGUMENT:
    case REDUCT_ERROR_UNSUPPORTED:
    case REDUCT_ERROR_NO_DEVICE:
        return misuse("%s: %s", where, error->message);
    default:
        return fail("%s: %s", where, error->message);
    }
}

/* The result type: as asked for; otherwise the widest that the operator has, so that nothing is lost; otherwise its
 * default. */
static reduct_status resolve(reduct_reduction *reduction, const struct options *options, reduct_error *error) {
    reduction->result = options->result;
    if (options->result != REDUCT_DEFAULT || options->wrap ||
        (options->output && !reduct_type_is_float(reduction->element)))
        return reduct_reduction_resolve(reduction, error);
    reduction->result = reduct_type_is_float(reduction->element) ? REDUCT_F64 : REDUCT_I256;
    if (reduct_reduction_resolve(reduction, NULL) == REDUCT_OK)
        return REDUCT_OK;
    reduction->result = REDUCT_DEFAULT;
    return reduct_reduction_resolve(reduction, error);
}

static reduct_status create_accumulator(const struct reducer *reducer, const struct options *options,
                                        reduct_accumulator **accumulator, reduct_error *error) {
    const reduct_accumulator_options wanted = {
        .reduction = &reducer->reduction, .device = options->device, .threads = options->input.threads};
    return reduct_accumulator_create(&wanted, accumulator, error);
}

static const void *next_element(const struct input *input, uint64_t ahead) {
    return (const char *)input->chunk.data + (input->used + ahead) * reduct_type_size(input->reader.type);
}

/* Says which input's element is the NaN: of a pair that may be the second. */
static enum outcome refuse_nan(const struct reducer *reducer, const struct input *inputs, uint64_t ahead) {
    char place[PLACE];
    bool second = reduct_operator_inputs(reducer->reduction.op) > 1 &&
                  !element_is_nan(reducer->reduction.element, next_element(inputs, ahead));
    const struct input *guilty = &inputs[second ? 1 : 0];
    reader_place(&guilty->reader, guilty->used + ahead, place);
    return fail("%s: found NaN; --nan error expects none", place);
}

/* Adds elements that lie `ahead` of what is done. */
static enum outcome add(struct reducer *reducer, const struct input *inputs, uint64_t ahead, uint64_t count) {
    reduct_error error;
    bool pairs = reduct_operator_inputs(reducer->reduction.op) > 1;
    const struct chunk elements = {next_element(inputs, ahead), count};
    const uint64_t first = inputs->reader.chunk_first + inputs->used + ahead;
    reduct_status status = reducer->index
                               ? extreme_add(&reducer->extreme, &inputs->reader, &elements, first, &error)
                               : reduct_accumulator_add(reducer->accumulator, elements.data,
                                                        pairs ? next_element(&inputs[1], ahead) : NULL, count, &error);
    if (status == REDUCT_ERROR_NAN)
        return refuse_nan(reducer, inputs, ahead + error.index - reducer->added);
    if (status != REDUCT_OK)
        return pass_on(reader_name(&inputs->reader), &error);
    reducer->added += reducer->index ? 0 : count; /* the accumulator of an index starts anew with each chunk */
    return DONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Fast sums: the last bits depend on how the data is split, which must not be left to a pipe's timing. Blocks of a fixed
 * length, counted from the first element of all, give the same bits every time and from every kind of file.
 *
 * A block that lies in a chunk as a whole is added from there, by all threads. Other blocks are put together from pieces, in an
 * accumulator of their own. The CPU backend cuts a block into the same pieces and adds them in the same order, so the bits are
 * the same; and a piece that comes through a pipe is added while it is in the cache. On other devices a piece is a whole block.
 * Elements are copied only where a piece does not lie in one chunk: they wait on the stage for the rest of it.
 * ------------------------------------------------------------------------------------------------------------------ */

/* Long enough for many threads. */
#define BLOCK ((uint64_t)1 << 22)

/* The shortest piece of src/cpu/backend.c, which all pieces of a block are. */
#define CPU_PIECE ((uint64_t)1 << 16)

static bool is_cpu(const char *device) {
    return strcmp(device, "auto") == 0 || strncmp(device, "cpu", 3) == 0;
}

/* Before the first element, where the accumulator is there. */
static enum outcome open_blocks(struct reducer *reducer, const struct options *options) {
    reduct_error error;
    reducer->piece = is_cpu(options->device) ? CPU_PIECE : BLOCK;
    if (create_accumulator(reducer, options, &reducer->block, &error) != REDUCT_OK)
        return pass_on("--device", &error);
    return DONE;
}

/* Adds the block in hand, be it whole or the last, to all before it. */
static reduct_status end_block(struct reducer *reducer, reduct_error *error) {
    if (reducer->in_block == 0)
        return REDUCT_OK;
    reduct_status status = reduct_accumulator_merge(reducer->accumulator, reducer->block, error);
    reduct_accumulator_reset(reducer->block);
    reducer->added += reducer->in_block;
    reducer->in_block = 0;
    return status;
}

static reduct_status add_piece(struct reducer *reducer, const void *x, const void *y, uint64_t count,
                               reduct_error *error) {
    reduct_status status = reduct_accumulator_add(reducer->block, x, y, count, error);
    if (status != REDUCT_OK)
        return status;
    reducer->in_block += count;
    return reducer->in_block == BLOCK ? end_block(reducer, error) : REDUCT_OK;
}

/* Adds a piece that lies `ahead` of what is done. */
static enum outcome add_piece_of_chunk(struct reducer *reducer, const struct input *inputs, uint64_t ahead) {
    reduct_error error;
    const void *y = reduct_operator_inputs(reducer->reduction.op) > 1 ? next_element(&inputs[1], ahead) : NULL;
    reduct_status status = add_piece(reducer, next_element(inputs, ahead), y, reducer->piece, &error);
    if (status == REDUCT_ERROR_NAN)
        return refuse_nan(reducer, inputs, ahead + error.index - reducer->in_block);
    return status == REDUCT_OK ? DONE : pass_on(reader_name(&inputs->reader), &error);
}

static enum outcome flush_stage(struct reducer *reducer, const char *name) {
    struct stage *stage = &reducer->stage;
    reduct_error error;
    reduct_status status = add_piece(reducer, stage->data[0], stage->data[1], stage->count, &error);
    stage->count = 0;
    return status == REDUCT_OK ? DONE : pass_on(name, &error);
}

/* Copies elements; while it is known where they come from, a NaN that may not be is refused. */
static enum outcome put_on_stage(struct reducer *reducer, const struct input *inputs, uint64_t ahead, uint64_t count) {
    struct stage *stage = &reducer->stage;
    size_t size = reduct_type_size(reducer->reduction.element);
    for (int i = 0; i < reduct_operator_inputs(reducer->reduction.op); i++) {
        if (!stage->data[i] && !(stage->data[i] = malloc(reducer->piece * size)))
            return fail_memory();
        memcpy(stage->data[i] + stage->count * size, next_element(&inputs[i], ahead), count * size);
        for (uint64_t k = 0; reducer->reduction.nan == REDUCT_NAN_ERROR && k < count; k++) {
            if (element_is_nan(reducer->reduction.element, next_element(&inputs[i], ahead + k)))
                return refuse_nan(reducer, inputs, ahead + k);
        }
    }
    stage->count += count;
    return stage->count == reducer->piece ? flush_stage(reducer, reader_name(&inputs->reader)) : DONE;
}

/* True if nothing follows the elements in hand: the last block may be shorter. */
static bool is_end(const struct reducer *reducer, const struct input *inputs, uint64_t count) {
    return reducer->last_input && reader_is_last_chunk(&inputs->reader) && inputs->used + count == inputs->chunk.count;
}

static enum outcome add_in_blocks(struct reducer *reducer, const struct input *inputs, uint64_t count) {
    enum outcome outcome = DONE;
    for (uint64_t done = 0, step; done < count && outcome == DONE; done += step) {
        uint64_t left = count - done, room = reducer->piece - reducer->stage.count;
        bool begun = reducer->in_block + reducer->stage.count > 0;
        if (!begun && (left >= BLOCK || is_end(reducer, inputs, count))) {
            step = left < BLOCK ? left : BLOCK;
            outcome = add(reducer, inputs, done, step);
        } else if (left >= reducer->piece && reducer->stage.count == 0) {
            step = reducer->piece;
            outcome = add_piece_of_chunk(reducer, inputs, done);
        } else {
            step = left < room ? left : room;
            outcome = put_on_stage(reducer, inputs, done, step);
        }
    }
    return outcome;
}

/* Adds what waits for more, when nothing comes any more. */
static enum outcome end_blocks(struct reducer *reducer, const char *name) {
    reduct_error error;
    enum outcome outcome = reducer->stage.count > 0 ? flush_stage(reducer, name) : DONE;
    if (outcome == DONE && end_block(reducer, &error) != REDUCT_OK)
        outcome = pass_on(name, &error);
    return outcome;
}

/* ------------------------------------------------------------------------------------------------------------------ */

enum outcome reducer_resolve(const struct options *options, reduct_operator op, reduct_type type, const char *name,
                             reduct_reduction *reduction) {
    reduct_error error;
    struct operator_traits traits = operator_traits(op);
    bool wrap = options->wrap && traits.wide;
    *reduction = (reduct_reduction){.op = op,
                                    .element = type,
                                    .mode = options->mode,
                                    .nan = options->nan,
                                    .flags = (options->population && traits.population ? REDUCT_POPULATION : 0) |
                                             (wrap ? REDUCT_WRAP : 0)};
    reduct_status status = resolve(reduction, options, &error);
    if (status != REDUCT_OK && traits.integers && reduct_type_is_float(type))
        return misuse("%s: %s of %s elements has no meaning; expected integers%s", name, operator_table(op),
                      reduct_type_name(type), options->input.type ? "" : " (text is f64 unless --type says otherwise)");
    if (status != REDUCT_OK)
        return pass_on(options->result ? "--result" : name, &error);
    if (wrap && reduct_type_is_float(reduction->result))
        return misuse("--wrap: %s of %s is %s; expected an integer result", operator_table(op), reduct_type_name(type),
                      reduct_type_name(reduction->result));
    return DONE;
}

enum outcome reducer_open(struct reducer *reducer, const struct options *options, reduct_operator op, reduct_type type,
                          const char *name) {
    reduct_error error;
    struct operator_traits traits = operator_traits(op);
    *reducer = (struct reducer){.accumulator = NULL};
    enum outcome outcome = reducer_resolve(options, op, type, name, &reducer->reduction);
    if (outcome != DONE)
        return outcome;
    if (create_accumulator(reducer, options, &reducer->accumulator, &error) != REDUCT_OK)
        return pass_on(error.status == REDUCT_ERROR_NO_DEVICE ? "--device" : name, &error);
    reducer->index = traits.index;
    reducer->extreme = (struct extreme){.accumulator = reducer->accumulator, .type = type, .least = traits.least};
    reducer->in_blocks = options->mode == REDUCT_FAST && reduct_type_is_float(type) && !traits.index;
    return reducer->in_blocks ? open_blocks(reducer, options) : DONE;
}

void reducer_close(struct reducer *reducer) {
    reduct_accumulator_destroy(reducer->accumulator);
    reduct_accumulator_destroy(reducer->block);
    free(reducer->stage.data[0]);
    free(reducer->stage.data[1]);
}

void reducer_begin_input(struct reducer *reducer, struct input *input, bool last) {
    uint64_t before = reducer->added + reducer->in_block + reducer->stage.count;
    reducer->last_input = last;
    if (reducer
            ->in_blocks) /* a mapped file has whole blocks in hand, what is read has no more than fits into the cache */
        reader_in_blocks(&input->reader, input->reader.source.mapped ? BLOCK : reducer->piece, before);
}

enum outcome reducer_add(struct reducer *reducer, const struct input *inputs, uint64_t count) {
    return reducer->in_blocks ? add_in_blocks(reducer, inputs, count) : add(reducer, inputs, 0, count);
}

void reducer_end_input(struct reducer *reducer, const struct input *input) {
    const struct reader *reader = &input->reader;
    reducer->extreme.base += reader->count != COUNT_UNKNOWN ? reader->count : reader->chunk_first;
}

/* Fast sums show how they are split; products of floats meet only in some places. */
bool reducer_has_parts(const struct reducer *reducer) {
    reduct_words form;
    return !reducer->in_blocks && reduct_reduction_words(&reducer->reduction, &form, NULL) == REDUCT_OK;
}

enum outcome reducer_save(const struct reducer *reducer, unsigned char state[REDUCER_STATE]) {
    size_t size = REDUCER_STATE;
    if (reducer->index)
        memcpy(state, &reducer->extreme, sizeof reducer->extreme);
    else if (reduct_accumulator_save(reducer->accumulator, state, &size, NULL) != REDUCT_OK)
        return FAILED;
    return DONE;
}

enum outcome reducer_merge(struct reducer *reducer, const unsigned char state[REDUCER_STATE]) {
    if (reducer->index) {
        struct extreme other;
        memcpy(&other, state, sizeof other);
        extreme_merge(&reducer->extreme, &other);
        return DONE;
    }
    size_t size = 0;
    reduct_accumulator *other = NULL;
    reduct_error error;
    reduct_status status = reduct_accumulator_save(reducer->accumulator, NULL, &size, &error); /* as long as its kind */
    if (status == REDUCT_OK)
        status = reduct_accumulator_load(state, size, &(reduct_accumulator_options){.device = "cpu"}, &other, &error);
    if (status == REDUCT_OK)
        status = reduct_accumulator_merge(reducer->accumulator, other, &error);
    reduct_accumulator_destroy(other);
    return status == REDUCT_OK ? DONE : pass_on("ranks", &error);
}

enum outcome reducer_result(struct reducer *reducer, const char *name, union result *result, bool *missing) {
    reduct_error error;
    reduct_status status;
    enum outcome outcome = reducer->in_blocks ? end_blocks(reducer, name) : DONE;
    if (outcome != DONE)
        return outcome;
    if (reducer->index)
        status = extreme_result(&reducer->extreme, &result->word[0], &error);
    else
        status = reduct_accumulator_result(reducer->accumulator, REDUCT_DEFAULT, result, &error);
    if (missing)
        *missing = status == REDUCT_ERROR_EMPTY;
    return status == REDUCT_OK || (missing && *missing) ? DONE : pass_on(name, &error);
}
