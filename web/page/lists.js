/* Made by ladder/lists.py from ladder/*.def. */

export const GPU_LIST = {
    "global-halving": {
        "finish": "recursive",
        "idea": "each block's i and i + half, in place in global memory: destroys its input"
    },
    "neighbour-modulo": {
        "finish": "recursive",
        "idea": "shared memory, strides 1, 2, 4 ...: whoever tid % (2 s) == 0 adds tid + s"
    },
    "neighbour-strided": {
        "finish": "recursive",
        "idea": "the same pairs, added by threads that are neighbours"
    },
    "halving": {
        "finish": "recursive",
        "idea": "tid and tid + s, s halved: neighbouring threads, neighbouring memory"
    },
    "first-add": {
        "finish": "recursive",
        "idea": "each thread adds two elements while loading: half the blocks"
    },
    "last-warp-implicit": {
        "finish": "recursive",
        "idea": "the last 64 values by one warp without any synchronisation: a mistake"
    },
    "last-warp": {
        "finish": "recursive",
        "idea": "the last 64 values by one warp, which need not wait for the block"
    },
    "unrolled": {
        "finish": "recursive",
        "idea": "no loop: the block's size is known when compiling"
    },
    "grid-stride": {
        "finish": "second-launch",
        "idea": "a fixed grid whose threads add many elements each before they meet"
    },
    "shuffle": {
        "finish": "second-launch",
        "idea": "from register to register within a warp, one shared slot per warp"
    },
    "warp-reduce": {
        "finish": "second-launch",
        "idea": "the warp's reduction left to the hardware or the compiler"
    },
    "vector-loads": {
        "finish": "second-launch",
        "idea": "16 bytes per load, several loads under way per thread"
    },
    "one-launch": {
        "finish": "last-block",
        "idea": "the last block to finish adds up the blocks: no second launch"
    },
    "exact": {
        "finish": "last-block",
        "idea": "the library: the infinitely precise sum, rounded once"
    }
};

export const CPU_LIST = {
    "plain": {
        "idea": "one loop, one sum: every addition waits for the one before"
    },
    "accumulators": {
        "idea": "eight sums in turn, so that eight additions are under way at once"
    },
    "vectors": {
        "idea": "eight sums, each of them a vector: one instruction adds many numbers"
    },
    "threads": {
        "idea": "every processor sums a part with vectors, and the parts are added"
    },
    "std-accumulate": {
        "idea": "C++'s std::accumulate: from left to right, as plain"
    },
    "std-reduce": {
        "idea": "C++'s std::reduce, which may add in any order: four numbers at a time"
    },
    "std-reduce-par": {
        "idea": "the same by std::execution::par_unseq: threads, where there is oneTBB"
    },
    "kahan": {
        "idea": "one loop that carries along what each addition rounded off; floats only"
    },
    "pairwise": {
        "idea": "halves of halves, so that rounding errors grow with log n; floats only"
    },
    "exact": {
        "idea": "the library: the infinitely precise sum, rounded once"
    }
};

export const ROWS_LIST = {
    "row-thread": {
        "idea": "a thread per row: neighbouring threads read addresses a whole row apart"
    },
    "row-block": {
        "idea": "a block per row: neighbouring threads, neighbouring elements"
    },
    "row-warp": {
        "idea": "a warp per row: no shared memory, no barrier"
    },
    "rows-per-warp": {
        "idea": "several rows per warp, a few lanes each"
    },
    "row-vectors": {
        "idea": "16 bytes per load, several rows and loads under way per warp"
    },
    "column-tiles": {
        "idea": "sums of columns: tiles of 32 columns, so that any shape makes many blocks"
    },
    "row-exact": {
        "idea": "the library: the infinitely precise sum of each row, rounded once"
    }
};

export const FINISH_LIST = {
    "host": "the CPU reads the block sums and adds them",
    "atomic": "each block adds its sum to the result",
    "second-launch": "one more block adds them",
    "recursive": "the same kernel, until one value is left",
    "last-block": "the last block to finish adds them"
};

export const SOURCES = [
    {
        "id": "harris",
        "name": "Harris 2007",
        "machine": "G80, 86.4 GB/s nominal, 4 Mi",
        "n": 4194304,
        "seconds": {
            "neighbour-modulo": 0.008054,
            "neighbour-strided": 0.003456,
            "halving": 0.001722,
            "first-add": 0.000965,
            "last-warp": 0.000536,
            "unrolled": 0.000381,
            "grid-stride": 0.000268
        }
    },
    {
        "id": "v100",
        "name": "V100 notes",
        "machine": "V100, 1 Mi",
        "n": 1048576,
        "seconds": {
            "neighbour-modulo": 0.00012,
            "halving": 6.5e-05,
            "first-add": 4.2e-05,
            "last-warp": 3.6e-05,
            "unrolled": 3.2e-05,
            "shuffle": 2.8e-05,
            "Thrust": 2.5e-05
        }
    },
    {
        "id": "slang",
        "name": "Slang article",
        "machine": "RTX 4070 laptop, 32 Mi",
        "n": 33554432,
        "seconds": {
            "halving": 0.00108,
            "first-add": 0.00059,
            "shuffle": 0.00055,
            "warp-reduce": 0.00055
        }
    },
    {
        "id": "webgpu",
        "name": "WebGPU tutorial",
        "machine": "a browser, the whole call from a page, 10 Mi",
        "n": 10485760,
        "seconds": {
            "neighbour-modulo": 1.88853,
            "neighbour-strided": 1.71031,
            "halving": 1.64008,
            "first-add": 1.6578
        }
    }
];
