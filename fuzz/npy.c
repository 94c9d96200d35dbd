/* Fuzz target: the header of .npy files, from any bytes.
 *
 * What is accepted must make sense: a type that can be read, lengths whose product is the count and fits memory, places
 * in the array that are all different. Written out anew in NumPy's own way, it must read as the same. What is refused
 * must be refused in words that can be shown.
 */
#include "readers/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "values.h"

#define require(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *condition, int line) {
    fprintf(stderr, "npy.c:%d: %s does not hold\n", line, condition);
    abort();
}

static void check_refusal(const char *problem) {
    const char *end = memchr(problem, 0, NPY_PROBLEM);
    require(end && end - problem > 10);
    for (const char *c = problem; c < end; c++)
        require(*c >= ' ' && *c <= '~');
}

/* The product of the lengths, as a division at a time shows it: nothing can overflow unseen. */
static void check_count(const struct npy_header *header) {
    uint64_t left = header->count;
    bool empty = false;
    require(header->layout.rank <= LAYOUT_MOST);
    for (unsigned i = 0; i < header->layout.rank; i++)
        empty = empty || header->layout.shape[i] == 0;
    require(empty == (header->count == 0));
    for (unsigned i = 0; i < header->layout.rank && !empty; i++) {
        require(left % header->layout.shape[i] == 0);
        left /= header->layout.shape[i];
    }
    require(empty || left == 1);
    require(header->count <= INT64_MAX / reduct_type_size(header->type));
}

/* Every place of a small array is taken once; of a large one, the ends stay where they are. */
static void check_places(const struct npy_header *header) {
    static unsigned char taken[4096];
    const uint64_t count = header->count;
    if (count == 0)
        return;
    require(layout_index(&header->layout, 0) == 0 && layout_index(&header->layout, count - 1) == count - 1);
    if (count > sizeof taken)
        return;
    memset(taken, 0, sizeof taken);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = layout_index(&header->layout, i);
        require(place < count && !taken[place]++);
    }
}

/* A header as NumPy writes it. Returns its size. */
static size_t write_header(const struct npy_header *header, char *text, size_t room) {
    const char kind = header->type == REDUCT_BF16          ? 'V'
                      : reduct_type_is_float(header->type) ? 'f'
                                                           : *reduct_type_name(header->type); /* i, u, or b for bool */
    const bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != header->swap;
    const size_t bytes = reduct_type_size(header->type);
    size_t used =
        (size_t)snprintf(text, room, "{'descr': '%c%c%zu', 'fortran_order': %s, 'shape': (",
                         "<>|"[bytes == 1 ? 2 : !little], kind, bytes, header -> layout.fortran ? "True" : "False");
    for (unsigned i = 0; i < header->layout.rank; i++)
        used += (size_t)snprintf(text + used, room - used, "%" PRIu64 ", ", header->layout.shape[i]);
    return used + (size_t)snprintf(text + used, room - used, "), }\n");
}

static void check_again(const struct npy_header *header) {
    static char text[4096];
    struct npy_header again;
    char problem[NPY_PROBLEM];
    require(npy_parse(text, write_header(header, text, sizeof text), &again, problem));
    require(again.type == header->type && again.swap == header->swap && again.count == header->count);
    require(again.layout.rank == header->layout.rank && again.layout.fortran == header->layout.fortran);
    require(memcmp(again.layout.shape, header->layout.shape, header->layout.rank * sizeof *again.layout.shape) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct npy_header header;
    char problem[NPY_PROBLEM];
    memset(problem, 'x', sizeof problem);
    char *text = malloc(size + !size); /* to the byte, for the address sanitizer */
    require(text);
    memcpy(text, data, size);
    if (npy_parse(text, size, &header, problem)) {
        require(reduct_type_size(header.type) > 0 && !(header.swap && reduct_type_size(header.type) == 1));
        check_count(&header);
        check_places(&header);
        check_again(&header);
    } else {
        check_refusal(problem);
    }
    free(text);
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    static const char *const HEADERS[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }          \n",
        "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3, 5), }\n",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (), }",
        "{\"shape\": (10L,), \"descr\": \"=i2\", \"fortran_order\": True}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 18446744073709551615), }",
        "{'descr': '<u4', 'fortran_order': True, 'shape': (4294967296, 536870911,), }",
        "{'descr': [('a', '<f8'), ('b', '<i4')], 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (-3,), }",
    };
    const char *header = HEADERS[number % (sizeof HEADERS / sizeof *HEADERS)];
    memcpy(data, header, strlen(header));
    return strlen(header);
}
