// Atomic additions alone: how long they take by type, number of sums, order of keys, and where the sums lie. For
// docs/ladder/groups.md.
#include "experiment.cuh"
#include "rung.cuh"

using u64 = unsigned long long;
constexpr unsigned THREADS = 256, ELEMENTS = 4 << 20;

__global__ void make_keys(unsigned *keys, unsigned sums, bool sorted) {
    for (uint64_t i = global_thread(); i < ELEMENTS; i += grid_threads()) {
        uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;
        mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u;
        mixed ^= mixed >> 32;
        keys[i] = unsigned(sorted ? i * sums / ELEMENTS : (mixed & 0xffffffff) * sums >> 32);
    }
}

// One to the sum of each key, and where `second` is not 0 to another, so many behind it. `apart`: elements from sum to sum.
template <typename T>
__global__ void __launch_bounds__(THREADS) add(const unsigned *keys, T *sums, unsigned apart, uint64_t second) {
    for (uint64_t i = global_thread(); i < ELEMENTS; i += grid_threads()) {
        T *sum = &sums[uint64_t(keys[i]) * apart];
        atomicAdd(sum, T(1));
        if (second)
            atomicAdd(sum + second, T(1));
    }
}

static unsigned *keys;
static void *memory;

template <typename T> void show(const char *what, unsigned apart = 1, uint64_t second = 0) {
    unsigned blocks = resident_blocks(add<T>, THREADS);
    T *sums = static_cast<T *>(memory);
    printf("  %s: %.1f us", what, microseconds([&] { add<<<blocks, THREADS>>>(keys, sums, apart, second); }, 1));
}

int main() {
    keys = zeros<unsigned>(ELEMENTS);
    memory = zeros<char>(256 << 20);
    for (unsigned sums : {1, 100, 10000, 1000000})
        for (bool sorted : {false, true}) {
            make_keys<<<1024, THREADS>>>(keys, sums, sorted);
            CHECK(cudaGetLastError());
            printf("%u sums, keys %s:", sums, sorted ? "sorted" : "random");
            show<f32>("f32");
            show<f32>("f32, 8 bytes apart", 2);
            show<f64>("f64");
            show<unsigned>("32-bit integers");
            show<u64>("64-bit integers");
            show<u64>("two of them", 1, sums);
            show<u64>("two, far apart", 1, 16 << 20);
            printf("\n");
        }
    return 0;
}
