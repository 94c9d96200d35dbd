/* Chunks in, one result out: see reducer.h. */
#include "reducer.h"

#include <string.h>

#include "element.h"
#include "tables.h"

/* Passes on what the library says. It is the command line's fault where what was asked for does not exist. */
static enum outcome pass_on(const char *where, const reduct_error *error) {
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
    if (options->result != REDUCT_DEFAULT || options->wrap)
        return reduct_reduction_resolve(reduction, error);
    reduction->result = reduct_type_is_float(reduction->element) ? REDUCT_F64 : REDUCT_I256;
    if (reduct_reduction_resolve(reduction, NULL) == REDUCT_OK)
        return REDUCT_OK;
    reduction->result = REDUCT_DEFAULT;
    return reduct_reduction_resolve(reduction, error);
}

enum outcome reducer_open(struct reducer *reducer, const struct options *options, reduct_type type, const char *name) {
    reduct_error error;
    *reducer = (struct reducer){
        .reduction = {.op = options->op,
                      .element = type,
                      .mode = options->mode,
                      .nan = options->nan,
                      .flags = (options->population ? REDUCT_POPULATION : 0) | (options->wrap ? REDUCT_WRAP : 0)}};
    struct operator_traits traits = operator_traits(options->op);
    if (resolve(&reducer->reduction, options, &error) != REDUCT_OK)
        return pass_on(options->result ? "--result" : name, &error);
    if (options->wrap && reduct_type_is_float(reducer->reduction.result))
        return misuse("--wrap: integer results have it; %s of %s is %s", reduct_operator_name(options->op),
                      reduct_type_name(type), reduct_type_name(reducer->reduction.result));
    if (reduct_accumulator_create(&reducer->reduction, options->device, options->input.threads, &reducer->accumulator,
                                  &error) != REDUCT_OK)
        return pass_on(error.status == REDUCT_ERROR_NO_DEVICE ? "--device" : name, &error);
    reducer->index = traits.index;
    reducer->extreme = (struct extreme){.accumulator = reducer->accumulator, .type = type, .least = traits.least};
    return DONE;
}

void reducer_close(struct reducer *reducer) {
    reduct_accumulator_destroy(reducer->accumulator);
    reducer->accumulator = NULL;
}

static const void *next_element(const struct input *input, uint64_t ahead) {
    return (const char *)input->chunk.data + (input->used + ahead) * reduct_type_size(input->reader.type);
}

/* Says which input's element is the NaN. A pair may also have it as its product, as 0 and infinity do. */
static enum outcome refuse_nan(const struct reducer *reducer, const struct input *inputs, uint64_t ahead) {
    char place[PLACE];
    int count = reduct_operator_inputs(reducer->reduction.op);
    int guilty = 0;
    while (guilty < count && !element_is_nan(reducer->reduction.element, next_element(&inputs[guilty], ahead)))
        guilty++;
    const struct input *input = &inputs[guilty < count ? guilty : 0];
    reader_place(&input->reader, input->used + ahead, place);
    if (guilty == count)
        return fail("%s: its product with the other input is NaN; --nan error expects none", place);
    return fail("%s: found NaN; --nan error expects none", place);
}

enum outcome reducer_add(struct reducer *reducer, const struct input *inputs, uint64_t count) {
    reduct_error error;
    reduct_status status;
    if (reducer->index)
        status = extreme_add(&reducer->extreme, &inputs->reader, &inputs->chunk, &error);
    else
        status = reduct_accumulator_add(
            reducer->accumulator, next_element(inputs, 0),
            reduct_operator_inputs(reducer->reduction.op) > 1 ? next_element(&inputs[1], 0) : NULL, count, &error);
    if (status == REDUCT_ERROR_NAN)
        return refuse_nan(reducer, inputs, error.index - reducer->added);
    if (status != REDUCT_OK)
        return pass_on(reader_name(&inputs->reader), &error);
    if (!reducer->index)
        reducer->added += count;
    return DONE;
}

void reducer_end_input(struct reducer *reducer, const struct input *input) {
    reducer->extreme.base += input->reader.chunk_first;
}

enum outcome reducer_result(struct reducer *reducer, const char *name, union result *result) {
    reduct_error error;
    reduct_status status;
    if (reducer->index)
        status = extreme_result(&reducer->extreme, &result->word[0], &error);
    else
        status = reduct_accumulator_result(reducer->accumulator, REDUCT_DEFAULT, result, &error);
    return status == REDUCT_OK ? DONE : pass_on(name, &error);
}
