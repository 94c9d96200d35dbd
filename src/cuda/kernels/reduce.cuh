/* Kernels whose blocks read tiles and meet in words: sums of integers, fast sums, extremes, counts, bits. They are one function, reduce(),
 * of a class that says what is particular to a family:
 *
 *   Element, VECTORS, PAIRS     what is read: its type; vectors that a thread loads at once; whether there is a second array
 *   Ring, CLAIMS                the ring that tiles come through (ring.cuh); whether blocks may claim tiles from it
 *   COUNTS                      elements may be NaN, so that limbs and counts may be used (block.cuh)
 *   OfWarps                     what warps of a block leave for each other in shared memory
 *   take_stray(at)              an element outside vectors enters; before tiles, unless STRAYS_LAST leaves that to close()
 *   take(x, y, index), padding() a tile enters: index is that of the thread's first element; what fills the last tile
 *   close()                     all has entered; returns what the block comes to
 *   leave(held)                 leaves that for the last block, in words
 *   gather()                    in the last block: returns what all blocks come to
 *   deliver(held, used, room)   writes the result, or a partial one; `used`: limbs or counts may not be zero
 *
 * Members are called in this order, by all threads. A launch of one block neither leaves nor gathers anything. */
#pragma once

#include "delivery.cuh"
#include "meeting.cuh"

namespace {

template <class Family> __device__ __forceinline__ void reduce(const rd_cuda_call &call) {
    typedef typename Family::Element Element;
    __shared__ Block block;
    __shared__ FinishRoom room;
    __shared__ typename Family::OfWarps of_warps;
    __shared__ typename Family::Ring ring;
    const Span<Element> span(call.x, call.count, true);
    Family family(call, span, block, of_warps);
    begin<Family::PAIRS, Family::VECTORS>(call, span, block);
    if constexpr (!Family::STRAYS_LAST)
        span.for_strays(family);
    for_tiles<Family::PAIRS, Element, Family::VECTORS>(call, span, ring, family);
    auto held = family.close();
    bool used = Family::COUNTS && block.used;
    if (gridDim.x > 1) {
        family.leave(held);
        if (!takes_words())
            return;
        held = family.gather();
        if constexpr (Family::COUNTS)
            used = collect(block, call.workspace);
        if (Family::CLAIMS && threadIdx.x == 0)
            call.workspace->claimed = 0;
    } else if (Family::COUNTS && threadIdx.x == 0) {
        block.partial.nan_index = ~block.nan_below;
    }
    family.deliver(held, used, room);
}

} // namespace
