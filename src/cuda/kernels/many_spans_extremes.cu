/* Extremes of segments that follow each other: see many_spans.cuh.
 *
 * A tile is cells of a few elements. When it has come, the best keys of all cells that follow each other in a lane wait in shared memory, and
 * of lanes that do, 2, 4, 8 or 16 of them. So a lane has the best of a segment in few steps, of whatever length: of two cells that are
 * not all its own, and of the others by ranges, of which two may overlap. Where an index is wanted, it is looked for in the first
 * cell that has the best. Of a tile in which no segment ends lanes keep what they have. A tile that may hold a NaN is put off. */
#include "many_extremes.cuh"
#include "many_spans.cuh"

#if __CUDA_ARCH__ >= 900
namespace {

/* The smaller ones of two and two floats of 16 bits; -0 before +0; NaN if either is. */
template <bool OF_F16> __device__ __forceinline__ unsigned smaller_halves(unsigned a, unsigned b) {
    unsigned least;
    if constexpr (OF_F16)
        asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
    else
        asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
    return least;
}

template <int BYTES> struct SpanExtremes {
    typedef ExtremeState<BYTES> State;
    typedef Raw<BYTES> Stored;
    typedef Word<BYTES> Key;
    typedef SpanRing<Stored, RD_CUDA_SPAN_TILES(1)> Ring;
    static constexpr bool CUTS = false, TAKES_OPEN = true, TAKES_ROWS = true;
    static constexpr unsigned VECTORS = Ring::VECTORS, EACH = Ring::EACH, TILE = Ring::TILE;
    static constexpr unsigned CELLS = BYTES == 8 ? 2 : 4, CELL_VECTORS = VECTORS / CELLS, CELL = CELL_VECTORS * EACH;
    static constexpr unsigned RANGES = CELLS * (CELLS + 1) / 2, ALL_CELLS = CELLS - 1, LEVELS = 4;
    static constexpr unsigned NONE = UINT32_MAX; /* no index: there was no element */

    /* What a segment comes to; places count from its first element, and where none is wanted are 0. */
    struct Value {
        Key key;
        unsigned index;

        __device__ __forceinline__ bool none() const {
            return index == NONE;
        }
    };

    /* Of a warp: the best of cells that follow each other in a lane, and of lanes. */
    struct Room {
        Key range[RANGES][32], level[LEVELS][32];
    };
    static __device__ __forceinline__ unsigned number_of(unsigned first, unsigned last) {
        return first * (2 * CELLS - 1 - first) / 2 + last;
    }

    const rd_cuda_many &many;
    Room &room;
    Ring ring;
    const Order<BYTES> order;
    Value so_far; /* of the segment that is open */
    Value own;    /* what the lane keeps of it, beside that */

    __device__ __forceinline__ SpanExtremes(const rd_cuda_many &m, Room &of_warp)
        : many(m), room(of_warp), ring(m), order(order_of<BYTES>(m)) {
    }
    struct Piece {};
    static __device__ __forceinline__ Stored padding() {
        return Stored(0);
    }
    static __device__ __forceinline__ Value nothing() {
        return {Order<BYTES>::MASK, NONE};
    }
    __device__ __forceinline__ void reset() {
        own = nothing();
    }
    __device__ __forceinline__ void open(unsigned) {
        so_far = nothing();
    }
    __device__ __forceinline__ void leave() {
    }
    __device__ __forceinline__ bool wants_index() const {
        return many.call.finish == RD_INDEX;
    }

    /* The elements of a lane's cell, as bits. */
    __device__ __forceinline__ void look(unsigned lane, unsigned cell, Key (&bits)[CELL]) const {
#pragma unroll
        for (unsigned v = 0; v < CELL_VECTORS; v++) {
            Vector<Stored> vector[1];
            ring.look(lane, cell * CELL_VECTORS + v, vector);
#pragma unroll
            for (unsigned i = 0; i < EACH; i++) {
                const Key own = as_element(vector[0].element[i]);
                bits[v * EACH + i] = BYTES == 1 ? truth_of(many, own) : own;
            }
        }
    }

    /* The best of each of a lane's cells, and whether there may be a NaN. What depends on the type is asked once for all cells, so that
     * their instructions mix. */
    template <bool OF_F32> __device__ __forceinline__ bool take_cells(Key (&best)[CELLS]) const {
        bool suspect = false;
#pragma unroll
        for (unsigned c = 0; c < CELLS; c++) {
            Key bits[CELL];
            bool own;
            look(lane_index(), c, bits);
            if constexpr (OF_F32)
                best[c] = order.least_float(bits, own = false);
            else
                best[c] = order.least(bits, own);
            suspect = suspect || own;
        }
        return suspect;
    }
    /* The same of floats of 16 bits, two at a time: the greatest as the least of opposites. */
    template <bool OF_F16> __device__ __forceinline__ bool take_halves(Key (&best)[CELLS]) const {
        const unsigned kept = order.absolute ? 0x7fff7fff : ~0u, turned = order.flip ? 0x80008000 : 0;
        bool suspect = false;
#pragma unroll
        for (unsigned c = 0; c < CELLS; c++) {
            unsigned least[CELL_VECTORS];
#pragma unroll
            for (unsigned v = 0; v < CELL_VECTORS; v++) {
                Vector<Stored> vector[1];
                ring.look(lane_index(), c * CELL_VECTORS + v, vector);
#pragma unroll
                for (unsigned w = 0; w < 4; w++) {
                    const unsigned own = (vector[0].word[w] & kept) ^ turned;
                    least[v] = w ? smaller_halves<OF_F16>(least[v], own) : own;
                }
                if (v)
                    least[0] = smaller_halves<OF_F16>(least[0], least[v]);
            }
            const unsigned found = smaller_halves<OF_F16>(least[0], least[0] >> 16) & 0xffff;
            suspect = suspect || (found & 0x7fff) > many.infinity;
            best[c] = found ^ (found >> 15 ? 0xffff : 0x8000); /* keys of opposites are each other's complements */
        }
        return suspect;
    }
    /* What lanes keep, to what there is so far: of those that are as good the first. */
    __device__ __forceinline__ void gather() {
#pragma unroll
        for (int by = 16; by > 0; by /= 2) {
            const Value other = {__shfl_xor_sync(ALL, own.key, by), __shfl_xor_sync(ALL, own.index, by)};
            if (other.key < own.key || (other.key == own.key && other.index < own.index))
                own = other;
        }
        if (!own.none() && (so_far.none() || own.key < so_far.key))
            so_far = own;
        own = nothing();
    }
    /* Keeps the best of a lane's cells in a tile that so many elements of the segment come before. */
    __device__ __forceinline__ void keep(const Key (&best)[CELLS], unsigned before) {
        Key key = best[0];
        unsigned cell = 0;
#pragma unroll
        for (unsigned c = 1; c < CELLS; c++) {
            cell = best[c] < key ? c : cell;
            key = min(key, best[c]);
        }
        if (!own.none() && key >= own.key)
            return;
        own = {key, 0};
        if (wants_index()) {
            Key bits[CELL];
            look(lane_index(), cell, bits);
            own.index = before + (lane_index() * CELLS + cell) * CELL + (unsigned)order.first_with(bits, key, 0);
        }
    }
    __device__ __forceinline__ bool take(bool inside, unsigned before) {
        const unsigned lane = lane_index();
        if (!inside && __any_sync(ALL, !own.none()))
            gather();
        Key best[CELLS];
        bool suspect;
        if constexpr (BYTES == 2)
            suspect = !order.is_float    ? take_cells<false>(best)
                      : many.call.of_f16 ? take_halves<true>(best)
                                         : take_halves<false>(best);
        else if (BYTES == 4 && order.is_float)
            suspect = take_cells<BYTES == 4>(best);
        else
            suspect = take_cells<false>(best);
        const bool suits = !__any_sync(ALL, suspect);
        if (inside) {
            if (suits)
                keep(best, before);
            return suits;
        }
        Key all = Order<BYTES>::MASK;
#pragma unroll
        for (unsigned first = CELLS; first-- > 0;) {
            Key range = best[first];
#pragma unroll
            for (unsigned last = first; last < CELLS; last++) {
                range = min(range, best[last]);
                room.range[number_of(first, last)][lane] = range;
            }
            all = range;
        }
#pragma unroll
        for (unsigned k = 0; k < LEVELS; k++) {
            all = min(all, __shfl_down_sync(ALL, all, 1u << k));
            room.level[k][lane] = all;
        }
        __syncwarp(); /* all see the room */
        return suits;
    }

    /* The best of some of a cell's elements, from number `from` up to but not `to`. */
    __device__ __forceinline__ Key best_within(unsigned cell, unsigned from, unsigned to) const {
        Key bits[CELL];
        bool suspect;
        look(cell / CELLS, cell % CELLS, bits);
#pragma unroll
        for (unsigned i = 0; i < CELL; i++)
            bits[i] = i >= from && i < to ? bits[i] : order.worst;
        return order.least(bits, suspect);
    }
    /* Of cells from one to another. */
    __device__ __forceinline__ Key best_of(unsigned first, unsigned last) const {
        const unsigned lane = first / CELLS, end = last / CELLS, cell = first % CELLS, end_cell = last % CELLS;
        Key best = room.range[number_of(cell, lane == end ? end_cell : ALL_CELLS)][lane];
        if (lane == end)
            return best;
        best = min(best, room.range[number_of(0, end_cell)][end]);
        const unsigned between = end - lane - 1, log = 31 - __clz((int)between);
        if (between == 1)
            best = min(best, room.range[ALL_CELLS][lane + 1]);
        else if (between)
            best = min(best, min(room.level[log - 1][lane + 1], room.level[log - 1][end - (1u << log)]));
        return best;
    }
    /* The first cell from one to another that has a key, as some does of those before `end`, or else that. */
    __device__ __forceinline__ unsigned cell_of(unsigned first, unsigned end, Key key) const {
        const unsigned last_lane = end / CELLS;
        unsigned lane = first / CELLS, cell = first % CELLS;
        if (lane < last_lane && room.range[number_of(cell, ALL_CELLS)][lane] != key) {
            cell = 0;
            lane++;
#pragma unroll
            for (int k = LEVELS - 1; k >= 0; k--)
                if (lane + (2u << k) <= last_lane && room.level[k][lane] != key)
                    lane += 2u << k;
            if (lane < last_lane && room.range[ALL_CELLS][lane] != key)
                lane++;
        }
        while (lane * CELLS + cell < end && room.range[number_of(cell, cell)][lane] != key)
            cell++;
        return lane * CELLS + cell;
    }
    /* The place of the first of these elements that has a key; some has. */
    __device__ __forceinline__ unsigned place_of(unsigned from, unsigned to, Key key) const {
        const unsigned head = from / CELL, first = (from + CELL - 1) / CELL, tail = to / CELL;
        unsigned cell = head;
        if (head == first || (first <= tail && best_within(head, from % CELL, CELL) != key))
            cell = cell_of(first, tail, key);
        Key bits[CELL];
        look(cell / CELLS, cell % CELLS, bits);
        const unsigned begin = cell == head ? from % CELL : 0;
        return cell * CELL + (unsigned)order.first_with(bits, key, (int)begin);
    }

    /* The best of elements of the tile. */
    __device__ __forceinline__ Key best_between(unsigned from, unsigned to) const {
        const unsigned head = from / CELL, first = (from + CELL - 1) / CELL, tail = to / CELL;
        Key best = order.key(order.worst);
        if (head < first)
            best = best_within(head, from % CELL, min(CELL, to - head * CELL));
        if (first < tail)
            best = min(best, best_of(first, tail - 1));
        if (first <= tail && to % CELL)
            best = min(best, best_within(tail, 0, to % CELL));
        return best;
    }

    __device__ __forceinline__ Value reduce(const SpanPart &part) {
        const unsigned from = (unsigned)max(part.begin, 0), to = (unsigned)max(part.end, 0);
        Value best = part.first ? so_far : nothing();
        if ((part.ends || part.next) && from < to && to <= TILE) {
            const Key key = best_between(from, to);
            if (best.none() || key < best.key)
                best = {key, wants_index() ? place_of(from, to, key) - part.begin : 0};
        }
        so_far = nothing();
        __syncwarp();
        if (part.after < 32) {
            const Key key = __shfl_sync(ALL, best.key, part.after);
            const unsigned index = __shfl_sync(ALL, best.index, part.after);
            so_far = {key, index};
        }
        return best;
    }

    /* Of an empty segment. */
    static __device__ __noinline__ void deliver_none(const rd_cuda_many &many, u64 segment) {
        State::finish(many, Found<BYTES>::none(), segment);
    }
    __device__ __forceinline__ void deliver(bool mine, const Value &best, u64, unsigned, u64 segment) const {
        if (!mine)
            return;
        if (best.none()) {
            deliver_none(many, segment);
            return;
        }
        const uint64_t word = wants_index() ? best.index : order.element(best.key);
        store_result(static_cast<unsigned char *>(many.call.result) + segment * many.call.result_bytes, &word,
                     many.call.result_bytes);
        tell(many, segment, REDUCT_OK, 0);
    }
};

} // namespace

RD_CUDA_SPANS(extreme_1, SpanExtremes<1>)
RD_CUDA_SPANS(extreme_2, SpanExtremes<2>)
RD_CUDA_SPANS(extreme_4, SpanExtremes<4>)
RD_CUDA_SPANS(extreme_8, SpanExtremes<8>)
#endif
