/* Rung: threads.
 *
 * The idea. Every processor sums a part of the array with the vector rung, and the parts' sums are added in order: the
 * GPU's blocks, in small.
 *
 * What it fixes. One core cannot have enough reads of memory under way to fill the memory's bandwidth; two can have
 * twice as many. This is what a machine can do, and the rung that the exact one is to be compared with.
 *
 * When it loses. Waking threads costs microseconds, in which one core sums a hundred thousand numbers: below that, the
 * rung before is faster. And with another number of threads the parts are cut elsewhere, so that floats come out
 * differently: the last digits depend on the machine. */
#include "ladder/cpu/cpu.h"

/* A cache line of its own for each part, or the members would fight for one. */
typedef struct part {
    _Alignas(64) union {
        int32_t i32;
        float f32;
        double f64;
        uint64_t bits;
    } sum;
} part;

typedef struct work {
    cpu_sum *sum;
    const char *x;
    size_t n, size;
    part *parts;
} work;

static void sum_part(void *context, unsigned member, unsigned members) {
    const work *w = context;
    size_t begin, end;
    measure_share(w->n, 4096, member, members, &begin, &end);
    w->sum(w->x + begin * w->size, end - begin, &w->parts[member].sum);
}

static void add_parts(int type, const part *parts, unsigned members, void *result) {
    part total = parts[0];
    for (unsigned i = 1; i < members; i++) {
        if (type == CPU_I32)
            total.sum.i32 += parts[i].sum.i32;
        else if (type == CPU_F32)
            total.sum.f32 += parts[i].sum.f32;
        else
            total.sum.f64 += parts[i].sum.f64;
    }
    if (type == CPU_I32)
        *(int32_t *)result = total.sum.i32;
    else if (type == CPU_F32)
        *(float *)result = total.sum.f32;
    else
        *(double *)result = total.sum.f64;
}

void cpu_threads_sum(cpu_sum *sum, int type, const void *x, size_t n, const cpu_team *team, void *result) {
    part parts[CPU_THREADS_MOST];
    work w = {sum, x, n, type == CPU_F64 ? 8 : 4, parts};
    measure_team_run(team->team, sum_part, &w);
    add_parts(type, parts, team->members, result);
}

void cpu_threads_read(cpu_sum *read, const void *x, size_t words, const cpu_team *team, void *result) {
    part parts[CPU_THREADS_MOST];
    work w = {read, x, words, 8, parts};
    measure_team_run(team->team, sum_part, &w);
    uint64_t all = 0;
    for (unsigned i = 0; i < team->members; i++)
        all ^= parts[i].sum.bits;
    *(uint64_t *)result = all;
}
