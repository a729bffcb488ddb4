/* SPDX-License-Identifier: MIT
 *
 * In: a page with a dictionary. Out: the dictionary's buffer as pages that are decoded before the page's own parts are.
 */
#include "formats/lance/file/inputs.h"

#include <inttypes.h>

/* A page that others need decoded before: what is wanted of the dictionary. */
static enum nt_status add_input(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                enum nt_tree_output output, const struct nt_dtype *dtype, uint64_t elements,
                                struct nt_page *page)
{
    const struct nt_lance_layout *layout = &opened->layout;
    const struct nt_lance_buffer *buffer = &opened->page->buffers[layout->dictionary_buffer];
    const struct nt_tree_want want = {.output = output};
    *page = (struct nt_page){.offset = buffer->offset,
                             .stored_bytes = buffer->bytes,
                             .parameter = output == NT_TREE_BYTES ? layout->dictionary_items : 0,
                             .elements = (uint32_t)elements,
                             .source = filling->lance->number};
    if (elements > UINT32_MAX)
        return nt_fail(filling->error, NT_LIMIT, buffer->offset,
                       "a dictionary of %" PRIu64 " items or bytes, more than the limit of 2^32", elements);
    return nt_filling_add_decoder(filling, layout->dictionary, &want, dtype, NULL, 0, &page->decoder);
}

enum nt_status nt_lance_add_inputs(struct nt_filling *filling, const struct nt_lance_opened *opened,
                                   struct nt_page inputs[2], uint32_t *count_ret)
{
    const struct nt_dtype index = nt_element_dtype(NT_ELEMENT_UINT64),
                          byte = nt_element_dtype(NT_ELEMENT_BYTE);
    uint64_t items = opened->layout.dictionary_items;
    bool is_strings = nt_filling_is_strings(filling);
    *count_ret = !opened->layout.dictionary ? 0 : is_strings ? 2 : 1;
    if (*count_ret == 0)
        return NT_OK;
    if (!is_strings)
        return add_input(filling, opened, NT_TREE_VALUES, &filling->field->dtype, items, &inputs[0]);
    enum nt_status status = add_input(filling, opened, NT_TREE_ENDS, &index, items, &inputs[0]);
    return status == NT_OK
               ? add_input(filling, opened, NT_TREE_BYTES, &byte, filling->dictionary.bytes, &inputs[1])
               : status;
}
