/* Choosing kernels for the processor at hand. */
#include "cpu/features.h"

#ifdef RD_X86
#include <cpuid.h>
#endif
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static bool always(void) {
    return true;
}

#ifdef RD_X86
/* Conversions of 16-bit floats, for which not every compiler's __builtin_cpu_supports() has a name. */
static bool has_f16c(void) {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

/* The best first. The portable kernels run everywhere. */
static const struct {
    const struct rd_kernels *kernels;
    bool (*has)(void);
} all[] = {
#ifdef RD_X86
    {&rd_kernels_avx512, has_avx512},
    {&rd_kernels_avx2, has_avx2},
#endif
    {&rd_kernels_portable, always},
};

enum { ALL = sizeof all / sizeof *all };

static bool runs_here(size_t i) {
    return all[i].has() && all[i].kernels->self_test();
}

const struct rd_kernels *rd_kernels_best(void) {
    static const struct rd_kernels *_Atomic best;
    const struct rd_kernels *kernels = atomic_load_explicit(&best, memory_order_acquire);
    if (!kernels) { /* several threads may get here: they all find the same */
        kernels = all[ALL - 1].kernels;
        for (size_t i = ALL; i-- > 0;)
            kernels = runs_here(i) ? all[i].kernels : kernels;
        atomic_store_explicit(&best, kernels, memory_order_release);
    }
    return kernels;
}

static const char *short_name(size_t i) {
    return strchr(all[i].kernels->name, ':') + 1;
}

const struct rd_kernels *rd_kernels_find(const char *name) {
    for (size_t i = 0; i < ALL; i++)
        if (!strcmp(name, short_name(i)))
            return runs_here(i) ? all[i].kernels : NULL;
    return NULL;
}

void rd_kernels_list(char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < ALL && used < size; i++)
        if (runs_here(i))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", all[i].kernels->name);
}
