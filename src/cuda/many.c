/* Many results: how a plan's work is shared out over warps, and executions that wait for their results. */
#include "cuda/many.h"

#include "core/environment.h"
#include "core/reduction.h"
#include "core/status.h"
#include "cpu/numbers.h"
#include "cuda/channel.h"
#include "cuda/kernels/tuning.h"
#include "cuda/prepared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Families
 * ------------------------------------------------------------------------------------------------------------------ */

/* How a reduction's family is run: the kernel, and the image that holds it; and what pieces of a result need of the table. What
 * `name` lacks at its beginning is whether there is a mask. */
struct kernel {
    char image[32], name[40];
    uint64_t grid_words;      /* of a result, whatever its pieces */
    uint64_t slot_words;      /* of each piece, in a slot of its own */
    bool is_whole;            /* all lanes of a warp share each result, which is not cut */
    bool joins;               /* warps of a block may add up pieces of the same results */
    bool has_rows, has_tiles; /* there are kernels for rows of one tile, and of several (many_quick.cuh) */
    /* There are kernels for long rows (many_ringed.cuh), which may come in pieces, and for columns. */
    char ring_image[32];
    unsigned ring_bytes; /* of an element; else 0 */
    bool ring_cuts_rows, ring_takes_columns;
    char close_image[32]; /* of rows whose sums are known but for a bound (many_close.cuh); empty if there are none */
    char span_image[32];  /* kernels for segments that follow each other (many_spans.cuh); empty if there are none */
    unsigned span_tiles;  /* of a warp's ring */
    bool spans_take_rows;
};

/* Words of a table for the exact sums of a result. */
static uint64_t grid_words(const struct rd_type *element, enum rd_transform transform) {
    const bool wide = element->bytes == 8, both = transform == RD_MOMENTS || transform == RD_WEIGHTED,
               products = transform == RD_SQUARE || transform == RD_TIMES || both;
    const uint64_t elements = products && !both ? 0 : wide ? RD_CUDA_GRID_F64 : RD_CUDA_GRID_F32;
    return elements + (products ? wide ? RD_CUDA_GRID_F64 : RD_CUDA_GRID_F32_SQUARES : 0);
}

/* Fast sums are exact: that is within their bound, and the same bits however results are shared out. */
static struct kernel kernel_of(const reduct_reduction *reduction, bool masked) {
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_type *element = rd_type(reduction->element);
    struct kernel kernel = {.slot_words = 0};
    const bool of_elements = op->transform == RD_IDENTITY || op->transform == RD_ABSOLUTE;
    switch (rd_family(reduction)) {
    case RD_EXACT_SUM:
    case RD_FAST_SUM:
        snprintf(kernel.image, sizeof kernel.image, "kernels/many_%s", element->name);
        snprintf(kernel.name, sizeof kernel.name, "%s", rd_cuda_transform_name(op, element));
        kernel.grid_words = grid_words(element, op->transform) + RD_CUDA_TABLE_EXTRA;
        kernel.has_rows = op->transform != RD_WEIGHTED;
        kernel.has_tiles = kernel.has_rows && (element->bytes == 8 || !of_elements);
        if (kernel.has_rows && element->bytes == 4 && rd_result_size(reduction) == 4)
            snprintf(kernel.close_image, sizeof kernel.close_image, "kernels/many_close");
        kernel.joins = true;
        kernel.ring_bytes = op->inputs == 1 && element->bytes < 8 ? element->bytes : 0;
        kernel.ring_cuts_rows = element->bytes == 2 || !of_elements;
        kernel.ring_takes_columns = true;
        snprintf(kernel.ring_image, sizeof kernel.ring_image, "kernels/many_ringed_%s", element->name);
        if (op->inputs == 1)
            snprintf(kernel.span_image, sizeof kernel.span_image, "kernels/many_spans_%s", element->name);
        kernel.span_tiles = RD_CUDA_SPAN_TILES(op->transform == RD_MOMENTS ? 2 : 1);
        break;
    case RD_INTEGER_SUM:
        snprintf(kernel.image, sizeof kernel.image, "kernels/many_integers");
        snprintf(kernel.name, sizeof kernel.name, "integer%s_%d",
                 op->transform == RD_WEIGHTED ? "_weighted"
                 : op->inputs == 2            ? "_pairs"
                                              : "s",
                 element->bytes);
        kernel.slot_words = RD_CUDA_SLOT_INTEGER_SUM + masked;
        kernel.joins = true;
        break;
    case RD_EXTREME:
        snprintf(kernel.image, sizeof kernel.image, "kernels/many_extremes");
        snprintf(kernel.name, sizeof kernel.name, "%s_%d", op->combine == RD_BOTH ? "ends" : "extreme", element->bytes);
        kernel.slot_words = RD_CUDA_SLOT_EXTREME;
        kernel.joins = true;
        if (op->combine != RD_BOTH)
            snprintf(kernel.span_image, sizeof kernel.span_image, "kernels/many_spans_extremes");
        kernel.spans_take_rows = op->combine != RD_BOTH;
        kernel.span_tiles = RD_CUDA_SPAN_TILES(1);
        break;
    case RD_COUNT:
    case RD_BITS:
        snprintf(kernel.image, sizeof kernel.image, "kernels/many_counts");
        snprintf(kernel.name, sizeof kernel.name, "count_%d", element->bytes);
        kernel.slot_words = RD_CUDA_SLOT_COUNT + masked;
        kernel.joins = true;
        break;
    case RD_FLOAT_PRODUCT:
        snprintf(kernel.image, sizeof kernel.image, "kernels/many_products");
        snprintf(kernel.name, sizeof kernel.name, "product_%s", element->name);
        kernel.is_whole = true;
        break;
    case RD_INTEGER_PRODUCT:
        snprintf(kernel.image, sizeof kernel.image, "kernels/many_products");
        snprintf(kernel.name, sizeof kernel.name, "product_%d", element->bytes);
        kernel.slot_words = RD_CUDA_SLOT_INTEGER_PRODUCT;
        break;
    }
    return kernel;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sharing out
 * ------------------------------------------------------------------------------------------------------------------ */

/* The least power of two that is not less, at most 32. */
static unsigned power_for(uint64_t least) {
    unsigned power = 1;
    while (power < 32 && power < least)
        power *= 2;
    return power;
}

static uint64_t magnitude(int64_t x) {
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* Where there are no elements their strides may be anything, and no address is made of them. */
static struct rd_cuda_axis axis_of(const struct rd_layout *layout, const struct rd_axis *axis, int64_t result_stride) {
    struct rd_cuda_axis to = {axis->length, {axis->stride[0], axis->stride[1]}, result_stride};
    if (layout->count == 0)
        to.stride[0] = to.stride[1] = 0;
    return to;
}

static void copy_axes(struct rd_cuda_many *to, const struct rd_layout *layout) {
    unsigned at = 0;
    to->kept_axes = (uint16_t)layout->kept_axes;
    to->reduced_axes = (uint16_t)layout->reduced_axes;
    for (unsigned k = 0; k < layout->kept_axes; k++, at++)
        to->axis[at] = axis_of(layout, &layout->kept[k], layout->kept[k].result_stride);
    for (unsigned k = 0; k < layout->reduced_axes; k++, at++)
        to->axis[at] = axis_of(layout, &layout->reduced[k], 0);
    for (unsigned i = 0; i < 2; i++)
        to->step[i] = layout->reduced_axes ? to->axis[at - 1].stride[i] : 1;
}

/* Where entries of the mask lie. */
static void describe_mask(struct rd_cuda_masked *to, const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    to->bits = many->mask == REDUCT_MASK_BITS;
    to->first = rd_many_is_segmented(many) ? 0 : layout->first[RD_MASK];
    to->first = (int64_t)((uint64_t)to->first + many->mask_offset);
    to->step = 1;
    if (rd_many_is_segmented(many))
        return;
    unsigned at = 0;
    for (unsigned k = 0; k < layout->kept_axes; k++)
        to->stride[at++] = layout->count ? layout->kept[k].stride[RD_MASK] : 0;
    for (unsigned k = 0; k < layout->reduced_axes; k++)
        to->stride[at++] = to->step = layout->count ? layout->reduced[k].stride[RD_MASK] : 0;
}

/* Whether neighbouring results lie closer together than the elements of one. */
static bool lie_across(const struct rd_layout *layout) {
    return layout->kept_axes && layout->reduced_axes &&
           magnitude(layout->kept[layout->kept_axes - 1].stride[0]) <
               magnitude(layout->reduced[layout->reduced_axes - 1].stride[0]);
}

/* Whether every result, and every run of its elements, begins at a multiple of a vector where the input does. */
static bool has_vectors(const struct rd_layout *layout, unsigned inputs, unsigned per_vector) {
    bool aligned = layout->reduced_axes == 0 || layout->reduced_axes == 1 ||
                   layout->reduced[layout->reduced_axes - 1].length % per_vector == 0;
    for (unsigned i = 0; aligned && i < inputs; i++) {
        aligned = layout->reduced_axes > 0 && layout->reduced[layout->reduced_axes - 1].stride[i] == 1 &&
                  layout->first[i] % (int64_t)per_vector == 0;
        for (unsigned k = 0; k < layout->kept_axes; k++)
            aligned = aligned && layout->kept[k].stride[i] % (int64_t)per_vector == 0;
        for (unsigned k = 0; k + 1 < layout->reduced_axes; k++)
            aligned = aligned && layout->reduced[k].stride[i] % (int64_t)per_vector == 0;
    }
    return aligned;
}

/* The exponent of the least power of two that is not less. */
static unsigned log2_for(uint64_t least) {
    unsigned log2 = 0;
    while ((uint64_t)1 << log2 < least)
        log2++;
    return log2;
}

/* Which segments are put off, and their pieces, given the bytes of an element: so long ones that the warps that there are at once
 * share a segment of all elements. Where none can be as long, nothing. */
static void cut_segments(struct rd_cuda_pass *pass, const struct kernel *kernel, unsigned bytes,
                         unsigned multiprocessors) {
    struct rd_cuda_many *to = &pass->masked.many;
    const uint64_t each = RD_CUDA_MANY_COUNT(bytes),
                   pieces = (uint64_t)multiprocessors * RD_CUDA_RESIDENT_MANY * RD_CUDA_WARPS * RD_CUDA_CUT_PIECES_EACH,
                   wanted = rd_divide_up(rd_divide_up(to->limit, pieces), 32 * each);
    const unsigned tiles_log2 = log2_for(wanted > RD_CUDA_CUT_TILES ? wanted : RD_CUDA_CUT_TILES);
    const unsigned cut_log2 = tiles_log2 + 1 + log2_for(each * to->lanes);
    if (kernel->is_whole || to->limit <= (uint64_t)1 << cut_log2)
        return;
    to->cutting = RD_CUDA_CUTS_PUT_OFF;
    to->cut_log2 = (uint8_t)cut_log2;
    to->piece_log2 = (uint8_t)(tiles_log2 + log2_for(each * 32));
    to->piece = (uint64_t)1 << to->piece_log2;
    const uint64_t longs = RD_CUDA_CUT_LONG(to->limit, to->piece_log2);
    to->piece_words = (uint32_t)kernel->slot_words;
    to->table_words = kernel->slot_words ? RD_CUDA_SLOTS_EXTRA : kernel->grid_words;
    pass->table_bytes = (size_t)(RD_CUDA_CUT_EXTRA + longs * to->table_words +
                                 RD_CUDA_CUT_PIECES(to->limit, to->piece_log2) * to->piece_words) *
                        sizeof(uint64_t);
    pass->list_bytes =
        (size_t)(RD_CUDA_CUT_WHOLE(to->limit, to->cut_log2) + longs * RD_CUDA_CUT_LONG_WORDS) * sizeof(uint64_t);
    pass->cut_blocks = multiprocessors * RD_CUDA_RESIDENT_MANY;
}

/* Lanes that share a segment of the usual length, of which a lane takes `each` elements at a time: as many as have any of it, and fewer
 * where warps have enough to do, which then take more segments at a time. */
static uint32_t lanes_of_segment(const struct rd_cuda_many *to, uint64_t run, uint64_t each, uint64_t wanted) {
    const unsigned few = power_for(run / (RD_CUDA_SEGMENT_TILES * each)),
                   least = few < RD_CUDA_SEGMENT_LANES ? few : RD_CUDA_SEGMENT_LANES;
    unsigned lanes = power_for(rd_divide_up(run, each));
    while (lanes > least && to->results / (32 / lanes * 2) >= wanted)
        lanes /= 2;
    return lanes;
}

/* Blocks of which each warp takes a task, or several. */
static unsigned blocks_for(uint64_t tasks, unsigned multiprocessors) {
    const uint64_t blocks = rd_divide_up(tasks, RD_CUDA_WARPS), most = (uint64_t)multiprocessors * RD_CUDA_MANY_BLOCKS;
    return (unsigned)(blocks < most ? blocks : most);
}

/* Room for what pieces of results meet in. */
static void size_table(struct rd_cuda_pass *pass) {
    const struct rd_cuda_many *many = &pass->masked.many;
    pass->table_bytes = many->pieces > 1 ? (size_t)many->results * many->table_words * sizeof(uint64_t) : 0;
}

/* Lanes, rounds and pieces; of results that cannot be cut, one piece. `spanned`: rows that are shared out as segments. */
static void share_out(struct rd_cuda_pass *pass, const struct rd_many *many, const struct kernel *kernel,
                      unsigned inputs, bool spanned, unsigned bytes, unsigned multiprocessors) {
    struct rd_cuda_many *to = &pass->masked.many;
    const struct rd_layout *layout = &many->layout;
    const bool segmented = rd_many_is_segmented(many) || spanned;
    const uint64_t each = RD_CUDA_MANY_COUNT(bytes), wanted = (uint64_t)multiprocessors * RD_CUDA_MANY_TASKS;
    uint64_t count = layout->count, run = count;
    if (segmented)
        run = to->results ? to->limit / to->results : 0;
    else if (layout->reduced_axes)
        run = layout->reduced[layout->reduced_axes - 1].length;
    to->across = !segmented && lie_across(layout);
    to->lanes =
        to->across ? 32 / power_for(layout->kept[layout->kept_axes - 1].length) : power_for(rd_divide_up(run, each));
    if (to->across && to->lanes > 1 && power_for(rd_divide_up(count, each)) < to->lanes)
        to->lanes = power_for(rd_divide_up(count, each));
    if (segmented)
        to->lanes = lanes_of_segment(to, run, each, wanted);
    if (kernel->is_whole) {
        to->across = false;
        to->lanes = 32;
    }
    to->batch = to->lanes;
    while (to->batch > 1 && to->results / (32 / to->lanes * to->batch) < wanted)
        to->batch /= 2;
    const uint64_t rounds = rd_divide_up(to->results, (uint64_t)(32 / to->lanes) * to->batch), tile = each * to->lanes;
    to->pieces = 1;
    if (!segmented && !kernel->is_whole && rounds && rounds < wanted && count >= 2 * RD_CUDA_MANY_TILES * tile) {
        uint64_t pieces = rd_divide_up(wanted, rounds), most = count / (RD_CUDA_MANY_TILES * tile);
        pieces = pieces < most ? pieces : most;
        to->piece = rd_divide_up(rd_divide_up(count, pieces), tile) * tile;
        to->pieces = rd_divide_up(count, to->piece);
    }
    to->tasks = rounds * to->pieces;
    to->table_words = kernel->slot_words ? RD_CUDA_SLOTS_EXTRA + kernel->slot_words * to->pieces : kernel->grid_words;
    size_table(pass);
    if (segmented)
        cut_segments(pass, kernel, bytes, multiprocessors);
    pass->may_be_vectors = rd_many_is_segmented(many) || (!to->across && has_vectors(layout, inputs, 16 / bytes));
    pass->blocks = blocks_for(pass->masked.many.tasks, multiprocessors);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Preparing
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t infinity_of(const struct rd_type *type) {
    return (uint64_t)(2 * type->max_exponent + 1) << (type->precision - 1);
}

/* Whether results are those of rows that are loaded as vectors, each as a whole. */
static bool are_whole_rows(const struct rd_cuda_pass *pass, const struct rd_many *many, unsigned bytes) {
    const struct rd_cuda_many *to = &pass->masked.many;
    const uint64_t count = to->call.count;
    return !many->mask && !rd_many_is_segmented(many) && to->kept_axes == 1 && to->reduced_axes == 1 &&
           to->pieces == 1 && pass->may_be_vectors && count % (16 / bytes) == 0 && count && count >= to->call.minimum;
}

/* Which of a family's kernels: what its name has behind its beginning. */
static const char *way_of(const struct rd_cuda_pass *pass, const struct rd_many *many, const struct kernel *kernel,
                          unsigned bytes) {
    const struct rd_cuda_many *to = &pass->masked.many;
    const uint64_t tile = (uint64_t)RD_CUDA_MANY_COUNT(bytes) * to->lanes, count = to->call.count;
    if (!kernel->has_rows || !are_whole_rows(pass, many, bytes))
        return "";
    if (count <= tile)
        return "_rows";
    return kernel->has_tiles && count <= tile * RD_CUDA_MANY_TILES_MOST ? "_tiles" : "";
}

/* A pass that leaves its table as it is: one piece more is waited for than comes, so that none is the last. There are at most as many
 * as a grid of another kernel has blocks. */
static void leave_open(struct rd_cuda_pass *pass, const struct kernel *kernel) {
    struct rd_cuda_many *to = &pass->masked.many;
    const uint64_t together = rd_divide_up(to->pieces, RD_CUDA_BLOCKS);
    to->piece = to->pieces > 1 ? to->piece * together : to->call.count;
    pass->came = to->tasks = rd_divide_up(to->call.count, to->piece);
    to->pieces = pass->came + 1;
    to->table_words = kernel->slot_words ? RD_CUDA_SLOTS_EXTRA + kernel->slot_words * pass->came : kernel->grid_words;
    pass->table_bytes = to->table_words * sizeof(uint64_t);
}

/* Elements of a ring's vectors. */
static unsigned per_vector(const struct kernel *kernel) {
    return 16 / kernel->ring_bytes;
}

/* Whether a ring can bring what is reduced, where inputs are aligned: columns, or rows of more than a tile, of halves also pieces of
 * rows. */
static bool suits_ring(const struct rd_cuda_pass *pass, const struct rd_many *many, const struct kernel *kernel,
                       const struct rd_cuda_device *device) {
    const struct rd_cuda_many *to = &pass->masked.many;
    const uint64_t count = to->call.count;
    if (!kernel->ring_bytes || many->mask || device->capability < RD_CUDA_NEWER || rd_many_is_segmented(many) ||
        to->kept_axes != 1 || to->reduced_axes != 1 || !count || count < to->call.minimum || count > INT32_MAX / 2 ||
        to->results * count < (uint64_t)device->l2_bytes * RD_CUDA_RING_L2_EXACT / kernel->ring_bytes)
        return false;
    const unsigned vector = per_vector(kernel);
    if (!to->across)
        return pass->may_be_vectors && to->lanes == 32 && (to->pieces == 1 || to->batch == 1) && count % vector == 0 &&
               count > (uint64_t)RD_CUDA_MANY_COUNT(kernel->ring_bytes) * 32;
    return kernel->ring_takes_columns && to->axis[0].stride[0] == 1 && to->step[0] % vector == 0 &&
           to->results % vector == 0 && many->layout.first[0] % vector == 0 && to->batch == 1;
}

/* Tasks of columns, a block's each, of as many blocks as there are at once: of the pieces that columns are cut into a block takes
 * several as one. */
static uint64_t join_pieces(struct rd_cuda_many *to, const struct kernel *kernel, unsigned at_once) {
    const uint64_t groups = rd_divide_up(to->results, 32 * per_vector(kernel)),
                   wanted = groups < at_once ? at_once / groups : 1;
    to->together = (uint32_t)rd_divide_up(to->pieces, wanted);
    return groups * rd_divide_up(to->pieces, to->together);
}

/* Stages of such a task. */
static uint64_t column_stages(const struct rd_cuda_many *to, const struct kernel *kernel) {
    const uint64_t lanes = power_for(rd_divide_up(to->results, per_vector(kernel))),
                   rows = to->pieces > 1 ? to->together * to->piece : to->call.count;
    return rows / (RD_CUDA_STAGE_VECTORS * RD_CUDA_WARPS * (32 / lanes));
}

/* Rows of which there are few: as many pieces of each as end soonest, of so many warps. False if too few warps would have anything to do,
 * since rows cannot be cut. */
static bool share_rows(struct rd_cuda_many *to, const struct kernel *kernel, uint64_t warps) {
    const uint64_t tile = (uint64_t)RD_CUDA_MANY_COUNT(kernel->ring_bytes) * 32,
                   tiles = rd_divide_up(to->call.count, tile), most = rd_divide_up(warps, to->results) + 2;
    uint64_t pieces = 1, least = UINT64_MAX;
    for (uint64_t some = 1; some <= most && (some - 1) * RD_CUDA_MANY_TILES < tiles; some++) {
        const uint64_t end = rd_divide_up(to->results * some, warps) *
                             (rd_divide_up(tiles, some) + (some > 1 ? RD_CUDA_RINGED_MEETING : 0));
        if (end < least) {
            least = end;
            pieces = some;
        }
    }
    if (pieces > 1 && !kernel->ring_cuts_rows)
        return false;
    to->piece = rd_divide_up(tiles, pieces) * tile;
    to->pieces = rd_divide_up(to->call.count, to->piece);
    to->tasks = to->results * to->pieces;
    return true;
}

/* Finds a kernel with so many bytes for rings. Returns the blocks of it that a multiprocessor holds, or 0 if these are too few. */
static int find_ringed(struct rd_cuda_context *context, const char *image, const char *name, unsigned bytes,
                       rd_cu_function *function) {
    const rd_cuda_driver *driver = context->device->driver;
    int resident = 0;
    if (rd_cuda_kernel(context, image, name, function, NULL) != REDUCT_OK ||
        driver->cuFuncSetAttribute(*function, RD_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)bytes) != RD_CU_SUCCESS ||
        driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, *function, RD_CUDA_THREADS, bytes) !=
            RD_CU_SUCCESS)
        return 0;
    return resident < RD_CUDA_RINGED_LEAST ? 0 : resident;
}

/* Takes the kernel that has a ring, if the device has room for it; its name begins with `family`. */
static bool take_ring(struct rd_cuda_context *context, struct rd_cuda_pass *pass, const struct kernel *kernel,
                      const char *family) {
    struct rd_cuda_many *to = &pass->masked.many;
    rd_cu_function function;
    char name[96];
    snprintf(name, sizeof name, "%s_ringed_%s_%s", family, to->across ? "columns" : "rows", kernel->name);
    const int resident = find_ringed(context, kernel->ring_image, name, RD_CUDA_LANE_RINGS_BYTES, &function);
    if (!resident)
        return false;
    const unsigned at_once = (unsigned)(context->device->multiprocessors * resident);
    if (!to->across && to->batch == 1 && !share_rows(to, kernel, (uint64_t)at_once * RD_CUDA_WARPS))
        return false;
    const uint64_t blocks = to->across ? join_pieces(to, kernel, at_once) : rd_divide_up(to->tasks, RD_CUDA_WARPS);
    if (to->across && column_stages(to, kernel) < RD_CUDA_RINGED_STAGES_LEAST)
        return false;
    size_table(pass);
    pass->function = function;
    pass->overlaps = rd_cuda_may_overlap(context->device->driver, function);
    pass->blocks = blocks < at_once ? (unsigned)blocks : at_once;
    pass->ring_bytes = RD_CUDA_LANE_RINGS_BYTES;
    return true;
}

/* Whether results that follow each other are reduced by spans of the array: of one that the L2 cache holds others are as fast. */
static bool suits_spans(const struct rd_many *many, const struct kernel *kernel, unsigned bytes, uint64_t elements,
                        const struct rd_cuda_device *device) {
    return kernel->span_image[0] && !many->mask && device->capability >= RD_CUDA_NEWER &&
           elements * bytes >= (uint64_t)device->l2_bytes && many->layout.results;
}

/* Whether segments are, that have offsets. */
static bool offsets_suit_spans(const struct rd_many *many, const struct kernel *kernel, unsigned bytes,
                               const struct rd_cuda_device *device) {
    return rd_many_is_segmented(many) && !many->segments.with_ends &&
           suits_spans(many, kernel, bytes, many->segments.elements, device) &&
           many->segments.elements / many->layout.results <= RD_CUDA_SPAN_EACH_MOST;
}

/* Whether rows are, that follow each other as do their results. */
static bool rows_suit_spans(const struct rd_many *many, const struct kernel *kernel, unsigned bytes,
                            const struct rd_cuda_device *device) {
    const struct rd_layout *layout = &many->layout;
    const int64_t count = (int64_t)layout->count;
    return kernel->spans_take_rows && !rd_many_is_segmented(many) && layout->kept_axes == 1 &&
           layout->reduced_axes == 1 && layout->reduced[0].stride[0] == 1 && layout->kept[0].stride[0] == count &&
           layout->kept[0].result_stride == 1 && count * bytes <= RD_CUDA_SPAN_BYTES / RD_CUDA_SPAN_ROWS &&
           suits_spans(many, kernel, bytes, layout->results * layout->count, device);
}

/* Adds the kernel that does, if the device has room for it. */
static void take_spans(struct rd_cuda_context *context, struct rd_cuda_pass *pass, const struct kernel *kernel,
                       unsigned bytes) {
    struct rd_cuda_many *to = &pass->masked.many;
    const unsigned least = log2_for(RD_CUDA_SPAN_TILE_BYTES / bytes), usual = log2_for(RD_CUDA_SPAN_BYTES / bytes),
                   few = log2_for(rd_divide_up(to->limit, RD_CUDA_SPANS_MOST)), most = few > usual ? few : usual;
    const uint64_t wanted =
        (uint64_t)context->device->multiprocessors * RD_CUDA_RESIDENT_MANY * RD_CUDA_WARPS * RD_CUDA_SPAN_WARPS;
    const unsigned log2 = log2_for(rd_divide_up(to->limit, wanted));
    rd_cu_function function;
    char name[64];
    if (!to->cutting) /* so few that none is put off */
        return;
    snprintf(name, sizeof name, "many_spans_%s", kernel->name);
    pass->span_ring_bytes = RD_CUDA_SPAN_RING_BYTES(kernel->span_tiles);
    if (!find_ringed(context, kernel->span_image, name, pass->span_ring_bytes, &function))
        return;
    to->span_log2 = (uint8_t)(log2 < least ? least : log2 > most ? most : log2);
    pass->span_blocks = blocks_for((to->limit >> to->span_log2) + 1, (unsigned)context->device->multiprocessors);
    pass->spans = function;
    pass->list_bytes += RD_CUDA_CUT_RUNS_MOST(to->limit, to->span_log2) * RD_CUDA_CUT_RUN_WORDS * sizeof(uint64_t);
    pass->table_bytes += RD_CUDA_CUT_SPANS(to->limit, to->span_log2) * to->table_words * sizeof(uint64_t);
}

/* How many blocks take parts of the same results, in each of so many rounds: where it ends soonest, of those that are there at once. In
 * tiles of a warp. */
static uint64_t blocks_of_round(uint64_t rounds, uint64_t tiles, uint64_t at_once) {
    uint64_t blocks = 1, least = UINT64_MAX;
    for (uint64_t some = 1; rounds * some <= at_once && (some - 1) * RD_CUDA_WARPS < tiles; some++) {
        const uint64_t end = rd_divide_up(tiles, some * RD_CUDA_WARPS) + (some > 1 ? RD_CUDA_JOINED_MEETING : 0);
        if (end < least) {
            least = end;
            blocks = some;
        }
    }
    return blocks;
}

/* Where few results come in pieces, has each warp of a block take one of the same results, all of which go to the table as one. So pieces
 * may be short; some of the last block may be empty. */
static void join_warps(struct rd_cuda_pass *pass, const struct kernel *kernel, unsigned bytes,
                       unsigned multiprocessors) {
    struct rd_cuda_many *to = &pass->masked.many;
    const uint64_t tile = (uint64_t)RD_CUDA_MANY_COUNT(bytes) * to->lanes, tiles = rd_divide_up(to->call.count, tile),
                   rounds = to->tasks / to->pieces, at_once = (uint64_t)multiprocessors * RD_CUDA_RESIDENT_MANY;
    if (rounds > at_once)
        return;
    uint64_t blocks = blocks_of_round(rounds, tiles, at_once);
    if (tiles > blocks * RD_CUDA_WARPS * RD_CUDA_JOINED_TILES_MOST)
        blocks = (uint64_t)multiprocessors * RD_CUDA_MANY_TASKS /
                 (rounds * RD_CUDA_WARPS); /* some more would be one more turn */
    to->joined = true;
    to->piece = rd_divide_up(tiles, blocks * RD_CUDA_WARPS) * tile;
    blocks = rd_divide_up(rd_divide_up(to->call.count, to->piece), RD_CUDA_WARPS);
    to->pieces = blocks * RD_CUDA_WARPS;
    to->tasks = rounds * to->pieces;
    if (kernel->slot_words)
        to->table_words = RD_CUDA_SLOTS_EXTRA + kernel->slot_words * blocks;
    size_table(pass);
    pass->blocks = blocks_for(pass->masked.many.tasks, multiprocessors);
}

/* What a pass is told of elements and results, but for the addresses; the first of `inputs` alone, or both; `spanned` as share_out() has
 * it. */
static void describe_pass(const struct rd_cuda_context *context, const struct rd_many *many,
                          const reduct_reduction *reduction, const struct kernel *kernel, unsigned inputs, bool spanned,
                          struct rd_cuda_pass *pass) {
    const struct rd_type *element = rd_type(reduction->element);
    struct rd_cuda_many *to = &pass->masked.many;
    *to = (struct rd_cuda_many){.call = rd_cuda_describe(reduction),
                                .results = many->layout.results,
                                .limit = spanned ? many->layout.results * many->layout.count : many->segments.elements,
                                .infinity = element->kind == RD_FLOAT ? infinity_of(element) : 0,
                                .is_signed = element->kind == RD_SIGNED,
                                .is_truth = reduction->element == REDUCT_BOOL};
    to->call.count = many->layout.count;
    pass->list_bytes = 0;
    if (rd_many_is_segmented(many)) {
        const struct rd_type *index = rd_type(many->segments.index);
        to->index_bytes = index->bytes;
        to->index_signed = index->kind == RD_SIGNED;
        to->step[0] = to->step[1] = 1;
    } else {
        copy_axes(to, &many->layout);
    }
    if (many->mask)
        describe_mask(&pass->masked, many);
    share_out(pass, many, kernel, inputs, spanned, element->bytes, (unsigned)context->device->multiprocessors);
}

static reduct_status find_kernel(struct rd_cuda_context *context, const char *image, const char *name,
                                 struct rd_cuda_pass *pass, reduct_error *error) {
    const reduct_status status = rd_cuda_kernel(context, image, name, &pass->function, error);
    pass->overlaps = status == REDUCT_OK && rd_cuda_may_overlap(context->device->driver, pass->function);
    return status;
}

/* Takes the kernel for rows whose sums are known but for a bound, if they suit it, with the one for what that leaves open: this reduces tasks
 * as elsewhere, which then have no more rows than a turn. */
static bool take_close_rows(struct rd_cuda_context *context, struct rd_cuda_pass *pass, const struct rd_many *many,
                            const struct kernel *kernel, unsigned inputs, const char *family) {
    struct rd_cuda_many *to = &pass->masked.many;
    const unsigned levels = RD_CUDA_CLOSE_LEVELS(inputs);
    const uint64_t vectors = to->call.count / 4;
    char name[96];
    if (!kernel->close_image[0] || !are_whole_rows(pass, many, 4) || vectors < RD_CUDA_CLOSE_VECTORS_LEAST ||
        vectors > (uint64_t)RD_CUDA_CLOSE_TILES_MOST * (32 << levels) ||
        to->results * to->call.count * 4 < (uint64_t)context->device->l2_bytes / RD_CUDA_CLOSE_L2_PART)
        return false;
    rd_cu_function close;
    snprintf(name, sizeof name, "%s_close_%s", family, kernel->name);
    if (rd_cuda_kernel(context, kernel->close_image, name, &close, NULL) != REDUCT_OK)
        return false;
    snprintf(name, sizeof name, "%s_%s", family, kernel->name);
    if (find_kernel(context, kernel->image, name, pass, NULL) != REDUCT_OK)
        return false;
    pass->close = close;
    const uint32_t slots = 32 / to->lanes, rows = RD_CUDA_CLOSE_ROWS(vectors, levels), task = rows < 32 ? rows : 32;
    const uint64_t turns = rd_divide_up(to->results, rows);
    to->batch = task / slots;
    to->tasks = rd_divide_up(to->results, task);
    to->open_tasks = rows / task;
    to->inverse[0] = 1.0 / (double)to->call.count;
    to->inverse[1] = 1.0 / ((double)to->call.count - 1);
    pass->close_blocks = blocks_for(turns, (unsigned)context->device->multiprocessors);
    pass->blocks = pass->cut_blocks = (unsigned)context->device->multiprocessors * RD_CUDA_RESIDENT_MANY;
    pass->table_bytes = RD_CUDA_OPEN_WORDS * sizeof(uint64_t);
    pass->list_bytes = (size_t)RD_CUDA_OPEN_MOST(turns) * sizeof(uint64_t);
    return true;
}

reduct_status rd_cuda_pass_prepare(struct rd_cuda_context *context, const struct rd_many *many, size_t which, bool open,
                                   struct rd_cuda_pass *pass, reduct_error *error) {
    const reduct_reduction *reduction = &many->reduction[which];
    char name[64];
    if (rd_many_is_grouped(many)) {
        reduct_status status = rd_cuda_groups_prepare(context, many, which, false, &pass->groups, error);
        pass->table_bytes = pass->groups.bytes;
        return status;
    }
    const struct kernel kernel = kernel_of(reduction, many->mask != REDUCT_MASK_NONE);
    const unsigned bytes = (unsigned)rd_type(reduction->element)->bytes;
    const bool spanned = !open && rows_suit_spans(many, &kernel, bytes, context->device);
    describe_pass(context, many, reduction, &kernel, many->inputs, spanned, pass);
    if (!open && (spanned || offsets_suit_spans(many, &kernel, bytes, context->device)))
        take_spans(context, pass, &kernel, bytes);
    if (spanned && !pass->spans)
        describe_pass(context, many, reduction, &kernel, many->inputs, false, pass);
    if (open)
        leave_open(pass, &kernel);
    else if (take_close_rows(context, pass, many, &kernel, rd_operator(reduction->op)->inputs, "many") ||
             (suits_ring(pass, many, &kernel, context->device) && take_ring(context, pass, &kernel, "many")))
        return REDUCT_OK;
    if (!open && kernel.joins && pass->masked.many.pieces > 1)
        join_warps(pass, &kernel, bytes, (unsigned)context->device->multiprocessors);
    snprintf(name, sizeof name, "%s%s_%s", many->mask ? "masked" : "many", way_of(pass, many, &kernel, bytes),
             kernel.name);
    return find_kernel(context, kernel.image, name, pass, error);
}

/* Reductions that share a pass over many results, as far as one launch has room for them. */
static size_t share_together(struct rd_cuda_plan *plan, uint64_t pieces) {
    struct rd_cuda_call *call = &plan->together.masked.many.call;
    size_t count = 0, first = 0;
    call->minimum = 0;
    for (size_t i = 0; i < plan->many->reductions && count < RD_CUDA_ANSWERS; i++)
        if (rd_cuda_together_may_take(plan->many, i, pieces)) {
            const uint64_t minimum = rd_minimum(&plan->many->reduction[i]);
            call->minimum = call->minimum > minimum ? call->minimum : minimum;
            first = count ? first : i;
            plan->pass[i].shared = true;
            count++;
        }
    if (count == 1)
        plan->pass[first].shared = false;
    return count;
}

/* Whether they take less time one after another: each by spans, of which a pass of several has none. */
static bool are_faster_apart(const struct rd_cuda_plan *plan) {
    const struct rd_many *many = plan->many;
    const unsigned bytes = (unsigned)rd_type(many->reduction[0].element)->bytes;
    bool apart = rd_many_is_segmented(many) && many->layout.results &&
                 many->segments.elements / many->layout.results <= RD_CUDA_SPAN_APART_MOST;
    for (size_t i = 0; i < many->reductions && apart; i++) {
        const struct kernel kernel = kernel_of(&many->reduction[i], false);
        apart =
            !rd_cuda_together_may_take(many, i, 1) || offsets_suit_spans(many, &kernel, bytes, plan->context->device);
    }
    return apart;
}

/* Their pass, if there are at least two. */
static reduct_status prepare_together(struct rd_cuda_plan *plan, reduct_error *error) {
    const struct rd_many *many = plan->many;
    const struct rd_type *element = rd_type(many->reduction[0].element);
    struct rd_cuda_pass *pass = &plan->together;
    char name[64];
    bool squares = false, close = element->bytes == 4;
    size_t possible = 0;
    for (size_t i = 0; i < many->reductions; i++) {
        const enum rd_transform transform = rd_operator(many->reduction[i].op)->transform;
        if (rd_cuda_together_may_take(many, i, 1)) {
            squares = squares || transform == RD_SQUARE || transform == RD_MOMENTS;
            const enum rd_family family = rd_family(&many->reduction[i]);
            const bool is_sum = family == RD_EXACT_SUM || family == RD_FAST_SUM;
            close = close && (!is_sum || rd_result_size(&many->reduction[i]) == 4);
            possible++;
        }
    }
    if (possible < 2 || are_faster_apart(plan))
        return REDUCT_OK;
    struct kernel kernel = {.image = "kernels/many_several",
                            .has_rows = true,
                            .has_tiles = element->bytes == 8 || squares,
                            .grid_words = grid_words(element, squares ? RD_MOMENTS : RD_IDENTITY) +
                                          RD_CUDA_TABLE_EXTRA + RD_CUDA_TABLE_ENDS,
                            .close_image = "kernels/many_close_several",
                            .ring_image = "kernels/many_ringed_several",
                            .ring_bytes =
                                element->bytes == 4 || (element->bytes == 2 && squares) ? (unsigned)element->bytes : 0,
                            .ring_cuts_rows = true,
                            .ring_takes_columns = element->bytes == 4};
    snprintf(kernel.name, sizeof kernel.name, "%s_%s", squares ? "moments" : "identity", element->name);
    describe_pass(plan->context, many, &many->reduction[0], &kernel, 1, false, pass);
    if (share_together(plan, pass->masked.many.cutting ? 2 : pass->masked.many.pieces) < 2) {
        pass->table_bytes = pass->list_bytes = 0;
        return REDUCT_OK;
    }
    if ((close && take_close_rows(plan->context, pass, many, &kernel, 1, "together")) ||
        (suits_ring(pass, many, &kernel, plan->context->device) && take_ring(plan->context, pass, &kernel, "together")))
        return REDUCT_OK;
    if (pass->masked.many.pieces > 1)
        join_warps(pass, &kernel, (unsigned)element->bytes, (unsigned)plan->context->device->multiprocessors);
    snprintf(name, sizeof name, "together%s_%s", way_of(pass, many, &kernel, element->bytes), kernel.name);
    return find_kernel(plan->context, kernel.image, name, pass, error);
}

static reduct_status make_table(struct rd_cuda_plan *plan, reduct_error *error) {
    const rd_cuda_driver *driver = plan->context->device->driver;
    if (!plan->table_bytes)
        return REDUCT_OK;
    rd_cu_result result = driver->cuMemAlloc(&plan->table, plan->table_bytes);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemsetD8Async(plan->table, 0, plan->table_bytes, NULL);
    else
        plan->table = 0;
    if (result == RD_CU_SUCCESS)
        result = driver->cuStreamSynchronize(NULL);
    return result == RD_CU_SUCCESS ? REDUCT_OK
                                   : rd_cuda_fail(plan->context->device, result, "for pieces of results", error);
}

/* The reductions that share a pass, if there are at least two. */
static reduct_status prepare_several(struct rd_cuda_plan *plan, reduct_error *error) {
    size_t count = 0;
    for (size_t i = 0; i < plan->many->reductions; i++)
        count += rd_cuda_several_may_take(plan->many, i);
    for (size_t i = 0; count > 1 && i < plan->many->reductions; i++)
        plan->pass[i].shared = rd_cuda_several_may_take(plan->many, i);
    return count > 1 ? rd_cuda_several_prepare(plan->context, plan->many, &plan->several, error) : REDUCT_OK;
}

/* A plan whose passes are to be prepared. */
static reduct_status allocate(struct rd_cuda_context *context, const struct rd_many *many, struct rd_cuda_plan **plan,
                              reduct_error *error) {
    const size_t bytes = sizeof **plan + many->reductions * sizeof(struct rd_cuda_pass);
    *plan = malloc(bytes);
    if (!*plan)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: %zu bytes could not be allocated", bytes);
    memset(*plan, 0, bytes);
    (*plan)->context = context;
    (*plan)->many = many;
    pthread_mutex_init(&(*plan)->lock, NULL);
    return REDUCT_OK;
}

/* With the context current. */
static void destroy(struct rd_cuda_plan *plan) {
    if (plan->rows)
        destroy(plan->rows);
    if (plan->table)
        plan->context->device->driver->cuMemFree(plan->table);
    pthread_mutex_destroy(&plan->lock);
    free(plan);
}

/* One after another, but those over groups that share their scans. */
static void set_turns(struct rd_cuda_plan *plan) {
    const struct rd_many *many = plan->many;
    size_t turn = 0;
    for (size_t i = 0; i < many->reductions; i++) {
        if (plan->pass[i].again)
            continue;
        plan->pass[turn++].turn = i;
        for (size_t other = i + 1; rd_many_is_grouped(many) && other < many->reductions; other++)
            if (!plan->pass[other].again && rd_cuda_groups_share(many, i, other)) {
                plan->pass[other].again = true;
                plan->pass[turn++].turn = other;
            }
    }
}

/* And what they take of the table. */
static reduct_status prepare_passes(struct rd_cuda_plan *plan, reduct_error *error) {
    set_turns(plan);
    reduct_status status = prepare_several(plan, error);
    if (status == REDUCT_OK)
        status = prepare_together(plan, error);
    plan->zero_bytes = plan->together.table_bytes;
    plan->list_bytes = plan->together.list_bytes;
    for (size_t i = 0; status == REDUCT_OK && i < plan->many->reductions; i++) {
        const struct rd_cuda_pass *pass = &plan->pass[i];
        if (!pass->shared)
            status = rd_cuda_pass_prepare(plan->context, plan->many, i, false, &plan->pass[i], error);
        plan->zero_bytes = pass->table_bytes > plan->zero_bytes ? pass->table_bytes : plan->zero_bytes;
        plan->list_bytes = pass->list_bytes > plan->list_bytes ? pass->list_bytes : plan->list_bytes;
    }
    return status;
}

/* Whether segments may turn out to be rows, and these would take less time: extremes by spans take no more. */
static bool may_be_rows(const struct rd_cuda_plan *plan) {
    const struct rd_many *many = plan->many;
    const struct rd_cuda_device *device = plan->context->device;
    const reduct_segments *segments = &many->segments;
    const uint64_t bytes = segments->elements * (uint64_t)rd_type(many->reduction[0].element)->bytes;
    bool any_faster = false;
    for (size_t i = 0; i < many->reductions; i++)
        any_faster = any_faster || !plan->pass[i].spans || rd_family(&many->reduction[i]) != RD_EXTREME;
    return rd_many_is_segmented(many) && !segments->with_ends && segments->count > 1 &&
           segments->elements % segments->count == 0 && bytes >= (uint64_t)device->l2_bytes && any_faster;
}

/* The same plan over rows, for when they are. It has no table of its own. */
static reduct_status prepare_rows(struct rd_cuda_plan *plan, reduct_error *error) {
    struct rd_many *rows = &plan->many_rows;
    *rows = *plan->many;
    rows->segments.index = REDUCT_DEFAULT;
    rows->segments.length = rows->segments.elements / rows->segments.count;
    const reduct_plan_options options = {
        .kind = REDUCT_SEGMENTS, .segments = &rows->segments, .mask = rows->mask, .mask_offset = rows->mask_offset};
    reduct_status status =
        rd_layout_make(&options, rd_type(rows->reduction[0].element)->bytes, rows->inputs, &rows->layout, error);
    if (status == REDUCT_OK)
        status = rd_cuda_kernel(plan->context, "kernels/many_choice", "many_choice", &plan->choice, error);
    if (status == REDUCT_OK)
        status = allocate(plan->context, rows, &plan->rows, error);
    if (status != REDUCT_OK)
        return status;
    status = prepare_passes(plan->rows, error);
    plan->zero_bytes = plan->rows->zero_bytes > plan->zero_bytes ? plan->rows->zero_bytes : plan->zero_bytes;
    plan->list_bytes = plan->rows->list_bytes > plan->list_bytes ? plan->rows->list_bytes : plan->list_bytes;
    plan->choice_place = plan->zero_bytes;
    plan->zero_bytes += RD_CUDA_CHOICE_WORDS * sizeof(uint64_t);
    return status;
}

static reduct_status prepare(struct rd_cuda_plan *plan, reduct_error *error) {
    reduct_status status = prepare_passes(plan, error);
    if (status == REDUCT_OK && may_be_rows(plan))
        status = prepare_rows(plan, error);
    plan->list_place = (plan->zero_bytes + 255) / 256 * 256;
    plan->several.place = plan->list_place + (plan->list_bytes + 255) / 256 * 256;
    plan->table_bytes = plan->several.there ? plan->several.place + sizeof(struct rd_cuda_several_room)
                        : plan->list_bytes  ? plan->list_place + plan->list_bytes
                                            : plan->zero_bytes;
    return status == REDUCT_OK ? make_table(plan, error) : status;
}

reduct_status rd_cuda_prepare_many(struct rd_many *many, reduct_error *error) {
    struct rd_cuda_context *context = ((const struct rd_cuda_kept *)many->state[0].kept)->launch.context;
    struct rd_cuda_plan *plan;
    reduct_status status = allocate(context, many, &plan, error);
    if (status != REDUCT_OK)
        return status;
    struct rd_cuda_stay stay;
    rd_environment caller = rd_environment_enter();
    status = rd_cuda_enter_context(context, &stay, error);
    const bool entered = status == REDUCT_OK;
    if (entered)
        status = prepare(plan, error);
    if (status == REDUCT_OK)
        many->kept = plan;
    else
        destroy(plan);
    if (entered)
        rd_cuda_leave(context->device, &stay);
    rd_environment_leave(caller);
    return status;
}

void rd_cuda_release_many(struct rd_many *many) {
    struct rd_cuda_plan *plan = many->kept;
    struct rd_cuda_context *context = plan->context;
    struct rd_cuda_stay stay;
    rd_environment caller = rd_environment_enter();
    const bool entered = plan->table && rd_cuda_enter_context(context, &stay, NULL) == REDUCT_OK;
    if (!entered)
        plan->table = 0; /* it went with its context */
    destroy(plan);
    if (entered)
        rd_cuda_leave(context->device, &stay);
    rd_environment_leave(caller);
}

/* Where pieces meet, and lists are: in the plan's memory or a caller's. */
static void set_table(struct rd_cuda_addresses *addresses, const struct rd_cuda_plan *plan, rd_cu_address table) {
    addresses->table = (uint64_t *)(uintptr_t)table;
    addresses->lists = (uint64_t *)(uintptr_t)(table + plan->list_place);
}

/* Results one after another, whatever the layout says. */
static void make_dense(struct rd_cuda_many *many) {
    int64_t step = 1;
    for (unsigned k = many->kept_axes; k-- > 0; step *= (int64_t)many->axis[k].length)
        many->axis[k].result_stride = step;
}

/* Where a launch reads, inputs as far as it takes them, and where its pieces meet. */
static void set_addresses(struct rd_cuda_many *many, const struct rd_many *plan, const struct rd_cuda_pass *pass,
                          const struct rd_cuda_addresses *addresses, unsigned inputs) {
    const int64_t bytes = rd_type(plan->reduction[0].element)->bytes;
    const void *input[2] = {NULL, NULL};
    many->vectors = pass->may_be_vectors;
    for (unsigned i = 0; i < inputs; i++)
        if (addresses->input[i]) {
            input[i] = (const unsigned char *)addresses->input[i] +
                       (rd_many_is_segmented(plan) ? 0 : plan->layout.first[i]) * bytes;
            many->vectors = many->vectors && (uintptr_t)input[i] % 16 == 0;
        }
    many->ringed = pass->ring_bytes && (uintptr_t)input[0] % 16 == 0;
    many->call.x = input[0];
    many->call.y = input[1];
    many->begins = rd_many_is_segmented(plan) ? addresses->begins : NULL;
    many->ends = addresses->ends;
    many->table = addresses->table;
    many->lists = addresses->lists;
    many->open = NULL;
    many->keeps = addresses->keeps;
    many->chosen = addresses->chosen;
    many->way = rd_many_is_segmented(plan) ? RD_CUDA_WAY_SEGMENTS : RD_CUDA_WAY_ROWS;
}

/* Queues one of the launches that take what was put off. */
static rd_cu_result launch_rest(const struct rd_cuda_context *context, const struct rd_cuda_pass *pass, void *parameter,
                                rd_cu_stream stream) {
    return rd_cuda_start_kernel(context->device->driver, pass->function, pass->overlaps, pass->cut_blocks,
                                RD_CUDA_THREADS, 0, stream, parameter);
}

/* By spans of the array, and what these put off as all segments are elsewhere. */
static rd_cu_result launch_spans(const struct rd_cuda_context *context, const struct rd_cuda_pass *pass,
                                 struct rd_cuda_many *many, void *parameter, rd_cu_stream stream) {
    const rd_cu_result result =
        rd_cuda_start_kernel(context->device->driver, pass->spans, many->chosen && pass->overlaps, pass->span_blocks,
                             RD_CUDA_THREADS, pass->span_ring_bytes, stream, parameter);
    many->cutting = RD_CUDA_CUTS_RUNS;
    return result == RD_CU_SUCCESS ? launch_rest(context, pass, parameter, stream) : result;
}

/* Rows of which sums are known but for a bound, and turns that these leave open. */
static rd_cu_result launch_close(const struct rd_cuda_context *context, const struct rd_cuda_pass *pass,
                                 struct rd_cuda_many *many, void *parameter, rd_cu_stream stream) {
    many->open = many->table;
    const rd_cu_result result =
        rd_cuda_start_kernel(context->device->driver, pass->close, many->chosen && pass->overlaps, pass->close_blocks,
                             RD_CUDA_THREADS, 0, stream, parameter);
    return result == RD_CU_SUCCESS ? launch_rest(context, pass, parameter, stream) : result;
}

/* Queues a pass, and, where segments may be put off, the launch that takes them: a warp each, or a piece of each. `parameter` begins
 * with `many`. */
static rd_cu_result launch_pass(const struct rd_cuda_context *context, const struct rd_cuda_pass *pass,
                                struct rd_cuda_many *many, void *parameter, rd_cu_stream stream) {
    if (pass->close && many->vectors)
        return launch_close(context, pass, many, parameter, stream);
    const rd_cu_result result =
        pass->spans ? launch_spans(context, pass, many, parameter, stream)
                    : rd_cuda_start_kernel(context->device->driver, pass->function, many->chosen && pass->overlaps,
                                           pass->blocks, RD_CUDA_THREADS, pass->ring_bytes, stream, parameter);
    if (result != RD_CU_SUCCESS || !many->cutting)
        return result;
    many->cutting = RD_CUDA_CUTS_TAKE;
    many->lanes = 32;
    many->batch = 1;
    many->pieces = 2; /* at least, of some */
    return launch_rest(context, pass, parameter, stream);
}

rd_cu_result rd_cuda_pass_start(const struct rd_cuda_context *context, const struct rd_many *plan,
                                const struct rd_cuda_pass *pass, const struct rd_cuda_addresses *addresses, bool dense,
                                rd_cu_stream stream) {
    if (rd_many_is_grouped(plan)) {
        const struct rd_cuda_groups_addresses own = {.input = {addresses->input[0], addresses->input[1]},
                                                     .indices = addresses->indices,
                                                     .mask = addresses->mask,
                                                     .initial = addresses->initial,
                                                     .result = addresses->result,
                                                     .outcome = addresses->outcome,
                                                     .failure = addresses->failure,
                                                     .workspace = addresses->table};
        return (pass->again ? rd_cuda_groups_end : rd_cuda_groups_start)(&pass->groups, &own, stream);
    }
    struct rd_cuda_masked masked;
    struct rd_cuda_many *many = &masked.many;
    *many = pass->masked.many;
    if (plan->mask) {
        masked = pass->masked;
        masked.mask = addresses->mask;
    }
    set_addresses(many, plan, pass, addresses, 2);
    many->call.result = addresses->result;
    many->call.outcome = addresses->outcome;
    many->failure = addresses->failure;
    if (dense)
        make_dense(many);
    return launch_pass(context, pass, many, &masked, stream); /* which begins with what launches without a mask take */
}

/* Where the array begins that the pass of several reads. */
static const void *start_of(const struct rd_many *many, const void *input) {
    const int64_t first = many->layout.first[0] * (int64_t)rd_type(many->reduction[0].element)->bytes;
    return input ? (const unsigned char *)input + first : NULL;
}

/* Starts a reduction, or has it rounded with others by the pass that it shares: one over a whole array has been started, one over
 * many results is when all have come. */
static rd_cu_result start_one(const struct rd_cuda_plan *plan, size_t which, const struct rd_cuda_addresses *addresses,
                              bool dense, struct rd_cuda_rounding *rounding, rd_cu_stream stream) {
    if (!plan->pass[which].shared)
        return rd_cuda_pass_start(plan->context, plan->many, &plan->pass[which], addresses, dense, stream);
    if (plan->several.there)
        return rd_cuda_several_answer(&plan->several, plan->many, which, addresses->result, addresses->outcome,
                                      addresses->failure, rounding, addresses->table, stream);
    rd_cuda_answer_add(rounding, plan->many, which, addresses->result, addresses->outcome, addresses->failure, dense);
    return RD_CU_SUCCESS;
}

/* The pass over many results, for the answers that have come. */
static rd_cu_result start_together(const struct rd_cuda_plan *plan, const struct rd_cuda_addresses *addresses,
                                   const struct rd_cuda_rounding *rounding, rd_cu_stream stream) {
    const struct rd_cuda_pass *pass = &plan->together;
    struct rd_cuda_together together = {
        .many = pass->masked.many, .answers = rounding->count, .dense = rounding->dense};
    set_addresses(&together.many, plan->many, pass, addresses, 1);
    for (unsigned a = 0; a < rounding->count; a++) {
        const struct rd_cuda_call *call = &rounding->answers.answer[a].call;
        together.answer[a] = rounding->answers.answer[a];
        together.ends = together.ends || call->combine != RD_ADD;
        together.places = together.places || call->finish == RD_INDEX;
    }
    together.many.call.result = together.answer[0].call.result;
    return launch_pass(plan->context, pass, &together.many, &together, stream);
}

/* What reductions that share a pass still wait for. */
static rd_cu_result end_shared(const struct rd_cuda_plan *plan, const struct rd_cuda_addresses *addresses,
                               struct rd_cuda_rounding *rounding, rd_cu_stream stream) {
    if (plan->several.there)
        return rd_cuda_several_round(&plan->several, rounding, addresses->table, stream);
    return plan->together.function ? start_together(plan, addresses, rounding, stream) : RD_CU_SUCCESS;
}

/* What is queued one after another: a plan, or, behind what finds out which it shall be, that over rows and that over segments. */
struct ways {
    const struct rd_cuda_plan *way[2];
    unsigned count;
};

/* Sets out on them: the table is set, and zero. */
static rd_cu_result choose_way(const struct rd_cuda_plan *plan, struct rd_cuda_addresses *addresses, struct ways *ways,
                               rd_cu_stream stream) {
    *ways = (struct ways){{plan, NULL}, 1};
    if (!plan->rows)
        return RD_CU_SUCCESS;
    *ways = (struct ways){{plan->rows, plan}, 2};
    const reduct_segments *rows = &plan->many_rows.segments;
    uint64_t *words = addresses->table + plan->choice_place / sizeof *words;
    const struct rd_type *index = rd_type(plan->many->segments.index);
    struct rd_cuda_choice choice = {.offsets = addresses->begins,
                                    .segments = rows->count,
                                    .length = rows->length,
                                    .words = words,
                                    .index_bytes = index->bytes,
                                    .index_signed = index->kind == RD_SIGNED};
    addresses->chosen = words + RD_CUDA_CHOICE_WAY;
    const unsigned blocks = blocks_for(rd_divide_up(rows->count, 32 * RD_CUDA_CHOICE_EACH),
                                       (unsigned)plan->context->device->multiprocessors);
    return rd_cuda_start_kernel(plan->context->device->driver, plan->choice, false, blocks, RD_CUDA_THREADS, 0, stream,
                                &choice);
}

size_t rd_cuda_many_workspace(const struct rd_many *many) {
    return ((const struct rd_cuda_plan *)many->kept)->table_bytes;
}

reduct_status rd_cuda_queue_many(const struct rd_many *many, const struct rd_cuda_addresses *addresses,
                                 void *const *results, void *workspace, rd_cu_stream stream, reduct_error *error) {
    const struct rd_cuda_plan *plan = many->kept;
    const rd_cuda_driver *driver = plan->context->device->driver;
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(plan->context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    rd_cu_result result = RD_CU_SUCCESS;
    const rd_cu_address table = workspace ? (rd_cu_address)(uintptr_t)workspace : plan->table;
    struct rd_cuda_rounding rounding;
    struct rd_cuda_addresses common = *addresses;
    rounding.follows = true;
    common.keeps = many->is_whole;
    set_table(&common, plan, table);
    /* What the pass of several takes is cleared by itself. */
    const bool clears = workspace && plan->zero_bytes && !rd_many_is_grouped(many);
    if (clears)
        result = driver->cuMemsetD8Async(table, 0, plan->zero_bytes, stream);
    if (result == RD_CU_SUCCESS && plan->several.there)
        result = rd_cuda_several_read(&plan->several, start_of(many, addresses->input[0]), (void *)(uintptr_t)table,
                                      !workspace, !clears, stream);
    struct ways ways = {.count = 0};
    if (result == RD_CU_SUCCESS)
        result = choose_way(plan, &common, &ways, stream);
    for (unsigned w = 0; result == RD_CU_SUCCESS && w < ways.count; w++) {
        rounding.count = rounding.dense = 0;
        for (size_t turn = 0; result == RD_CU_SUCCESS && turn < many->reductions; turn++) {
            const size_t i = plan->pass[turn].turn;
            struct rd_cuda_addresses own = common;
            own.result = results[i];
            own.outcome = addresses->outcome ? addresses->outcome + i * many->layout.results : NULL;
            own.failure = addresses->failure ? addresses->failure + i : NULL;
            result = start_one(ways.way[w], i, &own, false, &rounding, stream);
        }
        if (result == RD_CU_SUCCESS)
            result = end_shared(ways.way[w], &common, &rounding, stream);
    }
    rd_cuda_leave(plan->context->device, &stay);
    return result == RD_CU_SUCCESS ? REDUCT_OK
                                   : rd_cuda_fail(plan->context->device, result, "to launch a kernel", error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Executions that wait
 * ------------------------------------------------------------------------------------------------------------------ */

/* Memory of one execution on the device, freed together. */
struct stay {
    const rd_cuda_driver *driver;
    rd_cu_address *buffer;
    unsigned buffers;
};

static rd_cu_result make_buffer(struct stay *stay, size_t bytes, void **buffer) {
    rd_cu_address address = 0;
    rd_cu_result result = stay->driver->cuMemAlloc(&address, bytes ? bytes : 1);
    if (result == RD_CU_SUCCESS)
        stay->buffer[stay->buffers++] = address;
    *buffer = (void *)(uintptr_t)address;
    return result;
}

static rd_cu_result copy_in(struct stay *stay, const void *from, size_t bytes, void **buffer) {
    rd_cu_result result = make_buffer(stay, bytes, buffer);
    return result == RD_CU_SUCCESS && bytes
               ? stay->driver->cuMemcpyHtoDAsync((rd_cu_address)(uintptr_t)*buffer, from, bytes, NULL)
               : result;
}

/* How far elements of an input, or entries of the mask, lie before and after its pointer: from `low` to `high`. */
static void find_extent(const struct rd_many *many, unsigned input, int64_t *low, int64_t *high) {
    const struct rd_layout *layout = &many->layout;
    *low = *high = 0;
    if (rd_many_is_segmented(many) || rd_many_is_grouped(many)) {
        *high = (int64_t)rd_many_elements(many);
        return;
    }
    if (!layout->results || !layout->count)
        return;
    *low = *high = layout->first[input];
    for (unsigned k = 0; k < layout->kept_axes + layout->reduced_axes; k++) {
        const struct rd_axis *axis = k < layout->kept_axes ? &layout->kept[k] : &layout->reduced[k - layout->kept_axes];
        const int64_t reach = axis->stride[input] * (int64_t)(axis->length - 1);
        *(reach < 0 ? low : high) += reach;
    }
    ++*high;
}

/* Where the device finds an array, which may be null; copied if it is in host memory. */
static void bring(struct stay *stay, const struct rd_cuda_device *device, const void *array, size_t bytes,
                  const void **there, rd_cu_result *result) {
    void *copy;
    *there = array;
    if (*result != RD_CU_SUCCESS || !array || rd_cuda_on_device(device, array))
        return;
    *result = copy_in(stay, array, bytes, &copy);
    *there = copy;
}

/* The same of a mask: the bytes that hold its entries. */
static void bring_mask(struct stay *stay, const struct rd_cuda_device *device, const struct rd_many *many,
                       const unsigned char *mask, const void **there, rd_cu_result *result) {
    int64_t low, high;
    find_extent(many, RD_MASK, &low, &high);
    *there = mask;
    if (!mask || low == high || rd_cuda_on_device(device, mask))
        return;
    low = (int64_t)((uint64_t)low + many->mask_offset);
    high = (int64_t)((uint64_t)high + many->mask_offset);
    if (many->mask == REDUCT_MASK_BITS) {
        low >>= 3;
        high = (high + 7) >> 3;
    }
    bring(stay, device, mask + low, (size_t)(high - low), there, result);
    *there = (const unsigned char *)*there - low;
}

/* Inputs that are in host memory are copied to the device. */
static rd_cu_result bring_inputs(struct stay *stay, const struct rd_cuda_device *device, const struct rd_many *many,
                                 const struct rd_execution *execution, struct rd_cuda_addresses *addresses) {
    const size_t bytes = rd_type(many->reduction[0].element)->bytes;
    rd_cu_result result = RD_CU_SUCCESS;
    for (unsigned i = 0; i < many->inputs && result == RD_CU_SUCCESS; i++) {
        addresses->input[i] = execution->input[i];
        if (!execution->input[i] || rd_cuda_on_device(device, execution->input[i]))
            continue;
        int64_t low, high;
        void *copy;
        find_extent(many, i, &low, &high);
        result = copy_in(stay, execution->input[i] + low * (int64_t)bytes, (size_t)(high - low) * bytes, &copy);
        addresses->input[i] = (unsigned char *)copy - low * (int64_t)bytes;
    }
    const uint64_t results = many->layout.results;
    if (rd_many_is_segmented(many)) {
        const size_t bounds = (size_t)(results + !execution->ends) * rd_type(many->segments.index)->bytes;
        bring(stay, device, execution->begins, bounds, &addresses->begins, &result);
        bring(stay, device, execution->ends, bounds, &addresses->ends, &result);
    }
    if (many->mask)
        bring_mask(stay, device, many, execution->mask, &addresses->mask, &result);
    if (rd_many_is_grouped(many)) {
        const size_t index = rd_type(many->groups.index)->bytes;
        bring(stay, device, execution->indices, (size_t)many->groups.elements * index, &addresses->indices, &result);
        bring(stay, device, execution->initial, (size_t)results * bytes, &addresses->initial, &result);
    }
    return result;
}

/* Whether results lie one after another anyway. */
static bool is_dense(const struct rd_many *many) {
    return rd_many_is_segmented(many) || many->layout.kept_axes == 0 ||
           (many->layout.kept_axes == 1 && many->layout.kept[0].result_stride == 1);
}

static reduct_status no_memory(const struct rd_many *many, reduct_error *error) {
    return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: memory for %llu results could not be allocated",
                   (unsigned long long)many->layout.results);
}

/* One reduction under way. */
struct run {
    struct rd_cuda_addresses addresses;
    size_t bytes;     /* of a result */
    bool staged;      /* results go to memory of the execution first */
    uint64_t failure; /* as kernels leave it */
};

static rd_cu_result fetch(const struct stay *stay, void *to, const void *from, size_t bytes) {
    rd_cu_result result =
        bytes ? stay->driver->cuMemcpyDtoHAsync(to, (rd_cu_address)(uintptr_t)from, bytes, NULL) : RD_CU_SUCCESS;
    return result == RD_CU_SUCCESS ? stay->driver->cuStreamSynchronize(NULL) : result;
}

static reduct_outcome *outcomes_of(const struct rd_execution *execution, size_t which) {
    return execution->outcomes ? execution->outcomes[which] : NULL;
}

/* Whether a reduction's failure would be the call's, of which no result is then written. */
static bool fails_call(const struct rd_many *many, const struct rd_execution *execution, size_t which) {
    return rd_many_may_fail(many, which) && !outcomes_of(execution, which);
}

static bool any_fails_call(const struct rd_many *many, const struct rd_execution *execution) {
    bool any = false;
    for (size_t i = 0; i < many->reductions; i++)
        any = any || fails_call(many, execution, i);
    return any;
}

/* Where a reduction leaves what it comes to. */
static rd_cu_result prepare_run(const struct rd_cuda_plan *plan, const struct rd_execution *execution, size_t which,
                                struct stay *stay, struct run *run) {
    const struct rd_many *many = plan->many;
    const struct rd_cuda_device *device = plan->context->device;
    const bool told = outcomes_of(execution, which) ||
                      (fails_call(many, execution, which) && many->reduction[which].nan == REDUCT_NAN_ERROR);
    void *memory;
    run->bytes = rd_result_size(&many->reduction[which]);
    run->staged = any_fails_call(many, execution) || !rd_cuda_on_device(device, execution->results[which]);
    run->addresses.result = execution->results[which];
    rd_cu_result result = make_buffer(stay, sizeof(uint64_t), &memory);
    run->addresses.failure = memory;
    if (result == RD_CU_SUCCESS)
        result = stay->driver->cuMemsetD8Async((rd_cu_address)(uintptr_t)memory, 0xff, sizeof(uint64_t), NULL);
    if (result == RD_CU_SUCCESS && run->staged) {
        result = make_buffer(stay, (size_t)many->layout.results * run->bytes, &memory);
        run->addresses.result = memory;
    }
    if (result == RD_CU_SUCCESS && told) {
        result = make_buffer(stay, (size_t)many->layout.results * sizeof(struct rd_cuda_outcome), &memory);
        run->addresses.outcome = memory;
    }
    return result;
}

/* Queues all of them. */
static rd_cu_result start_runs(const struct rd_cuda_plan *plan, const struct rd_execution *execution, struct stay *stay,
                               const struct rd_cuda_addresses *addresses, struct run *runs) {
    struct rd_cuda_addresses common = *addresses;
    struct rd_cuda_rounding rounding;
    struct ways ways = {.count = 0};
    const size_t reductions = plan->many->reductions;
    set_table(&common, plan, plan->table);
    rounding.follows = false;
    rd_cu_result result = choose_way(plan, &common, &ways, NULL);
    for (size_t i = 0; result == RD_CU_SUCCESS && i < reductions; i++) {
        runs[i].addresses = common;
        result = prepare_run(plan, execution, i, stay, &runs[i]);
    }
    if (result == RD_CU_SUCCESS && plan->several.there)
        result = rd_cuda_several_read(&plan->several, start_of(plan->many, common.input[0]), common.table, true, false,
                                      NULL);
    for (unsigned w = 0; result == RD_CU_SUCCESS && w < ways.count; w++) {
        rounding.count = rounding.dense = 0;
        for (size_t turn = 0; result == RD_CU_SUCCESS && turn < reductions; turn++) {
            const size_t i = plan->pass[turn].turn;
            result = start_one(ways.way[w], i, &runs[i].addresses, runs[i].staged, &rounding, NULL);
        }
        if (result == RD_CU_SUCCESS)
            result = end_shared(ways.way[w], &common, &rounding, NULL);
    }
    return result;
}

/* An index outside the groups. */
static reduct_status report_index(const struct rd_cuda_plan *plan, const struct stay *stay, const struct run *run,
                                  uint64_t row, reduct_error *error) {
    const reduct_groups *groups = &plan->many->groups;
    const struct rd_type *type = rd_type(groups->index);
    int64_t index = 0;
    const void *from = (const unsigned char *)run->addresses.indices + row * type->bytes;
    rd_cu_result result = fetch(stay, &index, from, type->bytes);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(plan->context->device, result, "to reduce", error);
    if (groups->index == REDUCT_I32)
        index = (int32_t)index;
    const bool negative = type->kind == RD_SIGNED && index < 0;
    return rd_fail_at(error, REDUCT_ERROR_ARGUMENT, row,
                      "indices: number %llu is %s%llu; expected one of the %llu groups", (unsigned long long)row,
                      negative ? "-" : "", (unsigned long long)(negative ? 0 - (uint64_t)index : (uint64_t)index),
                      (unsigned long long)groups->count);
}

reduct_status rd_cuda_report(const reduct_reduction *reduction, uint64_t results, uint64_t result,
                             const struct rd_cuda_outcome *outcome, reduct_error *error) {
    const char *name = rd_operator(reduction->op)->name;
    const reduct_status status = (reduct_status)outcome->status;
    char text[80];
    if (status == REDUCT_ERROR_NAN && outcome->index == UINT64_MAX)
        snprintf(text, sizeof text, "the initial value is NaN");
    else if (status == REDUCT_ERROR_NAN)
        snprintf(text, sizeof text, "element %llu is NaN", (unsigned long long)outcome->index);
    else if (status == REDUCT_ERROR_OVERFLOW)
        snprintf(text, sizeof text, "the result does not fit %s", rd_type(reduction->result)->name);
    else
        snprintf(text, sizeof text, "too few elements; it takes at least %llu",
                 (unsigned long long)rd_minimum(reduction));
    return results == 1 ? rd_fail_at(error, status, outcome->index, "%s: %s", name, text)
                        : rd_fail_at(error, status, outcome->index, "%s: result %llu: %s", name,
                                     (unsigned long long)result, text);
}

/* What a failed result is to the caller. */
static reduct_status report(const struct rd_cuda_plan *plan, const struct stay *stay, const struct run *run,
                            size_t which, reduct_error *error) {
    const struct rd_many *many = plan->many;
    const reduct_status status = (reduct_status)(run->failure & 0xff);
    const unsigned long long result = (run->failure & ~RD_CUDA_FAILURE_LATER) >> 8;
    struct rd_cuda_outcome outcome = {.status = status, .index = UINT64_MAX};
    if (status == REDUCT_ERROR_ARGUMENT && rd_many_is_grouped(many))
        return report_index(plan, stay, run, result, error);
    if (status == REDUCT_ERROR_ARGUMENT)
        return rd_fail_at(error, status, result, "segments: number %llu is not within the array's %llu elements",
                          result, (unsigned long long)many->segments.elements);
    if (status == REDUCT_ERROR_NAN &&
        fetch(stay, &outcome, run->addresses.outcome + result, sizeof outcome) != RD_CU_SUCCESS)
        outcome = (struct rd_cuda_outcome){.status = status, .index = UINT64_MAX};
    return rd_cuda_report(&many->reduction[which], many->layout.results, result, &outcome, error);
}

/* Copies results that lie one after another to where the layout has them, in host memory. */
static bool fetch_apart(const struct rd_many *many, const struct stay *stay, const struct run *run, unsigned char *to,
                        rd_cu_result *result) {
    const size_t bytes = (size_t)many->layout.results * run->bytes;
    unsigned char *from = malloc(bytes);
    if (!from)
        return false;
    *result = fetch(stay, from, run->addresses.result, bytes);
    for (uint64_t r = 0; *result == RD_CU_SUCCESS && r < many->layout.results; r++)
        memcpy(to + rd_layout_result(&many->layout, r).result * (int64_t)run->bytes, from + r * run->bytes, run->bytes);
    free(from);
    return true;
}

/* From where results waited to where they belong. */
static reduct_status release(const struct rd_cuda_plan *plan, const struct rd_execution *execution, size_t which,
                             struct stay *stay, struct run *run, reduct_error *error) {
    const struct rd_many *many = plan->many;
    const struct rd_cuda_device *device = plan->context->device;
    const size_t bytes = (size_t)many->layout.results * run->bytes;
    void *to = execution->results[which];
    rd_cu_result result = RD_CU_SUCCESS;
    if (run->staged && rd_cuda_on_device(device, to)) {
        if (is_dense(many)) {
            result = stay->driver->cuMemcpyDtoDAsync((rd_cu_address)(uintptr_t)to,
                                                     (rd_cu_address)(uintptr_t)run->addresses.result, bytes, NULL);
        } else { /* now that none fails */
            run->addresses.result = to;
            struct rd_cuda_rounding rounding;
            rounding.count = rounding.dense = 0;
            result = start_one(plan, which, &run->addresses, false, &rounding, NULL);
            if (result == RD_CU_SUCCESS && rounding.count)
                result = start_together(plan, &run->addresses, &rounding, NULL);
        }
        if (result == RD_CU_SUCCESS)
            result = stay->driver->cuStreamSynchronize(NULL);
    } else if (run->staged && is_dense(many)) {
        result = fetch(stay, to, run->addresses.result, bytes);
    } else if (run->staged && !fetch_apart(many, stay, run, to, &result)) {
        return no_memory(many, error);
    }
    return result == RD_CU_SUCCESS ? REDUCT_OK : rd_cuda_fail(device, result, "to reduce", error);
}

static reduct_status run_all(const struct rd_cuda_plan *plan, const struct rd_execution *execution, struct stay *stay,
                             struct run *runs, reduct_error *error) {
    const struct rd_many *many = plan->many;
    struct rd_cuda_addresses addresses = {.failure = NULL};
    rd_cu_result result = bring_inputs(stay, plan->context->device, many, execution, &addresses);
    size_t first = many->reductions;
    if (result == RD_CU_SUCCESS)
        result = start_runs(plan, execution, stay, &addresses, runs);
    for (size_t i = 0; result == RD_CU_SUCCESS && i < many->reductions; i++) {
        result = fetch(stay, &runs[i].failure, runs[i].addresses.failure, sizeof runs[i].failure);
        const bool fails =
            runs[i].failure != UINT64_MAX && (!(runs[i].failure & RD_CUDA_FAILURE_LATER) || !outcomes_of(execution, i));
        if (fails && (first == many->reductions || runs[i].failure >> 8 < runs[first].failure >> 8))
            first = i;
    }
    const bool refused = first < many->reductions &&
                         !(runs[first].failure & RD_CUDA_FAILURE_LATER); /* then no outcome is written either */
    for (size_t i = 0; result == RD_CU_SUCCESS && i < many->reductions && !refused; i++)
        if (outcomes_of(execution, i))
            result = fetch(stay, outcomes_of(execution, i), runs[i].addresses.outcome,
                           (size_t)many->layout.results * sizeof(reduct_outcome));
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(plan->context->device, result, "to reduce", error);
    if (first < many->reductions)
        return report(plan, stay, &runs[first], first, error);
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; status == REDUCT_OK && i < many->reductions; i++)
        status = release(plan, execution, i, stay, &runs[i], error);
    return status;
}

reduct_status rd_cuda_execute_many(const struct rd_many *many, const struct rd_execution *execution,
                                   reduct_error *error) {
    struct rd_cuda_plan *plan = many->kept;
    if (!many->layout.results && !many->groups.elements) /* otherwise an index is outside */
        return REDUCT_OK;
    const size_t buffers = 5 + 3 * many->reductions,
                 bytes = many->reductions * sizeof(struct run) + buffers * sizeof(rd_cu_address);
    struct run *runs = malloc(bytes);
    if (!runs)
        return no_memory(many, error);
    memset(runs, 0, bytes);
    struct stay stay = {plan->context->device->driver, (rd_cu_address *)(runs + many->reductions), 0};
    struct rd_cuda_stay in_context;
    rd_environment caller = rd_environment_enter();
    reduct_status status = rd_cuda_enter_context(plan->context, &in_context, error);
    if (status == REDUCT_OK) {
        pthread_mutex_lock(&plan->lock);
        status = run_all(plan, execution, &stay, runs, error);
        if (stay.buffers) /* nothing may still use what is freed */
            stay.driver->cuStreamSynchronize(NULL);
        for (unsigned i = 0; i < stay.buffers; i++)
            stay.driver->cuMemFree(stay.buffer[i]);
        pthread_mutex_unlock(&plan->lock);
        rd_cuda_leave(plan->context->device, &in_context);
    }
    rd_environment_leave(caller);
    free(runs);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Executions in streams that wait
 * ------------------------------------------------------------------------------------------------------------------ */

/* Reads and clears the words of failures, once what was queued has ended. */
static rd_cu_result wait_for_failures(const rd_cuda_driver *driver, const struct rd_cuda_channel *channel, size_t count,
                                      rd_cu_stream stream) {
    const size_t bytes = count * sizeof *channel->failed;
    bool any = false;
    rd_cu_result result = driver->cuMemcpyDtoHAsync(channel->failed, channel->failures, bytes, stream);
    if (result == RD_CU_SUCCESS)
        result = driver->cuStreamSynchronize(stream);
    for (size_t i = 0; i < count; i++)
        any = any || channel->failed[i] != UINT64_MAX;
    if (result == RD_CU_SUCCESS && any)
        result = driver->cuMemsetD8Async(channel->failures, 0xff, bytes, channel->stream);
    if (result == RD_CU_SUCCESS && any)
        result = driver->cuStreamSynchronize(channel->stream);
    return result;
}

/* With the context current. */
static reduct_status await_in(const struct rd_cuda_plan *plan, const struct rd_cuda_addresses *addresses,
                              void *const *results, void *workspace, struct rd_cuda_channel *channel,
                              rd_cu_stream stream, reduct_error *error) {
    const struct rd_many *many = plan->many;
    const size_t count = many->reductions, outcomes = (size_t)many->layout.results * count;
    struct run run = {.addresses = *addresses};
    rd_cu_address buffer = 0;
    struct stay stay = {plan->context->device->driver, &buffer, 0};
    bool tells = false; /* where a NaN is */
    for (size_t i = 0; i < count; i++)
        tells = tells || many->reduction[i].nan == REDUCT_NAN_ERROR;
    reduct_status status = rd_cuda_channel_failures(plan->context, channel, count, error);
    void *memory = NULL;
    rd_cu_result result = RD_CU_SUCCESS;
    if (status == REDUCT_OK && tells)
        result = make_buffer(&stay, outcomes * sizeof(struct rd_cuda_outcome), &memory);
    run.addresses.outcome = memory;
    run.addresses.failure = (uint64_t *)(uintptr_t)channel->failures;
    if (status == REDUCT_OK && result == RD_CU_SUCCESS)
        status = rd_cuda_queue_many(many, &run.addresses, results, workspace, stream, error);
    if (status == REDUCT_OK && result == RD_CU_SUCCESS)
        result = wait_for_failures(stay.driver, channel, count, stream);
    if (status == REDUCT_OK && result != RD_CU_SUCCESS)
        status = rd_cuda_fail(plan->context->device, result, "to reduce", error);
    size_t first = 0;
    for (size_t i = 1; status == REDUCT_OK && i < count; i++)
        first = channel->failed[i] >> 8 < channel->failed[first] >> 8 ? i : first;
    if (status == REDUCT_OK && channel->failed[first] != UINT64_MAX) {
        run.failure = channel->failed[first];
        run.addresses.outcome += tells ? first * many->layout.results : 0;
        status = report(plan, &stay, &run, first, error);
    }
    if (buffer)
        stay.driver->cuMemFree(buffer);
    return status;
}

reduct_status rd_cuda_await_many(const struct rd_many *many, const struct rd_cuda_addresses *addresses,
                                 void *const *results, void *workspace, rd_cu_stream stream, reduct_error *error) {
    struct rd_cuda_plan *plan = many->kept;
    struct rd_cuda_stay stay;
    struct rd_cuda_channel *channel;
    reduct_status status = rd_cuda_enter_context(plan->context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    status = rd_cuda_check_stream(plan->context->device, stream, error);
    if (status == REDUCT_OK)
        status = rd_cuda_channel_take(plan->context, false, &channel, error);
    if (status == REDUCT_OK) {
        if (!workspace)
            pthread_mutex_lock(&plan->lock);
        status = await_in(plan, addresses, results, workspace, channel, stream, error);
        if (!workspace)
            pthread_mutex_unlock(&plan->lock);
        if (status == REDUCT_ERROR_DEVICE_LOST)
            rd_cuda_channel_destroy(plan->context, channel);
        else
            rd_cuda_channel_give(plan->context, channel);
    }
    rd_cuda_leave(plan->context->device, &stay);
    return status;
}
