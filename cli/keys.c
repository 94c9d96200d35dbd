/* Numbers for keys: see keys.h. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

/* Whether some element of a key counts. */
static bool counts(const struct keyed *keyed, uint64_t at) {
    bool some = !keyed->mask;
    for (uint64_t i = 0; !some && i < keyed->width; i++)
        some = keyed->mask[at * keyed->width + i];
    return some;
}

/* Numbers the keys of which some element counts: these are moved together, and their numbers back to where they were. */
static bool number_some(const struct keyed *keyed, reduct_keys *keys, uint64_t *numbers) {
    const size_t bytes = reduct_type_size(keyed->type);
    unsigned char *some = malloc(((size_t)keyed->count + 1) * bytes);
    uint64_t kept = 0;
    for (uint64_t i = 0; some && i < keyed->count; i++)
        if (counts(keyed, i))
            memcpy(some + kept++ * bytes, (const unsigned char *)keyed->keys + i * bytes, bytes);
    bool done = some && reduct_keys_add(keys, some, kept, REDUCT_U64, numbers, NULL) == REDUCT_OK;
    for (uint64_t i = keyed->count; done && i-- > 0;)
        numbers[i] = counts(keyed, i) ? numbers[--kept] : 0;
    free(some);
    return done;
}

/* Puts the groups into ascending order of their keys. */
static bool sort(const struct keyed *keyed, const reduct_keys *keys, struct key_groups *groups) {
    const size_t bytes = reduct_type_size(keyed->type), room = (size_t)groups->count + 1;
    uint64_t *order = malloc(room * sizeof *order), *place = malloc(room * sizeof *place);
    unsigned char *sorted = malloc(room * bytes);
    bool done = order && place && sorted && reduct_keys_order(keys, order, NULL) == REDUCT_OK;
    for (uint64_t g = 0; done && g < groups->count; g++) {
        place[order[g]] = g;
        memcpy(sorted + g * bytes, groups->keys + order[g] * bytes, bytes);
    }
    for (uint64_t i = 0; done && groups->count && i < keyed->count; i++)
        groups->numbers[i] = place[groups->numbers[i]];
    if (done) {
        unsigned char *unsorted = groups->keys;
        groups->keys = sorted;
        sorted = unsorted;
    }
    free(order);
    free(place);
    free(sorted);
    return done;
}

static bool number(const struct keyed *keyed, reduct_keys *keys, struct key_groups *groups) {
    groups->numbers = malloc(((size_t)keyed->count + 1) * sizeof *groups->numbers);
    if (!groups->numbers)
        return false;
    if (keyed->mask ? !number_some(keyed, keys, groups->numbers)
                    : reduct_keys_add(keys, keyed->keys, keyed->count, REDUCT_U64, groups->numbers, NULL) != REDUCT_OK)
        return false;
    groups->count = reduct_keys_count(keys);
    groups->keys = malloc(((size_t)groups->count + 1) * reduct_type_size(keyed->type));
    return groups->keys && reduct_keys_get(keys, 0, groups->count, groups->keys, NULL) == REDUCT_OK &&
           (!keyed->ascending || sort(keyed, keys, groups));
}

enum outcome keys_number(const struct keyed *keyed, struct key_groups *groups) {
    reduct_keys *keys = NULL;
    *groups = (struct key_groups){0};
    bool done = reduct_keys_create(keyed->type, &keys, NULL) == REDUCT_OK && number(keyed, keys, groups);
    reduct_keys_destroy(keys);
    if (done)
        return DONE;
    free(groups->keys);
    free(groups->numbers);
    *groups = (struct key_groups){0};
    return fail_memory();
}
