/* What the Fortran module calls. Arrays come as the descriptors that Fortran 2018 defines, so that sections of any strides are
 * reduced where they lie. Fortran's first axis is C's last one: with the axes turned around, elements in C order are those in
 * Fortran's, for the order of indices and of products. */
#include "reduct_fortran.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Errors and types
 * ------------------------------------------------------------------------------------------------------------------ */

reduct_status reduct_fortran_fail(reduct_error *error, reduct_status status, const char *format, ...) {
    *error = (reduct_error){.status = status, .index = UINT64_MAX};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

/* The library's name for a type of Fortran's; REDUCT_DEFAULT where it has none. A logical counts by its lowest byte, which is
 * not 0 where it is true; all its bytes make up its stride. */
static reduct_type element_type(const CFI_cdesc_t *array) {
    static const struct {
        CFI_type_t fortran;
        reduct_type type;
    } table[] = {{CFI_type_double, REDUCT_F64},  {CFI_type_float, REDUCT_F32},   {CFI_type_int8_t, REDUCT_I8},
                 {CFI_type_int16_t, REDUCT_I16}, {CFI_type_int32_t, REDUCT_I32}, {CFI_type_int64_t, REDUCT_I64},
                 {CFI_type_Bool, REDUCT_BOOL}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (array->type == table[i].fortran)
            return table[i].type;
#ifdef CFI_type_Logical /* gfortran's; other compilers have types for logicals that C has no name for */
    if ((array->type & CFI_type_mask) == CFI_type_Logical)
        return REDUCT_BOOL;
#endif
    return REDUCT_DEFAULT;
}

/* What Fortran calls a type of the library's. */
static const char *fortran_name(reduct_type type) {
    switch ((int)type) {
    case REDUCT_F64:
        return "real(real64)";
    case REDUCT_F32:
        return "real(real32)";
    case REDUCT_I8:
        return "integer(int8)";
    case REDUCT_I16:
        return "integer(int16)";
    case REDUCT_I32:
        return "integer(int32)";
    case REDUCT_I64:
        return "integer(int64)";
    case REDUCT_BOOL:
        return "logical";
    default:
        return "another type";
    }
}

uint64_t reduct_fortran_elements(const CFI_cdesc_t *array) {
    uint64_t count = 1;
    for (int k = 0; k < array->rank; k++)
        count *= (uint64_t)array->dim[k].extent;
    return count;
}

static bool is_contiguous(const CFI_cdesc_t *array) {
    CFI_index_t next = (CFI_index_t)array->elem_len;
    for (int k = 0; k < array->rank; k++) {
        if (array->dim[k].extent != 1 && array->dim[k].sm != next)
            return reduct_fortran_elements(array) == 0;
        next *= array->dim[k].extent;
    }
    return true;
}

static bool same_shape(const CFI_cdesc_t *a, const CFI_cdesc_t *b) {
    bool same = a->rank == b->rank;
    for (int k = 0; same && k < a->rank; k++)
        same = a->dim[k].extent == b->dim[k].extent;
    return same;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

/* What the library writes where Fortran wants `target`: itself if the operator can, otherwise the operator's own type, from
 * which deliver() converts. */
static reduct_status choose_result(reduct_fortran_call *call, reduct_error *error) {
    reduct_reduction wanted = call->reduction;
    wanted.result = call->target;
    if (call->target != REDUCT_BOOL && reduct_reduction_resolve(&wanted, NULL) == REDUCT_OK) {
        call->reduction = wanted;
        return REDUCT_OK;
    }
    if (!reduct_type_is_float(call->target) && call->target != REDUCT_BOOL) {
        wanted.result = REDUCT_I64;
        if (reduct_reduction_resolve(&wanted, NULL) == REDUCT_OK) {
            call->reduction = wanted;
            return REDUCT_OK;
        }
    }
    reduct_status status = reduct_reduction_resolve(&call->reduction, error);
    if (status != REDUCT_OK)
        return status;
    bool truth = call->reduction.result == REDUCT_BOOL;
    if (reduct_type_is_float(call->target) || reduct_type_is_float(call->reduction.result) ||
        (call->target == REDUCT_BOOL && !truth))
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "result: %s; the %s of %s does not come as that",
                                   fortran_name(call->target), reduct_operator_name(call->reduction.op),
                                   fortran_name(call->reduction.element));
    return REDUCT_OK;
}

static uint64_t load_unsigned(const void *at, size_t bytes) {
    uint64_t value = 0;
    switch (bytes) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        return *(const uint16_t *)at;
    case 4:
        return *(const uint32_t *)at;
    default:
        memcpy(&value, at, sizeof value);
        return value;
    }
}

static bool is_unsigned(reduct_type type) {
    return type == REDUCT_U8 || type == REDUCT_U16 || type == REDUCT_U32 || type == REDUCT_U64 || type == REDUCT_BOOL;
}

static int64_t load_signed(const void *at, size_t bytes) {
    int unused = 64 - 8 * (int)bytes;
    return (int64_t)(load_unsigned(at, bytes) << unused) >> unused;
}

/* An integer as another type of Fortran's has it; false if it does not fit. Indices count from 1. */
static bool store_integer(const reduct_fortran_call *call, const void *from, void *to, size_t bytes) {
    size_t size = reduct_type_size(call->reduction.result);
    uint64_t value =
        is_unsigned(call->reduction.result) ? load_unsigned(from, size) : (uint64_t)load_signed(from, size);
    bool index = call->reduction.op == REDUCT_ARGMIN || call->reduction.op == REDUCT_ARGMAX;
    bool negative = !is_unsigned(call->reduction.result) && (int64_t)value < 0;
    value += index;
    uint64_t greatest = UINT64_MAX >> (65 - 8 * bytes);
    if (negative ? (int64_t)value < -(int64_t)greatest - 1 : value > greatest)
        return false;
    memcpy(to, &value, bytes); /* the lowest bytes come first on all that the library runs on */
    return true;
}

char *reduct_fortran_place(const CFI_cdesc_t *array, uint64_t i) {
    char *at = array->base_addr;
    for (int k = 0; k < array->rank; k++) {
        at += (CFI_index_t)(i % (uint64_t)array->dim[k].extent) * array->dim[k].sm;
        i /= (uint64_t)array->dim[k].extent;
    }
    return at;
}

/* Whether what the library writes is what Fortran reads, value by value. */
static bool is_plain(const reduct_fortran_call *call) {
    return call->reduction.result == call->target && call->target != REDUCT_BOOL;
}

reduct_status reduct_fortran_deliver(const reduct_fortran_call *call, const char *raw, reduct_error *error) {
    size_t size = reduct_type_size(call->reduction.result), bytes = call->result->elem_len;
    char value[sizeof(reduct_i256)];
    if (!is_plain(call))
        for (uint64_t i = 0; i < call->results; i++)
            if (!store_integer(call, raw + i * size, value, bytes))
                return reduct_fortran_fail(error, REDUCT_ERROR_OVERFLOW, "result: the %s does not fit %s",
                                           reduct_operator_name(call->reduction.op), fortran_name(call->target));
    for (uint64_t i = 0; i < call->results; i++) {
        if (is_plain(call))
            memcpy(reduct_fortran_place(call->result, i), raw + i * size, size);
        else if (store_integer(call, raw + i * size, value, bytes))
            memcpy(reduct_fortran_place(call->result, i), value, bytes);
    }
    return REDUCT_OK;
}

void reduct_fortran_fill(CFI_cdesc_t *result) {
    static const double nan64 = (double)NAN;
    static const float nan32 = NAN;
    static const uint64_t zero = 0;
    reduct_type type = element_type(result);
    const void *value = type == REDUCT_F64 ? (const void *)&nan64 : type == REDUCT_F32 ? (const void *)&nan32 : &zero;
    uint64_t count = reduct_fortran_elements(result);
    for (uint64_t i = 0; i < count; i++)
        memcpy(reduct_fortran_place(result, i), value, result->elem_len);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reductions
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status check_elements(reduct_fortran_call *call, reduct_error *error) {
    const CFI_cdesc_t *x = call->x, *y = call->y;
    reduct_type type = element_type(x);
    if (type == REDUCT_DEFAULT)
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT,
                                   "x: a type that is not reduced; expected real, integer or logical");
    call->reduction.element = type;
    bool two = reduct_operator_inputs(call->reduction.op) == 2;
    if (two && !y)
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "y: missing; %s reads two arrays",
                                   reduct_operator_name(call->reduction.op));
    if (y && !two)
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "y: %s reads one array",
                                   reduct_operator_name(call->reduction.op));
    if (y && element_type(y) != type)
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "y: %s; expected %s, as x",
                                   fortran_name(element_type(y)), fortran_name(type));
    if (y && !same_shape(x, y))
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "y: not of the shape of x");
    if (call->mask && call->mask->rank && !same_shape(x, call->mask))
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "mask: neither of the shape of x nor a scalar");
    for (int k = 0; k < x->rank; k++)
        if (x->dim[k].sm % (CFI_index_t)reduct_type_size(type) ||
            (y && y->dim[k].sm % (CFI_index_t)reduct_type_size(type)))
            return reduct_fortran_fail(error, REDUCT_ERROR_UNSUPPORTED,
                                       "x: elements that are not a whole number of elements apart");
    return REDUCT_OK;
}

/* Which axes are reduced: all where `count` is 0 and no list is given. */
static reduct_status check_axes(reduct_fortran_call *call, const int *dims, int count, reduct_error *error) {
    int rank = call->x->rank;
    if (!dims) {
        call->axes = ((uint64_t)1 << rank) - 1;
        return REDUCT_OK;
    }
    for (int i = 0; i < count; i++) {
        if (dims[i] < 1 || dims[i] > rank)
            return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "dim: %d; expected 1 to %d, the rank of x",
                                       dims[i], rank);
        if (call->axes >> (dims[i] - 1) & 1)
            return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "dims: %d twice", dims[i]);
        call->axes |= (uint64_t)1 << (dims[i] - 1);
    }
    return REDUCT_OK;
}

/* The result's shape: that of x without the axes reduced, after the two values where there are two. */
static reduct_status check_result(reduct_fortran_call *call, reduct_error *error) {
    const CFI_cdesc_t *result = call->result;
    int values = reduct_operator_outputs(call->reduction.op), at = 0;
    bool good = values == 1 || (result->rank > 0 && result->dim[at++].extent == values);
    call->results = (uint64_t)values;
    for (int k = 0; good && k < call->x->rank; k++)
        if (!(call->axes >> k & 1)) {
            good = at < result->rank && result->dim[at++].extent == call->x->dim[k].extent;
            call->results *= (uint64_t)call->x->dim[k].extent;
        }
    if (!good || at != result->rank)
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT,
                                   "result: not of the shape of x without what is reduced");
    call->target = element_type(result);
    if (call->target == REDUCT_DEFAULT)
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "result: neither real, integer nor logical");
    return REDUCT_OK;
}

/* Many calls are of small arrays that lie in one piece: for them a plan would take longer than the work. Leaves all else, and
 * what fails, to the plan, which has the message. */
static bool reduce_at_once(const reduct_fortran_call *call, void *raw) {
    const reduct_reduction *wanted = &call->reduction;
    reduct_reduction usual = {.op = wanted->op, .element = wanted->element};
    bool plain = wanted->mode == REDUCT_EXACT && wanted->nan == REDUCT_NAN_PROPAGATE && !wanted->flags && !call->mask &&
                 call->axes == ((uint64_t)1 << call->x->rank) - 1 && wanted->element != REDUCT_BOOL;
    return plain && is_contiguous(call->x) && (!call->y || is_contiguous(call->y)) &&
           reduct_reduction_resolve(&usual, NULL) == REDUCT_OK && usual.result == wanted->result &&
           reduct_reduce(wanted->op, wanted->element, call->x->base_addr, call->y ? call->y->base_addr : NULL,
                         reduct_fortran_elements(call->x), raw) == REDUCT_OK;
}

static reduct_status reduce_by_plan(const reduct_fortran_call *call, void *raw, reduct_error *error) {
    uint64_t lengths[CFI_MAX_RANK], axes = 0;
    int64_t strides[2][CFI_MAX_RANK], mask_strides[CFI_MAX_RANK];
    int rank = call->x->rank;
    size_t bytes = reduct_type_size(call->reduction.element);
    for (int k = 0; k < rank; k++) {
        int from = rank - 1 - k;
        lengths[k] = (uint64_t)call->x->dim[from].extent;
        strides[0][k] = call->x->dim[from].sm / (CFI_index_t)bytes;
        strides[1][k] = call->y ? call->y->dim[from].sm / (CFI_index_t)bytes : 0;
        mask_strides[k] = call->mask && call->mask->rank ? call->mask->dim[from].sm : 0;
        axes |= (call->axes >> from & 1) << k;
    }
    reduct_array array = {.rank = (unsigned)rank,
                          .lengths = lengths,
                          .strides = {strides[0], strides[1]},
                          .axes = axes,
                          .mask_strides = mask_strides};
    reduct_plan_options options = {.reductions = &call->reduction,
                                   .reduction_count = 1,
                                   .kind = REDUCT_ARRAY,
                                   .array = &array,
                                   .mask = call->mask ? REDUCT_MASK_BYTES : REDUCT_MASK_NONE};
    reduct_plan *plan = NULL;
    reduct_status status = reduct_plan_create(&options, &plan, error);
    if (status != REDUCT_OK)
        return status;
    const void *inputs[3] = {call->x->base_addr};
    int count = 1;
    if (call->y)
        inputs[count++] = call->y->base_addr;
    if (call->mask)
        inputs[count] = call->mask->base_addr;
    status = reduct_plan_execute(plan, inputs, (void *[]){raw}, NULL, error);
    reduct_plan_destroy(plan);
    return status;
}

static reduct_status reduce(reduct_fortran_call *call, reduct_error *error) {
    reduct_i256 few[4];
    char *raw = (char *)few;
    bool direct = is_plain(call) && is_contiguous(call->result);
    size_t size = reduct_type_size(call->reduction.result);
    if (direct)
        raw = call->result->base_addr;
    else if (call->results > sizeof few / size) {
        raw = call->results > PTRDIFF_MAX / size ? NULL : malloc(call->results * size);
        if (!raw)
            return reduct_fortran_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "no memory for %llu results",
                                       (unsigned long long)call->results);
    }
    reduct_status status = reduce_at_once(call, raw) ? REDUCT_OK : reduce_by_plan(call, raw, error);
    if (status == REDUCT_OK && !direct)
        status = reduct_fortran_deliver(call, raw, error);
    if (!direct && raw != (char *)few)
        free(raw);
    return status;
}

reduct_status reduct_fortran_prepare(const reduct_fortran_options *options, const int *dims, int count,
                                     reduct_fortran_call *call, reduct_error *error) {
    call->reduction = (reduct_reduction){.op = (reduct_operator)options->op,
                                         .mode = (reduct_mode)options->mode,
                                         .nan = (reduct_nan)options->nan,
                                         .flags = options->population ? REDUCT_POPULATION : 0};
    reduct_status status = REDUCT_OK;
    if (!reduct_operator_inputs(call->reduction.op))
        status =
            reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "op: %d; expected one of the operators", options->op);
    if (status == REDUCT_OK)
        status = check_elements(call, error);
    if (status == REDUCT_OK)
        status = check_axes(call, dims, count, error);
    if (status == REDUCT_OK)
        status = check_result(call, error);
    return status == REDUCT_OK ? choose_result(call, error) : status;
}

reduct_status reduct_fortran_reduce(const reduct_fortran_options *options, const CFI_cdesc_t *x, CFI_cdesc_t *result,
                                    const CFI_cdesc_t *y, const int *dims, int count, const CFI_cdesc_t *mask,
                                    reduct_error *error) {
    reduct_fortran_call call = {.x = x, .y = y, .mask = mask, .result = result};
    reduct_status status = reduct_fortran_prepare(options, dims, count, &call, error);
    if (status == REDUCT_OK)
        status = reduce(&call, error);
    if (status != REDUCT_OK && options->fill)
        reduct_fortran_fill(result);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Accumulators
 * ------------------------------------------------------------------------------------------------------------------ */

reduct_status reduct_fortran_gather(const CFI_cdesc_t *array, size_t bytes, const void **elements, void **copy,
                                    reduct_error *error) {
    *copy = NULL;
    if (array->elem_len == bytes && is_contiguous(array)) {
        *elements = array->base_addr;
        return REDUCT_OK;
    }
    uint64_t count = reduct_fortran_elements(array);
    char *to = *copy = malloc(count * bytes + 1);
    if (!to)
        return reduct_fortran_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "no memory for a copy of %llu elements",
                                   (unsigned long long)count);
    uint64_t row = array->rank ? (uint64_t)array->dim[0].extent : 1;
    for (uint64_t i = 0; i < count; i += row) {
        const char *from = reduct_fortran_place(array, i);
        CFI_index_t step = array->rank ? array->dim[0].sm : 0;
        for (uint64_t k = 0; k < row; k++, from += step, to += bytes)
            memcpy(to, from, bytes);
    }
    *elements = *copy;
    return REDUCT_OK;
}

/* The mask of every element: that of a scalar many times. */
static reduct_status gather_mask(const CFI_cdesc_t *mask, uint64_t count, const void **bytes, void **copy,
                                 reduct_error *error) {
    if (mask->rank)
        return reduct_fortran_gather(mask, 1, bytes, copy, error);
    *copy = malloc(count + 1);
    if (!*copy)
        return reduct_fortran_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "no memory for a mask of %llu elements",
                                   (unsigned long long)count);
    memset(*copy, *(const unsigned char *)mask->base_addr != 0, count);
    *bytes = *copy;
    return REDUCT_OK;
}

reduct_status reduct_fortran_create(const reduct_fortran_options *options, int element,
                                    reduct_accumulator **accumulator, reduct_error *error) {
    reduct_reduction reduction = {.op = (reduct_operator)options->op,
                                  .element = (reduct_type)element,
                                  .mode = (reduct_mode)options->mode,
                                  .nan = (reduct_nan)options->nan,
                                  .flags = options->population ? REDUCT_POPULATION : 0};
    return reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &reduction}, accumulator, error);
}

reduct_status reduct_fortran_copy(const reduct_accumulator *from, reduct_accumulator **to, reduct_error *error) {
    reduct_reduction reduction = reduct_accumulator_reduction(from);
    reduct_accumulator *made = NULL;
    reduct_status status =
        reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &reduction}, &made, error);
    if (status == REDUCT_OK)
        status = reduct_accumulator_merge(made, from, error);
    if (status == REDUCT_OK)
        *to = made;
    else
        reduct_accumulator_destroy(made);
    return status;
}

reduct_status reduct_fortran_add(reduct_accumulator *accumulator, const CFI_cdesc_t *x, const CFI_cdesc_t *y,
                                 const CFI_cdesc_t *mask, reduct_error *error) {
    if (!accumulator)
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "accumulator: not created");
    reduct_fortran_call call = {.x = x, .y = y, .mask = mask, .reduction = reduct_accumulator_reduction(accumulator)};
    reduct_type element = call.reduction.element;
    reduct_status status = check_elements(&call, error);
    if (status == REDUCT_OK && call.reduction.element != element)
        status = reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "x: %s; the accumulator is of %s",
                                     fortran_name(call.reduction.element), fortran_name(element));
    if (status != REDUCT_OK)
        return status;
    const void *elements[3] = {NULL, NULL, NULL};
    void *copies[3] = {NULL, NULL, NULL};
    uint64_t count = reduct_fortran_elements(x);
    size_t bytes = reduct_type_size(element);
    status = reduct_fortran_gather(x, bytes, &elements[0], &copies[0], error);
    if (status == REDUCT_OK && y)
        status = reduct_fortran_gather(y, bytes, &elements[1], &copies[1], error);
    if (status == REDUCT_OK && mask)
        status = gather_mask(mask, count, &elements[2], &copies[2], error);
    if (status == REDUCT_OK)
        status = mask ? reduct_accumulator_add_masked(accumulator, elements[0], elements[1], count, REDUCT_MASK_BYTES,
                                                      elements[2], 0, error)
                      : reduct_accumulator_add(accumulator, elements[0], elements[1], count, error);
    for (int i = 0; i < 3; i++)
        free(copies[i]);
    return status;
}

reduct_status reduct_fortran_result(const reduct_accumulator *accumulator, CFI_cdesc_t *result, reduct_error *error) {
    if (!accumulator)
        return reduct_fortran_fail(error, REDUCT_ERROR_ARGUMENT, "accumulator: not created");
    CFI_CDESC_T(1) nothing = {.rank = 0}; /* as if all axes of an array were reduced */
    reduct_fortran_call call = {
        .x = (const CFI_cdesc_t *)&nothing, .result = result, .reduction = reduct_accumulator_reduction(accumulator)};
    reduct_status status = check_result(&call, error);
    call.reduction.result = REDUCT_DEFAULT;
    if (status == REDUCT_OK)
        status = choose_result(&call, error);
    reduct_i256 raw[2];
    if (status == REDUCT_OK)
        status = reduct_accumulator_result(accumulator, call.reduction.result, raw, error);
    return status == REDUCT_OK ? reduct_fortran_deliver(&call, (const char *)raw, error) : status;
}
