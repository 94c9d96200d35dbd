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
/* Asked of the processor itself: __builtin_cpu_supports() is always 0 in programs that are linked by zig. Bits as in the "Intel 64 and
 * IA-32 Architectures Software Developer's Manual", volume 2, CPUID. */
enum {
    FMA = 1 << 12,     /* leaf 1, ecx */
    OSXSAVE = 1 << 27, /* the system tells which registers it keeps */
    AVX = 1 << 28,
    F16C = 1 << 29,
    AVX2 = 1 << 5, /* leaf 7, ebx */
    AVX512F = 1 << 16,
    AVX512DQ = 1 << 17,
    AVX512BW = 1 << 30,
    KEEPS_YMM = 0x06, /* XCR0 */
    KEEPS_ZMM = 0xe6
};
static const unsigned AVX512VL = 1U << 31;

/* Whether the system keeps these registers when it gives the processor to others. */
static bool keeps(unsigned registers) {
    unsigned eax, ebx, ecx, edx, low, high;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & OSXSAVE))
        return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & registers) == registers;
}

static bool has_avx2(void) {
    const unsigned needed = FMA | AVX | F16C;
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & needed) == needed && keeps(KEEPS_YMM) &&
           __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & AVX2);
}

static bool has_avx512(void) {
    const unsigned needed = AVX512F | AVX512DQ | AVX512BW | AVX512VL;
    unsigned eax, ebx, ecx, edx;
    return has_avx2() && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & needed) == needed &&
           keeps(KEEPS_ZMM);
}

static bool is_of_amd(void) {
    char vendor[12];
    unsigned most, part[3]; /* of the name: ebx, edx, ecx */
    if (!__get_cpuid(0, &most, &part[0], &part[2], &part[1]))
        return false;
    memcpy(vendor, part, sizeof vendor);
    return memcmp(vendor, "AuthenticAMD", sizeof vendor) == 0;
}

/* Family 0x19, of which Zen 4 has AVX-512. What that is slow at was measured (docs/benchmarks/cpu.md). */
static bool is_zen_4(void) {
    enum { ZEN_3_AND_4 = 0x19 };
    unsigned eax, ebx, ecx, edx;
    return is_of_amd() && __get_cpuid(1, &eax, &ebx, &ecx, &edx) &&
           (eax >> 8 & 0xf) + (eax >> 20 & 0xff) == ZEN_3_AND_4;
}
#else
static bool is_of_amd(void) {
    return false;
}
static bool is_zen_4(void) {
    return false;
}
#endif

/* What was found out once: under a hypervisor such questions take some 50 us. */
enum { UNKNOWN, NO, YES };
static atomic_int asks_ahead, does_halves;

/* Several threads may get here: they all find the same. */
static bool remember(atomic_int *known, bool answer) {
    atomic_store_explicit(known, answer ? YES : NO, memory_order_relaxed);
    return answer;
}

bool rd_asks_ahead(void) {
    const int known = atomic_load_explicit(&asks_ahead, memory_order_relaxed);
    return known != UNKNOWN ? known == YES : remember(&asks_ahead, !is_of_amd());
}

bool rd_does_halves(void) {
    const int known = atomic_load_explicit(&does_halves, memory_order_relaxed);
    return known != UNKNOWN ? known == YES : remember(&does_halves, is_zen_4());
}

void rd_assume_halves(bool does) {
    remember(&does_halves, does);
}

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
