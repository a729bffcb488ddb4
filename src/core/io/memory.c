/* SPDX-License-Identifier: MIT
 *
 * Memory as a source.
 */
#include <stdlib.h>
#include <string.h>

#include "core/io/source.h"

struct memory_source {
    struct nt_source source;
    const uint8_t *bytes;
    char *path;
};

static enum nt_status memory_read_at(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                     struct nt_error *error)
{
    (void)error;
    memcpy(buffer, ((struct memory_source *)source)->bytes + offset, bytes);
    return NT_OK;
}

static void memory_close(struct nt_source *source)
{
    free(((struct memory_source *)source)->path);
    free(source);
}

static const struct nt_source_ops memory_ops = {.read_at = memory_read_at, .close = memory_close};

enum nt_status nt_source_open_memory(const void *bytes, size_t size, const char *path,
                                     struct nt_source **source_ret, struct nt_error *error)
{
    struct memory_source *memory = calloc(1, sizeof(*memory));
    char *path_copy = strdup(path);
    if (!memory || !path_copy) {
        free(memory);
        free(path_copy);
        return nt_fail_memory(error);
    }
    *memory = (struct memory_source){
        .source = {.ops = &memory_ops, .size = size, .path = path_copy}, .bytes = bytes, .path = path_copy};
    *source_ret = &memory->source;
    return NT_OK;
}
