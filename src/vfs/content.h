/* SPDX-License-Identifier: MIT
 *
 * The contents of files whose size is known from metadata, and of long texts.
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

#endif
