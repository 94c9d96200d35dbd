/* What is pending of tables on a CUDA device: see pending.h. */
#include "cuda/pending.h"

#include "core/environment.h"
#include "core/status.h"
#include "cpu/numbers.h"

#include <stdlib.h>
#include <string.h>

/* Bits of a digit where nobody else's words are to be added. */
enum { DIGIT = 63 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Forms
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned length_of(uint64_t bits) {
    return bits ? 64 - (unsigned)__builtin_clzll(bits) : 0;
}

static unsigned words_most(const struct rd_cells *cells) {
    return cells->fields == 2 ? RD_CUDA_NUMERAL_WORDS_TWO : RD_CUDA_NUMERAL_WORDS_ONE;
}

struct rd_cuda_extent rd_cuda_extent_none(void) {
    return (struct rd_cuda_extent){0, {INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN}};
}

static bool is_zero(const struct rd_cuda_extent *extent, int field) {
    return extent->low[field] > extent->high[field];
}

struct rd_cuda_extent rd_cuda_extent_of_both(const struct rd_cuda_extent *a, const struct rd_cuda_extent *b) {
    struct rd_cuda_extent both = {.count = a->count > b->count ? a->count : b->count};
    for (int f = 0; f < 2; f++) {
        both.low[f] = a->low[f] < b->low[f] ? a->low[f] : b->low[f];
        both.high[f] = a->high[f] > b->high[f] ? a->high[f] : b->high[f];
    }
    return both;
}

struct rd_cuda_extent rd_cuda_extent_of_sums(const struct rd_cuda_extent *extent, unsigned headroom) {
    struct rd_cuda_extent all = *extent;
    all.count = extent->count >> (63 - headroom) ? UINT64_MAX >> 1 : extent->count << headroom;
    for (int f = 0; f < 2; f++)
        all.high[f] += is_zero(extent, f) ? 0 : (int32_t)headroom;
    return all;
}

/* A value from -2^high to below 2^high takes the bits from `low` on, and one for the sign. */
bool rd_cuda_numeral_form_for(const struct rd_cells *cells, const struct rd_cuda_extent *extent, unsigned headroom,
                              struct rd_cuda_numeral_form *form) {
    unsigned bits = length_of(extent->count) + !extent->count;
    *form = (struct rd_cuda_numeral_form){.words = 1, .digit = DIGIT - headroom, .count_bits = bits};
    for (int f = 0; f < cells->fields; f++) {
        form->bits[f] = is_zero(extent, f) ? 1 : (uint32_t)(extent->high[f] - extent->low[f]) + 1;
        form->low[f] = is_zero(extent, f) ? 0 : extent->low[f];
        bits += form->bits[f];
    }
    if (form->count_bits > 62 || bits > words_most(cells) * DIGIT)
        return false;
    while (form->digit * (form->words - 1) + RD_CUDA_NUMERAL_LAST < bits)
        form->words++;
    return form->words <= words_most(cells);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Launches
 * ------------------------------------------------------------------------------------------------------------------ */

static rd_cu_result start(const struct rd_cuda_context *context, rd_cu_function function, rd_cu_stream stream,
                          struct rd_cuda_numerals *numerals) {
    const struct rd_cuda_device *device = context->device;
    const uint64_t blocks = rd_divide_up(numerals->groups, RD_CUDA_THREADS),
                   most = (uint64_t)device->multiprocessors * RD_CUDA_GROUPS_FINISH_BLOCKS;
    return blocks ? rd_cuda_start_kernel(device->driver, function, false, (unsigned)(blocks < most ? blocks : most),
                                         RD_CUDA_THREADS, 0, stream, numerals)
                  : RD_CU_SUCCESS;
}

static reduct_status find_kernel(struct rd_cuda_context *context, const struct rd_cells *cells,
                                 rd_cu_function *function, reduct_error *error) {
    return rd_cuda_kernel(context, "kernels/numerals", cells->fields == 2 ? "numerals_two" : "numerals_one", function,
                          error);
}

static uint64_t *words_at(rd_cu_address address) {
    return (uint64_t *)(uintptr_t)address;
}

reduct_status rd_cuda_numbers_reform(struct rd_cuda_context *context, const struct rd_cells *cells,
                                     struct rd_cuda_numbers *numbers, const struct rd_cuda_numeral_form *form,
                                     rd_cu_stream stream, reduct_error *error) {
    rd_cu_function function;
    struct rd_cuda_numerals numerals = {.groups = numbers->groups,
                                        .from_groups = numbers->groups,
                                        .from = words_at(numbers->words),
                                        .to = words_at(numbers->words),
                                        .old_form = numbers->form,
                                        .form = *form};
    reduct_status status = find_kernel(context, cells, &function, error);
    if (status != REDUCT_OK)
        return status;
    const rd_cu_result result = start(context, function, stream, &numerals);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(context->device, result, "to write numbers of a table", error);
    numbers->form = *form;
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Home
 * ------------------------------------------------------------------------------------------------------------------ */

/* Integers of so many words at most. */
enum { WORDS = RD_CUDA_NUMERAL_WORDS_TWO };

static void shift_left(uint64_t *word, unsigned words, unsigned bits) { /* fewer than 64 */
    for (unsigned w = words; bits && w-- > 0;)
        word[w] = word[w] << bits | (w ? word[w - 1] >> (64 - bits) : 0);
}

static void shift_right(uint64_t *word, unsigned words, unsigned bits) {
    const uint64_t sign = (uint64_t)((int64_t)word[words - 1] >> 63);
    for (; bits; bits -= bits < DIGIT ? bits : DIGIT) {
        const unsigned by = bits < DIGIT ? bits : DIGIT;
        for (unsigned w = 0; w < words; w++)
            word[w] = word[w] >> by | (w + 1 < words ? word[w + 1] : sign) << (64 - by);
    }
}

static void add_word(uint64_t *word, unsigned words, uint64_t value, uint64_t above) {
    bool carry = false;
    for (unsigned w = 0; w < words; w++) {
        const uint64_t term = w ? above : value, sum = word[w] + term, all = sum + carry;
        carry = sum < term || all < sum;
        word[w] = all;
    }
}

static bool is_negative(const uint64_t *word, unsigned words) {
    return word[words - 1] >> 63;
}

static void negate(uint64_t *word, unsigned words) {
    for (unsigned w = 0; w < words; w++)
        word[w] = ~word[w];
    add_word(word, words, 1, 0);
}

static bool is_any(const uint64_t *word, unsigned words) {
    uint64_t any = 0;
    for (unsigned w = 0; w < words; w++)
        any |= word[w];
    return any != 0;
}

/* The lowest bits alone, with the highest of these as the sign. */
static void keep(uint64_t *word, unsigned words, unsigned bits) {
    const unsigned top = (bits - 1) / 64, over = 64 * (top + 1) - bits;
    word[top] = (uint64_t)((int64_t)(word[top] << over) >> over);
    for (unsigned w = top + 1; w < words; w++)
        word[w] = (uint64_t)((int64_t)word[top] >> 63);
}

/* Numerals of a state, on the host. */
struct fetched {
    const struct rd_cuda_numbers *numbers; /* without words: there are none */
    uint64_t *word;
};

/* A value as digits of a field, which all have its sign. Returns how many. */
static size_t cut(uint64_t *word, unsigned words, int low, int field, struct rd_digit *digit) {
    const bool negative = is_negative(word, words);
    size_t digits = 0;
    if (negative)
        negate(word, words);
    for (; is_any(word, words); low += DIGIT) {
        const int64_t value = (int64_t)(word[0] & INT64_MAX);
        if (value)
            digit[digits++] = (struct rd_digit){negative ? -value : value, (int16_t)low, (int16_t)field};
        shift_right(word, words, DIGIT);
    }
    return digits;
}

struct home {
    const struct rd_cells *cells;
    struct fetched *fetched; /* of each state */
};

static void take_part(const void *context, size_t s, uint64_t group, struct rd_digit digits[RD_DIGITS_MOST],
                      struct rd_cell_part *part) {
    const struct home *home = context;
    const struct rd_cuda_numbers *numbers = home->fetched[s].numbers;
    const struct rd_cuda_numeral_form *form = &numbers->form;
    uint64_t numeral[WORDS] = {0}, value[WORDS];
    const unsigned words = form->words;
    if (!numbers->words || group >= numbers->groups)
        return;
    for (unsigned w = words; w-- > 0;) {
        const uint64_t word = home->fetched[s].word[w * numbers->groups + group];
        shift_left(numeral, words, form->digit);
        add_word(numeral, words, word, (uint64_t)((int64_t)word >> 63));
    }
    part->seen = numeral[0] & (((uint64_t)1 << form->count_bits) - 1);
    part->digit = digits;
    shift_right(numeral, words, form->count_bits);
    if (home->cells[s].fields == 2) {
        memcpy(value, numeral, sizeof value);
        keep(value, words, form->bits[0]);
        shift_right(numeral, words, form->bits[0]);
        add_word(numeral, words, is_negative(value, words), 0);
        part->digits = cut(value, words, form->low[0], 0, digits);
    }
    const int last = home->cells[s].fields - 1;
    part->digits += cut(numeral, words, form->low[last], last, digits + part->digits);
}

static reduct_status fetch_all(const struct rd_cuda_pending *pending, struct fetched *fetched, reduct_error *error) {
    const struct rd_cuda_device *device = pending->context->device;
    rd_cu_result result = RD_CU_SUCCESS;
    bool has_memory = true;
    for (size_t s = 0; s < pending->states && has_memory && result == RD_CU_SUCCESS; s++) {
        const struct rd_cuda_numbers *numbers = &pending->numbers[s];
        const size_t bytes = (size_t)numbers->groups * numbers->form.words * sizeof(uint64_t);
        fetched[s].numbers = numbers;
        if (!bytes)
            continue;
        has_memory = (fetched[s].word = malloc(bytes)) != NULL;
        if (has_memory)
            result = device->driver->cuMemcpyDtoHAsync(fetched[s].word, numbers->words, bytes, NULL);
    }
    const rd_cu_result waited = device->driver->cuStreamSynchronize(NULL); /* before anything is freed */
    if (result == RD_CU_SUCCESS)
        result = waited;
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(device, result, "to bring a table's groups to the host", error);
    return has_memory ? REDUCT_OK
                      : rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY,
                                "table: memory for groups that come from a device could not be allocated");
}

static void drop(struct rd_pending *base) {
    struct rd_cuda_pending *pending = (struct rd_cuda_pending *)base;
    struct rd_cuda_stay stay;
    if (rd_cuda_enter_context(pending->context, &stay, NULL) == REDUCT_OK) { /* otherwise its memory is gone with it */
        for (size_t s = 0; s < pending->states; s++)
            rd_cuda_numbers_drop(pending->context, &pending->numbers[s]);
        rd_cuda_leave(pending->context->device, &stay);
    }
    free(pending);
}

/* With the context current. */
static reduct_status bring_all(reduct_table *table, const struct rd_cuda_pending *pending, reduct_error *error) {
    struct home home = {table->cells, calloc(pending->states, sizeof *home.fetched)};
    bool missing = false;
    if (!home.fetched)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: %zu bytes could not be allocated",
                       pending->states * sizeof *home.fetched);
    reduct_status status = fetch_all(pending, home.fetched, error);
    if (status == REDUCT_OK)
        status =
            rd_table_take(table, &(struct rd_table_parts){.groups = table->groups, .part = take_part, .context = &home},
                          &missing, error);
    for (size_t s = 0; s < pending->states; s++)
        free(home.fetched[s].word);
    free(home.fetched);
    return status;
}

static reduct_status bring_home(reduct_table *table, reduct_error *error) {
    struct rd_pending *base = table->pending;
    const struct rd_cuda_pending *pending = (const struct rd_cuda_pending *)base;
    struct rd_cuda_stay stay;
    rd_environment caller = rd_environment_enter();
    reduct_status status = rd_cuda_enter_context(pending->context, &stay, error);
    if (status == REDUCT_OK) {
        status = bring_all(table, pending, error);
        rd_cuda_leave(pending->context->device, &stay);
    }
    if (status == REDUCT_OK) {
        table->pending = NULL;
        drop(base);
    }
    rd_environment_leave(caller);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Adding
 * ------------------------------------------------------------------------------------------------------------------ */

struct rd_cuda_pending *rd_cuda_pending_of(const reduct_table *table) {
    struct rd_pending *pending = table->pending;
    return pending && pending->bring_home == bring_home ? (struct rd_cuda_pending *)pending : NULL;
}

struct rd_cuda_numbers *rd_cuda_pending_all(const reduct_table *table, const struct rd_cuda_context *context) {
    struct rd_cuda_pending *pending = rd_cuda_pending_of(table);
    bool all = pending && pending->context == context && !table->rows.used;
    for (size_t s = 0; all && s < pending->states; s++)
        all = pending->numbers[s].words && pending->numbers[s].groups == table->groups;
    return all ? pending->numbers : NULL;
}

void rd_cuda_numbers_drop(const struct rd_cuda_context *context, struct rd_cuda_numbers *numbers) {
    if (numbers->words)
        context->device->driver->cuMemFree(numbers->words);
    *numbers = (struct rd_cuda_numbers){.words = 0};
}

reduct_status rd_cuda_pending_make(reduct_table *table, struct rd_cuda_context *context, reduct_error *error) {
    if (table->pending)
        return REDUCT_OK;
    struct rd_cuda_pending *made = calloc(1, sizeof *made + table->states * sizeof *made->numbers);
    if (!made)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: %zu bytes could not be allocated",
                       sizeof *made + table->states * sizeof *made->numbers);
    made->base = (struct rd_pending){rd_cuda_pending_answer, bring_home, drop};
    made->context = context;
    made->states = table->states;
    table->pending = &made->base;
    return REDUCT_OK;
}

void rd_cuda_pending_take(reduct_table *table, size_t state, const struct rd_cuda_numbers *fresh) {
    struct rd_cuda_pending *pending = rd_cuda_pending_of(table);
    rd_cuda_numbers_drop(pending->context, &pending->numbers[state]);
    pending->numbers[state] = *fresh;
}

/* Of so many elements whose digits lie in a window. */
static struct rd_cuda_extent extent_of_pass(const struct rd_cuda_groups_pass *pass,
                                            const struct rd_cuda_groups_header *header) {
    const uint64_t elements = pass->groups.call.count;
    struct rd_cuda_extent extent = rd_cuda_extent_none();
    extent.count = elements;
    for (unsigned s = 0; s < pass->scans; s++) {
        extent.low[s] = header[s].unit;
        extent.high[s] = header[s].unit + (int32_t)(pass->scan[s].grid.window_planes * pass->groups.step) +
                         (int32_t)length_of(elements);
    }
    return extent;
}

/* Extents of sums of both. */
static struct rd_cuda_extent extent_of_sum(const struct rd_cuda_extent *a, const struct rd_cuda_extent *b) {
    struct rd_cuda_extent sum = rd_cuda_extent_of_both(a, b);
    sum.count = a->count + b->count;
    for (int f = 0; f < 2; f++)
        sum.high[f] += !is_zero(a, f) && !is_zero(b, f);
    return sum;
}

static struct rd_cuda_extent extent_of_notes(const struct rd_cuda_numeral_notes *notes,
                                             const struct rd_cuda_numeral_form *form) {
    struct rd_cuda_extent extent = rd_cuda_extent_none();
    extent.count = notes->count;
    for (int f = 0; f < 2; f++)
        if (notes->high_above[f]) {
            extent.low[f] = form->low[f] + (int32_t)(UINT32_MAX - notes->low_below[f]);
            extent.high[f] = form->low[f] + (int32_t)(notes->high_above[f] - 1);
        }
    return extent;
}

/* What the kernel is told of a pass, and of what was there. */
static struct rd_cuda_numerals describe(const struct rd_cuda_groups_pass *pass, const unsigned char *workspace,
                                        const struct rd_cuda_groups_header *header, const struct rd_cuda_numbers *old,
                                        const struct rd_cuda_numbers *fresh) {
    struct rd_cuda_numerals numerals = {.groups = fresh->groups,
                                        .from_groups = old->groups,
                                        .from = words_at(old->words),
                                        .to = words_at(fresh->words),
                                        .old_form = old->form,
                                        .form = fresh->form,
                                        .counted = (const uint64_t *)(const void *)(workspace + pass->counted),
                                        .step = pass->groups.step};
    for (unsigned s = 0; s < pass->scans; s++)
        numerals.found[s] =
            (struct rd_cuda_numeral_field){(const uint64_t *)(const void *)(workspace + pass->scan[s].window),
                                           pass->scan[s].grid.window_planes, header[s].unit};
    return numerals;
}

/* The notes lie behind the words. */
static rd_cu_result make_numbers(const rd_cuda_driver *driver, struct rd_cuda_numbers *fresh, rd_cu_address *notes) {
    const size_t words = (size_t)fresh->groups * fresh->room * sizeof(uint64_t);
    const rd_cu_result result = driver->cuMemAlloc(&fresh->words, words + sizeof(struct rd_cuda_numeral_notes));
    *notes = fresh->words + words;
    return result == RD_CU_SUCCESS ? driver->cuMemsetD8Async(*notes, 0, sizeof(struct rd_cuda_numeral_notes), NULL)
                                   : result;
}

reduct_status rd_cuda_pending_add(const reduct_table *table, size_t state, const struct rd_cuda_groups_pass *pass,
                                  const void *workspace, const struct rd_cuda_groups_header *header,
                                  struct rd_cuda_numbers *fresh, bool *made, reduct_error *error) {
    static const struct rd_cuda_numbers nothing = {.words = 0};
    const struct rd_cells *cells = &table->cells[state];
    const struct rd_cuda_pending *pending = rd_cuda_pending_of(table);
    const struct rd_cuda_numbers *old = pending ? &pending->numbers[state] : &nothing;
    const rd_cuda_driver *driver = pass->context->device->driver;
    const struct rd_cuda_extent found = extent_of_pass(pass, header), none = rd_cuda_extent_none(),
                                sum = extent_of_sum(old->words ? &old->extent : &none, &found);
    struct rd_cuda_numeral_notes notes;
    rd_cu_address notes_at;
    rd_cu_function function;
    *made = false;
    *fresh = (struct rd_cuda_numbers){.groups = pass->groups.results};
    if ((pending && pending->context != pass->context) || !rd_cuda_numeral_form_for(cells, &sum, 0, &fresh->form))
        return REDUCT_OK;
    reduct_status status = find_kernel(pass->context, cells, &function, error);
    if (status != REDUCT_OK)
        return status;
    fresh->room = fresh->form.words + (fresh->form.words < words_most(cells)); /* for what ranks have together */
    rd_cu_result result = make_numbers(driver, fresh, &notes_at);
    struct rd_cuda_numerals numerals = describe(pass, workspace, header, old, fresh);
    numerals.notes = (struct rd_cuda_numeral_notes *)(uintptr_t)notes_at;
    if (result == RD_CU_SUCCESS)
        result = start(pass->context, function, NULL, &numerals);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemcpyDtoHAsync(&notes, notes_at, sizeof notes, NULL);
    if (result == RD_CU_SUCCESS)
        result = driver->cuStreamSynchronize(NULL);
    *made = result == RD_CU_SUCCESS;
    if (*made)
        fresh->extent = extent_of_notes(&notes, &fresh->form);
    else
        rd_cuda_numbers_drop(pass->context, fresh);
    return *made || result == RD_CU_ERROR_OUT_OF_MEMORY
               ? REDUCT_OK
               : rd_cuda_fail(pass->context->device, result, "to add to a table", error);
}
