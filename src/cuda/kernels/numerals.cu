/* Numerals of groups: what a pass over groups found is added to them, and they are written in another form, or as planes of such a
 * pass. See numerals.h.
 *
 * A thread takes a group at a time, and has its integers in registers: words are shifted by what no compiler knows, but always all
 * of them. Words of a number are side by side in memory, so that lanes read and write side by side, too. */
#include "numerals.h"

#include "block.cuh"

namespace {

/* An integer in two's complement. */
template <int N> struct Long {
    u64 word[N];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int w = 0; w < N; w++)
            word[w] = 0;
    }
    __device__ __forceinline__ u64 sign() const {
        return (u64)((i64)word[N - 1] >> 63);
    }
    /* A word that has a sign of its own, or none. */
    __device__ __forceinline__ void add(u64 low, u64 above) {
        bool carry = false;
#pragma unroll
        for (int w = 0; w < N; w++) {
            const u64 sum = word[w] + (w ? above : low), all = sum + carry;
            carry = sum < word[w] || all < sum;
            word[w] = all;
        }
    }
    __device__ __forceinline__ void add(const Long &other) {
        bool carry = false;
#pragma unroll
        for (int w = 0; w < N; w++) {
            const u64 sum = word[w] + other.word[w], all = sum + carry;
            carry = sum < word[w] || all < sum;
            word[w] = all;
        }
    }
    __device__ __forceinline__ void shift_left(unsigned bits) {
        for (; bits >= 64; bits -= 64) {
#pragma unroll
            for (int w = N - 1; w > 0; w--)
                word[w] = word[w - 1];
            word[0] = 0;
        }
        if (bits)
            shift_left_few(bits);
    }
    /* By 1 to 63, without a branch. */
    __device__ __forceinline__ void shift_left_few(unsigned bits) {
#pragma unroll
        for (int w = N - 1; w > 0; w--)
            word[w] = word[w] << bits | word[w - 1] >> (64 - bits);
        word[0] <<= bits;
    }
    __device__ __forceinline__ void shift_right(unsigned bits) {
        const u64 above = sign();
        for (; bits >= 64; bits -= 64) {
#pragma unroll
            for (int w = 0; w < N - 1; w++)
                word[w] = word[w + 1];
            word[N - 1] = above;
        }
        if (bits)
            shift_right_few(bits);
    }
    __device__ __forceinline__ void shift_right_few(unsigned bits) {
#pragma unroll
        for (int w = 0; w < N - 1; w++)
            word[w] = word[w] >> bits | word[w + 1] << (64 - bits);
        word[N - 1] = (u64)((i64)word[N - 1] >> bits);
    }
    /* So many units of 2^low as units of 2^to; bits that are lost are zero. */
    __device__ __forceinline__ void move(int low, int to) {
        if (low >= to)
            shift_left((unsigned)(low - to));
        else
            shift_right((unsigned)(to - low));
    }
    __device__ __forceinline__ void keep(unsigned bits) {
        shift_left(64 * N - bits);
        shift_right(64 * N - bits);
    }
    /* The place of the lowest bit that is set, and that above the highest of the magnitude. Of what is not zero. */
    __device__ __forceinline__ void find_ends(unsigned &low, unsigned &high) const {
        low = high = 0;
#pragma unroll
        for (int w = N - 1; w >= 0; w--) {
            if (word[w])
                low = 64 * w + __ffsll((long long)word[w]) - 1;
            const u64 magnitude = word[w] ^ sign();
            if (!high && magnitude)
                high = 64 * w + 64 - __clzll((i64)magnitude);
        }
        high = max(high, low);
    }
    __device__ __forceinline__ bool is_zero() const {
        u64 any = 0;
#pragma unroll
        for (int w = 0; w < N; w++)
            any |= word[w];
        return !any;
    }
};

template <int N> __device__ __forceinline__ void add_signed(Long<N> &to, u64 word) {
    to.add(word, (u64)((i64)word >> 63));
}

/* What a group has come to. */
template <int N, int FIELDS> struct Group {
    u64 count;
    Long<N> field[FIELDS];

    __device__ __forceinline__ void clear() {
        count = 0;
#pragma unroll
        for (int f = 0; f < FIELDS; f++)
            field[f].clear();
    }

    /* The numeral's words, the highest first; then what lies side by side in it. A field that is negative has borrowed from the one
     * above. */
    __device__ __forceinline__ void read(const uint64_t *words, u64 stride, const rd_cuda_numeral_form &form) {
        Long<N> numeral;
        u64 word[N]; /* all are on their way at once */
#pragma unroll
        for (int w = 0; w < N; w++)
            word[w] = w < (int)form.words ? words[w * stride] : 0;
        numeral.clear();
#pragma unroll
        for (int w = N - 1; w >= 0; w--)
            if (w < (int)form.words) {
                numeral.shift_left_few(form.digit);
                add_signed(numeral, word[w]);
            }
        count = numeral.word[0] & (((u64)1 << form.count_bits) - 1);
        numeral.shift_right_few(form.count_bits);
        field[0] = numeral;
        if constexpr (FIELDS == 2) {
            field[0].keep(form.bits[0]);
            numeral.shift_right(form.bits[0]);
            numeral.add(field[0].sign() & 1, 0);
            field[1] = numeral;
        }
    }

    __device__ __forceinline__ void write(uint64_t *words, u64 stride, const rd_cuda_numeral_form &form) const {
        Long<N> numeral = field[FIELDS - 1];
        if constexpr (FIELDS == 2) {
            numeral.shift_left(form.bits[0]);
            numeral.add(field[0]);
        }
        numeral.shift_left_few(form.count_bits);
        numeral.add(count, 0);
#pragma unroll
        for (int w = 0; w < N; w++)
            if (w < (int)form.words) {
                const bool last = w + 1 == (int)form.words;
                words[w * stride] = last ? numeral.word[0] : numeral.word[0] & (((u64)1 << form.digit) - 1);
                numeral.shift_right_few(form.digit);
            }
    }

    __device__ __forceinline__ void move(const rd_cuda_numeral_form &from, const rd_cuda_numeral_form &to) {
#pragma unroll
        for (int f = 0; f < FIELDS; f++)
            field[f].move(from.low[f], to.low[f]);
    }

    /* What a pass found, whose unit is not below that of the form. */
    __device__ __forceinline__ void add_found(const rd_cuda_numerals &numerals, u64 group) {
        count += numerals.counted[group];
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            const rd_cuda_numeral_field &found = numerals.found[f];
            Long<N> sum;
            u64 word[RD_CUDA_NUMERAL_PLANES];
#pragma unroll
            for (int k = 0; k < RD_CUDA_NUMERAL_PLANES; k++)
                word[k] = k < (int)found.planes ? found.plane[k * numerals.groups + group] : 0;
            sum.clear();
#pragma unroll
            for (int k = RD_CUDA_NUMERAL_PLANES - 1; k >= 0; k--)
                if (k < (int)found.planes) {
                    sum.shift_left_few(numerals.step);
                    add_signed(sum, word[k]);
                }
            sum.move(found.unit, numerals.form.low[f]);
            field[f].add(sum);
        }
    }
};

/* What all groups of a thread, and then of a block, are like. */
struct Notes {
    u64 count;
    unsigned low_below[2], high_above[2];

    template <int N, int FIELDS> __device__ __forceinline__ void take(const Group<N, FIELDS> &group) {
        count = max(count, group.count);
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            unsigned low, high;
            if (group.field[f].is_zero())
                continue;
            group.field[f].find_ends(low, high);
            low_below[f] = max(low_below[f], UINT32_MAX - low);
            high_above[f] = max(high_above[f], high + 1);
        }
    }
    __device__ __forceinline__ void raise(u64 *all_count, uint32_t *all_low_below, uint32_t *all_high_above) const {
        atomicMax(all_count, count);
        for (int f = 0; f < 2; f++) {
            atomicMax(&all_low_below[f], low_below[f]);
            atomicMax(&all_high_above[f], high_above[f]);
        }
    }
};

template <int N, int FIELDS> __device__ __forceinline__ void write_numerals(const rd_cuda_numerals &numerals) {
    __shared__ Notes block;
    Notes own = {0, {0, 0}, {0, 0}};
    const u64 step = (u64)gridDim.x * THREADS;
    if (threadIdx.x == 0)
        block = own;
    __syncthreads();
    for (u64 g = (u64)blockIdx.x * THREADS + threadIdx.x; g < numerals.groups; g += step) {
        Group<N, FIELDS> group;
        if (numerals.from && g < numerals.from_groups) {
            group.read(numerals.from + g, numerals.from_groups, numerals.old_form);
            group.move(numerals.old_form, numerals.form);
        } else {
            group.clear();
        }
        if (numerals.counted)
            group.add_found(numerals, g);
        group.write(numerals.to + g, numerals.groups, numerals.form);
        if (numerals.notes)
            own.take(group);
    }
    if (!numerals.notes)
        return;
    own.raise(&block.count, block.low_below, block.high_above);
    __syncthreads();
    if (threadIdx.x == 0)
        block.raise(reinterpret_cast<u64 *>(&numerals.notes->count), numerals.notes->low_below,
                    numerals.notes->high_above);
}

template <int N, int FIELDS> __device__ __forceinline__ void write_planes(const rd_cuda_numeral_planes &planes) {
    const u64 first = (u64)blockIdx.x * THREADS + threadIdx.x, step = (u64)gridDim.x * THREADS;
    if (first < planes.scans) {
        planes.to[first].header->unit = planes.to[first].unit;
        planes.to[first].header->first = 0;
    }
    for (u64 i = first; i < planes.results; i += step) {
        Group<N, FIELDS> group;
        group.read(planes.from + planes.first + i, planes.groups, planes.form);
        if (planes.counted)
            planes.counted[i] = group.count;
#pragma unroll
        for (int f = 0; f < FIELDS; f++) {
            const auto &to = planes.to[f];
            if (f >= (int)planes.scans)
                continue;
            group.field[f].move(planes.form.low[f], to.unit);
#pragma unroll
            for (int k = 0; k < RD_CUDA_NUMERAL_PLANES; k++)
                if (k < (int)to.planes) {
                    const u64 low = group.field[f].word[0];
                    to.plane[k * planes.results + i] =
                        k + 1 == (int)to.planes ? low : low & (((u64)1 << planes.step) - 1);
                    group.field[f].shift_right_few(planes.step);
                }
        }
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)
    numerals_one(const __grid_constant__ rd_cuda_numerals numerals) {
    write_numerals<RD_CUDA_NUMERAL_WORDS_ONE, 1>(numerals);
}

extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)
    numerals_two(const __grid_constant__ rd_cuda_numerals numerals) {
    write_numerals<RD_CUDA_NUMERAL_WORDS_TWO, 2>(numerals);
}

extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)
    planes_one(const __grid_constant__ rd_cuda_numeral_planes planes) {
    write_planes<RD_CUDA_NUMERAL_WORDS_ONE, 1>(planes);
}

extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)
    planes_two(const __grid_constant__ rd_cuda_numeral_planes planes) {
    write_planes<RD_CUDA_NUMERAL_WORDS_TWO, 2>(planes);
}
