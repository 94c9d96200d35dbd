/* The tables of types, operators, modes and NaN policies, their names and parsers. */
#include "core/tables.h"

#include <stdio.h>
#include <string.h>

static const struct rd_type types[RD_TYPE_END] = {
#define REDUCT_TYPE(ID, name, number, class, bytes, precision, max_exponent, text)                                     \
    [number] = {#name, text, RD_##class, bytes, precision, max_exponent},
#include <reduct/types.def>
};

static const struct rd_operator operators[RD_OPERATOR_END] = {
#define REDUCT_OPERATOR(ID, name, number, inputs, transform, combine, finish, minimum, text)                           \
    [number] = {#name, text, inputs, minimum, RD_##transform, RD_##combine, RD_##finish},
#include <reduct/operators.def>
};

static const char *const modes[] = {[REDUCT_EXACT] = "exact", [REDUCT_FAST] = "fast"};
static const char *const policies[] = {
    [REDUCT_NAN_PROPAGATE] = "propagate", [REDUCT_NAN_IGNORE] = "ignore", [REDUCT_NAN_ERROR] = "error"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const struct rd_type *rd_type(reduct_type type) {
    return (size_t)type < COUNT(types) && types[type].name ? &types[type] : NULL;
}

const struct rd_operator *rd_operator(reduct_operator op) {
    return (size_t)op < COUNT(operators) && operators[op].name ? &operators[op] : NULL;
}

const char *rd_type_label(reduct_type type, char label[RD_TYPE_LABEL]) {
    if (rd_type(type))
        snprintf(label, RD_TYPE_LABEL, "%s", rd_type(type)->name);
    else
        snprintf(label, RD_TYPE_LABEL, "%d", (int)type);
    return label;
}

const char *reduct_type_name(reduct_type type) {
    const struct rd_type *t = rd_type(type);
    return t ? t->name : NULL;
}

const char *reduct_type_text(reduct_type type) {
    const struct rd_type *t = rd_type(type);
    return t ? t->text : NULL;
}

size_t reduct_type_size(reduct_type type) {
    const struct rd_type *t = rd_type(type);
    return t ? t->bytes : 0;
}

int reduct_type_is_float(reduct_type type) {
    const struct rd_type *t = rd_type(type);
    return t && t->kind == RD_FLOAT;
}

const char *reduct_operator_name(reduct_operator op) {
    const struct rd_operator *o = rd_operator(op);
    return o ? o->name : NULL;
}

const char *reduct_operator_text(reduct_operator op) {
    const struct rd_operator *o = rd_operator(op);
    return o ? o->text : NULL;
}

int reduct_operator_inputs(reduct_operator op) {
    const struct rd_operator *o = rd_operator(op);
    return o ? o->inputs : 0;
}

int reduct_operator_outputs(reduct_operator op) {
    const struct rd_operator *o = rd_operator(op);
    return o ? (int)rd_outputs(o) : 0;
}

const char *reduct_mode_name(reduct_mode mode) {
    return (size_t)mode < COUNT(modes) ? modes[mode] : NULL;
}

const char *reduct_nan_name(reduct_nan policy) {
    return (size_t)policy < COUNT(policies) ? policies[policy] : NULL;
}

reduct_status reduct_type_parse(const char *name, reduct_type *type) {
    if (!name || !type)
        return REDUCT_ERROR_ARGUMENT;
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].name && !strcmp(name, types[i].name)) {
            *type = (reduct_type)i;
            return REDUCT_OK;
        }
    return REDUCT_ERROR_ARGUMENT;
}

reduct_status reduct_operator_parse(const char *name, reduct_operator *op) {
    if (!name || !op)
        return REDUCT_ERROR_ARGUMENT;
    for (size_t i = 0; i < COUNT(operators); i++)
        if (operators[i].name && !strcmp(name, operators[i].name)) {
            *op = (reduct_operator)i;
            return REDUCT_OK;
        }
    return REDUCT_ERROR_ARGUMENT;
}

/* The index of `name` among `count` names, or `count`. */
static size_t find_name(const char *name, const char *const *names, size_t count) {
    size_t i = 0;
    while (i < count && strcmp(name, names[i]))
        i++;
    return i;
}

reduct_status reduct_mode_parse(const char *name, reduct_mode *mode) {
    size_t i = name && mode ? find_name(name, modes, COUNT(modes)) : COUNT(modes);
    if (i == COUNT(modes))
        return REDUCT_ERROR_ARGUMENT;
    *mode = (reduct_mode)i;
    return REDUCT_OK;
}

reduct_status reduct_nan_parse(const char *name, reduct_nan *policy) {
    size_t i = name && policy ? find_name(name, policies, COUNT(policies)) : COUNT(policies);
    if (i == COUNT(policies))
        return REDUCT_ERROR_ARGUMENT;
    *policy = (reduct_nan)i;
    return REDUCT_OK;
}
