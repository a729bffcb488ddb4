/* SPDX-License-Identifier: MIT
 *
 * In: a source. Out: what the last 40 bytes of a Lance file say: version, and where its tables are (lance's
 * format documentation, "File Format", footer). Files of the legacy format have 16: one position in front of version and
 * magic, as manifests of data sets, which are named.
 */
#include "formats/lance/file/tail.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/overflow.h"

/* The end that all versions have: position of something, u16 major, u16 minor, magic. */
enum { END_BYTES = NT_LANCE_LEGACY_TAIL_BYTES, VERSION_BYTES = 8, MAGIC_BYTES = 4, TABLE_ENTRY_BYTES = 16 };

struct version {
    uint16_t major, minor;
    const char *name;
    bool is_legacy;
};

static const struct version versions[] = {
    {0, 1, "0.1", true},  {0, 2, "0.2", true},  {0, 3, "2.0", false}, /* as all writers of 2.0 number it */
    {2, 0, "2.0", false}, {2, 1, "2.1", false}, {2, 2, "2.2", false},
    {2, 3, "2.3", false}, /* not settled: of what it has beyond 2.2, the columns tell that they are not read */
};

static const struct version *find_version(uint16_t major, uint16_t minor)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
        if (versions[i].major == major && versions[i].minor == minor)
            return &versions[i];
    return NULL;
}

/* A manifest's message begins with the fields of a schema, messages of number 1, which is a number in a legacy file's
 * metadata, or absent. */
static bool is_manifest(struct nt_source *source, uint64_t size, uint64_t position)
{
    uint8_t start[5];
    if (!nt_fits(position, sizeof(start), size) ||
        nt_source_read(source, position, start, sizeof(start), NULL) != NT_OK)
        return false;
    struct nt_cursor cursor = nt_cursor(start, sizeof(start));
    uint32_t length = nt_get_le32(&cursor);
    return length > 0 && nt_get_u8(&cursor) == (1 << 3 | NT_PROTO_WIRE_BYTES);
}

static enum nt_status take_legacy(struct nt_source *source, uint64_t size, uint64_t position,
                                  struct nt_lance_tail *tail, struct nt_error *error)
{
    if (is_manifest(source, size, position))
        return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET,
                       "a manifest of a Lance data set, which is not read; its files in data/ are");
    tail->is_legacy = true;
    tail->offset = size - NT_LANCE_LEGACY_TAIL_BYTES;
    tail->metadata = position;
    return NT_OK;
}

/* The end of any Lance file, and its version. */
static enum nt_status recognize(struct nt_source *source, uint64_t size, struct nt_lance_tail *tail,
                                struct nt_error *error)
{
    uint8_t bytes[END_BYTES];
    enum nt_status status = NT_OK;
    if (size >= END_BYTES)
        status = nt_source_read(source, size - END_BYTES, bytes, END_BYTES, error);
    if (status != NT_OK)
        return status;
    if (size < END_BYTES || memcmp(bytes + END_BYTES - MAGIC_BYTES, "LANC", MAGIC_BYTES) != 0)
        return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "not a Lance file: it does not end in LANC");
    struct nt_cursor cursor = nt_cursor(bytes, END_BYTES);
    uint64_t position = nt_get_le64(&cursor);
    tail->major = nt_get_le16(&cursor);
    tail->minor = nt_get_le16(&cursor);
    const struct version *version = find_version(tail->major, tail->minor);
    if (!version)
        return nt_fail(error, NT_UNSUPPORTED, size - VERSION_BYTES,
                       "a Lance file of version %u.%u is not read", tail->major, tail->minor);
    tail->version = version->name;
    return version->is_legacy ? take_legacy(source, size, position, tail, error) : NT_OK;
}

/* A table lies in front of the tail, whole. */
static enum nt_status check_table(const struct nt_lance_tail *tail, const char *name, uint64_t offset,
                                  uint32_t entries, struct nt_error *error)
{
    uint64_t bytes = (uint64_t)entries * TABLE_ENTRY_BYTES;
    if (nt_fits(offset, bytes, tail->offset))
        return NT_OK;
    return nt_fail(error, NT_CORRUPT, tail->offset,
                   "the tail's %s of %" PRIu32 " entries, %" PRIu64 " bytes at %" PRIu64
                   ", does not end before the tail at %" PRIu64,
                   name, entries, bytes, offset, tail->offset);
}

static enum nt_status check_tail(const struct nt_lance_tail *tail, struct nt_error *error)
{
    enum nt_status status = check_table(tail, "column table", tail->column_table, tail->columns, error);
    if (status == NT_OK)
        status = check_table(tail, "table of global buffers", tail->global_table, tail->globals, error);
    if (status == NT_OK && tail->columns_start > tail->column_table)
        status =
            nt_fail(error, NT_CORRUPT, tail->offset,
                    "the tail's column metadata begin at %" PRIu64 ", behind the column table at %" PRIu64,
                    tail->columns_start, tail->column_table);
    if (status == NT_OK && tail->globals == 0)
        status = nt_fail(error, NT_CORRUPT, tail->offset, "no global buffer, where the schema should be");
    return status;
}

enum nt_status nt_lance_read_tail(struct nt_source *source, uint64_t size, struct nt_lance_tail *tail,
                                  struct nt_error *error)
{
    uint8_t bytes[NT_LANCE_TAIL_BYTES];
    enum nt_status status = recognize(source, size, tail, error);
    if (status != NT_OK || tail->is_legacy)
        return status;
    if (size < NT_LANCE_TAIL_BYTES)
        return nt_fail(error, NT_CORRUPT, 0, "a Lance file of %" PRIu64 " bytes, fewer than its tail has",
                       size);
    tail->offset = size - NT_LANCE_TAIL_BYTES;
    status = nt_source_read(source, tail->offset, bytes, sizeof(bytes), error);
    if (status != NT_OK)
        return status;
    struct nt_cursor cursor = nt_cursor(bytes, sizeof(bytes));
    tail->columns_start = nt_get_le64(&cursor);
    tail->column_table = nt_get_le64(&cursor);
    tail->global_table = nt_get_le64(&cursor);
    tail->globals = nt_get_le32(&cursor);
    tail->columns = nt_get_le32(&cursor);
    return check_tail(tail, error);
}
