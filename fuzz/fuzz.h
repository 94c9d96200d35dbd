/* What a fuzz target is: libFuzzer's entry, and inputs to start from. replay.c runs a target without libFuzzer.
 *
 * A target aborts when the library is wrong; whatever the bytes, that must not happen.
 */
#ifndef REDUCT_FUZZ_H
#define REDUCT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes input number `number` of those worth starting from, to `data` with room for FUZZ_MOST bytes. Returns its
 * size. */
enum { FUZZ_MOST = 8192 };
size_t fuzz_start(uint64_t number, uint8_t *data);

#endif
