/* SPDX-License-Identifier: MIT
 *
 * The layout of a chain is that of its files, one after the other, and opens them as it goes.
 */
#include <ntuple/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain.h"
#include "support.h"
#include "temporary.h"
#include "tools/tools.h"
#include "core/model/model.h"

enum { MEMBERS = 64, MAX_PATH = 512 };

static const char *const originals[] = {"example.root", "trees/trees_leaves.root"};
static char paths[MEMBERS][MAX_PATH];
static struct nt_error error;

/* Opens copies of a file as a chain, of which an index is made or used. */
static struct nt_file *open_chain(void)
{
    const char *names[MEMBERS];
    char index[MAX_PATH + 8];
    struct nt_file *stub;
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    snprintf(index, sizeof(index), "%s.index", paths[0]);
    options.index = index;
    for (unsigned i = 0; i < MEMBERS; i++)
        names[i] = paths[i];
    assert_ok(nt_file_open_chain(names, MEMBERS, &options, 0, &stub, &error));
    return stub;
}

static void setup(const char *original)
{
    char path[MAX_PATH];
    temporary_setup();
    snprintf(path, sizeof(path), "%s/%s", getenv("NTUPLE_TEST_DATA"), original);
    for (unsigned i = 0; i < MEMBERS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "member%02u.root", i);
        snprintf(paths[i], sizeof(paths[i]), "%s", temporary_copy(name, path));
    }
    nt_file_close(open_chain());
}

static unsigned count_opened(const struct nt_file *file)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < MEMBERS; i++)
        count += nt_chain_of(file)->parts[i].file || nt_chain_of(file)->parts[i].source;
    return count;
}

static void check_member(struct nt_layout *layout, unsigned number)
{
    struct nt_layout *alone;
    struct nt_layout_item expected, found;
    struct nt_file *file;
    bool has_expected = true, has_found;
    assert_ok(nt_file_open(paths[number], NULL, &file, &error));
    assert_ok(nt_layout_new(file, &alone, &error));
    while (nt_layout_next(alone, &expected, &has_expected, &error) == NT_OK && has_expected) {
        assert_ok(nt_layout_next(layout, &found, &has_found, &error));
        ck_assert(has_found);
        ck_assert_uint_eq(found.offset, expected.offset);
        ck_assert_uint_eq(found.bytes, expected.bytes);
        ck_assert_str_eq(found.owner, expected.owner);
        ck_assert_int_eq(found.column == NT_NONE, expected.column == NT_NONE);
    }
    ck_assert(!has_expected);
    nt_layout_free(alone);
    nt_file_close(file);
}

TEST(a_layout_of_a_chain_opens_its_files_as_it_goes, .end = COUNT_OF(originals))
{
    struct nt_layout *layout;
    struct nt_layout_item item;
    struct nt_file *file;
    bool has_item;
    setup(originals[_i]);
    struct nt_file *stub = open_chain();
    assert_ok(nt_file_resolve(stub, &file, &error));
    ck_assert_uint_eq(count_opened(file), 1);
    assert_ok(nt_layout_new(file, &layout, &error));
    ck_assert_uint_le(count_opened(file), MEMBERS / 2);
    for (unsigned i = 0; i < MEMBERS; i++)
        check_member(layout, i);
    assert_ok(nt_layout_next(layout, &item, &has_item, &error));
    ck_assert(!has_item);
    ck_assert_uint_eq(count_opened(file), MEMBERS);
    nt_layout_free(layout);
    nt_file_close(stub);
    temporary_teardown();
}
