/* An operator of your own: the hash of a long text, on all processors at once.
 *
 * The usual hash of a text is a loop, h = 31 h + c for each character c, in which every step waits for the one before. But
 * each character is a map, h -> 31 h + c, and one map after another is a map of the same kind: h -> a h + b. Composing
 * maps is associative, so they can be grouped as one likes, and combined in parallel, as long as their order is kept. A
 * state is one map; the text's map, applied to 0, is the hash. The same trick unrolls any linear recurrence, such as
 * x[i + 1] = a[i] x[i] + b[i]. */
#include <reduct/reduct.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* h -> scale * h + offset, modulo 2^64. */
struct map {
    uint64_t scale, offset;
};

static int identity(void *state, void *context) {
    (void)context;
    *(struct map *)state = (struct map){1, 0};
    return 0;
}

/* What was there, followed by each character. */
static int accumulate(void *state, const void *elements, size_t count, void *context) {
    struct map map = *(struct map *)state;
    const unsigned char *text = elements;
    (void)context;
    for (size_t i = 0; i < count; i++)
        map = (struct map){31 * map.scale, 31 * map.offset + text[i]};
    *(struct map *)state = map;
    return 0;
}

/* First left, then right: r.scale * (l.scale * h + l.offset) + r.offset. */
static int combine(void *left, const void *right, void *context) {
    struct map *l = left;
    const struct map *r = right;
    (void)context;
    *l = (struct map){r->scale * l->scale, r->scale * l->offset + r->offset};
    return 0;
}

int main(void) {
    enum { LENGTH = 50000000 };
    unsigned char *text = malloc(LENGTH);
    if (!text)
        return 1;
    uint64_t in_order = 0;
    for (size_t i = 0; i < LENGTH; i++) {
        text[i] = (unsigned char)('a' + i * i % 26);
        in_order = 31 * in_order + text[i];
    }
    const reduct_custom hash = {.element_size = 1,
                                .state_size = sizeof(struct map),
                                .identity = identity,
                                .accumulate = accumulate,
                                .combine = combine};
    struct map map;
    reduct_error error;
    if (reduct_reduce_custom(&hash, text, LENGTH, &map, &error) != REDUCT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("hash, in parallel  %016" PRIx64 "\n", map.offset);
    printf("hash, in order     %016" PRIx64 "\n", in_order);
    free(text);
    return map.offset == in_order ? 0 : 1;
}
