"""Tables of results in Chinese: tables.py makes them in English, and here their sentences and headings are put into Chinese.
What is not listed stays as it is, as names and figures do."""
import re

LAUNCHES = '`exact` 的启动与前一次重叠，和 `overlapped-launch` 一样，应与它相比。'

# Whole sentences that stand before a table; groups are kept.
SENTENCES = [
    (r'Measured on one (.+?), with the finish `(.+?)`\. The comparison with `(.+?)` is of both with the finish `(.+?)`\.',
     r'在一块 \1 上测得，收尾 `\2`。与 `\3` 的比较，两者都用收尾 `\4`。'),
    (r'Measured on one ([^`]+?), with the finish `([^`]+?)`\.', r'在一块 \1 上测得，收尾 `\2`。'),
    (r'`(.+?)`: (\d+) sums do not fit in a block\'s shared memory of (\d+) bytes\.', r'`\1`：\2 个和放不进一个块 \3 字节的共享内存。'),
    (r'`(.+?)`: newer than these figures\.', r'`\1`：比这些数字新。'),
    (r'`(.+?)`, f32, (.+?) elements, finish `(.+?)`, on one (.+?):', r'`\1`，f32，\2 个元素，收尾 `\3`，在一块 \4 上：'),
    (r'The times spread by at most (.+?) of the median, half the distance between their quartiles(; but those of (.+?))?\. '
     r'`exact` is launched .*', r'时间的离散（四分位距的一半）至多是中位数的 \1\2。' + LAUNCHES),
    (r'The times spread by at most (\S+?) of the median\.', r'时间的离散至多是中位数的 \1。'),
    (r'The times spread by at most (\S+?) of the median, (\d+) of (\d+) by more than (\S+%)\.',
     r'时间的离散至多是中位数的 \1，\3 个里有 \2 个超过 \4。'),
    (r'The times spread by at most (\S+?) of the median, (\d+) of (\d+) by more than (\S+%): (.+)\.',
     lambda found: f'时间的离散至多是中位数的 {found[1]}，{found[3]} 个里有 {found[2]} 个超过 {found[4]}：{unsteady(found[5])}。'),
    (r'Of all (\d+) times of rungs, with every finish, type and language, (\d+) spread by more than (\S+%): (.+)\.',
     lambda found: f'各级用每种收尾、类型和语言的全部 {found[1]} 个时间里，有 {found[2]} 个的离散超过 {found[3]}：{unsteady(found[4])}。'),
    (r'Warnings of the whole run:', r'整次运行的警告：'),
    (r'(In CUDA )?`exact` is launched with its blocks overlapping .*', lambda found: ('在 CUDA 里，' if found[1] else '') + LAUNCHES),
    (r'Error of the sum of (.+?) numbers that cancel, in ulp of the sum, on (.+):', 
     lambda found: f'相消的 {found[1]} 个数之和的误差，以和的 ulp 计，机器：{machine(found[2])}：'),
    (r'Instructions on shared memory of a block, less bank conflicts:', r'一个块对共享内存的指令数，减去存储体冲突：'),
    (r'`vector-loads` in f32 with three finishes, and the rungs that are launched overlapping:',
     r'f32 的 `vector-loads` 用三种收尾，以及启动重叠的各级：'),
    (r'(f32|f64) in GLSL, (.+?) elements in rows of so many, on one (.+?):', r'\1，GLSL，\2 个元素，每行如此之多，在一块 \3 上：'),
    (r'(f32|f64), (.+?) elements in rows of so many, on one (.+?):', r'\1，\2 个元素，每行如此之多，在一块 \3 上：'),
    (r'(f32|f64), (.+?) elements with random keys in so many groups, on one (.+?):', r'\1，\2 个元素，键是随机的，分成如此多的组，在一块 \3 上：'),
    (r'(f32|f64), (.+?) elements with sorted keys in so many groups, on one (.+?):', r'\1，\2 个元素，键已排序，分成如此多的组，在一块 \3 上：'),
    (r'f32 sums, each rung with its own finish, on one (.+?); the read limit is the one measured through CUDA or Vulkan, '
     r'respectively:', r'f32 求和，每级用自己的收尾，在一块 \1 上；读取极限分别经 CUDA 或 Vulkan 测得：'),
    (r'f32 sums, every rung with the finish `second-launch`, those from `one-launch` on with `last-block`, on (.+):',
     lambda found: f'f32 求和，每级都用收尾 `second-launch`，从 `one-launch` 起用 `last-block`，机器：{machine(found[1])}：'),
    (r'The same on different GPUs, f32 sums, each rung with its own finish .* \((.+)\):', r'在不同 GPU 上，f32 求和，每级用自己的收尾（到 `unrolled` 为止用 `recursive`，'
     r'然后用 `second-launch`，从 `one-launch` 起用 `last-block` 或它自带的），每块 GPU 有自己的读取极限；测量时还没有的级留空（\1）：'),
    (r'f32 sums, each rung with its own finish, through Vulkan on (.+?), (\S+):', r'f32 求和，每级用自己的收尾，经 Vulkan，在 \1 上，\2：'),
    (r'f32 sums of texels and of an array, on one (.+?):', r'纹素与数组的 f32 求和，在一块 \1 上：'),
    (r'f32 sums of (.+?) elements on one (.+?):', r'\1 个元素的 f32 求和，在一块 \2 上：'),
    (r'(.+?) f32 on one (.+?), `--profile`:', r'\1 个 f32，在一块 \2 上，`--profile`：'),
    (r'Time in blocks of (\d+) threads, as a multiple of that in blocks of (\d+), f32 on one (.+?):',
     r'\1 个线程的块的时间，以 \2 个线程的块的时间为 1，f32，在一块 \3 上：'),
    (r'What happened on one (.+?):', r'在一块 \1 上发生的事：'),
    (r'(.+?) elements, on one (.+?):', r'\1 个元素，在一块 \2 上：'),
    (r"On one (.+?); (.+?) and (.+?) in the ladder's run, the others in runs of their own:", r'在一块 \1 上，\2 和 \3 出自阶梯的那次运行，其余的单独运行：'),
    (r'On one (.+?), in runs of their own:', r'在一块 \1 上，单独运行：'),
    (r'On one (.+?):', r'在一块 \1 上：'),
    (r'Error of the sum of (.+?) numbers between 0 and 1, in ulp from the exact sum, each rung with its own finish, on one (.+?):',
     r'0 与 1 之间 \1 个数之和的误差，与精确和相距的 ulp，每级用自己的收尾，在一块 \2 上：'),
    (r'f32, as compiled for (.+?):', r'f32，为 \1 编译：'),
    (r'Exact sums through Vulkan, on one (.+?):', r'经 Vulkan 的精确求和，在一块 \1 上：'),
    (r'Instructions in the machine code that (.+?) makes for (.+?):', r'\1 为 \2 生成的机器码中的指令数：'),
    (r'How many times faster than the rung that it starts from: f32 on one (.+?), and as published .*',
     r'比它由之出发的那一级快多少倍：一块 \1 上的 f32，以及已发表的（那里是比同一来源的前一级）。两者都用写明的收尾测得；只有到 `one-launch` 的一步是从 '
     r'`second-launch` 到 `last-block`，因为它改变的就是收尾。`last-block` 对别的级做了什么，见收尾的表；那里也看得到，一级留下很多和时第二次启动要很久，到 `grid-stride` 的一步由此得益。'),
]

HEADINGS = {
    'rung': '级', 'elements': '元素', 'of the read limit': '占读取极限', 'than': '比', 'finish': '收尾', 'active lanes': '活动通道', 'active lanes of 32': '32 个里的活动通道',
    'branches in the machine code': '机器码里的分支', 'by the source': '按源代码', 'counted': '数得', 'more': '多出',
    '`last-block` less `atomic`': '`last-block` 减 `atomic`', 'f32 error, ulp': 'f32 误差，ulp',
    'time': '时间', 'registers': '寄存器', 'shared bytes': '共享字节', 'occupancy': '占用率', 'shared transactions': '共享内存事务',
    'bank conflicts': '存储体冲突', 'divergence': '分支发散', 'block': '块', 'what': '什么', 'type': '类型', 'language': '语言', 'note': '备注', 'how': '方式',
    'where': '在哪里', 'result': '结果', 'specimen': '标本', 'device': '设备', 'kernel': '核函数', 'all': '全部', 'add': '加法',
    'global load': '全局加载', 'of 16 bytes': '其中 16 字节', 'shared load': '共享加载', 'shared store': '共享存储', 'block barrier': '块屏障',
    'what the lanes of a warp read': '线程束的各通道读什么', 'different words of one bank': '同一存储体的不同的字', 'conflicts counted per load': '每次加载数得的冲突',
    'time per load of a warp': '线程束一次加载的时间', 'blocks of a cluster': '一簇的块', 'blocks at once': '同时的块', '256 Mi, 1056 blocks': '256 Mi，1056 个块',
    '256 Mi, as many as fit': '256 Mi，容得下的那么多', 'the same, nobody waits': '同上，谁也不等', '1 Mi, nobody waits': '1 Mi，谁也不等',
    'loads and stores; the barrier orders': '加载和存储；屏障的范围', 'sectors of 32 bytes from L2': '来自 L2 的 32 字节扇区', 'instructions of warps': '线程束的指令',
    '`last-warp`, 32 Mi f32': '`last-warp`，32 Mi 个 f32', '`row-block`, f32': '`row-block`，f32', 'sums, keys': '和的数目，键', 'f32, 8 bytes apart': 'f32，隔 8 字节', '32-bit integers': '32 位整数', '64-bit integers': '64 位整数',
    'time, on a busy day': '时间，忙碌的一天', '± then': '当时的 ±', 'two of them': '两个这样的', 'two, far apart': '两个，离得远',
    'technique': '技术', 'the step': '步骤', 'in the loop': '循环里用的', 'warp barrier': '线程束屏障', 'shuffle': '洗牌', 'warp reduction': '线程束归约', 'branch': '分支', 'reciprocal': '倒数',
}


# Cells of tables that are words of ours, wherever they stand.
CELLS = {
    'by hand': '手写', 'from Slang': '来自 Slang',
    'avoid divergence': '避免发散', 'no bank conflicts': '没有存储体冲突', 'coalesce global memory': '合并全局内存的访问', 'fewer barriers': '更少屏障',
    'unroll': '展开', 'shuffles': '洗牌', 'several elements per thread: two': '每个线程多个元素：两个',
    'several elements per thread: many': '每个线程多个元素：许多', 'bytes under way': '在途字节', 'all of them': '全部',
    'none: the loads of every rung are coalesced': '没有：每一级的加载都是合并的', '4 to 5': '4 到 5',
    'time, finish `recursive`': '时间，收尾 `recursive`', 'transactions of shared memory': '共享内存事务', 'conflicts among them': '其中的冲突',
    'neighbours': '相邻的字', 'neighbours, in the other direction': '相邻的字，反方向', 'all lanes the same word': '所有通道读同一个字',
    'lanes in pairs, a word each': '通道两两一对，每对一个字', 'half and half, two words of two banks': '各一半，两个存储体的两个字', 'half and half, two words of one bank': '各一半，同一存储体的两个字',
    'eight lanes each, four words of one bank': '每八个通道一个，同一存储体的四个字', **{f'every {text} word': f'步长 {int(text[:-2])}' for text in ('2nd', '3rd', '4th', '8th', '16th', '32nd', '33rd')},
    **{f'`{size}`, {threads} threads': f'`{size}`，{threads} 个线程' for size in ('blockDim.x', 'BLOCK_SIZE') for threads in (256, 1024)},
    'none': '不用簇', 'in L1; within the block': '在 L1；块之内', 'past L1; within the block': '绕过 L1；块之内', 'in L1; on the device': '在 L1；整个设备', 'past L1; on the device': '绕过 L1；整个设备',
    'as it is': '原样', 'the barrier of the subgroup orders shared memory alone': '子组的屏障只管共享内存', 'no barrier of the subgroup': '没有子组的屏障', 'an `if` for the inner loop': '内层循环换成 `if`',
    'six steps written out, for 32 lanes': '为 32 个通道写开六步', 'no barrier of the group at the end': '末尾没有组的屏障', 'both': '两者都改', 'both, and sums in registers, as in CUDA': '两者都改，和在寄存器里，如 CUDA',
    'six steps written out, with barriers of the group, as in HLSL': '写开六步，用组的屏障，如 HLSL', '`first-add` in GLSL': 'GLSL 的 `first-add`', '`last-warp` in HLSL': 'HLSL 的 `last-warp`', '`last-warp` in Slang': 'Slang 的 `last-warp`', '`last-warp` in Slang, after `spirv-opt -O`': 'Slang 的 `last-warp`，经过 `spirv-opt -O`',
    "texels by rows, shifts (CUDA's rung)": '按行的纹素，移位（CUDA 的）', "texels by rows, divisions (GLSL's)": '按行的纹素，除法（GLSL 的）', 'texels by tiles, divisions (both)': '按小块的纹素，除法（两者的）', 'texels by tiles, shifts': '按小块的纹素，移位',
    'CUDA, the stride a constant': 'CUDA，步长是常量', 'CUDA, the same not unrolled': 'CUDA，同上但不展开', "CUDA, with GLSL's tree": 'CUDA，用 GLSL 的树', 'GLSL, sums by subgroups in the place of the tree': 'GLSL，用子组求和代替树',
    **{f'{count}, {order}': f'{count}，{name}' for count in (100, 10000, 1000000) for order, name in (('random', '随机'), ('sorted', '已排序'))},
    **{text: HEADINGS[text] for text in ('of the read limit', 'occupancy', 'registers')},
}


# Words of the command, which say them in English: of its applications and specimens, and what came out. figures.md has both languages.
SAID = {
    'right': '正确', 'within bound': '界内', 'right, by luck': '碰巧正确', 'unchecked': '未检查', 'dot': '点积', 'maximum': '最大值', 'mean': '平均值', 'norm2': '范数',
    'product': '乘积', 'affine composition': '仿射映射的复合', 'library': '库', 'library, custom': '库，自定义', 'one launch': '一次启动', 'one launch, in order': '一次启动，按次序',
    'thrust::reduce, maximum': 'thrust::reduce，最大值', 'thrust::transform_reduce, a functor': 'thrust::transform_reduce，函子', 'maximum, thrust (GPU)': '最大值，Thrust（GPU）',
    'allocates, waits, and returns to the host': '分配内存，等待，回到主机', 'scratch memory allocated before': '临时内存事先分配好', 'the bits that the CPU gives': '与 CPU 的位相同',
    'correctly rounded: what the others are judged by': '正确舍入：别的以它为准', 'the same bits on every machine: what the others are judged by': '在每台机器上位都相同：别的以它为准',
    'associative, not commutative: any tree that keeps the order': '满足结合律，不可交换：凡保持次序的树都行', 'three functions of C, in a tree that keeps the order': '三个 C 函数，在保持次序的树里',
    'no synchronisation': '没有同步', 'volatile': '`volatile`', 'repair: __syncwarp': '修正：`__syncwarp`', 'no i < n': '没有 i < n', 'repair: i < n': '修正：i < n', 'two loads, as many blocks': '两个加载，块数照旧',
    'repair: half the blocks': '修正：块数减半', 'sized for 128 threads': '大小按 128 个线程', 'repair: sized by blockDim': '修正：大小按 `blockDim`', 'full mask, 8 lanes': '全掩码，8 个通道',
    'repair: the whole warp': '修正：整个线程束', 'subgroups of 4': '4 个通道的子组', 'repair: all levels': '修正：所有的层', 'second run': '第二次运行', 'repair: cleared': '修正：清零', 'atomicMax on bits': '对位用 `atomicMax`',
    'repair: ordered bits': '修正：排好序的位', 'from -FLT_MAX': '从 -FLT_MAX 起', 'repair: from -infinity': '修正：从 -∞ 起', 'from an array': '数组', 'texels by rows': '按行的纹素', 'texels by tiles': '按小块的纹素',
    'window in f64': 'f64 的窗口', 'window in 32-bit integers': '32 位整数的窗口', 'no window: integers': '没有窗口：整数',
}

# The same where a number is in them.
SAID_WITH = [
    (r'(right|within bound), ([\d.e+-]+) ulp', lambda found: f'{SAID[found[1]]}，{found[2]} ulp'), (r'\*\*wrong\*\*: (.+), not (.+)', r'**错误**：\1，应为 \2'),
    (r'(\d+) threads', r'\1 个线程'), (r'(\d+) threads, against n', r'\1 个线程，与 n 比较'), (r'repair: rounded up, (\d+)', r'修正：向上取整，\1'), (r'tree, blocks of (\d+)', r'树，块的大小 \1'),
    (r'(\d+) here, (\d+) in order: not associative, so there is no right answer', r'这里是 \1，按次序是 \2：不满足结合律，所以没有正确答案'), (r'(`[a-z-]+`) to (`[a-z-]+`)', r'\1 到 \2'),
]


def words(text):
    """What a cell says, or one of the parts that semicolons separate."""
    if known := CELLS.get(text) or SAID.get(text):
        return known
    if '; ' in text:
        return '；'.join(words(part) for part in text.split('; '))
    for pattern, put in SAID_WITH:
        if re.fullmatch(pattern, text):
            return re.sub(pattern, put, text)
    return text


def body(cell):
    """A cell below the heading, with the blanks around it."""
    text = cell.strip()
    return cell.replace(text, words(text)) if text else cell


def machine(named):
    """A device with what is said of it."""
    for english, put in ((r', compute capability (\S+?), (\d+) multiprocessors', r'，计算能力 \1，\2 个多处理器'), (r'; driver (?:(\S+), )?for CUDA (\S+)', r'；驱动程序 \1 支持到 CUDA \2'),
                         (r'; date ', '；日期 ')):
        named = re.sub(english, put, named).replace('程序  支', '程序支')
    return named


def unsteady(named):
    """Rows named in a sentence: what, type, how, where, and the spread in brackets."""
    rows = (re.fullmatch(r'(.+?) \(([\d.]+%)\)', row) for row in named.split('; '))
    return '；'.join('，'.join(SAID.get(part, part) for part in row[1].split(', ')) + f'（{row[2]}）' for row in rows)


def heading(cell):
    text = cell.strip()
    for pattern, put in ((r'GB/s at (.+)', r'\1 时的 GB/s'), (r'(\w+), GB/s at (.+)', r'\1，\2 时的 GB/s'),
                         (r'([\w -]+), of the read limit', r'\1，占读取极限'), (r'of the read limit, (\d+)', r'占读取极限，\1'), (r'([\w -]+), (\d+ [KMG]i)', r'\1，\2')):
        if re.fullmatch(pattern, text):
            return re.sub(pattern, put, text)
    return HEADINGS.get(text, text)


def translate(text):
    """A block of results in Chinese."""
    lines = text.split('\n')
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and line.startswith('|') and re.match(r'\|[-:|]+\|$', lines[i + 1]):
            lines[i] = '| ' + ' | '.join(heading(cell) for cell in line.strip('|').split('|')) + ' |'
        elif line.startswith('|'):
            lines[i] = '|'.join(body(cell) for cell in line.split('|'))
        else:
            for pattern, put in SENTENCES:
                if re.fullmatch(pattern, line):
                    lines[i] = re.sub(pattern, put, line)
                    break
    return '\n'.join(lines).replace('![Bandwidth by rung](ladder/', '![各级的带宽](../ladder/')
