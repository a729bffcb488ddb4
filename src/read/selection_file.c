/* SPDX-License-Identifier: MIT
 *
 * Reads a selection of entries from a file and applies it to a data set. Files are NumPy arrays (.npy),
 * text with numbers, or any file with a single integer field such as a Roaring bitmap.
 */
#include "read/read.h"

#include <ntuple/choice.h>
#include <ntuple/format.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/io/source.h"
#include "core/model/model.h"

/* ---- Collect selected entries ---- */

/* "FILE: element 7: " or, of a text, "FILE: line 8: element 7: ", and what is said. */
static enum nt_status nt_choice_refuse_element(const struct nt_choice *choice, struct nt_error *error,
                                               const char *format, ...)
{
    char text[256], line[40] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (choice->line)
        snprintf(line, sizeof(line), "line %" PRIu64 ": ", choice->line);
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: %selement %" PRIu64 ": %s", choice->path, line,
                   choice->elements, text);
}

/* That the file is of no kind that could be a choice. */
static enum nt_status nt_choice_refuse_kind(const struct nt_choice *choice, struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                   "%s: a .npy, a text of numbers, or a data set of one field of integers was expected",
                   choice->path);
}

static enum nt_status add_entry(struct nt_choice *choice, uint64_t number, struct nt_error *error)
{
    struct nt_entry_range *last = choice->count ? &choice->ranges[choice->count - 1] : NULL;
    if (last && number - last->first == last->count) {
        last->count++;
        return NT_OK;
    }
    struct nt_entry_range *ranges =
        nt_grow(choice->ranges, choice->count, &choice->capacity, sizeof(*ranges));
    if (!ranges)
        return nt_fail_memory(error);
    choice->ranges = ranges;
    ranges[choice->count++] = (struct nt_entry_range){number, 1};
    return NT_OK;
}

/* The next element of the file: an entry's number. NT_INVALID where it does not ascend. */
static enum nt_status nt_choice_add_number(struct nt_choice *choice, uint64_t number, struct nt_error *error)
{
    if (choice->count) {
        const struct nt_entry_range *last = &choice->ranges[choice->count - 1];
        uint64_t previous = last->first + (last->count - 1);
        if (number <= previous)
            return nt_choice_refuse_element(choice, error,
                                            "a number above %" PRIu64 " was expected, found %" PRIu64
                                            ": numbers of entries ascend, each of them once",
                                            previous, number);
    }
    enum nt_status status = add_entry(choice, number, error);
    choice->elements++;
    return status;
}

/* The next element of a mask. */
static enum nt_status nt_choice_add_bool(struct nt_choice *choice, bool is_chosen, struct nt_error *error)
{
    uint64_t entry = choice->elements++;
    return is_chosen ? add_entry(choice, entry, error) : NT_OK;
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

static bool nt_choice_is_text(const uint8_t *head, size_t bytes)
{
    for (size_t i = 0; i < bytes && head[i] != '#'; i++)
        if (!is_digit(head[i]) && !is_between(head[i]))
            return false;
    return true;
}

enum { MOST_WORD_BYTES = 40 };

struct scanning {
    struct nt_choice *choice;
    uint64_t number;
    uint8_t word[MOST_WORD_BYTES]; /* for messages: as much of it as fits */
    size_t word_bytes;
    bool is_wrong, in_comment; /* the word is no number */
};

/* What does not begin as a text of numbers does is rather something else. */
static enum nt_status refuse_word(const struct scanning *scanning, struct nt_error *error)
{
    struct nt_buffer word = {0};
    if (scanning->choice->elements == 0 && !is_digit(scanning->word[0]) && scanning->word[0] != '-')
        return nt_choice_refuse_kind(scanning->choice, error);
    nt_append_printable(&word, scanning->word, scanning->word_bytes);
    nt_choice_refuse_element(scanning->choice, error, "numbers of entries were expected, found \"%s\"",
                             nt_buffer_string(&word));
    nt_buffer_deinit(&word);
    return NT_INVALID;
}

static enum nt_status end_word(struct scanning *scanning, struct nt_error *error)
{
    uint64_t number = scanning->number;
    if (scanning->is_wrong)
        return refuse_word(scanning, error);
    if (scanning->word_bytes == 0)
        return NT_OK;
    scanning->word_bytes = 0;
    scanning->number = 0;
    return nt_choice_add_number(scanning->choice, number, error);
}

/* One byte more of a word. One that is wrong goes on, so that it can be shown. */
static enum nt_status take_of_word(struct scanning *scanning, uint8_t byte, struct nt_error *error)
{
    scanning->is_wrong |= !is_digit(byte);
    if (scanning->word_bytes < MOST_WORD_BYTES)
        scanning->word[scanning->word_bytes++] = byte;
    else if (scanning->is_wrong)
        return refuse_word(scanning, error);
    if (scanning->is_wrong || (nt_multiply(scanning->number, 10, &scanning->number) &&
                               nt_add(scanning->number, byte - (unsigned)'0', &scanning->number)))
        return NT_OK;
    return nt_choice_refuse_element(scanning->choice, error, "a number of more than 64 bits");
}

static enum nt_status take(struct scanning *scanning, uint8_t byte, struct nt_error *error)
{
    if (!scanning->in_comment && byte != '#' && !is_between(byte))
        return take_of_word(scanning, byte, error);
    enum nt_status status = end_word(scanning, error);
    scanning->in_comment = byte != '\n' && (scanning->in_comment || byte == '#');
    scanning->choice->line += byte == '\n';
    return status;
}

static enum nt_status nt_choice_read_text(struct nt_choice *choice, struct nt_source *source, uint64_t size,
                                          struct nt_error *error)
{
    struct scanning scanning = {.choice = choice};
    uint8_t piece[16 * 1024];
    enum nt_status status = NT_OK;
    choice->line = 1;
    for (uint64_t at = 0, bytes; status == NT_OK && at < size; at += bytes) {
        bytes = size - at < sizeof(piece) ? size - at : sizeof(piece);
        status = nt_source_read(source, at, piece, (size_t)bytes, error);
        for (uint64_t i = 0; status == NT_OK && i < bytes; i++)
            status = take(&scanning, piece[i], error);
    }
    return status == NT_OK ? end_word(&scanning, error) : status;
}

/* ---- NumPy arrays ---- */

enum {
    PREFIX_BYTES = 8,         /* "\x93NUMPY" and the version */
    MOST_HEADER_BYTES = 8192, /* NumPy refuses more than 10000 itself */
    MOST_ITEM_BYTES = 8,
    NPY_PIECE_BYTES = 16 * 1024,
};

static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static bool nt_choice_is_npy(const uint8_t *head, size_t bytes)
{
    return bytes >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

struct header {
    const struct nt_choice *choice;
    struct nt_cursor text;
    uint64_t data; /* where the elements begin */
    char type;     /* 'i', 'u' or 'b' */
    bool is_big_endian;
    unsigned item_bytes;
    uint64_t elements;
    bool has_type, has_shape;
};

static enum nt_status refuse(const struct header *header, const char *what, struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, (uint64_t)header->text.position,
                   "%s: in the header of the array %s was expected", header->choice->path, what);
}

/* ---- Python's notation ---- */

static void skip_spaces(struct nt_cursor *text)
{
    while (nt_cursor_left(text) &&
           (text->bytes[text->position] == ' ' || text->bytes[text->position] == '\n'))
        text->position++;
}

/* Whether a character comes next, which is passed then. */
static bool pass(struct nt_cursor *text, char wanted)
{
    skip_spaces(text);
    if (!nt_cursor_left(text) || text->bytes[text->position] != (uint8_t)wanted)
        return false;
    text->position++;
    return true;
}

static bool pass_word(struct nt_cursor *text, const char *word)
{
    size_t length = strlen(word);
    skip_spaces(text);
    if (nt_cursor_left(text) < length || memcmp(text->bytes + text->position, word, length))
        return false;
    text->position += length;
    return true;
}

/* What stands between quotes; false where there are none. */
static bool take_text(struct nt_cursor *text, const uint8_t **bytes_ret, size_t *length_ret)
{
    char quote = '\'';
    if (!pass(text, quote) && !pass(text, quote = '"'))
        return false;
    *bytes_ret = text->bytes + text->position;
    *length_ret = 0;
    while (nt_cursor_left(text) && text->bytes[text->position] != (uint8_t)quote) {
        text->position++;
        ++*length_ret;
    }
    return pass(text, quote);
}

static bool take_number(struct nt_cursor *text, uint64_t *number_ret)
{
    bool is_number = false;
    skip_spaces(text);
    *number_ret = 0;
    for (; nt_cursor_left(text); text->position++, is_number = true) {
        unsigned digit = text->bytes[text->position] - (unsigned)'0';
        if (digit > 9)
            break;
        if (!nt_multiply(*number_ret, 10, number_ret) || !nt_add(*number_ret, digit, number_ret))
            return false;
    }
    return is_number;
}

/* ---- what stands in it ---- */

static enum nt_status refuse_type(const struct header *header, const uint8_t *bytes, size_t length,
                                  struct nt_error *error)
{
    struct nt_buffer found = {0};
    nt_append_printable(&found, bytes, length);
    nt_fail(error, NT_INVALID, (uint64_t)header->text.position,
            "%s: an array of integers or bools was expected, found type \"%.40s\"", header->choice->path,
            nt_buffer_string(&found));
    nt_buffer_deinit(&found);
    return NT_INVALID;
}

/* "<i8", ">u4", "|b1", "|u1" */
static enum nt_status take_type(struct header *header, struct nt_error *error)
{
    const uint8_t *bytes;
    size_t length;
    if (!take_text(&header->text, &bytes, &length)) /* a list: of structures */
        return refuse(header, "a type of integers or bools", error);
    if (length != 3)
        return refuse_type(header, bytes, length, error);
    header->type = (char)bytes[1];
    header->item_bytes = bytes[2] - (unsigned)'0';
    header->is_big_endian = bytes[0] == '>';
    header->has_type = true;
    bool is_order = strchr("<>|=", bytes[0]) && bytes[0];
    bool is_bool = header->type == 'b' && header->item_bytes == 1;
    bool is_integer =
        (header->type == 'i' || header->type == 'u') && (header->item_bytes == 1 || header->item_bytes == 2 ||
                                                         header->item_bytes == 4 || header->item_bytes == 8);
    return is_order && (is_bool || is_integer) ? NT_OK : refuse_type(header, bytes, length, error);
}

/* "(7,)" */
static enum nt_status take_shape(struct header *header, struct nt_error *error)
{
    header->has_shape = true;
    if (!pass(&header->text, '(') || !take_number(&header->text, &header->elements) ||
        !pass(&header->text, ',') || !pass(&header->text, ')'))
        return refuse(header, "a shape of one dimension", error);
    return NT_OK;
}

static enum nt_status take_member(struct header *header, struct nt_error *error)
{
    const uint8_t *name;
    size_t length;
    if (!take_text(&header->text, &name, &length) || !pass(&header->text, ':'))
        return refuse(header, "a name", error);
    if (length == 5 && !memcmp(name, "descr", 5))
        return take_type(header, error);
    if (length == 5 && !memcmp(name, "shape", 5))
        return take_shape(header, error);
    /* of one dimension both orders are the same */
    if (length == 13 && !memcmp(name, "fortran_order", 13) &&
        (pass_word(&header->text, "False") || pass_word(&header->text, "True")))
        return NT_OK;
    return refuse(header, "descr, fortran_order or shape", error);
}

static enum nt_status take_members(struct header *header, struct nt_error *error)
{
    enum nt_status status = NT_OK;
    if (!pass(&header->text, '{'))
        return refuse(header, "a dictionary", error);
    while (status == NT_OK && !pass(&header->text, '}')) {
        status = take_member(header, error);
        if (status == NT_OK && !pass(&header->text, ',')) {
            if (!pass(&header->text, '}'))
                return refuse(header, "the end of the dictionary", error);
            break;
        }
    }
    if (status == NT_OK && !(header->has_type && header->has_shape))
        return refuse(header, "descr and shape", error);
    return status;
}

/* Where the dictionary lies: behind its length, which has 2 bytes in version 1 and 4 from then on. */
static enum nt_status read_header(struct header *header, struct nt_source *source, uint64_t size,
                                  uint8_t *bytes, struct nt_error *error)
{
    uint8_t prefix[PREFIX_BYTES + sizeof(uint32_t)];
    size_t known = size < sizeof(prefix) ? (size_t)size : sizeof(prefix);
    enum nt_status status = nt_source_read(source, 0, prefix, known, error);
    if (status != NT_OK)
        return status;
    struct nt_cursor cursor = nt_cursor(prefix, known);
    nt_skip(&cursor, sizeof(magic));
    unsigned version = nt_get_u8(&cursor);
    nt_get_u8(&cursor);
    if (!cursor.failed && (version < 1 || version > 3))
        return nt_fail(error, NT_UNSUPPORTED, sizeof(magic), "%s: version %u of .npy", header->choice->path,
                       version);
    uint64_t length = version == 1 ? nt_get_le16(&cursor) : nt_get_le32(&cursor);
    header->data = cursor.position + length;
    if (cursor.failed || !nt_fits(cursor.position, length, size))
        return nt_fail(error, NT_TRUNCATED, (uint64_t)cursor.position, "%s: the header ends behind the file",
                       header->choice->path);
    if (length > MOST_HEADER_BYTES)
        return nt_fail(error, NT_LIMIT, (uint64_t)cursor.position, "%s: a header of %" PRIu64 " bytes",
                       header->choice->path, length);
    status = length ? nt_source_read(source, cursor.position, bytes, (size_t)length, error) : NT_OK;
    header->text = nt_cursor(bytes, (size_t)length);
    return status == NT_OK ? take_members(header, error) : status;
}

/* ---- elements ---- */

static uint64_t load_item(const struct header *header, const uint8_t *item)
{
    switch (header->item_bytes) {
    case 1:
        return *item;
    case 2:
        return header->is_big_endian ? nt_load_be16(item) : nt_load_le16(item);
    case 4:
        return header->is_big_endian ? nt_load_be32(item) : nt_load_le32(item);
    default:
        return header->is_big_endian ? nt_load_be64(item) : nt_load_le64(item);
    }
}

static enum nt_status add_item(struct nt_choice *choice, const struct header *header, const uint8_t *item,
                               struct nt_error *error)
{
    uint64_t number = load_item(header, item);
    if (header->type == 'b')
        return number <= 1 ? nt_choice_add_bool(choice, number, error)
                           : nt_choice_refuse_element(choice, error, "no bool: 0x%02x", (unsigned)number);
    if (header->type == 'i' && number >> (8 * header->item_bytes - 1))
        return nt_choice_refuse_element(choice, error, "a number below 0");
    return nt_choice_add_number(choice, number, error);
}

static enum nt_status nt_choice_read_npy(struct nt_choice *choice, struct nt_source *source, uint64_t size,
                                         struct nt_error *error)
{
    struct header header = {.choice = choice};
    uint8_t bytes[MOST_HEADER_BYTES], piece[NPY_PIECE_BYTES];
    enum nt_status status = read_header(&header, source, size, bytes, error);
    uint64_t total;
    if (status != NT_OK)
        return status;
    if (!nt_multiply(header.elements, header.item_bytes, &total) || !nt_fits(header.data, total, size))
        return nt_fail(error, NT_TRUNCATED, header.data,
                       "%s: %" PRIu64 " elements were expected, found %" PRIu64, choice->path,
                       header.elements, (size - header.data) / header.item_bytes);
    choice->is_mask = header.type == 'b';
    for (uint64_t done = 0, some; status == NT_OK && done < total; done += some) {
        some = total - done < NPY_PIECE_BYTES ? total - done : NPY_PIECE_BYTES;
        status = nt_source_read(source, header.data + done, piece, (size_t)some, error);
        for (uint64_t i = 0; status == NT_OK && i < some; i += header.item_bytes)
            status = add_item(choice, &header, piece + i, error);
    }
    return status;
}

/* ---- Files of a mounted format ---- */

enum { DATASET_PIECE_BYTES = 64 * 1024 };

/* An integer of the field's type; false where it is below 0. */
static bool load_number(enum nt_element element, const uint8_t *bytes, uint64_t *number_ret)
{
    switch (element) {
    case NT_ELEMENT_UINT32:
    case NT_ELEMENT_INT32:
        *number_ret = nt_load_le32(bytes);
        return element == NT_ELEMENT_UINT32 || *number_ret <= INT32_MAX;
    default:
        *number_ret = nt_load_le64(bytes);
        return element == NT_ELEMENT_UINT64 || *number_ret <= INT64_MAX;
    }
}

static bool is_integer(enum nt_element element)
{
    return element == NT_ELEMENT_UINT32 || element == NT_ELEMENT_INT32 || element == NT_ELEMENT_UINT64 ||
           element == NT_ELEMENT_INT64;
}

static enum nt_status add_all(struct nt_choice *choice, struct nt_stream *stream, struct nt_error *error)
{
    static const uint32_t most = DATASET_PIECE_BYTES;
    const struct nt_dtype *dtype = nt_stream_dtype(stream);
    uint32_t element_bytes = nt_stream_element_bytes(stream);
    uint64_t left = nt_stream_elements(stream) * element_bytes, at = 0, number;
    uint8_t piece[DATASET_PIECE_BYTES];
    enum nt_status status = NT_OK;
    for (uint64_t bytes; status == NT_OK && left; at += bytes, left -= bytes) {
        bytes = left < most ? left : most;
        status = nt_stream_read(stream, at, piece, (size_t)bytes, error);
        for (uint64_t i = 0; status == NT_OK && i < bytes; i += element_bytes)
            status = load_number(dtype->element, piece + i, &number)
                         ? nt_choice_add_number(choice, number, error)
                         : nt_choice_refuse_element(choice, error, "a number below 0");
    }
    return status;
}

static enum nt_status read_field(struct nt_choice *choice, struct nt_file *file, struct nt_error *error)
{
    const struct nt_reader_options options = NT_READER_OPTIONS_INIT;
    struct nt_dataset *dataset = nt_file_dataset(file, 0);
    const struct nt_field *field = dataset ? nt_dataset_field(dataset, 0) : NULL;
    struct nt_reader *reader = NULL;
    struct nt_stream *stream = NULL;
    if (!field || nt_file_dataset_count(file) != 1 || nt_dataset_field_count(dataset) != 1 ||
        !nt_field_has_stream(field, NT_STREAM_DATA))
        return nt_choice_refuse_kind(choice, error);
    enum nt_status status = nt_reader_new(&options, &reader, error);
    if (status == NT_OK)
        status = nt_stream_open(reader, dataset, 0, NT_STREAM_DATA, &stream, error);
    if (status == NT_OK)
        status = is_integer(nt_stream_dtype(stream)->element) ? add_all(choice, stream, error)
                                                              : nt_choice_refuse_kind(choice, error);
    nt_stream_close(stream);
    nt_reader_free(reader);
    return status;
}

/* A file of a format that is mounted, else NT_NOT_THIS_FORMAT. Takes the source, also on failure. */
static enum nt_status nt_choice_read_dataset(struct nt_choice *choice, struct nt_source *source,
                                             struct nt_error *error)
{
    struct nt_file *file = NULL;
    const struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    enum nt_status status = nt_file_open_source(source, &options, &file, error);
    if (status != NT_OK) {
        nt_source_close(source);
        return status;
    }
    status = read_field(choice, file, error);
    nt_file_close(file);
    return status;
}

/* ---- Open a selection ---- */

/* Whether a source is of the kind, from its first bytes; and all of its elements. */
enum { NT_CHOICE_HEAD_BYTES = 8 };

/* No .npy, and no text as far as its first bytes go: a file of a format, or a text with a mistake there. */
static enum nt_status read_unmarked(struct nt_choice *choice, struct nt_source *source, uint64_t size,
                                    struct nt_error *error)
{
    struct nt_error mistake = {0};
    nt_choice_read_text(choice, source, size, &mistake);
    choice->count = 0;
    choice->elements = choice->line = 0;
    enum nt_status status = nt_choice_read_dataset(choice, source, error);
    return status == NT_NOT_THIS_FORMAT ? nt_fail_with(error, &mistake) : status;
}

enum nt_status nt_choice_read(struct nt_choice *choice, struct nt_source *source, struct nt_error *error)
{
    uint8_t head[NT_CHOICE_HEAD_BYTES];
    uint64_t size = 0;
    enum nt_status status = nt_source_size(source, &size, error);
    size_t bytes = size < sizeof(head) ? (size_t)size : sizeof(head);
    if (status == NT_OK && bytes)
        status = nt_source_read(source, 0, head, bytes, error);
    if (status == NT_OK && !nt_choice_is_npy(head, bytes) && !nt_choice_is_text(head, bytes))
        return read_unmarked(choice, source, size, error);
    if (status == NT_OK)
        status = nt_choice_is_npy(head, bytes) ? nt_choice_read_npy(choice, source, size, error)
                                               : nt_choice_read_text(choice, source, size, error);
    nt_source_close(source);
    return status;
}

enum nt_status nt_choice_open(const char *path, struct nt_choice **choice_ret, struct nt_error *error)
{
    struct nt_source *source;
    enum nt_status status = nt_source_open_file(path, &source, error);
    if (status != NT_OK)
        return status;
    struct nt_choice *choice = calloc(1, sizeof(*choice));
    if (!choice || !(choice->path = strdup(path))) {
        nt_choice_free(choice);
        nt_source_close(source);
        return nt_fail_memory(error);
    }
    status = nt_choice_read(choice, source, error);
    if (status == NT_OK)
        *choice_ret = choice;
    else
        nt_choice_free(choice);
    return status;
}

enum nt_status nt_choice_of_range(uint64_t first, uint64_t end, struct nt_choice **choice_ret,
                                  struct nt_error *error)
{
    struct nt_choice *choice = calloc(1, sizeof(*choice));
    if (!choice || !(choice->ranges = calloc(1, sizeof(*choice->ranges)))) {
        free(choice);
        return nt_fail_memory(error);
    }
    choice->ranges[0] = (struct nt_entry_range){first, end > first ? end - first : 0};
    choice->count = 1;
    *choice_ret = choice;
    return NT_OK;
}

void nt_choice_free(struct nt_choice *choice)
{
    if (!choice)
        return;
    free(choice->path);
    free(choice->ranges);
    free(choice);
}

/* ---- Apply a selection ---- */

static enum nt_status apply_range(const struct nt_choice *choice, struct nt_dataset *dataset,
                                  struct nt_error *error)
{
    struct nt_entry_range range = choice->ranges[0];
    uint64_t entries = nt_dataset_stored_entries(dataset);
    if (range.first > entries)
        range.first = entries;
    if (range.count > entries - range.first)
        range.count = entries - range.first;
    return nt_dataset_select(dataset, &range, 1, error);
}

/* Which element of the file is the first that the data set does not have. */
static enum nt_status check_numbers(const struct nt_choice *choice, uint64_t entries, struct nt_error *error)
{
    uint64_t element = 0;
    for (size_t i = 0; i < choice->count; i++) {
        const struct nt_entry_range *range = &choice->ranges[i];
        if (!nt_fits(range->first, range->count, entries)) {
            uint64_t good = range->first < entries ? entries - range->first : 0;
            return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                           "%s: element %" PRIu64 ": entry %" PRIu64 ", and the data set has %" PRIu64,
                           choice->path, element + good, range->first + good, entries);
        }
        element += range->count;
    }
    return NT_OK;
}

enum nt_status nt_choice_apply(const struct nt_choice *choice, struct nt_dataset *dataset,
                               struct nt_error *error)
{
    uint64_t entries = nt_dataset_stored_entries(dataset);
    const struct nt_error *failure = nt_dataset_failure(dataset);
    if (failure)
        return nt_fail_with(error, failure);
    if (!choice->path)
        return apply_range(choice, dataset, error);
    if (choice->is_mask && choice->elements != entries)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "%s: %" PRIu64 " bools, and the data set has %" PRIu64 " entries", choice->path,
                       choice->elements, entries);
    enum nt_status status = check_numbers(choice, entries, error);
    return status == NT_OK ? nt_dataset_select(dataset, choice->ranges, choice->count, error) : status;
}
