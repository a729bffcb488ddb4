/* SPDX-License-Identifier: MIT
 *
 * Documents that a format gives: header.json, pagelist.<n>.bin, keys.jsonl.
 */
#ifndef NT_VFS_FORMAT_DOCUMENTS_H
#define NT_VFS_FORMAT_DOCUMENTS_H

#include "vfs/scope.h"

/* Those in the scope's directory. */
const struct nt_document *nt_scope_documents(const struct nt_scope *scope, uint32_t *count_ret);
uint64_t nt_document_count(const struct nt_scope *scope, const struct nt_document *document);
void nt_document_name(const struct nt_document *document, uint64_t number, struct nt_buffer *name);
/* Whether a name is the document's, whatever its number. */
bool nt_document_is(const struct nt_document *document, struct nt_text name);

#endif
