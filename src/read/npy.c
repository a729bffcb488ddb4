/* SPDX-License-Identifier: MIT
 *
 * In: an array as NumPy writes it (numpy.lib.format, versions 1 to 3), of one dimension. Out: its integers or bools.
 *
 * The header is a dictionary in Python's notation, of which no more is understood than what NumPy puts there.
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/overflow.h"
#include "core/base/text.h"
#include "read/readers.h"

enum {
    PREFIX_BYTES = 8,         /* "\x93NUMPY" and the version */
    MOST_HEADER_BYTES = 8192, /* NumPy refuses more than 10000 itself */
    MOST_ITEM_BYTES = 8,
    PIECE_BYTES = 16 * 1024,
};

static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

bool nt_choice_is_npy(const uint8_t *head, size_t bytes)
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

static uint64_t load(const struct header *header, const uint8_t *item)
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

static enum nt_status add(struct nt_choice *choice, const struct header *header, const uint8_t *item,
                          struct nt_error *error)
{
    uint64_t number = load(header, item);
    if (header->type == 'b')
        return number <= 1 ? nt_choice_add_bool(choice, number, error)
                           : nt_choice_refuse_element(choice, error, "no bool: 0x%02x", (unsigned)number);
    if (header->type == 'i' && number >> (8 * header->item_bytes - 1))
        return nt_choice_refuse_element(choice, error, "a number below 0");
    return nt_choice_add_number(choice, number, error);
}

enum nt_status nt_choice_read_npy(struct nt_choice *choice, struct nt_source *source, uint64_t size,
                                  struct nt_error *error)
{
    struct header header = {.choice = choice};
    uint8_t bytes[MOST_HEADER_BYTES], piece[PIECE_BYTES];
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
        some = total - done < PIECE_BYTES ? total - done : PIECE_BYTES;
        status = nt_source_read(source, header.data + done, piece, (size_t)some, error);
        for (uint64_t i = 0; status == NT_OK && i < some; i += header.item_bytes)
            status = add(choice, &header, piece + i, error);
    }
    return status;
}
