/* SPDX-License-Identifier: MIT
 *
 * The parts of an RNTuple dataset, from the anchor to the page lists (RNTuple binary format
 * specification), how the model is built from them, and the documents that show them.
 */
#pragma once

#include "container/container.h"
#include "core/base/bytes.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/builder.h"
#include "core/model/model.h"

struct nt_column_details;
struct nt_field_details;

/* ---- Payloads ---- */

/* Opens a source that reads payloads of `file_source`; the caller keeps owning that. A payload of more
 * than `maximum_key_bytes` is split into several keys: its first key ends with the little-endian 64-bit
 * offsets of the others. 0: payloads are never split. A read with a payload's own offset and full size
 * returns its bytes joined; every other read returns the bytes of the file. */
enum nt_status nt_payload_source_new(struct nt_source *file_source, uint64_t maximum_key_bytes,
                                     struct nt_source **source_ret, struct nt_error *error);

/* Is a payload a single extent, within the file? */
bool nt_payload_is_whole(const struct nt_source *payload_source, uint64_t offset, uint64_t bytes);

/* Finds the extents of the payload of `bytes` bytes at `offset`: one or several, from malloc. */
enum nt_status nt_payload_extents(struct nt_source *payload_source, uint64_t offset, uint64_t bytes,
                                  struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error);

/* ---- Anchor ---- */

enum nt_anchor_layout {
    NT_ANCHOR_58_BYTES, /* 32-bit sizes, no version, no checksum */
    NT_ANCHOR_70_BYTES, /* version, 64-bit sizes, checksum within the object */
    NT_ANCHOR_78_BYTES, /* the same with a maximum key size; the checksum follows the object */
    NT_ANCHOR_LAYOUT_COUNT
};

/* The place of the header or footer: bytes from the start of the file. */
struct nt_anchor_link {
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t length; /* uncompressed */
};

struct nt_anchor {
    enum nt_anchor_layout layout;
    uint64_t offset, stored_bytes; /* of the anchor itself */
    uint32_t length;               /* 0: the anchor could not be read, and nothing below is set */
    const char *class_name;
    uint16_t class_version;
    uint16_t epoch, major, minor, patch; /* 0.0.0.0 if the layout has none */
    struct nt_anchor_link header, footer;
    uint64_t maximum_key_bytes; /* 0: payloads are never split */
    uint64_t checksum;          /* XXH3 of the fields; 0 if the layout has none */
};

/* Reads and verifies an anchor object. NT_CORRUPT, NT_CHECKSUM, NT_TRUNCATED. After NT_CHECKSUM the
 * anchor is still set, so that documents can show what is stored. */
enum nt_status nt_anchor_read(const struct nt_anchor_object *object, struct nt_anchor *anchor_ret,
                              struct nt_error *error);

/* ---- Anchor in an object store ---- */

struct nt_store_anchor {
    struct nt_anchor anchor; /* header and footer are in objects; core/base/scheme.h defines their offsets */
    uint64_t version;        /* of the anchor */
    struct nt_text url_template;
    const char *name; /* of the objects, relative to the anchor's address; contains NT_OBJECT_NUMBER */
};

/* Reads and verifies a JSON anchor. NT_CORRUPT, NT_CHECKSUM, NT_UNSUPPORTED. The anchor is also set
 * after NT_CHECKSUM; `name` is NULL if the anchor is not set. */
enum nt_status nt_store_anchor_read(struct nt_text text, struct nt_arena *arena,
                                    struct nt_store_anchor *anchor_ret, struct nt_error *error);

/* ---- Generations of the format ---- */

/* The preamble and checksum of envelopes and the widths of their frames. */
struct nt_framing {
    const char *name; /* for JSON */
    uint32_t preamble_bytes;
    /* The preamble is u64 type | length << 16; else u16 version, u16 minimum version. */
    bool has_type_and_length;
    enum nt_checksum_kind checksum; /* follows the payload and covers all bytes before it */
    uint32_t frame_size_bytes;      /* width of a frame's size */
    uint32_t frame_item_mask;       /* the bits of a list frame's item count */
    uint32_t link_length_bytes;     /* width of the uncompressed size in an envelope link */
    uint32_t cluster_flag_bits;     /* top bits of the number of entries in a cluster summary */
};

struct nt_column_type {
    uint16_t number;
    enum nt_encoding_kind encoding;
};

enum nt_locator_kind {
    NT_LOCATOR_FILE,     /* a byte range of the file */
    NT_LOCATOR_LARGE,    /* the same with a 64-bit size */
    NT_LOCATOR_URI,      /* external: the payload is the URI */
    NT_LOCATOR_OBJECT64, /* an object of an object store; external unless the dataset is in one */
    NT_LOCATOR_MULTI,    /* external: a part of an object that holds several pages */
    NT_LOCATOR_UNKNOWN,  /* external: the payload is kept as stored */
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

/* The frame that follows the header's checksum in the footer; it distinguishes the two CRC32 drafts. */
enum nt_footer_start { NT_FOOTER_STARTS_ANY, NT_FOOTER_STARTS_LIST, NT_FOOTER_STARTS_RECORD };

enum { NT_MAX_FOOTER_LISTS = 5 };

struct nt_generation {
    const char *name;
    const char *reason; /* why a file is identified as this generation */

    /* Identification. */
    enum nt_anchor_layout anchor_layout;
    uint16_t epoch, first_major, last_major; /* 0, 0, 0 if the anchor has no version */
    bool is_predraft;                        /* header starts with version 0: predraft.c reads it */
    enum nt_footer_start footer_start;

    /* Envelopes and frames. */
    const struct nt_framing *framing;
    const struct nt_feature *features; /* the known feature flags */
    uint32_t feature_count;

    /* Schema. */
    bool has_release_candidate_tag;
    bool has_early_field_values; /* array size, source field, type checksum precede the field's texts */
    uint16_t field_flags;        /* the known flags */
    /* A field is unknown unless its version is 0; without this, the number has no meaning. */
    bool has_field_versions;
    bool has_representations;           /* column: u16 flags, u16 representation; else u32 flags */
    uint16_t deferred_flag, range_flag; /* bits of a column's flags; 0: not used */
    /* u32 content, u32 version, name, content; else u32 from, u32 to, u32 content, name. */
    bool has_extra_type_content;
    const struct nt_column_type *column_types;
    uint32_t column_type_count;
    enum nt_encoding_kind switch_encoding;
    /* Writers "ROOT v<major>.<minor>" before this one packed a switch as 32|32 bits; 0: none did. */
    uint32_t first_wide_switch_major, first_wide_switch_minor;

    /* Footer and page lists. */
    bool has_schema_extension;
    enum nt_footer_list footer_lists[NT_MAX_FOOTER_LISTS]; /* the last ones may be omitted */
    uint16_t attribute_set_major; /* the known version of the schema of attribute sets */
    bool has_summaries_in_page_list;
    bool has_entry_range_in_cluster_group;
    bool has_sharded_clusters;  /* cluster flag 1: a column group follows; otherwise it is an error */
    uint32_t page_element_bits; /* 30: two flag bits say if a checksum follows the page; 31: the sign */
    enum nt_checksum_kind page_checksum;
    enum nt_checksum_covers page_checksum_covers;
    const struct nt_locator_type *locator_types;
    uint32_t locator_type_count;
};

extern const struct nt_generation nt_generations[];
extern const uint32_t nt_generation_count;

/* Finds the generation for an anchor and the uncompressed, not yet verified header and footer.
 * NT_UNSUPPORTED if none matches. */
enum nt_status nt_generation_find(const struct nt_anchor *anchor, const uint8_t *header, size_t header_bytes,
                                  const uint8_t *footer, size_t footer_bytes,
                                  const struct nt_generation **generation_ret, struct nt_error *error);

/* Returns the encoding of a column type number and its name in the specification; NT_ENCODING_UNKNOWN
 * and NULL if the generation has no such number. `writer` decides the layout of old switch columns. */
enum nt_encoding_kind nt_generation_encoding(const struct nt_generation *generation, struct nt_text writer,
                                             uint16_t number, const char **name_ret);

/* The name of a feature flag; NULL if the generation does not know it. */
const char *nt_generation_feature(const struct nt_generation *generation, uint32_t number);

const char *nt_footer_list_name(enum nt_footer_list list); /* "cluster_groups": JSON key */

/* ---- Locators and envelope links ---- */

struct nt_locator {
    enum nt_locator_kind kind;
    uint8_t type;     /* as stored; 0 for the standard form */
    uint8_t reserved; /* as stored */
    /* In the file; OBJECT64: the object's address; MULTI: the object's number and an offset in it. */
    uint64_t offset;
    uint64_t bytes;         /* stored bytes; 0 if the locator has no size (URI, unknown) */
    struct nt_text payload; /* URI, MULTI, unknown: the bytes; they are in the envelope */
};

/* An envelope link: the uncompressed size, then a locator. */
struct nt_envelope_link {
    uint64_t length;
    struct nt_locator locator;
};

/* Reads a locator; the cursor fails if it does not fit. An unknown locator type is not an error. */
struct nt_locator nt_locator_read(struct nt_cursor *cursor, const struct nt_generation *generation);
struct nt_envelope_link nt_envelope_link_read(struct nt_cursor *cursor,
                                              const struct nt_generation *generation);

/* Are the bytes in the file? */
bool nt_locator_is_local(const struct nt_locator *locator);
/* Returns NT_UNSUPPORTED: `what` is not in the file. The message has the locator's kind and target. */
enum nt_status nt_fail_elsewhere(struct nt_error *error, const char *what, const struct nt_locator *locator);

/* Converts a place in an object of a store to an offset in the source of all objects (core/base/scheme.h).
 * NT_UNSUPPORTED if the object's number or the range is too large; the message begins with `what`. */
enum nt_status nt_object_address(const char *what, uint64_t object, uint64_t offset, uint64_t bytes,
                                 uint64_t *address_ret, struct nt_error *error);
/* Does the same for an OBJECT64 locator of a dataset in an object store, in place; other external
 * locators do not change. NT_CORRUPT if the locator refers to a place in a file. */
enum nt_status nt_locator_find_object(struct nt_locator *locator, const char *what, struct nt_error *error);

/* Writes members of an open JSON object. */
void nt_locator_describe(struct nt_json *json, const struct nt_locator *locator);
/* Appends one line of text, e.g. "URI https://…". */
void nt_locator_text(struct nt_buffer *out, const struct nt_locator *locator);

/* Writes "decoded_bytes", then the locator's members. */
void nt_envelope_link_describe(struct nt_json *json, const struct nt_envelope_link *link);

/* ---- Envelopes ---- */

enum nt_envelope_kind {
    NT_ENVELOPE_ANCHOR = 0, /* of an attribute set: linked like an envelope, but not framed like one */
    NT_ENVELOPE_HEADER = 1, /* the numbers are the type ids of the specification */
    NT_ENVELOPE_FOOTER = 2,
    NT_ENVELOPE_PAGE_LIST = 3,
    NT_ENVELOPE_USER_METADATA = 4,
};
const char *nt_envelope_name(enum nt_envelope_kind kind); /* "page list" */

struct nt_envelope {
    struct nt_budget *budget; /* of the file; it counts the bytes until the envelope is freed */
    bool is_borrowed;         /* another envelope owns the bytes */
    const struct nt_generation *generation;
    enum nt_envelope_kind kind;
    uint64_t offset; /* in the file, or in an object: */
    bool is_in_object;
    uint64_t object;
    uint8_t *bytes; /* uncompressed, with preamble and checksum */
    size_t length;
    uint64_t counted; /* bytes that count as metadata; withdrawn if they are damaged */
    uint64_t checksum;
    struct nt_cursor payload; /* the bytes between preamble and checksum */
};

void nt_envelope_deinit(struct nt_envelope *envelope);
/* Returns another view of a verified envelope, at the start of its payload. The view is valid as long
 * as `envelope`; the caller deinitialises it, too. */
struct nt_envelope nt_envelope_borrow(const struct nt_envelope *envelope);

/* Reads `stored_bytes` at `offset` and decompresses them into `length` bytes. Verifies nothing.
 * NT_LIMIT if the budget is too small; the bytes that were read still count. */
enum nt_status nt_envelope_read(struct nt_source *source, struct nt_budget *budget,
                                enum nt_envelope_kind kind, const struct nt_anchor_link *range,
                                struct nt_envelope *envelope_ret, struct nt_error *error);
/* Verifies length, type and checksum for the generation; sets generation, checksum and payload. */
enum nt_status nt_envelope_verify(struct nt_envelope *envelope, const struct nt_generation *generation,
                                  struct nt_error *error);
/* Reads and verifies the envelope of a link. NT_UNSUPPORTED if the envelope is not in the file. */
enum nt_status nt_envelope_load(struct nt_source *source, struct nt_budget *budget,
                                const struct nt_generation *generation, enum nt_envelope_kind kind,
                                const struct nt_envelope_link *link, struct nt_envelope *envelope_ret,
                                struct nt_error *error);

/* Fails with "<envelope>, byte <position>: <message>"; returns `status`. */
enum nt_status nt_envelope_fail(const struct nt_envelope *envelope, const struct nt_cursor *at,
                                enum nt_status status, struct nt_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* NT_OK, or NT_CORRUPT if the cursor ran past its end. */
enum nt_status nt_envelope_check(const struct nt_envelope *envelope, const struct nt_cursor *cursor,
                                 const char *what, struct nt_error *error);

/* ---- Frames, strings and feature flags ---- */

struct nt_frame {
    struct nt_cursor payload; /* bounded by the frame */
    uint32_t items;           /* of a list */
};

/* Reads a record frame or a list frame and moves `cursor` past it, whatever it contains. Messages call
 * it `what`. A list must have room for its items of at least `item_bytes` each. */
enum nt_status nt_record_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor, const char *what,
                               struct nt_frame *frame_ret, struct nt_error *error);
enum nt_status nt_list_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor, const char *what,
                             uint32_t item_bytes, struct nt_frame *frame_ret, struct nt_error *error);
/* Does a list frame that fits start at the cursor? */
bool nt_list_frame_follows(const struct nt_envelope *envelope, const struct nt_cursor *cursor);
/* The size of the smallest record frame or list frame, to compute `item_bytes`. */
uint32_t nt_record_frame_bytes(const struct nt_generation *generation);
uint32_t nt_list_frame_bytes(const struct nt_generation *generation);

/* The items of a list. Those in frames are structures that begin with `size_t unknown_bytes`: the bytes of
 * the frame after all known members. */
struct nt_record_kind {
    const char *name; /* of an item: "field" */
    uint32_t bytes;   /* the least that an item has, without its frame */
    size_t size;      /* of the structure */
    /* Returns why the item is not supported, or NULL. */
    const char *(*read)(const struct nt_generation *generation, struct nt_cursor *cursor, void *record);
    bool is_bare; /* without a frame */
};

uint32_t nt_record_bytes(const struct nt_generation *generation, const struct nt_record_kind *kind);
enum nt_status nt_record_read(const struct nt_envelope *envelope, struct nt_cursor *list,
                              const struct nt_record_kind *kind, void *record_ret, struct nt_error *error);
/* Reads all items of a list into an array. */
enum nt_status nt_records_read(const struct nt_envelope *envelope, struct nt_frame *list,
                               const struct nt_record_kind *kind, void *records, struct nt_error *error);

/* Reads a string: u32 length and bytes. The envelope owns the bytes. Empty if the cursor fails. */
struct nt_text nt_get_text(struct nt_cursor *cursor);

/* The same, and numbers, with a label for the observer of the cursor. */
#define NT_DEFINE_LABELLED(name, type, get)                                                                  \
    static inline type name(struct nt_cursor *cursor, const char *whole, const char *what)                   \
    {                                                                                                        \
        type value = get(cursor);                                                                            \
        nt_cursor_label(cursor, whole, what);                                                                \
        return value;                                                                                        \
    }

NT_DEFINE_LABELLED(nt_labelled_le16, uint16_t, nt_get_le16)
NT_DEFINE_LABELLED(nt_labelled_le32, uint32_t, nt_get_le32)
NT_DEFINE_LABELLED(nt_labelled_le64, uint64_t, nt_get_le64)
NT_DEFINE_LABELLED(nt_labelled_real64, double, nt_get_le_real64)
NT_DEFINE_LABELLED(nt_labelled_text, struct nt_text, nt_get_text)

#undef NT_DEFINE_LABELLED

/* ---- Feature flags ---- */

enum { NT_MAX_FEATURE_WORDS = 16 };

struct nt_feature_flags {
    int64_t words[NT_MAX_FEATURE_WORDS]; /* as stored */
    uint32_t count;
};

/* Reads the words. NT_UNSUPPORTED, with the number of the flag, if an unknown flag is set. */
enum nt_status nt_feature_flags_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                     struct nt_feature_flags *flags_ret, struct nt_error *error);

/* ---- Schema description ---- */

enum nt_field_flags {
    NT_FIELD_REPETITIVE = 1,
    NT_FIELD_PROJECTED = 2,
    NT_FIELD_HAS_TYPE_CHECKSUM = 4,
    NT_FIELD_IS_STRUCTURE_OF_ARRAYS = 8, /* a collection whose class has one array per member */
};

/* The envelope owns the texts. */
struct nt_field_record {
    size_t unknown_bytes;
    uint64_t id;        /* explicit in the predraft, else the position */
    uint64_t parent_id; /* its own id: top level */
    uint32_t field_version, type_version;
    uint16_t role, flags;
    uint64_t repetition;    /* if flag 1 is set */
    uint64_t source_id;     /* if flag 2 is set */
    uint32_t type_checksum; /* if flag 4 is set */
    struct nt_text name, type, alias, description;
};

struct nt_column_record {
    uint64_t id; /* first: nt_compare_u64 sorts by it */
    size_t unknown_bytes;
    uint64_t field_id;
    uint16_t type_number, bits;
    uint32_t flags;
    uint16_t representation;
    bool is_deferred, has_range;
    int64_t first_element;
    double minimum, maximum;
};

struct nt_alias_record {
    size_t unknown_bytes;
    uint32_t physical_column, field;
};

struct nt_extra_type_record {
    size_t unknown_bytes;
    uint32_t content_id;
    uint32_t version_from, version_to; /* one number in the final form */
    struct nt_text type_name, content; /* drafts have no content */
};

/* Grows with each schema description that is read into it. */
struct nt_schema {
    struct nt_budget *budget; /* pays for fields and columns; NULL: there are none */
    const char *unreadable;   /* why no field has data; NULL: fields may have some */
    uint32_t fields_taken, columns_taken;
    struct nt_field_record *fields;
    struct nt_column_record *columns;
    struct nt_alias_record *aliases;
    struct nt_extra_type_record *extra_types;
    uint32_t field_count, column_count, alias_count, extra_type_count;
};

void nt_schema_deinit(struct nt_schema *schema);
/* Returns the records' share to the budget: the dataset that is built from them counts it again. */
void nt_schema_release(struct nt_schema *schema);

/* Adds `count` zeroed records at the end. NT_LIMIT if the budget is too small. */
enum nt_status nt_schema_add_fields(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                    struct nt_field_record **fields_ret, struct nt_error *error);
enum nt_status nt_schema_add_columns(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                     struct nt_column_record **columns_ret, struct nt_error *error);

/* Reads the schema extension of the footer: a record with the four lists, which may be empty. */
enum nt_status nt_schema_read_extension(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                        struct nt_schema *schema, struct nt_error *error);

/* Builds the fields, columns and decoders of the dataset, in its arena, from a complete schema. Columns
 * are ordered by id. The generation and the dataset's writer decide the column types. */
enum nt_status nt_schema_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               struct nt_schema *schema, struct nt_error *error);

/* ---- Kinds of fields ---- */

/* A field's structural role, its columns and its type name decide its kind. Specification, "Mapping of
 * C++ Types to Fields and Columns". */
/* Maps a C++ type name ("std::int32_t", "Double32_t") to its element; false for all other types. */
bool nt_type_element(struct nt_text type, enum nt_element *element_ret);

/* Sets the kind and dtype of all fields of a linked dataset and, if a field has no readable data, the
 * reason. `records` are the stored records of the fields. */
enum nt_status nt_field_kinds_decide(struct nt_dataset *dataset, const struct nt_generation *generation,
                                     const struct nt_field_record *records, struct nt_error *error);

/* ---- Header envelope ---- */

/* The envelope owns the texts. */
struct nt_header {
    struct nt_feature_flags flags;
    uint32_t release_candidate_tag; /* if the generation has one */
    struct nt_text name, description, writer;
    size_t unknown_bytes;
};

/* Reads a verified header and appends its schema description to `schema`. */
enum nt_status nt_header_read(const struct nt_envelope *envelope, struct nt_header *header_ret,
                              struct nt_schema *schema, struct nt_error *error);

/* ---- Footer envelope ---- */

/* The entries of a cluster. Page lists have them, too. */
struct nt_cluster_summary {
    size_t unknown_bytes;
    uint64_t first_entry, entries;
    uint8_t flags;
    uint32_t column_group; /* NT_NONE: all columns */
};

struct nt_cluster_group_record {
    size_t unknown_bytes;
    uint64_t first_entry, entries; /* 0, 0 if the generation does not store them */
    uint32_t clusters;
    struct nt_envelope_link page_list;
};

/* The column ids of all groups, one group after the other. */
struct nt_column_group_records {
    uint32_t *columns;
    uint32_t *ends; /* of each group in `columns` */
    uint32_t count, column_count;
};

struct nt_attribute_set_record {
    size_t unknown_bytes;
    uint16_t major, minor; /* version of the attribute set's own schema */
    uint32_t anchor_length;
    struct nt_locator anchor;
    struct nt_text name;
};

/* The envelope owns the texts. */
struct nt_footer {
    struct nt_feature_flags flags;
    uint64_t header_checksum;
    struct nt_envelope_link *extension_headers, *user_metadata;
    struct nt_column_group_records column_groups;
    struct nt_cluster_summary *summaries;
    struct nt_cluster_group_record *groups;
    struct nt_attribute_set_record *attribute_sets;
    uint32_t extension_header_count, user_metadata_count, summary_count, group_count, attribute_set_count;
    size_t unknown_bytes;
};

void nt_footer_deinit(struct nt_footer *footer);

/* Reads a verified footer and appends its schema extension to `schema`. */
enum nt_status nt_footer_read(const struct nt_envelope *envelope, struct nt_footer *footer_ret,
                              struct nt_schema *schema, struct nt_error *error);

enum nt_status nt_cluster_summary_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_cluster_summary *summary_ret, struct nt_error *error);

/* NT_CORRUPT unless `found` is the header's checksum: the envelope belongs to another header. */
enum nt_status nt_header_checksum_check(const struct nt_envelope *envelope, uint64_t expected, uint64_t found,
                                        struct nt_error *error);

/* Builds the clusters, groups and column groups of the dataset, in its arena, from the footer; sets the
 * number of entries. */
enum nt_status nt_footer_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               const struct nt_footer *footer, struct nt_error *error);

/* ---- Page list envelope ---- */

struct nt_page_record {
    uint32_t elements;
    bool has_checksum;
    struct nt_locator locator;
};

/* The pages of a column in a cluster: read `pages.items` records from `pages.payload`, then finish. */
struct nt_column_pages {
    struct nt_frame pages;
    bool is_suppressed;
    uint64_t first_element;
    uint32_t compression_settings;
    size_t unknown_bytes;
};

/* The start of a page list: the header's checksum and the list of summaries (only if the generation has
 * them in page lists), then the list of clusters. */
struct nt_page_list {
    uint64_t header_checksum;
    struct nt_frame summaries;
    struct nt_frame clusters; /* each item is a list of columns */
    size_t unknown_bytes;
};

enum nt_status nt_page_list_read(const struct nt_envelope *envelope, struct nt_page_list *list_ret,
                                 struct nt_error *error);
/* Reads the list of a cluster's columns. */
enum nt_status nt_cluster_columns_read(const struct nt_envelope *envelope, struct nt_cursor *clusters,
                                       struct nt_frame *columns_ret, struct nt_error *error);
enum nt_status nt_column_pages_read(const struct nt_envelope *envelope, struct nt_cursor *columns,
                                    struct nt_column_pages *pages_ret, struct nt_error *error);
/* The cursor fails if the record does not fit. */
struct nt_page_record nt_page_record_read(const struct nt_envelope *envelope, struct nt_cursor *pages);
/* Reads what follows the last page record. */
enum nt_status nt_column_pages_finish(const struct nt_envelope *envelope, struct nt_column_pages *pages,
                                      struct nt_error *error);

/* Sets a group's ranges, pages and clusters from its verified page list. */
enum nt_status nt_page_list_build(struct nt_dataset *dataset, uint32_t group,
                                  const struct nt_envelope *envelope, uint64_t header_checksum,
                                  struct nt_error *error);

/* ---- Building ranges and pages ---- */

/* The external pages of a group, with their locators as text: nt_group.format_data. */
struct nt_external_page {
    uint32_t page; /* index in the group's pages, ascending */
    const char *locator;
};

struct nt_external_pages {
    struct nt_external_page *items;
    uint32_t count;
};

struct nt_page_builder {
    struct nt_group_builder group; /* ranges are begun here */
    const struct nt_envelope *envelope;
    struct nt_external_pages elsewhere;
    size_t elsewhere_capacity;
};

/* Creates the ranges of the group, all absent. NT_LIMIT if the file asks for too many. */
enum nt_status nt_page_builder_init(struct nt_page_builder *builder, struct nt_dataset *dataset,
                                    uint32_t group, const struct nt_envelope *envelope,
                                    struct nt_error *error);
/* Appends a page of the column to the range that was begun last. */
enum nt_status nt_page_builder_add(struct nt_page_builder *builder, uint32_t column,
                                   const struct nt_page_record *record, struct nt_error *error);
/* Hands ranges and pages over if `status` is NT_OK, else frees everything. Returns the final status. */
enum nt_status nt_page_builder_finish(struct nt_page_builder *builder, enum nt_status status,
                                      struct nt_error *error);

/* ---- Predraft format ---- */

struct nt_predraft_version {
    uint32_t version, minimum;
    uint64_t flags;
};

/* The envelope owns the texts. */
struct nt_predraft_header {
    struct nt_text name, description, author, custodian;
    uint64_t time_of_data, time_of_writing;
    struct nt_predraft_version version;
    struct nt_text own_uuid, group_uuid;
    size_t unknown_bytes;
};

/* Reads a verified header. The root field is omitted: its children become top-level fields. */
enum nt_status nt_predraft_header_read(const struct nt_envelope *envelope,
                                       struct nt_predraft_header *header_ret, struct nt_schema *schema,
                                       struct nt_error *error);

/* Reads a verified footer, for the observer of its cursor. */
enum nt_status nt_predraft_footer_read(const struct nt_envelope *envelope, struct nt_error *error);

/* nt_predraft_build puts all clusters, with their entries, into one cluster group. On the group's first
 * use nt_predraft_fill adds ranges and pages. */
enum nt_status nt_predraft_build(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                 struct nt_error *error);
enum nt_status nt_predraft_fill(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                struct nt_error *error);

/* ---- Open dataset ---- */

/* nt_dataset.format_data. Immutable after opening. */
struct nt_rntuple {
    struct nt_anchor anchor; /* only its place if it cannot be read */
    const struct nt_generation *generation;
    struct nt_source *objects; /* of a dataset in an object store; NULL: the dataset is in the file */
    /* Reads pages and envelopes and joins split ones; nt_dataset.sources[0]. */
    struct nt_source *payload;
    uint64_t header_checksum;
    uint16_t schema_major, schema_minor; /* of an attribute set: the version of its schema */
    /* Verified at opening and kept if small; otherwise without bytes. */
    struct nt_envelope header, footer;
    const struct nt_envelope_link *page_lists; /* one per cluster group; none in the predraft */
    uint32_t page_list_count;
    const struct nt_envelope_link *user_metadata;
    uint32_t user_metadata_count;
    /* By the index in the dataset; see rntuple.c. */
    const struct nt_field_details *fields;
    const struct nt_column_details *columns;
};

static inline const struct nt_rntuple *nt_rntuple_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* The datasets of a file that are RNTuples; its trees follow them. */
static inline uint32_t nt_rntuple_count(const struct nt_file *file)
{
    uint32_t first_tree = nt_container_of(file)->first_tree;
    return file->dataset_count < first_tree ? file->dataset_count : first_tree;
}

/* Makes a locator's offset valid in `payload`. In an object store it converts the locator: see
 * nt_locator_find_object. */
enum nt_status nt_rntuple_find(const struct nt_dataset *dataset, struct nt_locator *locator, const char *what,
                               struct nt_error *error);

/* Loads an envelope; `number` selects one of several (page lists). Reads header and footer again only
 * if they were not kept. */
enum nt_status nt_rntuple_load_envelope(const struct nt_dataset *dataset, enum nt_envelope_kind kind,
                                        uint32_t number, struct nt_envelope *envelope_ret,
                                        struct nt_error *error);

/* ---- Lost datasets: their records exist, but no list of keys and no footer refers to them ---- */

/* Adds lost datasets to an opened file, each with its failure, if there are signs of any. */
enum nt_status nt_rntuple_add_orphans(struct nt_file *file, struct nt_error *error);

/* Walks over the records and reports the lost datasets that the file does not list: see nt_file. */
enum nt_status nt_rntuple_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                                struct nt_error *error);

/* ---- documents.c: header.json, footer.bin, ... ---- */
extern const struct nt_document nt_rntuple_documents[];
extern const uint32_t nt_rntuple_document_count;

/* ---- envelope_json.c ---- */

enum nt_status nt_header_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                              struct nt_buffer *out, struct nt_error *error);
/* Writes the four lists of a schema description as members of an open object. In generations without
 * explicit ids, numbers of fields and columns start at `first_field` and `first_column`. */
void nt_schema_json(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_schema *schema,
                    uint32_t first_field, uint32_t first_column);

enum nt_status nt_footer_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                              struct nt_buffer *out, struct nt_error *error);
/* Writes "unknown_bytes" unless it is 0. */
void nt_unknown_bytes_json(struct nt_json *json, size_t bytes);

/* ---- envelope_json.c, predraft.c ---- */

enum nt_status nt_page_list_json_open(const struct nt_document_request *request,
                                      struct nt_text_generator **text_ret, struct nt_error *error);
enum nt_status nt_predraft_header_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                       struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_predraft_footer_json(const struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                       struct nt_buffer *out, struct nt_error *error);
enum nt_status nt_metadata_json(const struct nt_document_request *request, struct nt_buffer *out,
                                struct nt_error *error);
