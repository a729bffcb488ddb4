/* SPDX-License-Identifier: MIT
 *
 * The anchor of an object store. Its objects are beneath its address, with one number in the name. A
 * refused anchor has a message and no name.
 */
#include "formats/rntuple/rntuple.h"

#include <stdlib.h>
#include <string.h>

#include "core/io/folder.h"
#include "core/base/scheme.h"
#include "core/base/memory.h"
#include "core/base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check_name(const struct nt_store_anchor *anchor)
{
    const char *number = strstr(anchor->name, NT_OBJECT_NUMBER);
    demand(number && !strstr(number + 1, NT_OBJECT_NUMBER));
    demand(anchor->name[0] != '/' && nt_folder_is_name_below(nt_text_of(anchor->name)));
    demand(anchor->anchor.length > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_store_anchor anchor;
    struct nt_error error = {0};
    struct nt_arena *arena = nt_arena_new();
    if (!arena)
        return 0;
    enum nt_status status =
        nt_store_anchor_read((struct nt_text){(const char *)bytes, count}, arena, &anchor, &error);
    if (status != NT_OK)
        demand(error.status == status && error.message[0]);
    if (status == NT_OK || status == NT_CHECKSUM)
        check_name(&anchor);
    else
        demand(!anchor.name);
    nt_arena_free(arena);
    return 0;
}
