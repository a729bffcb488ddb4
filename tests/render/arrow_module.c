/* SPDX-License-Identifier: MIT
 *
 * For test_arrow.py: passes datasets through the C data interface, with functions that ctypes can call. Each
 * returns 0, or 1 after a failure.
 */
#include <ntuple/ntuple.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int open_dataset(const char *path, unsigned number, unsigned unions, struct nt_file **file_ret,
                          struct nt_reader **reader_ret, struct nt_arrow **arrow_ret);
EXPORTED void close_dataset(struct nt_file *file, struct nt_reader *reader, struct nt_arrow *arrow);
EXPORTED unsigned count_batches(const struct nt_arrow *arrow);
EXPORTED int export_schema(const struct nt_arrow *arrow, struct ArrowSchema *schema_ret);
EXPORTED int export_batch(const struct nt_arrow *arrow, unsigned batch, struct ArrowArray *array_ret);

int open_dataset(const char *path, unsigned number, unsigned unions, struct nt_file **file_ret,
                 struct nt_reader **reader_ret, struct nt_arrow **arrow_ret)
{
    struct nt_error error;
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    options.unions = (enum nt_arrow_unions)unions;
    return nt_file_open(path, NULL, file_ret, &error) != NT_OK ||
           nt_reader_new(NULL, reader_ret, &error) != NT_OK ||
           nt_arrow_new(*reader_ret, nt_file_dataset(*file_ret, number), &options, arrow_ret, &error) !=
               NT_OK;
}

void close_dataset(struct nt_file *file, struct nt_reader *reader, struct nt_arrow *arrow)
{
    nt_arrow_free(arrow);
    nt_reader_free(reader);
    nt_file_close(file);
}

unsigned count_batches(const struct nt_arrow *arrow)
{
    return nt_arrow_batches(arrow);
}

int export_schema(const struct nt_arrow *arrow, struct ArrowSchema *schema_ret)
{
    struct nt_error error;
    return nt_arrow_export_schema(arrow, schema_ret, &error) != NT_OK;
}

int export_batch(const struct nt_arrow *arrow, unsigned batch, struct ArrowArray *array_ret)
{
    struct nt_error error;
    return nt_arrow_export_batch(arrow, batch, array_ret, &error) != NT_OK;
}
