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
/* The same bytes where they lie, as nt_stream_pin gives them. */
typedef bool nt_content_pin_body(void *body, uint64_t offset, size_t bytes, struct nt_pins *pins);
struct nt_content_body {
    void *body;
    uint64_t size;
    nt_content_read_body *read;
    void (*close)(void *body);
    nt_content_pin_body *pin; /* may be NULL */
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

/* ---- documents and texts that are made whole ---- */

/* They are made when they are looked up, and kept within a bound, so that their size is known and that reading one
 * does not make it again. Thread-safe; who wants one that is being made waits for it, and nobody else. */
struct nt_produced;

struct nt_produced_options {
    struct nt_reader *reader; /* what is kept in memory counts as its */
    /* Of the disk: for the texts that are kept, all together, and for each one that is being made, for itself: one
     * that is longer fails. Those that are being made, or are read though not kept any more, come on top. */
    uint64_t disk_bytes;
    const char *directory; /* of the disk; lives as long as this */
    bool makes_all;        /* every text, not only those that are short */
};

/* NULL without memory. */
struct nt_produced *nt_produced_new(const struct nt_produced_options *options);
void nt_produced_free(struct nt_produced *produced); /* accepts NULL; no content may be open */

/* The scope's document or text, made where it is not kept; closed by the caller. NULL for a text that is not made
 * whole, as it is, or may be, too long. */
enum nt_status nt_produced_open(struct nt_produced *produced, const struct nt_scope *scope,
                                struct nt_content **content_ret, struct nt_error *error);
/* Whether it is known without work what nt_produced_open would give: a document's size, as it is kept or its row
 * tells it before; or that a text is too long. */
bool nt_produced_is_known(struct nt_produced *produced, const struct nt_scope *scope, bool *is_long_ret,
                          uint64_t *size_ret);

/* Forget what is kept of places that were put away. Under the lock of the places. */
void nt_produced_forget(struct nt_produced *produced, const struct nt_places *places);

/* What has been counted: name and value of counter `index`; false past the last. */
bool nt_produced_counter(struct nt_produced *produced, uint32_t index, const char **name_ret,
                         uint64_t *value_ret);

#endif
