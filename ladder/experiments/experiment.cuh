// What the experiments share: checked calls, and the time of a launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#define CHECK(call) check(call, #call)
inline void check(cudaError_t status, const char *call) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
        exit(1);
    }
}

// Elements on the device, all zero.
template <typename T> T *zeros(uint64_t count) {
    T *memory;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

inline unsigned multiprocessors() {
    int device, count;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return unsigned(count);
}

// Blocks of `threads` that the device holds at once.
template <typename Kernel> unsigned resident_blocks(Kernel kernel, unsigned threads) {
    int blocks;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, int(threads), 0));
    return multiprocessors() * unsigned(blocks);
}

// Microseconds of one launch: the median of rounds of several back to back.
template <typename Launch> double microseconds(Launch launch, int runs) {
    std::vector<float> rounds(7);
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    launch();
    for (float &milliseconds : rounds) {
        CHECK(cudaEventRecord(begin));
        for (int i = 0; i < runs; i++)
            launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaGetLastError());
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    std::sort(rounds.begin(), rounds.end());
    return rounds[rounds.size() / 2] * 1e3 / runs;
}

// What an experiment has measured, printed when the last figure is in: as text, or as a report in JSON whose rows are lines of
// results/experiments.csv, a cell of the experiment's table each. No text may need escapes.
class experiment {
  public:
    experiment(const char *name, const char *heading, bool json) : name(name), heading(heading), json(json) {
    }
    experiment(const experiment &) = delete;

    // `unit`: as in UNITS of docs/ladder/tables.py.
    void add(const char *row, const char *column, const char *unit, double value) {
        char text[512];
        if (json)
            snprintf(text, sizeof text,
                     "{\"experiment\": \"%s\", \"heading\": \"%s\", \"row\": \"%s\", \"column\": \"%s\", "
                     "\"unit\": \"%s\", \"value\": \"%.4g\"}",
                     name, heading, row, column, unit, value);
        else
            snprintf(text, sizeof text, "%-40s %-12s %.4g %s", row, column, value, unit);
        rows += (rows.empty() ? "" : json ? ",\n" : "\n") + std::string(text);
    }

    ~experiment() {
        char date[32];
        time_t now = time(nullptr);
        cudaDeviceProp device;
        CHECK(cudaGetDeviceProperties(&device, 0));
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&now));
        if (json)
            printf("{\"facts\": {\"GPU\": \"%s\", \"date\": \"%s\"},\n\"warnings\": [],\n\"rows\": [\n%s\n]}\n",
                   device.name, date, rows.c_str());
        else
            printf("%s, %s\n%s\n", device.name, date, rows.c_str());
    }

  private:
    const char *name, *heading;
    bool json;
    std::string rows;
};
