/* SPDX-License-Identifier: MIT
 *
 * In: a text of numbers. Out: the numbers. Between them stand spaces, commas and ends of lines; # begins a comment.
 */
#include "base/error.h"
#include "base/overflow.h"
#include "choice/readers.h"

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

struct scanning {
    struct nt_choice *choice;
    uint64_t number;
    bool in_number, in_comment;
};

static enum nt_status end_number(struct scanning *scanning, struct nt_error *error)
{
    if (!scanning->in_number)
        return NT_OK;
    uint64_t number = scanning->number;
    scanning->in_number = false;
    scanning->number = 0;
    return nt_choice_add_number(scanning->choice, number, error);
}

static enum nt_status take(struct scanning *scanning, uint8_t byte, struct nt_error *error)
{
    if (scanning->in_comment) {
        scanning->in_comment = byte != '\n';
        return NT_OK;
    }
    if (is_digit(byte)) {
        scanning->in_number = true;
        if (nt_multiply(scanning->number, 10, &scanning->number) &&
            nt_add(scanning->number, byte - (unsigned)'0', &scanning->number))
            return NT_OK;
        return nt_choice_refuse_element(scanning->choice, error, "a number of more than 64 bits");
    }
    scanning->in_comment = byte == '#';
    if (!scanning->in_comment && !is_between(byte))
        return nt_choice_refuse_element(scanning->choice, error,
                                        "numbers of entries were expected, found the byte 0x%02x", byte);
    return end_number(scanning, error);
}

enum nt_status nt_choice_read_text(struct nt_choice *choice, struct nt_source *source, uint64_t size,
                                   struct nt_error *error)
{
    struct scanning scanning = {.choice = choice};
    uint8_t piece[16 * 1024];
    enum nt_status status = NT_OK;
    for (uint64_t at = 0, bytes; status == NT_OK && at < size; at += bytes) {
        bytes = size - at < sizeof(piece) ? size - at : sizeof(piece);
        status = nt_source_read(source, at, piece, (size_t)bytes, error);
        for (uint64_t i = 0; status == NT_OK && i < bytes; i++)
            status = take(&scanning, piece[i], error);
    }
    return status == NT_OK ? end_number(&scanning, error) : status;
}
