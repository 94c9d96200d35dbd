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

export const IDEAS_ZH = {
    "global-halving": "每个工作组把 i 与 i + half 在全局内存里原地相加，half 减半；输入被毁掉。",
    "neighbour-modulo": "复制到工作组内存，步长 1、2、4……：tid % (2 s) == 0 的线程加 tid + s。",
    "neighbour-strided": "同样的配对，由相邻的线程来加。",
    "halving": "tid 与 tid + s，s 减半：相邻的线程，相邻的内存。",
    "first-add": "每个线程加载时先加两个元素：工作组数减半。",
    "last-warp-implicit": "最后 64 个值由一个线程束不加任何同步地做完：一个错误。",
    "last-warp": "最后 64 个值由一个线程束做完，它不必等整个工作组。",
    "unrolled": "没有循环：编译时就知道工作组的大小。",
    "grid-stride": "固定的网格，每个线程在会合之前加许多元素。",
    "harris-seven": "Harris 的最后一个核函数，用他的形式：每轮两个元素，树里没有循环。",
    "shuffle": "线程束内从寄存器到寄存器，每个线程束一个共享位置。",
    "warp-reduce": "把线程束的归约交给硬件或编译器。",
    "cg-reduce": "用协作组的写法归约线程束。",
    "vector-loads": "每次加载 16 字节，每个线程有几个加载在途。",
    "one-launch": "最后完成的工作组把各块加起来：没有第二次启动。",
    "overlapped-launch": "前一次启动结束时块已经来了，在核函数里等它。",
    "cooperative": "所有的块互相等待（grid.sync），第一个工作组把和加起来。",
    "cluster": "八个工作组互相读工作组内存，只留一个和。",
    "bulk-copy": "拷贝引擎填满工作组内存里一圈的段，线程只做加法。",
    "producer-warp": "一个线程束只订拷贝，别的只相加。",
    "exact": "库：无限精确的和，只舍入一次。",
    "plain": "一个循环，一个和：每次加法等前一次。",
    "accumulators": "轮流用八个和，于是同时有八次加法在途。",
    "vectors": "八个和各是一个向量：一条指令加许多数。",
    "threads": "每个处理器用向量加一部分，再把各部分加起来。",
    "std-accumulate": "C++ 的 std::accumulate：从左到右，同 plain。",
    "std-reduce": "C++ 的 std::reduce，可以按任何顺序：每次四个数。",
    "std-reduce-par": "同上，加 std::execution::par_unseq：线程，要有 oneTBB。",
    "kahan": "一个循环，带着每次加法舍去的部分；只用于浮点数。",
    "pairwise": "一半的一半，舍入误差随 log n 增长；只用于浮点数。",
    "row-thread": "一个线程一行：相邻的线程读相距一整行的地址。",
    "row-block": "一个工作组一行：相邻的线程，相邻的元素。",
    "row-warp": "一个线程束一行：没有工作组内存，没有屏障。",
    "rows-per-warp": "一个线程束几行，每行几个通道。",
    "row-vectors": "每次加载 16 字节，每个线程束有几行和几个加载在途。",
    "column-tiles": "列的和：32 列的小块，任何形状都有许多工作组。",
    "row-exact": "库：每行无限精确的和，只舍入一次。",
    "group-global": "每个元素一次全局内存的原子加法，加到键所指的和上。",
    "group-shared": "每个块在工作组内存里有一份和的副本，最后加到结果上。",
    "group-runs": "一个线程束先把键相同的相邻元素加起来：每段一次原子加法。",
    "group-sorted": "CUB：元素先按键排序，再对每段相同的键求和。",
    "group-slices": "每个元素切成两个整数，它们的和不因次序而变，只舍入一次。",
    "group-exact": "库：每组无限精确的和，只舍入一次。"
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
