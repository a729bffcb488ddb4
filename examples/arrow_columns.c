/* SPDX-License-Identifier: MIT
 *
 * Hand a data set to another program's Arrow library: prints what the columns of each batch are.
 * usage: arrow_columns FILE [NUMBER OF THE DATA SET]
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
        print_columns(&schema, &batch); /* or give both to an Arrow library, which then releases them */
        batch.release(&batch);
    }
    schema.release(&schema);
    return status;
}

int main(int argc, char **argv)
{
    struct nt_error error = {0};
    struct nt_file *file = NULL;
    struct nt_reader *reader = NULL;
    struct nt_arrow *arrow = NULL;
    unsigned long number = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (argc < 2) {
        fprintf(stderr, "usage: arrow_columns FILE [NUMBER]\n");
        return 1;
    }
    enum nt_status status = nt_file_open(argv[1], NULL, &file, &error);
    if (status == NT_OK && (number >= file->dataset_count || file->datasets[number]->failure)) {
        fprintf(stderr, "arrow_columns: data set %lu cannot be read\n", number);
        nt_file_close(file);
        return 1;
    }
    if (status == NT_OK)
        status = nt_reader_new(NULL, &reader, &error);
    if (status == NT_OK)
        status = nt_arrow_new(reader, file->datasets[number], NULL, &arrow, &error);
    if (status == NT_OK)
        status = print_batches(arrow, &error);
    if (status != NT_OK)
        fprintf(stderr, "arrow_columns: %s\n", error.message);
    nt_arrow_free(arrow);
    nt_reader_free(reader);
    nt_file_close(file);
    return status == NT_OK ? 0 : 1;
}
