/* Checking reductions and finding their result types. */
#include "core/reduction.h"

#include "core/options.h"
#include "core/status.h"

/* The type of absolute values: the unsigned integer type of the same width, of what has no sign bit and of floats their own. */
static reduct_type unsigned_of(reduct_type type) {
    if (rd_type(type)->kind != RD_SIGNED)
        return type;
    for (int other = 0; other < RD_TYPE_END; other++) {
        const struct rd_type *candidate = rd_type((reduct_type)other);
        if (candidate && candidate->kind == RD_UNSIGNED && candidate->bytes == rd_type(type)->bytes)
            return (reduct_type)other;
    }
    return type;
}

/* REDUCT_DEFAULT where the operator means nothing for such elements. */
static reduct_type default_result(const struct rd_operator *op, reduct_type element) {
    enum rd_class class = rd_type(element)->kind;
    if (op->finish == RD_INDEX || rd_is_count(op))
        return REDUCT_U64;
    if (rd_is_bits(op))
        return op->transform == RD_NONZERO ? REDUCT_BOOL : class == RD_FLOAT ? REDUCT_DEFAULT : element;
    if (rd_is_extreme(op))
        return op->transform == RD_ABSOLUTE || op->finish == RD_RANGE ? unsigned_of(element) : element;
    if (class == RD_FLOAT)
        return element;
    if (op->finish != RD_VALUE)
        return REDUCT_F64;
    bool magnitude = op->transform == RD_ABSOLUTE || op->transform == RD_SQUARE;
    return class == RD_UNSIGNED || magnitude ? REDUCT_U64 : REDUCT_I64;
}

static bool is_wide_integer(reduct_type type) {
    return type == REDUCT_I64 || type == REDUCT_U64 || type == REDUCT_I128 || type == REDUCT_U128 ||
           type == REDUCT_I256;
}

reduct_status rd_result_check(const reduct_reduction *reduction, reduct_type result, reduct_error *error) {
    const struct rd_operator *op = rd_operator(reduction->op);
    if (!rd_type(result))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "result type: %d is not a type", (int)result);
    reduct_type standard = default_result(op, reduction->element);
    bool of_floats = rd_type(reduction->element)->kind == RD_FLOAT, product = op->combine == RD_MULTIPLY;
    bool only = rd_is_count(op) || rd_is_bits(op) || (rd_is_extreme(op) && !(of_floats && op->finish == RD_RANGE));
    bool any_float = !only && (of_floats || !product) && rd_type(result)->kind == RD_FLOAT;
    bool any_integer = !only && op->finish == RD_VALUE && !of_floats && is_wide_integer(result);
    if (result == standard || any_float || any_integer)
        return REDUCT_OK;
    return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "result type: %s of %s elements cannot be %s; it can be %s%s",
                   op->name, rd_type(reduction->element)->name, rd_type(result)->name, rd_type(standard)->name,
                   only                     ? " only"
                   : of_floats              ? " or another floating-point type"
                   : product                ? " or a wider integer"
                   : op->finish == RD_VALUE ? ", a wider integer or a floating-point type"
                                            : " or another floating-point type");
}

reduct_status reduct_reduction_resolve(reduct_reduction *reduction, reduct_error *error) {
    if (!reduction)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "reduction: null pointer");
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_type *element = rd_type(reduction->element);
    if (!op)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "op: %d is not an operator", (int)reduction->op);
    if (!element)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "element: %d is not a type", (int)reduction->element);
    if (!reduct_mode_name(reduction->mode))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "mode: %d is not a mode", (int)reduction->mode);
    if (!reduct_nan_name(reduction->nan))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "nan: %d is not a NaN policy", (int)reduction->nan);
    if (reduction->flags & ~(uint32_t)(REDUCT_POPULATION | REDUCT_WRAP))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "flags: 0x%x has unknown bits", (unsigned)reduction->flags);
    if (element->bytes > 8)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "element: %s is a type of results, not of elements",
                       element->name);
    reduct_type result = reduction->result, standard = default_result(op, reduction->element);
    if (standard == REDUCT_DEFAULT)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "element: %s of %s elements has no meaning; expected integers",
                       op->name, element->name);
    if (result == REDUCT_DEFAULT)
        result = standard;
    reduct_status status = RD_CHECK_RESERVED("reserved", reduction, error);
    if (status == REDUCT_OK)
        status = rd_result_check(reduction, result, error);
    if (status == REDUCT_OK)
        reduction->result = result;
    return status;
}

enum rd_family rd_family(const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    bool of_floats = rd_type(reduction->element)->kind == RD_FLOAT;
    switch (op->combine) {
    case RD_ADD:
        return rd_is_count(op)          ? RD_COUNT
               : !of_floats             ? RD_INTEGER_SUM
               : rd_is_exact(reduction) ? RD_EXACT_SUM
                                        : RD_FAST_SUM;
    case RD_LEAST:
    case RD_GREATEST:
    case RD_BOTH:
        return RD_EXTREME;
    case RD_AND:
    case RD_OR:
    case RD_XOR:
        return RD_BITS;
    case RD_MULTIPLY:
        break;
    }
    return of_floats ? RD_FLOAT_PRODUCT : RD_INTEGER_PRODUCT;
}

uint64_t rd_minimum(const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    return op->transform == RD_MOMENTS && reduction->flags & REDUCT_POPULATION ? 1 : op->minimum;
}

size_t rd_result_size(const reduct_reduction *reduction) {
    return (size_t)rd_type(reduction->result)->bytes * rd_outputs(rd_operator(reduction->op));
}

/* A quotient of sums that may cancel has no bound on its error unless the sums are exact. */
bool rd_is_exact(const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    return reduction->mode == REDUCT_EXACT || rd_type(reduction->element)->kind != RD_FLOAT || op->combine != RD_ADD ||
           rd_is_count(op) || op->finish == RD_QUOTIENT;
}
