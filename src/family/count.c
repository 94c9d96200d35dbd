/* Counts of elements: of those that are there, or that are not zero. */
#include "family/family.h"

static void init(struct rd_partial *partial) {
    partial->counted = 0;
}

static void merge(struct rd_partial *partial, const struct rd_partial *other) {
    partial->counted += other->counted;
}

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    (void)error;
    rd_store(result, partial->counted, type->bytes);
    return REDUCT_OK;
}

static void walk(struct rd_walk *walk, struct rd_partial *partial) {
    rd_walk_word(walk, &partial->counted);
}

static void wire(struct rd_wire *wire, struct rd_partial *partial) {
    rd_wire_add(wire, &partial->counted);
}

static bool is_plausible(const struct rd_partial *partial) {
    return partial->counted <= rd_partial_count(partial);
}

const struct rd_family_code rd_count_family = {
    .init = init, .merge = merge, .finish = finish, .walk = walk, .wire = wire, .is_plausible = is_plausible};
