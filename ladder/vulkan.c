/* The Vulkan ladder: each rung with its finishes, verified and timed as gpu.c does; then what was asked for besides. */
#include "ladder/vulkan_rows.h"

#include "program/sizes.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * How things are done here: see gpu.h
 * ------------------------------------------------------------------------------------------------------------------ */

static const char *rung_at(size_t i) {
    return vulkan_rung_at(i) ? ladder_rungs[vulkan_rung_at(i)->step].name : NULL;
}

static bool has_rung(void *lab, size_t i, reduct_type type) {
    return vulkan_has_rung(lab, vulkan_rung_at(i), type);
}

static report_row row(void *lab, const char *group, const char *name, reduct_type type, uint64_t n) {
    return vulkan_row(lab, group, name, type, n);
}

static void create_input(void *context, const void *values, uint64_t bytes) {
    vulkan_lab *lab = context;
    lab->input = gpu_vulkan_input_create(lab->device, values, bytes, true, lab->piece_most);
}

static void restore_input(void *context, const void *values, uint64_t bytes) {
    vulkan_lab *lab = context;
    (void)bytes;
    gpu_vulkan_input_restore(lab->device, &lab->input, values);
}

static void destroy_input(void *context) {
    vulkan_lab *lab = context;
    vulkan_run_destroy(&lab->run);
    gpu_vulkan_input_destroy(lab->device, &lab->input);
}

static bool prepare(void *context, size_t i, ladder_finish finish, reduct_type type, uint64_t n, unsigned block,
                    char *why, size_t room) {
    vulkan_lab *lab = context;
    (void)n; /* the input knows */
    vulkan_run_destroy(&lab->run);
    return vulkan_run_prepare(&lab->run, lab, vulkan_rung_at(i), finish, type, &lab->input, block, why, room);
}

static ladder_finish finish(void *context) {
    return ((vulkan_lab *)context)->run.finish;
}

static bool destroys_input(void *context) {
    return ((vulkan_lab *)context)->run.rung->destroys_input;
}

static void describe(void *context, report_row *described) {
    vulkan_run_describe(&((vulkan_lab *)context)->run, described);
}

static double terms(void *context) {
    return vulkan_run_terms(&((vulkan_lab *)context)->run);
}

static void run_once(void *context, uint64_t number) {
    vulkan_run_once(&((vulkan_lab *)context)->run, number);
}

static void result(void *context, void *to) {
    vulkan_run_result(&((vulkan_lab *)context)->run, to);
}

static measure_statistics time_run(void *context, unsigned rounds) {
    vulkan_lab *lab = context;
    return gpu_vulkan_time(lab->device, run_once, lab, rounds);
}

static double read_limit(void *lab) {
    return vulkan_lab_read_limit(lab);
}

static uint64_t free_memory(void *context) {
    return gpu_vulkan_free_memory(((vulkan_lab *)context)->device);
}

static const char *error_of(void *context) {
    return gpu_vulkan_error(((vulkan_lab *)context)->device);
}

static bool forgive(void *context) {
    return gpu_vulkan_forgive(((vulkan_lab *)context)->device);
}

static const gpu_device vulkan_device = {
    .rung_at = rung_at,
    .has_rung = has_rung,
    .row = row,
    .create_input = create_input,
    .restore_input = restore_input,
    .destroy_input = destroy_input,
    .prepare = prepare,
    .finish = finish,
    .destroys_input = destroys_input,
    .describe = describe,
    .terms = terms,
    .run_once = run_once,
    .result = result,
    .time = time_run,
    .read_limit = read_limit,
    .free_memory = free_memory,
    .error = error_of,
    .forgive = forgive,
};

/* ---------------------------------------------------------------------------------------------------------------------
 * The run as a whole
 * ------------------------------------------------------------------------------------------------------------------ */

/* What the device says of itself, under names that begin with it: other devices may stand in the same report. */
static void add_facts(const gpu_climb *c) {
    const vulkan_lab *lab = c->lab;
    const gpu_vulkan_facts *facts = lab->facts;
    char memory[32], shared[32], range[32], rate[32], name[48];
#define FACT(what, ...)                                                                                                \
    (snprintf(name, sizeof name, "vulkan:%u" what, facts->ordinal), report_fact(c->r, name, __VA_ARGS__))
    FACT("", "%s, Vulkan %u.%u%s", facts->name, facts->api >> 22, facts->api >> 12 & 0x3ff,
         facts->is_software ? ", run by the CPU" : "");
    FACT(" driver", "%s", facts->driver);
    FACT(" memory", "%s; a binding holds %s at most", program_size_text(facts->memory, memory, sizeof memory),
         program_size_text(facts->range, range, sizeof range));
    FACT(" groups", "up to %u invocations and %s of shared memory, in subgroups of %u", facts->group_most,
         program_size_text(facts->shared, shared, sizeof shared), facts->subgroup);
    if (c->limit > 0)
        FACT(" read limit", "%s, measured: 16-byte loads and next to no arithmetic",
             gpu_rate_text(c->limit, rate, sizeof rate));
    FACT(" time", facts->has_timestamps ? "per run, runs recorded back to back, between timestamps on the device"
                                        : "per run, runs recorded back to back, by the host's clock: it has no other");
    if (facts->is_validated)
        report_warning(c->r, "the validation layer watches: times are its times");
#undef FACT
}

static void run_all(gpu_climb *c) {
    vulkan_lab *lab = c->lab;
    c->limit = lab->read_limit = vulkan_lab_read_limit(lab);
    add_facts(c);
    if (c->options->columns) {
        vulkan_run_rows(lab, c->options, &c->data, c->r);
        return;
    }
    bool alive = gpu_add_rungs(c);
    destroy_input(lab);
    if (alive && c->options->applications)
        vulkan_run_applications(lab, c->options, c->r);
    if (lab->facts->is_software) /* a thousand times slower than a GPU: the sweep ends at n */
        c->sweep_most = c->options->n > 1 ? c->options->n : 1;
    if (alive && c->options->sweep)
        gpu_sweep(c);
    if (alive)
        gpu_add_warnings(c);
    else
        report_warning(c->r, "the device stopped: %s", gpu_vulkan_error(lab->device));
    if (*lab->distrusted)
        report_warning(c->r, "subgroup operations of %s are not to be trusted: %s gave a wrong sum in a trial",
                       lab->facts->name, lab->distrusted);
    if (alive && gpu_wants_specimens(c->options)) /* last, as they may stop the device */
        vulkan_run_specimens(lab, c->options, c->r);
}

/* Whether what is asked for by name is there in the lab's language; specimens always are, or say why not. */
static bool has_what_is_asked(const vulkan_lab *lab, const ladder_options *options) {
    if (!options->rung || gpu_wants_specimens(options))
        return true;
    if (options->columns)
        return strcmp(options->rung, ladder_rungs[LADDER_ROW_EXACT].name) != 0;
    for (size_t i = 0; vulkan_rung_at(i); i++)
        if (ladder_wants(options->rung, rung_at(i)) && vulkan_has_rung(lab, vulkan_rung_at(i), options->type))
            return true;
    return false;
}

/* One language's ladder. */
static reduct_status run_language(const ladder_options *options, vulkan_language language, const ladder_data *data,
                                  report *r, reduct_error *error) {
    vulkan_lab lab;
    gpu_climb c = {.device = &vulkan_device, .lab = &lab, .options = options, .r = r, .data = *data};
    reduct_status status = vulkan_lab_open(&lab, options->device, language, error);
    if (status != REDUCT_OK)
        return status;
    create_input(&lab, data->values, data->n * reduct_type_size(data->type));
    if (!has_what_is_asked(&lab, options))
        status = ladder_fail(error, REDUCT_ERROR_UNSUPPORTED, "there is no rung '%s' in %s", options->rung,
                             vulkan_language_title(language));
    else if (gpu_vulkan_error(lab.device))
        status = ladder_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "the data do not fit on the device: %s",
                             gpu_vulkan_error(lab.device));
    else
        run_all(&c);
    destroy_input(&lab);
    vulkan_lab_close(&lab);
    return status;
}

reduct_status ladder_vulkan_run(const ladder_options *options, report *r, reduct_error *error) {
    const char *language = options->language ? options->language : vulkan_language_name(VULKAN_GLSL);
    ladder_data data;
    reduct_status status = gpu_check_options(options, "Vulkan", error);
    if (status != REDUCT_OK)
        return status;
    if (ladder_data_create_for(options, &data) != 0)
        return ladder_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "there is no memory for so many elements");
    bool all = strcmp(language, "all") == 0;
    const ladder_rung *asked = options->rung ? gpu_rung_named(options->rung) : NULL;
    const vulkan_rung *rung = asked ? vulkan_rung_of((ladder_step)(asked - ladder_rungs)) : NULL;
    for (int i = 0; i < VULKAN_LANGUAGES && status == REDUCT_OK; i++) {
        bool lacks = rung && rung->lacks & 1u << i; /* of all languages, those that have it */
        if (all ? !lacks : strcmp(language, vulkan_language_name((vulkan_language)i)) == 0)
            status = run_language(options, (vulkan_language)i, &data, r, error);
    }
    ladder_data_destroy(&data);
    return status;
}
