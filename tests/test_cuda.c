/* The CUDA backend on a GPU, through reduct/cuda.h and through the calls that all devices share.
 *
 *   test_cuda [--quick] [cuda:0:double|cuda:0:integer] [bits|calls|groups|keys|several|masks|set|auto|faults]...     all groups, unless some are named
 *
 * --quick is for compute-sanitizer's tools, under which kernels run a hundred times slower: few and small cases, and no
 * test that fills or resets the device. Without a GPU it says why there is none and ends with status 77, which ctest
 * takes for a skipped test; where REDUCT_REQUIRE_GPU=1 is set, with status 1.
 *
 * From the survival list: "every misalignment down to one element", "more than 2^32 elements", "device memory runs out;
 * the device is lost", "calls from many threads at once; fork after use".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_support.h"

enum { SKIPPED = 77 };

static const struct group {
    const char *name;
    int (*run)(void);
} groups[] = {{"bits", test_cuda_bits}, {"calls", test_cuda_calls},     {"groups", test_cuda_groups},
              {"set", test_cuda_set},   {"several", test_cuda_several}, {"masks", test_cuda_masks},
              {"keys", test_cuda_keys}, {"auto", test_cuda_auto},       {"faults", test_cuda_faults}};
enum { GROUPS = sizeof groups / sizeof *groups };

static int no_device(const char *why) {
    const char *required = getenv("REDUCT_REQUIRE_GPU");
    const bool must = required && strcmp(required, "1") == 0;
    printf("%s: the CUDA backend is not tested here: %s\n", must ? "FAILED" : "SKIPPED", why);
    return must ? 1 : SKIPPED;
}

static int usage(void) {
    fprintf(stderr, "usage: test_cuda [--quick] [cuda:0:double|cuda:0:integer] "
                    "[bits|calls|groups|keys|several|masks|set|auto|faults]...\n");
    return 2;
}

int main(int argc, char **argv) {
    bool chosen[GROUPS] = {false}, any = false;
    for (int i = 1; i < argc; i++) {
        bool known = strcmp(argv[i], "--quick") == 0;
        gpu.quick = gpu.quick || known;
        if (strncmp(argv[i], "cuda:0:", 7) == 0) {
            gpu.name = argv[i];
            known = true;
        }
        for (size_t g = 0; g < GROUPS; g++)
            if (strcmp(argv[i], groups[g].name) == 0)
                known = chosen[g] = any = true;
        if (!known)
            return usage();
    }
    const char *why = "";
    if (!gpu_open(&why))
        return no_device(why);
    int failed = 0;
    for (size_t g = 0; g < GROUPS; g++)
        if (chosen[g] || !any)
            failed += groups[g].run();
    return failed != 0;
}
