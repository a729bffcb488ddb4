/* SPDX-License-Identifier: MIT
 *
 * Tools on open files: verify a file, compare two datasets, inspect columns, and list or draw the
 * layout of a file.
 */
#pragma once

#include <ntuple/document.h>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/io/source.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "read/page.h"
#include "render/render.h"

struct nt_layout;
struct nt_layout_label;
struct nt_layout_format_range;

/* Passes a piece of a document to the caller of a public function, and clears it. NT_CANCELED if the caller
 * has enough. */
enum nt_status nt_take_all(struct nt_buffer *piece, nt_take_text *take, void *context,
                           struct nt_error *error);

/* ---- Sort in windows ---- */

enum { NT_WINDOW_BYTES = 6 << 20 }; /* of the items of a window, or a 64th of all if that is more */

struct nt_windows;
struct nt_window_items {
    uint8_t *bytes; /* malloc */
    size_t count, capacity;
};

/* Passes items to nt_windows_take, in any order, but the same ones each time: at least those from
 * `windows->first` on and before `windows->end` (NULL: no bound). */
typedef enum nt_status nt_windows_pass(void *context, struct nt_windows *windows, struct nt_error *error);

/* Items in order, a window at a time. Set the first four members. */
struct nt_windows {
    size_t item_bytes;
    int (*compare)(const void *left, const void *right); /* 0 for many items makes a window large */
    nt_windows_pass *pass;
    void *context;
    struct nt_window_items items; /* of the window, in order */
    uint32_t count, next;         /* windows; the next one to read */
    uint64_t seen;                /* how many items there are in all */
    const void *first, *end;
    struct nt_window_items samples; /* from the second on: the first item of each window */
    uint64_t random;
    bool is_sampling, is_dropped;
};

/* Counts the items. If they fit in one window, it is read, too. */
enum nt_status nt_windows_begin(struct nt_windows *windows, struct nt_error *error);
/* Reads the next window; some are empty. */
enum nt_status nt_windows_read(struct nt_windows *windows, struct nt_error *error);
/* Begins again before the first window. */
void nt_windows_rewind(struct nt_windows *windows);
void nt_windows_deinit(struct nt_windows *windows);

/* Frees the items of the window, and reads them again. */
void nt_windows_drop(struct nt_windows *windows);
enum nt_status nt_windows_restore(struct nt_windows *windows, struct nt_error *error);

/* NT_NO_MEMORY without a message. */
enum nt_status nt_windows_take(struct nt_windows *windows, const void *item);

/* ---- Findings ---- */

enum nt_finding_kind {
    NT_FINDING_DAMAGED,     /* the bytes contradict their checksum, the specification or each other */
    NT_FINDING_UNREADABLE,  /* the operating system failed, or the file changed meanwhile */
    NT_FINDING_UNSUPPORTED, /* unknown column types, pages stored elsewhere, limits: not checked */
    NT_FINDING_UNREAD,      /* fields that this version does not read; nothing else is wrong */
    NT_FINDING_WARNING,     /* allowed, but unexpected by readers: text that is not UTF-8 */
    NT_FINDING_KINDS
};
const char *nt_finding_name(enum nt_finding_kind kind); /* "damaged", ... */
enum nt_finding_kind nt_finding_kind(enum nt_status status);

/* What was found and where. Members that do not apply are NT_NONE; `page` is UINT64_MAX. */
struct nt_finding {
    enum nt_finding_kind kind;
    uint32_t dataset, cluster_group, cluster, field, column; /* indices in the model */
    uint64_t page;                                           /* number within the column, as in pages.jsonl */
    uint64_t count;                                          /* number of pages with the same finding */
    struct nt_error error;                                   /* the message includes the place */
};

/* A finding with only an error, whose status determines the kind. No dataset: it is the file's. */
struct nt_finding nt_finding(const struct nt_dataset *dataset, const struct nt_error *error);

/* Findings held back to be reported in order. Starts zeroed. */
struct nt_findings {
    struct nt_finding *items;
    size_t count, capacity;
    bool has_failed; /* out of memory */
};

/* ---- Verify a file ---- */

struct nt_verify_summary {
    uint64_t columns, pages;
    uint64_t unchecked;    /* pages without a checksum: damage of their values may go unnoticed */
    uint64_t stored_bytes; /* of the pages */
    uint64_t findings[NT_FINDING_KINDS];
};

struct nt_verify_options {
    /* Called for each finding, serialized, in an order independent of the number of threads. */
    void (*on_finding)(void *context, const struct nt_finding *finding);
    /* Called from time to time with stored page bytes, serialized. May be NULL. */
    void (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
};

/* Verifies all datasets of an open file; opening has already verified headers and footers. Uses all
 * worker threads of the reader and the calling thread, and hardly any of the reader's cache. Fails only
 * if it cannot continue (NT_NO_MEMORY). */
enum nt_status nt_verify(struct nt_reader *reader, const struct nt_file *file,
                         const struct nt_verify_options *options, struct nt_verify_summary *summary,
                         struct nt_error *error);

/* ---- Pages already verified ---- */

/* What determines a page's elements besides its bytes. */
struct nt_page_conditions {
    bool is_compared;    /* with the stream's segment */
    bool is_cluster_end; /* the page ends with the cluster's last element */
    bool has_previous;   /* `previous` is the index value before the page */
    uint64_t previous;
    uint64_t limit; /* the number of items in the cluster */
};

struct nt_verified_page {
    struct nt_page page; /* a copy */
    bool is_seen;
    bool has_outcome; /* the members below are valid */
    struct nt_page_conditions before;
    bool has_previous; /* after the page */
    uint64_t previous;
    size_t finding; /* 1 + the index of its finding; 0: the page is good */
};

/* Slots for pages, from malloc; NULL: out of memory. */
struct nt_verified_page *nt_verified_pages_new(void);

/* The slot of a page, or of one with the same bytes and decoder; else a new one. NULL without slots. */
struct nt_verified_page *nt_verified_pages_find(struct nt_verified_page *slots, const struct nt_page *page);

bool nt_page_conditions_equal(const struct nt_page_conditions *left, const struct nt_page_conditions *right);

/* ---- Verification of a column ---- */

/* A column's share of the verification. */
struct nt_verify_result {
    struct nt_findings findings;
    bool is_done;
    uint64_t pages, unchecked, stored_bytes; /* as in struct nt_verify_summary */
    uint64_t prefetched_bytes;               /* hinted to sources in advance */
};

struct nt_verify_job {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t column;
    bool is_alone;                  /* the dataset's boundaries are bad: check only the pages */
    struct nt_verify_result *share; /* result */
    void (*on_cluster)(void *context, uint64_t stored_bytes); /* some pages are done */
    void *context;
};

/* Adds a finding of the job's column. NT_NONE and UINT64_MAX: no cluster, no page. */
void nt_verify_report(struct nt_verify_job *job, uint32_t cluster, uint64_t page,
                      const struct nt_error *error);
/* Adds a finding: a number in a cluster is not the expected one. */
void nt_verify_report_cluster(struct nt_verify_job *job, uint32_t cluster, const char *what,
                              uint64_t expected, uint64_t found);

/* ---- Verify a column ---- */

/* Verifies at most NT_MAX_SHARED_OUTPUTS columns part by part, so that pages which they share need to be
 * decoded only once. Single-threaded for them; other threads may verify other columns. */
void nt_verify_columns(struct nt_verify_job *jobs, uint32_t count);
/* Prefetches all pages of a column. */
void nt_verify_prefetch_column(struct nt_reader *reader, struct nt_dataset *dataset, uint32_t column,
                               struct nt_prefetch *prefetch);

/* ---- Check UTF-8 ---- */

/* Starts zeroed. */
struct nt_utf8_check {
    uint8_t pending[4]; /* the start of an incomplete character */
    size_t pending_count;
};

/* Is the text valid UTF-8 up to the end of this piece? It may end there if no bytes are pending. */
bool nt_utf8_check_update(struct nt_utf8_check *check, const uint8_t *bytes, size_t count);

/* ---- Differences ---- */

enum { NT_DIFF_SIDES = 2 };

enum nt_diff_part {
    NT_DIFF_SCHEMA, /* what exists: datasets, fields, types, descriptions */
    NT_DIFF_VALUES, /* numbers of rows, and values */
    NT_DIFF_LAYOUT, /* how equal content is stored */
    NT_DIFF_PARTS
};
const char *nt_diff_part_name(enum nt_diff_part part); /* "schema", ... */

enum nt_diff_value_kind {
    NT_DIFF_NOTHING, /* absent on this side */
    NT_DIFF_NUMBER,
    NT_DIFF_WORDS,   /* a text of the schema or layout */
    NT_DIFF_TEXT,    /* a string of the data, any bytes; may be a part of it */
    NT_DIFF_BYTES,   /* an object, likewise */
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
    const char *property;           /* what differs, as a JSON name: "type", "stored_bytes", "value" */
    bool is_detail;                 /* one of many details of a layout */
    bool is_obstacle;               /* no difference of values, but the reason why they are not compared */
    uint32_t fields[NT_DIFF_SIDES]; /* both NT_NONE: the datasets; one: only the other has it */
    uint32_t column;                /* of the field, as in column.<k>; NT_NONE: none */
    uint64_t row;        /* the first row of the fields whose values differ; NT_DIFF_NOWHERE: none */
    uint64_t entry;      /* entry of A that has the row; NT_DIFF_NOWHERE: unknown */
    uint64_t element;    /* which element of a row with several; else NT_DIFF_NOWHERE */
    uint64_t byte;       /* the first different byte of a text or bytes; else NT_DIFF_NOWHERE */
    uint64_t first_byte; /* the start of the parts, if the values are parts; else NT_DIFF_NOWHERE */
    struct nt_diff_value values[NT_DIFF_SIDES];
};

/* A dataset, or a field with all its sub-fields. */
struct nt_diff_side {
    struct nt_reader *reader;
    struct nt_dataset *dataset;
    uint32_t field; /* NT_NONE: all */
};

struct nt_diff_options {
    bool parts[NT_DIFF_PARTS]; /* the parts to compare */
    /* Called for each difference, in an order independent of threads. Valid until the call returns. */
    void (*on_difference)(void *context, const struct nt_difference *difference);
    /* Called if a side is unreadable; dependent parts are not compared. `field` may be NT_NONE. */
    void (*on_failure)(void *context, unsigned side, uint32_t field, const struct nt_error *error);
    /* Called now and then with decoded bytes of a side; any thread, serialized. May be NULL. */
    void (*on_progress)(void *context, uint64_t bytes, uint64_t total);
    void *context;
};

struct nt_diff_summary {
    uint64_t differences[NT_DIFF_PARTS];
    uint64_t not_compared; /* pairs of fields whose values cannot be compared */
    uint64_t failures;
    uint64_t fields; /* compared, or only on one side */
};

/* A comparison in progress. */
struct nt_diff_run {
    const struct nt_diff_side *sides;
    const struct nt_diff_options *options;
    struct nt_diff_summary *summary;
    struct nt_buffer texts[NT_DIFF_SIDES]; /* of the property that is compared */
};

/* ---- Reporting ---- */

/* A difference of two fields (NT_NONE, NT_NONE: of the datasets) without place and values. */
struct nt_difference nt_difference(enum nt_diff_part part, const char *property,
                                   const uint32_t fields[NT_DIFF_SIDES]);
void nt_diff_report(struct nt_diff_run *run, const struct nt_difference *difference);
/* Fills in the values and reports the difference if they differ. Returns whether they do. */
bool nt_diff_report_words(struct nt_diff_run *run, struct nt_difference difference, struct nt_text a,
                          struct nt_text b);
bool nt_diff_report_texts(struct nt_diff_run *run, struct nt_difference difference); /* those of the run */
bool nt_diff_report_numbers(struct nt_diff_run *run, struct nt_difference difference, uint64_t a, uint64_t b);
void nt_diff_report_failure(struct nt_diff_run *run, unsigned side, uint32_t field,
                            const struct nt_error *error);

/* ---- Output ---- */

void nt_json_diff_value(struct nt_json *json, const struct nt_diff_value *value);
/* Do two elements look the same as JSON though their bits differ (NaNs)? */
bool nt_diff_values_look_alike(const struct nt_difference *difference);
/* Appends the bits of an element in hexadecimal, most significant first. */
void nt_append_diff_bits(struct nt_buffer *out, const struct nt_diff_value *value);

/* ---- Compare two datasets ---- */

/* Compares two datasets, or one field of each with its sub-fields (on both sides or neither). Pairs
 * fields by name. Compares integers by their values. If both sides have the same type, compares decoded
 * elements bit by bit: NaNs with different bits differ, so do 0 and -0, and the encoding does not matter.
 * Reports the first difference of each field. Unreadable values are failures and never count as equal. The
 * sides may share one reader; the workers of the first do the work. Fails without memory or, for layouts, on
 * an environmental error of the inspection. `on_failure` gets all other errors. */
enum nt_status nt_diff(const struct nt_diff_side sides[NT_DIFF_SIDES], const struct nt_diff_options *options,
                       struct nt_diff_summary *summary, struct nt_error *error);

/* ---- Compare schemas ---- */

/* Fields of A and B with the same path; NT_NONE on one side: its sub-fields are not listed. */
struct nt_field_pair {
    uint32_t fields[NT_DIFF_SIDES];
};

/* Are both single integers, by which they are compared whatever their kinds and sizes? */
bool nt_diff_are_integers(const struct nt_diff_side *sides, const struct nt_field_pair *pair);

/* ---- Compare layouts ---- */

/* Reports layout differences of the sides and of the columns of paired fields. Those of columns are
 * details, except encodings. Loads all page lists; reads the start of a few pages. */
enum nt_status nt_diff_layout(struct nt_diff_run *run, const struct nt_field_pair *pairs, size_t count,
                              struct nt_error *error);

/* ---- Compare values ---- */

/* Two streams of one kind and element type, and the result of their comparison. */
struct nt_stream_pair {
    uint32_t fields[NT_DIFF_SIDES];
    enum nt_stream_kind kind;
    uint64_t elements[NT_DIFF_SIDES];
    uint64_t first; /* first different element; NT_DIFF_NOWHERE: none within the common length */
    struct nt_error *failures[NT_DIFF_SIDES]; /* first one of each side before it, or NULL; malloc */
    uint64_t failed_at[NT_DIFF_SIDES];        /* approximate element of the failure */
};

/* Compares the common elements of both streams of each pair, up to the first difference. Records
 * unreadable parts and skips them. Uses the workers of A's reader and the calling thread; each needs
 * about two MiB plus memory for decoding. Fails only if it cannot continue (NT_NO_MEMORY). */
enum nt_status nt_diff_streams(struct nt_diff_run *run, struct nt_stream_pair *pairs, size_t count,
                               struct nt_error *error);

/* Frees the failures. */
void nt_stream_pairs_free(struct nt_stream_pair *pairs, size_t count);

/* ---- Locate a difference ---- */

/* Reports the first difference of a field with these streams as one difference of values; nothing if no
 * stream differs. Reports unreadable parts on the way as failures. Fails without memory. */
enum nt_status nt_diff_report_value(struct nt_diff_run *run, const struct nt_stream_pair *streams,
                                    size_t count, struct nt_error *error);

/* ---- Unique stored bytes ---- */

/* The unique stored bytes of columns (`chosen` by column; NULL: all). Omits bad page lists. */
enum nt_status nt_unique_bytes(struct nt_dataset *dataset, const bool *chosen, uint64_t *bytes_ret,
                               struct nt_error *error);

/* ---- Inspect columns ---- */

struct nt_column_stats {
    uint32_t column; /* index; NT_NONE: the total */
    struct nt_column_sums sums;
    uint64_t largest_page; /* stored bytes */
    uint64_t unique_bytes; /* of the total: the stored bytes, counting those of shared pages once */
    /* A bit for each enum nt_algorithm, from a sample of the compressed pages: one per run of clusters
     * with equal settings. "none" if no page is compressed; 0 without pages. */
    unsigned algorithms;
};

/* Inspects the file's columns (those of `of->physical`) of these fields and their sub-fields, or of the
 * whole dataset (NULL). A projected field has those that it shows. Loads all page lists; omits unreadable
 * ones and then clears `is_complete` of the sums. The last of the `*count_ret` + 1 items is the total. From
 * malloc. */
enum nt_status nt_inspect(struct nt_dataset *of, const uint32_t *fields, uint32_t field_count,
                          struct nt_column_stats **columns_ret, uint32_t *count_ret, struct nt_error *error);

/* [column]: do these fields and those below them use it, and if `has_around` those around them? Includes
 * columns of other fields that they project. From malloc; NULL: out of memory. */
bool *nt_columns_of_fields(const struct nt_dataset *dataset, const uint32_t *fields, size_t count,
                           bool has_around);

/* Appends the names of algorithms: "zstd,lz4". */
void nt_append_algorithms(struct nt_buffer *out, unsigned algorithms);

/* ---- Summaries of values ---- */

enum { NT_SUMMARY_BINS = 20, NT_SUMMARY_NUMBER = 8 };

struct nt_summary {
    uint32_t field;        /* that has the values */
    struct nt_dtype dtype; /* of the values */
    bool is_of_lengths;    /* of strings and bytes: the numbers are the bytes of each row */
    bool has_numbers;      /* false: only counts values and nulls, as of decimals */
    uint64_t values;       /* all of the following: */
    uint64_t nulls, nans, infinities, unread, counted;
    /* Of the counted values; the bytes are of the dtype's number, or an UINT64 for lengths. */
    uint8_t least[NT_SUMMARY_NUMBER], most[NT_SUMMARY_NUMBER];
    double mean;
    uint64_t bins[NT_SUMMARY_BINS]; /* from `least` to `most`, all of one width */
    uint32_t bin_count;             /* integers of a small range have a bin each; 0: nothing counted */
    struct nt_error *failures;      /* why values were not read: distinct ones; from malloc */
    size_t failure_count, failure_capacity;
};

struct nt_summaries {
    struct nt_summary *items;
    size_t count, capacity;
};

/* Adds the fields with values at and below a field. Those that cannot be described have a failure. */
enum nt_status nt_summaries_add(struct nt_summaries *summaries, const struct nt_dataset *dataset,
                                uint32_t field, struct nt_error *error);
void nt_summaries_deinit(struct nt_summaries *summaries);

/* Describes the values of the fields in two passes, by this thread and all workers of the reader. Values
 * that cannot be read are counted, and their failures are kept. Fails only without memory. */
enum nt_status nt_summarize(struct nt_reader *reader, struct nt_dataset *dataset,
                            struct nt_summary *summaries, size_t count, struct nt_error *error);

/* ---- Layout items ---- */

/* A byte range of a source. If several owners claim the same bytes (merged pages), the others follow as
 * `is_shared` items of the same range. If claims overlap partly, the later item is the rest of its
 * claim, and `claimed` is the whole. */
struct nt_layout_item {
    uint64_t offset, bytes;
    uint64_t claimed_offset, claimed_bytes;
    uint32_t source;  /* index into the file's layout sources */
    uint32_t dataset; /* indices, NT_NONE if the owner has none */
    uint32_t column;  /* of the dataset's physical dataset */
    uint32_t cluster;
    uint32_t page; /* number within the column */
    bool is_shared;
    double ratio; /* of a page: bytes before compression divided by bytes after; 0: unknown */
    const char *owner, *detail;
};

/* ---- Layout of a file ---- */

/* Collects the claims. Loads all page lists; bad ones leave gaps. NT_LIMIT if the format has more
 * ranges than the file may request. */
enum nt_status nt_layout_new(const struct nt_file *file, struct nt_layout **layout_ret,
                             struct nt_error *error);
void nt_layout_free(struct nt_layout *layout); /* accepts NULL */
NT_DEFINE_CLEANUP(struct nt_layout, nt_layout_free)

/* Returns the next item in file order; *has_ret is false after the last. */
enum nt_status nt_layout_next(struct nt_layout *layout, struct nt_layout_item *item_ret, bool *has_ret,
                              struct nt_error *error);
/* Goes back to the first item, which reads the files again unless all items are in memory. */
bool nt_layout_is_in_memory(const struct nt_layout *layout);
enum nt_status nt_layout_rewind(struct nt_layout *layout, struct nt_error *error);

/* Sizes of the sources: 0 if a file cannot be opened; those of objects are set after the last item. */
const uint64_t *nt_layout_source_bytes(const struct nt_layout *layout, uint32_t *count_ret);

/* The source of an item, for its name. */
struct nt_source *nt_layout_source(const struct nt_file *file, uint32_t source);

/* layout.jsonl: one line for each item. */
enum nt_status nt_layout_lines(const struct nt_file *file, struct nt_text_generator **text_ret,
                               struct nt_error *error);

/* ---- Groups of fields ---- */

/* Fields with similar names. `name` is the common part, or the whole name of a single member. If the
 * names end in numbers, `from` and `to` are the lowest and highest. Lives as long as the dataset. */
struct nt_field_group {
    struct nt_text name, from, to;
    uint32_t first, count; /* its members */
};

struct nt_field_groups {
    struct nt_field_group *items; /* ordered by first member */
    uint32_t count;
    uint32_t *members;  /* fields, group by group, in order */
    uint32_t *of_field; /* [field]: the group of its top-level field, or of the field that shows it */
    uint32_t *shown;    /* [field]: see nt_shown_fields; NULL without fields */
};

/* Few fields get one group each. The caller calls nt_field_groups_deinit, also after a failure. */
enum nt_status nt_field_groups_init(struct nt_field_groups *groups, const struct nt_dataset *dataset,
                                    struct nt_error *error);
void nt_field_groups_deinit(struct nt_field_groups *groups);

/* Appends "Jet_* (12 fields)", "x10 … 19 (10 fields)" or the name of a single field. */
void nt_append_field_group(struct nt_buffer *out, const struct nt_field_group *group);

/* ---- SVG drawing ---- */

/* A colour by hue (degrees), saturation and lightness (percent). */
struct nt_colour {
    unsigned hue, saturation, lightness;
};

struct nt_box {
    double x, y, width, height;
};

/* ---- Pictures whose size is known before drawing ---- */

enum {
    NT_SVG_MIN_BYTES = 1 << 12,
    NT_SVG_MAX_BYTES = 1 << 20,
    NT_SVG_GRAINS = 13, /* 1, 2, 4, ... pixels; the last is more than any picture is wide */
};

/* The size of a picture that may need so many bytes: a power of two within the bounds. */
size_t nt_svg_size(uint64_t prefetched_bytes);

/* Draws all. May merge details below `grain` pixels, and may stop once `out` exceeds `bytes`. */
typedef void nt_svg_draw(void *context, unsigned grain, size_t bytes, struct nt_buffer *out);

/* Fills the empty `out` with exactly `bytes` (from nt_svg_size): the picture with as much detail as
 * fits, padded with white space. Tries the grains from `finest` on. */
enum nt_status nt_svg_fit(nt_svg_draw *draw, void *context, unsigned finest, size_t bytes,
                          struct nt_buffer *out, struct nt_error *error);

/* ---- Drawing ---- */

void nt_svg_begin(struct nt_buffer *out, double width, double height, const char *title);
void nt_svg_end(struct nt_buffer *out);
/* Appends a name from the file to a title: on one line, truncated if very long. */
void nt_svg_append_name(struct nt_buffer *title, const void *bytes, size_t length);
/* Draws a text line with its baseline at (x, y). `class` is a style of nt_svg_begin: "h" heading, "t"
 * text, "s" small, "l" label on colour, "d" label on a dark colour. Truncates the text with an ellipsis
 * to about `width` (0: unlimited) and clips it there. */
void nt_svg_text(struct nt_buffer *out, double x, double y, const char *class, double width,
                 const char *text);
/* Does a text fit into about `width`? */
bool nt_svg_fits(const char *class, double width, const char *text);
/* Draws a rectangle with a tooltip (lines, not yet escaped; NULL: none). */
void nt_svg_box(struct nt_buffer *out, struct nt_box box, struct nt_colour colour,
                const struct nt_buffer *title);

/* Distinct colours: the number of a field group sets hue and tone; the ratio makes it light (not
 * compressed) or deep (compressed well). */
struct nt_colour nt_field_colour(uint32_t number, double ratio);

/* The class of a label that is readable on a colour. */
const char *nt_label_class(struct nt_colour colour);

/* Appends "1.3 MB". */
void nt_append_bytes(struct nt_buffer *out, uint64_t bytes);

/* ---- Pictures ---- */

/* layout.svg: the file as a strip map. Its bytes run in lines from left to right. Each range has the
 * colour of its owner's top-level field, or of that field's group. The picture's size depends only on
 * the size of the file; drawing loads all page lists. */
uint64_t nt_layout_svg_bytes(const struct nt_file *file);
enum nt_status nt_layout_svg(struct nt_file *file, struct nt_buffer *out, struct nt_error *error);

/* sizes.svg: a treemap of a dataset's stored bytes by group and field. The picture's size depends only
 * on the number of columns; drawing loads all page lists. */
uint64_t nt_sizes_svg_bytes(const struct nt_dataset *dataset);
enum nt_status nt_sizes_svg(struct nt_dataset *dataset, struct nt_buffer *out, struct nt_error *error);
