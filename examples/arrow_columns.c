/* SPDX-License-Identifier: MIT
 *
 * Passes a dataset to another program's Arrow library: prints the columns of each batch.
 *
 *   arrow_columns FILE [DATASET]
 *
 * DATASET may be omitted if the file has only one.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ntuple/ntuple.h>

static void print_columns(const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    printf("%lld rows\n", (long long)batch->length);
    for (int64_t i = 0; i < schema->n_children; i++)
        printf("  %-20s %-6s %lld nulls\n", schema->children[i]->name, schema->children[i]->format,
               (long long)batch->children[i]->null_count);
}

static enum nt_status print_batches(const struct nt_arrow *arrow, struct nt_error *error)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    enum nt_status status = nt_arrow_export_schema(arrow, &schema, error);
    if (status != NT_OK)
        return status;
    for (uint32_t i = 0; i < nt_arrow_batches(arrow) && status == NT_OK; i++) {
        status = nt_arrow_export_batch(arrow, i, &batch, error);
        if (status != NT_OK)
            break;
        print_columns(&schema, &batch); /* or pass both to an Arrow library, which then releases them */
        batch.release(&batch);
    }
    schema.release(&schema);
    return status;
}

int main(int argument_count, char **arguments)
{
    struct nt_error error = {0};
    struct nt_file *file = NULL;
    struct nt_dataset *dataset;
    struct nt_reader *reader = NULL;
    struct nt_arrow *arrow = NULL;
    if (argument_count != 2 && argument_count != 3) {
        fprintf(stderr, "usage: arrow_columns FILE [DATASET]\n");
        return EXIT_FAILURE;
    }
    bool done = nt_file_open(arguments[1], NULL, &file, &error) == NT_OK &&
                nt_file_find(file, arguments[2], &dataset, &error) == NT_OK &&
                nt_reader_new(NULL, &reader, &error) == NT_OK &&
                nt_arrow_new(reader, dataset, NULL, &arrow, &error) == NT_OK &&
                print_batches(arrow, &error) == NT_OK;
    if (!done)
        fprintf(stderr, "arrow_columns: %s\n", error.message);
    nt_arrow_free(arrow);
    nt_reader_free(reader);
    nt_file_close(file);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
