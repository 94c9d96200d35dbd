/* Choosing plain loops, spreading them over threads, putting the parts together. */
#include "plain.h"

#include "measure/data.h"

#include <math.h>
#include <string.h>

/* An array is cut in parts of at least this many bytes: waking a thread costs ten microseconds or so, in which a core
 * reads about as much from its caches. */
enum { BYTES_PER_MEMBER = 1 << 20, MOST_MEMBERS = 1024 };

static int kind_of(reduct_operator op) {
    switch (op) {
    case REDUCT_SUM:
    case REDUCT_MEAN:
        return PLAIN_SUM;
    case REDUCT_NORM1:
        return PLAIN_NORM1;
    case REDUCT_NORM2:
        return PLAIN_SQUARES;
    case REDUCT_DOT:
        return PLAIN_DOT;
    case REDUCT_VAR:
        return PLAIN_MOMENTS;
    case REDUCT_MIN:
        return PLAIN_MIN;
    case REDUCT_MAX:
        return PLAIN_MAX;
    case REDUCT_ARGMIN:
        return PLAIN_ARGMIN;
    default:
        return -1;
    }
}

static int type_of(reduct_type type) {
    switch (type) {
    case REDUCT_F64:
        return PLAIN_F64;
    case REDUCT_F32:
        return PLAIN_F32;
    case REDUCT_F16:
        return PLAIN_F16;
    case REDUCT_BF16:
        return PLAIN_BF16;
    case REDUCT_I64:
        return PLAIN_I64;
    case REDUCT_I32:
        return PLAIN_I32;
    default:
        return -1;
    }
}

static const plain_set *set_of(const char *device) {
#if defined(BENCH_X86)
    if (strstr(device, "avx512"))
        return &plain_set_avx512;
    if (strstr(device, "avx2"))
        return &plain_set_avx2;
#else
    (void)device;
#endif
    return &plain_set_portable;
}

plain_kernel *plain_find(const char *device, reduct_operator op, reduct_type type, int prefetch) {
    int kind = kind_of(op), which = type_of(type);
    return kind < 0 || which < 0 ? NULL : set_of(device)->kernels[kind][which][prefetch];
}

typedef struct part {
    _Alignas(128) plain_partial partial; /* on cache lines of its own */
} part;

typedef struct share {
    const plain_job *job;
    unsigned members;
    part *parts;
} share;

static void run_share(void *context, unsigned member, unsigned members) {
    (void)members;
    const share *all = context;
    if (member >= all->members)
        return;
    const plain_job *job = all->job;
    size_t begin, end, size = reduct_type_size(job->type);
    measure_share(job->count, 4096, member, all->members, &begin, &end);
    const char *x = (const char *)job->x + begin * size, *y = job->y ? (const char *)job->y + begin * size : NULL;
    job->kernel(x, y, end - begin, &all->parts[member].partial);
    all->parts[member].partial.index += begin;
}

static void combine(reduct_operator op, plain_partial *into, const plain_partial *from) {
    if (op == REDUCT_MIN || op == REDUCT_ARGMIN) {
        if (from->real < into->real || from->integer < into->integer)
            *into = *from;
        return;
    }
    if (op == REDUCT_MAX) {
        if (from->real > into->real || from->integer > into->integer)
            *into = *from;
        return;
    }
    into->real += from->real;
    into->squares += from->squares;
    into->integer += from->integer;
}

void plain_run(plain_job *job) {
    size_t most = job->count * reduct_type_size(job->type) / BYTES_PER_MEMBER;
    unsigned members = job->members < MOST_MEMBERS ? job->members : MOST_MEMBERS;
    members = members < most ? members : (unsigned)most;
    job->partial = (plain_partial){0};
    if (members < 2) {
        job->kernel(job->x, job->y, job->count, &job->partial);
        return;
    }
    part parts[MOST_MEMBERS];
    memset(parts, 0, members * sizeof *parts);
    measure_team_run(job->team, run_share, &(share){job, members, parts});
    job->partial = parts[0].partial;
    for (unsigned i = 1; i < members; i++)
        combine(job->op, &job->partial, &parts[i].partial);
}

static double real_result(const plain_job *job) {
    const plain_partial *partial = &job->partial;
    double count = (double)job->count,
           total = reduct_type_is_float(job->type) ? partial->real : (double)partial->integer;
    switch (job->op) {
    case REDUCT_MEAN:
        return total / count;
    case REDUCT_NORM2:
        return sqrt(partial->real);
    case REDUCT_VAR:
        return (partial->squares - partial->real * partial->real / count) / (count - 1);
    default:
        return total;
    }
}

void plain_result(const plain_job *job, reduct_type type, void *result) {
    double real = real_result(job);
    float single = (float)real;
    int64_t integer = job->op == REDUCT_ARGMIN ? (int64_t)job->partial.index : job->partial.integer;
    const uint16_t half = type == REDUCT_BF16 ? measure_bf16(real) : measure_f16(real);
    memcpy(result,
           type == REDUCT_F64   ? (const void *)&real
           : type == REDUCT_F32 ? (const void *)&single
           : type == REDUCT_F16 || type == REDUCT_BF16
               ? (const void *)&half
               : (const void *)&integer, /* of which a narrower type is the low bytes */
           reduct_type_size(type));
}
