/* SPDX-License-Identifier: MIT
 *
 * Statistics of legacy files: members that are absent, unknown or useless, and tables that point outside
 * of the file. Such statistics do not affect reading.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lance_legacy_file.h"
#include "core/base/memory.h"
#include "core/model/model.h"
#include "formats/lance/file/messages.h"

static struct nt_buffer text;

static void clear(void)
{
    nt_buffer_deinit(&text);
    text = (struct nt_buffer){0};
    tear_down();
}

/* The whole of a document. */
static enum nt_status write_document(const char *name)
{
    const struct nt_dataset *dataset = file->datasets[0];
    const struct nt_document *document = dataset->documents;
    struct nt_text_generator *long_text;
    while (strcmp(document->prefix, name) != 0)
        document++;
    nt_buffer_clear(&text);
    const struct nt_document_request request = {document, file, dataset, 0};
    if (document->write)
        return document->write(&request, &text, &error);
    enum nt_status status = document->open(&request, &long_text, &error);
    if (status != NT_OK)
        return status;
    for (bool more = true; status == NT_OK && more;)
        status = long_text->next(long_text, &text, &more, &error);
    long_text->free(long_text);
    nt_buffer_append_byte(&text, '\0');
    return status;
}

static struct nt_buffer message; /* a StatisticsMetadata */
static uint64_t cells[16][2];
static uint64_t id_count;

static void put_field(int32_t parent, const char *name, const char *type, uint64_t offset, uint64_t length)
{
    cells[id_count][0] = offset;
    cells[id_count][1] = length;
    legacy_put_field(&message, (int32_t)id_count++, parent, name, type, 1, UINT64_MAX, 0);
}

static void end(void)
{
    uint64_t ids[16];
    for (uint64_t i = 0; i < id_count; i++)
        ids[i] = i;
    put_packed(&message, 2, ids, id_count);
    put_number(&message, 3, writer.out.length);
    for (uint64_t i = 0; i < id_count; i++)
        legacy_numbers(&writer, 8, cells[i], 2);
    writer.statistics = message;
    message = (struct nt_buffer){0};
    id_count = 0;
    legacy_end(&writer);
    assert_ok(legacy_open());
}

/* Number has all members, and an unknown one; text lacks null_count; one field does not exist; one is
 * no id. */
static void put_statistics(void)
{
    put_all();
    uint64_t counts = legacy_numbers(&writer, 8, (uint64_t[]){0, 1}, 2);
    uint64_t least = legacy_numbers(&writer, 4, (uint64_t[]){1, UINT32_MAX}, 2);
    uint64_t bytes = legacy_bytes(&writer, "ab", 2);
    uint64_t strings = legacy_numbers(&writer, 8, (uint64_t[]){bytes, bytes + 2, bytes + 2}, 3);
    put_field(-1, "0", "struct", 0, 0);
    put_field(0, "null_count", "int64", counts, 2);
    put_field(0, "min_value", "int32", least, 2);
    put_field(0, "max_value", "int32", least, 2);
    put_field(0, "mean_value", "double", UINT64_MAX, UINT64_MAX);
    put_field(-1, "1", "struct", 0, 0);
    put_field(5, "max_value", "string", strings, 2);
    put_field(-1, "77", "struct", 0, 0);
    put_field(7, "null_count", "int64", counts, 2);
    put_field(-1, "number", "struct", 0, 0);
}

static const char expected[] =
    "{\"field\":\"number\",\"field_id\":0,\"file_page\":0,\"null_count\":0,\"minimum\":1,\"maximum\":1}\n"
    "{\"field\":\"number\",\"field_id\":0,\"file_page\":1,\"null_count\":1,\"minimum\":-1,\"maximum\":-1}\n"
    "{\"field\":\"text\",\"field_id\":1,\"file_page\":0,\"maximum\":\"ab\"}\n"
    "{\"field\":\"text\",\"field_id\":1,\"file_page\":1,\"maximum\":null}\n";

TEST(members_may_be_absent_and_others_mean_nothing, .teardown = clear)
{
    put_statistics();
    end();
    assert_ok(write_document("statistics.jsonl"));
    ck_assert_str_eq(text.bytes, expected);
}

TEST(without_statistics_there_are_no_lines, .teardown = clear)
{
    put_all();
    legacy_end(&writer);
    assert_ok(legacy_open());
    assert_ok(write_document("statistics.jsonl"));
    ck_assert_str_eq(text.bytes, "");
}

/* Cell numbers that refer to nothing. */
static const struct {
    unsigned cell, place;
    uint64_t value;
    const char *message;
} damages[] = {
    {1, 0, 1 << 20, "statistics of field 0: statistics of 2 rows are outside the file"},
    {1, 0, UINT64_MAX, "are outside the file"},
    {2, 1, 3, "rows of statistics: expected 2, found 3"},
    {2, 1, UINT64_MAX, "rows of statistics"},
    {6, 0, 1, "statistics of field 1"},
};

TEST(what_leads_nowhere_fails_alone, .teardown = clear, .end = sizeof(damages) / sizeof(*damages))
{
    put_statistics();
    cells[damages[_i].cell][damages[_i].place] = damages[_i].value;
    end();
    assert_status(NT_CORRUPT, write_document("statistics.jsonl"));
    ck_assert_msg(strstr(error.message, damages[_i].message), "%s", error.message);
    assert_ok(load_field(NUMBER));
    assert_ok(write_document("metadata.json"));
}

TEST(a_schema_that_contradicts_itself_leaves_the_rest, .teardown = clear)
{
    put_statistics();
    legacy_put_field(&message, 0, -1, "again", "int8", 1, UINT64_MAX, 0);
    end();
    assert_status(NT_CORRUPT, write_document("statistics.jsonl"));
    ck_assert_msg(strstr(error.message, "has the id 0, like another field"), "%s", error.message);
    assert_ok(load_field(NUMBER));
}

TEST(a_table_of_endless_fields_is_not_read, .teardown = clear)
{
    put_statistics();
    put_packed(&message, 2, (uint64_t[]){INT32_MAX}, 1);
    end();
    assert_status(NT_CORRUPT, write_document("statistics.jsonl"));
    ck_assert_msg(strstr(error.message, "does not end before the tail"), "%s", error.message);
    assert_ok(load_field(TEXT));
}

/* ---- the other documents ---- */

static bool has(const char *words)
{
    return strstr(text.bytes, words);
}

TEST(documents_say_where_all_is, .teardown = clear)
{
    char words[128];
    put_all();
    legacy_end(&writer);
    assert_ok(legacy_open());
    assert_ok(write_document("footer.json"));
    nt_buffer_append_byte(&text, '\0');
    snprintf(words, sizeof(words), "\"metadata_offset\": %" PRIu64, writer.metadata_at);
    ck_assert_msg(has(words) && has("\"version\": \"0.2\""), "%s", text.bytes);
    assert_ok(write_document("metadata.json"));
    snprintf(words, sizeof(words), "\"page_table_position\": %" PRIu64, writer.table);
    ck_assert_msg(has(words) && has("\"entries\": 3") && has("ntuplefs.lance_legacy/1"), "%s", text.bytes);
    assert_ok(write_document("schema.json"));
    nt_buffer_append_byte(&text, '\0');
    ck_assert_msg(has("\"logical_type\": \"dict:string:int16:false\""), "%s", text.bytes);
    assert_ok(write_document("schema.bin"));
    ck_assert_mem_eq(text.bytes, writer.out.bytes + writer.manifest_at + 4, text.length);
    assert_ok(write_document("metadata.bin"));
    ck_assert_uint_eq(text.length, writer.tail - writer.metadata_at - 4);
}
