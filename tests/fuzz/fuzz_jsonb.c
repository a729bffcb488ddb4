/* SPDX-License-Identifier: MIT
 *
 * A JSONB value. Its text is no longer than its bytes allow. A failure has a message and leaves no output.
 */
#include <stdlib.h>
#include <string.h>

#include "core/json/json.h"
#include "core/base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Limits of the text: at most 6 bytes for a byte of JSONB (an escape), brackets for a value of 4 bytes
 * or more, and the second number for a scalar of few bytes. */
enum { MAX_OF_BYTE = 8, MAX_OF_SCALAR = 128 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_buffer text = {0};
    struct nt_error error = {0};
    uint8_t *exact = malloc(count ? count : 1);
    if (!exact)
        return 0;
    memcpy(exact, bytes, count);
    enum nt_status status = nt_jsonb_append(&text, exact, count, &error);
    if (status != NT_OK && (text.length || !error.message[0]))
        abort();
    if (text.length > MAX_OF_BYTE * count + MAX_OF_SCALAR)
        abort();
    nt_buffer_deinit(&text);
    free(exact);
    return 0;
}
