/* SPDX-License-Identifier: MIT
 *
 * The time from opening a file to the first number of a column, or to the first item of its lists.
 *
 *   first_value FILE FIELD THREADS ROUNDS
 *
 * Prints 0, then the seconds of each round. THREADS includes the calling one.
 */
#include "columns.h"

/* The field, or the items of its lists. */
static uint32_t field_of_values(const struct nt_dataset *dataset, const char *path)
{
    struct nt_error error;
    uint32_t field, count;
    check(nt_dataset_find(dataset, path, &field, &error), &error);
    while (!nt_field_has_stream(&dataset->fields[field], NT_STREAM_DATA)) {
        const uint32_t *children = nt_dataset_children(dataset, field, &count);
        if (count != 1) {
            fprintf(stderr, "%s has no numbers\n", path);
            exit(EXIT_FAILURE);
        }
        field = children[0];
    }
    return field;
}

static void read_first(const char *file_path, const char *path, unsigned threads)
{
    struct nt_error error;
    struct nt_file *file;
    struct nt_reader *reader;
    struct nt_stream *stream;
    char value[16];
    struct nt_reader_options options = {.struct_bytes = sizeof(options), .threads = threads - 1};
    check(nt_file_open(file_path, NULL, &file, &error), &error);
    check(nt_reader_new(&options, &reader, &error), &error);
    struct nt_dataset *dataset = file->datasets[0];
    check(nt_stream_open(reader, dataset, field_of_values(dataset, path), NT_STREAM_DATA, &stream, &error),
          &error);
    check(nt_stream_read_elements(stream, 0, 1, value, &error), &error);
    nt_stream_close(stream);
    nt_reader_free(reader);
    nt_file_close(file);
}

int main(int argument_count, char **arguments)
{
    int threads = argument_count == 5 ? atoi(arguments[3]) : 0;
    if (threads < 1) {
        fprintf(stderr, "usage: first_value FILE FIELD THREADS ROUNDS\n");
        return EXIT_FAILURE;
    }
    putchar('0');
    for (int round = atoi(arguments[4]); round > 0; round--) {
        double start = seconds_now();
        read_first(arguments[1], arguments[2], (unsigned)threads);
        printf(" %.6f", seconds_now() - start);
    }
    putchar('\n');
}
