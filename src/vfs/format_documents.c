/* SPDX-License-Identifier: MIT
 *
 * In: a directory. Out: the documents that the format gives in it, and what they are called.
 */
#include "vfs/pseudo.h"

#include <string.h>

#include "core/base/text.h"

const struct nt_document *nt_scope_documents(const struct nt_scope *scope, uint32_t *count_ret)
{
    *count_ret = 0;
    if (scope->node.level == NT_LEVEL_DATASET) {
        *count_ret = scope->dataset->document_count;
        return scope->dataset->documents;
    }
    if (scope->node.level == NT_LEVEL_PLACE && scope->file && scope->node.item == 0) {
        *count_ret = scope->file->document_count;
        return scope->file->documents;
    }
    return NULL;
}

uint64_t nt_document_count(const struct nt_scope *scope, const struct nt_document *document)
{
    return document->count ? document->count(scope->file, scope->dataset) : 1;
}

void nt_document_name(const struct nt_document *document, uint64_t number, struct nt_buffer *name)
{
    nt_buffer_text(name, document->prefix);
    if (document->count)
        nt_buffer_format(name, "%llu%s", (unsigned long long)number, document->suffix);
}

bool nt_document_is(const struct nt_document *document, struct nt_text name)
{
    uint64_t number;
    if (!document->count)
        return nt_text_is(name, document->prefix);
    return strlen(name.bytes) == name.length &&
           nt_parse_between(name.bytes, document->prefix, document->suffix, &number);
}
