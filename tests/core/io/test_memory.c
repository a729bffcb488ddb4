/* SPDX-License-Identifier: MIT
 *
 * Memory as a source.
 */
#include "core/io/source.h"
#include "support.h"

#include <string.h>
#include <sys/stat.h>

#include <ntuple/source.h>

static struct nt_error error;
static struct nt_source *source;

TEST(any_range_is_read_exactly)
{
    char buffer[16];
    assert_ok(nt_source_open_memory("0123456789", 10, "name", &source, &error));
    ck_assert_uint_eq(source->size, 10);
    ck_assert_str_eq(source->path, "name");
    assert_ok(nt_source_read(source, 3, buffer, 4, &error));
    ck_assert_mem_eq(buffer, "3456", 4);
    assert_ok(nt_source_read(source, 10, buffer, 0, &error));
    assert_status(NT_TRUNCATED, nt_source_read(source, 7, buffer, 4, &error));
    ck_assert_str_eq(error.message, "name: 4 bytes are outside the file of 10 bytes (at byte 7)");
    assert_status(NT_TRUNCATED, nt_source_read(source, UINT64_MAX, buffer, 4, &error));
    nt_source_close(source);
}

TEST(memory_never_changes_and_has_no_attributes)
{
    struct stat attributes;
    uint64_t size;
    assert_ok(nt_source_open_memory(NULL, 0, "nothing", &source, &error));
    assert_ok(nt_source_check(source, &error));
    assert_ok(nt_source_size(source, &size, &error));
    ck_assert_uint_eq(size, 0);
    ck_assert_uint_eq(nt_source_skip_hole(source, 0), 0);
    assert_status(NT_NOT_FOUND, nt_source_stat(source, &attributes, &error));
    nt_source_close(source);
}
