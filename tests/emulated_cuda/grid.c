/* Blocks of fibers: see grid.h.
 *
 * Fibers are made once per thread of the host and serve all its launches. They are switched by _setjmp() and _longjmp(),
 * which unlike swapcontext() make no system calls; so this file must not be compiled with _FORTIFY_SOURCE, which takes a
 * jump to another stack for an attack. */
#include "grid.h"

#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/* Stacks are touched as far as they are used. Their tops are moved apart, as caches would otherwise have them all in the
 * same few places. */
enum { STACK = 256 << 10, GUARD = 4096, COLOUR = 576, COLOURS = 64 };

enum { WARPS_MOST = EMULATED_THREADS_MOST / EMULATED_WARP };
#define ALL_LANES UINT32_C(0xffffffff)

struct fiber {
    struct emulated_thread self;
    jmp_buf at;
    struct emulated_place waits; /* at no place: `what` is null */
};

/* The lanes that are alive, that could go on, that wait for the others; one bit each. Meetings take turns in two arrays:
 * a lane comes to the one after next only when all have left this one. */
struct warp {
    uint32_t alive, ready, waiting;
    unsigned meetings, turn; /* turn: the order in which lanes go on */
    struct emulated_place place;
    uint64_t values[2][EMULATED_WARP];
};

struct machine {
    const struct emulated_grid *grid;
    struct fiber fiber[EMULATED_THREADS_MOST];
    struct warp warp[WARPS_MOST];
    unsigned made, warps, running, favoured; /* fibers; warps of the block; the fiber that runs; a warp */
    unsigned alive, waiting;                 /* threads; those at the barrier */
    struct emulated_place barrier;
    uint32_t chance; /* never 0 */
    jmp_buf home;
    unsigned char *stacks;
};

static __thread struct machine *machine;
static __thread uint32_t launches;
__thread const struct emulated_thread *emulated_self;

/* xorshift32: G. Marsaglia, "Xorshift RNGs", 2003. */
static uint32_t draw(void) {
    uint32_t x = machine->chance;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return machine->chance = x;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------------------------------------------------ */

static void print_place(const struct emulated_place *place) {
    fprintf(stderr, "%s (%s:%d)", place->what, place->file, place->line);
}

static bool same_text(const char *a, const char *b) {
    return a == b || strcmp(a, b) == 0;
}

static bool same_place(const struct emulated_place *a, const struct emulated_place *b) {
    return a->line == b->line && same_text(a->what, b->what) && same_text(a->file, b->file);
}

static void print_thread(const struct emulated_thread *self) {
    fprintf(stderr, "thread %u of block %u of %u: ", self->thread.x, self->block.x, self->blocks.x);
}

void emulated_fail(struct emulated_place place, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "emulated CUDA: ");
    print_thread(emulated_self);
    print_place(&place);
    fprintf(stderr, ": ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    abort();
}

/* Every place where threads wait, how many do, and the first of them. */
static _Noreturn void fail_deadlock(void) {
    const unsigned threads = machine->grid->threads;
    fprintf(stderr, "emulated CUDA: deadlock in block %u of %u:", machine->fiber[0].self.block.x,
            machine->fiber[0].self.blocks.x);
    unsigned ended = threads;
    for (unsigned i = 0; i < threads; i++) {
        const struct emulated_place *place = &machine->fiber[i].waits;
        unsigned first = 0, same = 0;
        if (!place->what)
            continue;
        ended--;
        while (!machine->fiber[first].waits.what || !same_place(place, &machine->fiber[first].waits))
            first++;
        if (first < i)
            continue;
        for (unsigned j = i; j < threads; j++)
            same += machine->fiber[j].waits.what && same_place(place, &machine->fiber[j].waits);
        fprintf(stderr, "\n  %u wait at ", same);
        print_place(place);
        fprintf(stderr, ", the first is thread %u", i);
    }
    fprintf(stderr, "\n  %u have ended\n", ended);
    abort();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Whose turn it is
 * ------------------------------------------------------------------------------------------------------------------ */

/* One of the lanes in `ready`: the first from some lane on, upwards or downwards. */
static unsigned pick_lane(uint32_t ready, unsigned turn) {
    const unsigned start = turn & 31, back = -start & 31;
    const uint32_t turned = ready >> start | ready << back;
    const unsigned lane = turn & 32 ? 31 - (unsigned)__builtin_clz(turned) : (unsigned)__builtin_ctz(turned);
    return (lane + start) & 31;
}

/* The fiber that goes on. A warp does so as long as it can, mostly. */
static struct fiber *pick(void) {
    unsigned w = machine->favoured;
    if (!machine->warp[w].ready || draw() % 16 == 0) {
        const unsigned chance = draw(), step = chance & 1 ? 1 : machine->warps - 1;
        w = (chance >> 1) % machine->warps;
        for (unsigned i = 1; i < machine->warps && !machine->warp[w].ready; i++)
            w = (w + step) % machine->warps;
    }
    struct warp *warp = &machine->warp[w];
    if (!warp->ready)
        fail_deadlock();
    const unsigned lane = pick_lane(warp->ready, warp->turn);
    warp->ready &= ~((uint32_t)1 << lane);
    machine->favoured = w;
    machine->running = EMULATED_WARP * w + lane;
    emulated_self = &machine->fiber[machine->running].self;
    return &machine->fiber[machine->running];
}

/* Another fiber goes on, or this one if it may and its turn comes. */
static void switch_away(void) {
    struct fiber *from = &machine->fiber[machine->running], *to = pick();
    if (from != to && !_setjmp(from->at))
        _longjmp(to->at, 1);
}

static void let_go_on(unsigned thread) {
    machine->warp[thread / EMULATED_WARP].ready |= (uint32_t)1 << thread % EMULATED_WARP;
}

void emulated_give_way(void) {
    if (draw() % 16)
        return;
    let_go_on(machine->running);
    switch_away();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Barriers and meetings
 * ------------------------------------------------------------------------------------------------------------------ */

/* All of the block have come. */
static void open_barrier(void) {
    for (unsigned w = 0; w < machine->warps; w++) {
        machine->warp[w].ready = machine->warp[w].alive;
        machine->warp[w].turn = draw();
    }
    machine->favoured = draw() % machine->warps;
    machine->waiting = 0;
}

void emulated_barrier(struct emulated_place place) {
    struct fiber *own = &machine->fiber[machine->running];
    if (machine->waiting == 0)
        machine->barrier = place;
    else if (!same_place(&place, &machine->barrier))
        emulated_fail(place, "other threads of the block are at %s:%d", machine->barrier.file, machine->barrier.line);
    own->waits = place;
    if (++machine->waiting == machine->alive)
        open_barrier();
    switch_away();
    own->waits.what = NULL;
}

const uint64_t *emulated_meet(struct emulated_place place, unsigned mask, uint64_t value, emulated_combine *combine) {
    struct fiber *own = &machine->fiber[machine->running];
    struct warp *warp = &machine->warp[machine->running / EMULATED_WARP];
    const unsigned lane = machine->running % EMULATED_WARP;
    uint64_t *values = warp->values[warp->meetings & 1];
    if (mask != ALL_LANES)
        emulated_fail(place, "the mask is %#x; all lanes of a warp must meet here", mask);
    if (warp->alive != ALL_LANES)
        emulated_fail(place, "lanes %#x of the warp have ended", ~warp->alive);
    if (!warp->waiting)
        warp->place = place;
    else if (!same_place(&place, &warp->place))
        emulated_fail(place, "other lanes of the warp are at %s (%s:%d)", warp->place.what, warp->place.file,
                      warp->place.line);
    values[lane] = value;
    warp->waiting |= (uint32_t)1 << lane;
    own->waits = place;
    if (warp->waiting == ALL_LANES) {
        if (combine)
            combine(values);
        warp->meetings++;
        warp->waiting = 0;
        warp->ready = ALL_LANES;
        warp->turn = draw();
    }
    switch_away();
    own->waits.what = NULL;
    return values;
}

/* The running fiber's thread has ended; the rest of the block may have waited for just that. Returns at the start of the
 * next block. */
static void end_thread(void) {
    struct fiber *own = &machine->fiber[machine->running];
    struct warp *warp = &machine->warp[machine->running / EMULATED_WARP];
    warp->alive &= ~((uint32_t)1 << machine->running % EMULATED_WARP);
    if (warp->waiting)
        emulated_fail(warp->place, "lanes of the warp wait for thread %u, which has ended", own->self.thread.x);
    if (--machine->alive && machine->waiting == machine->alive)
        open_barrier();
    if (!_setjmp(own->at))
        _longjmp(machine->alive ? pick()->at : machine->home, 1);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Fibers and blocks
 * ------------------------------------------------------------------------------------------------------------------ */

static void be_fiber(void) {
    if (!_setjmp(machine->fiber[machine->running].at))
        _longjmp(machine->home, 1);
    for (;;) {
        machine->grid->body(machine->grid->argument);
        end_thread();
    }
}

static void make_fiber(unsigned thread) {
    unsigned char *stack = machine->stacks + (size_t)thread * STACK;
    ucontext_t context;
    if (mprotect(stack, GUARD, PROT_NONE) != 0 || getcontext(&context) != 0) {
        perror("emulated CUDA: a stack");
        abort();
    }
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = STACK - thread % COLOURS * COLOUR;
    context.uc_link = NULL;
    makecontext(&context, be_fiber, 0);
    machine->running = thread;
    if (!_setjmp(machine->home))
        setcontext(&context);
}

static void free_machine(void *freed) {
    struct machine *of = freed;
    munmap(of->stacks, (size_t)EMULATED_THREADS_MOST * STACK);
    free(of);
}

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void) {
    if (pthread_key_create(&key, free_machine) != 0)
        abort();
}

/* This thread's, with as many fibers as the block has threads. */
static void make_machine(unsigned threads) {
    pthread_once(&once, make_key);
    if (!machine) {
        machine = calloc(1, sizeof *machine);
        void *stacks = mmap(NULL, (size_t)EMULATED_THREADS_MOST * STACK, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (!machine || stacks == MAP_FAILED) {
            perror("emulated CUDA: the threads of a block");
            abort();
        }
        machine->stacks = stacks;
        pthread_setspecific(key, machine);
    }
    while (machine->made < threads)
        make_fiber(machine->made++);
}

static void run_block(unsigned block) {
    const struct emulated_grid *grid = machine->grid;
    for (unsigned i = 0; i < grid->threads; i++)
        machine->fiber[i].self = (struct emulated_thread){.thread = {i, 0, 0},
                                                          .block = {block, 0, 0},
                                                          .threads = {grid->threads, 1, 1},
                                                          .blocks = {grid->blocks, 1, 1}};
    machine->warps = grid->threads / EMULATED_WARP;
    machine->alive = grid->threads;
    for (unsigned w = 0; w < machine->warps; w++)
        machine->warp[w].alive = ALL_LANES;
    open_barrier();
    memset(grid->shared, EMULATED_FRESH, grid->shared_bytes);
    if (!_setjmp(machine->home))
        _longjmp(pick()->at, 1);
}

static unsigned common_divisor(unsigned a, unsigned b) {
    return b ? common_divisor(b, a % b) : a;
}

/* The number of the launch mixed with the seed: the constant is 2^32 divided by the golden ratio. */
static uint32_t chance_of_launch(void) {
    const char *seed = getenv("REDUCT_TEST_SEED");
    const uint32_t mixed = (++launches + (seed ? (uint32_t)strtoull(seed, NULL, 0) : 0)) * UINT32_C(0x9e3779b9);
    return mixed ? mixed : 1;
}

void emulated_run(const struct emulated_grid *grid) {
    fenv_t caller;
    fegetenv(&caller);
    fesetenv(FE_DFL_ENV); /* a device has its own */
    make_machine(grid->threads);
    machine->grid = grid;
    machine->chance = chance_of_launch();
    unsigned step = draw() % grid->blocks, block = draw() % grid->blocks;
    while (common_divisor(step, grid->blocks) != 1)
        step = (step + 1) % grid->blocks;
    for (unsigned i = 0; i < grid->blocks; i++, block = (block + step) % grid->blocks)
        run_block(block);
    fesetenv(&caller);
}
