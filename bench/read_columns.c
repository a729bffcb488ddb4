/* SPDX-License-Identifier: MIT
 *
 * How fast libntuple reads columns whole into memory:
 *
 *   read_columns FILE FIELD|* THREADS ROUNDS
 *
 * Prints decoded bytes, then the seconds of each round. THREADS counts the calling one.
 */
#include "columns.h"

enum { MOST_STREAMS = 1 << 20 };

static struct nt_stream *streams[MOST_STREAMS];
static size_t stream_count;

static uint64_t stream_bytes(const struct nt_stream *stream)
{
    return nt_stream_elements(stream) * nt_stream_element_bytes(stream);
}

static void open_streams(struct nt_reader *reader, struct nt_dataset *dataset, const char *wanted)
{
    struct nt_error error;
    for (uint32_t field = 0; field < dataset->field_count; field++) {
        unsigned kinds = nt_field_kind_info(dataset->fields[field].kind)->streams;
        if (!is_wanted(dataset, field, wanted) || dataset->fields[field].unreadable)
            continue;
        for (enum nt_stream_kind kind = 0; kind < NT_STREAM_COUNT && stream_count < MOST_STREAMS; kind++)
            if (kinds & 1u << kind)
                check(nt_stream_open(reader, dataset, field, kind, &streams[stream_count++], &error), &error);
    }
}

int main(int argument_count, char **arguments)
{
    struct nt_error error;
    struct nt_file *file;
    struct nt_reader *reader;
    uint64_t bytes = 0, most = 0;
    if (argument_count != 5) {
        fprintf(stderr, "usage: read_columns FILE FIELD|* THREADS ROUNDS\n");
        return EXIT_FAILURE;
    }
    struct nt_reader_options options = {.threads = (unsigned)atoi(arguments[3]) - 1};
    check(nt_file_open(arguments[1], &(struct nt_open_options){0}, &file, &error), &error);
    check(nt_reader_new(&options, &reader, &error), &error);
    open_streams(reader, file->datasets[0], arguments[2]);
    for (size_t i = 0; i < stream_count; i++) {
        uint64_t size = stream_bytes(streams[i]);
        bytes += size;
        most = size > most ? size : most;
    }
    void *output = touched_memory(most);
    printf("%llu", (unsigned long long)bytes);
    for (int round = atoi(arguments[4]); round > 0; round--) {
        double start = seconds_now();
        for (size_t i = 0; i < stream_count; i++)
            check(nt_stream_read_elements(streams[i], 0, nt_stream_elements(streams[i]), output, &error),
                  &error);
        printf(" %.6f", seconds_now() - start);
    }
    putchar('\n');
    for (size_t i = 0; i < stream_count; i++)
        nt_stream_close(streams[i]);
    nt_reader_free(reader);
    nt_file_close(file);
    free(output);
}
