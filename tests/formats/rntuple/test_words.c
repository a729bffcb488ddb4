/* SPDX-License-Identifier: MIT
 *
 * Envelopes with one changed word or a missing end and a matching checksum, as a faulty writer produces
 * them, of every generation. Each is read, or refused with a message about the file, as often as it is
 * read.
 */
#include "rntuple_opened.h"

static struct written written;

static const struct column_number INDEX32 = {1, 0x02, 0x0e}, CHAR = {3, 0x05, 0x02}, INT32 = {10, 0x17, 0x07},
                                  REAL32 = {6, 0x08, 0x0c};

/* ---- one of everything ---- */

#define PAGE(count, bytes)                                                                                   \
    {                                                                                                        \
        .elements = count, .packed = bytes, .packed_bytes = sizeof(bytes) - 1                                \
    }
#define ONE_PAGE(count, bytes) .pages = &(struct rntuple_page)PAGE(count, bytes), .page_count = 1

/* The last two are in the schema extension. */
static const struct rntuple_field fields[] = {
    {.name = "energy", .type = "float", .parent = RNTUPLE_TOP, .description = "in GeV", .alias = "E"},
    {.name = "title", .type = "std::string", .parent = RNTUPLE_TOP},
    {.name = "hits", .type = "std::vector<std::int32_t>", .parent = RNTUPLE_TOP, .role = 1},
    {.name = "_0", .type = "std::int32_t", .parent = 2},
    {.name = "pair", .type = "std::array<float,2>", .parent = RNTUPLE_TOP, .flags = 1, .array_size = 2},
    {.name = "_0", .type = "float", .parent = 4},
    {.name = "late", .type = "std::int32_t", .parent = RNTUPLE_TOP},
    {.name = "energy2", .type = "float", .parent = RNTUPLE_TOP, .flags = 2, .source = 0},
};
enum { FIELDS = sizeof(fields) / sizeof(*fields), COLUMNS = 7 };
static struct rntuple_column columns[COLUMNS];
static const struct rntuple_range ranges[COLUMNS] = {
    {ONE_PAGE(2, "\0\0\x80\x3f\0\0\0\x40")},
    {ONE_PAGE(2, "\1\0\0\0\3\0\0\0")},
    {ONE_PAGE(3, "abc")},
    {ONE_PAGE(2, "\0\0\0\0\2\0\0\0")},
    {.pages = (const struct rntuple_page[]){PAGE(1, "\1\0\0\0"), PAGE(1, "\2\0\0\0")}, .page_count = 2},
    {ONE_PAGE(4, "\0\0\x80\x3f\0\0\0\x40\0\0\x80\x3f\0\0\0\x40")},
    {ONE_PAGE(2, "\1\0\0\0\2\0\0\0")},
};
static const struct rntuple_cluster clusters[] = {
    {.first_entry = 0, .entries = 2, .ranges = ranges, .range_count = COLUMNS}};
static const struct rntuple_alias alias = {0, 7};
static const struct rntuple_column_group group = {(const uint32_t[]){0, 1}, 2};
static const struct rntuple_pair pairs[] = {
    {.key = "count", .type = 1, .integers = (const int64_t[]){-5}},
    {.key = "tags", .type = -4, .count = 2, .strings = (const char *const[]){"one", "two"}},
    {.key = "scale", .type = 3, .reals = (const double[]){0.5}},
};

static bool has_extension(enum rntuple_generation generation)
{
    return generation >= RNTUPLE_CRC32_EXTENSION;
}

static struct rntuple_description usual(enum rntuple_generation generation)
{
    const struct column_number types[COLUMNS] = {REAL32, INDEX32, CHAR, INDEX32, INT32, REAL32, INT32};
    const uint32_t bits[COLUMNS] = {32, 32, 8, 32, 32, 32, 32}, of[COLUMNS] = {0, 1, 1, 2, 3, 5, 6};
    bool has_aliases = generation != RNTUPLE_PREDRAFT,
         has_groups = has_aliases && generation <= RNTUPLE_RC2_LATE;
    for (uint32_t i = 0; i < COLUMNS; i++)
        columns[i] = (struct rntuple_column){
            .type = column_number(generation, types[i]), .bits = (uint16_t)bits[i], .field = of[i]};
    return (struct rntuple_description){.name = "events",
                                        .description = "a run",
                                        .writer = "a test",
                                        .fields = fields,
                                        .field_count = FIELDS - !has_aliases,
                                        .columns = columns,
                                        .column_count = COLUMNS,
                                        .aliases = &alias,
                                        .alias_count = has_aliases,
                                        .extension_fields = has_extension(generation) ? 2 : 0,
                                        .extension_columns = has_extension(generation),
                                        .extension_aliases = has_extension(generation),
                                        .clusters = clusters,
                                        .cluster_count = 1,
                                        .column_groups = &group,
                                        .column_group_count = has_groups,
                                        .pairs = pairs,
                                        .pair_count = has_groups ? sizeof(pairs) / sizeof(*pairs) : 0,
                                        .attribute_set = generation == RNTUPLE_V1_1 ? "notes" : NULL,
                                        .extra_type = has_aliases ? "T" : NULL};
}

/* ---- what is changed ---- */

static struct {
    enum rntuple_envelope kind;
    size_t at;
    unsigned bytes; /* 0: everything from there on is missing */
    uint64_t value;
    size_t length; /* in the last such envelope, before it was changed */
} change;

static void spoil(enum rntuple_envelope kind, struct nt_buffer *bytes)
{
    if (kind != change.kind)
        return;
    change.length = bytes->length;
    if (change.bytes == 0 && change.at < bytes->length)
        bytes->length = change.at;
    for (unsigned i = 0; i < change.bytes && change.at + i < bytes->length; i++)
        bytes->bytes[change.at + i] = (char)(change.value >> 8 * i);
}

/* ---- what is read ---- */

static void check_status(enum nt_status status, const struct nt_error *failure, const char *what)
{
    bool is_reported =
        status == NT_OK || ((status == NT_CORRUPT || status == NT_CHECKSUM || status == NT_TRUNCATED ||
                             status == NT_LIMIT || status == NT_UNSUPPORTED) &&
                            failure->message[0]);
    ck_assert_msg(is_reported, "envelope %d, byte %zu: %s: %s: '%s'", change.kind, change.at, what,
                  nt_status_name(status), failure->message);
}

static void write_document(const struct nt_document *document)
{
    const struct nt_document_request request = {document, written.file, written.dataset, 0};
    struct nt_buffer out = {0};
    struct nt_error failure = {0};
    struct nt_text_generator *text = NULL;
    bool has_more = true;
    if (document->write) {
        check_status(document->write(&request, &out, &failure), &failure, document->prefix);
    } else if (document->open) {
        enum nt_status status = document->open(&request, &text, &failure);
        while (status == NT_OK && has_more)
            status = text->next(text, &out, &has_more, &failure);
        check_status(status, &failure, document->prefix);
        if (text)
            text->free(text);
    }
    nt_buffer_deinit(&out);
}

/* Could all of it be read? */
static bool read_all(enum rntuple_generation generation, const struct rntuple_description *description)
{
    struct nt_error failure = {0};
    enum nt_status status = write_and_open(&written, generation, description, &failure);
    check_status(status, &failure, "opening");
    if (status == NT_OK) {
        failure = (struct nt_error){0};
        status = nt_dataset_load_all(written.dataset, &failure);
        check_status(status, &failure, "page lists");
    }
    for (uint32_t i = 0; written.dataset && i < written.dataset->document_count; i++)
        write_document(&written.dataset->documents[i]);
    written_close(&written);
    return status == NT_OK;
}

/* Changes an envelope's `length`, with some parts read and some not. */
static void change_everywhere(enum rntuple_generation generation,
                              const struct rntuple_description *description, size_t length, unsigned *read,
                              unsigned *refused)
{
    static const struct {
        unsigned bytes;
        uint64_t value;
    } words[] = {{0, 0}, {4, 0}, {4, UINT32_MAX}, {4, INT32_MAX}, {8, UINT64_MAX}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        for (change.at = i; change.at < length; change.at += 4) {
            change.bytes = words[i].bytes;
            change.value = words[i].value;
            bool is_read = read_all(generation, description);
            *read += is_read;
            *refused += !is_read;
        }
}

TEST(every_word_of_every_envelope_may_be_another_one, .end = RNTUPLE_GENERATIONS)
{
    enum rntuple_generation generation = (enum rntuple_generation)_i;
    struct rntuple_description description = usual(generation);
    unsigned read = 0, refused = 0;
    description.spoil = spoil;
    for (change.kind = RNTUPLE_HEADER; change.kind <= RNTUPLE_USER_METADATA; change.kind++) {
        change.length = change.bytes = 0;
        change.at = SIZE_MAX;
        ck_assert(read_all(generation, &description));
        change_everywhere(generation, &description, change.length, &read, &refused);
    }
    ck_assert_uint_gt(read, 100);
    ck_assert_uint_gt(refused, 100);
}
