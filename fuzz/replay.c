/* Runs a fuzz target without libFuzzer: on the files given, or else on a number of inputs to start from and on what
 * becomes of them when bytes are changed, words inserted and ends cut off. So every target is also a test.
 *
 *   replay_npy --kept FOLDER        first runs the inputs that were kept, all files of a folder
 *   replay_npy --write FOLDER 20    writes the first 20 inputs to start from as files, a corpus for libFuzzer
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "support.h"
#include "values.h"

static int replay_file(const char *path) {
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s cannot be opened\n", path);
        return 1;
    }
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    return 0;
}

/* Every file of a folder, of which there must be some. */
static int replay_folder(const char *folder) {
    DIR *directory = opendir(folder);
    int failed = 0;
    size_t count = 0;
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[4096];
        if (*entry->d_name == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        failed |= replay_file(path);
        count++;
    }
    if (directory)
        closedir(directory);
    printf("%zu inputs that were kept in %s\n", count, folder);
    return failed || count == 0;
}

/* One change of the kinds that find most; returns the new size. */
static size_t mutate(struct rng *rng, uint8_t *data, size_t size) {
    static const uint64_t words[] = {
        0, 1, UINT64_MAX, INT64_MAX, (uint64_t)1 << 63, 0x7ff0000000000000, 0x7ff8000000000000};
    const size_t at = rng_below(rng, size);
    switch (rng_below(rng, 5)) {
    case 0:
        data[at] = (uint8_t)rng_next(rng);
        return size;
    case 1:
        data[at] ^= (uint8_t)(1U << rng_below(rng, 8));
        return size;
    case 2:
        if (at + 8 <= size)
            memcpy(data + at, &words[rng_below(rng, sizeof words / sizeof *words)], 8);
        return size;
    case 3:
        return at ? at : size;
    default:
        if (at >= 16)
            memcpy(data + at / 8 * 8 - 8, data + rng_below(rng, at / 8) * 8, 8);
        return size;
    }
}

static int write_corpus(const char *folder, uint64_t count) {
    static uint8_t data[FUZZ_MOST];
    for (uint64_t number = 0; number < count; number++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%llu", folder, (unsigned long long)number);
        const size_t size = fuzz_start(number, data);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
            fprintf(stderr, "%s cannot be written\n", path);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    static uint8_t data[FUZZ_MOST];
    int failed = 0;
    if (argc == 4 && strcmp(argv[1], "--write") == 0)
        return write_corpus(argv[2], strtoull(argv[3], NULL, 10));
    const bool kept = argc == 3 && strcmp(argv[1], "--kept") == 0;
    if (kept)
        failed = replay_folder(argv[2]);
    for (int i = 1; i < argc && !kept; i++)
        failed |= replay_file(argv[i]);
    if (failed || (argc > 1 && !kept))
        return failed;
    const uint64_t rounds = test_scaled(20000, 500);
    struct rng rng = rng_of(test_seed());
    printf("%llu inputs, REDUCT_TEST_SEED=%llu\n", (unsigned long long)rounds, (unsigned long long)test_seed());
    fflush(stdout);
    for (uint64_t round = 0; round < rounds; round++) {
        size_t size = fuzz_start(rng_next(&rng), data);
        LLVMFuzzerTestOneInput(data, size);
        for (uint64_t changes = rng_below(&rng, 4); changes > 0 && size > 0; changes--) {
            size = mutate(&rng, data, size);
            LLVMFuzzerTestOneInput(data, size);
        }
    }
    return 0;
}
