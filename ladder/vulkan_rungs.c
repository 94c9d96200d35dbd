/* The Vulkan ladder's rungs, in GLSL, HLSL and Slang, and how a rung with a finish is dispatched. */
#include "gpu/whole.h"
#include "ladder/vulkan_exact.h"
#include "ladder/vulkan_ladder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Rungs
 * ------------------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *title;
} languages[VULKAN_LANGUAGES] = {{"glsl", "GLSL"}, {"hlsl", "HLSL"}, {"slang", "Slang"}};

const char *vulkan_language_name(vulkan_language language) {
    return languages[language].name;
}

const char *vulkan_language_title(vulkan_language language) {
    return languages[language].title;
}

const char *vulkan_language_lack(vulkan_language language, const gpu_vulkan_facts *facts) {
    if (language == VULKAN_SLANG && !facts->local_size_id)
        return "this device does not take the size of a group as Slang's compiler says it (maintenance4)";
    return NULL;
}

/* exact is the library's own kernel, which is GLSL. */
enum { ONLY_GLSL = 1 << VULKAN_HLSL | 1 << VULKAN_SLANG };

/* clang-format off */
static const vulkan_rung rungs[] = {
    {.step = LADDER_GLOBAL_HALVING,    .cover = VULKAN_COVER_ONE, .destroys_input = true},
    {.step = LADDER_NEIGHBOUR_MODULO,  .cover = VULKAN_COVER_ONE},
    {.step = LADDER_NEIGHBOUR_STRIDED, .cover = VULKAN_COVER_ONE},
    {.step = LADDER_HALVING,           .cover = VULKAN_COVER_ONE},
    {.step = LADDER_FIRST_ADD,         .cover = VULKAN_COVER_TWO},
    {.step = LADDER_LAST_WARP,         .cover = VULKAN_COVER_TWO, .needs = VULKAN_NEEDS_BARRIERS},
    {.step = LADDER_UNROLLED,          .cover = VULKAN_COVER_TWO, .needs = VULKAN_NEEDS_BARRIERS},
    {.step = LADDER_GRID_STRIDE,       .cover = VULKAN_COVER_WALK, .needs = VULKAN_NEEDS_BARRIERS},
    {.step = LADDER_SHUFFLE,           .cover = VULKAN_COVER_WALK, .needs = VULKAN_NEEDS_SHUFFLES},
    {.step = LADDER_WARP_REDUCE,       .cover = VULKAN_COVER_WALK, .needs = VULKAN_NEEDS_SUMS},
    {.step = LADDER_VECTOR_LOADS,      .cover = VULKAN_COVER_VECTORS, .needs = VULKAN_NEEDS_SUMS},
    {.step = LADDER_ONE_LAUNCH,        .cover = VULKAN_COVER_VECTORS, .needs = VULKAN_NEEDS_SUMS},
    {.step = LADDER_GPU_EXACT,         .cover = VULKAN_COVER_EXACT, .lacks = ONLY_GLSL},
    {.step = LADDER_GPU_EXACT,         .cover = VULKAN_COVER_EXACT, .lacks = ONLY_GLSL, .window_u32 = true},
};
/* clang-format on */

const vulkan_rung *vulkan_rung_at(size_t i) {
    return i < sizeof rungs / sizeof *rungs ? &rungs[i] : NULL;
}

const vulkan_rung *vulkan_rung_of(ladder_step step) {
    for (size_t i = 0; vulkan_rung_at(i); i++)
        if (rungs[i].step == step)
            return &rungs[i];
    return NULL;
}

bool vulkan_has_rung(const vulkan_lab *lab, const vulkan_rung *rung, reduct_type type) {
    if (rung->lacks & 1u << lab->language)
        return false;
    return !rung->window_u32 || (type != REDUCT_I32 && lab->facts->f64);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * How many groups
 * ------------------------------------------------------------------------------------------------------------------ */

enum { LOADS = 4 }; /* as in vectors.glsl */

static uint64_t elements_per_group(const vulkan_run *run) {
    switch (run->rung->cover) {
    case VULKAN_COVER_TWO:
        return 2 * (uint64_t)run->group;
    case VULKAN_COVER_VECTORS:
        return run->group * LOADS * (16 / reduct_type_size(run->type));
    default:
        return run->group;
    }
}

/* Groups for n elements of one piece. Those that walk come in as many as the device holds at once; the others as n
 * demands. */
static uint64_t groups_for(const void *prepared, uint64_t n) {
    const vulkan_run *run = prepared;
    uint64_t wanted = gpu_ceil_divide(n, elements_per_group(run)), most = wanted;
    if (run->rung->cover != VULKAN_COVER_ONE && run->rung->cover != VULKAN_COVER_TWO)
        most = vulkan_lab_resident_groups(run->lab, run->group, gpu_vulkan_kernel_registers(run->kernel));
    if (wanted > most)
        wanted = most;
    return wanted ? wanted : 1; /* an empty array has a sum as well */
}

static uint64_t piece_elements(const vulkan_run *run, uint64_t copy, size_t piece, gpu_vulkan_slice *slice) {
    uint64_t bytes;
    *slice = gpu_vulkan_input_piece(run->input, copy, piece, &bytes);
    return bytes / reduct_type_size(run->type);
}

static uint64_t groups_of_all_pieces(const vulkan_run *run) {
    uint64_t groups = 0;
    gpu_vulkan_slice slice;
    for (size_t i = 0; i < run->input->pieces; i++)
        groups += groups_for(run, piece_elements(run, 0, i, &slice));
    return groups;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Making ready
 * ------------------------------------------------------------------------------------------------------------------ */

static vulkan_way way_of(ladder_finish finish) {
    return finish == LADDER_FINISH_ATOMIC       ? VULKAN_ATOMIC
           : finish == LADDER_FINISH_LAST_BLOCK ? VULKAN_LAST_GROUP
                                                : VULKAN_STORE;
}

/* What this device or language lacks for a run; null if nothing. */
static const char *lack(const vulkan_run *run) {
    const gpu_vulkan_facts *facts = run->lab->facts;
    vulkan_language language = run->lab->language;
    if (run->type == REDUCT_F64 && language == VULKAN_HLSL)
        return "in HLSL compiled for i32 and f32";
    if (run->type == REDUCT_F64 && !facts->f64)
        return "this device has no f64";
    if (run->type == REDUCT_F64 && run->finish == LADDER_FINISH_ATOMIC && !facts->i64_atomics)
        return "this device has no atomics of 64 bits";
    if (language == VULKAN_HLSL && !gpu_is_power_of_two(run->group))
        return "in HLSL compiled for powers of two";
    return vulkan_language_lack(language, facts);
}

static bool check_group(const vulkan_run *run, char *why, size_t room) {
    unsigned most = run->lab->facts->group_most;
    if (most > VULKAN_GROUP_MOST)
        most = VULKAN_GROUP_MOST;
    if (run->group >= VULKAN_GROUP_LEAST && run->group <= most)
        return true;
    snprintf(why, room, "a group of this device has %d to %u invocations", VULKAN_GROUP_LEAST, most);
    return false;
}

/* What a device does not offer of what a rung needs of subgroups; null if it has all. */
static const char *missing_of_subgroups(const gpu_vulkan_facts *facts, vulkan_needs needs) {
    if (needs == VULKAN_NEEDS_SHUFFLES && !(facts->subgroup_shuffle && facts->subgroup_shuffle_relative))
        return "shuffles";
    if (needs == VULKAN_NEEDS_SUMS && !facts->subgroup_arithmetic)
        return "arithmetic";
    if (needs >= VULKAN_NEEDS_BARRIERS && !facts->subgroup_ballot)
        return "ballots";
    return NULL;
}

static void name_shader(const vulkan_run *run, char *name, size_t room) {
    static const char *const ways[] = {"store", "atomic", "last"};
    const gpu_vulkan_facts *facts = run->lab->facts;
    const char *type = reduct_type_name(run->type);
    char own[40];
    const char *file = run->rung->file ? run->rung->file : gpu_file_name(run->rung->step, own, sizeof own);
    bool native = run->finish == LADDER_FINISH_ATOMIC &&
                  (run->type == REDUCT_F64 || (run->type == REDUCT_F32 && facts->f32_atomic_add));
    if (run->lab->language == VULKAN_HLSL)
        snprintf(name, room, "hlsl/%s_%s_%s_%u", file, type, ways[way_of(run->finish)], run->group);
    else if (run->lab->language == VULKAN_SLANG)
        snprintf(name, room, "slang/%s_%s%s_%s", file, type,
                 run->type == REDUCT_F64 && run->finish == LADDER_FINISH_ATOMIC ? "_atomic" : "",
                 ways[way_of(run->finish)]);
    else
        snprintf(name, room, "glsl/%s_%s%s%s", file, type, native ? "_atomic" : "",
                 run->in_shared_memory ? "_shared" : "");
}

static gpu_vulkan_kernel *kernel_of(vulkan_run *run, bool *passed, char *why, size_t room) {
    char name[96];
    name_shader(run, name, sizeof name);
    return vulkan_lab_kernel(run->lab, name, run->group, way_of(run->finish), run->type,
                             run->in_shared_memory || run->rung->is_untried ? VULKAN_NEEDS_NOTHING : run->rung->needs,
                             passed, why, room);
}

/* With subgroups if the device has what it takes and its trial was passed; otherwise, in GLSL, without. */
static bool choose_kernel(vulkan_run *run, char *why, size_t room) {
    const char *missing = missing_of_subgroups(run->lab->facts, run->rung->needs);
    bool passed = false;
    if (missing) {
        snprintf(run->note, sizeof run->note, "no %s of subgroups here", missing);
    } else {
        run->kernel = kernel_of(run, &passed, why, room);
        if (!run->kernel || passed)
            return run->kernel != NULL;
        snprintf(run->note, sizeof run->note, "this driver's subgroups gave a wrong sum in a trial");
    }
    if (run->lab->language != VULKAN_GLSL) {
        snprintf(why, room, "%s", run->note);
        return false;
    }
    strcat(run->note, ": in shared memory");
    run->in_shared_memory = true;
    run->kernel = kernel_of(run, &passed, why, room);
    return run->kernel != NULL;
}

/* The second launch is one group of the rung vector-loads, as large as groups are. */
static bool choose_last_step(vulkan_run *run, char *why, size_t room) {
    vulkan_run step = {.lab = run->lab,
                       .rung = vulkan_rung_of(LADDER_VECTOR_LOADS),
                       .finish = LADDER_FINISH_SECOND_LAUNCH,
                       .type = run->type,
                       .group = run->lab->facts->group_most};
    vulkan_lab *lab = run->lab;
    vulkan_language language = lab->language;
    if (step.group > VULKAN_GROUP_MOST)
        step.group = VULKAN_GROUP_MOST;
    lab->language = VULKAN_GLSL; /* whatever the rung is written in: HLSL has none */
    bool ready = choose_kernel(&step, why, room);
    lab->language = language;
    run->last_step = step.kernel;
    return ready;
}

static bool prepare_exact(vulkan_run *run, unsigned group, char *why, size_t room) {
    if (run->finish != LADDER_FINISH_LAST_BLOCK) {
        snprintf(why, room, "its groups leave no sums behind: the last one rounds");
        return false;
    }
    run->exact = vulkan_exact_create(run->lab, run->type, run->input,
                                     run->rung->window_u32 ? VULKAN_EXACT_U32 : VULKAN_EXACT_BEST, group, why, room);
    return run->exact != NULL;
}

bool vulkan_run_prepare(vulkan_run *run, vulkan_lab *lab, const vulkan_rung *rung, ladder_finish finish,
                        reduct_type type, const gpu_vulkan_input *input, unsigned group, char *why, size_t room) {
    *run = (vulkan_run){.lab = lab, .rung = rung, .type = type, .input = input, .clears = true};
    run->n = input->bytes / reduct_type_size(type);
    run->finish = finish == LADDER_FINISH_DEFAULT ? ladder_rungs[rung->step].finish : finish;
    if (rung->cover == VULKAN_COVER_EXACT)
        return prepare_exact(run, group, why, room);
    run->group = group ? group : VULKAN_GROUP_DEFAULT;
    if (!group && run->group > lab->facts->group_most)
        run->group = lab->facts->group_most;
    const char *lacks = lack(run);
    if (lacks) {
        snprintf(why, room, "%s", lacks);
        return false;
    }
    if (!check_group(run, why, room) || !choose_kernel(run, why, room))
        return false;
    if (run->finish == LADDER_FINISH_SECOND_LAUNCH && !choose_last_step(run, why, room))
        return false;
    run->compares = run->finish == LADDER_FINISH_ATOMIC && type != REDUCT_I32 &&
                    (type == REDUCT_F64 || lab->language != VULKAN_GLSL || !lab->facts->f32_atomic_add);
    run->groups = groups_of_all_pieces(run);
    run->passes = gpu_plan_passes(run->groups, groups_for, run);
    if (run->groups * reduct_type_size(type) > lab->facts->range) {
        snprintf(why, room, "more group sums than a binding holds: larger groups are needed");
        return false;
    }
    vulkan_lab_reserve(lab, run->groups * reduct_type_size(type));
    if (gpu_vulkan_error(lab->device)) {
        snprintf(why, room, "%s", gpu_vulkan_error(lab->device));
        return false;
    }
    return true;
}

void vulkan_run_destroy(vulkan_run *run) {
    if (run->exact)
        vulkan_exact_destroy(run->exact);
    run->exact = NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running
 * ------------------------------------------------------------------------------------------------------------------ */

/* A dispatch for each piece; the groups' sums follow each other in `to`. */
static void dispatch_pieces(vulkan_run *run, uint64_t copy, gpu_vulkan_buffer *to) {
    uint32_t first = 0;
    for (size_t i = 0; i < run->input->pieces; i++) {
        gpu_vulkan_slice slice;
        uint64_t n = piece_elements(run, copy, i, &slice), groups = groups_for(run, n);
        slice.bytes += run->bound_beyond;
        vulkan_lab_dispatch(
            run->lab, run->kernel, slice, to,
            (vulkan_push){
                .n = (uint32_t)n, .groups = (uint32_t)groups, .first = first, .total = (uint32_t)run->groups});
        first += (uint32_t)groups;
    }
}

/* One kernel over `n` group sums. */
static void dispatch_sums(vulkan_run *run, gpu_vulkan_kernel *kernel, gpu_vulkan_buffer *from, uint64_t n,
                          gpu_vulkan_buffer *to, uint64_t groups) {
    gpu_vulkan_slice slice = {from, 0, (n * reduct_type_size(run->type) + 15) / 16 * 16};
    vulkan_lab_dispatch(run->lab, kernel, slice, to,
                        (vulkan_push){.n = (uint32_t)n, .groups = (uint32_t)groups, .total = (uint32_t)groups});
}

/* Pass by pass, from one array of group sums to the other; the last one into the result. */
static void run_recursively(vulkan_run *run, uint64_t copy) {
    vulkan_lab *lab = run->lab;
    const gpu_passes *passes = &run->passes;
    for (unsigned i = 0; i < passes->count; i++) {
        gpu_vulkan_buffer *to = i + 1 == passes->count ? lab->result : lab->partials[i % 2];
        if (i == 0)
            dispatch_pieces(run, copy, to);
        else
            dispatch_sums(run, run->kernel, lab->partials[(i - 1) % 2], passes->blocks[i - 1], to, passes->blocks[i]);
    }
}

static void sum_on_host(vulkan_run *run) {
    vulkan_lab *lab = run->lab;
    gpu_vulkan_download(lab->device, lab->host_partials, lab->partials[0], 0,
                        run->groups * reduct_type_size(run->type));
    gpu_sum_on_host(run->type, lab->host_partials, run->groups, run->host_result);
}

void vulkan_run_once(vulkan_run *run, uint64_t copy) {
    vulkan_lab *lab = run->lab;
    if (run->exact) {
        vulkan_exact_run(run->exact, copy);
        return;
    }
    switch (run->finish) {
    case LADDER_FINISH_HOST:
        dispatch_pieces(run, copy, lab->partials[0]);
        sum_on_host(run);
        break;
    case LADDER_FINISH_ATOMIC:
        if (run->clears)
            gpu_vulkan_fill(lab->device, lab->result, 0, 0, 8);
        dispatch_pieces(run, copy, lab->partials[0]);
        break;
    case LADDER_FINISH_SECOND_LAUNCH:
        dispatch_pieces(run, copy, lab->partials[0]);
        dispatch_sums(run, run->last_step, lab->partials[0], run->groups, lab->result, 1);
        break;
    case LADDER_FINISH_RECURSIVE:
        run_recursively(run, copy);
        break;
    default:
        dispatch_pieces(run, copy, lab->partials[0]);
    }
}

void vulkan_run_result(vulkan_run *run, void *result) {
    size_t size = reduct_type_size(run->type);
    if (run->exact)
        vulkan_exact_result(run->exact, result);
    else if (run->finish == LADDER_FINISH_HOST)
        memcpy(result, run->host_result, size);
    else
        gpu_vulkan_download(run->lab->device, result, run->lab->result, 0, size);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------------------------------ */

/* Additions within a group: the tree, or subgroups, whose lanes a driver may add one after the other, twice, and the
 * sums of subgroups that a lane of the first one adds up. */
static double group_chain(const vulkan_lab *lab, unsigned group) {
    unsigned least = lab->facts->subgroup_least ? lab->facts->subgroup_least : 1;
    return gpu_ceil_log2(group) + 2.0 * lab->facts->subgroup_greatest + (double)group / least / least + 1;
}

/* Additions in a dispatch on n elements: one after the other in an invocation, then the group's. An invocation takes
 * whole rounds of what its group covers, and adds up to sixteen running sums and an element that is left over. */
static double chain(const vulkan_run *run, uint64_t n) {
    uint64_t cover = elements_per_group(run), rounds = gpu_ceil_divide(n, cover * groups_for(run, n));
    return (double)(rounds * gpu_ceil_divide(cover, run->group)) + group_chain(run->lab, run->group) + 18;
}

double vulkan_run_terms(const vulkan_run *run) {
    gpu_vulkan_slice slice;
    uint64_t groups = run->groups;
    if (run->exact)
        return 0;
    double terms = chain(run, piece_elements(run, 0, 0, &slice)); /* the first piece is the largest */
    switch (run->finish) {
    case LADDER_FINISH_SECOND_LAUNCH:
    case LADDER_FINISH_LAST_BLOCK:
        return terms + (double)gpu_ceil_divide(groups, run->group) + group_chain(run->lab, VULKAN_GROUP_MOST) + 18;
    case LADDER_FINISH_RECURSIVE:
        for (unsigned i = 1; i < run->passes.count; i++)
            terms += chain(run, run->passes.blocks[i - 1]);
        return terms;
    default:
        return terms + (double)groups;
    }
}

report_row vulkan_row(const vulkan_lab *lab, const char *group, const char *name, reduct_type type, uint64_t n) {
    char device[24];
    snprintf(device, sizeof device, "vulkan:%u", lab->facts->ordinal);
    return ladder_row(group, name, device, vulkan_language_name(lab->language), type, n);
}

void vulkan_run_describe(const vulkan_run *run, report_row *row) {
    snprintf(row->variant, sizeof row->variant, "%s", ladder_finish_name(run->finish));
    if (run->exact) {
        vulkan_exact_describe(run->exact, row);
        return;
    }
    report_set(row, MEASURE_BLOCK, run->group);
    report_set(row, MEASURE_REGISTERS, gpu_vulkan_kernel_registers(run->kernel));
    if (*run->note)
        snprintf(row->note, sizeof row->note, "%s", run->note);
    else if (run->compares)
        snprintf(row->note, sizeof row->note, "atomic by compare-and-swap");
    else if (run->input->pieces > 1)
        snprintf(row->note, sizeof row->note, "in %zu pieces: a binding holds no more", run->input->pieces);
}
