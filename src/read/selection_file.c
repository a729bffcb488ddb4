/* SPDX-License-Identifier: MIT
 *
 * Reads a selection of entries from a file and applies it to a dataset. Files are NumPy arrays (.npy),
 * text with numbers, or any file with a single integer field, such as a Roaring bitmap.
 */
#include "read/page.h"

#include <ntuple/selection.h>
#include <ntuple/format.h>

#include <errno.h>
#include <stdio.h>

/* ---- Collect selected entries ---- */

/* Fails with "FILE: element 7: " or, in a text, "FILE: line 8: element 7: ", and the message. */
__attribute__((format(printf, 3, 4))) static enum nt_status
refuse_element(const struct nt_selection *selection, struct nt_error *error, const char *format, ...)
{
    char text[256], line[40] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (selection->line)
        snprintf(line, sizeof(line), "line %" PRIu64 ": ", selection->line);
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: %selement %" PRIu64 ": %s", selection->path, line,
                   selection->elements, text);
}

/* Fails because the file is of no type that can be a selection. */
static enum nt_status refuse_kind(const struct nt_selection *selection, struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                   "%s: expected a .npy file, a text with numbers, or a dataset with one field of integers",
                   selection->path);
}

/* The memory for one more range grows by doubling. */
static enum nt_status check_room(const struct nt_selection *selection, struct nt_error *error)
{
    uint64_t bytes = 2 * selection->capacity * sizeof(*selection->ranges);
    if (selection->count < selection->capacity || !selection->max_bytes || bytes <= selection->max_bytes)
        return NT_OK;
    return nt_fail(error, NT_LIMIT, NT_NO_OFFSET,
                   "%s: element %" PRIu64 ": more than %zu ranges of entries take more memory than the limit "
                   "for a file of this size (%" PRIu64
                   " bytes): give a .npy file of bools, or a text with numbers",
                   selection->path, selection->elements, selection->count, selection->max_bytes);
}

static enum nt_status add_entry(struct nt_selection *selection, uint64_t number, struct nt_error *error)
{
    struct nt_entry_range *last = selection->count ? &selection->ranges[selection->count - 1] : NULL;
    if (last && number - last->first == last->count) {
        last->count++;
        return NT_OK;
    }
    NT_TRY(check_room(selection, error));
    NT_TRY(nt_check_memory(NT_GROW(selection->ranges, selection->count, selection->capacity), error));
    selection->ranges[selection->count++] = (struct nt_entry_range){number, 1};
    return NT_OK;
}

/* Adds the next element of the file: an entry number. NT_INVALID if it does not ascend. */
static enum nt_status add_number(struct nt_selection *selection, uint64_t number, struct nt_error *error)
{
    if (selection->count) {
        const struct nt_entry_range *last = &selection->ranges[selection->count - 1];
        uint64_t previous = last->first + (last->count - 1);
        if (number <= previous)
            return refuse_element(selection, error,
                                  "expected a number above %" PRIu64 ", found %" PRIu64
                                  ": list entries in ascending order, each only once",
                                  previous, number);
    }
    enum nt_status status = add_entry(selection, number, error);
    selection->elements++;
    return status;
}

/* Adds the next element of a mask. */
static enum nt_status add_bool(struct nt_selection *selection, bool is_selected, struct nt_error *error)
{
    uint64_t entry = selection->elements++;
    return is_selected ? add_entry(selection, entry, error) : NT_OK;
}

/* ---- Text with numbers ---- */

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_between(uint8_t byte)
{
    return byte == ' ' || byte == ',' || (byte >= '\t' && byte <= '\r');
}

static bool is_text(const uint8_t *head, size_t bytes)
{
    for (size_t i = 0; i < bytes && head[i] != '#'; i++)
        if (!is_digit(head[i]) && !is_between(head[i]))
            return false;
    return true;
}

enum { MAX_WORD_BYTES = 40 };

struct number_scanner {
    struct nt_selection *selection;
    uint64_t number;
    uint8_t word[MAX_WORD_BYTES]; /* for messages: as much as fits */
    size_t word_bytes;
    bool is_wrong, in_comment; /* is_wrong: the word is not a number */
};

/* A file that does not begin with numbers probably has another type. */
static enum nt_status refuse_word(const struct number_scanner *scanner, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer word = {0};
    if (scanner->selection->elements == 0 && !is_digit(scanner->word[0]) && scanner->word[0] != '-')
        return refuse_kind(scanner->selection, error);
    nt_append_printable(&word, scanner->word, scanner->word_bytes);
    return refuse_element(scanner->selection, error, "expected entry numbers, found \"%s\"",
                          nt_buffer_string(&word));
}

static enum nt_status end_word(struct number_scanner *scanner, struct nt_error *error)
{
    uint64_t number = scanner->number;
    if (scanner->is_wrong)
        return refuse_word(scanner, error);
    if (scanner->word_bytes == 0)
        return NT_OK;
    scanner->word_bytes = 0;
    scanner->number = 0;
    return add_number(scanner->selection, number, error);
}

/* Adds a byte to a word. A wrong word continues, so that the message can show it. */
static enum nt_status take_of_word(struct number_scanner *scanner, uint8_t byte, struct nt_error *error)
{
    scanner->is_wrong |= !is_digit(byte);
    if (scanner->word_bytes < MAX_WORD_BYTES)
        scanner->word[scanner->word_bytes++] = byte;
    else if (scanner->is_wrong)
        return refuse_word(scanner, error);
    if (scanner->is_wrong || (nt_checked_multiply(scanner->number, 10, &scanner->number) &&
                              nt_checked_add(scanner->number, byte - (unsigned)'0', &scanner->number)))
        return NT_OK;
    return refuse_element(scanner->selection, error, "the number has more than 64 bits");
}

static enum nt_status take(struct number_scanner *scanner, uint8_t byte, struct nt_error *error)
{
    if (!scanner->in_comment && byte != '#' && !is_between(byte))
        return take_of_word(scanner, byte, error);
    enum nt_status status = end_word(scanner, error);
    scanner->in_comment = byte != '\n' && (scanner->in_comment || byte == '#');
    scanner->selection->line += byte == '\n';
    return status;
}

static enum nt_status read_text(struct nt_selection *selection, struct nt_source *source, uint64_t size,
                                struct nt_error *error)
{
    struct number_scanner scanner = {.selection = selection};
    uint8_t piece[16 * 1024];
    selection->line = 1;
    for (uint64_t at = 0, bytes; at < size; at += bytes) {
        bytes = nt_min(size - at, sizeof(piece));
        NT_TRY(nt_source_read(source, at, piece, (size_t)bytes, error));
        for (uint64_t i = 0; i < bytes; i++)
            NT_TRY(take(&scanner, piece[i], error));
    }
    return end_word(&scanner, error);
}

/* ---- Integers and bools in NumPy notation ---- */

struct npy_items {
    char type; /* 'i', 'u' or 'b' */
    bool is_big_endian;
    unsigned bytes; /* of each */
};

/* "<i8", ">u4", "|b1", "|u1"; false for others. */
static bool items_init(struct npy_items *items, const char *descr)
{
    bool is_known = strlen(descr) == 3 && strchr("<>|=", descr[0]) &&
                    (strcmp(descr + 1, "b1") == 0 || (strchr("iu", descr[1]) && strchr("1248", descr[2])));
    if (is_known)
        *items = (struct npy_items){descr[1], descr[0] == '>', (unsigned)(descr[2] - '0')};
    return is_known;
}

static enum nt_status add_item(struct nt_selection *selection, const struct npy_items *items,
                               const uint8_t *item, struct nt_error *error)
{
    uint64_t number = nt_load_integer(item, items->bytes, items->is_big_endian);
    if (items->type == 'b')
        return number <= 1
                   ? add_bool(selection, number, error)
                   : refuse_element(selection, error, "expected a bool, found 0x%02x", (unsigned)number);
    if (items->type == 'i' && number >> (8 * items->bytes - 1))
        return refuse_element(selection, error, "the number is below 0");
    return add_number(selection, number, error);
}

static inline bool ascend_by_one(const uint8_t *piece, uint64_t count, unsigned item_bytes)
{
    uint64_t first = nt_load_integer(piece, item_bytes, false), differ = 0;
    for (uint64_t i = 0; i < count; i++)
        differ |= (first + i) ^ nt_load_integer(piece + i * item_bytes, item_bytes, false);
    return !differ;
}

/* Adds the numbers of a piece that ascend by one, as those of a bitmap often do, at once. Returns false if
 * they do not. */
static bool add_run(struct nt_selection *selection, const struct npy_items *items, const uint8_t *piece,
                    uint64_t bytes)
{
    uint64_t count = bytes / items->bytes, first = nt_load_integer(piece, items->bytes, false), end;
    struct nt_entry_range *last = selection->count ? &selection->ranges[selection->count - 1] : NULL;
    if (items->type != 'u' || items->is_big_endian || !last || first <= last->first ||
        first - last->first != last->count || !nt_checked_add(first, count, &end))
        return false;
    if (!(items->bytes == 4 ? ascend_by_one(piece, count, 4)
                            : items->bytes == 8 && ascend_by_one(piece, count, 8)))
        return false;
    last->count += count;
    selection->elements += count;
    return true;
}

/* Adds the items in a byte range of a source or a stream; the other is NULL. */
static enum nt_status add_items(struct nt_selection *selection, const struct npy_items *items,
                                struct nt_source *source, struct nt_stream *stream, uint64_t offset,
                                uint64_t bytes, struct nt_error *error)
{
    uint8_t piece[16 * 1024];
    for (uint64_t some; bytes; offset += some, bytes -= some) {
        some = nt_min(bytes, sizeof(piece));
        NT_TRY(source ? nt_source_read(source, offset, piece, (size_t)some, error)
                      : nt_stream_read(stream, offset, piece, (size_t)some, error));
        if (add_run(selection, items, piece, some))
            continue;
        for (uint64_t i = 0; i < some; i += items->bytes)
            NT_TRY(add_item(selection, items, piece + i, error));
    }
    return NT_OK;
}

/* ---- NumPy arrays ---- */

enum {
    PREFIX_BYTES = 8,        /* "\x93NUMPY" and the version */
    MAX_HEADER_BYTES = 8192, /* NumPy itself refuses more than 10000 */
};

static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static bool is_npy(const uint8_t *head, size_t bytes)
{
    return bytes >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

struct npy_header {
    const struct nt_selection *selection;
    char text[MAX_HEADER_BYTES + 1]; /* a Python dictionary literal */
    size_t at;                       /* position in the text */
    int passed; /* bytes that scan() has matched; the last argument of each of its formats */
    struct npy_items items;
    uint64_t data; /* offset of the elements */
    uint64_t elements;
    bool has_type, has_shape;
};

static enum nt_status refuse(const struct npy_header *header, const char *what, struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, header->at, "%s: header of the array: expected %s",
                   header->selection->path, what);
}

/* Skips what a format ending in %n matches; false if the text does not match. A space in the format
 * matches spaces and line feeds only. */
__attribute__((format(scanf, 2, 3))) static bool scan(struct npy_header *header, const char *format, ...)
{
    va_list arguments;
    header->passed = 0;
    va_start(arguments, format);
    vsscanf(header->text + header->at, format, arguments);
    va_end(arguments);
    for (int i = 0; i < header->passed; i++)
        if ((unsigned char)header->text[header->at + i] < ' ' && header->text[header->at + i] != '\n')
            return false;
    header->at += (size_t)header->passed;
    return header->passed;
}

enum { MAX_QUOTED_BYTES = 63 };

/* Reads a string literal in single or double quotes. */
static bool scan_quoted(struct npy_header *header, char text[MAX_QUOTED_BYTES + 1])
{
    return scan(header, " '%63[^']'%n", text, &header->passed) ||
           scan(header, " \"%63[^\"]\"%n", text, &header->passed);
}

static enum nt_status take_type(struct npy_header *header, struct nt_error *error)
{
    char type[MAX_QUOTED_BYTES + 1];
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer found = {0};
    if (!scan_quoted(header, type)) /* a list is a structure */
        return refuse(header, "a type of integers or bools", error);
    header->has_type = true;
    if (items_init(&header->items, type))
        return NT_OK;
    nt_append_printable(&found, type, strlen(type));
    return nt_fail(error, NT_INVALID, header->at,
                   "%s: expected an array of integers or bools, found type \"%.40s\"",
                   header->selection->path, nt_buffer_string(&found));
}

/* "(7,)" */
static enum nt_status take_shape(struct npy_header *header, struct nt_error *error)
{
    char number[21];
    header->has_shape = true;
    errno = 0;
    if (scan(header, " ( %20[0-9] , )%n", number, &header->passed)) {
        header->elements = strtoull(number, NULL, 10);
        if (errno == 0)
            return NT_OK;
    }
    return refuse(header, "a shape of one dimension", error);
}

static enum nt_status take_member(struct npy_header *header, struct nt_error *error)
{
    char name[MAX_QUOTED_BYTES + 1];
    if (!scan_quoted(header, name) || !scan(header, " :%n", &header->passed))
        return refuse(header, "a name", error);
    if (strcmp(name, "descr") == 0)
        return take_type(header, error);
    if (strcmp(name, "shape") == 0)
        return take_shape(header, error);
    /* with one dimension, both orders are the same */
    if (strcmp(name, "fortran_order") == 0 &&
        (scan(header, " False%n", &header->passed) || scan(header, " True%n", &header->passed)))
        return NT_OK;
    return refuse(header, "descr, fortran_order or shape", error);
}

static enum nt_status take_members(struct npy_header *header, struct nt_error *error)
{
    if (!scan(header, " {%n", &header->passed))
        return refuse(header, "a dictionary", error);
    while (!scan(header, " }%n", &header->passed)) {
        NT_TRY(take_member(header, error));
        if (scan(header, " ,%n", &header->passed))
            continue;
        if (!scan(header, " }%n", &header->passed))
            return refuse(header, "the end of the dictionary", error);
        break;
    }
    return header->has_type && header->has_shape ? NT_OK : refuse(header, "descr and shape", error);
}

/* Reads the dictionary after its length, which has 2 bytes in version 1 and 4 in later ones. */
static enum nt_status read_header(struct npy_header *header, struct nt_source *source, uint64_t size,
                                  struct nt_error *error)
{
    uint8_t prefix[PREFIX_BYTES + sizeof(uint32_t)];
    size_t known = nt_min(size, sizeof(prefix));
    NT_TRY(nt_source_read(source, 0, prefix, known, error));
    struct nt_cursor cursor = nt_cursor(prefix, known);
    nt_cursor_skip(&cursor, sizeof(magic));
    unsigned version = nt_get_u8(&cursor);
    nt_get_u8(&cursor);
    if (!cursor.failed && (version < 1 || version > 3))
        return nt_fail(error, NT_UNSUPPORTED, sizeof(magic), "%s: unknown version %u of .npy",
                       header->selection->path, version);
    uint64_t length = version == 1 ? nt_get_le16(&cursor) : nt_get_le32(&cursor);
    header->data = cursor.position + length;
    if (cursor.failed || !nt_range_fits(cursor.position, length, size))
        return nt_fail(error, NT_TRUNCATED, (uint64_t)cursor.position,
                       "%s: the header ends past the end of the file", header->selection->path);
    if (length > MAX_HEADER_BYTES)
        return nt_fail(error, NT_LIMIT, (uint64_t)cursor.position,
                       "%s: the header is too long: %" PRIu64 " bytes", header->selection->path, length);
    if (length)
        NT_TRY(nt_source_read(source, cursor.position, header->text, (size_t)length, error));
    return take_members(header, error);
}

static enum nt_status read_npy(struct nt_selection *selection, struct nt_source *source, uint64_t size,
                               struct nt_error *error)
{
    struct npy_header header = {.selection = selection};
    NT_TRY(read_header(&header, source, size, error));
    uint64_t total;
    if (!nt_checked_multiply(header.elements, header.items.bytes, &total) ||
        !nt_range_fits(header.data, total, size))
        return nt_fail(error, NT_TRUNCATED, header.data, "%s: expected %" PRIu64 " elements, found %" PRIu64,
                       selection->path, header.elements, (size - header.data) / header.items.bytes);
    selection->is_mask = header.items.type == 'b';
    return add_items(selection, &header.items, source, NULL, header.data, total, error);
}

/* ---- Files of a mounted format ---- */

static enum nt_status add_stream(struct nt_selection *selection, struct nt_stream *stream,
                                 struct nt_error *error)
{
    struct npy_items items;
    if (!items_init(&items, nt_stream_dtype(stream)->numpy) || items.type == 'b' || items.bytes < 4 ||
        items.is_big_endian)
        return refuse_kind(selection, error);
    return add_items(selection, &items, NULL, stream, 0, nt_stream_elements(stream) * items.bytes, error);
}

/* A small file can have many numbers, which compress well: its ranges are limited. A bitmap has a range for
 * two bits. */
static uint64_t limit_ranges(const struct nt_file *file)
{
    enum { FREE_BYTES = 64 << 20, PER_BYTE = 64 };
    uint64_t bytes, ceiling = nt_metadata_ceiling();
    bool is_small = nt_checked_multiply(file->budget.disk_bytes, PER_BYTE, &bytes) &&
                    nt_checked_add(bytes, FREE_BYTES, &bytes) && bytes < ceiling;
    return is_small ? bytes : ceiling;
}

static enum nt_status read_field(struct nt_selection *selection, struct nt_file *file, struct nt_error *error)
{
    const struct nt_reader_options options = NT_READER_OPTIONS_INIT;
    struct nt_dataset *dataset = nt_file_only(file, NULL);
    const struct nt_field *field = dataset ? nt_dataset_field(dataset, 0) : NULL;
    NT_CLEANUP(nt_reader_free_at) struct nt_reader *reader = NULL;
    NT_CLEANUP(nt_stream_close_at) struct nt_stream *stream = NULL;
    if (!field || nt_dataset_field_count(dataset) != 1 || !nt_field_has_stream(field, NT_STREAM_DATA))
        return refuse_kind(selection, error);
    selection->max_bytes = limit_ranges(file);
    NT_TRY(nt_reader_new(&options, &reader, error));
    NT_TRY(nt_stream_open(reader, dataset, 0, NT_STREAM_DATA, &stream, error));
    return add_stream(selection, stream, error);
}

/* Reads a supported format, or fails with NT_NOT_THIS_FORMAT. Owns the source, also on failure. */
static enum nt_status read_dataset(struct nt_selection *selection, struct nt_source *source,
                                   struct nt_error *error)
{
    NT_CLEANUP(nt_file_close_at) struct nt_file *file = NULL;
    const struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    enum nt_status status = nt_file_open_source(source, &options, &file, error);
    if (status == NT_OK)
        return read_field(selection, file, error);
    nt_source_close(source);
    return status;
}

/* ---- Open a selection ---- */

/* The bytes that determine the file's type. */
enum { NT_CHOICE_HEAD_BYTES = 8 };

/* Reads a file that begins neither like .npy nor like text: a format, or a text with a mistake. */
static enum nt_status read_unmarked(struct nt_selection *selection, struct nt_source *source, uint64_t size,
                                    struct nt_error *error)
{
    struct nt_error mistake = {0};
    read_text(selection, source, size, &mistake);
    selection->count = 0;
    selection->elements = selection->line = 0;
    enum nt_status status = read_dataset(selection, source, error);
    return status == NT_NOT_THIS_FORMAT ? nt_fail_copy(error, &mistake) : status;
}

enum nt_status nt_selection_read(struct nt_selection *selection, struct nt_source *source,
                                 struct nt_error *error)
{
    NT_CLEANUP(nt_source_close_at) struct nt_source *owned = source;
    uint8_t head[NT_CHOICE_HEAD_BYTES];
    uint64_t size;
    NT_TRY(nt_source_size(source, &size, error));
    size_t bytes = nt_min(size, sizeof(head));
    if (bytes)
        NT_TRY(nt_source_read(source, 0, head, bytes, error));
    if (is_npy(head, bytes))
        return read_npy(selection, source, size, error);
    if (is_text(head, bytes))
        return read_text(selection, source, size, error);
    owned = NULL;
    return read_unmarked(selection, source, size, error);
}

enum nt_status nt_selection_open(const char *path, struct nt_selection **selection_ret,
                                 struct nt_error *error)
{
    struct nt_source *source;
    NT_TRY(nt_source_open_file(path, &source, error));
    struct nt_selection *selection = calloc(1, sizeof(*selection));
    if (!selection || !(selection->path = strdup(path))) {
        nt_selection_free(selection);
        nt_source_close(source);
        return nt_fail_memory(error);
    }
    enum nt_status status = nt_selection_read(selection, source, error);
    if (status == NT_OK)
        *selection_ret = selection;
    else
        nt_selection_free(selection);
    return status;
}

enum nt_status nt_selection_of_range(uint64_t first, uint64_t end, struct nt_selection **selection_ret,
                                     struct nt_error *error)
{
    struct nt_selection *selection = calloc(1, sizeof(*selection));
    if (!selection || !(selection->ranges = calloc(1, sizeof(*selection->ranges)))) {
        free(selection);
        return nt_fail_memory(error);
    }
    selection->ranges[0] = (struct nt_entry_range){first, end > first ? end - first : 0};
    selection->count = 1;
    *selection_ret = selection;
    return NT_OK;
}

void nt_selection_free(struct nt_selection *selection)
{
    if (!selection)
        return;
    free(selection->path);
    free(selection->ranges);
    free(selection);
}

/* ---- Apply a selection ---- */

static enum nt_status apply_range(const struct nt_selection *selection, struct nt_dataset *dataset,
                                  struct nt_error *error)
{
    struct nt_entry_range range = selection->ranges[0];
    uint64_t entries = nt_dataset_stored_entries(dataset);
    range.first = nt_min(range.first, entries);
    range.count = nt_min(range.count, entries - range.first);
    return nt_dataset_select(dataset, &range, 1, error);
}

/* Fails at the first element of the file that exceeds the dataset's entries. */
static enum nt_status check_numbers(const struct nt_selection *selection, uint64_t entries,
                                    struct nt_error *error)
{
    uint64_t element = 0;
    for (size_t i = 0; i < selection->count; i++) {
        const struct nt_entry_range *range = &selection->ranges[i];
        if (!nt_range_fits(range->first, range->count, entries)) {
            uint64_t good = range->first < entries ? entries - range->first : 0;
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                           "%s: element %" PRIu64 ": entry %" PRIu64
                           " does not exist: the dataset has %" PRIu64,
                           selection->path, element + good, range->first + good, entries);
        }
        element += range->count;
    }
    return NT_OK;
}

enum nt_status nt_selection_apply(const struct nt_selection *selection, struct nt_dataset *dataset,
                                  struct nt_error *error)
{
    uint64_t entries = nt_dataset_stored_entries(dataset);
    const struct nt_error *failure = nt_dataset_failure(dataset);
    if (failure)
        return nt_fail_copy(error, failure);
    if (!selection->path)
        return apply_range(selection, dataset, error);
    if (selection->is_mask && selection->elements != entries)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "%s: %" PRIu64 " bools, but the dataset has %" PRIu64 " entries", selection->path,
                       selection->elements, entries);
    NT_TRY(check_numbers(selection, entries, error));
    return nt_dataset_select(dataset, selection->ranges, selection->count, error);
}
