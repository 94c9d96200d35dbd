/* Keys to numbers of groups: a hash table with open addresses.
 *
 * Small enough to be our own: keys are words of 64 bits, none is ever taken out, and what it costs is the memory that it
 * touches, a slot of 8 bytes and a key of 8. A slot holds the number of a key and some bits of its hash, so that other keys are
 * seldom looked at. */
#include "core/status.h"
#include "core/tables.h"

#include <stdlib.h>
#include <string.h>

struct reduct_keys {
    reduct_type type;
    uint64_t count, room; /* keys; slots are twice as many as there is room for keys, and a power of two */
    uint64_t *key;        /* in order of their numbers, zero-extended */
    uint64_t *slot;       /* 0: empty; otherwise one more than the number, and above NUMBER_BITS bits of the hash */
};

/* Slots to begin with; numbers; keys of which the slots are fetched ahead. */
enum { ROOM_LEAST = 64, NUMBER_BITS = 40, BLOCK = 64 };
#define NUMBERS (((uint64_t)1 << NUMBER_BITS) - 1)

/* The finaliser of MurmurHash3 (A. Appleby): every bit of the key reaches every bit of the hash. */
static uint64_t hash_of(uint64_t key) {
    key = (key ^ key >> 33) * 0xff51afd7ed558ccd;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53;
    return key ^ key >> 33;
}

static uint64_t key_at(const void *array, size_t bytes, uint64_t i) {
    return bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static void put_index(void *indices, reduct_type index, uint64_t i, uint64_t number) {
    if (index == REDUCT_U32)
        ((uint32_t *)indices)[i] = (uint32_t)number;
    else
        ((uint64_t *)indices)[i] = number;
}

static bool is_key_type(reduct_type type) {
    return type == REDUCT_I32 || type == REDUCT_U32 || type == REDUCT_I64 || type == REDUCT_U64;
}

/* The slot of a key, or the empty one where it belongs. */
static uint64_t *find_slot(const reduct_keys *keys, uint64_t key, uint64_t hash) {
    uint64_t last = 2 * keys->room - 1, mark = hash >> NUMBER_BITS;
    for (uint64_t at = hash & last;; at = (at + 1) & last) {
        uint64_t slot = keys->slot[at];
        if (!slot || (slot >> NUMBER_BITS == mark && keys->key[(slot & NUMBERS) - 1] == key))
            return &keys->slot[at];
    }
}

static void fill_slots(reduct_keys *keys) {
    memset(keys->slot, 0, (size_t)(2 * keys->room) * sizeof *keys->slot);
    for (uint64_t i = 0; i < keys->count; i++) {
        uint64_t hash = hash_of(keys->key[i]);
        *find_slot(keys, keys->key[i], hash) = (i + 1) | hash >> NUMBER_BITS << NUMBER_BITS;
    }
}

static bool make_room(reduct_keys *keys, uint64_t room) {
    if (room > (uint64_t)PTRDIFF_MAX / 32)
        return false;
    uint64_t *key = malloc((size_t)room * sizeof *key), *slot = malloc((size_t)(2 * room) * sizeof *slot);
    if (!key || !slot) {
        free(key);
        free(slot);
        return false;
    }
    if (keys->count)
        memcpy(key, keys->key, (size_t)keys->count * sizeof *key);
    free(keys->key);
    free(keys->slot);
    keys->key = key;
    keys->slot = slot;
    keys->room = room;
    fill_slots(keys);
    return true;
}

reduct_status reduct_keys_create(reduct_type type, reduct_keys **keys, reduct_error *error) {
    char label[RD_TYPE_LABEL];
    if (!keys)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "keys: null pointer");
    if (!is_key_type(type))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "type: %s; expected i32, u32, i64 or u64",
                       rd_type_label(type, label));
    reduct_keys *made = malloc(sizeof *made);
    if (made)
        *made = (reduct_keys){.type = type};
    if (!made || !make_room(made, ROOM_LEAST)) {
        free(made);
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "keys: memory could not be allocated");
    }
    *keys = made;
    return REDUCT_OK;
}

void reduct_keys_destroy(reduct_keys *keys) {
    if (!keys)
        return;
    free(keys->key);
    free(keys->slot);
    free(keys);
}

uint64_t reduct_keys_count(const reduct_keys *keys) {
    return keys ? keys->count : 0;
}

static reduct_status check_array(const char *name, const void *array, reduct_type type, uint64_t count,
                                 reduct_error *error) {
    if (count && !array)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", name);
    if ((uintptr_t)array % rd_type(type)->bytes)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: address is not a multiple of its type's %d bytes", name,
                       (int)rd_type(type)->bytes);
    return REDUCT_OK;
}

static reduct_status check(const reduct_keys *keys, const void *array, uint64_t count, reduct_type index,
                           const void *indices, reduct_error *error) {
    char label[RD_TYPE_LABEL];
    if (!keys)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "keys: null pointer");
    if (index != REDUCT_U32 && index != REDUCT_U64)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "index: %s; expected u32 or u64", rd_type_label(index, label));
    reduct_status status = check_array("array", array, keys->type, count, error);
    return status == REDUCT_OK ? check_array("indices", indices, index, count, error) : status;
}

/* The next number, for a key that is new. */
static bool add_key(reduct_keys *keys, uint64_t key, uint64_t hash, uint64_t *slot) {
    if (keys->count == keys->room) {
        if (!make_room(keys, 2 * keys->room))
            return false;
        slot = find_slot(keys, key, hash);
    }
    keys->key[keys->count++] = key;
    *slot = keys->count | hash >> NUMBER_BITS << NUMBER_BITS;
    return true;
}

/* Forgets all keys but the first ones. */
static void forget(reduct_keys *keys, uint64_t count) {
    if (keys->count == count)
        return;
    keys->count = count;
    fill_slots(keys);
}

/* The hashes of some keys, whose slots are fetched meanwhile. */
static uint64_t load_block(const reduct_keys *keys, const void *array, uint64_t from, uint64_t count, uint64_t *key,
                           uint64_t *hash) {
    size_t bytes = rd_type(keys->type)->bytes;
    uint64_t n = count - from < BLOCK ? count - from : BLOCK;
    for (uint64_t i = 0; i < n; i++) {
        key[i] = key_at(array, bytes, from + i);
        hash[i] = hash_of(key[i]);
        __builtin_prefetch(&keys->slot[hash[i] & (2 * keys->room - 1)]);
    }
    return n;
}

reduct_status reduct_keys_add(reduct_keys *keys, const void *array, uint64_t count, reduct_type index, void *indices,
                              reduct_error *error) {
    reduct_status status = check(keys, array, count, index, indices, error);
    if (status != REDUCT_OK)
        return status;
    const uint64_t before = keys->count, most = index == REDUCT_U32 ? UINT32_MAX : NUMBERS;
    uint64_t key[BLOCK], hash[BLOCK];
    for (uint64_t from = 0, n; from < count; from += n) {
        n = load_block(keys, array, from, count, key, hash);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t *slot = find_slot(keys, key[i], hash[i]), number = (*slot & NUMBERS) - 1;
            if (!*slot) {
                number = keys->count;
                if (number < most && add_key(keys, key[i], hash[i], slot))
                    status = REDUCT_OK;
                else
                    status = number < most ? REDUCT_ERROR_OUT_OF_MEMORY : REDUCT_ERROR_TOO_LARGE;
            } else if (number >= most) {
                status = REDUCT_ERROR_TOO_LARGE;
            }
            if (status != REDUCT_OK) {
                forget(keys, before);
                return rd_fail(error, status,
                               status == REDUCT_ERROR_TOO_LARGE ? "keys: more than numbers of this type"
                                                                : "keys: memory could not be allocated");
            }
            put_index(indices, index, from + i, number);
        }
    }
    return REDUCT_OK;
}

reduct_status reduct_keys_find(const reduct_keys *keys, const void *array, uint64_t count, reduct_type index,
                               void *indices, reduct_error *error) {
    reduct_status status = check(keys, array, count, index, indices, error);
    uint64_t key[BLOCK], hash[BLOCK];
    for (uint64_t from = 0, n; status == REDUCT_OK && from < count; from += n) {
        n = load_block(keys, array, from, count, key, hash);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t slot = *find_slot(keys, key[i], hash[i]);
            put_index(indices, index, from + i, slot ? (slot & NUMBERS) - 1 : UINT64_MAX);
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void put_key(void *array, size_t bytes, uint64_t i, uint64_t key) {
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)key;
    else
        ((uint64_t *)array)[i] = key;
}

reduct_status reduct_keys_get(const reduct_keys *keys, uint64_t first, uint64_t count, void *array,
                              reduct_error *error) {
    if (!keys)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "keys: null pointer");
    if (first > keys->count || count > keys->count - first)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "first: %llu keys from %llu on, of %llu",
                       (unsigned long long)count, (unsigned long long)first, (unsigned long long)keys->count);
    reduct_status status = check_array("array", array, keys->type, count, error);
    for (uint64_t i = 0; status == REDUCT_OK && i < count; i++)
        put_key(array, rd_type(keys->type)->bytes, i, keys->key[first + i]);
    return status;
}

/* A key as a number that orders as those of its type do. */
static uint64_t rank_of(const reduct_keys *keys, uint64_t key) {
    int bits = 8 * rd_type(keys->type)->bytes;
    return rd_type(keys->type)->kind == RD_SIGNED ? key ^ (uint64_t)1 << (bits - 1) : key;
}

/* By one byte after another, the low ones first, each pass leaving those that are equal as they were; bytes that all keys share
 * take none. */
reduct_status reduct_keys_order(const reduct_keys *keys, uint64_t *order, reduct_error *error) {
    if (!keys || (!order && keys->count))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", keys ? "order" : "keys");
    if (!keys->count)
        return REDUCT_OK;
    uint64_t *room = malloc((size_t)keys->count * sizeof *room), *from = order, *to = room;
    if (!room)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "order: memory could not be allocated");
    for (uint64_t i = 0; i < keys->count; i++)
        order[i] = i;
    for (int shift = 0; shift < 8 * rd_type(keys->type)->bytes; shift += 8) {
        uint64_t begin[257] = {0};
        for (uint64_t i = 0; i < keys->count; i++)
            begin[(rank_of(keys, keys->key[i]) >> shift & 255) + 1]++;
        if (begin[(rank_of(keys, keys->key[0]) >> shift & 255) + 1] == keys->count)
            continue;
        for (int digit = 0; digit < 256; digit++)
            begin[digit + 1] += begin[digit];
        for (uint64_t i = 0; i < keys->count; i++)
            to[begin[rank_of(keys, keys->key[from[i]]) >> shift & 255]++] = from[i];
        uint64_t *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != order)
        memcpy(order, from, (size_t)keys->count * sizeof *order);
    free(room);
    return REDUCT_OK;
}

reduct_status reduct_keys_runs(reduct_type type, const void *array, uint64_t count, uint64_t *offsets, void *unique,
                               uint64_t *runs, reduct_error *error) {
    char label[RD_TYPE_LABEL];
    if (!is_key_type(type))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "type: %s; expected i32, u32, i64 or u64",
                       rd_type_label(type, label));
    if (!runs)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "runs: null pointer");
    size_t bytes = rd_type(type)->bytes;
    reduct_status status = check_array("array", array, type, count, error);
    if (status == REDUCT_OK)
        status = check_array("unique", unique, type, 0, error);
    if (status != REDUCT_OK)
        return status;
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = key_at(array, bytes, i);
        if (i && key == key_at(array, bytes, i - 1))
            continue;
        if (offsets)
            offsets[found] = i;
        if (unique)
            put_key(unique, bytes, found, key);
        found++;
    }
    if (offsets)
        offsets[found] = count;
    *runs = found;
    return REDUCT_OK;
}
