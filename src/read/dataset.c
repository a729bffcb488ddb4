/* SPDX-License-Identifier: MIT
 *
 * In: a file of a format that is mounted, such as a Roaring bitmap. Out: the numbers in its only field.
 */
#include <inttypes.h>

#include <ntuple/format.h>
#include <ntuple/read.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "read/readers.h"

enum { PIECE_BYTES = 64 * 1024 };

/* An integer of the field's type; false where it is below 0. */
static bool load(enum nt_element element, const uint8_t *bytes, uint64_t *number_ret)
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
    static const uint32_t most = PIECE_BYTES;
    const struct nt_dtype *dtype = nt_stream_dtype(stream);
    uint32_t element_bytes = nt_stream_element_bytes(stream);
    uint64_t left = nt_stream_elements(stream) * element_bytes, at = 0, number;
    uint8_t piece[PIECE_BYTES];
    enum nt_status status = NT_OK;
    for (uint64_t bytes; status == NT_OK && left; at += bytes, left -= bytes) {
        bytes = left < most ? left : most;
        status = nt_stream_read(stream, at, piece, (size_t)bytes, error);
        for (uint64_t i = 0; status == NT_OK && i < bytes; i += element_bytes)
            status = load(dtype->element, piece + i, &number)
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

enum nt_status nt_choice_read_dataset(struct nt_choice *choice, struct nt_source *source,
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
