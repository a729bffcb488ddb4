/* SPDX-License-Identifier: MIT
 *
 * The speed of libntuple, reading whole columns into memory by one call.
 *
 *   read_columns FILE FIELD,...|* THREADS ROUNDS
 *
 * Prints the decoded bytes, then the seconds of each round. THREADS includes the calling one.
 */
#include "columns.h"

enum { MAX_STREAMS = 1 << 20 };

static struct nt_stream_range ranges[MAX_STREAMS];
static size_t range_count;

static uint64_t range_bytes(const struct nt_stream_range *range)
{
    return range->count * nt_stream_element_bytes(range->stream);
}

static void add_range(struct nt_stream *stream)
{
    ranges[range_count++] = (struct nt_stream_range){.stream = stream, .count = nt_stream_elements(stream)};
}

static void announce(struct nt_dataset *dataset, const char *requested)
{
    uint32_t *fields = malloc((dataset->field_count + 1) * sizeof(*fields)), count = 0;
    for (uint32_t field = 0; fields && field < dataset->field_count; field++)
        if (is_requested(dataset, field, requested))
            fields[count++] = field;
    nt_fields_announce(dataset, fields, count);
    free(fields);
}

static void open_streams(struct nt_reader *reader, struct nt_dataset *dataset, const char *requested)
{
    struct nt_error error;
    struct nt_stream *stream;
    announce(dataset, requested);
    for (uint32_t field = 0; field < dataset->field_count; field++) {
        if (!is_requested(dataset, field, requested) || dataset->fields[field].unreadable)
            continue;
        for (enum nt_stream_kind kind = 0; kind < NT_STREAM_COUNT && range_count < MAX_STREAMS; kind++) {
            if (!nt_field_has_stream(&dataset->fields[field], kind))
                continue;
            check(nt_stream_open(reader, dataset, field, kind, &stream, &error), &error);
            add_range(stream);
        }
    }
}

int main(int argument_count, char **arguments)
{
    struct nt_error error;
    struct nt_file *file;
    struct nt_reader *reader;
    uint64_t bytes = 0;
    if (argument_count != 5) {
        fprintf(stderr, "usage: read_columns FILE FIELD,...|* THREADS ROUNDS\n");
        return EXIT_FAILURE;
    }
    struct nt_reader_options options = {.struct_bytes = sizeof(options),
                                        .threads = (unsigned)atoi(arguments[3]) - 1};
    check(nt_file_open(arguments[1], NULL, &file, &error), &error);
    check(nt_reader_new(&options, &reader, &error), &error);
    open_streams(reader, file->datasets[0], arguments[2]);
    for (size_t i = 0; i < range_count; i++)
        bytes += range_bytes(&ranges[i]);
    /* A program that reads once reads into new memory. The page faults happen while it waits. */
    uint8_t *memory = atoi(arguments[4]) > 1 ? touched_memory(bytes) : malloc(bytes + 1), *output = memory;
    if (!memory)
        abort();
    for (size_t i = 0; i < range_count; output += range_bytes(&ranges[i++]))
        ranges[i].output = output;
    printf("%llu", (unsigned long long)bytes);
    for (int round = atoi(arguments[4]); round > 0; round--) {
        double start = seconds_now();
        check(nt_streams_read_elements(ranges, range_count, &error), &error);
        printf(" %.6f", seconds_now() - start);
    }
    putchar('\n');
    for (size_t i = 0; i < range_count; i++)
        nt_stream_close(ranges[i].stream);
    nt_reader_free(reader);
    nt_file_close(file);
    free(memory);
}
