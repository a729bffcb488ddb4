/* SPDX-License-Identifier: MIT
 *
 * Writes RNTuple files of every generation for tests, envelope by envelope, in the terms of the
 * specification. It shares no code with the reader, so it defines each generation a second time.
 *
 * A test describes a dataset; rntuple_write writes it to a ROOT file. For an invalid file, the test
 * changes the bytes of an envelope before the checksum (`spoil`), or the finished file.
 */
#pragma once

#include "core/base/memory.h"

enum rntuple_generation {
    RNTUPLE_PREDRAFT,        /* ROOT 6.21 to 6.25 */
    RNTUPLE_CRC32_LINKS,     /* 6.26 to 6.29: extension header links in the footer */
    RNTUPLE_CRC32_EXTENSION, /* 6.29, 6.31: schema extension record */
    RNTUPLE_RC1,             /* like RC2, but with version 0.1.0.0 */
    RNTUPLE_RC2_EARLY,       /* 70-byte anchor */
    RNTUPLE_RC2_LATE,        /* 78-byte anchor */
    RNTUPLE_RC3,
    RNTUPLE_V1,
    RNTUPLE_V1_1, /* 1.0.1.0: linked attribute sets */
    RNTUPLE_GENERATIONS
};

enum rntuple_envelope { RNTUPLE_HEADER = 1, RNTUPLE_FOOTER, RNTUPLE_PAGE_LIST, RNTUPLE_USER_METADATA };

#define RNTUPLE_TOP UINT32_MAX /* parent of a top-level field */

struct rntuple_field {
    const char *name, *type;
    uint32_t parent;
    uint16_t role, flags;
    uint64_t array_size;    /* with flag 1 */
    uint32_t source;        /* with flag 2 */
    uint32_t type_checksum; /* with flag 4 */
    uint32_t field_version, type_version;
    const char *alias, *description;
};

struct rntuple_column {
    uint16_t type, bits;
    uint32_t field;
    uint32_t flags;
    uint16_t representation;
    int64_t first_element; /* with the deferred flag of the generation: has_first_element */
    bool has_first_element;
    double minimum, maximum; /* with the range flag: has_range */
    bool has_range;
};

struct rntuple_alias {
    uint32_t column, field;
};

enum rntuple_place {
    RNTUPLE_IN_FILE,
    RNTUPLE_LARGE,         /* a locator with a 64-bit size */
    RNTUPLE_URI,           /* the locator is `uri` */
    RNTUPLE_OBJECT64,      /* an object of a store, 12 bytes */
    RNTUPLE_MULTI,         /* part of an object: the object ID is above the offset */
    RNTUPLE_UNKNOWN_PLACE, /* an undefined locator type */
};

enum rntuple_page_checksum {
    RNTUPLE_NO_CHECKSUM,
    RNTUPLE_CHECKSUM_OF_STORED,
    RNTUPLE_CHECKSUM_OF_PACKED,
};

struct rntuple_page {
    uint32_t elements;
    const void *packed;
    uint32_t packed_bytes;
    enum rntuple_place place;
    enum rntuple_page_checksum checksum; /* XXH3, or CRC32 if envelopes use it */
    const char *uri;
    const void *stored; /* precompressed bytes to store instead of `packed`; NULL: see is_compressed */
    uint32_t stored_bytes;
    const struct rntuple_page *merged; /* an earlier page that shares its stored bytes with this one */
};

struct rntuple_range {
    const struct rntuple_page *pages;
    uint32_t page_count;
    uint64_t first_element;
    bool is_suppressed;
};

struct rntuple_cluster {
    uint64_t first_entry, entries;
    uint8_t flags;         /* 1: sharded */
    uint32_t column_group; /* with flag 1 */
    const struct rntuple_range *ranges;
    uint32_t range_count;
};

struct rntuple_column_group {
    const uint32_t *columns;
    uint32_t count;
};

/* A key-value pair of user metadata. Types: 1 integer, 2 bool, 3 real, 4 string; negative: a list. */
struct rntuple_pair {
    const char *key;
    int32_t type;
    uint32_t count; /* of a list */
    const int64_t *integers;
    const double *reals;
    const char *const *strings;
};

struct rntuple_description {
    const char *name, *description, *writer;
    const uint64_t *feature_flags; /* words of the header; NULL: a single 0 */
    uint32_t feature_flag_count;
    const struct rntuple_field *fields;
    const struct rntuple_column *columns;
    const struct rntuple_alias *aliases;
    uint32_t field_count, column_count, alias_count;
    uint32_t extension_fields, extension_columns,
        extension_aliases; /* the last ones of each are in the footer */
    const struct rntuple_cluster *clusters;
    uint32_t cluster_count, clusters_per_group; /* 0: one group */
    uint32_t repeated_groups;                   /* additional copies of the last group */
    const struct rntuple_column_group *column_groups;
    uint32_t column_group_count;
    const struct rntuple_pair *pairs;
    uint32_t pair_count;
    const char *attribute_set;        /* name of a linked attribute set, which is the dataset itself */
    uint32_t repeated_attribute_sets; /* additional links to the same set */
    uint16_t attribute_major, attribute_minor; /* its schema version; 0.0 means 1.0 */
    const char *extra_type; /* type name of an extra type information, whose content is "content" */
    uint32_t unknown_bytes; /* unknown bytes at the end of each record frame and envelope */
    bool is_compressed;     /* envelopes and pages use zlib */
    /* Called with the bytes of an envelope before its checksum is appended. May be NULL. */
    void (*spoil)(enum rntuple_envelope kind, struct nt_buffer *bytes);
};

/* Writes a ROOT file with the dataset under its name. The caller deinits the buffer. */
void rntuple_write(enum rntuple_generation generation, const struct rntuple_description *description,
                   struct nt_buffer *file);

/* Writes only the streamed anchor object with its checksum. `places` are offset, stored bytes and
 * length of header and footer. */
void rntuple_write_anchor(enum rntuple_generation generation, const uint64_t places[6],
                          struct nt_buffer *out);
const char *rntuple_anchor_class(enum rntuple_generation generation);

/* ---- Single words, for envelopes built by hand ---- */

/* An envelope under construction. Frames close innermost first. */
struct rntuple_writer {
    enum rntuple_generation generation;
    enum rntuple_envelope kind;
    struct nt_buffer bytes;
    size_t frames[16];
    unsigned depth;
    uint32_t unknown_bytes;
};

void rntuple_begin(struct rntuple_writer *writer, enum rntuple_generation generation,
                   enum rntuple_envelope kind);
/* Sets the length in the preamble, appends the checksum and returns it. */
uint64_t rntuple_end(struct rntuple_writer *writer);
void rntuple_u16(struct rntuple_writer *writer, uint16_t value);
void rntuple_u32(struct rntuple_writer *writer, uint32_t value);
void rntuple_u64(struct rntuple_writer *writer, uint64_t value);
void rntuple_real(struct rntuple_writer *writer, double value);
void rntuple_text(struct rntuple_writer *writer, const char *text);
void rntuple_record(struct rntuple_writer *writer);
void rntuple_list(struct rntuple_writer *writer, uint32_t items);
void rntuple_end_frame(struct rntuple_writer *writer);
void rntuple_locator(struct rntuple_writer *writer, enum rntuple_place place, uint64_t offset, uint64_t bytes,
                     const char *uri);
