/* Applications: reductions other than a sum, each as one rung-sized kernel (cuda/applications/) beside one call of the
 * library, on the device and on the CPU. */
#include "ladder/cuda_ladder.h"

#include "gpu/cuda_peers.h"
#include "measure/data.h"
#include "measure/timing.h"
#include "program/memory.h"
#include "report/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, PART_BYTES = 16 }; /* as in operator.cuh; no part is larger */

/* x: n floats in [0, 1); y: 1 - x, which is never 0; both on the device as well, in rotating copies. */
typedef struct lab {
    cuda_lab *cuda;
    const ladder_options *options;
    report *r;
    reduct_type type;
    ladder_data x;
    void *y;
    gpu_cuda_input on_device[2];
} lab;

/* A kernel of an application, ready to run. */
typedef struct application {
    const lab *l;
    gpu_cuda_kernel kernel;
    const gpu_cuda_input *input[2]; /* the second may be null */
    uint64_t n;
    unsigned blocks;
    double terms; /* additions, or whatever it combines with, that an element goes through */
} application;

static bool prepare(application *a, const lab *l, const char *name, reduct_type type, report_row *row) {
    char image[48], kernel[48];
    *a = (application){.l = l, .n = l->x.n};
    snprintf(image, sizeof image, "applications/%s", name);
    snprintf(kernel, sizeof kernel, "%s_%s", name, reduct_type_name(type));
    a->kernel = cuda_lab_kernel(l->cuda, image, kernel, 0, row->note, sizeof row->note);
    if (!a->kernel.function)
        return false;
    uint64_t wanted = a->n / THREADS + 1;
    uint64_t most =
        (uint64_t)l->cuda->facts->multiprocessors * gpu_cuda_resident_blocks(l->cuda->device, &a->kernel, THREADS);
    a->blocks = (unsigned)(wanted < most ? wanted : most);
    a->terms = (double)(a->n / ((uint64_t)a->blocks * THREADS)) + a->blocks / THREADS + 32;
    cuda_row_kernel(l->cuda, row, &a->kernel, THREADS);
    cuda_lab_reserve(l->cuda, (uint64_t)a->blocks * PART_BYTES);
    gpu_cuda_fill(l->cuda->device, l->cuda->partials[0], 0, (uint64_t)a->blocks * PART_BYTES);
    return true;
}

static void run_once(void *context, uint64_t run) {
    const application *a = context;
    cuda_lab *cuda = a->l->cuda;
    uint64_t x = gpu_cuda_input_at(a->input[0], run), n = a->n;
    uint64_t y = a->input[1] ? gpu_cuda_input_at(a->input[1], run) : 0;
    gpu_cuda_launch(cuda->device, &a->kernel, a->blocks, THREADS,
                    (void *[]){&x, &y, &n, &cuda->partials[0], &cuda->result, &cuda->ticket});
}

/* Times a work on the device and fetches the result of a last run. */
static void run_timed(const lab *l, gpu_cuda_work *work, void *context, report_row *row, void *result, size_t size) {
    cuda_lab *cuda = l->cuda;
    measure_statistics seconds = gpu_cuda_time(cuda->device, work, context, l->options->rounds);
    cuda_row_time(cuda, row, &seconds);
    work(context, 0);
    gpu_cuda_download(cuda->device, result, cuda->result, size);
}

static report_row row_of(const lab *l, const char *name, const char *variant, reduct_type type, unsigned arrays) {
    report_row row = cuda_row(l->cuda, "applications", name, type, l->x.n);
    snprintf(row.variant, sizeof row.variant, "%s", variant);
    row.bytes *= arrays;
    return row;
}

/* A failure of the device becomes the row's. */
static void add(const lab *l, report_row *row) {
    gpu_row_error(row, "", gpu_cuda_error(l->cuda->device));
    if (gpu_cuda_error(l->cuda->device))
        gpu_cuda_forgive(l->cuda->device);
    report_add_row(l->r, row);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What the library has, too
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct call {
    const reduct_plan *plan;
    const void *input[2];
    _Alignas(8) unsigned char result[8];
} call;

static void run_call(void *context) {
    call *c = context;
    void *results[] = {c->result};
    reduct_plan_execute(c->plan, c->input, results, NULL, NULL);
}

/* Times a call on the CPU. */
static void time_call(const lab *l, void (*run)(void *), void *context, const char *device, report_row *row) {
    unsigned rounds = l->options->rounds;
    double *seconds = program_allocate(rounds * sizeof *seconds);
    measure_variant variant = {run, context, seconds};
    measure_time(&variant, 1, rounds, 1e-3);
    measure_statistics statistics = measure_variant_seconds(&variant, rounds);
    row->seconds = statistics.median;
    row->spread = measure_spread(&statistics);
    snprintf(row->device, sizeof row->device, "%s", device);
    snprintf(row->language, sizeof row->language, "c");
    free(seconds);
}

/* One call on the CPU, timed, as a row; its result, of the element type, is what those of the device are judged by. */
static bool call_on_cpu(const lab *l, reduct_operator op, const void *x, report_row *row, void *result) {
    reduct_plan *plan = cuda_plan("cpu", op, l->type, l->x.n, row->note, sizeof row->note);
    if (!plan) {
        row->verdict = REPORT_NOT_RUN;
        return false;
    }
    call c = {.plan = plan, .input = {x, l->y}};
    time_call(l, run_call, &c, reduct_plan_device(plan), row);
    memcpy(result, c.result, reduct_type_size(l->type));
    judge_text(l->type, result, row->got, sizeof row->got);
    snprintf(row->note, sizeof row->note, "%s: what the others are judged by",
             op == REDUCT_PRODUCT ? "the same bits on every machine" : "correctly rounded");
    reduct_plan_destroy(plan);
    return true;
}

/* One execution on the device. */
typedef struct execution {
    cuda_lab *cuda;
    const reduct_plan *plan;
    const gpu_cuda_input *input[2];
} execution;

static void run_execution(void *context, uint64_t run) {
    const execution *e = context;
    cuda_lab_execute(e->cuda, e->plan, gpu_cuda_input_at(e->input[0], run), gpu_cuda_input_at(e->input[1], run));
}

/* The same call on the device, timed, as a row: it must give the same bits. */
static void call_on_device(const lab *l, reduct_operator op, const gpu_cuda_input *x, const judge_exact *expected,
                           report_row *row) {
    unsigned char result[8] = {0};
    reduct_plan *plan = cuda_plan(l->cuda->name, op, l->type, l->x.n, row->note, sizeof row->note);
    if (!plan) {
        row->verdict = REPORT_NOT_RUN;
        return;
    }
    execution e = {.cuda = l->cuda, .plan = plan, .input = {x, &l->on_device[1]}};
    gpu_cuda_launches seen = gpu_cuda_watch(l->cuda->device, run_execution, &e);
    cuda_row_kernel(l->cuda, row, &seen.needs, seen.threads);
    run_timed(l, run_execution, &e, row, result, reduct_type_size(l->type));
    judge_finding finding = judge_result(expected, result, 0);
    judge_fill(row, &finding);
    snprintf(row->note, sizeof row->note, "the bits that the CPU gives");
    reduct_plan_destroy(plan);
}

/* The same in one of Thrust's forms. */
typedef struct thrust_call {
    const lab *l;
    const gpu_peers *peers;
    enum gpu_peer_form form;
    int error; /* the first one */
    _Alignas(8) unsigned char result[8];
} thrust_call;

static void run_thrust(void *context, uint64_t run) {
    thrust_call *c = context;
    const lab *l = c->l;
    enum gpu_peer_type type = l->type == REDUCT_F64 ? GPU_PEER_F64 : GPU_PEER_F32;
    int error = c->peers->thrust_form(c->form, type, gpu_cuda_pointer(gpu_cuda_input_at(&l->on_device[0], run)),
                                      gpu_cuda_pointer(gpu_cuda_input_at(&l->on_device[1], run)), c->result, l->x.n,
                                      gpu_cuda_stream(l->cuda->device));
    c->error = c->error ? c->error : error;
}

/* Which of them an operator is; GPU_PEER_FORMS: none. */
static enum gpu_peer_form thrust_form(reduct_operator op) {
    return op == REDUCT_MAX     ? GPU_PEER_MAXIMUM
           : op == REDUCT_DOT   ? GPU_PEER_DOT
           : op == REDUCT_NORM2 ? GPU_PEER_NORM2
                                : GPU_PEER_FORMS;
}

static void add_thrust(const lab *l, const char *name, reduct_operator op, const judge_exact *expected) {
    static const char *const variants[] = {[GPU_PEER_MAXIMUM] = "thrust::reduce, maximum",
                                           [GPU_PEER_DOT] = "thrust::inner_product",
                                           [GPU_PEER_NORM2] = "thrust::transform_reduce, a functor"};
    const char *why;
    thrust_call c = {.l = l, .peers = gpu_cuda_peers(l->cuda->facts->ordinal, &why), .form = thrust_form(op)};
    if (c.form == GPU_PEER_FORMS)
        return;
    report_row row = row_of(l, name, variants[c.form], l->type, (unsigned)reduct_operator_inputs(op));
    snprintf(row.note, sizeof row.note, "%s", c.peers ? "allocates, waits, and returns to the host" : why);
    row.verdict = REPORT_NOT_RUN;
    if (c.peers) {
        measure_statistics seconds = gpu_cuda_time(l->cuda->device, run_thrust, &c, l->options->rounds);
        run_thrust(&c, 0);
        cuda_row_time(l->cuda, &row, &seconds);
        double real = judge_real(l->type, &expected->value); /* any order of additions; a maximum rounds nothing */
        double bound = ((double)l->x.n + 2) * judge_roundoff(l->type) * real + judge_unit(l->type, real) / 2;
        judge_finding finding = judge_result(expected, c.result, op == REDUCT_MAX ? 0 : bound);
        judge_fill(&row, &finding);
        gpu_row_error(&row, "", c.error ? c.peers->text(c.error) : NULL);
    }
    add(l, &row);
}

static void add_library(const lab *l, const char *name, reduct_operator op, const gpu_cuda_input *x,
                        const judge_exact *expected) {
    report_row row = row_of(l, name, "library", l->type, (unsigned)reduct_operator_inputs(op));
    call_on_device(l, op, x, expected, &row);
    add(l, &row);
}

/* `more`: roundings on top of the combining; 0 terms for what rounds nothing. */
static void add_pair(const lab *l, const char *name, reduct_operator op, bool rounds, double more) {
    unsigned arrays = (unsigned)reduct_operator_inputs(op);
    report_row row = row_of(l, name, "one launch", l->type, arrays);
    report_row cpu = row_of(l, name, "library", l->type, arrays);
    application a;
    _Alignas(8) unsigned char result[8] = {0};
    judge_exact expected = {.type = l->type};
    if (!call_on_cpu(l, op, l->x.values, &cpu, &expected.value)) {
        report_add_row(l->r, &cpu);
        return;
    }
    judge_find_rest(&expected, op, l->type, l->x.values, arrays == 2 ? l->y : NULL, l->x.n);
    if (prepare(&a, l, name, l->type, &row)) {
        a.input[0] = &l->on_device[0];
        a.input[1] = &l->on_device[1];
        run_timed(l, run_once, &a, &row, result, reduct_type_size(l->type));
        double real = judge_real(l->type, &expected.value);
        double bound = (a.terms + more) * judge_roundoff(l->type) * real + judge_unit(l->type, real) / 2;
        judge_finding finding = judge_result(&expected, result, rounds ? bound : 0);
        judge_fill(&row, &finding);
    } else {
        row.verdict = REPORT_NOT_RUN;
    }
    add(l, &row);
    if (l->options->peers)
        add_thrust(l, name, op, &expected);
    add_library(l, name, op, &l->on_device[0], &expected);
    report_add_row(l->r, &cpu);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Product: significand and exponent apart
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct scaled {
    double significand;
    int64_t exponent;
} scaled;

/* Pairs of v and 1 / v, v in [1, 2), each rounded: the product of all is close to 1, but any thread that meets only every
 * second one leaves the range of its type soon. */
static void *make_factors(const lab *l) {
    void *factors = program_allocate(l->x.n * reduct_type_size(l->type));
    for (uint64_t i = 0; i < l->x.n; i++) {
        if (l->type == REDUCT_F32) {
            float v = 1 + ((const float *)l->x.values)[i & ~UINT64_C(1)];
            ((float *)factors)[i] = i % 2 ? 1 / v : v;
        } else {
            double v = 1 + ((const double *)l->x.values)[i & ~UINT64_C(1)];
            ((double *)factors)[i] = i % 2 ? 1 / v : v;
        }
    }
    return factors;
}

static void judge_product(const lab *l, scaled got, const judge_exact *expected, report_row *row) {
    judge_exact exact = *expected;
    double value = ldexp(got.significand, (int)got.exponent);
    double product = judge_real(l->type, &expected->value);
    float single = (float)value;
    exact.rest = 0; /* the library's product is rounded too: errors are distances from it */
    /* Here and in the library n - 1 multiplications round, however they are grouped, and the errors may add up. */
    double bound = 2 * judge_roundoff(l->type) * (double)l->x.n * product;
    judge_finding finding = judge_result(&exact, l->type == REDUCT_F32 ? (void *)&single : (void *)&value, bound);
    judge_fill(row, &finding);
}

static void add_product(const lab *l) {
    report_row row = row_of(l, "product", "one launch", l->type, 1);
    report_row cpu = row_of(l, "product", "library", l->type, 1);
    void *factors = make_factors(l);
    gpu_cuda_input input = gpu_cuda_input_create(l->cuda->device, factors, l->x.n * reduct_type_size(l->type), true);
    application a;
    scaled got = {0};
    judge_exact expected = {.type = l->type, .rest = NAN};
    if (call_on_cpu(l, REDUCT_PRODUCT, factors, &cpu, &expected.value)) {
        if (prepare(&a, l, "product", l->type, &row)) {
            a.input[0] = &input;
            run_timed(l, run_once, &a, &row, &got, sizeof got);
            judge_product(l, got, &expected, &row);
        } else {
            row.verdict = REPORT_NOT_RUN;
        }
        add(l, &row);
        add_library(l, "product", REDUCT_PRODUCT, &input, &expected);
    }
    report_add_row(l->r, &cpu);
    gpu_cuda_input_destroy(l->cuda->device, &input);
    free(factors);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Custom operators: one that is associative, and one that is none
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct map {
    uint32_t a, b;
} map;

/* The operator's three functions: first `left`, then `right`. */
static map compose(map first, map second) {
    return (map){second.a * first.a, second.a * first.b + second.b};
}

static int identity(void *state, void *context) {
    (void)context;
    *(map *)state = (map){1, 0};
    return 0;
}

static int accumulate(void *state, const void *maps, size_t count, void *context) {
    (void)context;
    map total = *(map *)state;
    for (size_t i = 0; i < count; i++)
        total = compose(total, ((const map *)maps)[i]);
    *(map *)state = total;
    return 0;
}

static int combine(void *left, const void *right, void *context) {
    (void)context;
    *(map *)left = compose(*(map *)left, *(const map *)right);
    return 0;
}

typedef struct custom_call {
    const map *maps;
    uint64_t n;
    map result;
} custom_call;

static void run_custom(void *context) {
    custom_call *c = context;
    const reduct_custom affine = {.element_size = sizeof(map),
                                  .state_size = sizeof(map),
                                  .identity = identity,
                                  .accumulate = accumulate,
                                  .combine = combine};
    reduct_reduce_custom(&affine, c->maps, c->n, &c->result, NULL);
}

static void judge_map(map got, map expected, const char *note, report_row *row) {
    row->verdict = got.a == expected.a && got.b == expected.b ? REPORT_RIGHT : REPORT_WRONG;
    snprintf(row->expected, sizeof row->expected, "%" PRIu32 " x + %" PRIu32, expected.a, expected.b);
    snprintf(row->got, sizeof row->got, "%" PRIu32 " x + %" PRIu32, got.a, got.b);
    snprintf(row->note, sizeof row->note, "%s", note);
}

static void add_affine(const lab *l) {
    report_row row = row_of(l, "affine composition", "one launch, in order", REDUCT_I32, 2);
    report_row library = row_of(l, "affine composition", "library, custom", REDUCT_I32, 2);
    uint64_t n = l->x.n;
    map *maps = program_allocate(n * sizeof *maps), expected = {1, 0}, got = {0};
    for (uint64_t i = 0; i < n; i++) {
        maps[i] = (map){(uint32_t)measure_random_at(2 * i) | 1, (uint32_t)measure_random_at(2 * i + 1)};
        expected = compose(expected, maps[i]);
    }
    gpu_cuda_input input = gpu_cuda_input_create(l->cuda->device, maps, n * sizeof *maps, true);
    application a;
    if (prepare(&a, l, "affine", REDUCT_I32, &row)) {
        a.input[0] = &input;
        run_timed(l, run_once, &a, &row, &got, sizeof got);
        judge_map(got, expected, "associative, not commutative: any tree that keeps the order", &row);
    } else {
        row.verdict = REPORT_NOT_RUN;
    }
    add(l, &row);
    custom_call c = {.maps = maps, .n = n};
    time_call(l, run_custom, &c, "cpu", &library);
    judge_map(c.result, expected, "three functions of C, in a tree that keeps the order", &library);
    report_add_row(l->r, &library);
    gpu_cuda_input_destroy(l->cuda->device, &input);
    free(maps);
}

/* Launches until one value is left. */
static uint32_t run_chain(const lab *l, const gpu_cuda_kernel *kernel, unsigned block, uint64_t from) {
    cuda_lab *cuda = l->cuda;
    uint32_t result = 0;
    uint64_t n = l->x.n;
    for (unsigned pass = 0;; pass++) {
        unsigned blocks = (unsigned)(n / block + (n % block != 0));
        cuda_lab_reserve(cuda, (uint64_t)blocks * sizeof result);
        uint64_t to = cuda->partials[pass % 2];
        gpu_cuda_launch(cuda->device, kernel, blocks, block, (void *[]){&from, &n, &to});
        from = to;
        n = blocks;
        if (blocks == 1)
            break;
    }
    gpu_cuda_download(cuda->device, &result, from, sizeof result);
    return result;
}

static void add_chain(const lab *l) {
    static const unsigned blocks[] = {256, 512};
    uint64_t n = l->x.n;
    uint32_t *values = program_allocate(n * sizeof *values), in_order = 0;
    for (uint64_t i = 0; i < n; i++) {
        values[i] = (uint32_t)measure_random_at(i);
        in_order = i == 0 ? values[0] : in_order * values[i] + 1;
    }
    gpu_cuda_input input = gpu_cuda_input_create(l->cuda->device, values, n * sizeof *values, false);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        report_row row = row_of(l, "a * b + 1", "", REDUCT_I32, 1);
        gpu_cuda_kernel kernel = cuda_lab_kernel(l->cuda, "applications/chain", "chain_i32", blocks[i] * sizeof *values,
                                                 row.note, sizeof row.note);
        if (kernel.function) {
            uint32_t got = run_chain(l, &kernel, blocks[i], input.address);
            snprintf(row.got, sizeof row.got, "%" PRIu32, got);
            snprintf(row.note, sizeof row.note,
                     "%" PRIu32 " here, %" PRIu32 " in order: not associative, so there is no right answer", got,
                     in_order);
        } else {
            row.verdict = REPORT_NOT_RUN;
        }
        snprintf(row.variant, sizeof row.variant, "tree, blocks of %u", blocks[i]);
        report_set(&row, MEASURE_BLOCK, blocks[i]);
        add(l, &row);
    }
    gpu_cuda_input_destroy(l->cuda->device, &input);
    free(values);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * All of them
 * ------------------------------------------------------------------------------------------------------------------ */

static void make_y(lab *l) {
    l->y = program_allocate(l->x.n * reduct_type_size(l->type));
    for (uint64_t i = 0; i < l->x.n; i++) {
        if (l->type == REDUCT_F32)
            ((float *)l->y)[i] = 1 - ((const float *)l->x.values)[i];
        else
            ((double *)l->y)[i] = 1 - ((const double *)l->x.values)[i];
    }
}

/* They are about real numbers: of floats, f32 where the ladder is climbed with integers. */
void cuda_run_applications(cuda_lab *cuda, const ladder_options *options, report *r) {
    lab l = {.cuda = cuda, .options = options, .r = r};
    l.type = options->type == REDUCT_F64 ? REDUCT_F64 : REDUCT_F32;
    if (options->n == 0) {
        report_warning(r, "no applications: most have no result for no elements");
        return;
    }
    if (ladder_data_create(&l.x, l.type, options->n) != 0) {
        report_warning(r, "no applications: there is no memory for their data");
        return;
    }
    make_y(&l);
    size_t bytes = options->n * reduct_type_size(l.type);
    l.on_device[0] = gpu_cuda_input_create(cuda->device, l.x.values, bytes, true);
    l.on_device[1] = gpu_cuda_input_create(cuda->device, l.y, bytes, true);
    add_pair(&l, "dot", REDUCT_DOT, true, 1);
    add_pair(&l, "maximum", REDUCT_MAX, false, 0);
    add_pair(&l, "mean", REDUCT_MEAN, true, 2);
    add_pair(&l, "norm2", REDUCT_NORM2, true, 2);
    add_product(&l);
    add_affine(&l);
    add_chain(&l);
    if (l.type == REDUCT_F32) /* texels have no 64 bits */
        cuda_run_textures(cuda, options, &l.x, &l.on_device[0], r);
    for (size_t i = 0; i < 2; i++)
        gpu_cuda_input_destroy(cuda->device, &l.on_device[i]);
    free(l.y);
    ladder_data_destroy(&l.x);
}
