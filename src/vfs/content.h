/* SPDX-License-Identifier: MIT
 *
 * The contents of files of all classes.
 */
#ifndef NT_VFS_CONTENT_H
#define NT_VFS_CONTENT_H

#include "vfs/pseudo.h"

/* A header of `header_bytes` (from malloc, taken also on failure; may be NULL) in front of `size` bytes that
 * `read` gives. */
typedef enum nt_status nt_content_read_body(void *body, uint64_t offset, void *buffer, size_t bytes,
                                            struct nt_error *error);
struct nt_content_body {
    void *body;
    uint64_t size;
    nt_content_read_body *read;
    void (*close)(void *body);
};
enum nt_status nt_content_new(void *header, size_t header_bytes, const struct nt_content_body *body,
                              struct nt_content **content_ret, struct nt_error *error);

/* A long text, opened by the scope's row. Read in order it is made once; going back makes it again from
 * the start. The scope must outlive the content. */
enum nt_status nt_content_new_unsized(const struct nt_scope *scope, struct nt_content **content_ret,
                                      struct nt_error *error);

static inline void nt_content_close(struct nt_content *content)
{
    if (content)
        content->ops->close(content);
}

/* ---- produced documents ---- */

/* Documents that are made when they are looked up, and kept within a bound, so that their size is known and
 * that reading one does not make it again. Thread-safe. */
struct nt_produced;

/* What is kept counts as the reader's memory. NULL without memory. */
struct nt_produced *nt_produced_new(struct nt_reader *reader);
void nt_produced_free(struct nt_produced *produced); /* accepts NULL; no content may be open */

/* The scope's document, made where it is not kept; closed by the caller. */
enum nt_status nt_produced_open(struct nt_produced *produced, const struct nt_scope *scope,
                                struct nt_content **content_ret, struct nt_error *error);
/* The size of a document that is kept, or whose row tells it before; false otherwise. */
bool nt_produced_size(struct nt_produced *produced, const struct nt_scope *scope, uint64_t *size_ret);

#endif
