/* Bitwise and, or and exclusive or of integers.
 *
 * Overview. Bits of elements in the same place meet, so that all lanes of a 16-byte vector are added up as they are, and become one
 * element at the end. And is what or makes of complements, complemented; so zero is the identity of all that is left. */
#include "reduce.cuh"

namespace {

template <class T> struct Bits {
    typedef T Element;
    typedef RingOf<RD_BITS, RD_IDENTITY> Ring;
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_BITS, RD_IDENTITY);
    static constexpr bool PAIRS = false, CLAIMS = true, COUNTS = false, STRAYS_LAST = false;
    typedef Tile<T, VECTORS> Part;

    /* What a block's warps come to; in the last block, what the grid does besides. */
    struct OfWarps {
        u64 bits[2][WARPS];
    };

    const rd_cuda_call &call;
    const Span<T> &span;
    Block &block;
    OfWarps &of_warps;
    const unsigned flip, both; /* all bits: of and; unless of exclusive or */
    unsigned word[4];

    __device__ __forceinline__ Bits(const rd_cuda_call &c, const Span<T> &s, Block &b, OfWarps &memory)
        : call(c), span(s), block(b), of_warps(memory), flip(c.combine == RD_AND ? 0xffffffff : 0),
          both(c.combine == RD_XOR ? 0 : 0xffffffff), word{} {
    }

    /* One instruction for either. */
    __device__ __forceinline__ unsigned meet(unsigned a, unsigned b) const {
        return (a ^ b) | (a & b & both);
    }
    __device__ __forceinline__ u64 meet(u64 a, u64 b) const {
        return (u64)meet((unsigned)(a >> 32), (unsigned)(b >> 32)) << 32 | meet((unsigned)a, (unsigned)b);
    }

    static constexpr u64 MASK = UINT64_MAX >> (64 - 8 * sizeof(T));

    __device__ __forceinline__ void take_stray(u64 at) {
        const u64 wide = (u64)flip << 32 | flip, bits = ((u64)span.x[at] ^ wide) & MASK;
        word[0] = meet(word[0], (unsigned)bits);
        word[1] = meet(word[1], (unsigned)(bits >> 32));
    }

    __device__ __forceinline__ uint4 padding() const {
        return make_uint4(flip, flip, flip, flip);
    }

    __device__ __forceinline__ void take(const Part &tile, const Part &, u64) {
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
#pragma unroll
            for (int w = 0; w < 4; w++)
                word[w] = meet(word[w], tile.vector[v].word[w] ^ flip);
    }

    /* Over the block, in all threads. */
    __device__ __forceinline__ u64 block_meet(u64 bits, u64 *warps) const {
#pragma unroll
        for (int distance = 16; distance; distance /= 2)
            bits = meet(bits, __shfl_xor_sync(ALL, bits, distance));
        if (lane_index() == 0)
            warps[warp_index()] = bits;
        __syncthreads();
        u64 all = 0;
        for (int w = 0; w < WARPS; w++)
            all = meet(all, warps[w]);
        return all;
    }

    __device__ __forceinline__ u64 close() const {
        u64 bits = meet((u64)word[1] << 32 | word[0], (u64)word[3] << 32 | word[2]);
#pragma unroll
        for (int half = 4; half >= (int)sizeof(T); half /= 2)
            bits = meet(bits, bits >> (8 * half));
        return block_meet(bits & MASK, of_warps.bits[0]);
    }

    /* As words that are not zero. */
    __device__ __forceinline__ void leave(u64 bits) const {
        if (threadIdx.x < 2)
            leave_word(call.workspace, threadIdx.x, TAG | (unsigned)(bits >> 32 * threadIdx.x));
    }

    __device__ __forceinline__ u64 gather() const {
        u64 bits = 0;
        for_words_left<2>(block, call.workspace, [&](const u64(&half)[2]) {
            bits = meet(bits, (u64)(unsigned)half[1] << 32 | (unsigned)half[0]);
        });
        return block_meet(bits, of_warps.bits[1]);
    }

    __device__ __forceinline__ void deliver(u64 bits, bool, FinishRoom &) const {
        const uint64_t result = bits ^ (MASK & ((u64)flip << 32 | flip));
        if (threadIdx.x == 0 && call.partial)
            block.partial.bits = result;
        else if (threadIdx.x == 0)
            deliver_short(call, result);
        if (call.partial)
            hand_over(call, block.partial);
    }
};

} // namespace

#define KERNEL(bits, TYPE) RD_CUDA_KERNEL(bits_##bits, RD_CUDA_RESIDENT_BITS, reduce<Bits<TYPE>>)

KERNEL(8, uint8_t)
KERNEL(16, uint16_t)
KERNEL(32, uint32_t)
KERNEL(64, u64)
