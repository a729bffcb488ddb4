/* SPDX-License-Identifier: MIT
 *
 * RNTuple: the parts of a dataset from the anchor to the page lists (RNTuple binary format
 * specification), how they become the model, and the documents that show them.
 */
#ifndef NT_FORMATS_RNTUPLE_RNTUPLE_H
#define NT_FORMATS_RNTUPLE_RNTUPLE_H

#include "container/container.h"
#include "core/base/bytes.h"
#include "core/base/memory.h"
#include "core/codec/codec.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/builder.h"
#include "core/model/model.h"

struct nt_arena;
struct nt_column_details;
struct nt_field_details;

/* ---- Payloads ---- */

/* A source that reads payloads of `file_source`, which stays the
 * caller's. A payload of more than `maximum_key_bytes` lies in several keys: its first key ends with the
 * little-endian 64-bit offsets of the others. 0: payloads are never split. Reading with the payload's own
 * offset and full size gives its bytes joined; every other read is of the file as it is. */
enum nt_status nt_payload_source_new(struct nt_source *file_source, uint64_t maximum_key_bytes,
                                     struct nt_source **source_ret, struct nt_error *error);

/* Where the payload at `offset` of `bytes` bytes lies: one extent or several (from malloc). */
enum nt_status nt_payload_extents(struct nt_source *payload_source, uint64_t offset, uint64_t bytes,
                                  struct nt_extent **extents_ret, size_t *count_ret, struct nt_error *error);

/* ---- Anchor ---- */

enum nt_anchor_layout {
    NT_ANCHOR_58_BYTES, /* 32-bit sizes, no version, no checksum */
    NT_ANCHOR_70_BYTES, /* version, 64-bit sizes, checksum within the object */
    NT_ANCHOR_78_BYTES, /* the same with a maximum key size; the checksum follows the object */
    NT_ANCHOR_LAYOUT_COUNT
};

/* Where header or footer lies: bytes from the start of the file. */
struct nt_anchor_link {
    uint64_t offset;
    uint64_t stored_bytes;
    uint64_t length; /* uncompressed */
};

struct nt_anchor {
    enum nt_anchor_layout layout;
    uint64_t offset, stored_bytes; /* of the anchor itself */
    uint32_t length;               /* 0: it was not read, and nothing below is known */
    const char *class_name;
    uint16_t class_version;
    uint16_t epoch, major, minor, patch; /* 0.0.0.0 where the layout has none */
    struct nt_anchor_link header, footer;
    uint64_t maximum_key_bytes; /* 0: payloads are never split */
    uint64_t checksum;          /* XXH3 of the fields; 0 where the layout has none */
};

/* Read and verify an anchor object. NT_CORRUPT, NT_CHECKSUM, NT_TRUNCATED. Where nothing but the checksum is
 * wrong, the anchor is there all the same, for those who show what is stored. */
enum nt_status nt_anchor_read(const struct nt_anchor_object *object, struct nt_anchor *anchor_ret,
                              struct nt_error *error);

/* ---- Anchor in an object store ---- */

struct nt_store_anchor {
    struct nt_anchor anchor; /* header and footer lie in objects: their places are those of io/objects.h */
    uint64_t version;        /* of the anchor */
    struct nt_text url_template;
    const char *name; /* of the objects, beneath the anchor's address, with NT_OBJECT_NUMBER in it */
};

/* Read and verify one. NT_CORRUPT, NT_CHECKSUM, NT_UNSUPPORTED. Where nothing but the checksum is wrong it is there all the same: then, and
 * only then, has it a name. */
enum nt_status nt_store_anchor_read(struct nt_text text, struct nt_arena *arena,
                                    struct nt_store_anchor *anchor_ret, struct nt_error *error);

/* ---- Generations of the format ---- */

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
    NT_LOCATOR_OBJECT64, /* an object of an object store: elsewhere, but for datasets that lie in one */
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
    enum nt_footer_list footer_lists[NT_MAX_FOOTER_LISTS]; /* those at the end may be omitted */
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

/* ---- Locators and envelope links ---- */

struct nt_locator {
    enum nt_locator_kind kind;
    uint8_t type;     /* as stored; 0 for the standard form */
    uint8_t reserved; /* as stored */
    uint64_t
        offset; /* in the file; the object's address for OBJECT64, its number and a place in it for MULTI */
    uint64_t bytes;         /* stored bytes; 0 where the locator does not tell them (URI, unknown) */
    struct nt_text payload; /* URI, MULTI, unknown: the bytes, within the envelope */
};

/* An envelope link: the uncompressed size, then a locator. */
struct nt_envelope_link {
    uint64_t length;
    struct nt_locator locator;
};

/* Read one; the cursor fails where it does not fit. Locators of an unknown type are no failure. */
struct nt_locator nt_locator_read(struct nt_cursor *cursor, const struct nt_generation *generation);
struct nt_envelope_link nt_envelope_link_read(struct nt_cursor *cursor,
                                              const struct nt_generation *generation);

/* True where the bytes are in the file. */
bool nt_locator_is_local(const struct nt_locator *locator);
/* NT_UNSUPPORTED: `what` is not there, but where the locator, named by its kind, leads to. */
enum nt_status nt_fail_elsewhere(struct nt_error *error, const char *what, const struct nt_locator *locator);

/* Where bytes of an object of a store lie in the source of all of them (io/objects.h). NT_UNSUPPORTED where its number, or what is wanted of it,
 * is too large; the message begins with `what`. */
enum nt_status nt_object_address(const char *what, uint64_t object, uint64_t offset, uint64_t bytes,
                                 uint64_t *address_ret, struct nt_error *error);
/* The same of a locator in a dataset of objects, which becomes one of that source; URIs and what is not known stay as they are. NT_CORRUPT of
 * a place in a file. */
enum nt_status nt_locator_find_object(struct nt_locator *locator, const char *what, struct nt_error *error);

/* Members of an open JSON object. */
void nt_locator_describe(struct nt_json *json, const struct nt_locator *locator);
/* One line for people, e.g. "URI https://…". */
void nt_locator_text(struct nt_buffer *out, const struct nt_locator *locator);

/* "decoded_bytes", then the locator's members. */
void nt_envelope_link_describe(struct nt_json *json, const struct nt_envelope_link *link);

/* ---- Envelopes ---- */

enum nt_envelope_kind {
    NT_ENVELOPE_ANCHOR = 0, /* of an attribute set: stored like an envelope, but without one's framing */
    NT_ENVELOPE_HEADER = 1, /* the numbers are the specification's type ids */
    NT_ENVELOPE_FOOTER = 2,
    NT_ENVELOPE_PAGE_LIST = 3,
    NT_ENVELOPE_USER_METADATA = 4,
};
const char *nt_envelope_name(enum nt_envelope_kind kind); /* "page list" */

struct nt_envelope {
    struct nt_budget *budget; /* of the file, which counts the bytes while they are here */
    bool is_borrowed;         /* the bytes are another's */
    const struct nt_generation *generation;
    enum nt_envelope_kind kind;
    uint64_t offset; /* in the file, or in an object: */
    bool is_in_object;
    uint64_t object;
    uint8_t *bytes; /* uncompressed, with preamble and checksum */
    size_t length;
    uint64_t counted; /* as metadata that were read, unless they are damaged */
    uint64_t checksum;
    struct nt_cursor payload; /* what stands between preamble and checksum */
};

void nt_envelope_deinit(struct nt_envelope *envelope);
/* A verified envelope once more, from its payload's start; valid as long as `envelope`, to be ended
 * as well. */
struct nt_envelope nt_envelope_borrow(const struct nt_envelope *envelope);

/* Read and decompress `stored_bytes` at `offset` into `length` bytes; nothing is verified yet. NT_LIMIT where
 * the budget does not have them, though what was read of them counts. */
enum nt_status nt_envelope_read(struct nt_source *source, struct nt_budget *budget,
                                enum nt_envelope_kind kind, const struct nt_anchor_link *place,
                                struct nt_envelope *envelope_ret, struct nt_error *error);
/* Verify length, type and checksum as the generation has them; sets generation, checksum and payload. */
enum nt_status nt_envelope_verify(struct nt_envelope *envelope, const struct nt_generation *generation,
                                  struct nt_error *error);
/* Both, from a link. NT_UNSUPPORTED where the envelope is not in the file. */
enum nt_status nt_envelope_load(struct nt_source *source, struct nt_budget *budget,
                                const struct nt_generation *generation, enum nt_envelope_kind kind,
                                const struct nt_envelope_link *link, struct nt_envelope *envelope_ret,
                                struct nt_error *error);

/* Fail with "<envelope>, byte <position>: <message>"; returns `status`. */
enum nt_status nt_envelope_fail(const struct nt_envelope *envelope, const struct nt_cursor *at,
                                enum nt_status status, struct nt_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* NT_OK, or NT_CORRUPT where the cursor ran over its end. */
enum nt_status nt_envelope_check(const struct nt_envelope *envelope, const struct nt_cursor *cursor,
                                 const char *what, struct nt_error *error);

/* ---- Frames, strings and feature flags ---- */

struct nt_frame {
    struct nt_cursor payload; /* bounded by the frame */
    uint32_t items;           /* of a list */
};

/* Read a record frame or a list frame and skip it: `cursor` stands behind it, whatever it holds. `what` names
 * it in messages. A list must have room for its items of at least `item_bytes` each. */
enum nt_status nt_record_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor, const char *what,
                               struct nt_frame *frame_ret, struct nt_error *error);
enum nt_status nt_list_frame(const struct nt_envelope *envelope, struct nt_cursor *cursor, const char *what,
                             uint32_t item_bytes, struct nt_frame *frame_ret, struct nt_error *error);
/* True where a list frame that fits stands at the cursor. */
bool nt_list_frame_follows(const struct nt_envelope *envelope, const struct nt_cursor *cursor);
/* Smallest record and list frame, for `item_bytes`. */
uint32_t nt_record_frame_bytes(const struct nt_generation *generation);
uint32_t nt_list_frame_bytes(const struct nt_generation *generation);

/* A string: u32 length and bytes, which stay the envelope's. Empty where the cursor fails. */
struct nt_text nt_get_text(struct nt_cursor *cursor);

/* ---- feature flags ---- */

enum { NT_MAX_FEATURE_WORDS = 16 };

struct nt_feature_flags {
    int64_t words[NT_MAX_FEATURE_WORDS]; /* as stored */
    uint32_t count;
};

/* Read the words; NT_UNSUPPORTED for a flag that is set and that the generation does not know, by its number. */
enum nt_status nt_feature_flags_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                     struct nt_feature_flags *flags_ret, struct nt_error *error);

/* ---- Schema description ---- */

enum nt_field_flags {
    NT_FIELD_REPETITIVE = 1,
    NT_FIELD_PROJECTED = 2,
    NT_FIELD_HAS_TYPE_CHECKSUM = 4,
    NT_FIELD_IS_STRUCTURE_OF_ARRAYS = 8, /* a collection whose class has an array for each member */
};

/* Texts are the envelope's. `unknown_bytes`: what the frame has behind all that is known. */
struct nt_field_record {
    uint64_t id;        /* explicit in the predraft, else the position */
    uint64_t parent_id; /* its own id: top level */
    uint32_t field_version, type_version;
    uint16_t role, flags;
    uint64_t repetition;    /* where flag 1 is set */
    uint64_t source_id;     /* where flag 2 is set */
    uint32_t type_checksum; /* where flag 4 is set */
    struct nt_text name, type, alias, description;
    size_t unknown_bytes;
};

struct nt_column_record {
    uint64_t id;
    uint64_t field_id;
    uint16_t type_number, bits;
    uint32_t flags;
    uint16_t representation;
    bool is_deferred, has_range;
    int64_t first_element;
    double minimum, maximum;
    size_t unknown_bytes;
};

struct nt_alias_record {
    uint32_t physical_column, field;
    size_t unknown_bytes;
};

struct nt_extra_type_record {
    uint32_t content_id;
    uint32_t version_from, version_to; /* one number in the final form */
    struct nt_text type_name, content; /* drafts have no content */
    size_t unknown_bytes;
};

/* Grows with each schema description that is read into it. */
struct nt_schema {
    struct nt_budget *budget; /* that fields and columns are taken from; NULL: there are none */
    const char *unreadable;   /* why no field has data; NULL: fields may have some */
    uint32_t fields_taken, columns_taken;
    struct nt_field_record *fields;
    struct nt_column_record *columns;
    struct nt_alias_record *aliases;
    struct nt_extra_type_record *extra_types;
    uint32_t field_count, column_count, alias_count, extra_type_count;
};

void nt_schema_deinit(struct nt_schema *schema);
/* Give back to the budget what the records took, as who makes a dataset of them counts that again. */
void nt_schema_release(struct nt_schema *schema);

/* Room for `count` more at the end, zeroed. NT_LIMIT where the budget does not have them. */
enum nt_status nt_schema_add_fields(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                    struct nt_error *error);
enum nt_status nt_schema_add_columns(struct nt_schema *schema, struct nt_budget *budget, uint32_t count,
                                     struct nt_error *error);

/* The footer's schema extension: a record with the four lists, which may be empty. */
enum nt_status nt_schema_read_extension(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                        struct nt_schema *schema, struct nt_error *error);

/* Turn a complete schema into the dataset's fields, columns and decoders (its arena); columns stand by id.
 * The generation and the dataset's writer decide about column types. */
enum nt_status nt_schema_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               struct nt_schema *schema, struct nt_error *error);

/* ---- what a field's rows are made of ---- */

/* Decided by its structural role, its columns and its type name. Specification, "Mapping of C++ Types to
 * Fields and Columns". */
/* The element that a C++ type name stands for ("std::int32_t", "Double32_t"); false for all other types. */
bool nt_type_element(struct nt_text type, enum nt_element *element_ret);

/* Set kind, dtype and, where the data cannot be served, the reason of all fields of a linked dataset.
 * `records` are the fields' own, as stored. */
enum nt_status nt_field_kinds_decide(struct nt_dataset *dataset, const struct nt_generation *generation,
                                     const struct nt_field_record *records, struct nt_error *error);

/* ---- Header envelope ---- */

/* Texts are the envelope's. */
struct nt_header {
    struct nt_feature_flags flags;
    uint32_t release_candidate_tag; /* where the generation has one */
    struct nt_text name, description, writer;
    size_t unknown_bytes;
};

/* Read a verified header; its schema description is appended to `schema`. */
enum nt_status nt_header_read(const struct nt_envelope *envelope, struct nt_header *header_ret,
                              struct nt_schema *schema, struct nt_error *error);

/* ---- Footer envelope ---- */

/* Entries of a cluster. Also in page lists. */
struct nt_cluster_summary {
    uint64_t first_entry, entries;
    uint8_t flags;
    uint32_t column_group; /* NT_NONE: all columns */
    size_t unknown_bytes;
};

struct nt_cluster_group_record {
    uint64_t first_entry, entries; /* 0, 0 where the generation does not tell */
    uint32_t clusters;
    struct nt_envelope_link page_list;
    size_t unknown_bytes;
};

/* Column ids of all groups, one after the other. */
struct nt_column_group_records {
    uint32_t *columns;
    uint32_t *ends; /* of each group in `columns` */
    uint32_t count, column_count;
};

struct nt_attribute_set_record {
    uint16_t major, minor; /* version of the attribute set's own schema */
    uint32_t anchor_length;
    struct nt_locator anchor;
    struct nt_text name;
    size_t unknown_bytes;
};

/* Texts are the envelope's. */
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

/* Read a verified footer; its schema extension is appended to `schema`. */
enum nt_status nt_footer_read(const struct nt_envelope *envelope, struct nt_footer *footer_ret,
                              struct nt_schema *schema, struct nt_error *error);

enum nt_status nt_cluster_summary_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_cluster_summary *summary_ret, struct nt_error *error);

/* NT_OK where `found` is the header's checksum, else NT_CORRUPT: the envelope belongs to another header. */
enum nt_status nt_header_checksum_check(const struct nt_envelope *envelope, uint64_t expected, uint64_t found,
                                        struct nt_error *error);

/* Turn the footer's clusters, groups and column groups into the dataset's (its arena), and set
 * its entries. */
enum nt_status nt_footer_build(struct nt_dataset *dataset, const struct nt_generation *generation,
                               const struct nt_footer *footer, struct nt_error *error);

/* ---- Page list envelope ---- */

struct nt_page_record {
    uint32_t elements;
    bool has_checksum;
    struct nt_locator locator;
};

/* The pages of a column in a cluster: read `pages.items` page records from `pages.payload`, then the rest. */
struct nt_column_pages {
    struct nt_frame pages;
    bool is_suppressed;
    uint64_t first_element;
    uint32_t compression_settings;
    size_t unknown_bytes;
};

/* A page list's beginning: the header's checksum, the list of summaries (both only where the generation has
 * them in page lists) and the list of clusters. */
struct nt_page_list {
    uint64_t header_checksum;
    struct nt_frame summaries;
    struct nt_frame clusters; /* a list of columns each */
    size_t unknown_bytes;
};

enum nt_status nt_page_list_read(const struct nt_envelope *envelope, struct nt_page_list *list_ret,
                                 struct nt_error *error);
/* The list of a cluster's columns. */
enum nt_status nt_cluster_columns_read(const struct nt_envelope *envelope, struct nt_cursor *clusters,
                                       struct nt_frame *columns_ret, struct nt_error *error);
enum nt_status nt_column_pages_read(const struct nt_envelope *envelope, struct nt_cursor *columns,
                                    struct nt_column_pages *pages_ret, struct nt_error *error);
/* The cursor fails where the record does not fit. */
struct nt_page_record nt_page_record_read(const struct nt_envelope *envelope, struct nt_cursor *pages);
/* What stands behind the last page record. */
enum nt_status nt_column_pages_finish(const struct nt_envelope *envelope, struct nt_column_pages *pages,
                                      struct nt_error *error);

/* Fill a group's ranges, pages and clusters from its verified page list. */
enum nt_status nt_page_list_build(struct nt_dataset *dataset, uint32_t group,
                                  const struct nt_envelope *envelope, uint64_t header_checksum,
                                  struct nt_error *error);

/* ---- Building ranges and pages ---- */

/* Pages of a group that are not in the file, with the text of their locator: nt_group.format_data. */
struct nt_external_page {
    uint32_t page; /* index in the group's pages, ascending */
    const char *locator;
};

struct nt_external_pages {
    struct nt_external_page *items;
    uint32_t count;
};

struct nt_page_builder {
    struct nt_group_builder group; /* its ranges are begun there */
    const struct nt_envelope *envelope;
    struct nt_external_pages elsewhere;
    size_t elsewhere_capacity;
};

/* Make the group's ranges: all absent. NT_LIMIT where the file may not ask for so many. */
enum nt_status nt_page_builder_init(struct nt_page_builder *builder, struct nt_dataset *dataset,
                                    uint32_t group, const struct nt_envelope *envelope,
                                    struct nt_error *error);
/* Append a page of the column to the range that was begun last. */
enum nt_status nt_page_builder_add(struct nt_page_builder *builder, uint32_t column,
                                   const struct nt_page_record *record, struct nt_error *error);
/* Hand ranges and pages over where `status` is NT_OK, else free everything; returns the final status. */
enum nt_status nt_page_builder_finish(struct nt_page_builder *builder, enum nt_status status,
                                      struct nt_error *error);

/* ---- Predraft format ---- */

struct nt_predraft_version {
    uint32_t version, minimum;
    uint64_t flags;
};

/* Texts are the envelope's. */
struct nt_predraft_header {
    struct nt_text name, description, author, custodian;
    uint64_t time_of_data, time_of_writing;
    struct nt_predraft_version version;
    struct nt_text own_uuid, group_uuid;
    size_t unknown_bytes;
};

struct nt_predraft_cluster {
    struct nt_text uuid;
    uint64_t id;
    struct nt_predraft_version version;
    uint64_t first_entry, entries;
    struct nt_locator locator; /* of all its pages together */
    uint32_t columns;
};

struct nt_predraft_column {
    uint64_t id, first_element;
    uint32_t elements;
    int64_t compression_settings;
    uint32_t pages;
};

/* Read a verified header. Its root field is omitted: the root's children become top-level fields. */
enum nt_status nt_predraft_header_read(const struct nt_envelope *envelope,
                                       struct nt_predraft_header *header_ret, struct nt_schema *schema,
                                       struct nt_error *error);

/* Walk over a verified footer: the number of clusters, then each cluster, its columns, their pages. */
enum nt_status nt_predraft_footer_open(const struct nt_envelope *envelope, struct nt_cursor *cursor_ret,
                                       uint64_t *clusters_ret, struct nt_error *error);
enum nt_status nt_predraft_cluster_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                        struct nt_predraft_cluster *cluster_ret, struct nt_error *error);
enum nt_status nt_predraft_column_read(const struct nt_envelope *envelope, struct nt_cursor *cursor,
                                       struct nt_predraft_column *column_ret, struct nt_error *error);
struct nt_page_record nt_predraft_page_read(struct nt_cursor *cursor);

/* Make one cluster group of all clusters, with their entries; then, when it is touched, its ranges
 * and pages. */
enum nt_status nt_predraft_build(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                 struct nt_error *error);
enum nt_status nt_predraft_fill(struct nt_dataset *dataset, const struct nt_envelope *envelope,
                                struct nt_error *error);

/* ---- Open dataset ---- */

/* nt_dataset.format_data. Immutable after opening. */
struct nt_rntuple {
    struct nt_anchor anchor; /* of one that cannot be read, its place */
    const struct nt_generation *generation;
    struct nt_source *objects; /* that pages and envelopes are; NULL: they lie in the file */
    /* Reads pages and envelopes, joined where they are split; nt_dataset.sources[0]. */
    struct nt_source *payload;
    uint64_t header_checksum;
    uint16_t schema_major, schema_minor; /* of an attribute set: the version of its schema */
    /* As they were verified at opening, where they are not large; without bytes else. */
    struct nt_envelope header, footer;
    const struct nt_envelope_link *page_lists; /* of each cluster group; none in the predraft */
    uint32_t page_list_count;
    const struct nt_envelope_link *user_metadata;
    uint32_t user_metadata_count;
    /* By the index in the dataset; see details.c. */
    const struct nt_field_details *fields;
    const struct nt_column_details *columns;
};

static inline const struct nt_rntuple *nt_rntuple_of(const struct nt_dataset *dataset)
{
    return dataset->format_data;
}

/* Where a locator's bytes lie in `payload`: of a dataset of objects it becomes one of that source. See nt_locator_find_object. */
enum nt_status nt_rntuple_find(const struct nt_dataset *dataset, struct nt_locator *locator, const char *what,
                               struct nt_error *error);

/* One of the envelopes, by its number where there are several (page lists). Header and footer are read again only
 * where they are not kept. */
enum nt_status nt_rntuple_load_envelope(const struct nt_dataset *dataset, enum nt_envelope_kind kind,
                                        uint32_t number, struct nt_envelope *envelope_ret,
                                        struct nt_error *error);

/* ---- datasets whose records are there but that nothing leads to: no list of keys and no footer ---- */

/* Add the lost datasets of an opened file to it, each with its failure, where something tells that there may
 * be some. */
enum nt_status nt_rntuple_add_orphans(struct nt_file *file, struct nt_error *error);

/* All of them that the file does not have, by a walk over its records: see nt_file. */
enum nt_status nt_rntuple_check(const struct nt_file *file, nt_failure_emit *emit, void *context,
                                struct nt_error *error);

/* ---- Documents, description and layout ---- */

/* ---- documents.c: header.json, footer.bin, ... ---- */
extern const struct nt_document nt_rntuple_documents[];
extern const uint32_t nt_rntuple_document_count;

/* ---- dataset_json.c: members of ntuple.json, and of pages that lie elsewhere ---- */

enum nt_status nt_rntuple_describe(const struct nt_dataset *dataset, struct nt_json *json);
enum nt_status nt_rntuple_describe_page(const struct nt_dataset *dataset, uint32_t column,
                                        const struct nt_page *page, struct nt_json *json);
const char *nt_rntuple_page_elsewhere(const struct nt_dataset *dataset, const struct nt_page *page);

/* ---- details.c: what only this format knows of fields and columns ---- */

/* Keep it in the dataset's arena, for field.json and column.json. */
enum nt_status nt_rntuple_keep_details(struct nt_dataset *dataset, struct nt_rntuple *rntuple,
                                       const struct nt_schema *schema, struct nt_error *error);
void nt_rntuple_describe_field(const struct nt_dataset *dataset, uint32_t field, struct nt_json *json);
void nt_rntuple_describe_column(const struct nt_dataset *dataset, uint32_t column, struct nt_json *json);

/* ---- dataset_layout.c: anchors and envelopes of all datasets, behind the container's own ranges ---- */

enum nt_status nt_rntuple_layout(const struct nt_file *file, nt_layout_emit *emit, void *context,
                                 struct nt_error *error);

/* ---- schema_json.c ---- */

enum nt_status nt_header_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                              struct nt_error *error);
/* The four lists of a schema description as members of an open object. Fields and columns are numbered from
 * `first_field` and `first_column` on, in generations without explicit ids. */
void nt_schema_json(struct nt_json *json, const struct nt_dataset *dataset, const struct nt_schema *schema,
                    uint32_t first_field, uint32_t first_column);

/* ---- footer_json.c ---- */

enum nt_status nt_footer_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                              struct nt_error *error);
/* "unknown_bytes", where there are any. */
void nt_unknown_bytes_json(struct nt_json *json, size_t bytes);

/* ---- page_list_json.c, predraft_json.c, metadata_json.c ---- */

enum nt_status nt_page_list_json_open(const struct nt_dataset *dataset, uint32_t group,
                                      struct nt_text_generator **text_ret, struct nt_error *error);
enum nt_status nt_predraft_header_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                       struct nt_error *error);
enum nt_status nt_predraft_footer_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                       struct nt_error *error);
enum nt_status nt_metadata_json(const struct nt_dataset *dataset, struct nt_buffer *out,
                                struct nt_error *error);

/* ---- annotated.c: the bytes of header, footer or a page list with what each is ---- */

enum nt_status nt_annotated_open(const struct nt_dataset *dataset, enum nt_envelope_kind kind,
                                 uint32_t number, struct nt_text_generator **text_ret,
                                 struct nt_error *error);

/* ---- Opening a file ---- */

/* Open a file from its source, which becomes the file's unless this fails. A dataset for each anchor; those
 * that could not be opened have their failure. */
enum nt_status nt_rntuple_file_open(const char *path, struct nt_source *source,
                                    const struct nt_limits *limits, struct nt_file **file_ret,
                                    struct nt_error *error);

#endif
