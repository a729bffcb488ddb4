/* SPDX-License-Identifier: MIT
 *
 * The documents of a Lance file's data set: footer.json, schema.json, metadata.json, and the bytes of messages.
 */
#ifndef NT_FORMAT_LANCE_DOCUMENTS_H
#define NT_FORMAT_LANCE_DOCUMENTS_H

#include "format/lance/opened.h"

extern const struct nt_document nt_lance_documents[];
extern const uint32_t nt_lance_document_count;

#endif
