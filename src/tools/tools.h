/* SPDX-License-Identifier: MIT
 *
 * Tools on open files: verify, compare two datasets, inspect columns, the layout of a file, and pictures
 * of it.
 */
#ifndef NT_TOOLS_TOOLS_H
#define NT_TOOLS_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/memory.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/budget.h"
#include "core/model/model.h"
#include "read/read.h"
#include "render/render.h"

struct nt_layout;
struct nt_layout_label;
struct nt_layout_format_range;

/* ---- Findings ---- */

enum nt_finding_kind {
    NT_FINDING_DAMAGED,     /* the bytes contradict their checksum, the specification or each other */
    NT_FINDING_UNREADABLE,  /* the operating system refused, or the file was changed meanwhile */
    NT_FINDING_UNSUPPORTED, /* unknown column types, pages that lie elsewhere, limits: nothing is known */
    NT_FINDING_UNREAD,      /* fields that this version does not read, as they say: nothing else is wrong */
    NT_FINDING_WARNING,     /* allowed, but a surprise to readers: text that is not UTF-8 */
    NT_FINDING_KINDS
};
const char *nt_finding_name(enum nt_finding_kind kind); /* "damaged", ... */
enum nt_finding_kind nt_finding_kind(enum nt_status status);

/* Where something was found and what. Members that do not apply are NT_NONE; `page` UINT64_MAX. */
struct nt_finding {
    enum nt_finding_kind kind;
    uint32_t dataset, cluster_group, cluster, field, column; /* indices in the model */
    uint64_t page;                                           /* number within the column, as in pages.jsonl */
    uint64_t count;        /* pages that the finding stands for, where the same is true of several; else 1 */
    struct nt_error error; /* the message tells the place, too */
};

/* A finding with nothing but its error, whose status tells its kind. Without a dataset it is of the file. */
struct nt_finding nt_finding(const struct nt_dataset *dataset, const struct nt_error *error);

/* Findings that are kept until it is their turn to be told. Zero at first. */
struct nt_findings {
    struct nt_finding *items;
    size_t count, capacity;
    bool has_failed; /* for want of memory */
};

/* ---- Verify a file ---- */

struct nt_verify_summary {
    uint64_t columns, pages;
    uint64_t unchecked;    /* pages without a checksum: what is wrong in their values shows only by chance */
    uint64_t stored_bytes; /* of the pages */
    uint64_t findings[NT_FINDING_KINDS];
};

struct nt_verify_options {
    /* Called for each finding, in the same order whatever the number of threads; never two at once. */
    void (*on_finding)(void *context, const struct nt_finding *finding);
    /* Called now and then with stored bytes of pages; never two at once. May be NULL. */
    void (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
};

/* Verify all datasets of an open file, whose headers and footers were verified by opening it. Works on all
 * threads of the reader and on the caller's; the reader's cache is hardly used. Fails only where the
 * verification itself cannot go on (NT_NO_MEMORY). */
enum nt_status nt_verify(struct nt_reader *reader, const struct nt_file *file,
                         const struct nt_verify_options *options, struct nt_verify_summary *summary,
                         struct nt_error *error);

/* ---- Pages already verified ---- */

/* What beside its bytes decides about a page's elements. */
struct nt_page_conditions {
    bool is_compared;    /* with the stream's segment */
    bool is_cluster_end; /* the page ends with the cluster's last element */
    bool has_previous;   /* `previous` is the index value before the page */
    uint64_t previous;
    uint64_t limit; /* the items of the cluster */
};

struct nt_seen_page {
    const struct nt_page *page; /* of the model; NULL: nothing is known */
    bool has_outcome;           /* the members below are valid */
    struct nt_page_conditions before;
    bool has_previous; /* behind the page */
    uint64_t previous;
    size_t finding; /* 1 + the finding that tells what is wrong; 0: nothing is */
};

struct nt_seen_pages {
    struct nt_seen_page *slots; /* NULL: nothing is remembered */
};

/* Without memory nothing is remembered. */
void nt_seen_pages_init(struct nt_seen_pages *seen);
void nt_seen_pages_deinit(struct nt_seen_pages *seen);

/* The slot of a page: what is known of it or of a page that is the same bytes, decoded in the same way, else
 * an empty one for it. NULL where nothing is remembered. */
struct nt_seen_page *nt_seen_pages_find(struct nt_seen_pages *seen, const struct nt_page *page);

bool nt_page_conditions_equal(const struct nt_page_conditions *left, const struct nt_page_conditions *right);

/* ---- Verification of a column ---- */

/* A column's share of the verification. */
struct nt_verify_result {
    struct nt_findings findings;
    bool is_done;
    uint64_t pages, unchecked, stored_bytes; /* as in struct nt_verify_summary */
    uint64_t prefetched_bytes;               /* that sources were told of before */
};

struct nt_verify_job {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    bool is_alone;                  /* the dataset's borders are bad: look at the pages only */
    struct nt_verify_result *share; /* result */
    void (*on_cluster)(void *context, uint64_t stored_bytes); /* some pages are done */
    void *context;
};

/* Add a finding of the job's column. NT_NONE, UINT64_MAX: of no cluster, or page. */
void nt_verify_report(struct nt_verify_job *job, uint32_t cluster, uint64_t page,
                      const struct nt_error *error);
/* What in a cluster is another number than it has to be. */
void nt_verify_report_cluster(struct nt_verify_job *job, uint32_t cluster, const char *what,
                              uint64_t expected, uint64_t found);

/* ---- Verify a column ---- */

/* For one thread; others may verify other columns. */
void nt_verify_column(struct nt_verify_job *job);
/* All pages of a column will be read. */
void nt_verify_prefetch_column(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                               struct nt_prefetch *prefetch);

/* ---- Check UTF-8 ---- */

/* Zero at first. */
struct nt_text_check {
    uint8_t pending[4]; /* the beginning of a character */
    size_t pending_count;
};

/* Whether the text is UTF-8 up to and with this piece. */
bool nt_text_check_update(struct nt_text_check *check, const uint8_t *bytes, size_t count);
/* Whether the text may end here. */
static inline bool nt_text_check_end(const struct nt_text_check *check)
{
    return check->pending_count == 0;
}

/* ---- Differences ---- */

enum { NT_DIFF_SIDES = 2 };

enum nt_diff_part {
    NT_DIFF_SCHEMA, /* what there is: datasets, fields, types, descriptions */
    NT_DIFF_VALUES, /* how many, and which */
    NT_DIFF_LAYOUT, /* how the same is stored */
    NT_DIFF_PARTS
};
const char *nt_diff_part_name(enum nt_diff_part part); /* "schema", ... */

enum nt_diff_value_kind {
    NT_DIFF_NOTHING, /* the side does not have it */
    NT_DIFF_NUMBER,
    NT_DIFF_WORDS,   /* a text of the schema or layout */
    NT_DIFF_TEXT,    /* a string of the data, any bytes; maybe a part of it */
    NT_DIFF_BYTES,   /* the same of an object */
    NT_DIFF_ELEMENT, /* dtype->bytes bytes */
};

struct nt_diff_value {
    enum nt_diff_value_kind kind;
    uint64_t number;
    struct nt_text text; /* of words, text, bytes */
    const struct nt_dtype *dtype;
    const uint8_t *element;
};

#define NT_DIFF_NOWHERE UINT64_MAX

struct nt_difference {
    enum nt_diff_part part;
    const char *property; /* what differs, as a JSON name: "type", "stored_bytes", "value" */
    bool is_detail;       /* one of many of a layout */
    uint32_t
        fields[NT_DIFF_SIDES]; /* NT_NONE: the datasets; of one of them alone: the other has no such field */
    uint32_t column;           /* of the field, as in column.<k>; NT_NONE: none */
    uint64_t row;              /* the first row of the fields whose values differ; NT_DIFF_NOWHERE: none */
    uint64_t entry;            /* of A, that the row belongs to; NT_DIFF_NOWHERE: nobody knows */
    uint64_t element;          /* of a row with several: which; else NT_DIFF_NOWHERE */
    uint64_t byte;             /* of a text or bytes: the first that differs; else NT_DIFF_NOWHERE */
    uint64_t first_byte;       /* where the values begin, if they are parts; else NT_DIFF_NOWHERE */
    struct nt_diff_value values[NT_DIFF_SIDES];
};

/* A dataset, or a field of it with all below. */
struct nt_diff_side {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field; /* NT_NONE: all */
};

struct nt_diff_options {
    bool parts[NT_DIFF_PARTS]; /* those that are compared */
    /* Called for each difference, in an order that does not depend on threads. What it holds lives until the call
     * returns. */
    void (*on_difference)(void *context, const struct nt_difference *difference);
    /* Called where a side cannot be read: what needs it is not compared. `field` may be NT_NONE. */
    void (*on_failure)(void *context, unsigned side, uint32_t field, const struct nt_error *error);
    /* Called now and then with decoded bytes of a side; never two calls at once, but by any thread. May be NULL. */
    void (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
};

struct nt_diff_summary {
    uint64_t differences[NT_DIFF_PARTS];
    uint64_t failures;
};

/* A comparison on its way. */
struct nt_diff_run {
    const struct nt_diff_side *sides;
    const struct nt_diff_options *options;
    struct nt_diff_summary *summary;
};

/* ---- telling ---- */

/* A difference of two fields (NT_NONE, NT_NONE: of the datasets) that has no place and no values yet. */
struct nt_difference nt_difference(enum nt_diff_part part, const char *property,
                                   const uint32_t fields[NT_DIFF_SIDES]);
void nt_diff_report(struct nt_diff_run *run, const struct nt_difference *difference);
/* With the values filled in, if these differ; returns whether they do. */
bool nt_diff_report_words(struct nt_diff_run *run, struct nt_difference difference, struct nt_text a,
                          struct nt_text b);
bool nt_diff_report_numbers(struct nt_diff_run *run, struct nt_difference difference, uint64_t a, uint64_t b);
void nt_diff_report_failure(struct nt_diff_run *run, unsigned side, uint32_t field,
                            const struct nt_error *error);

/* ---- showing ---- */

void nt_json_diff_value(struct nt_json *json, const struct nt_diff_value *value);
/* Whether two elements look the same as JSON though their bits differ: NaNs. */
bool nt_diff_values_look_alike(const struct nt_difference *difference);
/* Append the bits of an element in hexadecimal, the most significant first. */
void nt_append_diff_bits(struct nt_buffer *out, const struct nt_diff_value *value);

/* ---- Compare two datasets ---- */

/* Compare two datasets, or a field of each with all below (of both sides or of none). Fields belong together by their
 * names. Values are compared as decoded elements, bit by bit, where the types of both sides are the same: NaNs of
 * different bits differ, 0 and -0 do, and how the elements are stored does not matter. Of each field its first
 * difference is told. Values that cannot be read are told as failures, and never taken for equal.
 *
 * The sides' readers may be one; the workers of the first do the work. Fails where the comparison cannot go on: without
 * memory; layouts also where the machine refuses what inspection reads. `on_failure` has been called for all else. */
enum nt_status nt_diff(const struct nt_diff_side sides[NT_DIFF_SIDES], const struct nt_diff_options *options,
                       struct nt_diff_summary *summary, struct nt_error *error);

/* ---- Compare schemas ---- */

/* A field of A and the one of B that has its name and place; NT_NONE where a side has none: what is below such a
 * field is not listed. */
struct nt_field_pair {
    uint32_t fields[NT_DIFF_SIDES];
};

/* The fields of A in the order of the schema, those that only B has behind their siblings. Where two are built in
 * different ways, what is below them is not listed. From malloc. */
enum nt_status nt_field_pairs(const struct nt_diff_side *sides, struct nt_field_pair **pairs_ret,
                              size_t *count_ret, struct nt_error *error);

/* Tell how the fields of a pair differ as the schema has them. */
enum nt_status nt_diff_field(struct nt_diff_run *run, const struct nt_field_pair *pair,
                             struct nt_error *error);

/* Whether the values of two fields can be compared element by element; else tells what is in the way, as a
 * difference of values. */
enum nt_status nt_diff_check_elements(struct nt_diff_run *run, const struct nt_field_pair *pair,
                                      bool *are_alike_ret, struct nt_error *error);

/* Whether both fields are projections of fields with the same path: what these hold, they show. */
enum nt_status nt_diff_is_shown_elsewhere(const struct nt_diff_side *sides, const struct nt_field_pair *pair,
                                          bool *is_shown_ret, struct nt_error *error);

/* ---- Compare layouts ---- */

/* Tell what differs in the layout of the sides, and of the columns that the fields of the pairs own; those of columns are
 * details but for how elements are encoded. Loads all page lists; reads the beginnings of a few pages. */
enum nt_status nt_diff_layout(struct nt_diff_run *run, const struct nt_field_pair *pairs, size_t count,
                              struct nt_error *error);

/* ---- Compare values ---- */

/* Two streams of one kind whose elements have one type, and what came of their comparison. */
struct nt_stream_pair {
    uint32_t fields[NT_DIFF_SIDES];
    enum nt_stream_kind kind;
    uint64_t elements[NT_DIFF_SIDES];
    uint64_t first;                           /* element that differs; NT_DIFF_NOWHERE: none that both have */
    struct nt_error *failures[NT_DIFF_SIDES]; /* the first of each side before it; NULL: none. From malloc */
    uint64_t failed_at[NT_DIFF_SIDES];        /* about where */
};

/* Compare the elements that both streams of a pair have, up to the first that differs. What cannot be read is noted and
 * omitted. Works on the workers of A's reader and the calling thread; each takes about two MiB and what decoding
 * takes. Fails only where the comparison cannot go on (NT_NO_MEMORY). */
enum nt_status nt_diff_streams(struct nt_diff_run *run, struct nt_stream_pair *pairs, size_t count,
                               struct nt_error *error);

/* The memory of the failures. */
void nt_stream_pairs_free(struct nt_stream_pair *pairs, size_t count);

/* ---- Locate a difference ---- */

/* Tell the first difference of a field, whose streams are these, as one difference of values; nothing where none of
 * the streams has one. What cannot be read on the way is told as a failure. Fails without memory. */
enum nt_status nt_diff_report_value(struct nt_diff_run *run, const struct nt_stream_pair *streams,
                                    size_t count, struct nt_error *error);

/* ---- Unique stored bytes ---- */

/* The stored bytes of columns whose page lists are loaded (others are not counted); without `columns`, of all that
 * the dataset has. */
enum nt_status nt_unique_bytes(const struct nt_dataset *dataset, const uint32_t *columns,
                               uint32_t column_count, uint64_t *bytes_ret, struct nt_error *error);

/* ---- Inspect columns ---- */

struct nt_column_stats {
    uint32_t column; /* index; NT_NONE: all together */
    struct nt_column_sums sums;
    uint64_t largest_page; /* stored bytes */
    uint64_t
        unique_bytes; /* of all together: the stored bytes, those that several pages share counted once */
    /* A bit for each enum nt_algorithm: those that a look at some of the compressed pages found,
     * one for each run of clusters with the same settings; "none" where no page is compressed. 0:
     * no pages. */
    unsigned algorithms;
};

/* Inspect the file's columns (those of `of->stored`) of a field and all below it, or of the whole dataset (NT_NONE). Loads all page lists;
 * those that cannot be read are omitted, and `is_complete` of the sums says so. The last of the
 * `*count_ret` + 1 items is the total. From malloc. */
enum nt_status nt_inspect(struct nt_dataset *of, uint32_t field, struct nt_column_stats **columns_ret,
                          uint32_t *count_ret, struct nt_error *error);

/* Append the names of algorithms, "zstd,lz4". */
void nt_append_algorithms(struct nt_buffer *out, unsigned algorithms);

/* ---- Layout items ---- */

/* A stretch of a source. Where several owners claim the same bytes (merged pages), the others follow as items
 * of `is_shared`, with the same place; where a claim overlaps another only in part, the item is what is left
 * of it and `claimed` tells the whole. */
struct nt_layout_item {
    uint64_t offset, bytes;
    uint64_t claimed_offset, claimed_bytes;
    uint32_t source;  /* index into the file's layout sources */
    uint32_t dataset; /* indices, NT_NONE where the owner has none */
    uint32_t column;  /* of the dataset's physical dataset */
    uint32_t cluster;
    uint32_t page; /* number within the column */
    bool is_shared;
    double ratio; /* of a page: its bytes before and after compression; 0 where that is not known */
    const char *owner, *detail;
};

/* ---- Owners of byte ranges ---- */

struct nt_layout_claims {
    const struct nt_file *file;
    struct nt_budget *budget;           /* that what is kept is taken from */
    uint64_t taken;                     /* bytes of it */
    struct nt_layout_format_range *own; /* ranges of the format */
    struct nt_layout_label *labels;
    size_t own_count, own_capacity, label_count, label_capacity;
};

/* Ask the format for its ranges. NT_LIMIT where the file may not ask for so many. To be ended, also after a failure. */
enum nt_status nt_layout_claims_init(struct nt_layout_claims *claims, const struct nt_file *file,
                                     struct nt_error *error);
void nt_layout_claims_deinit(struct nt_layout_claims *claims);

/* Claims that begin here are wanted, both ends included. */
struct nt_layout_window {
    uint32_t first_source, last_source;
    uint64_t first_offset, last_offset;
};

typedef enum nt_status nt_layout_visit(void *context, const struct nt_layout_item *claim);

/* All claims in a window, in no order. Loads all page lists; those that are bad are omitted. */
enum nt_status nt_layout_claims_visit(const struct nt_layout_claims *claims,
                                      const struct nt_layout_window *window, nt_layout_visit *visit,
                                      void *context, struct nt_error *error);

/* ---- Layout of a file ---- */

/* Ask who claims bytes (loads all page lists; those that are bad leave gaps). NT_LIMIT where the format has more ranges than the
 * file may ask for. */
enum nt_status nt_layout_new(const struct nt_file *file, struct nt_layout **layout_ret,
                             struct nt_error *error);
void nt_layout_free(struct nt_layout *layout); /* accepts NULL */

/* The next item in the order of the file; *has_ret false behind the last. */
enum nt_status nt_layout_next(struct nt_layout *layout, struct nt_layout_item *item_ret, bool *has_ret,
                              struct nt_error *error);
/* Go back to the first. */
void nt_layout_rewind(struct nt_layout *layout);

/* Sizes of the sources; 0 of a file that cannot be opened, of which nothing is known. Those of objects are known once the last
 * item was. */
const uint64_t *nt_layout_source_bytes(const struct nt_layout *layout, uint32_t *count_ret);

/* The source of an item, for its name. */
struct nt_source *nt_layout_source(const struct nt_file *file, uint32_t source);

/* layout.jsonl: a line per item. */
enum nt_status nt_layout_lines(const struct nt_file *file, struct nt_text_generator **text_ret,
                               struct nt_error *error);

/* ---- Groups of fields ---- */

/* What of the names of a group's members is the same; of a group of one the whole name. Lives as long as the dataset.
 * Of a range of names that end in a number, also the lowest and the highest of them. */
struct nt_field_group {
    struct nt_text name, from, to;
    uint32_t first, count; /* its members */
};

struct nt_field_groups {
    struct nt_field_group *items; /* in the order of their first members */
    uint32_t count;
    uint32_t *members;  /* fields, group by group, in their order */
    uint32_t *of_field; /* [field]: the group of its top-level field */
};

/* Few fields are groups of one each. Free with nt_field_groups_deinit, also after a failure. */
enum nt_status nt_field_groups_init(struct nt_field_groups *groups, const struct nt_dataset *dataset,
                                    struct nt_error *error);
void nt_field_groups_deinit(struct nt_field_groups *groups);

/* "Jet_* (12 fields)", "x10 … 19 (10 fields)", or the name of a single field. */
void nt_append_field_group(struct nt_buffer *out, const struct nt_field_group *group);

/* ---- SVG drawing ---- */

/* A colour by hue (degrees), saturation and lightness (percent). */
struct nt_colour {
    unsigned hue, saturation, lightness;
};

struct nt_box {
    double x, y, width, height;
};

/* ---- pictures of a size that is known before they are drawn ---- */

enum { NT_SVG_MIN_BYTES = 1 << 12, NT_SVG_MAX_BYTES = 1 << 20 };

/* The size of a picture that may want so many bytes: a power of two, within the bounds. */
size_t nt_svg_size(uint64_t prefetched_bytes);

/* Draws the whole picture. `grain`: what is smaller than so many pixels need not be drawn by itself. May stop
 * where `out` has more than `bytes`. */
typedef void nt_svg_draw(void *context, unsigned grain, size_t bytes, struct nt_buffer *out);

/* Fill `out`, which is empty, with exactly `bytes` (of nt_svg_size): the picture with as much detail as they
 * have room for, and white space behind it. */
enum nt_status nt_svg_fit(nt_svg_draw *draw, void *context, size_t bytes, struct nt_buffer *out,
                          struct nt_error *error);

/* ---- drawing ---- */

void nt_svg_begin(struct nt_buffer *out, double width, double height, const char *title);
void nt_svg_end(struct nt_buffer *out);
/* A name of the file for a title: in one line whatever it holds, cut where it is very long. */
void nt_svg_append_name(struct nt_buffer *title, const void *bytes, size_t length);
/* A text line with its baseline at (x, y); `class` as in the style that nt_svg_begin writes: "h" heading, "t"
 * text, "s" small, "l" label on colour, "d" on a dark one. Cut with an ellipsis so that it takes about `width` (0: no bound), and
 * clipped there: nothing is drawn beyond it. */
void nt_svg_text(struct nt_buffer *out, double x, double y, const char *class, double width,
                 const char *text);
/* Whether a text takes no more than about `width`. */
bool nt_svg_fits(const char *class, double width, const char *text);
/* A rectangle with what a pointer resting on it is told (lines, not escaped yet; NULL: nothing). */
void nt_svg_box(struct nt_buffer *out, struct nt_box box, struct nt_colour colour,
                const struct nt_buffer *title);

/* Colours that tell apart: hue and tone of a group of fields by its number; the ratio makes it light (stored as it
 * is) or deep (compressed well). */
struct nt_colour nt_field_colour(uint32_t number, double ratio);

/* The class of a label that can be read on a colour. */
const char *nt_label_class(struct nt_colour colour);

/* "1.3 MB" */
void nt_append_bytes(struct nt_buffer *out, uint64_t bytes);

/* ---- Pictures ---- */

/* layout.svg: the file as a strip map. Its bytes run in lines from left to right; each stretch has the colour
 * of its owner's top-level field, or of that field's group (view/field_groups.h). The size follows from the size of
 * the file alone; drawing loads all page lists. */
uint64_t nt_layout_svg_bytes(const struct nt_file *file);
enum nt_status nt_layout_svg(const struct nt_file *file, struct nt_buffer *out, struct nt_error *error);

/* sizes.svg: a treemap of the stored bytes of a dataset by group and field. The size follows from the number of
 * columns alone; drawing loads all page lists. */
uint64_t nt_sizes_svg_bytes(const struct nt_dataset *dataset);
enum nt_status nt_sizes_svg(struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error);

#endif
