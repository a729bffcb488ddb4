/* SPDX-License-Identifier: MIT
 *
 * Declarations shared by the files of the RNTuple writer.
 */
#pragma once

#include "rntuple_writer.h"
#include "tfile_writer.h"

static inline bool rntuple_has_crc32(enum rntuple_generation generation)
{
    return generation <= RNTUPLE_CRC32_EXTENSION;
}

static inline bool rntuple_is_final(enum rntuple_generation generation)
{
    return generation >= RNTUPLE_RC3;
}

struct rntuple_stored_range {
    uint64_t offset, stored_bytes, length;
};

/* A page that later pages may share (rntuple_page.merged). */
struct rntuple_written_page {
    const struct rntuple_page *page;
    struct rntuple_stored_range place;
};

struct rntuple_state {
    enum rntuple_generation generation;
    const struct rntuple_description *description;
    struct tfile_writer file;
    struct rntuple_stored_range header, footer;
    struct rntuple_stored_range page_lists[64];
    struct rntuple_stored_range metadata;
    uint64_t header_checksum;
    struct rntuple_written_page *pages;
    size_t page_count, page_capacity;
};

struct rntuple_schema_part {
    uint32_t fields[2], columns[2], aliases[2];
    const char *extra_type;
};

/* rntuple_words.c */
void rntuple_append_little(struct nt_buffer *out, uint64_t value, unsigned bytes);
void rntuple_append_big(struct nt_buffer *out, uint64_t value, unsigned bytes);
void rntuple_put_little(struct nt_buffer *out, size_t at, uint64_t value, unsigned bytes);
void rntuple_unknown(struct rntuple_writer *writer);

/* rntuple_schema.c */
void rntuple_write_schema(struct rntuple_writer *writer, const struct rntuple_description *description,
                          const struct rntuple_schema_part *part);
struct rntuple_schema_part rntuple_header_part(const struct rntuple_description *d);
struct rntuple_schema_part rntuple_extension_part(const struct rntuple_description *d);

/* rntuple_storage.c */
uint64_t rntuple_put_blob(struct rntuple_state *state, const struct nt_buffer *bytes);
struct rntuple_stored_range rntuple_put_envelope(struct rntuple_state *state, struct rntuple_writer *writer);
void rntuple_begin_envelope(struct rntuple_state *state, struct rntuple_writer *writer,
                            enum rntuple_envelope kind);
struct rntuple_stored_range rntuple_put_page(struct rntuple_state *state, const struct rntuple_page *page);

/* rntuple_predraft.c */
void rntuple_predraft_header(struct rntuple_state *state);
void rntuple_predraft_footer(struct rntuple_state *state);
