/* Fast sums of floats: a double and what rounding took from it; of moments the mean and the sum of squared deviations. */
#include "core/environment.h"
#include "arithmetic/finish.h"
#include "family/family.h"

static bool is_moments(const struct rd_partial *partial) {
    return rd_operator(partial->reduction.op)->transform == RD_MOMENTS;
}

static void init(struct rd_partial *partial) {
    partial->high = is_moments(partial) ? 0 : -0.0; /* -0 is the identity of addition */
    partial->low = 0;
}

void rd_partial_add_fast(struct rd_partial *partial, double high, double low) {
    /* 2Sum: D. E. Knuth, The Art of Computer Programming, volume 2, section 4.2.2. */
    double a = partial->high, b = high;
    double s = a + b;
    double rest = s - a;
    double error = (a - (s - rest)) + (b - rest);
    partial->high = s;
    partial->low += error + low;
}

void rd_partial_add_moments(struct rd_partial *partial, uint64_t before, uint64_t count, double mean,
                            double deviations) {
    /* T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
     * variances", 1979. */
    if (!count)
        return;
    double total = (double)(before + count);
    double delta = mean - partial->high;
    partial->high = before ? partial->high + delta * ((double)count / total) : mean;
    partial->low += deviations + (before ? delta * delta * ((double)before * ((double)count / total)) : 0);
}

static void merge(struct rd_partial *partial, const struct rd_partial *other) {
    rd_environment caller = rd_environment_enter();
    if (is_moments(partial))
        rd_partial_add_moments(partial, rd_partial_count(partial), rd_partial_count(other), other->high, other->low);
    else
        rd_partial_add_fast(partial, other->high, other->low);
    rd_environment_leave(caller);
}

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    (void)error;
    struct rd_partial copy = *partial;
    struct rd_finish_room room;
    struct rd_total total = rd_total_of(&copy, &room);
    rd_environment caller = rd_environment_enter();
    uint64_t bits = rd_finish_fast(&total, type);
    rd_environment_leave(caller);
    rd_store(result, bits, type->bytes);
    return REDUCT_OK;
}

static void walk(struct rd_walk *walk, struct rd_partial *partial) {
    rd_walk_double(walk, &partial->high);
    rd_walk_double(walk, &partial->low);
}

const struct rd_family_code rd_fast_sum = {.init = init, .merge = merge, .finish = finish, .walk = walk};
