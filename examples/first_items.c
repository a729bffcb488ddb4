/* SPDX-License-Identifier: MIT
 *
 * Print the items of a list of floats in the first entries of a dataset:
 *
 *   first_items FILE DATASET LIST ITEM      for example: first_items run.root Events muons muons/_0/pt
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntuple/ntuple.h>

enum { ENTRIES = 3, MAX_ITEMS = 1000 };

static enum nt_status open_stream(struct nt_reader *reader, struct nt_dataset *dataset, const char *path,
                                  enum nt_stream_kind kind, struct nt_stream **stream_ret,
                                  struct nt_error *error)
{
    uint32_t field;
    enum nt_status status = nt_dataset_find(dataset, path, &field, error);
    return status == NT_OK ? nt_stream_open(reader, dataset, field, kind, stream_ret, error) : status;
}

/* offsets[i] is the first item of entry i, and offsets[i + 1] the first item after it. */
static enum nt_status print_entries(struct nt_stream *offsets, struct nt_stream *items,
                                    struct nt_error *error)
{
    int64_t boundaries[ENTRIES + 1];
    float values[MAX_ITEMS];
    enum nt_status status = nt_stream_read_elements(offsets, 0, ENTRIES + 1, boundaries, error);
    for (int i = 0; status == NT_OK && i < ENTRIES; i++) {
        uint64_t first = (uint64_t)boundaries[i], count = (uint64_t)boundaries[i + 1] - first;
        if (count > MAX_ITEMS)
            count = MAX_ITEMS;
        status = nt_stream_read_elements(items, first, count, values, error);
        printf("entry %d:", i);
        for (uint64_t k = 0; status == NT_OK && k < count; k++)
            printf(" %.2f", values[k]);
        printf("\n");
    }
    return status;
}

int main(int argument_count, char **arguments)
{
    struct nt_error error = {0};
    struct nt_reader_options options = NT_READER_OPTIONS_INIT;
    struct nt_file *file = NULL;
    struct nt_dataset *dataset;
    struct nt_reader *reader = NULL;
    struct nt_stream *offsets = NULL, *items = NULL;
    if (argument_count != 5) {
        fprintf(stderr, "usage: first_items FILE DATASET LIST ITEM\n");
        return EXIT_FAILURE;
    }
    enum nt_status status = nt_file_open(arguments[1], NULL, &file, &error);
    if (status == NT_OK)
        status = nt_file_find(file, arguments[2], &dataset, &error);
    if (status == NT_OK)
        status = nt_reader_new(&options, &reader, &error);
    if (status == NT_OK)
        status = open_stream(reader, dataset, arguments[3], NT_STREAM_OFFSETS, &offsets, &error);
    if (status == NT_OK)
        status = open_stream(reader, dataset, arguments[4], NT_STREAM_DATA, &items, &error);
    if (status == NT_OK && strcmp(nt_stream_dtype(items)->numpy, "<f4") != 0) {
        snprintf(error.message, sizeof(error.message), "%s: expected floats (<f4), found %s", arguments[4],
                 nt_stream_dtype(items)->numpy);
        status = NT_INVALID;
    }
    if (status == NT_OK)
        status = print_entries(offsets, items, &error);
    if (status != NT_OK)
        fprintf(stderr, "first_items: %s\n", error.message);
    nt_stream_close(items);
    nt_stream_close(offsets);
    nt_reader_free(reader);
    nt_file_close(file);
    return status == NT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
