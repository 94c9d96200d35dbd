/* Long executions on the CPU, in pieces, between which signals are handled: Control-C is not kept waiting for the end.
 *
 * An array is cut along axes that stay, where each piece has results of its own. Where a single result is left, its elements go to an
 * accumulator, in order. Both give the bits of one execution. Mode fast is not cut, as its bits depend on where. */
#include "core.h"

#include "plan.h"

#include <string.h>
#include <time.h>

enum { X, Y, MASK, INPUTS };

/* Pieces are cut no narrower than this many bytes side by side, and single results not where fewer elements lie one after another: to read
 * less at a time would be slower than one execution is. */
enum { WIDTH_MIN = 4096, RUN_MIN = 1 << 20 };

/* How often signals are looked for, in milliseconds: for this the interpreter's lock is needed, which others may have. */
enum { PERIOD = 50 };

struct execution {
    const struct request *request;
    uint64_t piece;
    int64_t result_strides[REDUCT_RANK_MAX]; /* by axis of the array; 0 where it is reduced */
    PyThreadState *thread;
    int64_t looked; /* when signals were looked for, in milliseconds */
    bool interrupted;
};

/* A part of the array. */
struct part {
    uint64_t lengths[REDUCT_RANK_MAX];
    const char *inputs[INPUTS];
    char *results[REDUCTIONS_MAX];
};

static int64_t milliseconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether a signal's handler raised an exception. */
static bool is_interrupted(struct execution *execution) {
    int64_t now = milliseconds();
    if (now >= execution->looked && now - execution->looked < PERIOD)
        return false;
    PyEval_RestoreThread(execution->thread);
    execution->interrupted = PyErr_CheckSignals() != 0;
    execution->thread = PyEval_SaveThread();
    execution->looked = milliseconds();
    return execution->interrupted;
}

static bool is_reduced(const struct request *request, unsigned axis) {
    return request->array.axes >> axis & 1;
}

/* Elements from one to the next along an axis. */
static int64_t stride_of(const struct request *request, int input, unsigned axis) {
    return input == MASK ? request->mask_strides[axis] : request->strides[input][axis];
}

static size_t size_of(const struct request *request, int input) {
    return input == MASK ? 1 : reduct_type_size(request->reductions[0].element);
}

/* Goes on by so many places along an axis. */
static void advance(const struct execution *execution, struct part *part, unsigned axis, uint64_t count) {
    const struct request *request = execution->request;
    for (int input = 0; input < INPUTS; input++)
        if (part->inputs[input])
            part->inputs[input] += (int64_t)count * stride_of(request, input, axis) * (int64_t)size_of(request, input);
    for (size_t which = 0; which < request->count; which++)
        part->results[which] += (int64_t)count * execution->result_strides[axis] *
                                (int64_t)reduct_type_size(request->reductions[which].result);
}

static reduct_status execute_part(const struct execution *execution, const struct part *part) {
    const struct request *request = execution->request;
    reduct_plan_options options = request->options;
    reduct_array array = request->array;
    array.lengths = part->lengths;
    array.strides[X] = request->strides[X];
    array.strides[Y] = part->inputs[Y] ? request->strides[Y] : NULL;
    array.mask_strides = request->mask_strides;
    array.result_strides = execution->result_strides;
    options.kind = REDUCT_ARRAY;
    options.reductions = request->reductions;
    options.array = &array;
    const void *inputs[INPUTS];
    int count = 0;
    for (int input = 0; input < INPUTS; input++)
        if (part->inputs[input])
            inputs[count++] = part->inputs[input];
    void *results[REDUCTIONS_MAX];
    for (size_t which = 0; which < request->count; which++)
        results[which] = part->results[which];
    reduct_plan *plan;
    reduct_status status = reduct_plan_create(&options, &plan, NULL);
    if (status != REDUCT_OK)
        return status;
    status = reduct_plan_execute(plan, inputs, results, NULL, NULL);
    reduct_plan_destroy(plan);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A single result
 * ------------------------------------------------------------------------------------------------------------------ */

/* The first axis from which on elements of all inputs lie one after another, and how many these are. */
static unsigned run_of(const struct request *request, const struct part *part, uint64_t *run) {
    unsigned axis = request->array.rank;
    for (*run = 1; axis > 0; axis--) {
        uint64_t length = part->lengths[axis - 1];
        for (int input = 0; input < INPUTS; input++)
            if (part->inputs[input] && length > 1 && stride_of(request, input, axis - 1) != (int64_t)*run)
                return axis;
        *run *= length;
    }
    return axis;
}

static reduct_status add_run(struct execution *execution, reduct_accumulator *accumulator, const struct part *part,
                             uint64_t run) {
    const struct request *request = execution->request;
    size_t size = size_of(request, X);
    reduct_status status = REDUCT_OK;
    for (uint64_t done = 0, count; done < run && status == REDUCT_OK; done += count) {
        if (is_interrupted(execution))
            return REDUCT_ERROR_CALLBACK;
        count = run - done < execution->piece ? run - done : execution->piece;
        const char *x = part->inputs[X] + done * size, *y = part->inputs[Y] ? part->inputs[Y] + done * size : NULL;
        status = part->inputs[MASK] ? reduct_accumulator_add_masked(accumulator, x, y, count, request->options.mask,
                                                                    part->inputs[MASK], done, NULL)
                                    : reduct_accumulator_add(accumulator, x, y, count, NULL);
    }
    return status;
}

/* All runs of the axes before `last`, in order. */
static reduct_status add_runs(struct execution *execution, reduct_accumulator *accumulator, const struct part *part,
                              unsigned axis, unsigned last, uint64_t run) {
    if (axis == last)
        return add_run(execution, accumulator, part, run);
    struct part at = *part;
    reduct_status status = REDUCT_OK;
    for (uint64_t i = 0; i < part->lengths[axis] && status == REDUCT_OK; i++) {
        status = add_runs(execution, accumulator, &at, axis + 1, last, run);
        advance(execution, &at, axis, 1);
    }
    return status;
}

static reduct_status accumulate(struct execution *execution, const struct part *part, unsigned last, uint64_t run) {
    const struct request *request = execution->request;
    reduct_accumulator_options options = {.reduction = request->reductions, .device = request->options.device};
    reduct_accumulator *accumulator;
    reduct_status status = reduct_accumulator_create(&options, &accumulator, NULL);
    if (status != REDUCT_OK)
        return status;
    status = add_runs(execution, accumulator, part, 0, last, run);
    if (status == REDUCT_OK)
        status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, part->results[0], NULL);
    reduct_accumulator_destroy(accumulator);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Cutting
 * ------------------------------------------------------------------------------------------------------------------ */

/* The axis that stays and has the longest way from one place to the next; the array's rank if all that stay have one place. */
static unsigned widest(const struct request *request, const struct part *part) {
    unsigned found = request->array.rank;
    uint64_t most = 0;
    for (unsigned axis = 0; axis < request->array.rank; axis++) {
        int64_t stride = request->strides[X][axis];
        uint64_t width = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
        if (!is_reduced(request, axis) && part->lengths[axis] > 1 && (found == request->array.rank || width > most)) {
            most = width;
            found = axis;
        }
    }
    return found;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* How many places of an axis make a piece. */
static uint64_t step_of(const struct execution *execution, const struct part *part, unsigned axis, uint64_t elements) {
    const struct request *request = execution->request;
    int64_t stride = request->strides[X][axis];
    uint64_t bytes = (stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride) * size_of(request, X);
    uint64_t narrowest = bytes ? (least(WIDTH_MIN, execution->piece) + bytes - 1) / bytes : 1;
    uint64_t step = execution->piece / (elements / part->lengths[axis]);
    return step < narrowest ? narrowest : step;
}

static reduct_status run(struct execution *execution, const struct part *part) {
    const struct request *request = execution->request;
    uint64_t elements = product(part->lengths, request->array.rank), length;
    if (elements <= execution->piece)
        return execute_part(execution, part);
    unsigned axis = widest(request, part);
    if (axis == request->array.rank) {
        unsigned last = run_of(request, part, &length);
        bool long_enough = length >= least(RUN_MIN, execution->piece);
        return long_enough && request->count == 1 ? accumulate(execution, part, last, length)
                                                  : execute_part(execution, part);
    }
    length = part->lengths[axis];
    uint64_t step = step_of(execution, part, axis, elements);
    if (step >= length)
        return execute_part(execution, part);
    struct part piece = *part;
    reduct_status status = REDUCT_OK;
    for (uint64_t done = 0; done < length && status == REDUCT_OK; done += piece.lengths[axis]) {
        if (is_interrupted(execution))
            return REDUCT_ERROR_CALLBACK;
        piece.lengths[axis] = least(step, length - done);
        status = run(execution, &piece);
        advance(execution, &piece, axis, piece.lengths[axis]);
    }
    return status;
}

/* Of each axis that stays, how far apart results are: in C order, as Python asks for pieces with no other. */
static void lay_out_results(struct execution *execution) {
    const struct request *request = execution->request;
    int64_t stride = 1;
    for (unsigned axis = request->array.rank; axis-- > 0;)
        if (!is_reduced(request, axis)) {
            execution->result_strides[axis] = stride;
            stride *= (int64_t)request->lengths[axis];
        }
}

bool pieces_suit(const struct request *request, uint64_t elements, uint64_t piece) {
    return elements / 2 >= piece && strcmp(request->options.device, "cpu") == 0 && request->array.lengths &&
           !request->array.result_strides && request->reductions[0].mode == REDUCT_EXACT;
}

reduct_status pieces_execute(const struct request *request, uint64_t piece, const void *const *inputs,
                             void *const *results, bool *interrupted) {
    struct execution execution = {.request = request, .piece = piece, .looked = milliseconds()};
    struct part part = {{0}, {NULL}, {NULL}};
    int count = 0;
    memcpy(part.lengths, request->lengths, sizeof part.lengths);
    part.inputs[X] = inputs[count++];
    if (reduct_operator_inputs(request->reductions[0].op) == 2)
        part.inputs[Y] = inputs[count++];
    if (request->options.mask)
        part.inputs[MASK] = inputs[count];
    for (size_t which = 0; which < request->count; which++)
        part.results[which] = results[which];
    lay_out_results(&execution);
    execution.thread = PyEval_SaveThread();
    reduct_status status = run(&execution, &part);
    PyEval_RestoreThread(execution.thread);
    *interrupted = execution.interrupted;
    return status;
}
