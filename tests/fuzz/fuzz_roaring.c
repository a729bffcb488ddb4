/* SPDX-License-Identifier: MIT
 *
 * A Roaring bitmap, validated as when it is opened.
 */
#include "formats/roaring/roaring.h"
#include "core/io/source.h"
#include <ntuple/source.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_source *source;
    struct nt_roaring roaring;
    if (nt_source_open_memory(bytes, count, "input", &source, NULL) != NT_OK)
        return 0;
    nt_roaring_validate(source, false, &roaring, NULL);
    nt_roaring_relative(source);
    source->ops->close(source);
    return 0;
}
