/* SPDX-License-Identifier: MIT
 *
 * Read elements of one column into memory of our own, decoded by all processors:
 *
 *   read_column FILE DATASET FIELD [FIRST COUNT] > elements
 *
 * The elements go to the standard output as they lie in memory, little-endian. To build it elsewhere:
 *
 *   cc read_column.c $(pkg-config --cflags --libs libntuple)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntuple/ntuple.h>

static bool is_text(struct nt_text text, const char *wanted)
{
    return text.length == strlen(wanted) && memcmp(text.bytes, wanted, text.length) == 0;
}

/* Data sets that could not be opened stand in the list, too, with the reason. */
static struct nt_dataset *find_dataset(const struct nt_file *file, const char *name)
{
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (!file->datasets[i]->failure && is_text(file->datasets[i]->name, name))
            return file->datasets[i];
    return NULL;
}

static uint32_t find_top_field(const struct nt_dataset *dataset, const char *name)
{
    uint32_t count;
    const uint32_t *fields = nt_dataset_children(dataset, NT_NONE, &count);
    for (uint32_t i = 0; i < count; i++)
        if (is_text(dataset->fields[fields[i]].name, name))
            return fields[i];
    return NT_NONE;
}

static enum nt_status copy_elements(struct nt_stream *stream, uint64_t first, uint64_t count,
                                    struct nt_error *error)
{
    uint32_t element_bytes = nt_stream_element_bytes(stream);
    if (first > nt_stream_elements(stream))
        first = nt_stream_elements(stream);
    if (count > nt_stream_elements(stream) - first)
        count = nt_stream_elements(stream) - first;
    void *elements = calloc(count ? count : 1, element_bytes);
    if (!elements)
        return nt_fail(error, NT_NO_MEMORY, NT_NO_OFFSET, "no memory for %" PRIu64 " elements", count);
    enum nt_status status = nt_stream_read_elements(stream, first, count, elements, error);
    if (status == NT_OK && fwrite(elements, element_bytes, count, stdout) != count)
        status = nt_fail(error, NT_IO, NT_NO_OFFSET, "cannot write");
    free(elements);
    return status;
}

static enum nt_status read_column(struct nt_reader *reader, const struct nt_file *file, char **arguments,
                                  uint64_t first, uint64_t count, struct nt_error *error)
{
    struct nt_stream *stream;
    struct nt_dataset *dataset = find_dataset(file, arguments[0]);
    uint32_t field = dataset ? find_top_field(dataset, arguments[1]) : NT_NONE;
    if (field == NT_NONE)
        return nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no field %s in %s", arguments[1], arguments[0]);
    enum nt_status status = nt_stream_open(reader, dataset, field, NT_STREAM_DATA, &stream, error);
    if (status != NT_OK)
        return status;
    status = copy_elements(stream, first, count, error);
    nt_stream_close(stream);
    nt_reader_forget(reader, dataset);
    return status;
}

int main(int argument_count, char **arguments)
{
    struct nt_error error = {0};
    struct nt_file *file = NULL;
    struct nt_reader *reader = NULL;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    /* The calling thread decodes, too. */
    struct nt_reader_options options = {.threads = processors > 1 ? (unsigned)processors - 1 : 0};
    if (argument_count != 4 && argument_count != 6) {
        fprintf(stderr, "usage: read_column FILE DATASET FIELD [FIRST COUNT]\n");
        return EXIT_FAILURE;
    }
    uint64_t first = argument_count == 6 ? strtoull(arguments[4], NULL, 10) : 0;
    uint64_t count = argument_count == 6 ? strtoull(arguments[5], NULL, 10) : UINT64_MAX;
    enum nt_status status = nt_file_open(arguments[1], &(struct nt_open_options){0}, &file, &error);
    if (status == NT_OK)
        status = nt_reader_new(&options, &reader, &error);
    if (status == NT_OK)
        status = read_column(reader, file, arguments + 2, first, count, &error);
    if (status != NT_OK)
        fprintf(stderr, "read_column: %s\n", error.message);
    nt_reader_free(reader);
    nt_file_close(file);
    return status == NT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
