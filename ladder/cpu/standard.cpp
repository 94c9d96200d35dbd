/* Rungs: std-accumulate, std-reduce, std-reduce-par. C++ has a reduction in its library under several names; what differs is
 * the order that they promise.
 *
 * The idea. std::accumulate adds from left to right, and must: it is the rung plain. (std::ranges::fold_left of C++23 is the same
 * promise under another name.) std::reduce of C++17 may add in any order and any grouping, which is what every other rung of this
 * ladder takes the liberty of. std::reduce with std::execution::par_unseq may use threads and vectors besides.
 *
 * What it costs. One header. libstdc++ takes std::reduce four at a time: three additions of a group do not wait for the sum. Its
 * parallel algorithms are those of oneTBB, which has to be there when this is compiled.
 *
 * How wrong. std::accumulate as plain; the others have shorter chains, and promise nothing.
 *
 * When it wins. It is there, and says what is meant. But the sum's type is that of the initial value: std::accumulate(x, x + n,
 * 0) over floats adds integers, and says nothing. */
#include "ladder/cpu/cpu.h"

#ifdef LADDER_TBB
#include <execution>
#endif
#include <numeric>

namespace {

template <typename T> void accumulate(const void *x, size_t n, void *result) {
    auto first = static_cast<const T *>(x);
    *static_cast<T *>(result) = std::accumulate(first, first + n, T(0));
}

template <typename T> void reduce(const void *x, size_t n, void *result) {
    auto first = static_cast<const T *>(x);
    *static_cast<T *>(result) = std::reduce(first, first + n, T(0));
}

#ifdef LADDER_TBB
template <typename T> void reduce_par(const void *x, size_t n, void *result) {
    auto first = static_cast<const T *>(x);
    *static_cast<T *>(result) = std::reduce(std::execution::par_unseq, first, first + n, T(0));
}
#endif

} // namespace

extern "C" {
cpu_sum *const cpu_std_accumulate[CPU_TYPES] = {accumulate<int32_t>, accumulate<float>, accumulate<double>};
cpu_sum *const cpu_std_reduce[CPU_TYPES] = {reduce<int32_t>, reduce<float>, reduce<double>};
#ifdef LADDER_TBB
cpu_sum *const cpu_std_reduce_par[CPU_TYPES] = {reduce_par<int32_t>, reduce_par<float>, reduce_par<double>};
#else
cpu_sum *const cpu_std_reduce_par[CPU_TYPES] = {};
#endif
}
