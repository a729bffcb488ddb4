/* SPDX-License-Identifier: MIT
 *
 * In: the place of a blob. Out: nothing, its file is closed.
 */
#include "core/model/blob.h"

#include <stdlib.h>

#include "core/io/source.h"

void nt_blob_deinit(struct nt_blob *blob)
{
    nt_source_close(blob->source);
    free(blob->name);
    *blob = (struct nt_blob){0};
}
