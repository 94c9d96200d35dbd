/* Partial results: what all families have in common. */
#include "state/partial.h"

#include "core/status.h"
#include "family/family.h"

void rd_partial_init(struct rd_partial *partial, const reduct_reduction *reduction) {
    partial->reduction = *reduction;
    partial->seen = partial->ignored = 0;
    partial->nans = partial->plus_infinities = partial->minus_infinities = 0;
    partial->nonzero = false;
    partial->nan_index = UINT64_MAX;
    rd_family_code(reduction)->init(partial);
}

uint64_t rd_partial_count(const struct rd_partial *partial) {
    return partial->seen - partial->ignored;
}

uint64_t rd_partial_alignment(const struct rd_partial *other) {
    const struct rd_family_code *family = rd_family_code(&other->reduction);
    return family->alignment ? family->alignment(other) : 1;
}

void rd_partial_merge(struct rd_partial *partial, const struct rd_partial *other) {
    uint64_t offset = partial->seen;
    if (other->nan_index != UINT64_MAX && other->nan_index + offset < partial->nan_index)
        partial->nan_index = other->nan_index + offset;
    rd_family_code(&partial->reduction)->merge(partial, other);
    partial->seen += other->seen;
    partial->ignored += other->ignored;
    partial->nans += other->nans;
    partial->plus_infinities += other->plus_infinities;
    partial->minus_infinities += other->minus_infinities;
    partial->nonzero |= other->nonzero;
}

void rd_partial_begin(struct rd_partial *partial, const struct rd_partial *before) {
    rd_partial_init(partial, &before->reduction);
    if (rd_family_code(&before->reduction)->continues)
        partial->product = before->product;
}

void rd_partial_follow(struct rd_partial *partial, const struct rd_partial *begun) {
    const struct rd_family_code *family = rd_family_code(&begun->reduction);
    if (family->continues)
        family->init(partial); /* it is in what was begun */
    rd_partial_merge(partial, begun);
}

void rd_partial_canonicalise(struct rd_partial *partial) {
    const struct rd_family_code *family = rd_family_code(&partial->reduction);
    if (family->canonicalise)
        family->canonicalise(partial);
}

bool rd_partial_is_plausible(const struct rd_partial *partial) {
    const struct rd_family_code *family = rd_family_code(&partial->reduction);
    uint64_t count = rd_partial_count(partial);
    if (partial->seen > RD_ELEMENTS_MAX || partial->ignored > partial->seen || partial->nans > count ||
        partial->plus_infinities > count - partial->nans ||
        partial->minus_infinities > count - partial->nans - partial->plus_infinities)
        return false;
    return !family->is_plausible || family->is_plausible(partial);
}

reduct_status rd_partial_finish(const struct rd_partial *partial, reduct_type type, void *result, reduct_error *error) {
    uint64_t count = rd_partial_count(partial), minimum = rd_minimum(&partial->reduction);
    if (count < minimum)
        return rd_fail(error, REDUCT_ERROR_EMPTY, "%s of %llu element%s does not exist; it takes at least %llu",
                       rd_operator(partial->reduction.op)->name, (unsigned long long)count, count == 1 ? "" : "s",
                       (unsigned long long)minimum);
    return rd_family_code(&partial->reduction)->finish(partial, rd_type(type), result, error);
}
