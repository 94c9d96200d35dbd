// The second half of a file that compiles alone: it makes numbers, launches the rung's kernel, checks the sum and times
// it. ladder/single.py puts it behind each rung, whose file has named RUNG, THREADS, blocks_wanted(), WALKS, TOGETHER and
// shared_bytes() by then.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Any call can fail, and a program that does not look goes on with garbage.
#define CHECK(call) check(call, #call)
static void check(cudaError_t status, const char *call) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
        exit(1);
    }
}

// Blocks for n elements: of a rung that walks over the array, no more than the device holds at once.
template <typename T> unsigned blocks_for(uint64_t n) {
    uint64_t wanted = blocks_wanted<T>(n);
    if (WALKS) {
        int device, processors, resident;
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel<T>, THREADS, shared_bytes<T>()));
        uint64_t most = uint64_t(processors) * resident;
        wanted = wanted < most ? wanted : most;
    }
    wanted = wanted ? wanted : 1; // an empty array has a sum as well
    return unsigned((wanted + TOGETHER - 1) / TOGETHER * TOGETHER);
}

// Milliseconds of one launch, of as many back to back as last a while.
template <typename Launch> float time_launch(Launch launch) {
    const int runs = 100;
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

// One type: true if the sum is right. Numbers are small integers, and of floats multiples of 1/1024, so that integers
// and doubles on the host hold their sum exactly.
template <typename T> bool run(const char *type, uint64_t n) {
    constexpr bool is_float = T(1) / 2 != 0;
    std::vector<T> numbers(n);
    double exact = 0;
    for (uint64_t i = 0; i < n; i++) {
        unsigned number = unsigned(i * 2654435761u) >> 22;
        numbers[i] = is_float ? T(number) / T(1024) : T(number);
        exact += double(numbers[i]);
    }

    T *input, *partials, *result;
    unsigned *ticket, blocks = blocks_for<T>(n);
    CHECK(cudaMalloc(&input, (n + 1) * sizeof(T)));
    CHECK(cudaMalloc(&partials, blocks * sizeof(T)));
    CHECK(cudaMalloc(&result, sizeof(T)));
    CHECK(cudaMalloc(&ticket, sizeof(unsigned)));
    CHECK(cudaMemset(ticket, 0, sizeof(unsigned)));
    CHECK(cudaMemcpy(input, numbers.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaFuncSetAttribute(kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared_bytes<T>())));
    auto launch = [&] {
        kernel<T><<<blocks, THREADS, shared_bytes<T>()>>>(input, n, outlet<T>{partials, result, ticket});
        CHECK(cudaGetLastError());
    };

    T sum;
    launch();
    CHECK(cudaMemcpy(&sum, result, sizeof(T), cudaMemcpyDeviceToHost));
    // No element passes through more additions than its thread makes, and those of the trees.
    double terms = double(n) / blocks / THREADS + double(blocks) / THREADS + 32;
    double unit = sizeof(T) == 4 ? ldexp(1, -24) : ldexp(1, -53);
    bool right = is_float ? fabs(double(sum) - exact) <= terms * unit * exact : sum == T(uint64_t(exact));
    float milliseconds = time_launch(launch);
    printf("%-20s %s  %llu elements  %-5s  %8.1f us  %5.0f GB/s\n", RUNG, type, (unsigned long long)n,
           right ? "right" : "WRONG", milliseconds * 1e3, double(n) * sizeof(T) / milliseconds / 1e6);
    if (!right)
        printf("    expected %.17g, got %.17g\n", exact, double(sum));

    for (void *memory : {(void *)input, (void *)partials, (void *)result, (void *)ticket})
        CHECK(cudaFree(memory));
    return right;
}

int main(int argc, char **argv) {
    uint64_t n = argc > 1 ? uint64_t(atof(argv[1])) : 32 << 20;
    bool right = run<i32>("i32", n) & run<f32>("f32", n) & run<f64>("f64", n);
    return right ? 0 : 1;
}
