/* From sums of integers, whatever their type, to a result. */
#pragma once

#include "delivery.cuh"

namespace {

/* The result of a sum or one of products, as the call's transform says, or of both moments; in two's complement. REDUCT_OK, or why there
 * is none. */
__device__ __forceinline__ unsigned finish_integers(const rd_cuda_call &call, __int128 terms, const u64 (&products)[3],
                                                    uint64_t (&word)[4]) {
    constexpr unsigned FINISHES =
        FINISHES_OF<RD_IDENTITY, RD_ADD> | FINISHES_OF<RD_SQUARE, RD_ADD> | FINISHES_OF<RD_MOMENTS, RD_ADD>;
    u64 sum[3] = {(u64)terms, (u64)(terms >> 64), (u64)(terms >> 127)};
    if (call.transform == RD_MOMENTS) {
        const u64 squares[4] = {products[0], products[1], products[2], 0};
        u64 bits = 0;
        round_moments<FINISHES>(sum, 0, squares, 0, call, bits);
        word[0] = bits;
        return REDUCT_OK;
    }
    if (call.transform == RD_SQUARE || call.transform == RD_TIMES)
        for (int w = 0; w < 3; w++)
            sum[w] = products[w];
    if (call.result_class == RD_FLOAT)
        word[0] = round_words<FINISHES>(sum, 0, call, false);
    else if (!to_result(sum, call, word) && !call.wrap)
        return REDUCT_ERROR_OVERFLOW;
    return REDUCT_OK;
}

} // namespace
