"""The words of the drawings in Chinese. draw.py draws each of them a second time with these, and stops where one is missing or is not
used any more. Code and names stay as they are."""
import re

# Whole texts with numbers in them; groups are kept.
NUMBERED = [
    (r'block (\d)', r'块 \1'), (r'warp (\d)', r'线程束 \1'), (r'step (\d)', r'第 \1 步'), (r'launch (\d)', r'启动 \1'),
    (r'cluster (\d)', r'簇 \1'), (r'tile (\d)', r'小块 \1'), (r'stage (\d)', r'段 \1'), (r'ticket (\d)', r'号码 \1'),
    (r'bank (\d)', r'存储体 \1'), (r'copy tile (\d)', r'拷贝小块 \1'), (r'add tile (\d)', r'加小块 \1'),
    (r'tile (\d), on its way', r'小块 \1，在途'), (r'tile (\d), being added', r'小块 \1，正在加'), (r'tile (\d), there', r'小块 \1，已到'),
    (r'free: order tile (\d)', r'空闲：订小块 \1'), (r'(\d) threads', r'\1 个线程'), (r'(\d+) registers per thread', r'每个线程 \1 个寄存器'),
    (r'(\d) blocks × 256 threads × (\d+) registers = 65536 of 65536', r'\1 个块 × 256 个线程 × \2 个寄存器 = 65536 之 65536'),
]

# What is no word.
KEPT = re.compile(r'[^A-Za-z]*|s = \d+|half = \d+|tid < \d+|tid % \d+ == 0|index = \d+ tid|grid\.sync\(\)|CPU|host|atomic|second-launch|'
                  r'recursive|last-block|group-global')

WORDS = {
    'A first program: what lies where, and what moves': '第一个程序：什么在哪里，什么在移动',
    'host: CPU and its memory': '主机：CPU 和它的内存',
    'device: GPU and its global memory': '设备：GPU 和它的全局内存',
    '1  cudaMalloc: room for numbers and sums': '1  cudaMalloc：放数和各个和的地方',
    '3  kernel<<<blocks, threads>>>(...)': '3  kernel<<<块, 线程>>>(...)',
    '5  the CPU adds, and checks': '5  CPU 相加并核对',
    'numbers': '数',
    '2 and 4: cudaMemcpy, over a bus that is much slower than either memory. 3 only queues the work: the copy at 4 waits for it.':
        '2 和 4：cudaMemcpy，经过比两边内存都慢得多的总线。3 只是把工作排进队列：4 处的拷贝等它完成。',
    'Numbers are made in host memory and copied to global memory of the GPU; a launch of many blocks reads them and writes one sum per block; '
    'these are copied back, and the CPU adds them.':
        '数在主机内存里产生，拷贝到 GPU 的全局内存；一次启动的许多块读它们，每块写一个和；这些和被拷贝回来，由 CPU 相加。',
    'Coalescing: what a warp asks for at once should lie together': '合并访问：一个线程束同时要的东西应当在一起',
    'memory': '内存',
    'one piece of 32 bytes for eight words: all that is moved is used': '八个字一段 32 字节：搬来的全都用上',
    'four pieces for eight words: three quarters of what is moved is thrown away': '八个字四段：搬来的四分之三被扔掉',
    'Memory is moved in pieces of 32 bytes (sectors). A warp has 32 threads; neighbouring floats are four pieces.':
        '内存按 32 字节一段（扇区）搬动。一个线程束有 32 个线程；相邻的 float 是四段。',
    'Eight threads that read eight neighbouring words need one piece of 32 bytes of memory. The same threads that read every fourth word need '
    'four pieces, and use a quarter of what is moved.':
        '八个线程读相邻的八个字，要一段 32 字节的内存。同样的线程每隔四个字读一个，要四段，只用上搬来的四分之一。',
    'Occupancy: how many threads a multiprocessor holds at once': '占用率：一个多处理器同时容纳多少线程',
    'While one warp waits for memory, another computes: that is what the others are for. More is not better by itself: a few threads with many '
    'loads under way each wait as well as many threads with one.':
        '一个线程束等内存时，另一个在计算：别的线程束就是为此而在。多本身并不更好：少数线程各有许多加载在途，与许多线程各有一个，等得一样好。',
    'A multiprocessor has places for 2048 threads and 65536 registers. Threads with 32 registers fill all places; with 64 registers half of them; '
    'with 128 a quarter. Shared memory can be what runs out as well.':
        '一个多处理器有 2048 个线程的位置和 65536 个寄存器。每个线程 32 个寄存器时占满所有位置；64 个时占一半；128 个时占四分之一。先用完的也可能是共享内存。',
    'Bytes in flight: bandwidth × latency must be under way': '在途字节：必须有 带宽 × 延迟 那么多在路上',
    'one load at a time': '一次一个加载',
    'memory: mostly idle': '内存：多半闲着',
    'two at once': '同时两个',
    'memory: twice as busy': '内存：忙了一倍',
    'five at once': '同时五个',
    'memory: always busy': '内存：一直忙着',
    'Arrows: a request and, a latency later, its bytes (blue). A thread that adds what it loaded before it asks again is the first line. Many '
    'threads, wide loads, and several loads per thread all fill the gaps.':
        '箭头：一个请求，以及一个延迟之后它的字节（蓝）。第一行是先把加载来的加上再去要下一个的线程。许多线程、宽的加载、每个线程几个加载，都能填满空隙。',
    'Three time lines. With one load under way, the memory is idle most of the time; with two it is used twice as much; with as many as fit in the '
    'latency, it never idles.':
        '三条时间线。一个加载在途时，内存多半时间闲着；两个时用上两倍；延迟里放得下多少就有多少时，它从不闲着。',
    'Brent’s theorem: first many additions per thread, then the tree': 'Brent 定理：每个线程先做许多加法，再做树',
    'eight threads, the tree at once': '八个线程，直接做树',
    '15 of 32 places used; time 4, cost 8 × 4 = 32': '32 个位置用了 15 个；时间 4，代价 8 × 4 = 32',
    'two threads, seven additions each, then the tree': '两个线程，各做七次加法，再做树',
    '15 of 16 places used; time 8, cost 2 × 8 = 16': '16 个位置用了 15 个；时间 8，代价 2 × 8 = 16',
    'n numbers on p threads take n / p + log2 p steps, up to rounding. Up to about n / log2 n threads that costs no more additions than a loop, and '
    'hardly more time than all threads: so give each thread many numbers.':
        'p 个线程加 n 个数要 n / p + log2 p 步，取整除外。线程不超过约 n / log2 n 个时，加法不比一个循环多，时间也几乎不比用上所有线程长：所以给每个线程许多数。',
    'Sixteen numbers. With eight threads the tree takes four steps, in which 15 of 32 places for additions are used. Two threads take eight steps, '
    'in which 15 of 16 are used.':
        '十六个数。八个线程的树要四步，32 个加法位置用了 15 个。两个线程要八步，16 个位置用了 15 个。',
    'What a GPU looks like from C': '从 C 看 GPU 是什么样',
    'grid: one launch of a kernel, kernel<<<blocks, threads>>>(...)': '网格：核函数的一次启动，kernel<<<块, 线程>>>(...)',
    'shared memory of this block': '这个块的共享内存',
    '__syncthreads(): the block waits for itself': '__syncthreads()：块等它自己',
    'global memory: gigabytes, seen by all blocks, hundreds of cycles away': '全局内存：若干 GB，所有块都看得见，远在几百个周期之外',
    'Orange: registers, a few dozen per thread, at no distance at all. A warp (four threads here, 32 in reality) executes one instruction at a time '
    'for all of its threads. Blocks of an ordinary launch run in any order, and must not wait for each other: what they have in common goes through '
    'global memory.':
        '橙色：寄存器，每个线程几十个，近在手边。一个线程束（这里四个线程，实际 32 个）一次为它的所有线程执行一条指令。普通启动的块以任何次序运行，不得互相等待：它们共有的东西要经过全局内存。',
    'A grid of blocks; each block has threads, in warps that execute together, and shared memory; all blocks see global memory; each thread has '
    'registers.':
        '由块组成的网格；每个块有线程，分成一起执行的线程束，还有共享内存；所有块都看得见全局内存；每个线程有寄存器。',
    'global-halving: in place in global memory': 'global-halving：在全局内存里原地进行',
    'global memory': '全局内存',
    'threads at work': '工作的线程',
    'Every step reads and writes global memory, and waits for the whole block. The input is gone afterwards.':
        '每一步都读写全局内存，并等待整个块。之后输入就没有了。',
    'A block of sixteen threads owns sixteen numbers in global memory. With half = 8, threads 0 to 7 add element i + 8 to element i, then threads 0 '
    'to 3 add element i + 4, and so on, until element 0 holds the sum.':
        '一个十六线程的块拥有全局内存里的十六个数。half = 8 时，线程 0 到 7 把元素 i + 8 加到元素 i，然后线程 0 到 3 加元素 i + 4，依此类推，直到元素 0 是和。',
    'neighbour-modulo: thread tid adds its neighbour if tid is a multiple of 2 s': 'neighbour-modulo：tid 是 2 s 的倍数时，线程 tid 加它的邻居',
    'shared memory': '共享内存',
    'Red: warps in which some threads work and the others wait for them. Working threads are never neighbours.':
        '红色：其中一些线程工作、别的线程等着的线程束。工作的线程从不相邻。',
    'Sixteen numbers in shared memory. With stride 1, threads 0, 2, 4 and so on add their right neighbour; with stride 2 threads 0, 4, 8 and 12; in '
    'every warp some threads work and some idle.':
        '共享内存里的十六个数。步长 1 时，线程 0、2、4 等加右边的邻居；步长 2 时是线程 0、4、8 和 12；每个线程束里都有线程工作，有线程闲着。',
    'neighbour-strided: the same pairs, added by threads that are neighbours': 'neighbour-strided：同样的配对，由相邻的线程来加',
    'Whole warps work or are done. Red: the bank of each access, of four in this drawing (real ones: 32). The same bank for several threads of a '
    'warp: they queue.':
        '整个线程束要么工作，要么已完成。红色：每次访问的存储体，图中共四个（实际 32 个）。一个线程束的几个线程要同一个存储体：它们排队。',
    'The same pairs as in neighbour-modulo, but thread tid adds at index 2 s tid: working threads fill whole warps, while their accesses fall into '
    'the same memory banks.':
        '与 neighbour-modulo 同样的配对，但线程 tid 在下标 2 s tid 处相加：工作的线程填满整个线程束，而它们的访问落在同样的存储体里。',
    'halving: thread tid adds tid + s, and s is halved': 'halving：线程 tid 加 tid + s，s 减半',
    'No half-empty warps until the last one, no bank twice. But half of the threads do nothing from the start.':
        '直到最后一个之前没有半空的线程束，没有存储体被要两次。但一半的线程从一开始就无事可做。',
    'Sixteen numbers in shared memory. With s = 8, threads 0 to 7 add element tid + 8, then threads 0 to 3 add tid + 4, and so on: neighbouring '
    'threads read neighbouring memory.':
        '共享内存里的十六个数。s = 8 时，线程 0 到 7 加元素 tid + 8，然后线程 0 到 3 加 tid + 4，依此类推：相邻的线程读相邻的内存。',
    'first-add: each thread loads two elements and adds them before it stores': 'first-add：每个线程加载两个元素，存放之前先相加',
    'load and add': '加载并相加',
    'The same block takes twice as much: half the blocks, and no thread idles from the start.': '同样的块负责两倍的元素：块数减半，没有线程一开始就闲着。',
    'Sixteen numbers in global memory become eight in shared memory: thread tid adds elements tid and tid + 8 while loading. Then halving goes on '
    'with eight threads.':
        '全局内存里的十六个数变成共享内存里的八个：线程 tid 在加载时把元素 tid 和 tid + 8 相加。然后八个线程继续 halving。',
    'last-warp-implicit: nothing makes the threads of a warp wait for each other': 'last-warp-implicit：没有什么让一个线程束的线程互相等待',
    'thread 1 is early: it reads the 1 that was': '线程 1 来早了：它读到的 1',
    'there before thread 3 added 6': '是线程 3 加 6 之前的',
    'expected 31': '应为 31',
    'It was right as long as the 32 threads of a warp moved in lockstep. Since Volta (2017) each has its own program counter.':
        '只要一个线程束的 32 个线程齐步走，它就是对的。从 Volta（2017）起，每个线程有自己的程序计数器。',
    'Eight numbers, a warp of four. Thread 1 runs ahead and reads element 3 before thread 3 has added to it: the result is 25 instead of 31.':
        '八个数，一个四线程的线程束。线程 1 跑在前面，在线程 3 加上之前就读了元素 3：结果是 25 而不是 31。',
    'last-warp: a barrier of the warp after every step': 'last-warp：每一步之后有线程束的屏障',
    'Only the warp waits, not the block. Green: nobody passes before all have arrived and what they wrote is seen.':
        '只有线程束等待，块不等。绿色：所有线程到齐、写入可见之前，谁也过不去。',
    'Eight numbers, a warp of four. After each step all four threads wait for each other, so that each reads what the others have written.':
        '八个数，一个四线程的线程束。每一步之后四个线程互相等待，于是每个都读到别人写下的东西。',
    'unrolled: the block size is a constant, so the loop can go': 'unrolled：块的大小是常量，循环就可以去掉',
    'a loop: unknown block size': '循环：块的大小未知',
    'log2(block) times': 'log2(块) 次',
    'a block of 256, known when compiling': '256 的块，编译时已知',
    'Fewer instructions per addition. What is left to do is the same additions, in the same order: the same bits.':
        '每次加法的指令更少。剩下要做的是同样的加法，同样的次序：同样的位。',
    'Left: a loop that compares, branches and halves around each addition. Right: for a block of 256 threads, the same additions in a row, the '
    'tests of the block size decided by the compiler.':
        '左：一个循环，围着每次加法比较、分支、减半。右：对 256 线程的块，同样的加法排成一行，块大小的判断由编译器做完。',
    'grid-stride: a fixed grid walks over all elements': 'grid-stride：固定的网格走过所有元素',
    'first turn': '第一轮',
    'second turn': '第二轮',
    'third': '第三轮',
    'fourth': '第四轮',
    '8 threads in all': '共 8 个线程',
    'registers': '寄存器',
    'block sums': '各块的和',
    'Threads live long and meet once. The grid fits the GPU, not the data: few block sums, whatever n is.':
        '线程活得久，只会合一次。网格适合 GPU 而不是数据：不管 n 是多少，块的和都很少。',
    'Thirty-two elements, two blocks of four threads. Thread i of the grid adds elements i, i + 8, i + 16 and i + 24 in a register; then each block '
    'combines its four sums.':
        '三十二个元素，两个四线程的块。网格的线程 i 在寄存器里加元素 i、i + 8、i + 16 和 i + 24；然后每个块把它的四个和合起来。',
    'harris-seven: two elements per thread and turn, and no loop in the tree': 'harris-seven：每个线程每轮两个元素，树里没有循环',
    'Harris’s kernel 7 of 2007: the grid walks, two loads are under way per turn, and the block’s size is known when compiling.':
        'Harris 2007 年的第 7 个核函数：网格在走，每轮两个加载在途，块的大小编译时已知。',
    'Two blocks of four threads. In a turn each thread adds two elements, a block apart: block 0 takes elements 0 to 7, block 1 elements 8 to 15; '
    'then the grid moves on.':
        '两个四线程的块。每轮每个线程加两个相距一块的元素：块 0 负责元素 0 到 7，块 1 负责元素 8 到 15；然后网格向前走。',
    'shuffle: from register to register within a warp': 'shuffle：线程束内从寄存器到寄存器',
    'All lanes execute every step; only what leads to lane 0 is drawn in full. One shared slot per warp, then the first warp does the same with the '
    'warps’ sums.':
        '所有通道都执行每一步；只有通向通道 0 的画成实线。每个线程束一个共享位置，然后第一个线程束对各线程束的和做同样的事。',
    'Eight lanes of a warp hold one number each in a register. Each takes the register of the lane 4 further down and adds it, then 2, then 1; lane '
    '0 has the sum. No memory is used.':
        '一个线程束的八个通道各在寄存器里有一个数。每个取后面第 4 个通道的寄存器来加，然后第 2 个，然后第 1 个；通道 0 得到和。不用内存。',
    'warp-reduce: say what is wanted, not how': 'warp-reduce：只说要什么，不说怎么做',
    'every lane has the sum': '每个通道都有和',
    'For floats the order of the additions is the implementation’s: the last bits may differ between GPUs and drivers.':
        '浮点数相加的次序由实现决定：不同的 GPU 和驱动，最后几位可能不同。',
    'Eight lanes hand their number to one operation and get back the sum: __reduce_add_sync in CUDA, WaveActiveSum in HLSL, subgroupAdd in GLSL and '
    'WGSL.':
        '八个通道把各自的数交给一个操作，得回它们的和：CUDA 里是 __reduce_add_sync，HLSL 里是 WaveActiveSum，GLSL 和 WGSL 里是 subgroupAdd。',
    'cg-reduce: a warp is an object, and its sum a call': 'cg-reduce：线程束是一个对象，它的和是一次调用',
    'No mask, no lane number, no distance in the source. Which instructions it becomes is decided by the type.':
        '源代码里没有掩码，没有通道号，没有距离。变成哪些指令由类型决定。',
    'A block of eight threads is cut into tiles of four. reduce() gives each thread of a tile the sum of the tile.':
        '一个八线程的块切成四线程的小组。reduce() 把小组的和给小组的每个线程。',
    'vector-loads: 16 bytes per load, several loads under way': 'vector-loads：每次加载 16 字节，几个加载在途',
    'one load': '一个加载',
    'threads': '线程',
    'the first load': '第一个加载',
    'the second load, asked for': '第二个加载，',
    'before the first has arrived': '第一个到达之前就已请求',
    'Memory answers after hundreds of cycles. To keep it busy, bytes must be under way: bandwidth × latency of them. Wide loads ask for more with '
    'fewer instructions. What is left over at the ends, less than 16 bytes, goes one by one.':
        '内存在几百个周期之后才回答。要让它忙着，必须有字节在途：带宽 × 延迟 那么多。宽的加载用更少的指令要更多。两端剩下不足 16 字节的，一个一个来。',
    'Four threads. Each loads four neighbouring numbers with one instruction, and asks for the second four before the first have arrived; then it '
    'adds the eight.':
        '四个线程。每个用一条指令加载四个相邻的数，第一批到达之前就请求第二批四个；然后把八个加起来。',
    'one-launch: the last block to finish adds up the block sums': 'one-launch：最后完成的块把各块的和加起来',
    'adds its part': '加它的部分',
    '1. write the sum': '1. 写下和',
    '2. __threadfence(): it is seen': '2. __threadfence()：它已可见',
    '4. ticket == blocks - 1: I am the last': '4. 号码 == 块数 - 1：我是最后一个',
    'all sums are there': '所有的和都在了',
    'block 1 adds them, always in the same order': '块 1 把它们加起来，次序总是相同',
    'result': '结果',
    'Three blocks write their sums to global memory, make them visible with a fence, and draw a ticket. Block 1 draws the last ticket, so that it '
    'adds up the sums of all blocks in a fixed order.':
        '三个块把和写到全局内存，用栅栏使它们可见，再取一个号码。块 1 取到最后一个号码，于是由它按固定的次序把所有块的和加起来。',
    'overlapped-launch: the next launch is there before this one has ended': 'overlapped-launch：这次启动结束之前，下一次已经来了',
    'plain': '普通',
    'nothing': '空',
    'overlapping': '重叠',
    'set up, wait': '准备，等待',
    'griddepcontrol.wait returns: launch 1 has ended, and all that it wrote is seen': 'griddepcontrol.wait 返回：启动 1 已结束，它写下的全都可见',
    'What the launch before wrote may be what this one reads or overwrites: so wait before anything in global memory is touched. Then let the next '
    'launch come.':
        '前一次启动写下的，可能正是这一次要读或要覆盖的：所以碰全局内存里的任何东西之前先等待。然后让下一次启动来。',
    'Two launches in a stream. Plainly launched, the second begins some time after the first has ended. Overlapping, its blocks come early, wait '
    'inside the kernel, and begin to read at once.':
        '一个流里的两次启动。普通启动时，第二次在第一次结束一段时间之后才开始。重叠时，它的块早早来到，在核函数里等待，然后立刻开始读。',
    'cooperative: a barrier for the whole grid': 'cooperative：整个网格的屏障',
    'adds them': '把它们加起来',
    'ends': '结束',
    'A cooperative launch promises that all blocks are on the device at once. Otherwise some would wait for blocks that cannot begin.':
        '协作启动保证所有块同时在设备上。否则有的块会等待无法开始的块。',
    'Four blocks store their sums and meet at grid.sync(). Then block 0 adds the sums; the others end.':
        '四个块存下各自的和，在 grid.sync() 处会合。然后块 0 把和加起来；其余的结束。',
    'cluster: blocks that read each other’s shared memory': 'cluster：互相读共享内存的块',
    'one sum each': '各一个和',
    'The blocks of a cluster run at the same time on neighbouring multiprocessors. None may end while its memory is being read.':
        '一个簇的块同时在相邻的多处理器上运行。自己的内存还在被读时，谁也不能结束。',
    'Two clusters of four blocks. Each block leaves its sum in its own shared memory; the first block of the cluster reads all four and delivers one '
    'sum.':
        '两个各有四个块的簇。每个块把和留在自己的共享内存里；簇的第一个块读全部四个，交出一个和。',
    'bulk-copy: the copy engine fills a ring of stages while threads add': 'bulk-copy：线程相加时，拷贝引擎填满一圈的段',
    'cp.async.bulk: no thread': 'cp.async.bulk：不需要线程，',
    'and no register is needed': '也不需要寄存器',
    'all threads add one stage, then say:': '所有线程加一段，然后说：',
    'free again, fetch the next tile': '又空闲了，去取下一个小块',
    'Time': '时间',
    'Threads never wait for memory as long as the ring is longer than the delay. A barrier in shared memory counts the bytes.':
        '只要圈比延迟长，线程就从不等内存。共享内存里的一个屏障数着字节。',
    'The copy engine fetches tiles of global memory into stages of shared memory; threads add the stage that has arrived, and hand it back to be '
    'filled again.':
        '拷贝引擎把全局内存的小块取到共享内存的段里；线程加已到达的段，再交还去重新填满。',
    'producer-warp: one warp orders the copies, the others add': 'producer-warp：一个线程束订拷贝，别的相加',
    'warp 0: orders': '线程束 0：订',
    'warps 1 to 7: wait for a tile, add it, say that it is read': '线程束 1 到 7：等一个小块，加上它，说已读完',
    '"read": the stage is free again': '“已读”：这一段又空闲了',
    'waits for "read" of a stage, never for data': '等一段的“已读”，从不等数据',
    'In bulk-copy one thread does both, and its warp waits for the slowest. Here nobody who adds waits for anything but data.':
        '在 bulk-copy 里一个线程两样都做，它的线程束等最慢的。这里做加法的除了数据什么也不等。',
    'The producer warp runs ahead through a ring of stages and orders a copy into each that is free; the other warps add the stages that have '
    'arrived.':
        '生产者线程束沿着一圈的段跑在前面，往每个空闲的段订一次拷贝；别的线程束加已到达的段。',
    'exact: every bit goes to its own place, and the sum is rounded once': 'exact：每一位都去自己的位置，和只舍入一次',
    'place of a bit': '位的位置',
    'their exact sum': '它们精确的和',
    'the 24 bits that an f32 keeps': 'f32 保留的 24 位',
    'decide the rounding': '决定舍入',
    'Added one after the other in f32, each step would drop what does not fit beside the largest number. Kept whole, the order cannot matter: '
    'integers are added, and integer addition is associative. One rounding, at the end, gives the same bits on one thread or a hundred thousand.':
        '用 f32 一个接一个地加，每一步都会丢掉在最大的数旁边放不下的部分。完整地保留，次序就无关紧要：加的是整数，整数加法满足结合律。最后的一次舍入，在一个线程或十万个线程上给出同样的位。',
    'Three numbers of very different size are added in a register that is wide enough for all of their bits; nothing is rounded until the end, when '
    'the sum is rounded to the nearest number of the result type.':
        '大小悬殊的三个数加在一个宽得容得下它们所有位的寄存器里；到最后才舍入，和被舍入到结果类型中最近的数。',
    'Sums of rows: who takes a row': '行的和：谁负责一行',
    'a thread per row': '一个线程一行',
    'one step: four addresses,': '一步：四个地址，',
    'each a row from the next': '彼此相距一行',
    'a warp per row': '一个线程束一行',
    'one step: four neighbours;': '一步：四个相邻的；',
    'then shuffles, then the next row': '然后洗牌，然后下一行',
    'two rows per warp': '一个线程束两行',
    'one step: two rows at once;': '一步：同时两行；',
    'half as many shuffles': '洗牌减半',
    'A matrix lies in memory row by row. Which way is best depends on the length of a row: short rows need several per warp, long ones a warp or a '
    'block each.':
        '矩阵按行放在内存里。哪种办法最好取决于行的长度：短的行要一个线程束几行，长的行要一个线程束或一个块一行。',
    'A matrix of four rows. A thread per row reads addresses a whole row apart; a warp per row reads neighbours; several rows per warp read '
    'neighbours with no lane idle.':
        '四行的矩阵。一个线程一行，读的地址相距一整行；一个线程束一行，读相邻的；一个线程束几行，读相邻的，没有通道闲着。',
    'Sums by group: who waits for whom': '分组的和：谁等谁',
    'eight atomic additions,': '八次原子加法，',
    'five of them to one sum': '其中五次加到同一个和',
    'group-shared: a copy per block': 'group-shared：每个块一份副本',
    'queues are short, and near;': '队短，而且近；',
    'then one addition per copy and group': '然后每份副本每组一次加法',
    'group-runs: keys sorted': 'group-runs：键已排序',
    'neighbours of one key add up first:': '键相同的相邻元素先加起来：',
    'an addition per run': '每段一次加法',
    'The number in a cell of the array is its key, below it the thread that has it; the cells at the bottom are the sums. Additions of floats in any '
    'order give other bits in every run; those of integers (group-slices, group-exact) do not.':
        '数组格子里的数是它的键，下面是负责它的线程；底部的格子是各个和。浮点数以任何次序相加，每次运行给出不同的位；整数（group-slices、group-exact）则不会。',
    'Eight elements with keys. With atomic additions in global memory all threads queue for the sums; with a copy per block only those of one block '
    'do; where keys are sorted, neighbours add up first.':
        '八个带键的元素。用全局内存的原子加法时，所有线程为和排队；每个块一份副本时，只有一个块的线程排队；键已排序时，相邻的先加起来。',
    'Subgroups of any size: add up what subgroups have left, until one number remains': '任何大小的子组：把各子组留下的加起来，直到只剩一个数',
    'one slot per subgroup': '每个子组一个位置',
    'first subgroup': '第一个子组',
    'Two levels are enough for 4 × 4 numbers here, for 32 × 32 = 1024 on an NVIDIA GPU, and for 8 × 8 = 64 on a device with subgroups of 8: there, '
    '256 invocations need a third. Code that stops after two is right on one machine and wrong on the next.':
        '两层够这里的 4 × 4 个数，够 NVIDIA GPU 上的 32 × 32 = 1024 个，够子组大小为 8 的设备上的 8 × 8 = 64 个：在那里，256 个调用要第三层。两层之后就停的代码，在一台机器上对，在下一台上错。',
    'Sixteen numbers in subgroups of four: each subgroup adds up its own and leaves one number in a slot of shared memory; after a barrier one '
    'subgroup adds up the four slots.':
        '十六个数，子组大小为四：每个子组加自己的，在共享内存的一个位置留下一个数；屏障之后，一个子组把四个位置加起来。',
    'A window in integers: high takes whole multiples, low takes everything modulo 2^32': '整数里的窗口：high 收整倍数，low 收全部，模 2^32',
    'place, from the bottom of the window': '位置，从窗口底部数起',
    'Each number is cut at the line by one shift. Many remainders may pass the line together; they are counted all the same, as long as they stay '
    'below 2^32.':
        '每个数由一次移位在线处切开。许多余数合起来可能越过那条线；只要不到 2^32，它们照样都被计入。',
    'Three numbers of four bits at distances 0, 2 and 5 below the top of a window. What lies left of a line goes to high; low takes the whole number, '
    'and overflows; the two give back the sum.':
        '三个四位的数，离窗口顶部 0、2 和 5。线左边的归 high；low 收整个数，并溢出；两者合起来还原出和。',
    'Finishes: how the sums of blocks become one number': '收尾：各块的和怎样变成一个数',
    'copied back,': '拷贝回来，',
    'added by the CPU': '由 CPU 相加',
    'one cell, in any order;': '一个格子，任何次序；',
    'cleared first': '先清零',
    'one more launch': '再启动一次',
    'of one block': '只有一个块',
    'the same kernel,': '同一个核函数，',
    'until one is left': '直到剩一个',
    'last ticket': '最后的号码',
    'the last to finish,': '最后完成的，',
    'in the same launch': '在同一次启动里',
    'Green: the end of a launch, which everything waits for. The order of atomic additions changes from run to run, and with it the last bits of a '
    'float.':
        '绿色：一次启动的结束，一切都等它。原子加法的次序每次运行都变，浮点数的最后几位也跟着变。',
    'Five ways: copy to the host and add there; every block adds to one cell with an atomic; a second launch of one block; the same kernel again '
    'until one value is left; the last block to finish adds all.':
        '五种办法：拷贝到主机再相加；每个块用原子操作加到一个格子；第二次启动一个块；同一个核函数反复，直到剩一个值；最后完成的块全部相加。',
    'Why float sums differ: three significant digits, three orders': '浮点数的和为什么不同：三位有效数字，三种次序',
    'from left to right': '从左到右',
    'each 0.4 is rounded away': '每个 0.4 都被舍去',
    'the small ones first': '先加小的',
    'right, in this order': '这个次序下正确',
    'exactly, rounded once': '精确，只舍入一次',
    'right in every order': '任何次序都正确',
    'f32 keeps about 7 digits and f64 about 16, but the effect is the same. Every tree, thread count and vector width is another order.':
        'f32 保留约 7 位，f64 约 16 位，但效果相同。每种树、线程数和向量宽度都是另一种次序。',
    'With three significant decimal digits, 100 + 0.4 + 0.4 + 0.4 is 100 from left to right, but 101 when the small numbers are added first; exactly '
    'it is 101.2, which rounds to 101.':
        '用三位有效的十进制数字，100 + 0.4 + 0.4 + 0.4 从左到右是 100，先加小的数则是 101；精确的是 101.2，舍入为 101。',
}


class Chinese:
    """Says texts in Chinese, and remembers which ones were wanted."""
    def __init__(self):
        self.said = set()

    def __call__(self, text):
        if text in WORDS:
            self.said.add(text)
            return WORDS[text]
        for pattern, put in NUMBERED:
            if re.fullmatch(pattern, text):
                return re.sub(pattern, put, text)
        if KEPT.fullmatch(text):
            return text
        raise SystemExit(f'drawn.py: there is no Chinese for {text!r}')

    def check(self):
        if unsaid := set(WORDS) - self.said:
            raise SystemExit(f'drawn.py: no drawing says {min(unsaid)!r}')
