/* SPDX-License-Identifier: MIT
 *
 * Sources that stand for chunks which are not there: whoever reads them is told why. So the rows of a missing
 * chunk keep their place, and only reading them fails.
 */
#include "formats/blz/failure.h"

#include <stdlib.h>

#include "formats/blz/state.h"

static const char *const reasons[NT_BLZ_FAILURE_COUNT] = {
    [NT_BLZ_FILE_MISSING] = "the chunk's file is missing",
    [NT_BLZ_HEADER_DAMAGED] = "the chunk's file has no valid Bloscpack header of a file with one chunk",
    [NT_BLZ_CHUNK_DAMAGED] = "the chunk's Blosc header is damaged, or the file ends before the chunk does",
    [NT_BLZ_CHUNK_LOST] = "the chunk's place is not known, because of damage in front of it",
    [NT_BLZ_SUPERCHUNK_DAMAGED] = "the superchunk's headers are damaged: its chunks are not known",
    [NT_BLZ_ROWS_NOT_PLACED] =
        ("the row's place is not known: a superchunk in front of it is missing or damaged, and the "
         "others do not prove how many rows that has"),
    [NT_BLZ_ROWS_MISSING] = "the files end before all rows that the sizes tell",
};

struct failure_source {
    struct nt_source source;
    enum nt_blz_failure failure;
    const struct nt_blz *blz;
};

static enum nt_status fail_to_read(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                   struct nt_error *error)
{
    const struct failure_source *failing = (struct failure_source *)source;
    (void)offset, (void)buffer, (void)bytes;
    enum nt_status status = nt_blz_check_state(failing->blz, error);
    return status == NT_OK ? nt_fail(error, NT_CORRUPT, NT_NO_OFFSET, "%s", reasons[failing->failure])
                           : status;
}

static enum nt_status no_size(struct nt_source *source, uint64_t *size_ret, struct nt_error *error)
{
    (void)source, (void)error;
    *size_ret = 0;
    return NT_OK;
}

static void close_failure(struct nt_source *source)
{
    free(source);
}

enum nt_status nt_blz_failure_source(enum nt_blz_failure failure, const struct nt_blz *blz,
                                     struct nt_source **source_ret, struct nt_error *error)
{
    static const struct nt_source_ops ops = {
        .read_at = fail_to_read, .size = no_size, .close = close_failure};
    struct failure_source *source = calloc(1, sizeof(*source));
    if (!source)
        return nt_fail_memory(error);
    source->source.ops = &ops;
    source->source.size = NT_UNKNOWN_SIZE; /* so that no bound stops a read before it is told the reason */
    source->source.path = reasons[failure];
    source->failure = failure;
    source->blz = blz;
    *source_ret = &source->source;
    return NT_OK;
}
