/* SPDX-License-Identifier: MIT
 *
 * Converts JSONB fields to columns of JSON strings. Generates all strings once to count their bytes;
 * later generates a range again from the nearest counted row.
 */
#include "render/arrow/arrow.h"

#include "core/json/json.h"

/* Limits of a block: rows and bytes of JSONB, at least one row. A block of nulls has no row limit. */
enum { MAX_ROWS = 1024, MAX_BYTES = 64 * 1024 };
enum { MAX_VALUE_BYTES = 256 * 1024 * 1024 };

/* The start of a block. */
struct block_mark {
    uint64_t row, bytes;
    bool has_failed; /* no strings: the block cannot be decoded, and counts as 0 bytes */
};

struct nt_arrow_texts {
    struct nt_arrow_texts *next;
    uint32_t field, offsets, data, valid;
    uint64_t left;            /* remaining budget for counting, in bytes */
    struct block_mark *marks; /* [mark_count]; the last one is the end */
    size_t mark_count, capacity;
    pthread_mutex_t lock; /* guards `block` */
    struct {
        size_t number; /* SIZE_MAX: none */
        uint64_t ends[MAX_ROWS + 1];
        struct nt_buffer text;
    } block;
};

const char nt_arrow_texts_limit[] = "the JSON texts have more than 64 times the limit pagesize";

NT_DEFINE_LAST_AT_MOST(find_row, struct block_mark, .row)
NT_DEFINE_LAST_AT_MOST(find_bytes, struct block_mark, .bytes)

void nt_arrow_texts_free(struct nt_arrow_texts *texts)
{
    while (texts) {
        struct nt_arrow_texts *next = texts->next;
        pthread_mutex_destroy(&texts->lock);
        nt_buffer_deinit(&texts->block.text);
        free(texts->marks);
        free(texts);
        texts = next;
    }
}

struct nt_arrow_texts *nt_arrow_texts_of(const struct nt_arrow *arrow, uint32_t field)
{
    struct nt_arrow_texts *texts = arrow->texts;
    while (texts && texts->field != field)
        texts = texts->next;
    return texts;
}

/* ---- One block ---- */

/* The location of the JSONB of some rows. */
struct rows {
    uint64_t ends[MAX_ROWS + 1]; /* [count + 1] end offsets in the data of the field */
    uint8_t valid[MAX_ROWS];
    uint64_t count;
};

/* Reads the locations of rows from `row` up to `end`, as many as fit in a block. */
static enum nt_status read_rows(const struct nt_arrow *arrow, const struct nt_arrow_texts *texts,
                                uint64_t row, uint64_t end, struct rows *rows, struct nt_error *error)
{
    uint64_t count = nt_min(end - row, MAX_ROWS);
    size_t bytes = (size_t)(count + 1) * sizeof(*rows->ends);
    NT_TRY(nt_arrow_read_stream(arrow, texts->offsets, row * sizeof(*rows->ends), rows->ends, bytes, error));
    for (uint64_t i = 0; i < count; i++)
        if (rows->ends[i + 1] < rows->ends[i])
            return nt_fail_below(error, NT_CORRUPT, NT_NO_OFFSET, "end offset", rows->ends[i],
                                 rows->ends[i + 1]);
    while (count > 1 && rows->ends[count] - rows->ends[0] > MAX_BYTES)
        count--;
    rows->count = count;
    memset(rows->valid, 1, sizeof(rows->valid));
    if (texts->valid != NT_NONE)
        NT_TRY(nt_arrow_read_stream(arrow, texts->valid, row, rows->valid, (size_t)count, error));
    return NT_OK;
}

static enum nt_status append_texts(const struct rows *rows, const uint8_t *jsonb, uint64_t *ends,
                                   struct nt_buffer *text, struct nt_error *error)
{
    ends[0] = 0;
    for (uint64_t i = 0; i < rows->count; i++) {
        if (rows->valid[i])
            NT_TRY(nt_jsonb_append(text, jsonb + (rows->ends[i] - rows->ends[0]),
                                   (size_t)(rows->ends[i + 1] - rows->ends[i]), error));
        NT_TRY(nt_check_memory(!text->failed, error));
        ends[i + 1] = text->length;
    }
    return NT_OK;
}

static enum nt_status make_texts(const struct nt_arrow *arrow, const struct nt_arrow_texts *texts,
                                 const struct rows *rows, uint64_t *ends, struct nt_buffer *text,
                                 struct nt_error *error)
{
    uint64_t bytes = rows->ends[rows->count] - rows->ends[0];
    nt_buffer_clear(text);
    if (bytes > MAX_VALUE_BYTES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "a JSON value has more than 256 MiB");
    NT_AUTO_FREE uint8_t *jsonb = malloc((size_t)bytes + 1);
    NT_TRY(nt_check_memory(jsonb, error));
    if (bytes)
        NT_TRY(nt_arrow_read_stream(arrow, texts->data, rows->ends[0], jsonb, (size_t)bytes, error));
    return append_texts(rows, jsonb, ends, text, error);
}

/* ---- Counting ---- */

static enum nt_status spend(struct nt_arrow_texts *texts, uint64_t bytes, struct nt_error *error)
{
    if (bytes > texts->left)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s", nt_arrow_texts_limit);
    texts->left -= bytes;
    return NT_OK;
}

static enum nt_status add_mark(struct nt_arrow_texts *texts, struct block_mark mark, struct nt_error *error)
{
    NT_TRY(nt_check_memory(NT_GROW(texts->marks, texts->mark_count, texts->capacity), error));
    texts->marks[texts->mark_count++] = mark;
    return spend(texts, sizeof(mark), error);
}

/* Returns the length of a run of nulls that is longer than a block and known in advance; else 0. */
static enum nt_status count_nulls(const struct nt_arrow *arrow, const struct nt_arrow_texts *texts,
                                  uint64_t row, uint64_t end, uint64_t *count_ret, struct nt_error *error)
{
    uint8_t valid = 1;
    uint64_t equal = 0;
    *count_ret = 0;
    if (texts->valid == NT_NONE)
        return NT_OK;
    NT_TRY(nt_arrow_equal_elements(arrow, texts->valid, row, &equal, error));
    equal = nt_min(equal, end - row);
    if (equal > MAX_ROWS)
        NT_TRY(nt_arrow_read_stream(arrow, texts->valid, row, &valid, 1, error));
    *count_ret = valid ? 0 : equal;
    return NT_OK;
}

/* Generates the strings of the block at `row`, which ends at or before `end`, in `texts->block`. */
static enum nt_status try_block(const struct nt_arrow *arrow, struct nt_arrow_texts *texts, uint64_t row,
                                uint64_t end, struct rows *rows, struct nt_error *error)
{
    uint64_t nulls;
    nt_buffer_clear(&texts->block.text);
    rows->count = nt_min(end - row, MAX_ROWS);
    NT_TRY(count_nulls(arrow, texts, row, end, &nulls, error));
    if (nulls) {
        rows->count = nulls;
        return NT_OK;
    }
    NT_TRY(read_rows(arrow, texts, row, end, rows, error));
    return make_texts(arrow, texts, rows, texts->block.ends, &texts->block.text, error);
}

/* Counts one block and advances `mark` to the next. */
static enum nt_status pass_block(const struct nt_arrow *arrow, struct nt_arrow_texts *texts, uint64_t end,
                                 struct rows *rows, struct block_mark *mark, struct nt_error *error)
{
    enum nt_status status = try_block(arrow, texts, mark->row, end, rows, error);
    if (nt_is_environmental(status))
        return status;
    uint64_t bytes = texts->block.text.length;
    mark->has_failed = status != NT_OK;
    status = add_mark(texts, *mark, error);
    if (status == NT_OK)
        status = spend(texts, bytes + (rows->count > MAX_ROWS ? 0 : rows->count * sizeof(uint64_t)), error);
    mark->row += rows->count;
    mark->bytes += mark->has_failed ? 0 : bytes;
    return status;
}

/* Counts all blocks. No block spans two clusters, so that the bytes before each cluster are known. */
static enum nt_status count_all(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                const uint64_t *boundaries, uint32_t clusters, struct nt_error *error)
{
    NT_AUTO_FREE struct rows *rows = malloc(sizeof(*rows));
    struct block_mark mark = {.row = boundaries[0]};
    NT_TRY(nt_check_memory(rows, error));
    for (uint32_t i = 0; i < clusters; i++)
        while (mark.row < boundaries[i + 1])
            NT_TRY(pass_block(arrow, texts, boundaries[i + 1], rows, &mark, error));
    mark.has_failed = false;
    return add_mark(texts, mark, error);
}

enum nt_status nt_arrow_texts_add(struct nt_arrow *arrow, uint32_t field, uint32_t offsets, uint32_t data,
                                  uint32_t valid, struct nt_arrow_texts **texts_ret, struct nt_error *error)
{
    enum { MAX_PAGES = 64 };
    NT_AUTO_FREE uint64_t *boundaries = NULL;
    uint32_t clusters;
    NT_TRY(nt_field_row_boundaries(arrow->reader, arrow->dataset, field, &boundaries, &clusters, error));
    struct nt_arrow_texts *texts = calloc(1, sizeof(*texts));
    NT_TRY(nt_check_memory(texts, error));
    *texts = (struct nt_arrow_texts){
        .next = arrow->texts, .field = field, .offsets = offsets, .data = data, .valid = valid};
    texts->block.number = SIZE_MAX;
    if (!nt_checked_multiply(arrow->dataset->file->page_bytes, MAX_PAGES, &texts->left))
        texts->left = UINT64_MAX;
    pthread_mutex_init(&texts->lock, NULL);
    *texts_ret = arrow->texts = texts;
    return count_all(arrow, texts, boundaries, clusters, error);
}

void nt_arrow_texts_boundaries(const struct nt_arrow_texts *texts, uint64_t *boundaries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        boundaries[i] =
            texts->marks[find_row(texts->marks, (uint32_t)texts->mark_count, boundaries[i])].bytes;
}

/* ---- Reading ---- */

/* Is every row of the block null? Such a block has no strings. */
static bool is_null(const struct nt_arrow_texts *texts, size_t number)
{
    return texts->marks[number + 1].row - texts->marks[number].row > MAX_ROWS;
}

/* The caller holds the lock. */
static enum nt_status make_block(const struct nt_arrow *arrow, struct nt_arrow_texts *texts, size_t number,
                                 struct nt_error *error)
{
    const struct block_mark *mark = &texts->marks[number];
    if (texts->block.number == number)
        return NT_OK;
    NT_AUTO_FREE struct rows *rows = malloc(sizeof(*rows));
    NT_TRY(nt_check_memory(rows, error));
    texts->block.number = SIZE_MAX;
    NT_TRY(read_rows(arrow, texts, mark->row, mark[1].row, rows, error));
    NT_TRY(make_texts(arrow, texts, rows, texts->block.ends, &texts->block.text, error));
    if (rows->count != mark[1].row - mark->row || texts->block.text.length != mark[1].bytes - mark->bytes)
        return nt_fail_number(error, NT_CORRUPT, NT_NO_OFFSET, "bytes of the texts",
                              mark[1].bytes - mark->bytes, texts->block.text.length);
    texts->block.number = number;
    return NT_OK;
}

/* `is_begin`: the string that starts there is also needed. */
static enum nt_status find_before(const struct nt_arrow *arrow, struct nt_arrow_texts *texts, uint64_t row,
                                  bool is_begin, uint64_t *bytes_ret, struct nt_error *error)
{
    size_t number = find_row(texts->marks, (uint32_t)texts->mark_count, row);
    const struct block_mark *mark = &texts->marks[number];
    bool is_known = row == mark->row && !(is_begin && mark->has_failed);
    *bytes_ret = mark->bytes;
    if (is_known || number + 1 == texts->mark_count || is_null(texts, number))
        return NT_OK;
    NT_TRY(make_block(arrow, texts, number, error));
    *bytes_ret += texts->block.ends[row - mark->row];
    return NT_OK;
}

enum nt_status nt_arrow_texts_before(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                     uint64_t first, uint64_t count, uint64_t *bytes_ret,
                                     struct nt_error *error)
{
    NT_MUTEX_GUARD(&texts->lock);
    for (uint64_t i = 0; i < count; i++)
        NT_TRY(find_before(arrow, texts, first + i, i + 1 < count, &bytes_ret[i], error));
    return NT_OK;
}

enum nt_status nt_arrow_texts_read(const struct nt_arrow *arrow, struct nt_arrow_texts *texts,
                                   uint64_t offset, uint8_t *output, size_t bytes, struct nt_error *error)
{
    NT_MUTEX_GUARD(&texts->lock);
    while (bytes) {
        size_t number = find_bytes(texts->marks, (uint32_t)texts->mark_count, offset);
        NT_TRY(make_block(arrow, texts, number, error));
        uint64_t within = offset - texts->marks[number].bytes, left = texts->block.text.length - within;
        size_t take = left < bytes ? (size_t)left : bytes;
        memcpy(output, texts->block.text.bytes + within, take);
        output += take;
        offset += take;
        bytes -= take;
    }
    return NT_OK;
}
