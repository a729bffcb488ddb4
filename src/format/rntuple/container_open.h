/* SPDX-License-Identifier: MIT
 *
 * From a file to its container.
 */
#ifndef NT_FORMAT_RNTUPLE_CONTAINER_OPEN_H
#define NT_FORMAT_RNTUPLE_CONTAINER_OPEN_H

#include "format/rntuple/container.h"

/* Recognise the container of file->source, read its directories (added to the file) and its anchors. All
 * memory is the file's arena but for `container` itself, which is the caller's and must live as long as the
 * file: it becomes file->format_data (make it the first member where more is wanted there). Sets the file's
 * documents, describe and layout. The layout has everything but what anchors lead to: anchor objects
 * (`anchors`), envelopes, pages and their checksums are the caller's to add. NT_NOT_THIS_FORMAT
 * tells of a ROOT file without an RNTuple the classes of its keys. */
enum nt_status nt_container_open(struct nt_file *file, struct nt_container *container,
                                 struct nt_error *error);

#endif
