/* SPDX-License-Identifier: MIT
 *
 * Bytes of a column as content of a file.
 */
#ifndef NT_VFS_STRETCH_H
#define NT_VFS_STRETCH_H

#include "vfs/content.h"

/* A stretch of a column's decoded bytes, or of a page's stored ones. */
struct nt_stretch {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    const struct nt_page *page;
    uint64_t first_byte;
};

/* For nt_stretch_content: the column's decoded bytes from `first_byte` on; the page's stored ones; the page's
 * decoded ones, whichever page it is; those of the page's file from `first_byte` on. */
nt_content_read_body nt_stretch_read_decoded, nt_stretch_read_stored, nt_stretch_read_page,
    nt_stretch_read_source;

/* `size` bytes of the stretch, which is copied, behind a header that is taken, also on failure. */
enum nt_status nt_stretch_content(const struct nt_stretch *stretch, struct nt_buffer *header, uint64_t size,
                                  nt_content_read_body *read, struct nt_content **content_ret,
                                  struct nt_error *error);

#endif
