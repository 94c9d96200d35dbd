/* Data generators. An array is cut into fixed pieces, each with a stream of its own seeded by the piece's number, so
 * that the values do not depend on who fills which piece. */
#include "measure/data.h"

#include <math.h>
#include <string.h>

enum { PIECE = 1 << 16 }; /* elements per stream */

static uint64_t rotate(uint64_t x, int by) {
    return x << by | x >> (64 - by);
}

/* What splitmix64 steps by, and how it makes a number of its state. */
static const uint64_t splitmix_step = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t splitmix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t measure_random_at(uint64_t i) {
    return splitmix((i + 1) * splitmix_step);
}

measure_random measure_random_seed(uint64_t seed) {
    measure_random random;
    for (int i = 0; i < 4; i++)
        random.state[i] = splitmix(seed += splitmix_step);
    return random;
}

uint64_t measure_random_bits(measure_random *random) {
    uint64_t *s = random->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double measure_random_uniform(measure_random *random) {
    return (double)(measure_random_bits(random) >> 11) * 0x1p-53;
}

/* Marsaglia's polar method, of whose two values one is used. */
static double normal(measure_random *random) {
    for (;;) {
        double u = 2 * measure_random_uniform(random) - 1, v = 2 * measure_random_uniform(random) - 1;
        double square = u * u + v * v;
        if (square < 1 && square > 0)
            return u * sqrt(-2 * log(square) / square);
    }
}

/* Numbers with a random sign and significand, and a biased exponent uniform on [least, least + count), put together
 * from bits: the same in every floating-point environment. */
static double any_f64(measure_random *random, uint64_t least, uint64_t count) {
    uint64_t exponent = least + (measure_random_bits(random) >> 32) * count / (UINT64_C(1) << 32);
    uint64_t bits = (measure_random_bits(random) & UINT64_C(0x800fffffffffffff)) | exponent << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float any_f32(measure_random *random, uint64_t least, uint64_t count) {
    uint64_t exponent = least + (measure_random_bits(random) >> 32) * count / (UINT64_C(1) << 32);
    uint32_t bits = (uint32_t)((measure_random_bits(random) >> 32 & 0x807fffff) | exponent << 23);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* How many exponents numbers have that are spread around 1. */
static int binades_of(measure_data data) {
    return data == MEASURE_RANGE40 ? 40 : 60;
}

static double draw_f64(measure_random *random, measure_data data) {
    switch (data) {
    case MEASURE_UNIFORM:
        return measure_random_uniform(random);
    case MEASURE_NORMAL:
        return normal(random);
    case MEASURE_WIDE:
    case MEASURE_RANGE40:
        return any_f64(random, (uint64_t)(1023 - binades_of(data) / 2), (uint64_t)binades_of(data));
    case MEASURE_FULL:
        return any_f64(random, 0, 2047);
    }
    return 0;
}

static float draw_f32(measure_random *random, measure_data data) {
    switch (data) {
    case MEASURE_WIDE:
    case MEASURE_RANGE40:
        return any_f32(random, (uint64_t)(127 - binades_of(data) / 2), (uint64_t)binades_of(data));
    case MEASURE_FULL:
        return any_f32(random, 0, 255);
    default:
        return (float)draw_f64(random, data);
    }
}

/* Floats of 16 bits: so many bits of their significands are stored, and what is added to their exponents. */
typedef struct half {
    int stored, bias;
} half;
static const half f16 = {10, 15}, bf16 = {7, 127};

static uint16_t round_to_half(double value, half type) {
    const uint16_t infinity = (uint16_t)((2 * type.bias + 1) << type.stored);
    int exponent;
    if (isnan(value))
        return infinity | (uint16_t)(1 << (type.stored - 1));
    if (fabs(value) >= ldexp(2 - ldexp(1, -type.stored - 1), type.bias)) /* half a unit beyond the largest, and more */
        return infinity | (signbit(value) ? 0x8000 : 0);
    frexp(value, &exponent); /* value < 2^exponent */
    exponent = value != 0 && exponent - 1 > 1 - type.bias ? exponent - 1 : 1 - type.bias;
    const uint16_t sign = signbit(value) ? 0x8000 : 0,
                   significand = (uint16_t)nearbyint(ldexp(fabs(value), type.stored - exponent));
    /* The hidden bit, where there is one, and a carry raise the exponent. */
    return (uint16_t)(sign | (((uint16_t)(exponent + type.bias - 1) << type.stored) + significand));
}

uint16_t measure_f16(double value) {
    return round_to_half(value, f16);
}

uint16_t measure_bf16(double value) {
    return round_to_half(value, bf16);
}

static uint16_t any_half(measure_random *random, half type, uint64_t least, uint64_t count) {
    uint64_t exponent = least + (measure_random_bits(random) >> 32) * count / (UINT64_C(1) << 32);
    uint64_t others = measure_random_bits(random) >> 48 & (0x8000 | ((UINT64_C(1) << type.stored) - 1));
    return (uint16_t)(others | exponent << type.stored);
}

static uint16_t draw_half(measure_random *random, measure_data data, half type) {
    const int exponents = 2 * type.bias + 1, wanted = binades_of(data);
    const int binades = exponents - 1 < wanted ? exponents - 1 : wanted;
    switch (data) {
    case MEASURE_WIDE:
    case MEASURE_RANGE40:
        return any_half(random, type, (uint64_t)(type.bias - binades / 2 + (binades < wanted)), (uint64_t)binades);
    case MEASURE_FULL:
        return any_half(random, type, 0, (uint64_t)exponents);
    default:
        return round_to_half(draw_f64(random, data), type);
    }
}

typedef struct fill {
    void *values;
    size_t count;
    measure_data data;
    uint64_t seed;
    void (*piece)(const struct fill *fill, size_t begin, size_t end, measure_random *random);
} fill;

static void fill_share(void *context, unsigned member, unsigned members) {
    const fill *job = context;
    size_t begin, end;
    measure_share(job->count, PIECE, member, members, &begin, &end);
    for (; begin < end; begin += PIECE) {
        measure_random random = measure_random_seed(job->seed + begin * UINT64_C(0xd1342543de82ef95));
        job->piece(job, begin, end - begin < PIECE ? end : begin + PIECE, &random);
    }
}

static void piece_f64(const fill *job, size_t begin, size_t end, measure_random *random) {
    for (size_t i = begin; i < end; i++)
        ((double *)job->values)[i] = draw_f64(random, job->data);
}

static void piece_f32(const fill *job, size_t begin, size_t end, measure_random *random) {
    for (size_t i = begin; i < end; i++)
        ((float *)job->values)[i] = draw_f32(random, job->data);
}

static void piece_f16(const fill *job, size_t begin, size_t end, measure_random *random) {
    for (size_t i = begin; i < end; i++)
        ((uint16_t *)job->values)[i] = draw_half(random, job->data, f16);
}

static void piece_bf16(const fill *job, size_t begin, size_t end, measure_random *random) {
    for (size_t i = begin; i < end; i++)
        ((uint16_t *)job->values)[i] = draw_half(random, job->data, bf16);
}

static int32_t draw_i32(measure_random *random) {
    return (int32_t)(uint32_t)(measure_random_bits(random) >> 32);
}

static void piece_i64(const fill *job, size_t begin, size_t end, measure_random *random) {
    for (size_t i = begin; i < end; i++)
        ((int64_t *)job->values)[i] = draw_i32(random);
}

static void piece_i32(const fill *job, size_t begin, size_t end, measure_random *random) {
    for (size_t i = begin; i < end; i++)
        ((int32_t *)job->values)[i] = draw_i32(random);
}

const char *measure_data_name(measure_data data) {
    static const char *const names[MEASURE_DATA_COUNT] = {"uniform", "normal", "wide", "full", "range40"};
    return names[data];
}

void measure_fill_f64(double *values, size_t count, measure_data data, uint64_t seed, measure_team *team) {
    measure_team_run(team, fill_share, &(fill){values, count, data, seed, piece_f64});
}

void measure_fill_f32(float *values, size_t count, measure_data data, uint64_t seed, measure_team *team) {
    measure_team_run(team, fill_share, &(fill){values, count, data, seed, piece_f32});
}

void measure_fill_f16(uint16_t *values, size_t count, measure_data data, uint64_t seed, measure_team *team) {
    measure_team_run(team, fill_share, &(fill){values, count, data, seed, piece_f16});
}

void measure_fill_bf16(uint16_t *values, size_t count, measure_data data, uint64_t seed, measure_team *team) {
    measure_team_run(team, fill_share, &(fill){values, count, data, seed, piece_bf16});
}

void measure_fill_i64(int64_t *values, size_t count, uint64_t seed, measure_team *team) {
    measure_team_run(team, fill_share, &(fill){values, count, MEASURE_UNIFORM, seed, piece_i64});
}

void measure_fill_i32(int32_t *values, size_t count, uint64_t seed, measure_team *team) {
    measure_team_run(team, fill_share, &(fill){values, count, MEASURE_UNIFORM, seed, piece_i32});
}

/* The low bytes are uniform whatever the sign. */
#define PIECE_OF(name, T)                                                                                              \
    static void piece_##name(const fill *job, size_t begin, size_t end, measure_random *random) {                      \
        for (size_t i = begin; i < end; i++)                                                                           \
            ((T *)job->values)[i] = (T)(measure_random_bits(random) >> 32);                                            \
    }
PIECE_OF(u8, uint8_t)
PIECE_OF(u16, uint16_t)
PIECE_OF(u32, uint32_t)
PIECE_OF(u64, uint64_t)

void measure_fill_integers(void *values, size_t count, unsigned bytes, int is_signed, uint64_t seed,
                           measure_team *team) {
    fill job = {values, count, MEASURE_UNIFORM, seed, piece_u64};
    if (bytes < 8)
        job.piece = bytes == 1 ? piece_u8 : bytes == 2 ? piece_u16 : piece_u32;
    else if (is_signed)
        job.piece = piece_i64;
    measure_team_run(team, fill_share, &job);
}
