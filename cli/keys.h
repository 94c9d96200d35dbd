/* Keys of groups that are no numbers of groups: these are given some. */
#ifndef REDUCT_CLI_KEYS_H
#define REDUCT_CLI_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "message.h"
#include "reduct/reduct.h"

/* `count` keys of i32, u32, i64 or u64, each of `width` elements. */
struct keyed {
    const void *keys;
    reduct_type type;
    uint64_t count, width;
    const unsigned char *mask; /* by element, whether it counts; null where all do */
    bool ascending; /* groups are in ascending order of their keys, and otherwise in that of first appearance */
};

/* The groups, which are those of keys of which some element counts. In memory of malloc(). */
struct key_groups {
    unsigned char *keys; /* by group */
    uint64_t count;
    uint64_t *numbers; /* by key given, its group; 0 where no element counts */
};

/* Fails only for lack of memory; all that was allocated is then null. */
enum outcome keys_number(const struct keyed *keyed, struct key_groups *groups);

#endif
