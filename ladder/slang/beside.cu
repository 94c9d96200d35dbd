// The rung halving as a Slang compiler translates it to CUDA, beside the one by hand: whether both leave the same sums of blocks, and
// how long both take. For docs/slang.md.
//
//     ladder/slang/translate SLANGC FOLDER
//     nvcc -O3 -std=c++17 -arch=sm_90 -rdc=true -I FOLDER -I ladder/cuda -I ladder/experiments ladder/slang/beside.cu && ./a.out
#include "experiment.cuh"
#include "halving.cu"
#include "halving.cuda"

// The translation only declares it: hence -rdc=true.
extern "C" {
__constant__ GlobalParams_0 SLANG_globalParams;
}

constexpr unsigned THREADS = 256;

// Multiples of 1/1024 below 1: a float holds every sum of 256 of them, so that any order of additions gives the same.
__global__ void fill(f32 *values, uint64_t n) {
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        values[i] = f32((i * 2654435761u >> 7) & 1023) / 1024;
}

// The numbers of the dispatch, which Slang's kernel reads from a buffer, and the arrays, from constant memory.
static void bind(const f32 *input, f32 *partials, uint64_t n, unsigned blocks) {
    Dispatch_0 host = {}, *dispatch = zeros<Dispatch_0>(1);
    host.n_0 = unsigned(n);
    host.groups_0 = blocks;
    host.row_0 = blocks;
    host.total_0 = blocks;
    CHECK(cudaMemcpy(dispatch, &host, sizeof host, cudaMemcpyHostToDevice));
    GlobalParams_0 bound = {};
    bound.dispatch_0 = dispatch;
    bound.elements_0 = {const_cast<f32 *>(input), n};
    bound.partials_0 = {partials, blocks};
    CHECK(cudaMemcpyToSymbol(SLANG_globalParams, &bound, sizeof bound));
}

int main(int count, char **arguments) {
    const bool json = count > 1 && arguments[1] == std::string("--json");
    bool same = true;
    experiment shown("translated", "`halving`, f32, store", json);
    const uint64_t most = 32 << 20;
    f32 *input = zeros<f32>(most), *by_hand = zeros<f32>(most / THREADS), *translated = zeros<f32>(most / THREADS);
    fill<<<1024, THREADS>>>(input, most);
    for (uint64_t n : {uint64_t(1) << 20, uint64_t(4) << 20, most}) {
        const std::string column = std::to_string(n >> 20) + " Mi";
        const unsigned blocks = unsigned(n / THREADS);
        const outlet<f32> out = {by_hand, nullptr, nullptr};
        bind(input, translated, n, blocks);
        shown.add(
            "by hand", column.c_str(), "s",
            1e-6 * microseconds([&] { halving_f32_store<<<blocks, THREADS, THREADS * sizeof(f32)>>>(input, n, out); },
                                20));
        shown.add("from Slang", column.c_str(), "s", 1e-6 * microseconds([&] { store<<<blocks, THREADS>>>(); }, 20));
        std::vector<f32> sums(blocks), others(blocks);
        CHECK(cudaMemcpy(sums.data(), by_hand, blocks * sizeof(f32), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(others.data(), translated, blocks * sizeof(f32), cudaMemcpyDeviceToHost));
        same = same && sums[blocks / 2] > 0 && sums == others;
    }
    if (!same)
        fprintf(stderr, "the sums of blocks differ\n");
    return same ? 0 : 1;
}
