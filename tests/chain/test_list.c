/* SPDX-License-Identifier: MIT
 *
 * Addresses in lists: how they are shown, duplicates, and their order.
 */
#include "chain/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static struct nt_error error;
static char path[] = "/tmp/ntuple-list-XXXXXX";

static void setup(void)
{
    strcpy(path, "/tmp/ntuple-list-XXXXXX");
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    close(descriptor);
}

static void teardown(void)
{
    unlink(path);
}

static enum nt_status read_list(const char *text, struct nt_chain_list **list_ret)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    enum nt_status status = nt_chain_list_new((const char *[]){path}, 1, false, list_ret, &error);
    if (status == NT_OK && (status = nt_chain_list_expand_remote(*list_ret, NULL, &error)) != NT_OK)
        nt_chain_list_free(*list_ret);
    return status;
}

TEST(addresses_and_files_are_in_their_order, .setup = setup, .teardown = teardown)
{
    struct nt_chain_list *list;
    static const char *const shown[] = {"https://server/b.root", "/", "root://server//a.root",
                                        "s3://bucket/x y"};
    assert_ok(read_list(
        "https://server/b.root?token=secret\n/\nroot://me@server//a.root\n# x\n\ns3://bucket/x y\n", &list));
    ck_assert_uint_eq(list->count, 4);
    ck_assert_str_eq(list->name, path);
    for (uint32_t i = 0; i < list->count; i++) {
        ck_assert_str_eq(list->files[i].path, shown[i]);
        ck_assert_int_eq(list->files[i].address != NULL, i != 1);
        ck_assert_int_eq(list->files[i].identity.st_mode != 0, i == 1);
    }
    ck_assert_str_eq(list->files[0].address, "https://server/b.root?token=secret");
    ck_assert_uint_eq(list->folder_count, 1);
    ck_assert_ptr_nonnull(list->address);
    nt_chain_list_free(list);
}

TEST(without_addresses_no_helper_is_started, .setup = setup, .teardown = teardown)
{
    struct nt_chain_list *list;
    assert_ok(read_list("/\n", &list));
    ck_assert_ptr_null(list->address);
    nt_chain_list_free(list);
}

TEST(an_address_is_called_as_it_is_shown, .setup = setup, .teardown = teardown)
{
    struct nt_chain_list *list;
    const char *const operands[] = {"https://server/b.root?token=secret", "https://server/b.root"};
    assert_ok(nt_chain_list_new(operands, 2, false, &list, &error));
    assert_ok(nt_chain_list_expand_remote(list, NULL, &error));
    ck_assert_str_eq(list->name, "https://server/b.root");
    ck_assert_uint_eq(list->count, 2); /* messages escape characters that could distinguish files */
    nt_chain_list_free(list);
}

static const struct {
    const char *text, *message; /* expected in the message, after the list's path */
} wrong[] = {
    {"https://server/a\n/\nhttps://server/a\n", ", line 3: https://server/a: is named twice"},
    {"https://server/201?/x.root\n",
     ", line 1: https://server/201: '?' begins the query of an address: use '*' or '[]' in a pattern"},
    {"https://me:secret@server/a\n",
     ", line 1: the address of a file on server contains a user, which others could see"},
    {"/\nroot://me:secret@server//a\n",
     ", line 2: the address of a file on server contains a password, which others could see"},
    {"gs://bucket/a\n", ", line 1: "},
    {"{\"samples\":{\"s\":{\"trees\":[\"t\"],\"files\":[\"s3://b/a\",\"s3://b/a\"]}}}",
     ": s3://b/a: is named twice"},
};

TEST(what_is_wrong_is_reported_with_its_place, .setup = setup, .teardown = teardown,
     .end = sizeof(wrong) / sizeof(*wrong))
{
    struct nt_chain_list *list;
    ck_assert_int_ne(read_list(wrong[_i].text, &list), NT_OK);
    ck_assert_msg(strncmp(error.message, path, strlen(path)) == 0, "%s", error.message);
    ck_assert_msg(strncmp(error.message + strlen(path), wrong[_i].message, strlen(wrong[_i].message)) == 0,
                  "%s", error.message);
    ck_assert_ptr_null(strstr(error.message, "secret"));
}

TEST(a_file_may_be_named_for_several_of_its_datasets, .setup = setup, .teardown = teardown)
{
    struct nt_chain_list *list;
    assert_ok(read_list("{\"samples\":{\"s\":{\"trees\":[\"t\"],\"files\":[\"s3://b/a\"]},"
                        "\"r\":{\"trees\":[\"u\"],\"files\":[\"s3://b/a\"]}}}",
                        &list));
    ck_assert_uint_eq(list->count, 2);
    ck_assert_str_eq(list->files[1].sample->dataset, "u");
    nt_chain_list_free(list);
}

TEST(a_comment_begins_at_the_start_or_after_a_blank, .setup = setup, .teardown = teardown)
{
    struct nt_chain_list *list;
    static const char *const shown[] = {"/", "s3://bucket/x y", "s3://bucket/a#b"};
    assert_ok(read_list("# x\n/ # y\ns3://bucket/x y \t# z #\n \t# all\ns3://bucket/a#b\n", &list));
    ck_assert_uint_eq(list->count, 3);
    for (uint32_t i = 0; i < list->count; i++)
        ck_assert_str_eq(list->files[i].path, shown[i]);
    nt_chain_list_free(list);
}

TEST(a_link_is_the_file_that_it_leads_to, .setup = setup, .teardown = teardown)
{
    char link_path[64], expected[160];
    struct nt_chain_list *list;
    snprintf(link_path, sizeof(link_path), "%s.link", path);
    ck_assert_int_eq(link(path, link_path), 0);
    const char *const names[] = {path, link_path};
    assert_status(NT_INVALID, nt_chain_list_new(names, 2, false, &list, &error));
    snprintf(expected, sizeof(expected), "%s: is the same file as %s (a link to it)", link_path, path);
    unlink(link_path);
    ck_assert_str_eq(error.message, expected);
}
