/* SPDX-License-Identifier: MIT
 *
 * The generations of the format, one row each: what changed on disk between the first experiments of 2020 and
 * version 1. A file is matched to a row once, when it is opened; all other code asks the row. Adding a
 * generation is adding a row.
 */
#ifndef NT_FORMAT_RNTUPLE_GENERATION_H
#define NT_FORMAT_RNTUPLE_GENERATION_H

#include "core/codec/codec.h"
#include "formats/rntuple/anchor.h"
#include "core/model/model.h"

/* How an envelope begins, how its checksum is made and how wide its frames are. */
struct nt_framing {
    const char *name; /* for JSON */
    uint32_t preamble_bytes;
    /* The preamble is u64 type | length << 16; else u16 version, u16 minimum version. */
    bool has_type_and_length;
    enum nt_checksum_kind checksum; /* behind the payload, over all bytes before it */
    uint32_t frame_size_bytes;      /* width of a frame's size */
    uint32_t frame_item_mask;       /* the bits of a list frame's item count */
    uint32_t link_length_bytes;     /* width of the uncompressed size in an envelope link */
    uint32_t cluster_flag_bits;     /* top bits of a cluster summary's number of entries */
};

struct nt_column_type {
    uint16_t number;
    enum nt_encoding_kind encoding;
};

enum nt_locator_kind {
    NT_LOCATOR_FILE,     /* a byte range of the file */
    NT_LOCATOR_LARGE,    /* the same with a 64-bit size */
    NT_LOCATOR_URI,      /* elsewhere: the payload is the URI */
    NT_LOCATOR_OBJECT64, /* an object of an object store: elsewhere, but for data sets that lie in one */
    NT_LOCATOR_MULTI,    /* elsewhere: a part of one of several objects, which hold several pages each */
    NT_LOCATOR_UNKNOWN,  /* elsewhere: the payload is kept as it is */
    NT_LOCATOR_KIND_COUNT
};

struct nt_locator_type {
    uint8_t number;
    enum nt_locator_kind kind;
};

/* A feature flag: bit `number` % 64 of the word `number` / 64. */
struct nt_feature {
    uint32_t number;
    const char *name;
};

/* The lists at the end of a footer, in the order in which a generation writes them. */
enum nt_footer_list {
    NT_FOOTER_END, /* no further list */
    NT_FOOTER_EXTENSION_HEADERS,
    NT_FOOTER_COLUMN_GROUPS,
    NT_FOOTER_CLUSTER_SUMMARIES,
    NT_FOOTER_CLUSTER_GROUPS,
    NT_FOOTER_USER_METADATA,
    NT_FOOTER_ATTRIBUTE_SETS,
    NT_FOOTER_LIST_COUNT
};

/* What follows the header's checksum in the footer: tells the two CRC32 drafts apart. */
enum nt_footer_start { NT_FOOTER_STARTS_ANY, NT_FOOTER_STARTS_LIST, NT_FOOTER_STARTS_RECORD };

enum { NT_MAX_FOOTER_LISTS = 5 };

struct nt_generation {
    const char *name;
    const char *reason; /* why a file is taken for this generation */

    /* How it is recognised. */
    enum nt_anchor_layout anchor_layout;
    uint16_t epoch, first_major, last_major; /* 0,0,0 where the anchor tells no version */
    bool is_predraft;                        /* header starts with version 0: predraft.c reads it */
    enum nt_footer_start footer_start;

    /* Envelopes and frames. */
    const struct nt_framing *framing;
    const struct nt_feature *features; /* the feature flags that are known */
    uint32_t feature_count;

    /* Schema. */
    bool has_release_candidate_tag;
    bool has_early_field_values; /* array size, source field, type checksum stand before a field's texts */
    uint16_t field_flags;        /* the flags that are known */
    bool
        has_field_versions; /* a field of another version than 0 is not known; else the number tells nothing */
    bool has_representations;           /* column: u16 flags, u16 representation; else u32 flags */
    uint16_t deferred_flag, range_flag; /* bits of a column's flags; 0: not there */
    /* u32 content, u32 version, name, content; else u32 from, u32 to, u32 content, name. */
    bool has_extra_type_content;
    const struct nt_column_type *column_types;
    uint32_t column_type_count;
    enum nt_encoding_kind switch_encoding;
    /* Writers "ROOT v<major>.<minor>" before this one packed a switch 32|32; 0: none did. */
    uint32_t first_wide_switch_major, first_wide_switch_minor;

    /* Footer and page lists. */
    bool has_schema_extension;
    enum nt_footer_list footer_lists[NT_MAX_FOOTER_LISTS]; /* those at the end may be left out */
    uint16_t attribute_set_major; /* the version of attribute sets' own schema that is known */
    bool has_summaries_in_page_list;
    bool has_entry_range_in_cluster_group;
    bool has_sharded_clusters;  /* cluster flag 1: a column group follows; else it is refused */
    uint32_t page_element_bits; /* 30: the flags above say what follows the page; 31: the sign does */
    enum nt_checksum_kind page_checksum;
    enum nt_checksum_covers page_checksum_covers;
    const struct nt_locator_type *locator_types;
    uint32_t locator_type_count;
};

extern const struct nt_generation nt_generations[];
extern const uint32_t nt_generation_count;

/* The row for an anchor and the uncompressed (not yet verified) header and footer. NT_UNSUPPORTED where none
 * fits. */
enum nt_status nt_generation_find(const struct nt_anchor *anchor, const uint8_t *header, size_t header_bytes,
                                  const uint8_t *footer, size_t footer_bytes,
                                  const struct nt_generation **generation_ret, struct nt_error *error);

/* The encoding of a column type number, NT_ENCODING_UNKNOWN where the generation has no such number, and its
 * name in the specification (NULL for unknown ones). `writer` decides about the layout of old
 * switch columns. */
enum nt_encoding_kind nt_generation_encoding(const struct nt_generation *generation, struct nt_text writer,
                                             uint16_t number, const char **name_ret);

/* The name of a feature flag; NULL where the generation does not know it. */
const char *nt_generation_feature(const struct nt_generation *generation, uint32_t number);

const char *nt_footer_list_name(enum nt_footer_list list); /* "cluster_groups": JSON key */

#endif
