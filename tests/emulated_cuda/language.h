/* What CUDA C++ has beyond C++, as far as the library's kernels use it, for a compiler of the host: included before each
 * of them. A kernel that uses more does not compile until that is here. Meanings are those of NVIDIA's "CUDA C++
 * Programming Guide", "CUDA Math API" and "PTX ISA".
 *
 * Not the same as on a GPU: the memory model, as threads of a block take turns and blocks follow each other (grid.h); the
 * bits of NaNs that arithmetic makes; how long anything takes. */
#ifndef EMULATED_CUDA_LANGUAGE_H
#define EMULATED_CUDA_LANGUAGE_H

#include "grid.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>
#include <utility>

#define __CUDACC__ 1 /* its architecture, __CUDA_ARCH__, is given on the command line */

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __align__(n)    __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
/* One block at a time runs on a thread of the host. Unlike thread_local this refuses constructors, as CUDA does. */
#define __shared__ static __thread

#define threadIdx (emulated_self->thread)
#define blockIdx  (emulated_self->block)
#define blockDim  (emulated_self->threads)
#define gridDim   (emulated_self->blocks)

/* A kernel, and a function that calls it as a driver does: translate.py writes these for kernels with any parameters. */
template <class... Parameters, size_t... I>
void emulated_call(void (*kernel)(Parameters...), void **arguments, std::index_sequence<I...>) {
    kernel(*static_cast<typename std::remove_const<Parameters>::type *>(arguments[I])...);
}
template <class... Parameters> void emulated_call(void (*kernel)(Parameters...), void **arguments) {
    emulated_call(kernel, arguments, std::index_sequence_for<Parameters...>());
}
#define EMULATED_KERNEL(name, ...)                                                                                     \
    extern "C" __global__ void name(__VA_ARGS__);                                                                      \
    extern "C" __global__ void name##_call(void **arguments) {                                                         \
        emulated_call(name, arguments);                                                                                \
    }                                                                                                                  \
    extern "C" __global__ void name(__VA_ARGS__)

/* An address in shared memory: all of it lies in one piece, the thread's storage of the module. */
extern "C" __attribute__((visibility("default"))) void *emulated_shared() {
    static __thread char any;
    return &any;
}

/* Where a function of CUDA was called: the last parameters of those that care. */
#define EMULATED_CALLER const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define EMULATED_PLACE  (emulated_place{__func__, file, line})

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Threads that wait for each other
 * ------------------------------------------------------------------------------------------------------------------ */

inline void __syncthreads(EMULATED_CALLER) {
    emulated_barrier(EMULATED_PLACE);
}
inline void __syncwarp(unsigned mask = 0xffffffff, EMULATED_CALLER) {
    emulated_meet(EMULATED_PLACE, mask, 0, nullptr);
}
inline void __threadfence() { /* all see memory in one order as it is */
    emulated_fence();
}
inline void __threadfence_block() {
    emulated_fence();
}
inline long long clock64() { /* of a thread that looks at nothing else meanwhile */
    static thread_local long long cycles;
    return cycles += 100;
}
inline void __trap() {
    fputs("a kernel trapped\n", stderr);
    abort();
}

template <class T> uint64_t emulated_bits(T value) {
    static_assert(sizeof(T) <= 8 && std::is_arithmetic<T>::value, "shuffled values are numbers of up to 64 bits");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T> T emulated_value(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
inline int emulated_lane() {
    return (int)(threadIdx.x % EMULATED_WARP);
}

/* The value of a lane; a lane that there is not leaves a thread its own. */
template <class T> T emulated_shuffle(emulated_place place, unsigned mask, T value, int from, int width) {
    if (width != EMULATED_WARP)
        emulated_fail(place, "the width is %d; the model has %d", width, EMULATED_WARP);
    const uint64_t *values = emulated_meet(place, mask, emulated_bits(value), nullptr);
    return from < 0 || from >= EMULATED_WARP ? value : emulated_value<T>(values[from]);
}
template <class T> T __shfl_sync(unsigned mask, T value, int lane, int width = EMULATED_WARP, EMULATED_CALLER) {
    return emulated_shuffle(EMULATED_PLACE, mask, value, lane & (EMULATED_WARP - 1), width);
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = EMULATED_WARP, EMULATED_CALLER) {
    return emulated_shuffle(EMULATED_PLACE, mask, value, emulated_lane() - (int)by, width);
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = EMULATED_WARP, EMULATED_CALLER) {
    return emulated_shuffle(EMULATED_PLACE, mask, value, emulated_lane() + (int)by, width);
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int with, int width = EMULATED_WARP, EMULATED_CALLER) {
    return emulated_shuffle(EMULATED_PLACE, mask, value, emulated_lane() ^ with, width);
}

/* All values of a warp in one, which is left in the first. */
template <class Combine> void emulated_fold(uint64_t *values, Combine combine) {
    for (int lane = 1; lane < EMULATED_WARP; lane++)
        values[0] = combine(values[0], values[lane]);
}
inline void emulated_votes(uint64_t *values) {
    uint64_t votes = 0;
    for (int lane = 0; lane < EMULATED_WARP; lane++)
        votes |= (uint64_t)(values[lane] != 0) << lane;
    values[0] = votes;
}
inline unsigned emulated_ballot(emulated_place place, unsigned mask, int vote) {
    return (unsigned)emulated_meet(place, mask, vote != 0, emulated_votes)[0];
}
inline unsigned __ballot_sync(unsigned mask, int vote, EMULATED_CALLER) {
    return emulated_ballot(EMULATED_PLACE, mask, vote);
}
inline int __any_sync(unsigned mask, int vote, EMULATED_CALLER) {
    return emulated_ballot(EMULATED_PLACE, mask, vote) != 0;
}
inline int __all_sync(unsigned mask, int vote, EMULATED_CALLER) {
    return emulated_ballot(EMULATED_PLACE, mask, vote) == 0xffffffff;
}

#if __CUDA_ARCH__ >= 800
#define EMULATED_REDUCE(name, T, expression)                                                                           \
    inline T name(unsigned mask, T value, EMULATED_CALLER) {                                                           \
        const uint64_t *values = emulated_meet(EMULATED_PLACE, mask, (uint64_t)value, [](uint64_t *values) {           \
            emulated_fold(values, [](uint64_t x, uint64_t y) {                                                         \
                const T a = (T)x, b = (T)y;                                                                            \
                return (uint64_t)(T)(expression);                                                                      \
            });                                                                                                        \
        });                                                                                                            \
        return (T)values[0];                                                                                           \
    }
EMULATED_REDUCE(__reduce_add_sync, unsigned, a + b)
EMULATED_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
EMULATED_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
EMULATED_REDUCE(__reduce_max_sync, int, a > b ? a : b)
EMULATED_REDUCE(__reduce_min_sync, int, a < b ? a : b)
EMULATED_REDUCE(__reduce_and_sync, unsigned, a &b)
EMULATED_REDUCE(__reduce_or_sync, unsigned, a | b)
EMULATED_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#endif

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------------------------------------------------ */

/* An access of a GPU must be aligned to its size. */
template <class T> void emulated_check_aligned(emulated_place place, const T *address) {
    if ((uintptr_t)address % sizeof(T))
        emulated_fail(place, "the address %p is not a multiple of %zu", (const void *)address, sizeof(T));
}
template <class T> T __ldcg(const T *from, EMULATED_CALLER) {
    emulated_check_aligned(EMULATED_PLACE, from);
    return *from;
}
template <class T> T __ldcs(const T *from, EMULATED_CALLER) {
    emulated_check_aligned(EMULATED_PLACE, from);
    return *from;
}

/* Addresses of the host are of one space. */
inline size_t __cvta_generic_to_shared(const void *pointer) {
    return (size_t)pointer;
}
inline size_t __cvta_generic_to_global(const void *pointer) {
    return (size_t)pointer;
}

/* Atomic operations return what was there. Others may go first. `Same` keeps arguments from having a say in the type. */
template <class T> struct EmulatedSame { typedef T Type; };
#define EMULATED_ATOMIC(name, expression)                                                                              \
    template <class T> T name(T *at, typename EmulatedSame<T>::Type value, EMULATED_CALLER) {                          \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomic operations are on 32 or 64 bits");                     \
        emulated_check_aligned(EMULATED_PLACE, at);                                                                    \
        emulated_give_way(at);                                                                                         \
        const T old = *at;                                                                                             \
        *at = (expression);                                                                                            \
        return old;                                                                                                    \
    }
EMULATED_ATOMIC(emulated_atomic_add, old + value)
EMULATED_ATOMIC(atomicExch, value)
EMULATED_ATOMIC(atomicAnd, old &value)
EMULATED_ATOMIC(atomicOr, old | value)
EMULATED_ATOMIC(atomicXor, old ^ value)
EMULATED_ATOMIC(atomicMax, old > value ? old : value)
EMULATED_ATOMIC(atomicMin, old < value ? old : value)
EMULATED_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
EMULATED_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)

/* Signed sums wrap. */
inline int atomicAdd(int *at, int value, EMULATED_CALLER) {
    return (int)emulated_atomic_add(reinterpret_cast<unsigned *>(at), (unsigned)value, file, line);
}
inline unsigned atomicAdd(unsigned *at, unsigned value, EMULATED_CALLER) {
    return emulated_atomic_add(at, value, file, line);
}
inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long value, EMULATED_CALLER) {
    return emulated_atomic_add(at, value, file, line);
}
inline float atomicAdd(float *at, float value, EMULATED_CALLER) {
    return emulated_atomic_add(at, value, file, line);
}
inline double atomicAdd(double *at, double value, EMULATED_CALLER) {
    return emulated_atomic_add(at, value, file, line);
}
template <class T>
T atomicCAS(T *at, typename EmulatedSame<T>::Type expected, typename EmulatedSame<T>::Type value, EMULATED_CALLER) {
    emulated_check_aligned(EMULATED_PLACE, at);
    emulated_give_way(at);
    const T old = *at;
    *at = old == expected ? value : old;
    return old;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------------------------------------------------ */

#define EMULATED_LEAST_AND_MOST(T)                                                                                     \
    inline T min(T a, T b) {                                                                                           \
        return a < b ? a : b;                                                                                          \
    }                                                                                                                  \
    inline T max(T a, T b) {                                                                                           \
        return a > b ? a : b;                                                                                          \
    }
EMULATED_LEAST_AND_MOST(int)
EMULATED_LEAST_AND_MOST(unsigned)
EMULATED_LEAST_AND_MOST(long)
EMULATED_LEAST_AND_MOST(unsigned long)
EMULATED_LEAST_AND_MOST(long long)
EMULATED_LEAST_AND_MOST(unsigned long long)

#define EMULATED_CAST(name, From, To)                                                                                  \
    inline To name(From value) {                                                                                       \
        return emulated_value<To>(emulated_bits(value));                                                               \
    }
EMULATED_CAST(__double_as_longlong, double, long long)
EMULATED_CAST(__longlong_as_double, long long, double)
EMULATED_CAST(__float_as_uint, float, unsigned)
EMULATED_CAST(__uint_as_float, unsigned, float)
EMULATED_CAST(__float_as_int, float, int)
EMULATED_CAST(__int_as_float, int, float)
inline int __double2hiint(double x) {
    return (int)(__double_as_longlong(x) >> 32);
}
inline int __double2loint(double x) {
    return (int)__double_as_longlong(x);
}

/* fma() rounds once, as C demands, whether or not the processor has an instruction for it. */
inline double __fma_rn(double x, double y, double z) {
    return fma(x, y, z);
}
inline float __fmaf_rn(float x, float y, float z) {
    return fmaf(x, y, z);
}

inline int __clz(int x) {
    return x ? __builtin_clz((unsigned)x) : 32;
}
inline int __clzll(long long x) {
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline long long __mul64hi(long long x, long long y) {
    return (long long)((__int128)x * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}

/* Parts of a word. */
inline unsigned emulated_byte(unsigned x, int i) {
    return x >> (8 * i) & 0xff;
}
inline unsigned emulated_half(unsigned x, int i) {
    return x >> (16 * i) & 0xffff;
}

inline int __dp4a(int x, int y, int sum) {
    for (int i = 0; i < 4; i++)
        sum += (int8_t)emulated_byte((unsigned)x, i) * (int8_t)emulated_byte((unsigned)y, i);
    return sum;
}
inline unsigned __dp4a(unsigned x, unsigned y, unsigned sum) {
    for (int i = 0; i < 4; i++)
        sum += emulated_byte(x, i) * emulated_byte(y, i);
    return sum;
}
/* Halves of x times the lower two bytes of y. */
inline int __dp2a_lo(int x, int y, int sum) {
    for (int i = 0; i < 2; i++)
        sum += (int16_t)emulated_half((unsigned)x, i) * (int8_t)emulated_byte((unsigned)y, i);
    return sum;
}
inline unsigned __dp2a_lo(unsigned x, unsigned y, unsigned sum) {
    for (int i = 0; i < 2; i++)
        sum += emulated_half(x, i) * emulated_byte(y, i);
    return sum;
}

/* The magnitude of the least number is its own bits. */
template <int BITS> unsigned emulated_equal_parts(unsigned x, unsigned y) {
    const unsigned part = BITS == 8 ? 0xff : 0xffff;
    unsigned equal = 0;
    for (int bit = 0; bit < 32; bit += BITS)
        if (((x ^ y) >> bit & part) == 0)
            equal |= part << bit;
    return equal;
}
inline unsigned __vcmpeq2(unsigned x, unsigned y) {
    return emulated_equal_parts<16>(x, y);
}
inline unsigned __vcmpeq4(unsigned x, unsigned y) {
    return emulated_equal_parts<8>(x, y);
}
inline unsigned __vabs4(unsigned x) {
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned byte = emulated_byte(x, i);
        result |= (byte & 0x80 ? -byte & 0xff : byte) << (8 * i);
    }
    return result;
}
inline unsigned __vabs2(unsigned x) {
    unsigned result = 0;
    for (int i = 0; i < 2; i++) {
        const unsigned half = emulated_half(x, i);
        result |= (half & 0x8000 ? -half & 0xffff : half) << (16 * i);
    }
    return result;
}
inline unsigned __vminu2(unsigned x, unsigned y) {
    return min(emulated_half(x, 0), emulated_half(y, 0)) | min(emulated_half(x, 1), emulated_half(y, 1)) << 16;
}
inline unsigned __vmaxu2(unsigned x, unsigned y) {
    return max(emulated_half(x, 0), emulated_half(y, 0)) | max(emulated_half(x, 1), emulated_half(y, 1)) << 16;
}
inline unsigned __viaddmin_u16x2(unsigned x, unsigned y, unsigned z) {
    const unsigned lower = (x + y) & 0xffff, upper = (emulated_half(x, 1) + emulated_half(y, 1)) & 0xffff;
    return __vminu2(lower | upper << 16, z);
}
inline unsigned __viaddmin_u32(unsigned x, unsigned y, unsigned z) {
    return min(x + y, z);
}
inline unsigned __vimin3_u16x2(unsigned x, unsigned y, unsigned z) {
    return __vminu2(__vminu2(x, y), z);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Instructions of PTX that kernels have in asm statements: translate.py makes them calls, the destination first
 * ------------------------------------------------------------------------------------------------------------------ */

inline void ptx_min_u32(unsigned &to, unsigned x, unsigned y) {
    to = min(x, y);
}
inline void ptx_selp_u32(unsigned &to, unsigned x, unsigned y, bool which) {
    to = which ? x : y;
}
inline void ptx_cvt_f32_f16(float &value, uint16_t bits) {
    const unsigned magnitude = bits & 0x7fff;
    /* Exponent and significand, moved to where f32 has them, are 2^112 times too small; the largest exponent stays. */
    value = __uint_as_float(magnitude << 13) * 0x1p112f;
    value = __uint_as_float(__float_as_uint(value) | (unsigned)(bits & 0x8000) << 16 |
                            (magnitude >= 0x7c00 ? 0x7f800000 : 0));
}
inline void ptx_mov_b64(long long &to, long long from) {
    to = from;
}
/* All see memory in one order as it is. */
inline void ptx_atom_acq_rel_gpu_global_add_u64(unsigned long long &before, uint64_t at, unsigned long long value,
                                                EMULATED_CALLER) {
    emulated_fence();
    before = atomicAdd(reinterpret_cast<unsigned long long *>(at), value, file, line);
    emulated_fence();
}
inline void ptx_red_relaxed_gpu_global_add_u64(uint64_t at, unsigned long long value, EMULATED_CALLER) {
    atomicAdd(reinterpret_cast<unsigned long long *>(at), value, file, line);
}

#if __CUDA_ARCH__ >= 900
/* Launches follow each other: nothing is under way when one begins. */
inline void ptx_griddepcontrol_wait() {
}
inline void ptx_griddepcontrol_launch_dependents() {
}

inline void ptx_cp_async_cg_shared_global_L2__128B(uint64_t to, const void *from, unsigned bytes, EMULATED_CALLER) {
    if (to % 16 || (uintptr_t)from % 16 || bytes != 16)
        emulated_fail(EMULATED_PLACE, "a copy past the first cache is of 16 bytes, from and to multiples of 16");
    emulated_copy(EMULATED_PLACE, reinterpret_cast<void *>(to), from, bytes);
}
inline void ptx_cp_async_commit_group() {
    emulated_end_group();
}
inline void ptx_cp_async_wait_group(unsigned pending) {
    emulated_wait_for_groups(pending);
}
inline void ptx_cp_async_wait_all() {
    emulated_end_group();
    emulated_wait_for_groups(0);
}

/* Barriers that count arrivals, of which one may announce bytes. The lowest bit of the word, by which they are waited for,
 * is the parity of the phase that is under way. */
struct emulated_mbarrier {
    uint64_t parity : 1, pending : 15, expected : 16, bytes : 32; /* pending: arrivals, and bytes, still to come */

    static emulated_mbarrier &at(uint64_t address) {
        return *reinterpret_cast<emulated_mbarrier *>(address);
    }
    void end_phase() {
        if (pending || bytes)
            return;
        parity ^= 1;
        pending = expected;
    }
    void arrive(emulated_place place) {
        if (!pending)
            emulated_fail(place, "nobody is expected at this barrier before bytes have come");
        pending--;
        end_phase();
    }
};
static_assert(sizeof(emulated_mbarrier) == sizeof(uint64_t), "a barrier is a word");

inline void ptx_mbarrier_init_shared_b64(uint64_t barrier, unsigned count) {
    emulated_mbarrier::at(barrier) = {0, count, count, 0};
}
inline void ptx_mbarrier_inval_shared_b64(uint64_t barrier) {
    emulated_mbarrier::at(barrier) = {};
}
inline void ptx_fence_mbarrier_init_release_cluster() {
    emulated_fence();
}
inline void ptx_mbarrier_arrive_shared_b64(unsigned long long &state, uint64_t barrier, EMULATED_CALLER) {
    state = 0;
    emulated_give_way(reinterpret_cast<const void *>(barrier));
    emulated_mbarrier::at(barrier).arrive(EMULATED_PLACE);
}
inline void ptx_mbarrier_arrive_expect_tx_shared_b64(unsigned long long &state, uint64_t barrier, unsigned bytes,
                                                     EMULATED_CALLER) {
    state = 0;
    emulated_mbarrier::at(barrier).bytes += bytes;
    emulated_mbarrier::at(barrier).arrive(EMULATED_PLACE);
}
inline void ptx_cp_async_bulk_prefetch_L2_global(const void *from, unsigned bytes, EMULATED_CALLER) {
    if ((uintptr_t)from % 16 || bytes % 16 || bytes == 0)
        emulated_fail(EMULATED_PLACE, "a bulk fetch takes addresses and sizes that are multiples of 16");
    (void)*static_cast<const volatile char *>(from); /* it is there: to the last byte */
    (void)static_cast<const volatile char *>(from)[bytes - 1];
}
inline void ptx_cp_async_bulk_shared__cluster_global_mbarrier__complete_tx__bytes(uint64_t to, const void *from,
                                                                                  unsigned bytes, uint64_t barrier,
                                                                                  EMULATED_CALLER) {
    emulated_mbarrier &of = emulated_mbarrier::at(barrier);
    if (to % 16 || (uintptr_t)from % 16 || bytes % 16)
        emulated_fail(EMULATED_PLACE, "a bulk copy takes addresses and sizes that are multiples of 16");
    if (of.bytes < bytes)
        emulated_fail(EMULATED_PLACE, "%u bytes are copied, but %llu were announced", bytes,
                      (unsigned long long)of.bytes);
    memcpy(reinterpret_cast<void *>(to), from, bytes);
    of.bytes -= bytes;
    of.end_phase();
}
inline void ptx_mbarrier_try_wait_parity_shared_b64(bool &complete, uint64_t barrier, unsigned parity,
                                                    EMULATED_CALLER) {
    static unsigned in_vain; /* by whichever threads, one after the other */
    emulated_give_way(reinterpret_cast<const void *>(barrier));
    complete = (*reinterpret_cast<uint64_t *>(barrier) & 1) != parity;
    in_vain = complete ? 0 : in_vain + 1;
    if (in_vain > 100000)
        emulated_fail(EMULATED_PLACE, "nobody completes the phase that is waited for");
}
#endif
#if __CUDA_ARCH__ >= 800
inline void ptx_min_NaN_f32(float &to, float x, float y) {
    if (x != x || y != y)
        to = __uint_as_float(0x7fffffff);
    else if (x == y) /* -0 is less than +0 */
        to = __uint_as_float(__float_as_uint(x) | __float_as_uint(y));
    else
        to = x < y ? x : y;
}
/* Of two floats of 16 bits each, of which infinity is known. */
inline void emulated_min_of_halves(unsigned &to, unsigned x, unsigned y, unsigned infinity) {
    const auto key = [](unsigned bits) { return bits & 0x8000 ? 0xffff - bits : bits + 0x8000; };
    unsigned least[2];
    for (int i = 0; i < 2; i++) {
        const unsigned a = x >> 16 * i & 0xffff, b = y >> 16 * i & 0xffff;
        const bool nan = (a & 0x7fff) > infinity || (b & 0x7fff) > infinity;
        least[i] = nan ? 0x7fff : key(a) < key(b) ? a : b;
    }
    to = least[1] << 16 | least[0];
}
inline void ptx_min_NaN_f16x2(unsigned &to, unsigned x, unsigned y) {
    emulated_min_of_halves(to, x, y, 0x7c00);
}
inline void ptx_min_NaN_bf16x2(unsigned &to, unsigned x, unsigned y) {
    emulated_min_of_halves(to, x, y, 0x7f80);
}
#endif

#endif
