/* What a fuzz target is: libFuzzer's entry, and inputs to start from. replay.c runs a target without libFuzzer.
 *
 * A target aborts when the library is wrong; whatever the bytes, that must not happen.
 */
#ifndef REDUCT_FUZZ_H
#define REDUCT_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes input number `number` of those worth starting from, to `data` with room for FUZZ_MOST bytes. Returns its
 * size. */
enum { FUZZ_MOST = 8192 };
size_t fuzz_start(uint64_t number, uint8_t *data);

/* Ends the run where what must hold does not. */
#define FUZZ_REQUIRE(condition) ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))
static inline void fuzz_broken(const char *file, int line, const char *condition) {
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
    abort();
}

/* Choices out of an input, byte by byte; 0 at its end. */
struct fuzz_input {
    const uint8_t *data;
    size_t size;
};

static inline unsigned fuzz_byte(struct fuzz_input *input) {
    if (!input->size)
        return 0;
    input->size--;
    return *input->data++;
}

/* Two of them. */
static inline size_t fuzz_size(struct fuzz_input *input) {
    const size_t low = fuzz_byte(input);
    return low | (size_t)fuzz_byte(input) << 8;
}

#endif
