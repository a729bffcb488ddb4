/* SPDX-License-Identifier: MIT
 *
 * In: rows of a full-zip page. Out: their levels, and their values one behind the other.
 *
 *   control word of 0, 1, 2 or 4 bytes: definition in the low bits, repetition above
 *   what is masked by an outer list has nothing else; of values of fixed width, those that are null have room,
 *   too; of others, those that are valid have a length and so many bytes
 */
#include "formats/lance/decode/full_zip_rows.h"

#include <inttypes.h>
#include <string.h>

#include "formats/lance/decode/levels.h"

struct walk {
    const struct nt_tree *tree;
    struct nt_cursor cursor;
    struct nt_layer_rule rule;
    uint32_t control_bytes, length_bytes, value_bytes;
};

struct row {
    uint16_t repetition, definition;
    bool is_visible;
    struct nt_part value;
};

static void start(struct walk *walk, const struct nt_tree *tree, const struct nt_part *part)
{
    *walk = (struct walk){.tree = tree, .cursor = nt_cursor(part->data, part->bytes)};
    walk->control_bytes = nt_tree_control_bytes(tree);
    walk->length_bytes = tree->offset_bits / 8;
    walk->value_bytes = (tree->value_bits + 7) / 8;
    nt_layer_rule(tree, 0, &walk->rule);
}

static bool next(struct walk *walk, struct row *row)
{
    if (!nt_cursor_left(&walk->cursor))
        return false;
    uint64_t control = nt_full_zip_number(&walk->cursor, walk->control_bytes);
    uint64_t definition = control & ((UINT64_C(1) << walk->tree->definition_bits) - 1);
    uint64_t repetition = control >> walk->tree->definition_bits;
    *row = (struct row){.repetition = (uint16_t)(repetition < UINT16_MAX ? repetition : UINT16_MAX),
                        .definition = (uint16_t)definition,
                        .is_visible = definition <= walk->rule.visible};
    if (row->is_visible) {
        row->value.bytes = walk->value_bytes;
        if (walk->length_bytes)
            row->value.bytes = definition ? 0 : nt_full_zip_number(&walk->cursor, walk->length_bytes);
        row->value.data = nt_get_bytes(&walk->cursor, row->value.bytes);
    }
    return !walk->cursor.failed;
}

struct totals {
    uint64_t rows, values, bytes;
};

/* Where rows are gathered to. */
struct gathered {
    uint16_t *repetition, *definition; /* NULL: there are none */
    uint8_t *bytes;                    /* COPIED more than there are */
    uint64_t *ends;                    /* NULL: values have no lengths */
};

/* Small values are copied whole, with what is behind them. */
enum { COPIED = 16 };

static void put_levels(const struct gathered *to, uint64_t row, uint16_t repetition, uint16_t definition)
{
    if (to->repetition)
        to->repetition[row] = repetition;
    if (to->definition)
        to->definition[row] = definition;
}

/* ---- the rows that do not reach into the last bytes, which are so looked at without asking whether each is there ---- */

static inline __attribute__((always_inline)) void walk_inside(struct walk *walk, struct totals *totals,
                                                              const struct gathered *to, bool has_lengths)
{
    const uint32_t control_mask = walk->control_bytes == 4 ? UINT32_MAX : (1U << 8 * walk->control_bytes) - 1,
                   definition_bits = walk->tree->definition_bits,
                   definition_mask = (1U << definition_bits) - 1, visible = walk->rule.visible;
    const uint64_t length_mask =
        walk->length_bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * walk->length_bytes) - 1;
    const uint8_t *data = walk->cursor.bytes;
    const uint64_t header_bytes = walk->control_bytes + (uint64_t)walk->length_bytes,
                   needed = header_bytes + walk->value_bytes + COPIED;
    uint64_t at = walk->cursor.position;
    struct totals done = *totals;
    while (walk->cursor.end - at >= needed) {
        uint32_t control = nt_load_le32(data + at) & control_mask, definition = control & definition_mask,
                 repetition = control >> definition_bits;
        bool is_visible = definition <= visible, is_value = is_visible && !(has_lengths && definition);
        uint64_t begin = at + (has_lengths && is_value ? header_bytes : walk->control_bytes),
                 bytes = is_value ? walk->value_bytes : 0;
        if (has_lengths && is_value)
            bytes = nt_load_le64(data + at + walk->control_bytes) & length_mask;
        if (has_lengths && bytes > walk->cursor.end - begin - COPIED)
            break;
        if (to) {
            put_levels(to, done.rows, (uint16_t)(repetition < UINT16_MAX ? repetition : UINT16_MAX),
                       (uint16_t)definition);
            memcpy(to->bytes + done.bytes, data + begin, COPIED);
            if (bytes > COPIED)
                memcpy(to->bytes + done.bytes, data + begin, bytes);
            if (has_lengths && is_visible)
                to->ends[done.values] = done.bytes + bytes;
        }
        at = begin + bytes;
        done.rows++;
        done.values += is_visible;
        done.bytes += bytes;
    }
    walk->cursor.position = at;
    *totals = done;
}

static void count_inside(struct walk *walk, struct totals *totals)
{
    if (walk->length_bytes)
        walk_inside(walk, totals, NULL, true);
    else
        walk_inside(walk, totals, NULL, false);
}

static void gather_inside(struct walk *walk, struct totals *totals, const struct gathered *to)
{
    if (walk->length_bytes)
        walk_inside(walk, totals, to, true);
    else
        walk_inside(walk, totals, to, false);
}

/* ---- all rows ---- */

static enum nt_status count(const struct nt_tree *tree, const struct nt_part *part, struct totals *totals,
                            struct nt_error *error)
{
    struct walk walk;
    struct row row;
    start(&walk, tree, part);
    *totals = (struct totals){0};
    if (!walk.control_bytes && !walk.length_bytes && !walk.value_bytes)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "rows of a full-zip page take no bytes");
    count_inside(&walk, totals);
    while (next(&walk, &row)) {
        totals->rows++;
        totals->values += row.is_visible;
        totals->bytes += row.value.bytes;
    }
    if (walk.cursor.failed)
        return nt_fail(error, NT_CORRUPT, NT_NO_OFFSET,
                       "row %" PRIu64 " of a full-zip page goes on behind its %" PRIu64 " bytes",
                       totals->rows, part->bytes);
    return NT_OK;
}

static enum nt_status take_memory(struct nt_work *work, const struct totals *totals,
                                  struct gathered *gathered, struct nt_error *error)
{
    const struct nt_tree *tree = work->tree;
    enum nt_status status = NT_OK;
    if (tree->repetition_bits)
        status = nt_work_take(work, totals->rows * sizeof(uint16_t), &gathered->repetition, error);
    if (status == NT_OK && tree->definition_bits)
        status = nt_work_take(work, totals->rows * sizeof(uint16_t), &gathered->definition, error);
    if (status == NT_OK)
        status = nt_work_take(work, totals->bytes + COPIED, &gathered->bytes, error);
    if (status == NT_OK && tree->offset_bits)
        status = nt_work_take(work, totals->values * sizeof(uint64_t), &gathered->ends, error);
    return status;
}

static enum nt_status gather(struct nt_work *work, const struct nt_part *part, const struct totals *totals,
                             struct nt_opened *opened, struct nt_error *error)
{
    struct gathered gathered = {0};
    struct totals done = {0};
    struct walk walk;
    struct row row;
    enum nt_status status = take_memory(work, totals, &gathered, error);
    if (status != NT_OK)
        return status;
    start(&walk, work->tree, part);
    gather_inside(&walk, &done, &gathered);
    for (; next(&walk, &row); done.rows++) {
        put_levels(&gathered, done.rows, row.repetition, row.definition);
        if (!row.is_visible)
            continue;
        if (row.value.bytes)
            memcpy(gathered.bytes + done.bytes, row.value.data, row.value.bytes);
        done.bytes += row.value.bytes;
        if (gathered.ends)
            gathered.ends[done.values] = done.bytes;
        done.values++;
    }
    if (gathered.repetition || gathered.definition)
        opened->levels = (struct nt_levels){done.rows, gathered.repetition, gathered.definition};
    opened->array = (struct nt_array){
        .elements = done.values, .data = gathered.bytes, .bytes = done.bytes, .ends = gathered.ends};
    return nt_levels_check(work->tree, &opened->levels, error);
}

bool nt_full_zip_is_walked(const struct nt_tree *tree)
{
    return tree->repetition_bits || tree->definition_bits || tree->offset_bits;
}

enum nt_status nt_full_zip_walk(struct nt_work *work, const struct nt_part *part, struct nt_opened *opened,
                                struct nt_error *error)
{
    struct totals totals;
    enum nt_status status = count(work->tree, part, &totals, error);
    return status == NT_OK ? gather(work, part, &totals, opened, error) : status;
}
