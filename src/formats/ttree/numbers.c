/* SPDX-License-Identifier: MIT
 *
 * Decodes the numbers of entries or items, which are side by side or a fixed number of bytes apart.
 */
#include "formats/ttree/program.h"

static enum nt_status decode_numbers(const struct nt_operation *operation, const uint8_t *from, size_t count,
                                     uint8_t *to, struct nt_error *error)
{
    const struct nt_encoding *encoding = nt_encoding_info(operation->encoding);
    const struct nt_decoder decoder = {.encoding = operation->encoding,
                                       .element = encoding->element,
                                       .bits = 8u * operation->width,
                                       .element_bytes = operation->element_bytes,
                                       .minimum = operation->minimum,
                                       .maximum = operation->maximum};
    const struct nt_packed packed = {
        .decoder = &decoder, .data = from, .bytes = count * operation->width, .elements = count};
    return encoding->decode(&packed, to, error);
}

static enum nt_status move(const struct nt_operation *operation, const uint8_t *from, size_t count,
                           uint8_t *to, struct nt_error *error)
{
    switch ((enum nt_number_copy)operation->number_copy) {
    case NT_NUMBER_COPY_PLAIN:
        memcpy(to, from, count * operation->width);
        return NT_OK;
    case NT_NUMBER_COPY_SWAP16:
        nt_swap16(from, count, to);
        return NT_OK;
    case NT_NUMBER_COPY_SWAP32:
        nt_swap32(from, count, to);
        return NT_OK;
    case NT_NUMBER_COPY_SWAP64:
        nt_swap64(from, count, to);
        return NT_OK;
    case NT_NUMBER_COPY_DECODE:
        break;
    }
    return decode_numbers(operation, from, count, to, error);
}

#define DEFINE_GATHER(bits)                                                                                  \
    static void gather##bits(const uint8_t *from, size_t stride, size_t rows, uint8_t *to)                   \
    {                                                                                                        \
        for (size_t i = 0; i < rows; i++) {                                                                  \
            uint##bits##_t value = nt_load_be##bits(from + i * stride);                                      \
            memcpy(to + i * sizeof(value), &value, sizeof(value));                                           \
        }                                                                                                    \
    }

DEFINE_GATHER(16)
DEFINE_GATHER(32)
DEFINE_GATHER(64)

enum nt_status nt_decode_rows(const struct nt_operation *operation, const uint8_t *from, size_t stride,
                              size_t count, uint8_t *to, struct nt_error *error)
{
    size_t row_bytes = (size_t)operation->count * operation->element_bytes;
    enum nt_status status = NT_OK;
    if (stride == (size_t)operation->count * operation->width)
        return move(operation, from, count, to, error);
    if (operation->count == 1 && operation->number_copy == NT_NUMBER_COPY_SWAP16) {
        gather16(from, stride, count, to);
    } else if (operation->count == 1 && operation->number_copy == NT_NUMBER_COPY_SWAP32) {
        gather32(from, stride, count, to);
    } else if (operation->count == 1 && operation->number_copy == NT_NUMBER_COPY_SWAP64) {
        gather64(from, stride, count, to);
    } else {
        for (; status == NT_OK && count; from += stride, to += row_bytes) {
            size_t some = count < operation->count ? count : operation->count;
            status = move(operation, from, some, to, error);
            count -= some;
        }
    }
    return status;
}
