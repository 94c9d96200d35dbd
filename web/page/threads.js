/* Threads that are played: an interpreter of the WGSL that rungs are written in, which steps the threads of a workgroup one at a
 * time, in any order, and watches every access. Two threads that touch the same word without a barrier between them, one of
 * them writing, are a race, whether or not it did harm.
 *
 * What it knows: one entry point and functions; arrays in var<workgroup>; let, var, if, for, while, assignments; barriers; and
 * what ladder/wgsl/rung.wgsl offers: me.tid, size, shape, input, load(), group(), groups(), deliver(). Numbers are
 * JavaScript's: whole ones do not wrap, sums of fractions are not rounded, and a division drops the fraction. What is not known is an
 * error with its line. */

export class ProgramError extends Error {
    constructor(line, message) {
        super(`line ${line}: ${message}`);
        this.line = line;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

const TOKEN =
    /(\s+|\/\/[^\n]*)|([A-Za-z_]\w*)|(0[xX][\da-fA-F]+(?:\.[\da-fA-F]*)?(?:[pP][-+]?\d+)?|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)[iufh]?|(<<=|>>=|&&|\|\||<<|>>|[-+*/%&|^=<>!]=|\+\+|--|->|[-+*/%&|^~!=<>()[\]{}.,:;@])/y;

function tokens(text) {
    const found = [];
    let line = 1;
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
        const at = TOKEN.lastIndex;
        const match = TOKEN.exec(text);
        if (!match) throw new ProgramError(line, `'${text[at]}' is nothing that can stand here`);
        const [whole, space, name, digits, sign] = match;
        if (!space)
            found.push({ line, text: name ?? digits ?? sign, name: Boolean(name), digits: digits !== undefined });
        line += whole.split('\n').length - 1;
    }
    found.push({ line, text: 'the end of the text', end: true });
    return found;
}

/* The value of digits; of those of a float, as an f32 holds it. */
function numberOf(text, line) {
    const [, whole, part = '', exponent] = text.match(/^0x([\da-f]+)\.?([\da-f]*)(?:p(.*))?$/i) ?? [];
    const value =
        whole === undefined
            ? Number(text)
            : parseInt(whole + part, 16) * 2 ** (Number(exponent ?? 0) - 4 * part.length);
    const isFloat = text.includes('.') || exponent !== undefined || (whole === undefined && /e/i.test(text));
    if (isFloat && !Number.isFinite(Math.fround(value)))
        throw new ProgramError(line, `${text} is more than an f32 holds`);
    return isFloat ? Math.fround(value) : value;
}

/* From loosest to tightest. */
const PRECEDENCE = [
    ['||'],
    ['&&'],
    ['|'],
    ['^'],
    ['&'],
    ['==', '!='],
    ['<', '>', '<=', '>='],
    ['<<', '>>'],
    ['+', '-'],
    ['*', '/', '%'],
];
const ASSIGNMENTS = ['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='];

class Parser {
    constructor(text) {
        Object.assign(this, { tokens: tokens(text), at: 0 });
    }

    get token() {
        return this.tokens[this.at];
    }

    is(text) {
        return !this.token.end && this.token.text === text;
    }

    take(text) {
        if (!this.is(text)) return false;
        this.at++;
        return true;
    }

    need(text) {
        if (!this.take(text)) throw new ProgramError(this.token.line, `expected '${text}', found '${this.token.text}'`);
    }

    name() {
        if (!this.token.name) throw new ProgramError(this.token.line, `expected a name, found '${this.token.text}'`);
        return this.tokens[this.at++].text;
    }

    /* A type, which the player does not look at: u32, array<number, size>. */
    type() {
        this.name();
        if (!this.take('<')) return;
        for (let open = 1; open > 0; this.at++) {
            if (this.token.end) throw new ProgramError(this.token.line, "expected '>'");
            open += this.is('<') ? 1 : this.is('>') ? -1 : 0;
        }
    }

    module() {
        const made = { arrays: [], functions: new Map(), entry: null };
        let isEntry = false;
        while (!this.token.end) {
            const { line } = this.token;
            if (this.take('@')) {
                isEntry ||= this.is('compute');
                this.name();
                if (this.is('(')) this.skipParentheses();
            } else if (this.take('fn')) {
                const declared = this.function(line);
                made.functions.set(declared.name, declared);
                if (isEntry) made.entry = declared;
                isEntry = false;
            } else if (this.take('var')) {
                made.arrays.push(this.workgroupArray(line));
            } else {
                throw new ProgramError(line, `expected a function or var<workgroup>, found '${this.token.text}'`);
            }
        }
        if (!made.entry) throw new ProgramError(1, 'expected a function marked @compute');
        return made;
    }

    skipParentheses() {
        this.need('(');
        for (let open = 1; open > 0; this.at++) {
            if (this.token.end) throw new ProgramError(this.token.line, "expected ')'");
            open += this.is('(') ? 1 : this.is(')') ? -1 : 0;
        }
    }

    workgroupArray(line) {
        for (const part of ['<', 'workgroup', '>']) this.need(part);
        const name = this.name();
        for (const part of [':', 'array', '<']) this.need(part);
        this.name();
        this.need(',');
        const size = this.binary(8); /* sums and products: '>' ends it */
        this.need('>');
        this.need(';');
        return { name, size, line };
    }

    function(line) {
        const name = this.name();
        const parameters = [];
        this.need('(');
        while (!this.take(')')) {
            parameters.push(this.name());
            this.need(':');
            this.type();
            if (!this.is(')')) this.need(',');
        }
        if (this.take('->')) this.type();
        return { name, parameters, line, body: this.block() };
    }

    block() {
        const { line } = this.token;
        const statements = [];
        this.need('{');
        while (!this.take('}')) statements.push(this.statement());
        return { kind: 'block', line, statements };
    }

    statement() {
        const { line } = this.token;
        if (this.is('{')) return this.block();
        if (this.take('if')) return this.conditional(line);
        if (this.take('for')) return this.loop(line);
        if (this.take('while')) {
            const condition = this.expression();
            return { kind: 'for', line, condition, body: this.block() };
        }
        if (this.take('return')) {
            const value = this.is(';') ? null : this.expression();
            this.need(';');
            return { kind: 'return', line, value };
        }
        for (const kind of ['break', 'continue'])
            if (this.take(kind)) {
                this.need(';');
                return { kind, line };
            }
        const made = this.simple();
        this.need(';');
        return made;
    }

    conditional(line) {
        const condition = this.expression();
        const then = this.block();
        let otherwise = null;
        if (this.take('else')) {
            const at = this.token.line;
            otherwise = this.take('if') ? this.conditional(at) : this.block();
        }
        return { kind: 'if', line, condition, then, otherwise };
    }

    loop(line) {
        this.need('(');
        const first = this.is(';') ? null : this.simple();
        this.need(';');
        const condition = this.is(';') ? null : this.expression();
        this.need(';');
        const next = this.is(')') ? null : this.simple();
        this.need(')');
        return { kind: 'for', line, first, condition, next, body: this.block() };
    }

    /* A declaration, an assignment or a call. */
    simple() {
        const { line } = this.token;
        for (const word of ['let', 'var', 'const'])
            if (this.take(word)) {
                const name = this.name();
                if (this.take(':')) this.type();
                const value = this.take('=') ? this.expression() : { kind: 'number', value: 0, line };
                return { kind: 'declare', line, name, value, constant: word !== 'var' };
            }
        const target = this.postfix();
        if (target.kind === 'call') return { kind: 'evaluate', line, value: target };
        if (this.take('++') || this.is('--')) {
            const operator = this.take('--') ? '-' : '+';
            return { kind: 'assign', line, target, operator, value: { kind: 'number', value: 1, line } };
        }
        const operator = ASSIGNMENTS.find(sign => this.take(sign));
        if (!operator) throw new ProgramError(line, `expected an assignment, found '${this.token.text}'`);
        return { kind: 'assign', line, target, operator: operator.slice(0, -1), value: this.expression() };
    }

    expression() {
        return this.binary(0);
    }

    binary(level) {
        if (level === PRECEDENCE.length) return this.unary();
        let left = this.binary(level + 1);
        for (;;) {
            const { line } = this.token;
            const operator = PRECEDENCE[level].find(sign => this.take(sign));
            if (!operator) return left;
            left = { kind: 'binary', line, operator, left, right: this.binary(level + 1) };
        }
    }

    unary() {
        const { line } = this.token;
        for (const operator of ['-', '!', '~'])
            if (this.take(operator)) return { kind: 'unary', line, operator, value: this.unary() };
        return this.postfix();
    }

    postfix() {
        let made = this.primary();
        for (;;) {
            const { line } = this.token;
            if (this.take('[')) {
                made = { kind: 'index', line, of: made, at: this.expression() };
                this.need(']');
            } else if (this.take('.')) {
                made = { kind: 'member', line, of: made, name: this.name() };
            } else {
                return made;
            }
        }
    }

    primary() {
        const { line, text, name, digits } = this.token;
        if (this.take('(')) {
            const made = this.expression();
            this.need(')');
            return made;
        }
        if (digits) {
            this.at++;
            return { kind: 'number', line, value: numberOf(text, line) };
        }
        if (!name) throw new ProgramError(line, `expected a number or a name, found '${text}'`);
        this.at++;
        if (text === 'true' || text === 'false') return { kind: 'number', line, value: text === 'true' };
        if (!this.take('(')) return { kind: 'name', line, name: text };
        const given = [];
        while (!this.take(')')) {
            given.push(this.expression());
            if (!this.is(')')) this.need(',');
        }
        return { kind: 'call', line, name: text, given };
    }
}

/* What lines at the start of a text say: '// Threads: 12', '// Elements per thread: 2'. */
function settingsOf(text) {
    const said = name => text.match(new RegExp(`^// ${name}: *(\\S+)`, 'm'))?.[1];
    const elements = said('Elements per thread');
    return {
        threads: Math.min(64, Math.max(1, Number(said('Threads')) || 16)),
        elements: elements === 'grid' ? 'grid' : Math.max(1, Number(elements) || 1),
        task: { maximum: 'maximum', rows: 'rows' }[said('Task')] ?? 'sum',
        fewerBarriers: said('Barriers') === 'fewer',
    };
}

export function parse(text) {
    return { ...new Parser(text).module(), settings: settingsOf(text) };
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Playing
 * ------------------------------------------------------------------------------------------------------------------ */

const OPERATORS = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => Math.trunc(a / b),
    '%': (a, b) => a % b,
    '&': (a, b) => (a & b) >>> 0,
    '|': (a, b) => (a | b) >>> 0,
    '^': (a, b) => (a ^ b) >>> 0,
    '<<': (a, b) => a * 2 ** b,
    '>>': (a, b) => Math.floor(a / 2 ** b),
    '==': (a, b) => a === b,
    '!=': (a, b) => a !== b,
    '<': (a, b) => a < b,
    '>': (a, b) => a > b,
    '<=': (a, b) => a <= b,
    '>=': (a, b) => a >= b,
};

const FUNCTIONS = {
    number: x => x,
    u32: x => Math.trunc(x),
    i32: x => Math.trunc(x),
    f32: x => Math.fround(x),
    min: Math.min,
    max: Math.max,
    abs: Math.abs,
    select: (no, yes, which) => (which ? yes : no),
};

const BARRIERS = ['workgroupBarrier', 'storageBarrier'];

class Scope {
    constructor(outer = null) {
        Object.assign(this, { outer, values: new Map() });
    }

    find(name) {
        return this.values.has(name) ? this : (this.outer?.find(name) ?? null);
    }
}

class Return {
    constructor(value) {
        this.value = value;
    }
}

/* A thread: a generator that stops before every simple statement and between what an assignment reads and what it writes. */
class Thread {
    constructor(workgroup, tid) {
        Object.assign(this, { workgroup, tid, state: 'ready', line: workgroup.program.entry.line });
        this.accesses = []; /* of the last step */
        this.runs = this.call(workgroup.program.entry, [{ tid }], workgroup.program.entry.line);
    }

    /* As far as the next stop. */
    step() {
        if (this.state !== 'ready') return;
        this.accesses = [];
        const { done, value } = this.runs.next();
        if (done) this.state = 'ended';
        else if (value.barrier) this.state = 'barrier';
        if (value?.line) this.line = value.line;
    }

    *call(called, given, line) {
        if (given.length !== called.parameters.length)
            throw new ProgramError(
                line,
                `${called.name} takes ${called.parameters.length} values, found ${given.length}`,
            );
        const scope = new Scope();
        called.parameters.forEach((name, i) => scope.values.set(name, { value: given[i] }));
        const ended = yield* this.execute(called.body, scope);
        return ended instanceof Return ? ended.value : 0;
    }

    *execute(statement, scope) {
        const { kind, line } = statement;
        switch (kind) {
            case 'block': {
                const inner = new Scope(scope);
                for (const each of statement.statements) {
                    const ended = yield* this.execute(each, inner);
                    if (ended) return ended;
                }
                return null;
            }
            case 'if':
                yield { line };
                if (yield* this.evaluate(statement.condition, scope)) return yield* this.execute(statement.then, scope);
                return statement.otherwise ? yield* this.execute(statement.otherwise, scope) : null;
            case 'for':
                return yield* this.loop(statement, scope);
            case 'return':
                yield { line };
                return new Return(statement.value ? yield* this.evaluate(statement.value, scope) : 0);
            case 'break':
            case 'continue':
                return kind;
            case 'declare':
                yield { line };
                scope.values.set(statement.name, {
                    value: yield* this.evaluate(statement.value, scope),
                    constant: statement.constant,
                });
                return null;
            case 'assign':
                yield { line };
                yield* this.assign(statement, scope);
                return null;
            default:
                if (!BARRIERS.includes(statement.value.name)) yield { line };
                yield* this.evaluate(statement.value, scope);
                return null;
        }
    }

    *loop({ line, first, condition, next, body }, outer) {
        const scope = new Scope(outer);
        if (first) yield* this.execute(first, scope);
        for (;;) {
            yield { line };
            this.workgroup.countTurn(line);
            if (condition && !(yield* this.evaluate(condition, scope))) return null;
            const ended = yield* this.execute(body, scope);
            if (ended instanceof Return) return ended;
            if (ended === 'break') return null;
            if (next) yield* this.execute(next, scope);
        }
    }

    *assign({ line, target, operator, value }, scope) {
        const place = yield* this.place(target, scope);
        let result = yield* this.evaluate(value, scope);
        if (operator) result = this.combine(operator, place.read(), result, line);
        if (place.isShared) yield { line }; /* others may come between */
        place.write(result);
    }

    /* What can be assigned to: a variable, or an element of shared memory. */
    *place(target, scope) {
        const { line } = target;
        if (target.kind === 'name') {
            const variable = scope.find(target.name)?.values.get(target.name);
            if (!variable) throw new ProgramError(line, `'${target.name}' is not declared here`);
            if (variable.constant) throw new ProgramError(line, `'${target.name}' is a constant: declare it with var`);
            return { read: () => variable.value, write: result => (variable.value = result) };
        }
        if (target.kind !== 'index' || target.of.kind !== 'name')
            throw new ProgramError(line, 'nothing can be assigned to this');
        const { name } = target.of;
        const at = yield* this.evaluate(target.at, scope);
        if (name === 'input') throw new ProgramError(line, 'the input can only be read');
        return {
            isShared: true,
            read: () => this.workgroup.access(this, name, at, line),
            write: result => this.workgroup.access(this, name, at, line, result),
        };
    }

    combine(operator, a, b, line) {
        if ((operator === '/' || operator === '%') && b === 0) throw new ProgramError(line, 'a division by 0');
        return OPERATORS[operator](a, b);
    }

    *evaluate(expression, scope) {
        const { kind, line } = expression;
        switch (kind) {
            case 'number':
                return expression.value;
            case 'name':
                return this.value(expression, scope);
            case 'member': {
                const of = yield* this.evaluate(expression.of, scope);
                if (!Object.hasOwn(Object(of), expression.name))
                    throw new ProgramError(line, `there is no '${expression.name}' in it`);
                return of[expression.name];
            }
            case 'index': {
                if (expression.of.kind !== 'name') throw new ProgramError(line, 'only arrays have elements');
                const at = yield* this.evaluate(expression.at, scope);
                return this.workgroup.access(this, expression.of.name, at, line);
            }
            case 'unary': {
                const value = yield* this.evaluate(expression.value, scope);
                return { '-': -value, '!': !value, '~': ~value >>> 0 }[expression.operator];
            }
            case 'binary': {
                const left = yield* this.evaluate(expression.left, scope);
                if (expression.operator === '&&' && !left) return false;
                if (expression.operator === '||' && left) return true;
                const right = yield* this.evaluate(expression.right, scope);
                return expression.operator in OPERATORS ? this.combine(expression.operator, left, right, line) : right;
            }
            default:
                return yield* this.evaluateCall(expression, scope);
        }
    }

    value({ name, line }, scope) {
        const variable = scope.find(name)?.values.get(name);
        if (variable) return variable.value;
        if (name === 'size') return this.workgroup.size;
        if (name === 'shape') return this.workgroup.shape;
        throw new ProgramError(line, `'${name}' is not declared here`);
    }

    *evaluateCall({ name, given, line }, scope) {
        const { workgroup } = this;
        if (BARRIERS.includes(name)) {
            yield { line, barrier: true };
            return 0;
        }
        const values = [];
        for (const each of given) values.push(yield* this.evaluate(each, scope));
        const own = workgroup.program.functions.get(name);
        if (own) return yield* this.call(own, values, line);
        if (name === 'load')
            return values[0] < workgroup.shape.n ? workgroup.access(this, 'input', values[0], line) : 0;
        if (name === 'group') return workgroup.group;
        if (name === 'groups') return workgroup.groups;
        if (name === 'deliver') {
            if (this.tid === 0) workgroup.delivered = values[0];
            return 0;
        }
        if (Object.hasOwn(FUNCTIONS, name)) return FUNCTIONS[name](...values);
        throw new ProgramError(line, `'${name}' is not known to the player`);
    }
}

/* More turns of loops than this, in one workgroup, are taken for a loop without an end. */
const MOST_TURNS = 200_000;

export class Workgroup {
    constructor(program, { size, group = 0, groups = 1, input, shape }) {
        Object.assign(this, { program, size, group, groups, input, shape, turns: 0, barriers: 0 });
        Object.assign(this, { delivered: undefined, races: [], touched: new Map(), memory: new Map() });
        for (const { name, size: elements, line } of program.arrays) {
            const count = constant(elements, size);
            if (!(count > 0 && count <= 65536)) throw new ProgramError(line, `an array of ${count} elements`);
            this.memory.set(name, new Array(count).fill(0));
        }
        this.threads = Array.from({ length: size }, (_, tid) => new Thread(this, tid));
    }

    get ended() {
        return this.threads.every(({ state }) => state === 'ended');
    }

    countTurn(line) {
        if (++this.turns > MOST_TURNS) throw new ProgramError(line, 'this loop does not end');
    }

    /* One access to an array: read, or written where there is a value. */
    access(thread, name, at, line, value) {
        const array = name === 'input' ? this.input : this.memory.get(name);
        if (!array) throw new ProgramError(line, `there is no array '${name}'`);
        if (!Number.isInteger(at) || at < 0 || at >= array.length) {
            const does = value === undefined ? 'reads' : 'writes';
            throw new ProgramError(
                line,
                `thread ${thread.tid} ${does} ${name}[${at}], which has ${array.length} element${array.length === 1 ? '' : 's'}`,
            );
        }
        if (name !== 'input') {
            thread.accesses.push({ name, at, write: value !== undefined });
            this.watch(thread, name, at, line, value !== undefined);
        }
        if (value !== undefined) array[at] = value;
        return array[at];
    }

    /* Since the last barrier: who has touched the word, and how. */
    watch(thread, name, at, line, write) {
        const key = `${name}[${at}]`;
        const before = this.touched.get(key) ?? [];
        const other = before.find(touch => touch.tid !== thread.tid && (touch.write || write));
        if (other && !this.races.some(race => race.key === key && race.line === line))
            this.races.push({ key, name, at, line, write, tid: thread.tid, other });
        if (!before.some(touch => touch.tid === thread.tid && touch.write === write))
            this.touched.set(key, [...before, { tid: thread.tid, write, line }]);
    }

    step(tid) {
        this.threads[tid].step();
        this.meet();
    }

    /* At a barrier all threads meet; who has ended never comes. */
    meet() {
        const waiting = this.threads.filter(({ state }) => state === 'barrier');
        if (!waiting.length || this.threads.some(({ state }) => state === 'ready')) return;
        const [{ line, tid }] = waiting;
        const elsewhere = waiting.find(other => other.line !== line);
        const ended = this.threads.find(({ state }) => state === 'ended');
        if (elsewhere)
            throw new ProgramError(
                line,
                `thread ${tid} waits here, and thread ${elsewhere.tid} at another barrier, in line ${elsewhere.line}`,
            );
        if (ended) throw new ProgramError(line, `thread ${tid} waits here for thread ${ended.tid}, which has ended`);
        this.barriers++;
        this.touched.clear();
        for (const thread of waiting) thread.state = 'ready';
    }
}

/* An array's size: size, a number, or arithmetic of these. */
function constant(expression, size) {
    if (expression.kind === 'number') return expression.value;
    if (expression.kind === 'name' && expression.name === 'size') return size;
    if (expression.kind !== 'binary')
        throw new ProgramError(expression.line, 'the size of an array must be a constant');
    return OPERATORS[expression.operator](constant(expression.left, size), constant(expression.right, size));
}

/* A race as a sentence. */
export function raceText({ key, line, write, tid, other }) {
    const verb = wrote => (wrote ? 'writes' : 'reads');
    return (
        `Race: thread ${tid} ${verb(write)} ${key} in line ${line}, which thread ${other.tid} ` +
        `${other.write ? 'writes' : 'reads'} in line ${other.line}; no barrier stands between the two.`
    );
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Judging
 * ------------------------------------------------------------------------------------------------------------------ */

/* The same draws every time (mulberry32). */
export function draws(seed) {
    let state = seed >>> 0;
    return below => {
        state = (state + 0x6d2b79f5) >>> 0;
        let z = Math.imul(state ^ (state >>> 15), state | 1);
        z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
        return ((z ^ (z >>> 14)) >>> 0) % below;
    };
}

/* Groups of a fixed grid. */
const GRID = 2;

function groupsFor(program, n, size) {
    const { elements, task } = program.settings;
    const wanted = Math.max(1, Math.ceil(n / ((elements === 'grid' ? 1 : elements) * size)));
    return task === 'rows' ? null : elements === 'grid' ? Math.min(GRID, wanted) : wanted;
}

/* A launch: every workgroup to its end, threads in an order that is drawn. Now and then one thread runs on for a while. */
function launch(program, { input, shape, groups, draw, found }) {
    const size = program.settings.threads;
    const results = [];
    for (let group = 0; group < groups; group++) {
        const workgroup = new Workgroup(program, { size, group, groups, input, shape });
        while (!workgroup.ended) {
            const ready = workgroup.threads.filter(({ state }) => state === 'ready');
            const { tid } = ready[draw(ready.length)];
            for (let steps = 1 + draw(6); steps > 0 && workgroup.threads[tid].state === 'ready'; steps--)
                workgroup.step(tid);
        }
        found.barriers += workgroup.barriers;
        found.race ??= workgroup.races[0];
        results.push(workgroup.delivered);
    }
    return results;
}

/* The same kernel on its own results until one is left. */
function reduceAll(program, numbers, draw, found) {
    let input = numbers;
    for (;;) {
        const groups =
            input === numbers || program.settings.elements !== 'grid'
                ? groupsFor(program, input.length, program.settings.threads)
                : 1;
        const results = launch(program, { input, shape: { n: input.length }, groups, draw, found });
        if (groups === 1) return results;
        input = results;
    }
}

const SIZES = [1, 2, 3, 15, 16, 17, 31, 33, 64, 100, 257];
const MATRICES = [
    [1, 1],
    [3, 1],
    [1, 3],
    [2, 16],
    [5, 17],
    [3, 40],
    [4, 64],
];

/* What arrays are made of. An i32 holds every sum of the whole numbers, an f32 every sum of the fractions, so that the order of
 * additions does not matter; f32 does not hold all those of large numbers. Whatever stands in for a number that is not there must not
 * be larger than any: -infinity is smaller than -FLT_MAX, the lowest that is finite. */
const FLT_MAX = 2 ** 128 - 2 ** 104;
const FOR_SUMS = [
    { what: 'whole numbers', number: draw => draw(100) - 50 },
    { what: 'large whole numbers', number: draw => draw(2 ** 22) - 2 ** 21 },
    { what: 'fractions', number: draw => (draw(800) - 400) / 8 },
];
const FOR_MAXIMA = [
    { what: 'whole numbers', number: draw => draw(100) - 50 },
    { what: 'negative numbers alone', number: draw => -1 - draw(1000) },
    { what: 'nothing but -FLT_MAX', number: () => -FLT_MAX },
    { what: 'nothing but -infinity', number: () => -Infinity },
];

function cases(task) {
    const shapes =
        task === 'rows'
            ? MATRICES.map(([rows, columns]) => ({ rows, columns, n: rows * columns }))
            : SIZES.map(n => ({ n }));
    const kinds = task === 'maximum' ? FOR_MAXIMA : FOR_SUMS;
    return shapes.flatMap(shape => kinds.map(kind => ({ ...shape, ...kind })));
}

const total = numbers => numbers.reduce((a, b) => a + b, 0);

function expected(task, numbers, { rows, columns }) {
    if (task === 'maximum') return [Math.max(...numbers)];
    if (task === 'sum') return [total(numbers)];
    return Array.from({ length: rows }, (_, row) => total(numbers.slice(row * columns, (row + 1) * columns)));
}

function judgeCase(program, one, draw, found) {
    const { task } = program.settings;
    const { n, rows, columns } = one;
    const numbers = Array.from({ length: n }, () => one.number(draw));
    const got =
        task === 'rows'
            ? launch(program, { input: numbers, shape: { n, rows, columns }, groups: rows, draw, found })
            : reduceAll(program, numbers, draw, found);
    const right = expected(task, numbers, one);
    const wrong = right.findIndex((value, i) => value !== got[i]);
    if (wrong < 0) return null;
    const what = task === 'rows' ? `row ${wrong} of ${rows} rows of ${columns}` : `${n} element${n === 1 ? '' : 's'}`;
    return `${what}, ${one.what}: expected ${right[wrong]}, got ${got[wrong] ?? 'nothing'}.`;
}

/* Barriers for each element of an array of this many. */
const BARRIERS_COUNTED = 1024;

function barriersOf(program) {
    const found = { barriers: 0 };
    reduceAll(program, new Array(BARRIERS_COUNTED).fill(1), draws(1), found);
    return found.barriers;
}

/* {verdict: 'right' or 'wrong', message}. start: the text that the exercise began with, which says what is asked. */
export function judge(text, start = text) {
    try {
        const program = parse(text);
        const asked = settingsOf(start);
        program.settings.task = asked.task;
        const draw = draws(7);
        const found = { barriers: 0 };
        for (const one of cases(asked.task))
            for (let again = 0; again < 3; again++) {
                const wrong = judgeCase(program, one, draw, found);
                if (found.race) return { verdict: 'wrong', message: raceText(found.race), line: found.race.line };
                if (wrong) return { verdict: 'wrong', message: wrong };
            }
        return asked.fewerBarriers
            ? judgeBarriers(program, start)
            : {
                  verdict: 'right',
                  message: `${cases(asked.task).length} arrays, three orders of threads each: right, and no races.`,
              };
    } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        return { verdict: 'wrong', message: `${error.message}.`, line: error.line };
    }
}

function judgeBarriers(program, start) {
    const before = barriersOf(parse(start));
    const now = barriersOf(program);
    const words = `${now} barriers for ${BARRIERS_COUNTED} elements; the start has ${before}.`;
    return 2 * now <= before
        ? { verdict: 'right', message: words }
        : { verdict: 'wrong', message: `Right, but ${words} Half of them would do.` };
}
