/* Names of template instances: NAME(plain) is plain_f32 where SUFFIX is f32. And a function of type cpu_sum around one:
 * the element type is known only to the two of them. */
#define CPU_PASTE2(a, b) a##_##b
#define CPU_PASTE(a, b)  CPU_PASTE2(a, b)
#define NAME(a)          CPU_PASTE(a, SUFFIX)
#define CPU_SUM(rung)                                                                                                  \
    static void NAME(run_##rung)(const void *x, size_t n, void *result) {                                              \
        *(T *)result = NAME(rung)(x, n);                                                                               \
    }
