// The judge of a reader's kernel: `reduct ladder --mine FILE` compiles the file with this behind it, and runs it.
//
//     DEVICE check                   every type, for many sizes: right or wrong
//     DEVICE races                   a few small launches, for compute-sanitizer to watch
//     DEVICE time TYPE N ROUNDS      seconds of a run, a sample per round
//
// Answers are lines of words between tabs, which ladder/mine.c reads: "check", type, verdict, expected, got, remark;
// "time", verdict, expected, got, threads, finish, columns, seconds ..., the finish empty where the task is ROWS and the
// columns 0 where it is not; "error", sentence.
//
// Numbers are chosen so that a float holds every sum of some of them exactly. So the order of additions does not matter,
// and there is one right answer. Behind the array lie numbers that would show in any result.

// What a file may say of itself before its kernel.
#ifndef TASK
#define TASK SUM
#endif
#ifndef THREADS
#define THREADS 256
#endif
#ifndef PER_THREAD // elements of each thread; 0: as many blocks as the GPU holds, whatever n is
#define PER_THREAD 1
#endif
#ifndef ROWS_PER_BLOCK
#define ROWS_PER_BLOCK 1
#endif
#ifndef SHARED_BYTES // dynamic shared memory of a block
#define SHARED_BYTES 0
#endif

static_assert(TASK == ROWS || PER_THREAD == 0 || THREADS * PER_THREAD > 1, "a block of one element reduces nothing");

#define CHECK(call) check(call, #call)
static void check(cudaError_t status, const char *call) {
    if (status != cudaSuccess) {
        printf("error\t%s: %s\n", call, cudaGetErrorString(status));
        exit(3);
    }
}

constexpr int GUARDS = 4096; // elements behind an array

template <typename T> struct shape {
    size_t n, rows, columns; // rows and columns where the task is ROWS
    size_t results() const {
        return TASK == ROWS ? rows : 1;
    }
};

// An array on the device, with guards behind it.
template <typename T> struct array {
    T *at;
    size_t count;
    array(size_t elements, T guard) : count(elements) {
        std::vector<T> guards(GUARDS, guard);
        CHECK(cudaMalloc(&at, (count + GUARDS) * sizeof(T)));
        CHECK(cudaMemcpy(at + count, guards.data(), GUARDS * sizeof(T), cudaMemcpyHostToDevice));
    }
    array(const array &) = delete;
    ~array() {
        cudaFree(at);
    }
    void set(const std::vector<T> &values) {
        CHECK(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> get(size_t from, size_t elements) const {
        std::vector<T> values(elements);
        CHECK(cudaMemcpy(values.data(), at + from, elements * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
};

// ---------------------------------------------------------------------------------------------------------------------
// Launches
// ---------------------------------------------------------------------------------------------------------------------

// The kernel is named in templates that are not compiled for the other tasks, whose kernels have other parameters.
template <typename T> size_t resident_blocks() {
    int device, processors, resident;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, mine<T>, THREADS, SHARED_BYTES));
    return size_t(processors) * resident;
}

template <typename T> size_t blocks_for(size_t n) {
    size_t per_block = size_t(THREADS) * (PER_THREAD ? PER_THREAD : 1), wanted = (n + per_block - 1) / per_block;
    if (PER_THREAD == 0)
        wanted = std::min(wanted, resident_blocks<T>());
    return std::max(wanted, size_t(1));
}

template <task K> struct launcher {
    // The same kernel on its own results, until one is left. Of a fixed grid the second launch has one block.
    template <typename T> static void run(const shape<T> &of, const T *input, T *results, T *others) {
        size_t blocks = blocks_for<T>(of.n);
        mine<T><<<unsigned(blocks), THREADS, SHARED_BYTES>>>(input, of.n, results);
        while (blocks > 1) {
            size_t n = blocks;
            blocks = PER_THREAD ? blocks_for<T>(n) : 1;
            mine<T><<<unsigned(blocks), THREADS, SHARED_BYTES>>>(results, n, others);
            std::swap(results, others);
        }
    }
};

template <> struct launcher<ROWS> {
    template <typename T> static void run(const shape<T> &of, const T *input, T *results, T *) {
        size_t blocks = std::max((of.rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, size_t(1));
        mine<T><<<unsigned(blocks), THREADS, SHARED_BYTES>>>(input, of.rows, of.columns, results);
    }
};

// Where the results lie after a run: the launches change sides.
template <typename T> bool lies_in_second(size_t n) {
    bool second = false;
    for (size_t blocks = TASK == ROWS ? 1 : blocks_for<T>(n); blocks > 1; second = !second)
        blocks = PER_THREAD ? blocks_for<T>(blocks) : 1;
    return second;
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers and what is right
// ---------------------------------------------------------------------------------------------------------------------

static unsigned random_at(size_t i) {
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return unsigned((z ^ z >> 27) >> 32);
}

// Whole numbers from -8 to 7, so that a float holds the sum of a million of them; of larger arrays most are 0.
template <typename T> T number(size_t i, size_t n) {
    unsigned draw = random_at(i);
    return n > 1000000 && draw % 64 ? T(0) : T(int(draw >> 28) - 8);
}

template <typename T> T lowest() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
}

// Array number `kind`: 0 is any; for a maximum 1 has negative numbers alone, 2 nothing but the lowest.
template <typename T> std::vector<T> numbers(size_t n, int kind) {
    std::vector<T> values(n);
    for (size_t i = 0; i < n; i++)
        values[i] = kind == 2 ? lowest<T>() : kind == 1 ? T(-1) - T(random_at(i) % 1000) : number<T>(i, n);
    return values;
}

template <typename T> std::vector<T> right(const shape<T> &of, const std::vector<T> &values) {
    std::vector<T> results(of.results(), TASK == MAXIMUM ? lowest<T>() : T(0));
    size_t per_result = TASK == ROWS ? of.columns : of.n;
    for (size_t i = 0; i < of.results() * per_result; i++) {
        T &result = results[i / per_result];
        result = TASK == MAXIMUM ? std::max(result, values[i]) : T(result + values[i]);
    }
    return results;
}

// What nobody can overlook, in a sum or as a maximum; in an array of results, what must stay as it is.
template <typename T> T guard() {
    return T(1 << 24);
}

template <typename T> struct finding {
    bool is_right = true;
    double expected = 0, got = 0;
    char remark[120] = "";
};

// One run on one array.
template <typename T> finding<T> judge(const shape<T> &of, int kind) {
    finding<T> found;
    size_t count = TASK == ROWS ? of.rows : blocks_for<T>(of.n);
    std::vector<T> values = numbers<T>(of.n, kind), expected = right(of, values);
    array<T> input(of.n, guard<T>()), first(count, guard<T>()), second(count, guard<T>());
    input.set(values);
    first.set(std::vector<T>(count, guard<T>())); // so that a result that nobody wrote shows
    launcher<TASK>::run(of, input.at, first.at, second.at);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<T> got = (lies_in_second<T>(of.n) ? second : first).get(0, of.results());
    for (size_t i = 0; i < of.results() && found.is_right; i++)
        if (got[i] != expected[i]) {
            found = {false, double(expected[i]), double(got[i])};
            if (TASK == ROWS)
                snprintf(found.remark, sizeof found.remark, "%zu rows of %zu, row %zu", of.rows, of.columns, i);
            else
                snprintf(found.remark, sizeof found.remark, "n = %zu", of.n);
        }
    for (const array<T> *results : {&first, &second})
        for (T beyond : results->get(count, GUARDS))
            if (found.is_right && beyond != guard<T>()) {
                found = {false, double(guard<T>()), double(beyond)};
                snprintf(found.remark, sizeof found.remark, "n = %zu: written behind the end of the results", of.n);
            }
    return found;
}

// ---------------------------------------------------------------------------------------------------------------------
// What is asked
// ---------------------------------------------------------------------------------------------------------------------

static const size_t SIZES[] = {1, 2, 31, 32, 33, 255, 256, 257, 1000, 4097, 65537};
static const size_t MATRICES[][2] = {{1, 1}, {3, 1}, {1, 3}, {5, 33}, {33, 5}, {64, 256}, {7, 1000}, {257, 129}};

// The shapes of the task, each for `visit`; the first `most` of them.
template <typename T, typename Visit> void each_shape(size_t most, Visit visit) {
    size_t count = TASK == ROWS ? sizeof MATRICES / sizeof *MATRICES : sizeof SIZES / sizeof *SIZES;
    for (size_t k = 0; k < std::min(most, count); k++) {
        size_t rows = TASK == ROWS ? MATRICES[k][0] : 1, columns = TASK == ROWS ? MATRICES[k][1] : SIZES[k];
        visit(shape<T>{rows * columns, rows, columns});
    }
}

// Each shape twice, since a result must not depend on the run before it.
template <typename T> bool check_type(const char *type, size_t most) {
    finding<T> worst;
    size_t cases = 0;
    each_shape<T>(most, [&](const shape<T> &of) {
        for (int kind = 0; kind < (TASK == MAXIMUM ? 3 : 1); kind++)
            for (int again = 0; again < 2 && worst.is_right; again++, cases++)
                worst = judge(of, kind);
    });
    if (worst.is_right)
        printf("check\t%s\tright\t\t\t%zu runs\n", type, cases);
    else
        printf("check\t%s\twrong\t%.9g\t%.9g\t%s\n", type, worst.expected, worst.got, worst.remark);
    return worst.is_right;
}

static std::atomic<bool> queued; // all runs of a sample

// What comes first in the stream: keeps the device from beginning before the host has queued all runs, as a host that takes
// longer to queue a launch than the device to run it would be what is measured. Not for long, as a stream takes only so many
// launches.
static void hold(void *) {
    using namespace std::chrono;
    for (auto until = steady_clock::now() + milliseconds(5); !queued && steady_clock::now() < until;)
        std::this_thread::sleep_for(microseconds(20));
}

// Copies of the array are read in turn, more than fit in the cache.
template <typename T> void time_type(size_t n, int rounds) {
    size_t columns = TASK == ROWS ? std::min(n, size_t(1024)) : n;
    shape<T> of{n / columns * columns, n / columns, columns};
    int device, cache;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device));
    size_t copies = std::min(1 + 3 * size_t(cache) / (n * sizeof(T)), size_t(64)), stride = (n + 255) / 256 * 256;
    size_t count = TASK == ROWS ? of.rows : blocks_for<T>(of.n), turn = 0;
    array<T> input(copies * stride, guard<T>()), first(count, guard<T>()), second(count, guard<T>());
    std::vector<T> values = numbers<T>(of.n, 0);
    for (size_t k = 0; k < copies; k++)
        CHECK(cudaMemcpy(input.at + k * stride, values.data(), of.n * sizeof(T), cudaMemcpyHostToDevice));
    auto run = [&] { launcher<TASK>::run(of, input.at + turn++ % copies * stride, first.at, second.at); };
    auto seconds = [&](int runs) {
        cudaEvent_t begin, end;
        float milliseconds;
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        queued = false;
        CHECK(cudaLaunchHostFunc(nullptr, hold, nullptr));
        CHECK(cudaEventRecord(begin));
        for (int i = 0; i < runs; i++)
            run();
        CHECK(cudaEventRecord(end));
        queued = true;
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        CHECK(cudaEventDestroy(begin));
        CHECK(cudaEventDestroy(end));
        return double(milliseconds) / 1e3 / runs;
    };
    run();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<T> got = (lies_in_second<T>(of.n) ? second : first).get(0, of.results()), expected = right(of, values);
    size_t at = std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin();
    bool is_right = at == got.size();
    at = is_right ? 0 : at;
    int runs = int(std::min(std::max(1e-3 / seconds(3), 1.0), 1000.0)); // a sample lasts a millisecond or so
    printf("time\t%s\t%.9g\t%.9g\t%d\t%s\t%zu", is_right ? "right" : "wrong", double(expected[at]), double(got[at]),
           int(THREADS),
           TASK == ROWS ? ""
           : PER_THREAD ? "recursive"
                        : "second-launch",
           TASK == ROWS ? columns : 0);
    for (int i = 0; i < rounds; i++)
        printf("\t%.9g", seconds(runs));
    printf("\n");
}

static int check_all(size_t most) {
    bool all_right = check_type<int>("i32", most);
    all_right &= check_type<float>("f32", most);
    all_right &= check_type<double>("f64", most);
    return all_right ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        printf("error\tthe judge wants a device, and what to do\n");
        return 3;
    }
    cudaError_t status = cudaSetDevice(atoi(argv[1]));
    if (status != cudaSuccess) {
        printf("error\tthere is no cuda:%s here (%s); kernels in WGSL are judged by the page, which needs no GPU\n",
               argv[1], cudaGetErrorString(status));
        return 3;
    }
    if (argc < 6)
        return check_all(strcmp(argv[2], "races") == 0 ? 8 : SIZE_MAX);
    size_t n = size_t(strtoull(argv[4], nullptr, 10));
    int rounds = atoi(argv[5]);
    if (strcmp(argv[3], "i32") == 0)
        time_type<int>(n, rounds);
    else if (strcmp(argv[3], "f32") == 0)
        time_type<float>(n, rounds);
    else
        time_type<double>(n, rounds);
    return 0;
}
