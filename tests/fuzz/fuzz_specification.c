/* SPDX-License-Identifier: MIT
 *
 * A specification of RDataFrame. Each name comes with its sample. A refused specification has a message.
 */
#include <stdlib.h>
#include <string.h>

#include "chain/chain.h"
#include "core/base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static enum nt_status take(void *context, const struct nt_chain_sample *sample, const char *name,
                           struct nt_error *error)
{
    size_t *names = context;
    if (!name[0] || !sample->dataset[0] || (sample->metadata && sample->metadata[0] != '{'))
        abort();
    *names += strlen(name) + strlen(sample->name) + 1;
    return NT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    size_t names = 0;
    struct nt_error error = {0};
    struct nt_arena *arena = nt_arena_new();
    if (!arena)
        return 0;
    (void)nt_is_specification((const char *)bytes, count);
    enum nt_status status = nt_specification_read((const char *)bytes, count, arena, take, &names, &error);
    if (status == NT_OK ? !names : error.status != status || !error.message[0])
        abort();
    nt_arena_free(arena);
    return 0;
}
