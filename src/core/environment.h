/* The floating-point environment. Code that does floating-point arithmetic for a caller runs between
 * rd_environment_enter() and rd_environment_leave(): round to nearest even, subnormals kept, traps off, exception flags
 * clear inside; whatever the caller had, sticky flags included, outside. Threads inherit their creator's environment,
 * so each worker enters on its own. */
#ifndef RD_ENVIRONMENT_H
#define RD_ENVIRONMENT_H

#if defined(__FAST_MATH__)
#error "exact arithmetic needs IEEE semantics: compile without -ffast-math"
#endif

#ifdef __SSE2__
#include <xmmintrin.h>

typedef unsigned rd_environment; /* MXCSR: the only state that SSE and AVX arithmetic depends on */

enum { RD_MXCSR_DEFAULT = 0x1f80 };

static inline rd_environment rd_environment_enter(void) {
    rd_environment caller = _mm_getcsr();
    _mm_setcsr(RD_MXCSR_DEFAULT);
    return caller;
}

static inline void rd_environment_leave(rd_environment caller) {
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(caller);
}

#else
#include <fenv.h>

typedef fenv_t rd_environment;

static inline rd_environment rd_environment_enter(void) {
    rd_environment caller;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV);
    return caller;
}

static inline void rd_environment_leave(rd_environment caller) {
    fesetenv(&caller);
}
#endif

#endif
