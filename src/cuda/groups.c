/* Plans over groups: see groups.h. */
#include "cuda/groups.h"

#include "core/reduction.h"
#include "core/status.h"
#include "cpu/numbers.h"
#include "cuda/kernels/tuning.h"
#include "state/partial.h"

#include <stdio.h>
#include <string.h>

uint64_t rd_cuda_groups_alone_most = RD_CUDA_GROUPS_ALONE_ELEMENTS, rd_cuda_groups_first_most = UINT32_MAX,
         rd_cuda_groups_move_least = RD_CUDA_GROUPS_MOVE_LEAST, rd_cuda_groups_gather_least = RD_CUDA_GROUPS_ROWS_BYTES;

/* ---------------------------------------------------------------------------------------------------------------------
 * Families
 * ------------------------------------------------------------------------------------------------------------------ */

/* Which kernels run for a reduction, and what they leave. */
struct kernels {
    char image[32], kind[2][24],
        finish[32];   /* names of scans end in their kinds; without the second kind there is one scan */
    char alone[32];   /* of what is no sum: by one block */
    bool products[2]; /* of sums: which terms */
    bool floats;      /* sums of floats, of which some may be put aside */
    unsigned pick;    /* what is no sum: RD_CUDA_GROUPS_... */
};

static bool is_half(const struct rd_type *type) {
    return type->kind == RD_FLOAT && type->bytes == 2;
}

static struct kernels kernels_of_sums(const reduct_reduction *reduction, bool moments) {
    const struct rd_type *element = rd_type(reduction->element);
    const enum rd_transform transform = rd_operator(reduction->op)->transform;
    const bool weighted = transform == RD_WEIGHTED,
               products = transform == RD_SQUARE || transform == RD_TIMES || weighted;
    struct kernels kernels = {
        .products = {products, true}, .floats = element->kind == RD_FLOAT, .finish = "groups_finish"};
    if (weighted)
        snprintf(kernels.finish, sizeof kernels.finish, "groups_finish_weighted");
    char type[8];
    if (kernels.floats)
        snprintf(type, sizeof type, "%s", is_half(element) ? "half" : element->name);
    else
        snprintf(type, sizeof type, "%u", element->bytes);
    snprintf(kernels.image, sizeof kernels.image, "kernels/groups_%s", kernels.floats ? type : "integers");
    snprintf(kernels.kind[0], sizeof kernels.kind[0], "%s_%s", products ? "products" : "terms", type);
    if (moments || weighted)
        snprintf(kernels.kind[1], sizeof kernels.kind[1], "products_%s", type);
    return kernels;
}

static struct kernels kernels_of_picks(const reduct_reduction *reduction, unsigned pick) {
    static const char *const names[] = {[RD_CUDA_GROUPS_EXTREME] = "rank",
                                        [RD_CUDA_GROUPS_FIRST] = "first",
                                        [RD_CUDA_GROUPS_COUNTS] = "count",
                                        [RD_CUDA_GROUPS_BITS] = "bits"};
    const unsigned bytes = rd_type(reduction->element)->bytes;
    struct kernels kernels = {.image = "kernels/groups_picks", .pick = pick};
    snprintf(kernels.kind[0], sizeof kernels.kind[0], "%s_%u", names[pick], bytes);
    if (pick == RD_CUDA_GROUPS_EXTREME && rd_operator(reduction->op)->finish == RD_INDEX)
        snprintf(kernels.kind[1], sizeof kernels.kind[1], "place_%u", bytes);
    if (rd_operator(reduction->op)->combine == RD_BOTH)
        memcpy(kernels.kind[1], kernels.kind[0], sizeof kernels.kind[1]);
    snprintf(kernels.finish, sizeof kernels.finish, "groups_finish_%u", bytes);
    snprintf(kernels.alone, sizeof kernels.alone, "groups_alone_%u", bytes);
    return kernels;
}

/* An extreme, or its place, for which one scan will do where a word has room for both. */
static unsigned pick_of_extremes(const reduct_reduction *reduction, uint64_t rows) {
    return rd_operator(reduction->op)->finish == RD_INDEX && rd_type(reduction->element)->bytes < 8 &&
                   rows <= rd_cuda_groups_first_most
               ? RD_CUDA_GROUPS_FIRST
               : RD_CUDA_GROUPS_EXTREME;
}

/* False where there are none. `moments`: a sum's elements are squared as well. */
static bool kernels_of(const reduct_reduction *reduction, uint64_t rows, bool moments, struct kernels *kernels) {
    switch (rd_family(reduction)) {
    case RD_EXACT_SUM:
    case RD_INTEGER_SUM:
        *kernels = kernels_of_sums(reduction, moments);
        return true;
    case RD_EXTREME:
        *kernels = kernels_of_picks(reduction, pick_of_extremes(reduction, rows));
        return true;
    case RD_COUNT:
        *kernels = kernels_of_picks(reduction, RD_CUDA_GROUPS_COUNTS);
        return true;
    case RD_BITS: /* truth values follow from counts */
        *kernels = kernels_of_picks(reduction, rd_is_truth(reduction) ? RD_CUDA_GROUPS_COUNTS : RD_CUDA_GROUPS_BITS);
        return true;
    case RD_FAST_SUM: /* which plans over groups do as exact ones */
    case RD_FLOAT_PRODUCT:
    case RD_INTEGER_PRODUCT:
        break;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What reductions share
 * ------------------------------------------------------------------------------------------------------------------ */

static enum rd_transform transform_of(const struct rd_many *many, size_t which) {
    return rd_operator(many->reduction[which].op)->transform;
}

static bool is_sum(const reduct_reduction *reduction) {
    const enum rd_family family = rd_family(reduction);
    return family == RD_EXACT_SUM || family == RD_INTEGER_SUM;
}

bool rd_cuda_groups_share(const struct rd_many *many, size_t which, size_t other) {
    const reduct_reduction *a = &many->reduction[which], *b = &many->reduction[other];
    const enum rd_transform of_a = transform_of(many, which), of_b = transform_of(many, other);
    const bool same_terms = (of_a == RD_MOMENTS ? RD_IDENTITY : of_a) == (of_b == RD_MOMENTS ? RD_IDENTITY : of_b),
               same_elements = (a->nan == REDUCT_NAN_IGNORE) == (b->nan == REDUCT_NAN_IGNORE);
    return is_sum(a) && is_sum(b) && same_terms && same_elements;
}

/* Whether a reduction's end looks at planes of counts, and of where NaNs are. Extremes see what was found; of sums, which results have
 * elements enough. */
static bool asks_counts(const reduct_reduction *reduction) {
    return is_sum(reduction) && rd_minimum(reduction) > 0;
}
static bool asks_nans(const reduct_reduction *reduction) {
    return rd_type(reduction->element)->kind == RD_FLOAT &&
           (is_sum(reduction) ? reduction->nan == REDUCT_NAN_ERROR : reduction->nan != REDUCT_NAN_IGNORE);
}

/* What a reduction and those that it shares its scans with ask for together: what scans are for, which of moments alone need no sign of a
 * sum that is zero. */
struct demands {
    enum rd_transform scanned;
    bool moments, counts, nans;
};

static struct demands find_demands(const struct rd_many *many, size_t which) {
    struct demands demands = {.scanned = transform_of(many, which)};
    for (size_t i = 0; i < many->reductions; i++) {
        if (i != which && !rd_cuda_groups_share(many, which, i))
            continue;
        const enum rd_transform transform = transform_of(many, i);
        demands.scanned = demands.scanned == RD_MOMENTS ? transform : demands.scanned;
        demands.moments = demands.moments || transform == RD_MOMENTS;
        demands.counts = demands.counts || asks_counts(&many->reduction[i]);
        demands.nans = demands.nans || asks_nans(&many->reduction[i]);
    }
    return demands;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Grids and workspaces
 * ------------------------------------------------------------------------------------------------------------------ */

/* Bits of a plane, so that the elements of a group stay within a word: at least 2^(63 - step) of them. */
static unsigned step_for(uint64_t elements) {
    unsigned bits = 0;
    while (bits < 63 && elements >> bits)
        bits++;
    return 63 - bits < RD_CUDA_GROUPS_STEP_MOST ? 63 - bits : RD_CUDA_GROUPS_STEP_MOST;
}

/* The room for what is put aside: of a list, for one in so many elements, as more are found as soon by looking at all of them; of
 * all planes together some times as much as the elements take, or that many bytes. Beyond it they serve some results at a
 * time. */
enum { ASIDE_MOST = 1 << 16, ASIDE_ONE_IN = 32, REST_DATA = 4, REST_LEAST = 8 << 20 };

static uint64_t at_most(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Exponents that terms may have, as kernels take them: halves as f32 of 11 bits, where denormals of f16 have all their places. The range of
 * f16 is not longer than a window: it begins a plane lower, so that the planes that most digits go to may lie anywhere on it. */
static void find_range(struct rd_cuda_groups_grid *grid, const struct rd_type *element, bool products, unsigned step) {
    const bool is_f16 = element->bytes == 2 && element->precision == RD_CUDA_GROUPS_HALF_BITS;
    const int precision = element->bytes == 2 ? RD_CUDA_GROUPS_HALF_BITS : element->precision,
              denormal_places = is_f16 ? RD_CUDA_GROUPS_HALF_BITS - 1 : 0;
    grid->lowest =
        (2 - element->max_exponent - precision - denormal_places) * (products ? 2 : 1) - (is_f16 ? (int)step : 0);
    grid->highest = (element->max_exponent + 1) * (products ? 2 : 1);
}

/* Takes room in the workspace. */
static size_t take(size_t *bytes, uint64_t words, size_t word) {
    const size_t at = *bytes;
    *bytes += (size_t)rd_divide_up(words * word, 256) * 256;
    return at;
}

/* What must be zero comes first, and of that the headers. */
static void place_zeros(struct rd_cuda_groups_pass *pass, bool counted, bool nans) {
    _Static_assert(sizeof(struct rd_cuda_groups_header) <= RD_CUDA_GROUPS_HEADER_BYTES, "a header has room");
    const uint64_t results = pass->groups.results;
    size_t *bytes = &pass->zero_bytes;
    for (unsigned s = 0; s < pass->scans; s++)
        pass->scan[s].header = take(bytes, 1, RD_CUDA_GROUPS_HEADER_BYTES);
    for (unsigned s = 0; s < pass->scans; s++) {
        struct rd_cuda_groups_scan *scan = &pass->scan[s];
        scan->window = take(bytes, results * scan->grid.window_planes, sizeof(uint64_t));
    }
    pass->notes[0] = pass->notes[1] = take(bytes, results, sizeof(uint32_t));
    if (pass->floats && pass->scans == 2 &&
        pass->scanned == RD_IDENTITY) /* squares of infinities are not what a sum had */
        pass->notes[1] = take(bytes, results, sizeof(uint32_t));
    if (pass->move)
        pass->buckets.counts = take(bytes, 1, sizeof(struct rd_cuda_groups_counts));
    if (pass->rank) {
        pass->gathered.begin = take(bytes, results / pass->groups.width, sizeof(uint32_t));
        pass->gathered.placed = take(bytes, 1, sizeof(uint64_t));
    }
    pass->counted = counted ? take(bytes, results, sizeof(uint64_t)) : SIZE_MAX;
    pass->nan_below = nans ? take(bytes, results, sizeof(uint64_t)) : SIZE_MAX;
}

static void place_rest(struct rd_cuda_groups_pass *pass) {
    uint64_t planes = 0;
    for (unsigned s = 0; s < pass->scans; s++)
        planes += pass->scan[s].grid.rest_planes;
    pass->bytes = pass->zero_bytes;
    const uint64_t data = REST_DATA * pass->groups.call.count * pass->element_bytes,
                   words = (data > REST_LEAST ? data : REST_LEAST) / sizeof(uint64_t);
    pass->groups.rest_room = planes ? at_most(pass->groups.results, words / planes) : pass->groups.results;
    for (unsigned s = 0; s < pass->scans; s++) {
        struct rd_cuda_groups_scan *scan = &pass->scan[s];
        scan->aside = take(&pass->bytes, scan->grid.aside_room, sizeof(uint64_t));
        scan->rest = take(&pass->bytes, pass->groups.rest_room * scan->grid.rest_planes, sizeof(uint64_t));
    }
}

/* Places of elements that are moved: buckets are aligned. */
static uint64_t places_of(const struct rd_cuda_groups_pass *pass) {
    return pass->groups.call.count + (uint64_t)RD_CUDA_GROUPS_BUCKETS * RD_CUDA_GROUPS_BUCKET_ALIGNED;
}

/* Those, and items: one of each bucket may be short. */
static void place_moved(struct rd_cuda_groups_pass *pass, bool pairs) {
    const uint64_t places = places_of(pass),
                   items = RD_CUDA_GROUPS_BUCKETS + pass->groups.call.count / pass->buckets.item;
    size_t *bytes = &pass->bytes;
    pass->buckets.next = take(bytes, RD_CUDA_GROUPS_BUCKETS, sizeof(uint32_t));
    pass->buckets.items = take(bytes, items, sizeof(struct rd_cuda_groups_item));
    pass->buckets.result = take(bytes, places, sizeof(uint32_t));
    pass->buckets.moved[0] = take(bytes, places, pass->element_bytes);
    pass->buckets.moved[1] = pairs ? take(bytes, places, pass->element_bytes) : SIZE_MAX;
}

static void place_rows(struct rd_cuda_groups_pass *pass) {
    pass->gathered.rank = take(&pass->bytes, pass->groups.rows, sizeof(uint32_t));
    pass->gathered.number = take(&pass->bytes, pass->groups.rows, sizeof(uint32_t));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Preparing
 * ------------------------------------------------------------------------------------------------------------------ */

/* The shared memory that a block may have. A function keeps the room that it was given last, so each gets as much as there is, whatever
 * it is for. */
static unsigned find_room(const rd_cuda_driver *driver, rd_cu_function add) {
    unsigned room = RD_CUDA_GROUPS_ROOM;
    while (room && driver->cuFuncSetAttribute(add, RD_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)room) != RD_CU_SUCCESS)
        room -= RD_CUDA_GROUPS_ROOM_STEP;
    return room;
}

/* The most slots, with owners, of a table that there is room for: a power of two. */
static uint32_t find_most_slots(const struct rd_cuda_groups_scan *scan) {
    uint32_t slots = RD_CUDA_GROUPS_SLOTS;
    while (slots && slots * scan->slot_bytes > scan->room)
        slots /= 2;
    return slots;
}

/* Bytes of a slot of a table that has one for each result: it need not say whose it is. */
static unsigned direct_bytes(const struct rd_cuda_groups_scan *scan) {
    return scan->slot_bytes - (unsigned)sizeof(uint32_t);
}

/* Whether a table has a slot for each of so many results: as many slots as that, in whole warps, if there are more than a power of two. */
static bool has_slots(const struct rd_cuda_groups_scan *scan, uint64_t results) {
    return scan->slots_most && results <= scan->room / direct_bytes(scan) / 32 * 32;
}

/* Slots of a table for so many results, without copies. */
static uint32_t find_slots(const struct rd_cuda_groups_scan *scan, uint64_t results) {
    uint32_t slots = scan->slots_most;
    if (results > slots && has_slots(scan, results))
        return (uint32_t)rd_divide_up(results, 32) * 32;
    while (slots && slots / 2 >= results)
        slots /= 2;
    return slots;
}

/* Bytes of so many slots, of so many results. */
static uint64_t table_bytes(const struct rd_cuda_groups_scan *scan, uint64_t slots, uint64_t results) {
    return slots * (slots >= results ? direct_bytes(scan) : scan->slot_bytes);
}

/* Bytes of one copy of a block's own planes, of so many results. */
static uint64_t own_copy(uint64_t results, unsigned planes) {
    return RD_CUDA_GROUPS_REST_COPY(results * planes) * sizeof(uint32_t);
}

static reduct_status find_kernel(struct rd_cuda_context *context, const char *image, const char *prefix,
                                 const char *kind, rd_cu_function *function, reduct_error *error) {
    char name[48];
    snprintf(name, sizeof name, "groups_%s_%s", prefix, kind);
    return rd_cuda_kernel(context, image, name, function, error);
}

static reduct_status prepare_scan(struct rd_cuda_groups_pass *pass, const struct kernels *kernels,
                                  const struct rd_type *element, unsigned which, reduct_error *error) {
    struct rd_cuda_context *context = pass->context;
    struct rd_cuda_groups_scan *scan = &pass->scan[which];
    const bool products = kernels->products[which];
    const char *kind = kernels->kind[which];
    unsigned tabled = kernels->pick ? 1 : RD_CUDA_GROUPS_TABLED(element->bytes, products);
    const reduct_status status = find_kernel(context, kernels->image, "add", kind, &scan->add, error);
    scan->products = products && !kernels->pick;
    scan->each = RD_CUDA_GROUPS_EACH(element->bytes, scan->products);
    scan->grid.window_planes = kernels->pick ? 1 : RD_CUDA_GROUPS_WINDOW(element->bytes, products);
    scan->slot_bytes =
        kernels->pick
            ? sizeof(uint32_t) + sizeof(uint64_t)
            : sizeof(uint32_t) * (1 + RD_CUDA_GROUPS_PIECES * tabled + (which == 0 && pass->counted != SIZE_MAX));
    if (kernels->floats) {
        find_range(&scan->grid, element, products, pass->groups.step);
        scan->grid.aside_room =
            pass->with_initial ? 0 : (uint32_t)at_most(pass->groups.call.count / ASIDE_ONE_IN, ASIDE_MOST);
        scan->grid.rest_planes =
            (uint32_t)(scan->grid.highest - scan->grid.lowest) / pass->groups.step + 2; /* the lowest is not full */
    }
    if (status == REDUCT_OK)
        scan->room = find_room(context->device->driver, scan->add);
    if (status == REDUCT_OK && tabled)
        scan->slots_most = find_most_slots(scan);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Buckets
 * ------------------------------------------------------------------------------------------------------------------ */

/* Bytes of shared memory of a block that moves tiles of so many rows. */
static unsigned moving_bytes(unsigned element_bytes, unsigned rows) {
    return (2 * RD_CUDA_GROUPS_BUCKETS + rows * RD_CUDA_GROUPS_ROW) * (unsigned)sizeof(uint32_t) +
           rows * RD_CUDA_GROUPS_ROW * element_bytes;
}

/* Planes of the rest of the planes that blocks may have, of so many results: all, if there is room for these beside a table, or some. */
static unsigned own_planes(const struct rd_cuda_groups_scan *scan, uint64_t results) {
    const uint64_t all =
        table_bytes(scan, find_slots(scan, results), results) + own_copy(results, scan->grid.rest_planes);
    return all <= scan->room ? scan->grid.rest_planes
                             : (unsigned)at_most(scan->grid.rest_planes, RD_CUDA_GROUPS_OWN_PLANES);
}

/* Whether blocks have a table for so many results, or their own window, in each scan; and their own rest of the planes. */
static bool have_tables(const struct rd_cuda_groups_pass *pass, uint64_t results) {
    bool have = true;
    for (unsigned s = 0; s < pass->scans; s++) {
        const struct rd_cuda_groups_scan *scan = &pass->scan[s];
        have = have && (scan->slots_most ? has_slots(scan, results)
                                         : own_copy(results, scan->grid.window_planes) <= scan->room);
    }
    return have;
}
/* Whether blocks have neither a table nor a window for results of some scan: every element goes to memory. */
static bool lacks_tables(const struct rd_cuda_groups_pass *pass) {
    bool lacks = false;
    for (unsigned s = 0; s < pass->scans; s++)
        lacks = lacks || (!pass->scan[s].slots_most &&
                          own_copy(pass->groups.results, pass->scan[s].grid.window_planes) > pass->scan[s].room);
    return lacks;
}
static bool have_own_rest(const struct rd_cuda_groups_pass *pass, uint64_t results) {
    bool have = true;
    for (unsigned s = 0; s < pass->scans; s++) {
        const struct rd_cuda_groups_scan *scan = &pass->scan[s];
        have = have &&
               table_bytes(scan, find_slots(scan, results), results) + own_copy(results, own_planes(scan, results)) <=
                   scan->room;
    }
    return have;
}

/* Results of a bucket: as many as blocks have tables for, unless there would be too few buckets, or too many. */
static uint8_t find_bucket(const struct rd_cuda_groups_pass *pass, bool open) {
    const uint64_t results = pass->groups.results;
    uint8_t log2 = 0;
    while (have_tables(pass, UINT64_C(2) << log2) && (!open || have_own_rest(pass, UINT64_C(2) << log2)) &&
           results >> log2 >= 2 * RD_CUDA_GROUPS_BUCKETS_LEAST)
        log2++;
    while ((results - 1) >> log2 >= RD_CUDA_GROUPS_BUCKETS)
        log2++;
    return log2;
}

/* The most elements of an item: as many as let all multiprocessors have some, yet enough for a table to pay. */
static uint32_t choose_item(const struct rd_cuda_groups_pass *pass) {
    const uint64_t multiprocessors = (uint64_t)pass->context->device->multiprocessors,
                   share = rd_divide_up(pass->groups.call.count, multiprocessors * RD_CUDA_GROUPS_ITEMS),
                   least = (uint64_t)RD_CUDA_GROUPS_ITEM_EACH << pass->buckets.size_log2[0],
                   item = at_most(share > least ? share : least, RD_CUDA_GROUPS_CHUNK_ELEMENTS);
    return (uint32_t)rd_divide_up(item, RD_CUDA_GROUPS_BUCKET_ALIGNED) * RD_CUDA_GROUPS_BUCKET_ALIGNED;
}

/* Words of planes that most elements are added to: each is an atomic operation. */
static unsigned words_of(const struct rd_cuda_groups_pass *pass) {
    const unsigned tabled = RD_CUDA_GROUPS_TABLED(pass->element_bytes, pass->scan[0].products);
    return (tabled ? tabled : pass->scan[0].grid.window_planes) + (pass->counted != SIZE_MAX);
}

/* Sums of floats into more results than blocks have tables for are such that elements may have to be moved, if there are enough of them. */
static reduct_status prepare_buckets(struct rd_cuda_groups_pass *pass, const struct kernels *kernels,
                                     const struct rd_type *element, reduct_error *error) {
    static const char image[] = "kernels/groups_buckets";
    const uint64_t count = pass->groups.call.count, results = pass->groups.results;
    const bool tables = have_tables(pass, results);
    struct rd_cuda_context *context = pass->context;
    char name[32];
    if (!kernels->floats || (tables && have_own_rest(pass, results)) || results < 2 ||
        count * element->bytes < rd_cuda_groups_move_least || count / RD_CUDA_GROUPS_MOVE_EACH < results ||
        places_of(pass) > UINT32_MAX)
        return REDUCT_OK;
    bool fits = true;
    reduct_status status = rd_cuda_kernel(context, image, "groups_count", &pass->count, error);
    snprintf(name, sizeof name, "groups_move_%u", element->bytes);
    if (status == REDUCT_OK)
        status = rd_cuda_kernel(context, image, name, &pass->move, error);
    for (unsigned s = 0; s < pass->scans && status == REDUCT_OK; s++) {
        status = find_kernel(context, kernels->image, "moved", kernels->kind[s], &pass->scan[s].add_moved, error);
        if (status == REDUCT_OK)
            fits = find_room(context->device->driver, pass->scan[s].add_moved) >= pass->scan[s].room && fits;
    }
    if (status != REDUCT_OK)
        return status;
    const unsigned room = find_room(context->device->driver, pass->move);
    pass->buckets.rows = RD_CUDA_GROUPS_ROWS;
    while (pass->buckets.rows && moving_bytes(element->bytes, pass->buckets.rows) > room)
        pass->buckets.rows--;
    if (!pass->buckets.rows || !fits) {
        pass->move = NULL;
        return REDUCT_OK;
    }
    pass->buckets.beyond_cache =
        lacks_tables(pass) || sizeof(uint64_t) * words_of(pass) * results >
                                  (uint64_t)context->device->l2_bytes / 100 * RD_CUDA_GROUPS_CACHE_PERCENT;
    pass->buckets.only_open = tables || (words_of(pass) == 1 && !pass->buckets.beyond_cache); /* moving takes longer */
    pass->buckets.size_log2[0] = find_bucket(pass, false);
    pass->buckets.size_log2[1] = find_bucket(pass, true);
    pass->buckets.item = choose_item(pass);
    return REDUCT_OK;
}

/* Long rows of sums are gathered, if there are enough of them. */
static reduct_status prepare_rows(struct rd_cuda_groups_pass *pass, const struct kernels *kernels,
                                  reduct_error *error) {
    static const char image[] = "kernels/groups_rows";
    const uint64_t count = pass->groups.call.count;
    if (kernels->pick || pass->groups.width * pass->element_bytes < RD_CUDA_GROUPS_ROW_BYTES || !count ||
        count * pass->element_bytes < rd_cuda_groups_gather_least || pass->groups.rows >= UINT32_MAX ||
        !pass->scan[0].slots_most)
        return REDUCT_OK;
    reduct_status status = rd_cuda_kernel(pass->context, image, "groups_rank", &pass->rank, error);
    if (status == REDUCT_OK)
        status = rd_cuda_kernel(pass->context, image, "groups_place", &pass->place, error);
    if (status == REDUCT_OK)
        status = rd_cuda_kernel(pass->context, image, "groups_order", &pass->order, error);
    for (unsigned s = 0; s < pass->scans && status == REDUCT_OK; s++)
        if (pass->scan[s].slots_most) /* its terms have digits */
            status =
                find_kernel(pass->context, kernels->image, "gather", kernels->kind[s], &pass->scan[s].gather, error);
    return status;
}

static reduct_status refuse(const struct rd_cuda_context *context, const char *what, reduct_error *error) {
    return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "groups: %s takes no %s in this version; expected device cpu",
                   context->device->names[0].text, what);
}

static struct rd_cuda_groups describe(const struct rd_many *many, const reduct_reduction *reduction) {
    const struct rd_type *index = rd_type(many->groups.index), *element = rd_type(reduction->element);
    const uint64_t negative = UINT64_C(1) << 31; /* and all above it are, of 32 bits with a sign */
    const uint64_t limit =
        index->kind == RD_SIGNED && index->bytes == 4 && many->groups.count > negative ? negative : many->groups.count;
    struct rd_cuda_groups groups = {.call = rd_cuda_describe(reduction),
                                    .rows = many->groups.elements,
                                    .width = many->groups.width,
                                    .results = many->layout.results,
                                    .limit = (uint32_t)limit,
                                    .step = step_for(many->groups.elements + 1),
                                    .index_bytes = index->bytes,
                                    .skip = many->groups.skip != 0,
                                    .mask_bits = many->mask == REDUCT_MASK_BITS,
                                    .mask_offset = many->mask_offset,
                                    .is_signed = element->kind == RD_SIGNED,
                                    .is_truth = reduction->element == REDUCT_BOOL,
                                    .element_bytes = element->bytes,
                                    .is_both = rd_operator(reduction->op)->combine == RD_BOTH};
    if (element->kind == RD_FLOAT)
        groups.infinity = (uint64_t)(2 * element->max_exponent + 1) << (element->precision - 1);
    groups.call.count = many->groups.elements * many->groups.width;
    return groups;
}

/* Whether one block has room for all results, and does not take longer than launches after each other would. */
static bool is_for_one_block(const struct rd_cuda_groups_pass *pass) {
    const uint64_t most = rd_cuda_groups_alone_most, results = pass->groups.results, count = pass->groups.call.count;
    return results <= RD_CUDA_GROUPS_ALONE_RESULTS && count <= most &&
           (count + (pass->with_initial ? results : 0)) * pass->scans <= most;
}

/* What comes before scans and behind them. When all else is known. */
static reduct_status find_ends(struct rd_cuda_groups_pass *pass, const struct kernels *kernels, bool fetched,
                               reduct_error *error) {
    static const char common[] = "kernels/groups_finish";
    struct rd_cuda_context *context = pass->context;
    const rd_cuda_driver *driver = context->device->driver;
    reduct_status status = rd_cuda_kernel(context, common, "groups_begin", &pass->begin, error);
    if (status == REDUCT_OK)
        status =
            rd_cuda_kernel(context, kernels->pick ? kernels->image : common, kernels->finish, &pass->finish, error);
    if (status == REDUCT_OK && kernels->floats && fetched)
        status = find_kernel(context, kernels->image, "special", kernels->kind[0], &pass->special, error);
    if (status == REDUCT_OK && kernels->floats && fetched)
        status = rd_cuda_kernel(context, common, "groups_rest", &pass->rest, error);
    if (status == REDUCT_OK && kernels->pick && !fetched && is_for_one_block(pass))
        status = rd_cuda_kernel(context, kernels->image, kernels->alone, &pass->alone, error);
    pass->overlaps = status == REDUCT_OK && rd_cuda_may_overlap(driver, pass->finish);
    for (unsigned s = 0; s < pass->scans; s++)
        pass->overlaps = pass->overlaps && rd_cuda_may_overlap(driver, pass->scan[s].add);
    return status;
}

reduct_status rd_cuda_groups_prepare(struct rd_cuda_context *context, const struct rd_many *many, size_t which,
                                     bool fetched, struct rd_cuda_groups_pass *pass, reduct_error *error) {
    const reduct_reduction *reduction = &many->reduction[which];
    const struct rd_type *element = rd_type(reduction->element);
    const struct demands demands = find_demands(many, which);
    struct kernels kernels;
    if (!kernels_of(reduction, many->groups.elements, demands.moments, &kernels))
        return refuse(context, rd_operator(reduction->op)->name, error);
    if (many->layout.results >= UINT32_MAX || many->groups.count >= UINT32_MAX)
        return refuse(context, "2^32 - 1 results or more", error);
    *pass = (struct rd_cuda_groups_pass){.context = context,
                                         .groups = describe(many, reduction),
                                         .scans = kernels.kind[1][0] ? 2 : 1,
                                         .scanned = (uint8_t)demands.scanned,
                                         .asks_counts = asks_counts(reduction),
                                         .asks_nans = asks_nans(reduction),
                                         .element_bytes = element->bytes,
                                         .with_initial = many->groups.with_initial != 0};
    if (pass->groups.step < RD_CUDA_GROUPS_STEP_LEAST)
        return refuse(context, "2^37 elements or more", error);
    const bool counted = demands.counts || (!kernels.pick && fetched);
    pass->own_scans = demands.moments && transform_of(many, which) != RD_MOMENTS ? 1 : pass->scans;
    pass->groups.is_pick = (uint8_t)kernels.pick;
    pass->floats = kernels.floats;
    pass->counted = counted ? 0 : SIZE_MAX;
    reduct_status status = REDUCT_OK;
    for (unsigned s = 0; status == REDUCT_OK && s < pass->scans; s++)
        status = prepare_scan(pass, &kernels, element, s, error);
    if (status == REDUCT_OK && !fetched)
        status = prepare_rows(pass, &kernels, error);
    if (status == REDUCT_OK && !pass->rank)
        status = prepare_buckets(pass, &kernels, element, error);
    place_zeros(pass, counted, demands.nans);
    pass->finish_threads = kernels.pick ? RD_CUDA_THREADS : RD_CUDA_GROUPS_ROUNDING;
    place_rest(pass);
    if (pass->rank)
        place_rows(pass);
    if (pass->move)
        place_moved(pass, rd_operator(reduction->op)->inputs == 2);
    if (status == REDUCT_OK)
        status = find_ends(pass, &kernels, fetched, error);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Launching
 * ------------------------------------------------------------------------------------------------------------------ */

/* A pass under way. */
struct launches {
    const struct rd_cuda_groups_pass *pass;
    const struct rd_cuda_groups_addresses *addresses;
    const rd_cuda_driver *driver;
    rd_cu_stream stream;
    unsigned multiprocessors;
    struct rd_cuda_groups_grid grid[2];
    struct rd_cuda_groups groups; /* with addresses */
    struct rd_cuda_groups_all all;
};

static void *at(const struct launches *launches, size_t place) {
    return place == SIZE_MAX ? NULL : (unsigned char *)launches->addresses->workspace + place;
}

/* A launch: of a parameter, which is that of one scan, or of all. What `follows` does so behind another one of the pass. */
static rd_cu_result launch(const struct launches *launches, rd_cu_function function, bool follows, uint64_t blocks,
                           unsigned threads, unsigned shared, void *parameter) {
    return rd_cuda_start_kernel(launches->driver, function, follows && launches->pass->overlaps,
                                blocks ? (unsigned)blocks : 1, threads, shared, launches->stream, parameter);
}

/* Whether loads of several elements, and of their indices, find them aligned. */
static bool is_aligned(const void *array, unsigned bytes, unsigned each) {
    const unsigned load = bytes * each;
    return (uintptr_t)array % (load < 16 ? load : 16) == 0;
}
static bool are_aligned(const struct rd_cuda_groups *groups, unsigned bytes, unsigned each) {
    return is_aligned(groups->call.x, bytes, each) && (!groups->call.y || is_aligned(groups->call.y, bytes, each)) &&
           (groups->width > 1 || !groups->indices || is_aligned(groups->indices, groups->index_bytes, each));
}

/* Chunks of a scan's tiles, for blocks that are there at once. */
static void choose_chunks(const struct launches *launches, unsigned which, struct rd_cuda_groups *groups) {
    const uint64_t tile = 32 * launches->pass->scan[which].each, warps = RD_CUDA_GROUPS_THREADS / 32,
                   tiles = rd_divide_up(groups->call.count, tile), most = RD_CUDA_GROUPS_CHUNK_ELEMENTS / tile,
                   turns = rd_divide_up(tiles, launches->multiprocessors * most);
    groups->chunk = turns ? rd_divide_up(tiles, launches->multiprocessors * turns) : 0;
    if (groups->chunk < warps)
        groups->chunk = warps;
}

/* Slots of the table of a block that takes so many elements of so many results; and whether it has planes of its own: the rest, if that may be `open`,
 * or the window, if there is no table. What is cleared and emptied for fewer elements than it has words costs more than it saves. Copies of slots take
 * the room that is left. Returns the bytes of shared memory. */
static unsigned choose_tables(const struct launches *launches, unsigned which, uint64_t elements, uint64_t results,
                              bool open, struct rd_cuda_groups *groups) {
    const struct rd_cuda_groups_scan *scan = &launches->pass->scan[which];
    const uint32_t slots = find_slots(scan, results);
    groups->slots = elements >= slots ? slots : 0;
    groups->direct = groups->slots >= results;
    groups->own_planes = (uint8_t)own_planes(scan, results);
    const uint64_t least = table_bytes(scan, groups->slots, results), rest = own_copy(results, groups->own_planes),
                   window = own_copy(results, scan->grid.window_planes), most = elements * sizeof(uint64_t);
    groups->own_rest = open && rest <= most && least + rest <= scan->room;
    groups->own_window =
        launches->pass->floats && !groups->own_rest && !scan->slots_most && window <= most && window <= scan->room;
    uint64_t own = groups->own_rest ? rest : groups->own_window ? window : 0;
    groups->rest_copies_log2 = 0;
    while (own && groups->rest_copies_log2 < RD_CUDA_GROUPS_COPIES_LOG2 && 2 * own <= RD_CUDA_GROUPS_REST_ROOM &&
           least + 2 * own <= scan->room) {
        groups->rest_copies_log2++;
        own *= 2;
    }
    unsigned copies_log2 = 0;
    if (groups->direct && !groups->is_pick)
        while (copies_log2 < RD_CUDA_GROUPS_COPIES_LOG2 && slots << copies_log2 < scan->slots_most &&
               ((uint64_t)slots << (copies_log2 + 1)) * direct_bytes(scan) + own <= scan->room)
            copies_log2++;
    groups->copies_log2 = 0;
    if (elements >= (uint64_t)slots << copies_log2) {
        groups->slots <<= copies_log2;
        groups->copies_log2 = (uint8_t)copies_log2;
    }
    const uint64_t table = table_bytes(scan, groups->slots, results), bytes = table + own;
    groups->rest_at = (uint32_t)(table / sizeof(uint32_t));
    return bytes ? (unsigned)bytes : sizeof(uint64_t); /* for claims */
}

/* What moving elements takes, and what takes those that were moved. */
static struct rd_cuda_groups_buckets aim_buckets(const struct launches *launches, const struct rd_cuda_groups *groups,
                                                 unsigned scan) {
    const struct rd_cuda_groups_pass *pass = launches->pass;
    struct rd_cuda_groups_buckets buckets = {
        .counts = at(launches, pass->buckets.counts),
        .next = at(launches, pass->buckets.next),
        .items = at(launches, pass->buckets.items),
        .result = at(launches, pass->buckets.result),
        .moved = {at(launches, pass->buckets.moved[0]), at(launches, pass->buckets.moved[1])},
        .tiles = rd_divide_up(groups->call.count, (uint64_t)pass->buckets.rows * RD_CUDA_GROUPS_ROW),
        .rows = pass->buckets.rows,
        .item = pass->buckets.item,
        .size_log2 = {pass->buckets.size_log2[0], pass->buckets.size_log2[1]},
        .vectors = are_aligned(groups, pass->element_bytes, RD_CUDA_GROUPS_ROW_EACH),
        .only_open = pass->buckets.only_open,
        .beyond_cache = pass->buckets.beyond_cache,
        .scan = (uint8_t)scan};
    return buckets;
}

/* What gathering rows takes: teams of as many lanes as a row has pieces for, and as many rows for each as leave work for all. */
static struct rd_cuda_groups_rows aim_rows(const struct launches *launches, const struct rd_cuda_groups *groups,
                                           unsigned scan) {
    const struct rd_cuda_groups_pass *pass = launches->pass;
    const unsigned each = pass->scan[scan].each;
    struct rd_cuda_groups_rows rows = {
        .begin = at(launches, pass->gathered.begin),
        .rank = at(launches, pass->gathered.rank),
        .number = at(launches, pass->gathered.number),
        .placed = at(launches, pass->gathered.placed),
        .each = RD_CUDA_GROUPS_ROWS_EACH,
        .vectors = groups->width % each == 0 && is_aligned(groups->call.x, pass->element_bytes, each) &&
                   (!groups->call.y || is_aligned(groups->call.y, pass->element_bytes, each))};
    while (rows.lanes_log2 < 5 && (uint64_t)each << rows.lanes_log2 < groups->width)
        rows.lanes_log2++;
    const uint64_t pieces = rd_divide_up(groups->width, (uint64_t)each << rows.lanes_log2),
                   teams = (uint64_t)launches->multiprocessors * RD_CUDA_GROUPS_THREADS >> rows.lanes_log2;
    while (rows.each > RD_CUDA_GROUPS_ROWS_ONCE &&
           groups->rows / rows.each * pieces < teams * RD_CUDA_GROUPS_ROWS_TURNS)
        rows.each /= 2;
    return rows;
}

/* What a scan's kernels are told: of the array's elements, or of the initial values. */
static struct rd_cuda_groups aim(const struct launches *launches, unsigned scan, bool initial) {
    const struct rd_cuda_groups_addresses *addresses = launches->addresses;
    const unsigned bytes = launches->pass->element_bytes, each = launches->pass->scan[scan].each;
    struct rd_cuda_groups groups = launches->groups;
    groups.grid[0] = launches->grid[scan];
    groups.grid[1] = launches->grid[!scan];
    groups.call.x = initial ? addresses->initial : addresses->input[0];
    const bool weighted = groups.call.transform == RD_WEIGHTED;
    groups.call.y = groups.call.transform == RD_TIMES || weighted ? addresses->input[1] : NULL;
    groups.of_weights = weighted && scan == 0;
    groups.products = launches->pass->scan[scan].products;
    groups.notes = at(launches, launches->pass->notes[scan]);
    groups.indices = initial ? NULL : addresses->indices;
    groups.mask = initial ? NULL : addresses->mask;
    groups.initial = initial;
    if (initial) {
        groups.call.count = groups.results;
        groups.rows = groups.results / groups.width;
    }
    if (scan > 0)
        groups.counted = NULL;
    if (groups.call.combine == RD_BOTH)
        groups.call.combine = scan > 0 ? RD_GREATEST : RD_LEAST;
    groups.opens = !initial || launches->groups.call.count == 0;
    choose_chunks(launches, scan, &groups);
    groups.shared_bytes =
        choose_tables(launches, scan, groups.chunk * 32 * each, groups.results, launches->pass->floats, &groups);
    if (!initial && launches->pass->move)
        groups.buckets = aim_buckets(launches, &groups, scan);
    if (!initial && launches->pass->scan[scan].gather)
        groups.gathered = aim_rows(launches, &groups, scan);
    groups.vectors = are_aligned(&groups, bytes, each);
    groups.plain = groups.vectors && groups.indices && groups.index_bytes == 4 && groups.width == 1 && !groups.mask;
    return groups;
}

static struct launches make_launches(const struct rd_cuda_groups_pass *pass,
                                     const struct rd_cuda_groups_addresses *addresses, rd_cu_stream stream) {
    const struct rd_cuda_device *device = pass->context->device;
    struct launches launches = {.pass = pass,
                                .addresses = addresses,
                                .driver = device->driver,
                                .stream = stream,
                                .multiprocessors = (unsigned)device->multiprocessors,
                                .groups = pass->groups};
    for (unsigned s = 0; s < pass->scans; s++) {
        const struct rd_cuda_groups_scan *scan = &pass->scan[s];
        struct rd_cuda_groups_grid *grid = &launches.grid[s];
        *grid = scan->grid;
        grid->header = at(&launches, scan->header);
        grid->window = at(&launches, scan->window);
        grid->aside = at(&launches, scan->aside);
        grid->rest = pass->floats ? at(&launches, scan->rest) : NULL;
    }
    struct rd_cuda_groups *groups = &launches.groups;
    groups->call.result = addresses->result;
    groups->call.outcome = addresses->outcome;
    groups->call.transform = pass->scanned;
    groups->failure = addresses->failure;
    groups->counted = at(&launches, pass->counted);
    groups->nan_below = at(&launches, pass->nan_below);
    groups->zero_vectors = pass->zero_bytes / 16;
    launches.all.scans = pass->scans;
    launches.all.with_initial = pass->with_initial;
    for (unsigned s = 0; s < pass->scans; s++)
        for (unsigned initial = 0; initial <= pass->with_initial; initial++)
            launches.all.of[s][initial] = aim(&launches, s, initial);
    return launches;
}

static rd_cu_result start_adding(const struct launches *launches, unsigned which, bool initial) {
    const struct rd_cuda_groups_scan *scan = &launches->pass->scan[which];
    struct rd_cuda_groups groups = launches->all.of[which][initial];
    const uint64_t tiles = rd_divide_up(groups.call.count, 32 * scan->each);
    if (!tiles)
        return RD_CU_SUCCESS;
    return launch(launches, scan->add, true, at_most(rd_divide_up(tiles, groups.chunk), launches->multiprocessors),
                  RD_CUDA_GROUPS_THREADS, groups.shared_bytes, &groups);
}

/* Rows in the order of their groups, unless the rest of the planes is open. */
static rd_cu_result start_gathering(const struct launches *launches, unsigned which) {
    struct rd_cuda_groups groups = launches->all.of[which][0];
    return launch(launches, launches->pass->scan[which].gather, true, launches->multiprocessors, RD_CUDA_GROUPS_THREADS,
                  0, &groups);
}

/* Puts rows in that order. */
static rd_cu_result start_ordering(const struct launches *launches) {
    const struct rd_cuda_groups_pass *pass = launches->pass;
    const rd_cu_function step[] = {pass->rank, pass->place, pass->order};
    const uint64_t most = (uint64_t)launches->multiprocessors * RD_CUDA_GROUPS_ORDER_BLOCKS, rows = pass->groups.rows,
                   of_step[] = {rows, pass->groups.results / pass->groups.width, rows};
    struct rd_cuda_groups groups = launches->all.of[0][0];
    rd_cu_result result = RD_CU_SUCCESS;
    for (int i = 0; i < 3 && result == RD_CU_SUCCESS; i++)
        result = launch(launches, step[i], true, at_most(rd_divide_up(of_step[i], RD_CUDA_GROUPS_ORDER_THREADS), most),
                        RD_CUDA_GROUPS_ORDER_THREADS, 0, &groups);
    return result;
}

/* Elements that were moved, if they were: for buckets of either size. */
static rd_cu_result start_adding_moved(const struct launches *launches, unsigned which) {
    const struct rd_cuda_groups_scan *scan = &launches->pass->scan[which];
    struct rd_cuda_groups groups = launches->all.of[which][0];
    struct rd_cuda_groups_buckets *buckets = &groups.buckets;
    rd_cu_result result = RD_CU_SUCCESS;
    groups.call.x = buckets->moved[0];
    groups.call.y = groups.call.y ? buckets->moved[1] : NULL;
    groups.nan_below = NULL; /* noted when they were moved */
    for (buckets->way = buckets->only_open; buckets->way < 2 && result == RD_CU_SUCCESS; buckets->way++) {
        const uint64_t results = UINT64_C(1) << buckets->size_log2[buckets->way];
        groups.shared_bytes = choose_tables(launches, which, buckets->item, results, buckets->way != 0, &groups);
        if (!groups.direct) /* no table has room for a bucket: other planes may lie behind where it would be */
            groups.slots = 0;
        result = launch(launches, scan->add_moved, true, launches->multiprocessors, RD_CUDA_GROUPS_THREADS,
                        groups.shared_bytes, &groups);
    }
    return result;
}

/* Should they have to be. */
static rd_cu_result start_moving(const struct launches *launches) {
    const struct rd_cuda_groups_pass *pass = launches->pass;
    struct rd_cuda_groups groups = launches->all.of[0][0];
    groups.vectors = groups.buckets.vectors;
    const uint64_t blocks = at_most(groups.buckets.tiles, launches->multiprocessors);
    rd_cu_result result = launch(launches, pass->count, true, blocks, RD_CUDA_GROUPS_MOVE_THREADS, 0, &groups);
    if (result == RD_CU_SUCCESS)
        result = launch(launches, pass->move, true, blocks, RD_CUDA_GROUPS_MOVE_THREADS,
                        moving_bytes(pass->element_bytes, groups.buckets.rows), &groups);
    return result;
}

/* All scans, after what must be zero is, and windows have their places. */
static rd_cu_result start_scans(struct launches *launches) {
    const struct rd_cuda_groups_pass *pass = launches->pass;
    const uint64_t clearing = rd_divide_up(pass->zero_bytes / 16, RD_CUDA_GROUPS_THREADS),
                   most = (uint64_t)launches->multiprocessors * RD_CUDA_GROUPS_FINISH_BLOCKS;
    rd_cu_result result = launch(launches, pass->begin, false, pass->scans + at_most(clearing, most),
                                 RD_CUDA_GROUPS_THREADS, 0, &launches->all);
    if (result == RD_CU_SUCCESS && pass->move)
        result = start_moving(launches);
    if (result == RD_CU_SUCCESS && pass->rank)
        result = start_ordering(launches);
    for (unsigned s = 0; s < pass->scans && result == RD_CU_SUCCESS; s++) {
        if (pass->scan[s].gather)
            result = start_gathering(launches, s);
        if (result == RD_CU_SUCCESS)
            result = start_adding(launches, s, false);
        if (result == RD_CU_SUCCESS && pass->move)
            result = start_adding_moved(launches, s);
        if (result == RD_CU_SUCCESS && pass->with_initial)
            result = start_adding(launches, s, true);
    }
    return result;
}

/* Of the results that there is room for the rest of from one on. */
static void choose_results(struct launches *launches, uint64_t first) {
    for (unsigned s = 0; s < 2; s++)
        for (unsigned initial = 0; initial < 2; initial++)
            launches->all.of[s][initial].rest_first = first;
}

/* Blocks that look at all elements, should they have to. */
static uint64_t blocks_for_rest(const struct launches *launches) {
    const struct rd_cuda_groups_pass *pass = launches->pass;
    const uint64_t results = pass->with_initial ? pass->groups.results : 0, count = launches->groups.call.count,
                   blocks = rd_divide_up(count > results ? count : results,
                                         (uint64_t)RD_CUDA_GROUPS_ROUNDING * RD_CUDA_GROUPS_REST_EACH);
    return pass->floats ? at_most(blocks, (uint64_t)launches->multiprocessors * RD_CUDA_GROUPS_REST_BLOCKS) : 0;
}

/* Tells the end what it is of: scans have served others besides. */
static void turn_to_end(struct launches *launches) {
    const struct rd_cuda_groups_pass *pass = launches->pass;
    launches->all.scans = pass->own_scans;
    for (unsigned s = 0; s < pass->own_scans; s++)
        for (unsigned initial = 0; initial <= pass->with_initial; initial++) {
            struct rd_cuda_groups *groups = &launches->all.of[s][initial];
            groups->call.transform = pass->groups.call.transform;
            groups->counted = pass->asks_counts ? groups->counted : NULL;
            groups->nan_below = pass->asks_nans ? groups->nan_below : NULL;
        }
}

/* Rounds, some results at a time if there is no room for more: at least once, for an index outside. */
static rd_cu_result start_end(struct launches *launches) {
    const struct rd_cuda_groups_pass *pass = launches->pass;
    const uint64_t results = pass->groups.results, room = pass->groups.rest_room,
                   most = (uint64_t)launches->multiprocessors * RD_CUDA_GROUPS_FINISH_BLOCKS;
    rd_cu_result result = RD_CU_SUCCESS;
    turn_to_end(launches);
    for (uint64_t first = 0; result == RD_CU_SUCCESS && (first < results || first == 0); first += room ? room : 1) {
        const uint64_t own = at_most(rd_divide_up(at_most(results - first, room), pass->finish_threads), most),
                       rest = blocks_for_rest(launches);
        choose_results(launches, first);
        result = launch(launches, pass->finish, true, own > rest ? own : rest, pass->finish_threads, 0, &launches->all);
    }
    return result;
}

rd_cu_result rd_cuda_groups_start(const struct rd_cuda_groups_pass *pass,
                                  const struct rd_cuda_groups_addresses *addresses, rd_cu_stream stream) {
    struct launches launches = make_launches(pass, addresses, stream);
    if (pass->alone)
        return launch(&launches, pass->alone, false, 1, RD_CUDA_GROUPS_ALONE_THREADS, 0, &launches.all);
    const rd_cu_result result = start_scans(&launches);
    return result == RD_CU_SUCCESS ? start_end(&launches) : result;
}

rd_cu_result rd_cuda_groups_end(const struct rd_cuda_groups_pass *pass,
                                const struct rd_cuda_groups_addresses *addresses, rd_cu_stream stream) {
    struct launches launches = make_launches(pass, addresses, stream);
    return start_end(&launches);
}

rd_cu_result rd_cuda_groups_finish(const struct rd_cuda_groups_pass *pass,
                                   const struct rd_cuda_groups_addresses *addresses, rd_cu_stream stream) {
    struct rd_cuda_groups_pass all = *pass;
    all.groups.rest_room = pass->groups.results;
    struct launches launches = make_launches(&all, addresses, stream);
    const uint64_t most = (uint64_t)launches.multiprocessors * RD_CUDA_GROUPS_FINISH_BLOCKS;
    return launch(&launches, pass->finish, false,
                  at_most(rd_divide_up(pass->groups.results, pass->finish_threads), most), pass->finish_threads, 0,
                  &launches.all);
}

rd_cu_result rd_cuda_groups_collect(const struct rd_cuda_groups_pass *pass,
                                    const struct rd_cuda_groups_addresses *addresses, void *special,
                                    rd_cu_stream stream) {
    struct launches launches = make_launches(pass, addresses, stream);
    rd_cu_result result = start_scans(&launches);
    if (result != RD_CU_SUCCESS || !pass->special)
        return result;
    struct rd_cuda_groups groups = launches.all.of[0][0];
    groups.counted = special;
    return launch(&launches, pass->special, false,
                  at_most(rd_divide_up(groups.call.count, RD_CUDA_THREADS),
                          (uint64_t)launches.multiprocessors * RD_CUDA_GROUPS_FINISH_BLOCKS),
                  RD_CUDA_THREADS, 0, &groups);
}

rd_cu_result rd_cuda_groups_collect_rest(const struct rd_cuda_groups_pass *pass,
                                         const struct rd_cuda_groups_addresses *addresses, uint64_t first,
                                         rd_cu_stream stream) {
    struct launches launches = make_launches(pass, addresses, stream);
    if (!pass->rest)
        return RD_CU_SUCCESS;
    choose_results(&launches, first);
    return launch(&launches, pass->rest, false, blocks_for_rest(&launches), RD_CUDA_GROUPS_ROUNDING, 0, &launches.all);
}
