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

/* What a thread has ordered and not waited for, the oldest first. */
enum { COPIES_MOST = 64 };
struct copies {
    struct copy {
        void *to;
        const void *from;
        unsigned bytes, group;
    } copy[COPIES_MOST];
    unsigned count, group;
    struct emulated_place place; /* of the last one */
};

struct fiber {
    struct emulated_thread self;
    jmp_buf at;
    struct emulated_place waits; /* at no place: `what` is null */
    unsigned char *stack;
    struct copies copies;
};

/* The lanes that are alive, that could go on, that wait for the others; one bit each. Meetings take turns in two arrays:
 * a lane comes to the one after next only when all have left this one. */
struct warp {
    uint32_t alive, ready, waiting;
    unsigned meetings, turn; /* turn: the order in which lanes go on */
    struct emulated_place place;
    uint64_t values[2][EMULATED_WARP];
};

/* A place for one block after the other. */
struct seat {
    struct fiber fiber[EMULATED_THREADS_MOST];
    struct warp warp[WARPS_MOST];
    unsigned made, running, favoured; /* fibers; the one that runs; a warp */
    unsigned alive, waiting;          /* threads; those at the barrier */
    struct emulated_place barrier;
    unsigned char *shared; /* what it has in shared memory while the other's turn it is */
    unsigned char *dynamic;
    size_t shared_room, dynamic_room;
};
enum { SEATS = 2 };

struct machine {
    const struct emulated_grid *grid;
    struct seat seats[SEATS];
    struct seat *seat;          /* of the block that runs */
    unsigned warps;             /* of a block */
    unsigned block, step, left; /* the next block to be seated, the distance to the one after, how many there are */
    uint32_t chance;            /* never 0 */
    jmp_buf home;
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
    const struct fiber *fiber = machine->seat->fiber;
    fprintf(stderr, "emulated CUDA: deadlock in block %u of %u:", fiber->self.block.x, fiber->self.blocks.x);
    unsigned ended = threads;
    for (unsigned i = 0; i < threads; i++) {
        const struct emulated_place *place = &fiber[i].waits;
        unsigned first = 0, same = 0;
        if (!place->what)
            continue;
        ended--;
        while (!fiber[first].waits.what || !same_place(place, &fiber[first].waits))
            first++;
        if (first < i)
            continue;
        for (unsigned j = i; j < threads; j++)
            same += fiber[j].waits.what && same_place(place, &fiber[j].waits);
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

/* The fiber of the block that goes on. A warp does so as long as it can, mostly. */
static struct fiber *pick(void) {
    struct seat *seat = machine->seat;
    unsigned w = seat->favoured;
    if (!seat->warp[w].ready || draw() % 16 == 0) {
        const unsigned chance = draw(), step = chance & 1 ? 1 : machine->warps - 1;
        w = (chance >> 1) % machine->warps;
        for (unsigned i = 1; i < machine->warps && !seat->warp[w].ready; i++)
            w = (w + step) % machine->warps;
    }
    struct warp *warp = &seat->warp[w];
    if (!warp->ready)
        fail_deadlock();
    const unsigned lane = pick_lane(warp->ready, warp->turn);
    warp->ready &= ~((uint32_t)1 << lane);
    seat->favoured = w;
    seat->running = EMULATED_WARP * w + lane;
    emulated_self = &seat->fiber[seat->running].self;
    return &seat->fiber[seat->running];
}

static struct fiber *running_fiber(void) {
    return &machine->seat->fiber[machine->seat->running];
}
static struct warp *running_warp(void) {
    return &machine->seat->warp[machine->seat->running / EMULATED_WARP];
}
static uint32_t running_lane(void) {
    return (uint32_t)1 << machine->seat->running % EMULATED_WARP;
}

/* Another fiber goes on, or this one if it may and its turn comes. */
static void switch_away(void) {
    struct fiber *from = running_fiber(), *to = pick();
    if (from != to && !_setjmp(from->at))
        _longjmp(to->at, 1);
}

/* The block that goes on from now on is that of another seat. */
static void swap_in(struct seat *seat) {
    const struct emulated_grid *grid = machine->grid;
    if (machine->seat->alive)
        memcpy(machine->seat->shared, grid->shared, grid->shared_bytes);
    memcpy(grid->shared, seat->shared, grid->shared_bytes);
    machine->seat = seat;
}

/* The other seat, if a block is there. */
static struct seat *other_block(void) {
    struct seat *other = &machine->seats[machine->seat == machine->seats];
    return other->alive ? other : NULL;
}

static bool is_shared(const void *address) {
    return (uintptr_t)address - (uintptr_t)machine->grid->shared < machine->grid->shared_bytes ||
           (uintptr_t)address - (uintptr_t)machine->seat->dynamic < machine->grid->dynamic_bytes;
}

static void give_way(bool to_block) {
    running_warp()->ready |= running_lane();
    if (!to_block || !other_block()) {
        switch_away();
    } else if (!_setjmp(running_fiber()->at)) {
        swap_in(other_block());
        _longjmp(pick()->at, 1);
    }
}

void emulated_give_way(const void *address) {
    const unsigned chance = draw() % 32;
    if (chance < 3)
        give_way(chance == 0 && !is_shared(address));
}

void *emulated_dynamic(void) {
    return machine->seat->dynamic;
}

void emulated_fence(void) {
    if (draw() % 4 == 0)
        give_way(true);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Barriers and meetings
 * ------------------------------------------------------------------------------------------------------------------ */

/* All of the block have come. */
static void open_barrier(void) {
    struct seat *seat = machine->seat;
    for (unsigned w = 0; w < machine->warps; w++) {
        seat->warp[w].ready = seat->warp[w].alive;
        seat->warp[w].turn = draw();
    }
    seat->favoured = draw() % machine->warps;
    seat->waiting = 0;
}

void emulated_barrier(struct emulated_place place) {
    struct seat *seat = machine->seat;
    struct fiber *own = running_fiber();
    if (seat->waiting == 0)
        seat->barrier = place;
    else if (!same_place(&place, &seat->barrier))
        emulated_fail(place, "other threads of the block are at %s:%d", seat->barrier.file, seat->barrier.line);
    own->waits = place;
    if (++seat->waiting < seat->alive) {
        switch_away();
    } else {
        open_barrier();
        give_way(draw() % 16 == 0); /* to the other block now and then: this one may wait for what that does */
    }
    own->waits.what = NULL;
}

const uint64_t *emulated_meet(struct emulated_place place, unsigned mask, uint64_t value, emulated_combine *combine) {
    struct fiber *own = running_fiber();
    struct warp *warp = running_warp();
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
    values[own->self.thread.x % EMULATED_WARP] = value;
    warp->waiting |= running_lane();
    own->waits = place;
    if (warp->waiting == ALL_LANES) {
        if (combine)
            combine(values);
        warp->meetings++;
        warp->waiting = 0;
        warp->ready = ALL_LANES;
        warp->turn = draw();
        give_way(draw() % 32 == 0); /* as above */
    } else {
        switch_away();
    }
    own->waits.what = NULL;
    return values;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Copies
 * ------------------------------------------------------------------------------------------------------------------ */

void emulated_copy(struct emulated_place place, void *to, const void *from, unsigned bytes) {
    struct copies *copies = &running_fiber()->copies;
    if (copies->count == COPIES_MOST)
        emulated_fail(place, "%d copies are under way, and no more are kept in mind", COPIES_MOST);
    (void)*(const volatile char *)from; /* it is there */
    memset(to, EMULATED_FRESH, bytes);
    copies->copy[copies->count++] = (struct copy){to, from, bytes, copies->group};
    copies->place = place;
}

void emulated_end_group(void) {
    running_fiber()->copies.group++;
}

void emulated_wait_for_groups(unsigned under_way) {
    struct copies *copies = &running_fiber()->copies;
    unsigned made = 0;
    for (; made < copies->count && copies->group - copies->copy[made].group > under_way; made++)
        memcpy(copies->copy[made].to, copies->copy[made].from, copies->copy[made].bytes);
    copies->count -= made;
    memmove(copies->copy, copies->copy + made, copies->count * sizeof *copies->copy);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------------------------------------------------------ */

/* The next block takes the seat. What it has in shared memory is put where that of a block that runs is, or where that of
 * one that waits is kept. */
static void seat_block(struct seat *seat, void *shared) {
    const struct emulated_grid *grid = machine->grid;
    machine->seat = seat;
    for (unsigned i = 0; i < grid->threads; i++)
        seat->fiber[i].self = (struct emulated_thread){.thread = {i, 0, 0},
                                                       .block = {machine->block, 0, 0},
                                                       .threads = {grid->threads, 1, 1},
                                                       .blocks = {grid->blocks, 1, 1}};
    for (unsigned w = 0; w < machine->warps; w++)
        seat->warp[w].alive = ALL_LANES;
    seat->alive = grid->threads;
    open_barrier();
    memset(shared, EMULATED_FRESH, grid->shared_bytes);
    memset(seat->dynamic, EMULATED_FRESH, grid->dynamic_bytes);
    machine->block = (machine->block + machine->step) % grid->blocks;
    machine->left--;
}

/* The running fiber's thread has ended; the rest of the block may have waited for just that. Returns at the start of the
 * next block in its seat, be it of another grid. */
static void end_thread(void) {
    struct seat *seat = machine->seat;
    struct fiber *own = running_fiber();
    struct warp *warp = running_warp();
    warp->alive &= ~running_lane();
    if (own->copies.count)
        emulated_fail(own->copies.place, "thread %u has ended before what it copies has come", own->self.thread.x);
    if (warp->waiting)
        emulated_fail(warp->place, "lanes of the warp wait for thread %u, which has ended", own->self.thread.x);
    if (_setjmp(own->at))
        return;
    if (--seat->alive) {
        if (seat->waiting == seat->alive)
            open_barrier();
    } else if (machine->left) {
        seat_block(seat, machine->grid->shared);
    } else if (other_block()) {
        swap_in(other_block());
    } else {
        _longjmp(machine->home, 1);
    }
    _longjmp(pick()->at, 1);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Fibers
 * ------------------------------------------------------------------------------------------------------------------ */

static _Noreturn void fail_system(const char *what) {
    fprintf(stderr, "emulated CUDA: ");
    perror(what);
    abort();
}

static void be_fiber(void) {
    if (!_setjmp(running_fiber()->at))
        _longjmp(machine->home, 1);
    for (;;) {
        machine->grid->body(machine->grid->argument);
        end_thread();
    }
}

static void make_fiber(struct seat *seat) {
    const unsigned thread = seat->made++;
    ucontext_t context;
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, GUARD, PROT_NONE) != 0 || getcontext(&context) != 0)
        fail_system("the stack of a thread");
    seat->fiber[thread].stack = stack;
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = STACK - thread % COLOURS * COLOUR;
    context.uc_link = NULL;
    makecontext(&context, be_fiber, 0);
    machine->seat = seat;
    seat->running = thread;
    if (!_setjmp(machine->home))
        setcontext(&context);
}

static void free_machine(void *freed) {
    struct machine *of = freed;
    for (int s = 0; s < SEATS; s++) {
        for (unsigned i = 0; i < of->seats[s].made; i++)
            munmap(of->seats[s].fiber[i].stack, STACK);
        free(of->seats[s].shared);
        free(of->seats[s].dynamic);
    }
    free(of);
}

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void) {
    if (pthread_key_create(&key, free_machine) != 0)
        fail_system("a key");
}

/* Shared memory, at a multiple of 128 bytes. */
static void make_room(unsigned char **memory, size_t *room, size_t bytes) {
    if (*memory && *room >= bytes)
        return;
    free(*memory);
    *room = (bytes + 255) / 128 * 128;
    *memory = aligned_alloc(128, *room);
    if (!*memory)
        fail_system("shared memory");
}

/* This thread's, with as many fibers as a block of the grid has threads. */
static void make_machine(const struct emulated_grid *grid) {
    pthread_once(&once, make_key);
    if (!machine && !(machine = calloc(1, sizeof *machine)))
        fail_system("the threads of a block");
    pthread_setspecific(key, machine);
    for (struct seat *seat = machine->seats; seat < machine->seats + SEATS; seat++) {
        while (seat->made < grid->threads)
            make_fiber(seat);
        make_room(&seat->shared, &seat->shared_room, grid->shared_bytes);
        make_room(&seat->dynamic, &seat->dynamic_room, grid->dynamic_bytes);
    }
    machine->grid = grid;
    machine->warps = grid->threads / EMULATED_WARP;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Grids
 * ------------------------------------------------------------------------------------------------------------------ */

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
    make_machine(grid);
    machine->chance = chance_of_launch();
    machine->left = grid->blocks;
    machine->block = draw() % grid->blocks;
    machine->step = draw() % grid->blocks;
    while (common_divisor(machine->step, grid->blocks) != 1)
        machine->step = (machine->step + 1) % grid->blocks;
    if (machine->left > 1)
        seat_block(&machine->seats[1], machine->seats[1].shared);
    seat_block(&machine->seats[0], grid->shared);
    if (!_setjmp(machine->home))
        _longjmp(pick()->at, 1);
    fesetenv(&caller);
}
