// Banks of shared memory: what a load costs by which words the lanes of a warp read. It is an experiment of the tutorial,
// docs/ladder/neighbour-strided.md.
//
//     nvcc -O3 banks.cu -o banks && ./banks
//     ./banks 100                      as many loads per thread, instead of 4096
//
// Word w of shared memory lies in bank w % 32. A bank serves one word at a time, to as many lanes as want it: so what counts
// is not how many lanes meet in a bank but how many different words they want from it.
#include <cstdio>
#include <cstdlib>
#include <set>

// Any call can fail, and a program that does not look goes on with garbage.
#define CHECK(call) check(call, #call)
static void check(cudaError_t status, const char *call) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
        exit(1);
    }
}

constexpr unsigned THREADS = 1024, LANES = 32, BANKS = 32;
constexpr unsigned TURNS = 1024; // after which the same words are read again
constexpr unsigned WORDS = TURNS + 1024;

__host__ __device__ inline unsigned word_at(unsigned i) {
    return i * 2654435761u;
}

// Each lane reads its word, then the one behind it, and so on: all lanes move on by one bank, and meet as before.
__global__ void read_words(const unsigned *first_word, unsigned loads, unsigned *sums) {
    __shared__ unsigned shared[WORDS];
    for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x)
        shared[i] = word_at(i);
    __syncthreads();
    const unsigned *mine = &shared[first_word[threadIdx.x % LANES]];
    unsigned sum = 0;
#pragma unroll 16
    for (unsigned i = 0; i < loads; i++)
        sum += mine[i % TURNS];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Which word a lane reads first; at most 1023.
struct pattern {
    const char *name;
    unsigned (*word)(unsigned lane);
};
static const pattern patterns[] = {
    {"neighbours", [](unsigned lane) { return lane; }},
    {"neighbours, in the other direction", [](unsigned lane) { return LANES - 1 - lane; }},
    {"all lanes the same word", [](unsigned) { return 0u; }},
    {"lanes in pairs, a word each", [](unsigned lane) { return lane / 2; }},
    {"half and half, two words of two banks", [](unsigned lane) { return lane / 16; }},
    {"half and half, two words of one bank", [](unsigned lane) { return lane / 16 * BANKS; }},
    {"eight lanes each, four words of one bank", [](unsigned lane) { return lane / 8 * BANKS; }},
    {"every 2nd word", [](unsigned lane) { return 2 * lane; }},
    {"every 3rd word", [](unsigned lane) { return 3 * lane; }},
    {"every 4th word", [](unsigned lane) { return 4 * lane; }},
    {"every 8th word", [](unsigned lane) { return 8 * lane; }},
    {"every 16th word", [](unsigned lane) { return 16 * lane; }},
    {"every 32nd word", [](unsigned lane) { return 32 * lane; }},
    {"every 33rd word", [](unsigned lane) { return 33 * lane; }},
};

// Different words in the bank that has most of them.
static unsigned words_of_one_bank(const unsigned *words) {
    std::set<unsigned> of[BANKS];
    size_t most = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        std::set<unsigned> &bank = of[words[lane] % BANKS];
        bank.insert(words[lane]);
        most = bank.size() > most ? bank.size() : most;
    }
    return unsigned(most);
}

// Milliseconds of one launch, of several back to back.
template <typename Launch> float time_launch(Launch launch) {
    const int runs = 10;
    float milliseconds;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < runs; i++)
        launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return milliseconds / runs;
}

int main(int argc, char **argv) {
    const unsigned loads = argc > 1 ? unsigned(atof(argv[1])) : 4096;
    int device, processors;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const unsigned blocks = unsigned(processors), threads = blocks * THREADS;
    unsigned *first_word, *sums, *got = new unsigned[threads];
    CHECK(cudaMalloc(&first_word, LANES * sizeof(unsigned)));
    CHECK(cudaMalloc(&sums, threads * sizeof(unsigned)));

    printf("%-41s  %16s  %15s  %5s\n", "what the lanes of a warp read", "words of a bank", "ns per warp", "times");
    bool all_right = true;
    double base = 0;
    for (const pattern &p : patterns) {
        unsigned words[LANES], expected[LANES] = {};
        for (unsigned lane = 0; lane < LANES; lane++) {
            words[lane] = p.word(lane);
            for (unsigned i = 0; i < loads; i++)
                expected[lane] += word_at(words[lane] + i % TURNS);
        }
        CHECK(cudaMemcpy(first_word, words, sizeof words, cudaMemcpyHostToDevice));
        auto launch = [&] {
            read_words<<<blocks, THREADS>>>(first_word, loads, sums);
            CHECK(cudaGetLastError());
        };
        launch();
        CHECK(cudaMemcpy(got, sums, threads * sizeof(unsigned), cudaMemcpyDeviceToHost));
        bool right = true;
        for (unsigned i = 0; i < threads; i++)
            right &= got[i] == expected[i % LANES];
        all_right &= right;
        // A multiprocessor has one block, whose warps take turns at the one shared memory.
        double nanoseconds = time_launch(launch) * 1e6 / (double(loads) * (THREADS / LANES));
        base = base ? base : nanoseconds;
        printf("%-41s  %16u  %15.3f  %5.2f  %s\n", p.name, words_of_one_bank(words), nanoseconds, nanoseconds / base,
               right ? "right" : "WRONG");
    }
    CHECK(cudaFree(first_word));
    CHECK(cudaFree(sums));
    delete[] got;
    return all_right ? 0 : 1;
}
