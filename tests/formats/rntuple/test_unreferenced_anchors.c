/* SPDX-License-Identifier: MIT
 *
 * No dataset is missed silently: files of ROOT and uproot, with each bit flipped that leads to their
 * datasets. Neither keys nor directories have checksums.
 */
#include <malloc.h>
#include <stdio.h>

#include "core/base/sanitizer.h"
#include "core/base/text.h"
#include "container/container.h"
#include "rntuple_opened.h"
#include "tfile_writer.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include "formats/formats.h"
#include "formats/rntuple/rntuple.h"
#include <ntuple/source.h>

static struct nt_error error;
static uint8_t *bytes;
static size_t size;

/* ---- files with every bit flipped ---- */

static const char *const names[] = {"directories_by_uproot.root", "dirs_and_cycles.root", "attributes.root"};

static void load(const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", getenv("NTUPLE_TEST_DATA"), name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    fseek(file, 0, SEEK_END);
    size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(size);
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    fclose(file);
}

static enum nt_status open_file(struct nt_file **file_ret)
{
    struct nt_source *source;
    assert_ok(nt_source_open_memory(bytes, size, "test.root", &source, &error));
    enum nt_status status =
        nt_format_rntuple.open(source, &(struct nt_open_options){.format = "rntuple"}, file_ret, &error);
    if (status != NT_OK)
        nt_source_close(source);
    return status;
}

static bool texts_equal(struct nt_text a, struct nt_text b)
{
    return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length);
}

static bool is_same_directory(const struct nt_file *left, uint32_t a, const struct nt_file *right, uint32_t b)
{
    while (a && b && texts_equal(left->directories[a].name, right->directories[b].name)) {
        a = left->directories[a].parent;
        b = right->directories[b].parent;
    }
    return a == 0 && b == 0;
}

/* Is a dataset there, unchanged? */
static bool is_there(const struct nt_file *file, const struct nt_dataset *expected)
{
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_dataset *dataset = file->datasets[i];
        if (!dataset->failure && texts_equal(dataset->name, expected->name) &&
            dataset->cycle == expected->cycle &&
            is_same_directory(file, dataset->directory, expected->file, expected->directory))
            return dataset->entries == expected->entries && dataset->field_count == expected->field_count;
    }
    return false;
}

static bool has_failure(const struct nt_file *file)
{
    if (file->failure)
        return true;
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (file->datasets[i]->failure)
            return true;
    return false;
}

static void assert_reported(const struct nt_file *good, size_t at, unsigned bit)
{
    struct nt_file *file;
    enum nt_status status = open_file(&file);
    if (status != NT_OK) {
        ck_assert_msg(status != NT_NOT_THIS_FORMAT || at < NT_TFILE_MAGIC_BYTES, "byte %zu bit %u: %s", at,
                      bit, error.message);
        return;
    }
    for (uint32_t i = 0; i < good->dataset_count; i++)
        ck_assert_msg(is_there(file, good->datasets[i]) || has_failure(file),
                      "byte %zu, bit %u: %.*s;%u is missing", at, bit, (int)good->datasets[i]->name.length,
                      good->datasets[i]->name.bytes, good->datasets[i]->cycle);
    nt_file_close(file);
}

/* Sanitizers take three times as long, so one bit of each byte. */
static void flip_all(const struct nt_file *good, size_t from, size_t to)
{
    for (size_t at = from; at < to; at++)
        for (unsigned bit = NT_IS_SANITIZED ? at % 8 : 0; bit < 8; bit += NT_IS_SANITIZED ? 8 : 1) {
            bytes[at] ^= (uint8_t)(1 << bit);
            assert_reported(good, at, bit);
            bytes[at] ^= (uint8_t)(1 << bit);
        }
}

/* For directories, their lists and anchors the whole record; for all others the key. */
static size_t interesting_bytes(const struct nt_tfile_record *record)
{
    if (record->kind != NT_TFILE_KEY)
        return record->bytes < 8 ? record->bytes : 8;
    bool is_whole = nt_tfile_is_anchor(&record->key) || nt_tfile_is_directory(&record->key) ||
                    nt_text_is(record->key.class_name, "TFile");
    return is_whole ? record->bytes : record->key.key_bytes;
}

TEST(every_flipped_bit_is_harmless_or_reported, .end = 3)
{
    load(names[_i]);
    struct nt_file *good;
    assert_ok(open_file(&good));
    ck_assert(!has_failure(good));
    struct nt_tfile_walk walk;
    struct nt_tfile_record record;
    assert_ok(nt_tfile_walk_init(&walk, good->source, &nt_tfile_of(good)->header, &error));
    flip_all(good, 0, nt_tfile_of(good)->header.begin);
    while (nt_tfile_walk_next(&walk, &record, &error) == NT_OK)
        flip_all(good, record.offset, record.offset + interesting_bytes(&record));
    nt_tfile_walk_deinit(&walk);
    nt_file_close(good);
    free(bytes);
}

/* ---- what is lost, and what is not ---- */

static struct tfile_writer writer;

static uint64_t put_anchor(uint32_t directory, const char *name, uint16_t cycle)
{
    return tfile_writer_object(&writer, directory, "ROOT::RNTuple", name, cycle, "anchor", 6);
}

/* Removes the last key from the list of a directory. */
static void forget_last(uint32_t directory, uint64_t record)
{
    uint8_t key_bytes = (uint8_t)writer.out.bytes[record + TFILE_KEY_LENGTH + 1];
    writer.directories[directory].list.length -= key_bytes;
    writer.directories[directory].count--;
}

static struct nt_file *open_written(void)
{
    struct nt_file *file;
    tfile_writer_finish(&writer);
    bytes = (uint8_t *)writer.out.bytes;
    size = writer.out.length;
    assert_ok(open_file(&file));
    return file;
}

struct reported {
    unsigned count;
    struct nt_error last;
};

static void count_failure(void *context, const struct nt_error *failure)
{
    struct reported *reported = context;
    reported->count++;
    reported->last = *failure;
}

/* The lost datasets that the search finds. */
static struct reported check_file(const struct nt_file *file)
{
    struct reported reported = {0};
    assert_ok(file->check(file, count_failure, &reported, &error));
    return reported;
}

static void end(struct nt_file *file)
{
    nt_file_close(file);
    tfile_writer_deinit(&writer);
}

TEST(a_record_that_no_list_names_is_reported_by_the_check)
{
    tfile_writer_init(&writer, TFILE_SMALL);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    put_anchor(inner, "kept", 1);
    uint64_t record = put_anchor(inner, "lost", 3);
    forget_last(inner, record);
    struct nt_file *file = open_written();
    ck_assert_uint_eq(file->dataset_count, 1); /* opening finds no problem and searches nothing */
    struct reported reported = check_file(file);
    ck_assert_uint_eq(reported.count, 1);
    ck_assert_uint_eq(reported.last.status, NT_CORRUPT);
    ck_assert_uint_eq(reported.last.offset, record);
    ck_assert_ptr_nonnull(strstr(reported.last.message, "lost;3"));
    end(file);
}

TEST(where_a_list_raises_doubts_what_is_lost_is_in_its_directory)
{
    tfile_writer_init(&writer, TFILE_SMALL);
    uint32_t inner = tfile_writer_directory(&writer, 0, "inner");
    put_anchor(inner, "kept", 1);
    uint64_t record = put_anchor(inner, "lost", 3);
    writer.directories[inner].count--;
    struct nt_file *file = open_written();
    ck_assert_uint_eq(file->dataset_count, 2);
    const struct nt_dataset *lost = file->datasets[1];
    ck_assert(texts_equal(lost->name, (struct nt_text){"lost", 4}));
    ck_assert_uint_eq(lost->cycle, 3);
    ck_assert_uint_eq(lost->directory, inner);
    ck_assert_uint_eq(lost->failure->offset, record);
    ck_assert_uint_eq(check_file(file).count, 0); /* it is already reported */
    end(file);
}

TEST(a_lost_cycle_takes_its_place_among_the_others, .end = 2)
{
    static const bool is_newest[2][2] = {{true, false}, {false, true}};
    tfile_writer_init(&writer, TFILE_SMALL);
    put_anchor(0, "events", 5);
    put_anchor(0, "events", _i ? 6 : 4);
    writer.directories[0].count--;
    struct nt_file *file = open_written();
    ck_assert_uint_eq(file->dataset_count, 2);
    for (unsigned i = 0; i < 2; i++)
        ck_assert(file->datasets[i]->is_newest_cycle == is_newest[_i][i]);
    end(file);
}

TEST(deleted_records_and_older_cycles_are_not_lost)
{
    tfile_writer_init(&writer, TFILE_SMALL);
    put_anchor(0, "events", 1);
    put_anchor(0, "events", 2);
    uint64_t record = put_anchor(0, "deleted", 1);
    forget_last(0, record);
    uint64_t length = writer.out.length - record;
    uint64_t marked = tfile_writer_free(&writer, (uint32_t)length, false);
    uint64_t listed = tfile_writer_free(&writer, (uint32_t)length, true);
    uint8_t *out = (uint8_t *)writer.out.bytes;
    memcpy(out + marked + 4, out + record + 4, length - 4); /* as ROOT writes it */
    tfile_writer_put32(&writer, marked + TFILE_KEY_OFFSET, (uint32_t)marked);
    memcpy(out + listed, out + record, length); /* as uproot writes it */
    tfile_writer_put32(&writer, listed + TFILE_KEY_OFFSET, (uint32_t)listed);
    tfile_writer_put32(&writer, record, (uint32_t)-length);
    struct nt_file *file = open_written();
    ck_assert_uint_eq(check_file(file).count, 0);
    end(file);
}

TEST(nothing_is_lost_in_good_files, .end = 3)
{
    load(names[_i]);
    struct nt_file *file;
    assert_ok(open_file(&file));
    ck_assert_uint_eq(check_file(file).count, 0); /* an attribute set is in no list, but in a footer */
    nt_file_close(file);
    free(bytes);
}

__attribute__((constructor)) static void keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, 64 << 20); /* keep what each opening allocates: that takes most of the time */
}
