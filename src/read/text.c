/* SPDX-License-Identifier: MIT
 *
 * In: a text of numbers. Out: the numbers. Between them stand spaces, commas and ends of lines; # begins a comment.
 */
#include "core/base/error.h"
#include "core/base/overflow.h"
#include "core/base/text.h"
#include "read/readers.h"

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_between(uint8_t byte)
{
    return byte == ' ' || byte == ',' || (byte >= '\t' && byte <= '\r');
}

bool nt_choice_is_text(const uint8_t *head, size_t bytes)
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

enum nt_status nt_choice_read_text(struct nt_choice *choice, struct nt_source *source, uint64_t size,
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
