/* Verifies the CUDA ladder: every rung with every finish and type, over sizes and blocks at which mistakes show.
 *
 *   ladder_cuda_check [--device cuda:N] [--quick] [--rung NAME] [--whole-warps] [--without NAME,NAME...]
 *
 * --quick is for compute-sanitizer's tools, under which kernels run a hundred times slower: few sizes and blocks, and
 * arrays that end where their memory ends. Otherwise each array is followed by bytes that would show in any sum (NaNs,
 * or -1), one array is longer than 2^32 elements, memory permitting, and the ladder is run as users run it.
 *
 * --whole-warps and --without are for devices that cannot do everything: blocks whose last warp is not whole, and rungs.
 *
 * Prints what is wrong, then one line: "N passed, N failed". Ends with status 0 if nothing failed. */
#include "ladder/check.h"
#include "ladder/cuda_groups.h"
#include "ladder/cuda_rows.h"

#include "measure/data.h"
#include "measure/machine.h"
#include "measure/parallel.h"
#include "program/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 1 << 16 };

typedef struct lab {
    cuda_lab cuda;
    const char *device, *rung;
    const char *without; /* names of rungs, with commas between them */
    bool quick, whole_warps;
    bool told, told_sorted; /* why the library does not sum rows here, and why CUB does not sort */
    check_count count;
    /* The data of the moment: as they should be, and as kernels may leave them. */
    ladder_data data;
    uint64_t pristine, work;
} lab;

static void count(lab *l, bool right, const char *what, const char *expected, const char *got) {
    check_add(&l->count, right, what, expected, got);
}

static const char *name_of(const cuda_rung *rung) {
    return ladder_rungs[rung->step].name;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rungs over sizes and blocks
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const lab *l) {
    return l->data.n * reduct_type_size(l->data.type);
}

static bool upload(lab *l, reduct_type type, uint64_t n) {
    gpu_cuda *device = l->cuda.device;
    if (ladder_data_create(&l->data, type, n) != 0)
        return false;
    uint64_t bytes = bytes_of(l), guard = l->quick ? 0 : GUARD;
    l->pristine = gpu_cuda_allocate(device, bytes);
    l->work = gpu_cuda_allocate(device, bytes + guard);
    gpu_cuda_upload(device, l->pristine, l->data.values, bytes);
    gpu_cuda_copy(device, l->work, l->pristine, bytes);
    gpu_cuda_fill(device, l->work + bytes, 0xff, guard);
    gpu_cuda_wait(device);
    return gpu_cuda_error(device) == NULL;
}

static void release(lab *l) {
    gpu_cuda_free(l->cuda.device, l->pristine);
    gpu_cuda_free(l->cuda.device, l->work);
    l->pristine = l->work = 0;
    ladder_data_destroy(&l->data);
}

/* One result, in memory that held something else before; the data are then as they were. */
static void run(lab *l, cuda_run *r, void *result) {
    gpu_cuda_fill(l->cuda.device, l->cuda.result, 0xff, 8);
    cuda_run_once(r, l->work);
    cuda_run_result(r, result);
    if (r->rung->destroys_input)
        gpu_cuda_copy(l->cuda.device, l->work, l->pristine, bytes_of(l));
}

/* Runs twice: the first result must be right, and the second the same bits, but for sums of floats by atomics. */
static void check(lab *l, cuda_run *r) {
    unsigned char first[8] = {0}, second[8] = {0};
    char what[160];
    report_row row = report_row_empty(), again = row;
    run(l, r, first);
    run(l, r, second);
    ladder_judge(&row, &l->data, first, cuda_run_terms(r));
    ladder_judge(&again, &l->data, second, cuda_run_terms(r));
    bool any_order = r->finish == LADDER_FINISH_ATOMIC && r->type != REDUCT_I32;
    bool right = report_verdict_is_good(row.verdict) && report_verdict_is_good(again.verdict) &&
                 (any_order || memcmp(first, second, sizeof first) == 0);
    const char *error = gpu_cuda_error(l->cuda.device);
    snprintf(what, sizeof what, "%s %s %s, n = %" PRIu64 ", blocks of %u", name_of(r->rung),
             ladder_finish_name(r->finish), reduct_type_name(r->type), r->n, r->block);
    const char *got = report_verdict_is_good(row.verdict) ? again.got : row.got;
    count(l, right && !error, what, row.expected, error ? error : got);
    if (error && !gpu_cuda_forgive(l->cuda.device)) {
        printf("The device cannot go on.\n%lu passed, %lu failed\n", l->count.passed, l->count.failed);
        exit(1);
    }
}

/* Whether a name is one of those in a list. */
static bool is_among(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

/* What a rung does not claim to do is not checked: finishes and blocks of the exact one, devices too old. Nor is what this
 * run leaves out. */
static bool is_claimed(const lab *l, const cuda_rung *rung, ladder_finish finish, unsigned block) {
    char why[160];
    if ((l->whole_warps && block % 32) || is_among(l->without, name_of(rung)))
        return false;
    if (rung->cover == CUDA_COVER_EXACT)
        return (finish == LADDER_FINISH_LAST_BLOCK || finish == LADDER_FINISH_DEFAULT) && block == CUDA_BLOCK_DEFAULT;
    if (!cuda_rung_suits(rung, finish, block, why, sizeof why))
        return false;
    char text[CUDA_IMAGE_NAME];
    const rd_cuda_image *image = rd_cuda_image_find(ladder_cuda_images, cuda_rung_image(rung, text));
    return !image || l->cuda.facts->capability >= image->least;
}

static void check_rung(lab *l, const cuda_rung *rung, ladder_finish finish, unsigned block) {
    cuda_run r;
    char why[160] = "";
    if (!is_claimed(l, rung, finish, block))
        return;
    if (rung->cover == CUDA_COVER_EXACT)
        block = 0; /* the library's, which old drivers do not tell */
    if (cuda_run_prepare(&r, &l->cuda, rung, finish, l->data.type, l->data.n, block, why, sizeof why)) {
        check(l, &r);
    } else {
        count(l, false, name_of(rung), "a kernel", why);
        gpu_cuda_forgive(l->cuda.device);
    }
}

static void check_all(lab *l, const unsigned *blocks, size_t block_count) {
    for (size_t i = 0; cuda_rung_at(i); i++)
        for (int finish = LADDER_FINISH_DEFAULT + 1; finish < LADDER_FINISHES; finish++)
            for (size_t b = 0; b < block_count; b++)
                if (ladder_wants(l->rung, name_of(cuda_rung_at(i))))
                    check_rung(l, cuda_rung_at(i), (ladder_finish)finish, blocks[b]);
}

static const reduct_type types[] = {REDUCT_I32, REDUCT_F32, REDUCT_F64};

static void check_sizes(lab *l) {
    static const uint64_t sizes[] = {
        0, 1, 2, 31, 32, 33, 1000, 1023, 1024, 1025, 65535, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 10 << 20};
    static const uint64_t few_sizes[] = {0, 1, 1000, 33333};
    static const unsigned blocks[] = {32, 96, 128, 256, 1000, 1024}, few_blocks[] = {32, 256, 1000};
    size_t count_of_sizes = l->quick ? sizeof few_sizes / sizeof *few_sizes : sizeof sizes / sizeof *sizes;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < count_of_sizes; s++) {
            if (!upload(l, types[t], l->quick ? few_sizes[s] : sizes[s]))
                count(l, false, "data", "memory", "none");
            else if (l->quick)
                check_all(l, few_blocks, sizeof few_blocks / sizeof *few_blocks);
            else
                check_all(l, blocks, sizeof blocks / sizeof *blocks);
            release(l);
        }
}

/* So many elements that a small device uses the stages of a ring again. */
static void check_rings(lab *l) {
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (!upload(l, types[t], 300007))
            count(l, false, "data", "memory", "none");
        for (size_t i = 0; cuda_rung_at(i); i++)
            if (cuda_rung_at(i)->shared == CUDA_SHARED_RING && ladder_wants(l->rung, name_of(cuda_rung_at(i))))
                check_rung(l, cuda_rung_at(i), LADDER_FINISH_LAST_BLOCK, CUDA_BLOCK_DEFAULT);
        release(l);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * More elements than 32 bits can count
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct share {
    uint64_t n;
    uint64_t sum[256]; /* by member */
} share;

/* As small_number() in support.cu makes them. */
static void sum_share(void *context, unsigned member, unsigned members) {
    share *s = context;
    size_t begin, end;
    uint64_t sum = 0;
    measure_share(s->n, 1, member, members, &begin, &end);
    for (uint64_t i = begin; i < end; i++)
        sum += measure_random_at(i) >> 56;
    s->sum[member] = sum;
}

static uint64_t sum_of_small_numbers(uint64_t n) {
    measure_machine machine;
    share s = {.n = n};
    measure_machine_describe(&machine);
    unsigned members = machine.processors < 256 ? machine.processors : 256;
    measure_team *team = measure_team_create(members);
    measure_team_run(team, sum_share, &s);
    measure_team_destroy(team);
    for (unsigned i = 1; i < members; i++)
        s.sum[0] += s.sum[i];
    return s.sum[0];
}

static bool make(lab *l) {
    char name[32], why[160];
    snprintf(name, sizeof name, "make_%s", reduct_type_name(l->data.type));
    gpu_cuda_kernel kernel = cuda_lab_kernel(&l->cuda, "support", name, 0, why, sizeof why);
    if (kernel.function)
        gpu_cuda_launch(l->cuda.device, &kernel, 32 * l->cuda.facts->multiprocessors, 256,
                        (void *[]){&l->work, &l->data.n});
    return kernel.function != NULL;
}

static void check_large_type(lab *l, reduct_type type, uint64_t n, uint64_t sum) {
    l->data = (ladder_data){.type = type, .n = n, .integer = (int32_t)(uint32_t)sum, .magnitude = (double)sum};
    l->data.real = type == REDUCT_F32 ? (double)(float)sum : (double)sum;
    snprintf(l->data.exact, sizeof l->data.exact, "%" PRIu64, sum);
    l->work = gpu_cuda_allocate(l->cuda.device, bytes_of(l));
    for (size_t i = 0; cuda_rung_at(i); i++) {
        cuda_run r;
        char why[160];
        report_row row = report_row_empty();
        unsigned char result[8] = {0};
        const cuda_rung *rung = cuda_rung_at(i);
        if (!ladder_wants(l->rung, name_of(rung)))
            continue;
        if (!make(l) || !cuda_run_prepare(&r, &l->cuda, rung, LADDER_FINISH_DEFAULT, type, n, 0, why, sizeof why)) {
            count(l, !is_claimed(l, rung, LADDER_FINISH_DEFAULT, CUDA_BLOCK_DEFAULT), name_of(rung), "a kernel", why);
            continue;
        }
        cuda_run_once(&r, l->work);
        cuda_run_result(&r, result);
        ladder_judge(&row, &l->data, result, cuda_run_terms(&r));
        const char *error = gpu_cuda_error(l->cuda.device);
        count(l, report_verdict_is_good(row.verdict) && !error, name_of(rung), row.expected, error ? error : row.got);
    }
    gpu_cuda_free(l->cuda.device, l->work);
    l->work = 0;
}

static void check_large(lab *l) {
    uint64_t n = (UINT64_C(1) << 32) + 12345;
    if (gpu_cuda_free_memory(l->cuda.device) < 5 * n)
        n = (UINT64_C(1) << 31) + 12345;
    if (gpu_cuda_free_memory(l->cuda.device) < 5 * n) {
        printf("Not checked for lack of memory on the device: %" PRIu64 " elements\n", n);
        return;
    }
    uint64_t sum = sum_of_small_numbers(n);
    check_large_type(l, REDUCT_I32, n, sum);
    check_large_type(l, REDUCT_F32, n, sum);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The ladder of rows
 * ------------------------------------------------------------------------------------------------------------------ */

/* One rung on the data of the moment, seen as a matrix. What it says that it cannot do is not checked. */
static void check_matrix(lab *l, size_t i, uint64_t rows, uint64_t columns) {
    cuda_rows_run r;
    char why[160] = "", what[160];
    report_row row = report_row_empty();
    if (cuda_rows_prepare(&r, &l->cuda, i, l->data.type, rows, columns, why, sizeof why)) {
        gpu_cuda_fill(l->cuda.device, r.result, 0xff, r.results * r.result_bytes);
        cuda_rows_once(&r, l->work);
        rows_sums sums = rows_sums_create(&l->data, rows, columns);
        cuda_rows_judge(&r, &sums, &row);
        rows_sums_destroy(&sums);
        const char *error = gpu_cuda_error(l->cuda.device);
        snprintf(what, sizeof what, "%s %s, %" PRIu64 " x %" PRIu64, cuda_rows_name(i), reduct_type_name(l->data.type),
                 rows, columns);
        count(l, report_verdict_is_good(row.verdict) && !error, what, row.expected, error ? error : row.got);
    } else if (r.step != LADDER_ROW_EXACT) {
        bool vectors = columns * reduct_type_size(l->data.type) % 16 != 0;
        count(l, vectors && r.step == LADDER_ROW_VECTORS, cuda_rows_name(i), "a kernel", why);
    } else if (!l->told) {
        l->told = true;
        printf("Not checked: %s: %s\n", cuda_rows_name(i), why);
    }
    cuda_rows_release(&r);
    gpu_cuda_forgive(l->cuda.device);
}

static void check_rows(lab *l) {
    static const uint64_t shapes[][2] = {{0, 8},      {1, 1},      {1, 100003}, {3, 5},     {7, 1000},
                                         {33, 64},    {257, 33},   {1000, 7},   {1000, 16}, {129, 129},
                                         {100003, 1}, {4096, 128}, {5, 65536}};
    static const uint64_t few[][2] = {{1, 1}, {3, 5}, {33, 64}, {300, 16}, {5, 2000}};
    size_t shape_count = l->quick ? sizeof few / sizeof *few : sizeof shapes / sizeof *shapes;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < shape_count; s++) {
            const uint64_t *shape = l->quick ? few[s] : shapes[s];
            if (!upload(l, types[t], shape[0] * shape[1]))
                count(l, false, "data", "memory", "none");
            for (size_t i = 0; i < cuda_rows_count(); i++)
                if (ladder_wants(l->rung, cuda_rows_name(i)))
                    check_matrix(l, i, shape[0], shape[1]);
            release(l);
        }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The ladder of groups
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a rung gives twice, the second time in memory that holds something: of group-slices and group-exact the same bits. */
static void check_grouped(lab *l, size_t i, const cuda_groups_keys *keys) {
    cuda_groups_run r;
    char why[160] = "", what[160];
    report_row row = report_row_empty();
    bool ready = cuda_groups_prepare(&r, &l->cuda, i, l->data.type, l->data.n, keys->groups, why, sizeof why);
    if (!ready && r.step == LADDER_GROUP_SORTED && !r.peers) {
        if (!l->told_sorted)
            printf("Not checked: %s: %s\n", cuda_groups_name(i), why);
        l->told_sorted = true;
    } else if (!ready) {
        uint64_t bytes = keys->groups * reduct_type_size(l->data.type);
        bool large = r.step == LADDER_GROUP_SHARED && bytes > l->cuda.facts->shared_per_block;
        count(l, large, cuda_groups_name(i), "a kernel", why);
    } else {
        for (int time = 0; time < 2 && (time == 0 || report_verdict_is_good(row.verdict)); time++) {
            gpu_cuda_fill(l->cuda.device, r.result, 0xff, r.groups * r.result_bytes);
            cuda_groups_once(&r, keys->input.address, l->work);
            cuda_groups_judge(&r, keys, &row);
        }
        const char *error = gpu_cuda_error(l->cuda.device);
        snprintf(what, sizeof what, "%s %s, n = %" PRIu64 ", %" PRIu64 " groups", cuda_groups_name(i),
                 reduct_type_name(l->data.type), l->data.n, keys->groups);
        count(l, report_verdict_is_good(row.verdict) && !error, what, row.expected, error ? error : row.got);
    }
    cuda_groups_release(&r);
    gpu_cuda_forgive(l->cuda.device);
}

static void check_groups(lab *l) {
    static const uint64_t shapes[][2] = {{0, 3},      {1, 1},       {31, 2},          {1000, 1},         {33333, 7},
                                         {65537, 64}, {100003, 33}, {1000003, 12345}, {1000003, 1000000}};
    static const uint64_t few[][2] = {{0, 3}, {1, 1}, {1000, 1}, {3333, 7}, {1000, 60000}};
    size_t shape_count = l->quick ? sizeof few / sizeof *few : sizeof shapes / sizeof *shapes;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < shape_count; s++) {
            const uint64_t *shape = l->quick ? few[s] : shapes[s];
            if (!upload(l, types[t], shape[0]))
                count(l, false, "data", "memory", "none");
            for (int order = 0; order < CUDA_GROUPS_ORDERS; order++) {
                cuda_groups_keys keys =
                    cuda_groups_keys_create(&l->cuda, &l->data, shape[1], (cuda_groups_order)order, false);
                for (size_t i = 0; i < cuda_groups_count(); i++)
                    if (ladder_wants(l->rung, cuda_groups_name(i)))
                        check_grouped(l, i, &keys);
                cuda_groups_keys_destroy(&l->cuda, &keys);
            }
            release(l);
        }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows of reports
 * ------------------------------------------------------------------------------------------------------------------ */

static void count_rows(lab *l, const report *r) {
    for (size_t i = 0; i < report_row_count(r); i++)
        check_row(&l->count, report_row_at(r, i), "library");
}

static void check_run(lab *l, const ladder_options *options) {
    reduct_error error = {.message = ""};
    report *r = report_create("check", "");
    if (ladder_cuda_run(options, r, &error) != REDUCT_OK)
        count(l, false, "the ladder", "a report", error.message);
    count_rows(l, r);
    report_destroy(r);
}

/* Whether rungs of a kind are checked. */
static bool wants_kind(const lab *l, ladder_rung_kind kind) {
    for (int i = 0; i < LADDER_RUNGS; i++)
        if (ladder_rungs[i].kind == kind && ladder_wants(l->rung, ladder_rungs[i].name))
            return true;
    return false;
}

/* The ladders as users run them, with everything but the specimens; on data that cancel as well. */
static void check_reports(lab *l, reduct_type type) {
    const ladder_options plain = {.device = l->device, .n = 1000003, .type = type, .rung = l->rung, .rounds = 3};
    if (!l->rung || gpu_rung_named(l->rung)) {
        ladder_options options = plain;
        options.cancelling = true;
        check_run(l, &options);
        options.cancelling = false;
        options.every_finish = options.applications = options.peers = true;
        check_run(l, &options);
    }
    ladder_options rows = plain, groups = plain;
    rows.columns = groups.groups = 1000;
    if (wants_kind(l, LADDER_RUNG_ROWS))
        check_run(l, &rows);
    if (wants_kind(l, LADDER_RUNG_GROUPS))
        check_run(l, &groups);
}

static void check_applications(lab *l, reduct_type type) {
    ladder_options options = {.n = 33333, .type = type, .rounds = 1};
    report *r = report_create("check", "");
    cuda_run_applications(&l->cuda, &options, r);
    count_rows(l, r);
    report_destroy(r);
}

/* Every rung of the list must be there. */
static void check_list(lab *l) {
    for (int i = 0; i < LADDER_RUNGS; i++)
        if (ladder_rungs[i].kind == LADDER_RUNG_GPU)
            count(l, cuda_rung_of((ladder_step)i) != NULL, ladder_rungs[i].name, "a rung", "none");
}

static int parse(int argc, char **argv, lab *l) {
    for (int i = 1; i < argc; i++) {
        const char **value = strcmp(argv[i], "--device") == 0    ? &l->device
                             : strcmp(argv[i], "--rung") == 0    ? &l->rung
                             : strcmp(argv[i], "--without") == 0 ? &l->without
                                                                 : NULL;
        if (strcmp(argv[i], "--quick") == 0) {
            l->quick = true;
        } else if (strcmp(argv[i], "--whole-warps") == 0) {
            l->whole_warps = true;
        } else if (value && i + 1 < argc) {
            *value = argv[++i];
        } else {
            fprintf(stderr, "usage: ladder_cuda_check [--device cuda:N] [--quick] [--rung NAME] [--whole-warps] "
                            "[--without NAME,NAME...]\n");
            return 2;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    lab l = {.device = "cuda:0"};
    reduct_error error = {.message = ""};
    if (parse(argc, argv, &l) != 0)
        return 2;
    if (l.whole_warps)
        printf("Not checked, as this device has whole warps alone: blocks that are no multiples of 32\n");
    if (l.without)
        printf("Not checked, as this device cannot run them: %s\n", l.without);
    if (cuda_lab_open(&l.cuda, l.device, &error) != REDUCT_OK) {
        printf("%s\n0 passed, 1 failed\n", error.message);
        return 1;
    }
    check_list(&l);
    check_sizes(&l);
    check_rings(&l);
    check_rows(&l);
    check_groups(&l);
    if (l.quick) {
        check_applications(&l, REDUCT_F32);
        check_applications(&l, REDUCT_F64);
    } else {
        check_large(&l);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            check_reports(&l, types[t]);
    }
    cuda_lab_close(&l.cuda);
    printf("%lu passed, %lu failed\n", l.count.passed, l.count.failed);
    return l.count.failed != 0;
}
