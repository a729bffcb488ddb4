/* SPDX-License-Identifier: MIT
 *
 * The documents of a legacy file.
 */
#ifndef NT_FORMAT_LANCE_LEGACY_DOCUMENTS_H
#define NT_FORMAT_LANCE_LEGACY_DOCUMENTS_H

#include "formats/lance/legacy/opened.h"

extern const struct nt_document nt_lance_legacy_documents[];
extern const uint32_t nt_lance_legacy_document_count;

#endif
