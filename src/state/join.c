/* Tables of many processes, merged: see join.h. */
#include "state/join.h"

#include "core/status.h"
#include "state/join_numerals.h"
#include "state/table.h"

#include <stdlib.h>
#include <string.h>

/* Groups of a block, and cells of one that were put aside. */
enum { BLOCK = 1 << 12, BLOCK_ASIDE = 1 << 8 };

/* What is asked, one after another. */
enum stage { SURVEY, PLACES, SURVEY_AGAIN, ASIDES, SURVEY_ASIDES, READY };

/* Of one state the cells that were put aside, in the order of their groups: what this part has of them, and then what all have. */
struct asides {
    uint64_t *bits; /* one for each group */
    uint64_t count;
    uint64_t *group;
    unsigned char *cell;
    uint64_t own;             /* cells, of the first, that point to nothing that others do */
    struct rd_survey *survey; /* by block */
};

struct rd_join {
    reduct_table *table;
    const struct rd_rows *rows;
    uint64_t groups, blocks, before;
    int headroom;
    enum stage stage;
    struct rd_survey *survey;         /* of each state by block */
    struct rd_numeral_places *places; /* of blocks that are too wide */
    uint64_t *bits;
    uint64_t bit_words;
    struct rd_survey *survey_asides;
    struct asides *asides; /* of each state */
    reduct_error failure;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Cells
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_sum(const struct rd_join *join, size_t state) {
    return join->table->cells[state].kind == RD_CELL_SUMS;
}

static bool failed(const struct rd_join *join) {
    return join->failure.status != REDUCT_OK;
}

/* Of so many cells those that this table has: it may have fewer groups than others. */
static uint64_t cells_here(const struct rd_join *join, uint64_t first, uint64_t count) {
    const uint64_t groups = join->table->groups, here = first < groups ? groups - first : 0;
    return count < here ? count : here;
}

static uint64_t cells_of_block(const struct rd_join *join, uint64_t block) {
    const uint64_t left = join->groups - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

static uint64_t blocks_of(uint64_t count, uint64_t block) {
    return count / block + (count % block != 0);
}

static struct rd_survey *survey_of(const struct rd_join *join, size_t state, uint64_t block) {
    return &join->survey[state * join->blocks + block];
}

/* Nothing fails after this. */
static void note_no_memory(struct rd_join *join, const char *what) {
    rd_fail(&join->failure, REDUCT_ERROR_OUT_OF_MEMORY, "table: %s could not be allocated", what);
}

/* The first of those put aside from a group on. */
static uint64_t find_aside(const struct asides *asides, uint64_t group) {
    uint64_t low = 0, high = asides->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (asides->group[middle] < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Opening
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t seen(const reduct_table *table) {
    return table->seen;
}

static bool tells_places(const reduct_table *table) {
    for (size_t i = 0; i < table->reductions; i++)
        if (rd_operator(table->reduction[i].op)->finish == RD_INDEX)
            return true;
    return false;
}

/* Mode is not looked at: tables have one alone. */
static uint64_t signature(const reduct_table *table) {
    uint64_t signature = 0xcbf29ce484222325;
    for (size_t i = 0; i < table->reductions; i++) {
        const reduct_reduction *reduction = &table->reduction[i];
        const uint64_t own = (uint64_t)reduction->op | (uint64_t)reduction->element << 8 |
                             (uint64_t)reduction->nan << 24 | (uint64_t)reduction->flags << 32;
        signature = (signature ^ own) * 0x100000001b3;
    }
    return signature;
}

static void look_at_block(struct rd_join *join, size_t s, uint64_t block, const struct rd_numeral_limits *limits) {
    const uint64_t first = block * BLOCK, count = cells_here(join, first, cells_of_block(join, block));
    rd_numerals_survey(&join->table->cells[s], count ? rd_table_cell(join->rows, s, first) : NULL, count,
                       join->headroom, limits, is_sum(join, s) ? join->asides[s].bits + first / 64 : NULL,
                       survey_of(join, s, block));
}

/* Memory for what is asked, whatever it will be, so that all processes can take part in that. */
static bool allocate(struct rd_join *join) {
    const size_t states = join->table->states, blocks = (size_t)join->blocks;
    const uint64_t words = blocks_of(join->groups, 64), of_asides = blocks_of(join->groups, BLOCK_ASIDE);
    join->asides = calloc(states, sizeof *join->asides);
    join->survey = calloc(states * blocks + 1, sizeof *join->survey);
    join->places = calloc(states * blocks + 1, sizeof *join->places);
    join->bits = calloc(states * (size_t)words + 1, sizeof *join->bits);
    join->survey_asides = calloc(states * (size_t)of_asides + 1, sizeof *join->survey_asides);
    if (!join->asides || !join->survey || !join->places || !join->bits || !join->survey_asides)
        return false;
    for (size_t s = 0; s < states; s++)
        if (is_sum(join, s)) {
            join->asides[s].bits = join->bits + join->bit_words;
            join->bit_words += words;
        }
    return true;
}

static void close(struct rd_join *join) {
    for (size_t s = 0; join && join->asides && s < join->table->states; s++) {
        if (join->asides[s].cell)
            rd_cells_release(&join->table->cells[s], join->asides[s].cell, join->asides[s].own);
        free(join->asides[s].cell);
        free(join->asides[s].group);
    }
    if (!join)
        return;
    free(join->asides);
    free(join->survey);
    free(join->places);
    free(join->bits);
    free(join->survey_asides);
    free(join);
}

static reduct_status open(reduct_table *table, uint64_t parts, uint64_t groups, uint64_t before, struct rd_join **join,
                          reduct_error *error) {
    struct rd_join *made = calloc(1, sizeof *made);
    if (made) {
        *made =
            (struct rd_join){.table = table, .groups = groups, .blocks = blocks_of(groups, BLOCK), .before = before};
        made->headroom = parts > 1 ? 64 - __builtin_clzll(parts - 1) : 0;
    }
    if (!made || !allocate(made)) {
        close(made);
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: memory for what %llu groups are like, of all ranks",
                       (unsigned long long)groups);
    }
    const reduct_status status = rd_table_rows_to_change(table, &made->rows, error);
    if (status != REDUCT_OK) {
        close(made);
        return status;
    }
    for (size_t s = 0; s < table->states; s++)
        for (uint64_t b = 0; b < made->blocks; b++)
            look_at_block(made, s, b, NULL);
    *join = made;
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Asking
 * ------------------------------------------------------------------------------------------------------------------ */

static bool hand_out(struct rd_join_message *message, void *words, uint64_t count, reduct_merge merge) {
    *message = (struct rd_join_message){words, count, 1, merge};
    return true;
}

static bool is_too_wide(const struct rd_join *join, size_t s, uint64_t block) {
    return is_sum(join, s) && !rd_numerals_fit(&join->table->cells[s], survey_of(join, s, block), join->headroom);
}

static bool some_are_too_wide(const struct rd_join *join) {
    for (size_t s = 0; s < join->table->states; s++)
        for (uint64_t b = 0; b < join->blocks; b++)
            if (is_too_wide(join, s, b))
                return true;
    return false;
}

/* Of the blocks that are too wide, one after another: where their cells lie. */
static uint64_t find_places(struct rd_join *join) {
    uint64_t wide = 0;
    for (size_t s = 0; s < join->table->states; s++)
        for (uint64_t b = 0; b < join->blocks; b++) {
            const uint64_t first = b * BLOCK, count = cells_here(join, first, cells_of_block(join, b));
            if (!is_too_wide(join, s, b))
                continue;
            if (count)
                rd_numerals_place(&join->table->cells[s], rd_table_cell(join->rows, s, first), count, join->headroom,
                                  &join->places[wide]);
            wide++;
        }
    return wide;
}

/* What lies beyond the limits that follow is put aside. */
static void look_again(struct rd_join *join) {
    uint64_t wide = 0;
    for (size_t s = 0; s < join->table->states; s++)
        for (uint64_t b = 0; b < join->blocks; b++) {
            struct rd_numeral_limits limits = {{0, 0}, {0, 0}};
            if (!is_too_wide(join, s, b))
                continue;
            rd_numerals_limit(&join->table->cells[s], &join->places[wide++], &limits);
            look_at_block(join, s, b, &limits);
        }
}

static bool some_are_aside(const struct rd_join *join) {
    for (uint64_t i = 0; i < join->table->states * join->blocks; i++)
        if (join->survey[i].aside)
            return true;
    return false;
}

/* The groups whose bits are set, and copies of their cells, which point to what those point to. */
static void list_asides(struct rd_join *join, size_t s) {
    struct asides *asides = &join->asides[s];
    const struct rd_cells *cells = &join->table->cells[s];
    const uint64_t words = blocks_of(join->groups, 64);
    for (uint64_t w = 0; w < words; w++)
        asides->count += (unsigned)__builtin_popcountll(asides->bits[w]);
    if (!asides->count)
        return;
    asides->group = malloc((size_t)asides->count * sizeof *asides->group);
    asides->cell = calloc((size_t)asides->count, cells->size);
    if (!asides->group || !asides->cell) {
        note_no_memory(join, "room for groups that range widely");
        return;
    }
    for (uint64_t w = 0, at = 0; w < words; w++)
        for (uint64_t left = asides->bits[w]; left; left &= left - 1) {
            const uint64_t group = 64 * w + (unsigned)__builtin_ctzll(left);
            if (group < join->table->groups)
                memcpy(asides->cell + at * cells->size, rd_table_cell(join->rows, s, group), cells->size);
            asides->group[at++] = group;
        }
}

static uint64_t look_at_asides(struct rd_join *join) {
    uint64_t blocks = 0;
    for (size_t s = 0; s < join->table->states; s++) {
        struct asides *asides = &join->asides[s];
        if (!is_sum(join, s))
            continue;
        list_asides(join, s);
        asides->survey = join->survey_asides + blocks;
        for (uint64_t first = 0; first < asides->count; first += BLOCK_ASIDE) {
            const uint64_t left = asides->count - first;
            const struct rd_cells *cells = &join->table->cells[s];
            rd_numerals_survey(cells, asides->cell ? asides->cell + first * cells->size : NULL,
                               failed(join)         ? 0
                               : left < BLOCK_ASIDE ? left
                                                    : BLOCK_ASIDE,
                               join->headroom, NULL, NULL, &join->survey_asides[blocks++]);
        }
    }
    return blocks;
}

static bool ask(struct rd_join *join, struct rd_join_message *message) {
    const uint64_t surveys = join->table->states * join->blocks;
    switch (join->stage) {
    case SURVEY:
        join->stage = surveys ? PLACES : READY;
        return surveys && hand_out(message, join->survey, surveys * RD_SURVEY_NUMBERS, REDUCT_MERGE_LEAST);
    case PLACES:
        join->stage = SURVEY_AGAIN;
        if (some_are_too_wide(join))
            return hand_out(message, join->places, find_places(join) * RD_PLACES_NUMBERS, REDUCT_MERGE_ADD);
        join->stage = ASIDES;
        return ask(join, message);
    case SURVEY_AGAIN:
        join->stage = ASIDES;
        look_again(join);
        return hand_out(message, join->survey, surveys * RD_SURVEY_NUMBERS, REDUCT_MERGE_LEAST);
    case ASIDES:
        join->stage = some_are_aside(join) ? SURVEY_ASIDES : READY;
        return join->stage == SURVEY_ASIDES && hand_out(message, join->bits, join->bit_words, REDUCT_MERGE_OR);
    case SURVEY_ASIDES:
        join->stage = READY;
        return hand_out(message, join->survey_asides, look_at_asides(join) * RD_SURVEY_NUMBERS, REDUCT_MERGE_LEAST);
    case READY:
        break;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------------------------------------------------ */

/* Cells of a part that lie in one block, and so have one form. */
struct piece {
    uint64_t first, count;
    struct rd_numeral_form form;
};

/* Those from one on, `most` at most. */
static struct piece piece_from(const struct rd_join *join, const struct rd_join_part *part, uint64_t first,
                               uint64_t most) {
    const uint64_t size = part->aside ? BLOCK_ASIDE : BLOCK, block = first / size, left = (block + 1) * size - first;
    const struct rd_survey *survey =
        part->aside ? &join->asides[part->state].survey[block] : survey_of(join, part->state, block);
    struct piece piece = {.first = first, .count = left < most ? left : most};
    rd_numerals_form(&join->table->cells[part->state], survey, join->headroom, &piece.form);
    return piece;
}

/* As many of those that are left as there is room for. */
static void fill_part(const struct rd_join *join, struct rd_join_part *part, uint64_t left) {
    uint64_t words = 0;
    while (left && 2 * part->count < RD_JOIN_PART) { /* as what does not add can take two words each */
        const struct piece piece = piece_from(join, part, part->first + part->count, RD_JOIN_PART / 2 - part->count);
        uint64_t count = piece.count < left ? piece.count : left, room = (RD_JOIN_PART - words) / piece.form.words;
        if (count > room && part->count)
            break;
        count = count < room ? count : room;
        part->count += count;
        left -= count;
        words += count * piece.form.words;
    }
    part->message = (struct rd_join_message){NULL, words, 1, REDUCT_MERGE_ADD};
}

static bool next(const struct rd_join *join, bool aside, struct rd_join_part *part) {
    uint64_t first = part->first + part->count; /* 0 before all */
    if (part->message.count && !part->rest) {
        const struct rd_cells *cells = &join->table->cells[part->state];
        part->rest = rd_rest_words(cells) != 0;
        part->message = (struct rd_join_message){NULL, part->count * rd_rest_words(cells), rd_rest_width(cells),
                                                 rd_rest_merge(cells)};
        if (part->rest)
            return true;
    }
    for (size_t s = part->state; s < join->table->states; s++, first = 0) {
        const uint64_t count = aside ? join->asides[s].count : join->groups;
        if (first >= count)
            continue;
        *part = (struct rd_join_part){.state = s, .first = first, .aside = aside};
        fill_part(join, part, count - first);
        return true;
    }
    return false;
}

static void pack_aside(const struct rd_join *join, size_t s, const struct piece *piece, int64_t *words) {
    const struct rd_cells *cells = &join->table->cells[s];
    if (failed(join))
        memset(words, 0, (size_t)piece->count * piece->form.words * sizeof *words);
    else
        rd_numerals_pack(cells, &piece->form, true, join->asides[s].cell + piece->first * cells->size, piece->count,
                         words);
}

/* Numerals of cells that were put aside are zero: what these hold need not fit. */
static void pack_cells(const struct rd_join *join, size_t s, const struct piece *piece, int64_t *words) {
    const struct asides *asides = &join->asides[s];
    const uint64_t here = cells_here(join, piece->first, piece->count), end = piece->first + piece->count;
    const size_t width = piece->form.words;
    if (here)
        rd_numerals_pack(&join->table->cells[s], &piece->form, false, rd_table_cell(join->rows, s, piece->first), here,
                         words);
    memset(words + here * width, 0, (size_t)(piece->count - here) * width * sizeof *words);
    for (uint64_t i = find_aside(asides, piece->first); i < asides->count && asides->group[i] < end; i++)
        memset(words + (asides->group[i] - piece->first) * width, 0, width * sizeof *words);
}

static void pack_rest(const struct rd_join *join, const struct rd_join_part *part, int64_t *words) {
    const struct rd_cells *cells = &join->table->cells[part->state];
    const uint64_t here = cells_here(join, part->first, part->count);
    if (here)
        rd_rest_pack(cells, rd_table_cell(join->rows, part->state, part->first), here, join->before, words);
    rd_rest_none(cells, part->count - here, words + here * rd_rest_words(cells));
}

static void pack(const struct rd_join *join, const struct rd_join_part *part, int64_t *words) {
    struct piece piece;
    for (uint64_t done = 0; !part->rest && done < part->count; done += piece.count) {
        piece = piece_from(join, part, part->first + done, part->count - done);
        if (part->aside)
            pack_aside(join, part->state, &piece, words);
        else
            pack_cells(join, part->state, &piece, words);
        words += piece.count * piece.form.words;
    }
    if (part->rest)
        pack_rest(join, part, words);
}

static void unpack_aside(struct rd_join *join, size_t s, const struct piece *piece, const int64_t *words) {
    const struct rd_cells *cells = &join->table->cells[s];
    struct asides *asides = &join->asides[s];
    if (failed(join))
        return;
    unsigned char *cell = asides->cell + piece->first * cells->size;
    memset(cell, 0, (size_t)piece->count * cells->size); /* what they point to belongs to the table */
    asides->own = piece->first + piece->count;
    if (!rd_numerals_unpack(cells, &piece->form, true, words, piece->count, cell))
        note_no_memory(join, "words for all exponents");
}

/* Where cells were put aside, there now comes what all parts have of them. */
static void unpack_cells(struct rd_join *join, size_t s, const struct piece *piece, const int64_t *words) {
    const struct rd_cells *cells = &join->table->cells[s];
    const struct asides *asides = &join->asides[s];
    const uint64_t first = find_aside(asides, piece->first), end = find_aside(asides, piece->first + piece->count);
    for (uint64_t i = first; i < end; i++)
        rd_cell_clear(cells, rd_table_cell(join->rows, s, asides->group[i]));
    rd_numerals_unpack(cells, &piece->form, false, words, piece->count, rd_table_cell(join->rows, s, piece->first));
    for (uint64_t i = first; i < end; i++) {
        unsigned char *cell = asides->cell + i * cells->size;
        memcpy(rd_table_cell(join->rows, s, asides->group[i]), cell, cells->size);
        memset(cell, 0, cells->size);
    }
}

static void unpack(struct rd_join *join, const struct rd_join_part *part, const int64_t *words) {
    struct piece piece;
    for (uint64_t done = 0; !part->rest && done < part->count; done += piece.count) {
        piece = piece_from(join, part, part->first + done, part->count - done);
        if (part->aside)
            unpack_aside(join, part->state, &piece, words);
        else
            unpack_cells(join, part->state, &piece, words);
        words += piece.count * piece.form.words;
    }
    if (part->rest)
        rd_rest_unpack(&join->table->cells[part->state], words, part->count,
                       rd_table_cell(join->rows, part->state, part->first));
}

static reduct_status settle(struct rd_join *join, bool writes, reduct_error *error) {
    if (failed(join)) {
        *error = join->failure;
        return error->status;
    }
    return writes && join->groups > join->table->groups ? reduct_table_resize(join->table, join->groups, error)
                                                        : REDUCT_OK;
}

static void finish(struct rd_join *join, uint64_t given) {
    join->table->seen = given;
    close(join);
}

const struct rd_joining reduct_joining = {.size_of_this = sizeof(struct rd_joining),
                                          .seen = seen,
                                          .tells_places = tells_places,
                                          .signature = signature,
                                          .open = open,
                                          .ask = ask,
                                          .next = next,
                                          .pack = pack,
                                          .unpack = unpack,
                                          .settle = settle,
                                          .finish = finish,
                                          .close = close};
