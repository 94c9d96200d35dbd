/* What the page says while it runs, in Chinese: on zh.html each text that the other modules write is put into Chinese as soon as it
 * is there. Code, names, figures and the words of verdicts in what is copied stay as they are. Ideas of rungs come from
 * docs/zh/rungs.md, by way of lists.js. */
import { IDEAS_ZH } from './lists.js';

export const isChinese = globalThis.document?.documentElement.lang.startsWith('zh') ?? false;

/* Whole texts. */
const PHRASES = {
    /* the device */
    'No WebGPU here.': '这里没有 WebGPU。',
    'The CPU’s ladder runs all the same.': 'CPU 的阶梯照样可以运行。',
    'This browser does not offer WebGPU. Current versions of Chrome, Edge, Safari and Firefox do, on most systems.':
        '这个浏览器不提供 WebGPU。在多数系统上，Chrome、Edge、Safari 和 Firefox 的当前版本都提供。',
    'WebGPU is offered only to pages from https:// or from localhost, and this one is from neither.':
        'WebGPU 只提供给来自 https:// 或 localhost 的网页，而这一页两者都不是。',
    'This browser has WebGPU, but found no GPU that it would use. A driver may be missing or blocked; chrome://gpu or about:support says more.':
        '这个浏览器有 WebGPU，但没有找到它愿意用的 GPU。可能缺少驱动程序，或者它被禁用；chrome://gpu 或 about:support 里有更多信息。',
    'No WebAssembly part.': '没有 WebAssembly 的部分。',
    '(software)': '（软件）',
    /* settings */
    'each rung’s own': '每级自己的',
    'how the workgroups’ sums are added': '各工作组的和怎样相加',
    'f32, both signs, large terms that cancel': 'f32，有正有负，大的项互相抵消',
    'f32, evenly between 0 and 1': 'f32，均匀分布在 0 与 1 之间',
    'i32, between -100 and 100': 'i32，在 -100 与 100 之间',
    'the CPU reads the workgroup sums and adds them': 'CPU 读出各工作组的和，再相加',
    'each workgroup adds its sum to the result': '每个工作组把自己的和加到结果上',
    'one more workgroup adds them': '再用一个工作组把它们加起来',
    'the same kernel, until one value is left': '同一个核函数，直到只剩一个值',
    'the last workgroup to finish adds them': '最后完成的工作组把它们加起来',
    /* a run */
    'waiting for what the stopped run has begun': '等待上次停止的运行已开始的工作',
    'making the numbers': '生成数据',
    'the bits of both': '两边的位',
    done: '完成',
    'a few seconds left': '还要几秒',
    'Stopped before the first rung was done.': '在第一级完成之前停止。',
    'stopped before its turn': '还没轮到就停止了',
    'the run failed before its turn': '还没轮到，运行就失败了',
    'no WebGPU': '没有 WebGPU',
    'the exact kernel is for f32': '精确的核函数只用于 f32',
    'its last rounding needs the WebAssembly part': '它最后的舍入需要 WebAssembly 的部分',
    'for f32 only': '只用于 f32',
    'needs the WebAssembly part': '需要 WebAssembly 的部分',
    /* results */
    Rung: '级',
    Result: '结果',
    'Error, ulp': '误差，ulp',
    Time: '时间',
    '× first': '× 第一级',
    'WebGPU tutorial': 'WebGPU 教程',
    'GPU, WGSL': 'GPU，WGSL',
    'CPU, one thread': 'CPU，一个线程',
    'C library, WebAssembly': 'C 库，WebAssembly',
    'JavaScript loop': 'JavaScript 循环',
    'exact (WebAssembly)': '精确（WebAssembly）',
    'wall clock': '墙上时钟',
    'its own': '它自己的',
    'not run': '未运行',
    right: '正确',
    'within bound': '在界限内',
    lucky: '侥幸',
    unchecked: '未核对',
    wrong: '错误',
    failed: '失败',
    waiting: '等待',
    'same bits': '位相同',
    different: '不同',
    'the bits of the correctly rounded sum': '正确舍入之和的位',
    'not the correctly rounded sum, but within the error that this way of adding promises': '不是正确舍入的和，但在这种加法所承诺的误差之内',
    'the bits that the synchronised version gives, which nothing promises': '与同步的版本给出的位相同，但没有什么保证它',
    'there is nothing to compare it with': '没有可以比较的东西',
    'outside of the error that this way of adding promises': '超出这种加法所承诺的误差',
    'All exact results have the same bits on the GPU and in C.': '所有精确结果在 GPU 上和 C 里的位都相同。',
    'Some exact results differ between the GPU and C: please report this.': '有些精确结果在 GPU 与 C 之间不同：请报告。',
    'What the sum should be, nothing here can tell without the WebAssembly part.': '没有 WebAssembly 的部分，这里无法知道和应该是多少。',
    'Every sum should be': '每个和都应该是',
    'The exact sum is': '精确的和是',
    '; every rung should give the f32 nearest to it,': '；每一级都应该给出离它最近的 f32，',
    'Digits that differ are': '不同的数字',
    marked: '有标记',
    'Every rung: result, error, time, bandwidth, and speed-up over the first rung of its device': '每一级：结果、误差、时间、带宽，以及相对本设备第一级的加速比',
    'Bits of the exact results': '精确结果的位',
    'Copied.': '已复制。',
    'Each result should be the f32 nearest to the exact one. Digits that differ are': '每个结果都应该是离精确结果最近的 f32。不同的数字',
    'Every result is right, or within the error that its way of adding promises.': '每个结果都正确，或在它的加法所承诺的误差之内。',
    'A sum for each row, and in column-tiles for each column: all of them are checked, and of each rung the worst is shown. Digits that differ are':
        '每行一个和，在 column-tiles 里每列一个和：全部核对，每级显示最差的一个。不同的数字',
    'Errors are distances from the exact value, in units in the last place of an f32 (ulp); the correctly rounded sum has half an ulp at most.':
        '误差是与精确值的距离，以 f32 的最后一位为单位（ulp）；正确舍入的和至多差半个 ulp。',
    'Speed-ups on the GPU are over the first rung, each rung with its own finish; the finish second-launch sets like beside like.':
        'GPU 上的倍数是比第一级，每级用自己的收尾；收尾选 second-launch 时才是同类相比。',
    'The tutorial’s times (10 Mi floats) hold everything that its page did around the kernel.':
        '教程的时间（10 Mi 个浮点数）包含它的网页在核函数前后所做的一切。',
    /* the chart */
    'Time, ms': '时间，ms',
    'Times the first rung': '相对第一级的倍数',
    logarithmic: '对数',
    /* rungs */
    finishes: '收尾',
    rows: '行',
    'What the rungs share: who takes a row.': '各级共有的：谁来取一行。',
    'How the workgroups’ sums become one: host, atomic, second-launch, recursive, last-block.':
        '各工作组的和怎样变成一个：host、atomic、second-launch、recursive、last-block。',
    applications: '应用',
    'What they share: the walk, the tree, the second launch.': '它们共有的：遍历、树、第二次启动。',
    'Multiply pairs, and add: the numbers, and the same in reverse.': '成对相乘，再相加：这些数，和倒过来的同样的数。',
    'The larger one of two, from -∞; a NaN wins.': '两个里较大的，从 -∞ 开始；NaN 获胜。',
    'Add, and divide by the number of elements once, at the end.': '相加，最后除以元素个数一次。',
    'The plain sum of an array, beside those of texels.': '数组的普通的和，放在纹素的和旁边。',
    'The same numbers as texels, read row by row.': '同样的数作为纹素，一行接一行地读。',
    'Texels read tile by tile, in squares that a GPU keeps close together.': '按小块读纹素，GPU 把这些方块放在一起。',
    'Diagram of the finishes': '各种收尾的图',
    'Diagram of the ladder of rows': '行的阶梯的图',
    /* step by step */
    Play: '播放',
    Pause: '暂停',
    'the last warp, a mistake': '最后的线程束，一个错误',
    'your kernel, from the editor above': '你的核函数，取自上面的编辑框',
    waits: '等待',
    'workgroup memory': '工作组内存',
    input: '输入',
    'whole numbers': '整数',
    'large whole numbers': '大的整数',
    fractions: '分数',
    'negative numbers alone': '全是负数',
    'nothing but -FLT_MAX': '全是 -FLT_MAX',
    'nothing but -infinity': '全是负无穷',
    'Right.': '正确。',
    'Wrong.': '错误。',
    /* files */
    bits: '位',
    numbers: '数',
    time: '时间',
};

const CLOCK = 'the GPU’s own timestamps around repeated runs';
const WALL = 'wall clock from submission to completion, repeated runs';
const clock = words => ({ [CLOCK]: 'GPU 自己的时间戳，围绕重复的运行', [WALL]: '墙上时钟，从提交到完成，重复运行' })[words] ?? words;

/* Sentences with something in them: a pattern, and the Chinese, a string for String.replace() or a function of the groups. */
const PATTERNS = [
    [/^This browser has WebGPU, but asking it for a GPU failed: (.*)$/, '这个浏览器有 WebGPU，但向它要 GPU 失败了：$1'],
    [/^The GPU refused to open: (.*)$/, 'GPU 拒绝打开：$1'],
    [/^The GPU was lost: (.*)\. Reload the page to try again\.$/, 'GPU 丢失了：$1。请重新载入本页再试。'],
    [/^(.*) is no GPU but a program that plays one on the processor: it is slow, and its times say nothing about GPUs\.$/, '$1 不是 GPU，而是在处理器上扮演 GPU 的程序：它很慢，它的时间说明不了 GPU。'],
    [/^(.*) is slow here\.$/, '$1 在这里很慢。'],
    [/^The page begins with (.*) elements?; more take as much longer\.$/, '本页从 $1 个元素开始；元素更多，时间按比例更长。'],
    [/^up to (\d+) threads per workgroup$/, '每个工作组至多 $1 个线程'],
    [/^(.*) workgroup memory$/, '工作组内存 $1'],
    [/^(.*) per buffer$/, '每个缓冲区 $1'],
    [/^subgroups of (\d+) to (\d+)$/, '子组大小 $1 到 $2'],
    [/^subgroups of (\d+)$/, '子组大小 $1'],
    [/^Clock: no timestamps are offered, so (.*)\.$/, (_, words) => `时钟：没有提供时间戳，所以用${clock(words)}。`],
    [/^Clock: (.*)\.$/, (_, words) => `时钟：${clock(words)}。`],
    [/^WebAssembly's part of the page could not be loaded \((.*)\); `make web` builds it\.$/, '本页的 WebAssembly 部分无法载入（$1）；`make web` 可以构建它。'],
    [/^1 to (.*), such as 1e6 or 4 Mi$/, '1 到 $1，例如 1e6 或 4 Mi'],
    [/^Elements: expected a whole number from 1 to (.*), such as 10 Mi or 1e6; found '(.*)'\.$/, '元素个数：应为 1 到 $1 的整数，例如 10 Mi 或 1e6；实际是“$2”。'],
    [/^Row: expected a whole number of elements from 1 to (.*), as many as there are; found '(.*)'\.$/, '行：应为 1 到 $1 的整数，$1 是元素的个数；实际是“$2”。'],
    [/^(.*), (\d+) of (\d+)(?:, (.*))?$/, (_, what, at, of, left) => [say(what), `第 ${at} 步，共 ${of} 步`, left && say(left)].filter(Boolean).join('，')],
    [/^Numbers: expected f32, of which these reductions are; found '(.*)'\.$/, (_, label) => `数据：这些归约需要 f32；实际是“${say(label)}”。`],
    [/^a texture of (.*) is more than this GPU takes along a side: (\d+)$/, '$1 的纹理超过这个 GPU 每边的上限：$2'],
    [/^(.*) on the (GPU|CPU)$/, (_, what, device) => `${device} 上的 ${say(what)}`],
    [/^about (\d+) s left$/, '大约还要 $1 秒'],
    [/^about (\d+) min left$/, '大约还要 $1 分钟'],
    [/^this GPU's driver or browser does not offer (.*)$/, '这个 GPU 的驱动程序或浏览器不提供 $1'],
    [/^the numbers do not fit on the GPU \((.*)\): choose fewer$/, 'GPU 上放不下这些数（$1）：请选少一些'],
    [/^rows of (\d+) elements do not begin at multiples of 16 bytes$/, '$1 个元素的行不从 16 字节的倍数开始'],
    [/^(.*): line (\d+): (.*)$/s, '$1：第 $2 行：$3'],
    [/^The browser did not allow it: (.*)$/, '浏览器不允许：$1'],
    /* reports */
    [/^(.*) elements? in rows of (\d+) \((.*)\)\.$/, (_, n, columns, kind) => `${n} 个元素，每行 ${columns} 个（${say(kind)}）。`],
    [/^(.*) elements? \((.*)\)\.$/, (_, n, kind) => `${n} 个元素（${say(kind)}）。`],
    [
        /^GPU: (.*); workgroups of (\d+); clock: (.*); (\d+) cop(?:y|ies) of the array in turn\.$/,
        (_, name, size, words, copies) => `GPU：${name}；工作组 ${size} 个线程；时钟：${clock(words)}；轮流用数组的 ${copies} 份拷贝。`,
    ],
    [/^No GPU: (.*)$/, (_, why) => `没有 GPU：${say(why)}`],
    [/^(.*) is the fastest: (.*), (.*) GB\/s, (.*) times the first rung\.$/, (_, name, time, rate, times) => `${say(name)} 最快：${time}，${rate} GB/s，是第一级的 ${times} 倍。`],
    [/^The exact sum takes (.*)\.$/, '精确的和要 $1。'],
    [/^Wrong here: (.*)\.$/, '这里错误的：$1。'],
    [/^(\d+) of (\d+) ordinary sums are not the right one; the exact sum is\.$/, '$2 个普通的和里有 $1 个不正确；精确的和正确。'],
    [/^(\d+) of (\d+) ordinary sums are not the right one, (\d+) of them with no digit left; the exact sum is\.$/, '$2 个普通的和里有 $1 个不正确，其中 $3 个一位都不剩；精确的和正确。'],
    [/^(\d+) of (\d+) ordinary ways give sums that are not the right ones; exact sums are\.$/, '$2 种普通的做法里有 $1 种给出不正确的和；精确的和正确。'],
    [/^(\d+) of (\d+) ordinary ways give sums that are not the right ones, (\d+) of them with no digit left; exact sums are\.$/, '$2 种普通的做法里有 $1 种给出不正确的和，其中 $3 种一位都不剩；精确的和正确。'],
    [/^Runs take (\d+) cop(?:y|ies) of the array in turn, (.*) in all; what fits into a cache is served from there\.$/, '运行轮流用数组的 $1 份拷贝，共 $2；放得进缓存的由缓存提供。'],
    [/^The exact results are by the C library in WebAssembly\.$/, '精确的结果由 WebAssembly 里的 C 库给出。'],
    [/^The exact results are by nothing\.$/, '没有精确的结果可以比较。'],
    [/^The exact sums? (?:is|are) by the C library in WebAssembly\.$/, '精确的和由 WebAssembly 里的 C 库给出。'],
    [/^The exact sums? (?:is|are) by JavaScript(?:, in pairs of f64, which lose no bit here| \(this sum is exact in f64\))\.$/, '精确的和由 JavaScript 给出，在 f64 里没有丢失任何位。'],
    [/^median of (\d+) rounds of (\d+), (.*), clock: (.*)$/, '$1 轮的中位数，每轮 $2 次，$3，时钟：$4'],
    [/^sum (\d+), the worst of (\d+)$/, '第 $1 个和，$2 个里最差的'],
    [/^sum 0 of (\d+)$/, '$1 个里的第 0 个'],
    [/^(.*) of (\d+) rungs; the table below has the same figures$/, (_, what, count) => `${count} 级的${say(what)}；下面的表里是同样的数字`],
    [/^(.*) or less at the edge$/, '边上是 $1 或更小'],
    [/^CPU (.+)$/, (_, name) => `CPU ${say(name)}`],
    /* rungs */
    [/^Source of (.*)$/, '$1 的源代码'],
    [/^The diagram (.*)$/, '图 $1'],
    [/^Diagram of ([a-z-]+): .*$/, (_, id) => `${id} 的图：${IDEAS_ZH[id] ?? ''}`],
    /* exercises and the stepper */
    [/^Race: thread (\d+) (writes|reads) (.*) in line (\d+), which thread (\d+) (writes|reads) in line (\d+); no barrier stands between the two\.$/, (_, tid, does, key, line, other, did, there) => `竞争：线程 ${tid} 在第 ${line} 行${verb(does)} ${key}，线程 ${other} 在第 ${there} 行${verb(did)}它；两者之间没有屏障。`],
    [/^line (\d+): (.*?)\.?$/s, (all, line, what) => `第 ${line} 行：${say(what)}${all.endsWith('.') ? '。' : ''}`],
    [/^thread (\d+) (writes|reads) (.*), which has (\d+) elements?$/, (_, tid, does, what, count) => `线程 ${tid} ${verb(does)} ${what}，它有 ${count} 个元素`],
    [/^thread (\d+) waits here, and thread (\d+) at another barrier, in line (\d+)$/, '线程 $1 在这里等待，线程 $2 在另一道屏障，第 $3 行'],
    [/^thread (\d+) waits here for thread (\d+), which has ended$/, '线程 $1 在这里等待线程 $2，而它已经结束'],
    [/^(\d+) arrays, three orders of threads each: right, and no races\.$/, '$1 个数组，每个用三种线程次序：正确，没有竞争。'],
    [/^(Right, but )?(\d+) barriers for (\d+) elements; the start has (\d+)\.( Half of them would do\.)?$/, (_, but, now, n, before) => `${but ? '正确，但' : ''} ${n} 个元素用了 ${now} 道屏障；开始时是 ${before} 道。${but ? '一半就够了。' : ''}`.trim()],
    [
        /^row (\d+) of (\d+) rows of (\d+), (.*): expected (.*), got (.*)\.$/,
        (_, row, rows, columns, what, right, got) => `${rows} 行、每行 ${columns} 个（${say(what)}），第 ${row} 行：应为 ${right}，得到 ${got}。`,
    ],
    [/^(\d+) elements?, (.*): expected (.*), got (.*)\.$/, (_, n, what, right, got) => `${n} 个元素（${say(what)}）：应为 ${right}，得到 ${got}。`],
    [/^(.*) is more than an f32 holds$/, '$1 超出 f32 的范围'],
    [/^expected '(.*)', found '(.*)'$/, '应为 $1，实际是 $2'],
    [/^expected (?:a name|a number or a name|an assignment|a function .*), found '(.*)'$/, '这里不能是 $1'],
    [/^'(.*)' is not declared here$/, '$1 在这里没有声明'],
    [/^'(.*)' is nothing that can stand here$/, '这里不能是 $1'],
    [/^'(.*)' is a constant: declare it with var$/, '$1 是常量：请用 var 声明'],
    [/^this loop does not end$/, '这个循环不结束'],
    [/^the input can only be read$/, '输入只能读'],
    [/^Thread (\d+), turn (\d+) of (\d+); arrow keys move it$/, '线程 $1，第 $2 个，共 $3 个；用方向键移动'],
    [/^line (\d+)$/, '第 $1 行'],
    [/^warp (\d+): at (\d+) places$/, '线程束 $1：在 $2 处'],
    [/^warp (\d+)$/, '线程束 $1'],
    [/^bank (\d+)$/, '存储体 $1'],
    [/^(\d+) steps, (\d+) barriers passed\.$/, '走了 $1 步，过了 $2 道屏障。'],
    [/^Warp (\d+) asks for (\d+) words of bank (\d+) at once: one after the other\.$/, '线程束 $1 同时要存储体 $3 的 $2 个字：一个接一个。'],
    [/^All threads are done: (.*) was delivered, (.*) is the sum\.$/, '所有线程都完成了：交出的是 $1，和是 $2。'],
    [
        /^(thread \d+ (?:in line \d+|waits|done)(?:, thread \d+ (?:in line \d+|waits|done))*)\.(?: (.*))?$/,
        (_, threads, memory) =>
            `${threads.replace(/thread (\d+) (?:in line (\d+)|(waits)|done)/g, (all, tid, line, waits) => `线程 ${tid} ${line ? `在第 ${line} 行` : waits ? '等待' : '完成'}`).replaceAll(', ', '，')}。${memory ?? ''}`,
    ],
    /* files */
    [/^as (.*)$/, '类型 $1'],
    [/^(.*), read as (.*) from (.*) \((.*), (.*)\)$/, '$1 个，按 $2 从 $3 读入（$4，$5）'],
    [/^(.*) ms, reading included; correctly rounded, once$/, '$1 ms，包括读取；正确舍入，一次'],
    [/^Reading (.*)$/, '正在读 $1'],
];

const verb = word => (word === 'writes' ? '写' : '读');

/* Texts that nothing here knows, for the tests. */
export const missed = new Set();

function translate(text) {
    if (Object.hasOwn(PHRASES, text)) return PHRASES[text];
    for (const [pattern, chinese] of PATTERNS) if (pattern.test(text)) return text.replace(pattern, chinese);
    return null;
}

const isEnglish = text => /[A-Za-z]{2,} [a-z]{2,}/.test(text) && !/[\u4e00-\u9fff]/.test(text);

/* A text in Chinese, where the page is; several sentences one by one; what is not known stays as it is. */
export function say(text) {
    if (!isChinese || !/[A-Za-z]/.test(text)) return text;
    const words = text.trim();
    const sentences = words.split(/(?<=\.)\s+/);
    const each = Object.hasOwn(PHRASES, words) || sentences.length === 1 ? [translate(words)] : sentences.map(translate);
    if (each.every(made => made !== null)) return each.join('');
    const whole = translate(words);
    if (whole !== null) return whole;
    each.forEach((made, i) => made === null && isEnglish(sentences[i]) && missed.add(sentences[i]));
    return each.some(made => made !== null) ? each.map((made, i) => made ?? sentences[i]).join('') : text;
}

/* Where texts are no words of the page. */
const ELSEWHERE = 'pre, code, textarea, figcaption, noscript, [lang="en"], #device-name, .digits, #exercise-text, #hint-list';

function put(node) {
    if (!node.data?.trim() || node.parentElement?.closest(ELSEWHERE)) return;
    const made = say(node.data);
    if (made !== node.data) node.data = made;
}

const ATTRIBUTES = ['aria-label', 'alt', 'title'];

function putAttribute(element, name) {
    const text = element.getAttribute(name);
    if (!text || element.closest('pre, textarea, [lang="en"]')) return;
    const made = say(text);
    if (made !== text) element.setAttribute(name, made);
}

function putAll(node) {
    if (node.nodeType === Node.TEXT_NODE) return put(node);
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    for (const name of ATTRIBUTES) putAttribute(node, name);
    node.childNodes.forEach(putAll);
}

if (isChinese) {
    /* Before anything is painted; what is put here is Chinese, and not changed again. */
    new MutationObserver(records => {
        for (const { type, target, addedNodes, attributeName } of records) {
            if (type === 'childList') addedNodes.forEach(putAll);
            else if (type === 'attributes') putAttribute(target, attributeName);
            else put(target);
        }
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ATTRIBUTES });
}
