/* SPDX-License-Identifier: MIT
 *
 * Reads elements of one column into its own memory, decoded by all processors:
 *
 *   read_column FILE DATASET FIELD [FIRST COUNT] > elements
 *
 * DATASET and FIELD are paths: Events, directory/Events; weight, muons/_0/pt. The elements go to standard
 * output as they are in memory, little-endian. To build it elsewhere:
 *
 *   cc read_column.c $(pkg-config --cflags --libs libntuple)
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ntuple/ntuple.h>

#define ALL UINT64_MAX

/* Reads elements [first, first + count) of a stream, or all of them. */
static bool copy_elements(struct nt_stream *stream, uint64_t first, uint64_t count, struct nt_error *error)
{
    if (count == ALL)
        count = nt_stream_elements(stream);
    void *elements = calloc(count + 1, nt_stream_element_bytes(stream));
    if (!elements)
        snprintf(error->message, sizeof(error->message), "no memory for all elements");
    bool done = elements && nt_stream_read_elements(stream, first, count, elements, error) == NT_OK;
    if (done)
        fwrite(elements, nt_stream_element_bytes(stream), count, stdout);
    free(elements);
    return done;
}

static bool is_number(const char *text, uint64_t *number_ret)
{
    char *end;
    errno = 0;
    *number_ret = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0;
}

int main(int argument_count, char **arguments)
{
    struct nt_error error = {0};
    struct nt_file *file = NULL;
    struct nt_reader *reader = NULL;
    struct nt_stream *stream = NULL;
    struct nt_dataset *dataset;
    uint32_t field;
    uint64_t first = 0, count = ALL;
    bool has_range =
        argument_count == 6 && is_number(arguments[4], &first) && is_number(arguments[5], &count);
    if (argument_count != 4 && !has_range) {
        fprintf(stderr, "usage: read_column FILE DATASET FIELD [FIRST COUNT]\n");
        return EXIT_FAILURE;
    }
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    /* The calling thread decodes, too. */
    struct nt_reader_options options = NT_READER_OPTIONS_INIT;
    options.threads = processors > 1 ? (unsigned)processors - 1 : 0;
    bool done = nt_file_open(arguments[1], NULL, &file, &error) == NT_OK &&
                nt_file_find(file, arguments[2], &dataset, &error) == NT_OK &&
                nt_dataset_find(dataset, arguments[3], &field, &error) == NT_OK &&
                nt_reader_new(&options, &reader, &error) == NT_OK &&
                nt_stream_open(reader, dataset, field, NT_STREAM_DATA, &stream, &error) == NT_OK &&
                copy_elements(stream, first, count, &error);
    if (!done)
        fprintf(stderr, "read_column: %s\n", error.message);
    nt_stream_close(stream);
    nt_reader_free(reader);
    nt_file_close(file);
    return done && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
