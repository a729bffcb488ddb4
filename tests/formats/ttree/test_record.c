/* SPDX-License-Identifier: MIT
 *
 * Records of trees: of real files, compared with uproot; and by hand, with references, baskets and damage
 * that are rare in real files.
 */
#include <dirent.h>
#include <jansson.h>

#include "opened_tree.h"
#include "root_buffer.h"
#include "support.h"
#include "temporary.h"

static struct nt_error error;

static void assert_text(struct nt_text text, const char *expected)
{
    ck_assert_msg(nt_text_is(text, expected), "%.*s instead of %s", (int)text.length, text.bytes, expected);
}

/* ---- Real files ---- */

/* The path of a file; NULL, after a message, if it does not exist. */
static const char *shared_path(const char *name)
{
    static char path[4096];
    const char *shared = getenv("NTUPLE_SHARED");
    snprintf(path, sizeof(path), "%s/data/ttree/%s", shared ? shared : "", name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("skipped: %s is not there\n", name);
        return NULL;
    }
    fclose(file);
    return path;
}

/* The first tree of a file. */
static bool open_first(const char *name, struct opened_tree *opened)
{
    const char *path = shared_path(name);
    if (!path)
        return false;
    assert_ok(opened_tree_open(path, opened, &error));
    assert_ok(opened_tree_take_first(opened, &error));
    assert_ok(opened_tree_read(opened, &error));
    return true;
}

/* Of all branches, as uproot reads them. */
static const struct {
    const char *file, *tree;
    uint32_t version;
    int64_t entries;
    uint32_t branches, leaves;
    int64_t total_bytes, stored_bytes;
    uint32_t baskets, embedded;
    uint64_t basket_bytes;
} facts[] = {
    {"e5032b-uproot-small-evnt-tree-fullsplit.root", "tree", 19, 100, 43, 42, 114075, 23880, 41, 0, 23880},
    {"c8c0b0-uproot-issue-250.root", "B4", 5, 1000, 4, 4, 48616, 34900, 8, 0, 34900},
    {"7481e3-file1.root", "ntuple", 19, 100, 5, 5, 2358, 2169, 5, 0, 2169},
    {"3c96da-memleak.root", "MonoData", 16, 2, 24, 23, 9387738, 123422, 26, 18, 123422},
    {"bb7375-TreeClassWithClones.root", "TreeClassWithClones", 19, 10, 10, 9, 2730, 1487, 8, 0, 1487},
    {"3b8b58-lhcb.root", "_Event", 16, 498, 6, 6, 111042, 18170, 11, 4, 18170},
    {"5a3532-uproot-double32-float16.root", "tree", 20, 17, 12, 12, 2010, 1733, 12, 0, 1733},
    {"6912b4-file7500.root", "tree", 19, 1, 12, 10, 882, 871, 9, 0, 871},
    {"8290dd-uproot-Zmumu.root", "events", 19, 2304, 20, 20, 330921, 172789, 20, 0, 172789},
    {"374a31-uproot-issue-214.root", "E", 20, 10, 119, 116, 278521, 59728, 115, 0, 59728},
    {"2e9a06-treetest_v634.root", "t", 20, 1, 5, 5, 423, 409, 4, 0, 409},
    {"f9930f-lastcluster.root", "t", 20, 1000, 1, 1, 421800, 33000, 100, 0, 33000},
    {"21b60b-DST_62.root", "s", 16, 16, 835, 834, 114332, 114332, 833, 0, 114332},
    {"b785fc-uproot-leaflist.root", "tree", 20, 5, 1, 3, 140, 131, 1, 0, 131},
};

TEST(real_trees_have_what_uproot_finds, .end = COUNT_OF(facts))
{
    struct opened_tree opened;
    uint32_t baskets = 0, embedded = 0;
    uint64_t basket_bytes = 0;
    int64_t total_bytes = 0, stored_bytes = 0;
    if (!open_first(facts[_i].file, &opened))
        return;
    const struct nt_ttree *tree = &opened.tree;
    assert_text(tree->name, facts[_i].tree);
    ck_assert_uint_eq(tree->version, facts[_i].version);
    ck_assert_int_eq(tree->entries, facts[_i].entries);
    ck_assert_uint_eq(tree->branch_count, facts[_i].branches);
    ck_assert_uint_eq(tree->leaf_count, facts[_i].leaves);
    for (uint32_t i = 0; i < tree->branch_count; i++) {
        struct nt_basket_location *places;
        uint32_t count;
        total_bytes += tree->branches[i].total_bytes;
        stored_bytes += tree->branches[i].stored_bytes;
        assert_ok(nt_ttree_list_baskets(&tree->branches[i], opened.source->size, &places, &count, &error));
        for (uint32_t k = 0; k < count; k++) {
            baskets++;
            embedded += places[k].is_embedded;
            basket_bytes += places[k].is_embedded ? 0 : places[k].bytes;
        }
        free(places);
    }
    ck_assert_int_eq(total_bytes, facts[_i].total_bytes);
    ck_assert_int_eq(stored_bytes, facts[_i].stored_bytes);
    ck_assert_uint_eq(baskets, facts[_i].baskets);
    ck_assert_uint_eq(embedded, facts[_i].embedded);
    ck_assert_uint_eq(basket_bytes, facts[_i].basket_bytes);
    opened_tree_close(&opened);
}

static uint32_t find_branch(const struct nt_ttree *tree, const char *name)
{
    for (uint32_t i = 0; i < tree->branch_count; i++)
        if (nt_text_is(tree->branches[i].name, name))
            return i;
    ck_abort_msg("no branch %s", name);
}

TEST(a_split_array_of_clones_is_read)
{
    struct opened_tree opened;
    if (!open_first("bb7375-TreeClassWithClones.root", &opened))
        return;
    const struct nt_ttree *tree = &opened.tree;
    uint32_t number = find_branch(tree, "arr.fPosX"), clones = find_branch(tree, "arr");
    const struct nt_ttree_branch *branch = &tree->branches[number];
    ck_assert_uint_eq(branch->parent, clones);
    ck_assert_uint_eq(branch->counter, clones);
    ck_assert_uint_eq(branch->second_counter, NT_NONE);
    assert_text(branch->title, "fPosX[arr_]");
    assert_text(branch->class_name, "TBranchElement");
    assert_text(branch->object_class, "Particle");
    ck_assert_int_eq(branch->type, NT_BRANCH_CLONES_MEMBER);
    ck_assert_int_eq(branch->streamer_type, NT_STREAMER_DOUBLE);
    ck_assert_int_eq(branch->id, 1);
    ck_assert_int_eq(branch->entries, 10);
    ck_assert_int_eq(branch->total_bytes, 539);
    ck_assert_int_eq(branch->stored_bytes, 271);
    ck_assert_int_eq(branch->compression, 1);
    ck_assert_uint_eq(branch->entry_offset_length, 40);
    ck_assert_int_eq(tree->branches[clones].type, NT_BRANCH_CLONES);
    ck_assert_uint_eq(branch->leaf_count, 1);
    const struct nt_ttree_leaf *leaf = &tree->leaves[branch->first_leaf];
    assert_text(leaf->name, "arr.fPosX");
    assert_text(leaf->class_name, "TLeafElement");
    ck_assert_uint_eq(leaf->branch, number);
    ck_assert_uint_eq(leaf->counter, tree->branches[clones].first_leaf);
    opened_tree_close(&opened);
}

TEST(several_leaves_of_one_branch_are_in_a_row)
{
    struct opened_tree opened;
    if (!open_first("b785fc-uproot-leaflist.root", &opened))
        return;
    const struct nt_ttree_leaf *leaves = opened.tree.leaves;
    static const char *const classes[] = {"TLeafD", "TLeafI", "TLeafB"};
    static const uint32_t widths[] = {8, 4, 1}, offsets[] = {0, 8, 12};
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(leaves[i].branch, 0);
        assert_text(leaves[i].class_name, classes[i]);
        ck_assert_uint_eq(leaves[i].width, widths[i]);
        ck_assert_uint_eq(leaves[i].offset, offsets[i]);
    }
    opened_tree_close(&opened);
}

TEST(cluster_ranges_are_read)
{
    struct opened_tree opened;
    if (!open_first("f9930f-lastcluster.root", &opened))
        return;
    ck_assert_uint_eq(opened.tree.range_count, 19);
    for (uint32_t i = 0; i < 19; i++) {
        ck_assert_int_eq(opened.tree.ranges[i].last_entry, 49 + 50 * (int)i);
        ck_assert_int_eq(opened.tree.ranges[i].size, i % 2 ? 0 : 10);
    }
    ck_assert_int_eq(opened.tree.auto_flush, 0);
    opened_tree_close(&opened);
}

/* Reads a tree with and without the file's descriptions of its classes. */
static void compare_with_built_ins(struct opened_tree *opened, struct opened_tree *empty)
{
    struct nt_ttree again = opened->tree;
    assert_ok(opened_tree_read(opened, &error));
    const struct nt_ttree *tree = &opened->tree;
    assert_ok(nt_ttree_read(&again, &empty->info, opened->class_name, tree->key_bytes, opened->file->arena,
                            &opened->file->budget, &error));
    ck_assert_uint_eq(again.branch_count, tree->branch_count);
    ck_assert_uint_eq(again.leaf_count, tree->leaf_count);
    ck_assert_uint_eq(again.embedded_count, tree->embedded_count);
    for (uint32_t i = 0; i < tree->branch_count; i++) {
        ck_assert_ptr_eq(again.branches[i].record, &again);
        again.branches[i].record = tree->branches[i].record;
        ck_assert_mem_eq(&again.branches[i], &tree->branches[i], sizeof(again.branches[i]));
    }
}

/* Of the files in a directory; returns the number of trees. */
static unsigned compare_all_with_built_ins(const char *folder)
{
    struct opened_tree empty, opened;
    unsigned compared = 0;
    DIR *directory = opendir(folder);
    if (!directory)
        return 0;
    assert_ok(opened_tree_open_empty(temporary_path("empty"), &empty, &error));
    for (struct dirent *entry; (entry = readdir(directory));) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (strcmp(path + strlen(path) - 5, ".root") != 0)
            continue;
        assert_ok(opened_tree_open(path, &opened, &error));
        if (opened_tree_take_first(&opened, &error) == NT_OK) {
            compare_with_built_ins(&opened, &empty);
            compared++;
        }
        opened_tree_close(&opened);
    }
    closedir(directory);
    opened_tree_close(&empty);
    return compared;
}

TEST(trees_are_read_without_streamer_information, .setup = temporary_setup, .teardown = temporary_teardown)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/trees", getenv("NTUPLE_TEST_DATA"));
    ck_assert_uint_gt(compare_all_with_built_ins(path), 20);
    const char *shared = getenv("NTUPLE_SHARED");
    snprintf(path, sizeof(path), "%s/data/ttree", shared ? shared : "");
    unsigned compared = compare_all_with_built_ins(path);
    if (!compared)
        puts("skipped: no real files");
    else
        ck_assert_uint_gt(compared, 100);
}

/* ---- Trees made by hand ---- */

enum { KEY_BYTES = 40, SLOTS = 4 };

struct put_branch {
    const char *name;
    uint32_t entries;
    uint32_t write_basket;
    uint64_t first_entries[SLOTS], seeks[SLOTS];
    uint32_t sizes[SLOTS];
    uint8_t io_bits;
    int embedded_slot;         /* 0: none */
    uint32_t embedded_entries; /* of the basket */
    uint32_t child;            /* a word in the list of branches; 0: the list is empty */
    uint32_t counter;          /* a word that is the leaf's counter */
};

static struct nt_buffer bytes;

static void put_shorts(unsigned count)
{
    size_t start = put_begin(&bytes, 2);
    for (unsigned i = 0; i < count; i++)
        put_u16(&bytes, 1);
    put_end(&bytes, start);
}

static void put_io_features(uint8_t bits)
{
    size_t start = put_begin(&bytes, 0);
    put_u32(&bytes, 0x1aa12f10);
    put_u8(&bytes, bits);
    put_end(&bytes, start);
}

static void put_words(unsigned count, uint32_t word)
{
    while (count-- > 0)
        put_u32(&bytes, word);
}

/* Returns the offset of the leaf, for references. */
static size_t put_leaf(const char *name, uint32_t counter)
{
    size_t item = put_item(&bytes, "TLeafI"), start = put_begin(&bytes, 1), base = put_begin(&bytes, 2);
    put_named(&bytes, name, name);
    put_u32(&bytes, 1);
    put_u32(&bytes, 4);
    put_u32(&bytes, 0);
    put_u8(&bytes, 0);
    put_u8(&bytes, 1);
    put_u32(&bytes, counter);
    put_end(&bytes, base);
    put_words(2, 0);
    put_end(&bytes, start);
    put_end(&bytes, item);
    return item;
}

/* A basket of `entries`, whose key ends with its members. */
static void put_basket(uint32_t entries)
{
    const uint16_t key_bytes = 18 + 8 + 3 + 2 + 4 * 4 + 1;
    size_t item = put_item(&bytes, "TBasket");
    put_words(1, 0);
    put_u16(&bytes, 4);
    put_words(2, 0);
    put_u16(&bytes, key_bytes);
    put_u16(&bytes, 0);
    put_words(2, 0);
    put_text(&bytes, "");
    put_text(&bytes, "");
    put_text(&bytes, "");
    put_u16(&bytes, 3);
    put_words(2, 0);
    put_u32(&bytes, entries);
    put_u32(&bytes, key_bytes);
    put_u8(&bytes, 11);
    put_end(&bytes, item);
}

static void put_baskets(const struct put_branch *row)
{
    size_t start = put_array(&bytes, row->embedded_slot ? (uint32_t)row->embedded_slot + 1 : 0);
    put_words((unsigned)row->embedded_slot, 0);
    if (row->embedded_slot)
        put_basket(row->embedded_entries);
    put_end(&bytes, start);
    put_u8(&bytes, 1);
    for (int i = 0; i < SLOTS; i++)
        put_u32(&bytes, row->sizes[i]);
    put_u8(&bytes, 1);
    for (int i = 0; i < SLOTS; i++)
        put_u64(&bytes, row->first_entries[i]);
    put_u8(&bytes, 1);
    for (int i = 0; i < SLOTS; i++)
        put_u64(&bytes, row->seeks[i]);
}

/* Returns the offset of the branch; `leaf_ret`: of its only leaf. */
static size_t put_branch(const struct put_branch *row, size_t *leaf_ret)
{
    size_t item = put_item(&bytes, "TBranch"), start = put_begin(&bytes, 13);
    put_named(&bytes, row->name, "");
    put_shorts(2);
    put_words(3, 101); /* compression, size of baskets, of offsets */
    put_u32(&bytes, row->write_basket);
    put_u64(&bytes, row->entries);
    put_io_features(row->io_bits);
    put_u32(&bytes, 0);
    put_u32(&bytes, SLOTS);
    put_u32(&bytes, 0);
    put_u64(&bytes, row->entries);
    put_u64(&bytes, 0);
    put_u64(&bytes, 1000);
    put_u64(&bytes, 500);
    size_t list = put_array(&bytes, row->child ? 1 : 0);
    if (row->child)
        put_u32(&bytes, row->child);
    put_end(&bytes, list);
    list = put_array(&bytes, 1);
    *leaf_ret = put_leaf(row->name, row->counter);
    put_end(&bytes, list);
    put_baskets(row);
    put_text(&bytes, "");
    put_end(&bytes, start);
    put_end(&bytes, item);
    return item;
}

static uint32_t reference_to(size_t place)
{
    return (uint32_t)place + 2 + KEY_BYTES;
}

static size_t put_tree_start(uint32_t branches, size_t *list_ret)
{
    size_t start = put_begin(&bytes, 20);
    put_named(&bytes, "t", "title");
    put_shorts(3);
    put_shorts(2);
    size_t marker = put_begin(&bytes, 2);
    put_u64(&bytes, 0);
    put_end(&bytes, marker);
    for (int i = 1; i <= 6; i++) /* entries, bytes of several kinds, the weight */
        put_u64(&bytes, (uint64_t)i * 10);
    put_words(4, 0);
    put_u32(&bytes, 1); /* cluster ranges */
    for (int i = 0; i < 6; i++)
        put_u64(&bytes, 77);
    for (int i = 0; i < 2; i++) {
        put_u8(&bytes, 1);
        put_u64(&bytes, 5 + (uint64_t)i);
    }
    put_io_features(0);
    *list_ret = put_array(&bytes, branches);
    return start;
}

static void put_friends(void)
{
    size_t item = put_item(&bytes, "TList"), list = put_list(&bytes, 1);
    size_t element = put_item(&bytes, "TFriendElement"), start = put_begin(&bytes, 2);
    put_named(&bytes, "alias", "other.root");
    put_text(&bytes, "real name");
    put_u8(&bytes, 1);
    put_end(&bytes, start);
    put_end(&bytes, element);
    put_text(&bytes, "");
    put_end(&bytes, list);
    put_end(&bytes, item);
}

static void put_tree_end(size_t start, size_t list)
{
    put_end(&bytes, list);
    put_end(&bytes, put_array(&bytes, 0)); /* the leaves of all branches */
    put_words(4, 0);                       /* aliases, two empty arrays, an index */
    put_friends();
    put_words(2, 0); /* objects of the user, the branch of references */
    put_end(&bytes, start);
}

static struct opened_tree made;

static void set_up(void)
{
    temporary_setup();
    assert_ok(opened_tree_open_empty(temporary_path("empty"), &made, &error));
}

static void tear_down(void)
{
    opened_tree_close(&made);
    nt_buffer_deinit(&bytes);
    temporary_teardown();
}

static enum nt_status read_made(void)
{
    made.tree = (struct nt_ttree){.object = (const uint8_t *)bytes.bytes, .object_bytes = bytes.length};
    return nt_ttree_read(&made.tree, &made.info, nt_text_of("TTree"), KEY_BYTES, made.file->arena,
                         &made.file->budget, &error);
}

static const struct put_branch plain = {.name = "a",
                                        .entries = 30,
                                        .write_basket = 2,
                                        .first_entries = {0, 10, 20},
                                        .seeks = {100, 200},
                                        .sizes = {50, 60},
                                        .io_bits = 1,
                                        .embedded_slot = 2,
                                        .embedded_entries = 10};

TEST(a_tree_with_a_friend_and_an_embedded_basket_is_read, .setup = set_up, .teardown = tear_down)
{
    struct nt_basket_location *places;
    uint32_t count;
    size_t list, leaf, start = put_tree_start(1, &list);
    size_t place = put_branch(&plain, &leaf);
    put_tree_end(start, list);
    assert_ok(read_made());
    const struct nt_ttree *tree = &made.tree;
    ck_assert_int_eq(tree->entries, 10);
    ck_assert_int_eq(tree->total_bytes, 20);
    ck_assert_int_eq(tree->stored_bytes, 30);
    ck_assert_int_eq(tree->auto_flush, 77);
    ck_assert_uint_eq(tree->range_count, 1);
    ck_assert_int_eq(tree->ranges[0].last_entry, 5);
    ck_assert_int_eq(tree->ranges[0].size, 6);
    ck_assert_uint_eq(tree->friend_count, 1);
    assert_text(tree->friends[0].tree, "real name");
    assert_text(tree->friends[0].file, "other.root");
    ck_assert_uint_eq(tree->branches[0].io_features, 1);
    ck_assert_uint_eq(tree->branches[0].offset, place);
    ck_assert_uint_eq(tree->branches[0].slot_count, 3);
    ck_assert_uint_eq(tree->embedded_count, 1);
    assert_ok(nt_ttree_list_baskets(&tree->branches[0], 1000, &places, &count, &error));
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(places[1].offset, 200);
    ck_assert_uint_eq(places[1].bytes, 60);
    ck_assert_uint_eq(places[1].first_entry, 10);
    ck_assert_uint_eq(places[1].end_entry, 20);
    ck_assert(places[2].is_embedded);
    ck_assert_uint_eq(places[2].slot, 2);
    ck_assert_uint_eq(places[2].end_entry, 30);
    ck_assert_uint_eq(places[2].bytes, 48);
    ck_assert_int_eq(memcmp(bytes.bytes + places[2].offset - 8, "TBasket", 8), 0);
    free(places);
}

/* The list of branches has more bytes than its items. */
TEST(no_branch_vanishes_from_its_list, .setup = set_up, .teardown = tear_down)
{
    size_t list, leaf, start = put_tree_start(1, &list);
    put_branch(&plain, &leaf);
    put_branch(&plain, &leaf);
    put_tree_end(start, list);
    assert_status(NT_CORRUPT, read_made());
    ck_assert_ptr_nonnull(strstr(error.message, "class TObjArray"));
}

TEST(a_description_of_branches_has_their_lists, .setup = set_up, .teardown = tear_down, .end = 3)
{
    static const char *const lists[] = {"fBranches", "fLeaves", "fBaskets"};
    size_t list, leaf, start = put_tree_start(1, &list);
    put_branch(&plain, &leaf);
    put_tree_end(start, list);
    const struct nt_streamer_class *branch = nt_streamer_find(&made.info, nt_text_of("TBranch"), 13);
    for (uint32_t i = 0; i < made.info.class_count; i++)
        for (uint32_t k = 0; &made.info.classes[i] == branch && k < branch->element_count; k++)
            if (nt_text_is(branch->elements[k].name, lists[_i]))
                made.info.classes[i].element_count = k;
    assert_status(NT_CORRUPT, read_made());
    ck_assert_ptr_nonnull(strstr(error.message, lists[_i]));
}

/* The first branch has no basket of its own in the last slot. */
TEST(slots_without_data_are_omitted, .setup = set_up, .teardown = tear_down, .end = 2)
{
    struct put_branch row = plain;
    struct nt_basket_location *places;
    uint32_t count;
    size_t list, leaf, start = put_tree_start(1, &list);
    row.embedded_entries = 0;
    row.embedded_slot = _i ? 2 : 0;
    put_branch(&row, &leaf);
    put_tree_end(start, list);
    assert_ok(read_made());
    assert_ok(nt_ttree_list_baskets(&made.tree.branches[0], 1000, &places, &count, &error));
    ck_assert_uint_eq(count, 2);
    free(places);
}

TEST(places_and_entries_of_baskets_are_checked, .setup = set_up, .teardown = tear_down, .end = 6)
{
    struct put_branch row = plain;
    struct nt_basket_location *places;
    uint32_t count;
    size_t list, leaf, start = put_tree_start(1, &list);
    const char *const parts[] = {"60 bytes at byte 941 are outside the file",
                                 "are outside the file",
                                 "entries",
                                 "entries",
                                 "basket 1 overlaps basket 0 at byte 100",
                                 "basket 0 overlaps basket 1 at byte 200"};
    if (_i == 0)
        row.seeks[1] = 941;
    else if (_i == 1)
        row.seeks[0] = UINT64_MAX;
    else if (_i == 2)
        row.first_entries[1] = 21;
    else if (_i == 3)
        row.first_entries[0] = UINT64_MAX;
    else
        row.seeks[_i == 4] = _i == 4 ? 149 : 201;
    put_branch(&row, &leaf);
    put_tree_end(start, list);
    assert_ok(read_made());
    assert_status(NT_CORRUPT, nt_ttree_list_baskets(&made.tree.branches[0], 1000, &places, &count, &error));
    ck_assert_ptr_nonnull(strstr(error.message, parts[_i]));
}

/* The first basket of the second branch begins within the second one of the first branch. A file that has
 * more bytes than all baskets together is not searched. */
TEST(baskets_of_two_branches_that_overlap_are_found, .setup = set_up, .teardown = tear_down, .end = 2)
{
    enum { ALL_BYTES = 2 * (50 + 60) };
    struct put_branch first = plain, second = plain;
    struct nt_basket_location *places;
    struct nt_budget budget;
    uint32_t count;
    size_t list, leaf, start = put_tree_start(2, &list);
    second.name = "b";
    second.seeks[0] = 259;
    second.seeks[1] = 400;
    put_branch(&first, &leaf);
    put_branch(&second, &leaf);
    put_tree_end(start, list);
    assert_ok(read_made());
    nt_budget_init(&budget, 1 << 20, 1 << 20);
    assert_ok(nt_ttree_find_overlaps(&made.tree, 1000, ALL_BYTES - (_i == 1), &budget, &error));
    assert_ok(nt_ttree_list_baskets(&made.tree.branches[0], 1000, &places, &count, &error));
    free(places);
    assert_status(_i ? NT_CORRUPT : NT_OK,
                  nt_ttree_list_baskets(&made.tree.branches[1], 1000, &places, &count, &error));
    if (_i == 0)
        free(places);
    else
        ck_assert_ptr_nonnull(strstr(error.message, "basket 0 overlaps basket 1 of branch a"));
    nt_budget_deinit(&budget);
}

/* ---- Trees of ROOT 2, which files do not describe ---- */

static void put_real(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    put_u64(&bytes, bits);
}

static void put_ints(uint32_t first, uint32_t second)
{
    put_u32(&bytes, 2);
    put_u32(&bytes, first);
    put_u32(&bytes, second);
}

static void put_old_branch(void)
{
    size_t item = put_item(&bytes, "TBranch"), start = put_begin(&bytes, 5);
    put_named(&bytes, "old", "old/I");
    put_words(3, 1);
    put_u32(&bytes, 2); /* slots */
    put_u32(&bytes, 1); /* the last one */
    put_u32(&bytes, 12);
    put_real(12);
    put_real(1e10);
    put_real(500);
    put_u32(&bytes, 0);
    put_end(&bytes, put_array(&bytes, 0));
    size_t list = put_array(&bytes, 1);
    put_leaf("old", 0);
    put_end(&bytes, list);
    put_end(&bytes, put_array(&bytes, 0));
    put_ints(0, 12);
    put_ints(90, 0);
    put_ints(300, 0);
    put_text(&bytes, "elsewhere.root");
    put_end(&bytes, start);
    put_end(&bytes, item);
}

TEST(trees_with_a_streamer_of_their_own_are_read, .setup = set_up, .teardown = tear_down)
{
    struct nt_basket_location *places;
    uint32_t count;
    size_t start = put_begin(&bytes, 4), list;
    put_named(&bytes, "t", "title");
    put_shorts(3);
    put_shorts(2);
    size_t marker = put_begin(&bytes, 1);
    put_u64(&bytes, 0);
    put_end(&bytes, marker);
    put_words(3, 0);
    put_real(12);
    put_real(1e10);
    put_real(500);
    put_words(2, 0);
    list = put_array(&bytes, 1);
    put_old_branch();
    put_end(&bytes, list);
    put_end(&bytes, put_array(&bytes, 0));
    put_words(2, 0);
    put_end(&bytes, put_list(&bytes, 0));
    put_end(&bytes, start);
    assert_ok(read_made());
    ck_assert_uint_eq(made.tree.version, 4);
    ck_assert_int_eq(made.tree.entries, 12);
    ck_assert_int_eq(made.tree.total_bytes, 10000000000);
    const struct nt_ttree_branch *branch = &made.tree.branches[0];
    ck_assert_int_eq(branch->total_bytes, 10000000000);
    ck_assert_uint_eq(branch->seek_width, 4);
    assert_text(branch->file_name, "elsewhere.root");
    assert_ok(nt_ttree_list_baskets(branch, 1000, &places, &count, &error));
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(places[0].offset, 300);
    ck_assert_uint_eq(places[0].bytes, 90);
    ck_assert_uint_eq(places[0].end_entry, 12);
    free(places);
}

/* ---- References ---- */

/* To a leaf that comes before and one that comes after. */
TEST(counters_of_leaves_may_be_anywhere, .setup = set_up, .teardown = tear_down)
{
    struct put_branch row = plain;
    size_t list, first, second, start = put_tree_start(2, &list);
    size_t place = put_branch(&row, &first);
    size_t distance = bytes.length - place; /* in the same part of both branches */
    nt_buffer_clear(&bytes);
    start = put_tree_start(2, &list);
    row.counter = reference_to(first + distance);
    put_branch(&row, &first);
    row.name = "b";
    row.counter = reference_to(first);
    put_branch(&row, &second);
    put_tree_end(start, list);
    assert_ok(read_made());
    ck_assert_uint_eq(second, first + distance);
    ck_assert_uint_eq(made.tree.leaf_count, 2);
    ck_assert_uint_eq(made.tree.leaves[0].counter, 1);
    ck_assert_uint_eq(made.tree.leaves[1].counter, 0);
    ck_assert(made.tree.leaves[0].is_unsigned);
    ck_assert(!made.tree.leaves[0].is_range);
}

TEST(a_reference_to_something_else_is_corrupt, .setup = set_up, .teardown = tear_down, .end = 2)
{
    struct put_branch row = plain;
    size_t list, leaf, start = put_tree_start(1, &list);
    if (_i == 0)
        row.counter = reference_to(start + 20);
    else
        row.child = reference_to(start + 20);
    put_branch(&row, &leaf);
    put_tree_end(start, list);
    assert_status(NT_CORRUPT, read_made());
    ck_assert_ptr_nonnull(strstr(error.message, _i == 0 ? "leaf" : "branch"));
}

/* A branch in its own list, and one in the list of a later one that the tree lists, too. */
TEST(loops_of_branches_end, .setup = set_up, .teardown = tear_down)
{
    struct put_branch row = plain;
    size_t list, leaf, start = put_tree_start(2, &list);
    row.child = reference_to(bytes.length);
    size_t first = put_branch(&row, &leaf);
    row.name = "b";
    row.child = reference_to(first);
    put_branch(&row, &leaf);
    put_tree_end(start, list);
    assert_status(NT_OK, read_made());
    ck_assert_uint_le(made.tree.branch_count, 2);
    for (uint32_t i = 0; i < made.tree.branch_count; i++)
        ck_assert(made.tree.branches[i].parent == NT_NONE || made.tree.branches[i].parent < i);
}

TEST(a_branch_that_only_a_list_refers_to_gets_its_parent, .setup = set_up, .teardown = tear_down)
{
    struct put_branch row = plain;
    size_t list, leaf, start = put_tree_start(2, &list);
    size_t first = put_branch(&row, &leaf);
    row.name = "b";
    row.child = reference_to(first);
    put_branch(&row, &leaf);
    put_tree_end(start, list);
    assert_ok(read_made());
    ck_assert_uint_eq(made.tree.branch_count, 2);
    assert_text(made.tree.branches[0].name, "a"); /* the tree's list is the first that has it */
    ck_assert_uint_eq(made.tree.branches[0].parent, NT_NONE);
    ck_assert_uint_eq(made.tree.branches[1].parent, NT_NONE);
}

/* ---- Damage ---- */

TEST(what_is_not_described_is_unsupported, .setup = set_up, .teardown = tear_down, .end = 2)
{
    size_t list, leaf, start = put_tree_start(1, &list);
    size_t place = put_branch(&plain, &leaf);
    put_tree_end(start, list);
    if (_i == 0)
        bytes.bytes[start + 5] = 99; /* the version of the tree */
    else
        bytes.bytes[place + 8] = 'X'; /* the class of the branch */
    assert_status(NT_UNSUPPORTED, read_made());
    ck_assert_ptr_nonnull(strstr(error.message, _i == 0 ? "version 99 of class TTree" : "XBranch"));
}

TEST(any_changed_byte_of_a_tree_is_survived, .setup = set_up, .teardown = tear_down)
{
    size_t list, leaf, start = put_tree_start(1, &list);
    put_branch(&plain, &leaf);
    put_tree_end(start, list);
    for (size_t i = 0; i < bytes.length * 8; i++) {
        struct nt_basket_location *places;
        struct nt_buffer out = {0};
        uint32_t count;
        bytes.bytes[i / 8] ^= (char)(1 << i % 8);
        if (read_made() == NT_OK) {
            nt_ttree_describe_tree(&made.tree, &out, &error);
            for (uint32_t k = 0; k < made.tree.branch_count; k++) {
                struct nt_ttree_branch *branch = &made.tree.branches[k];
                if (nt_ttree_list_baskets(branch, 1000, &places, &count, &error) == NT_OK)
                    free(places);
                nt_ttree_describe_branch(&made.tree, branch, &out, &error);
            }
        }
        nt_buffer_deinit(&out);
        bytes.bytes[i / 8] ^= (char)(1 << i % 8);
    }
    assert_ok(read_made());
}

TEST(a_tree_needs_room_in_the_budget, .setup = set_up, .teardown = tear_down)
{
    size_t list, leaf, start = put_tree_start(1, &list);
    put_branch(&plain, &leaf);
    put_tree_end(start, list);
    nt_budget_deinit(&made.file->budget);
    nt_budget_init(&made.file->budget, 100, 100);
    assert_status(NT_LIMIT, read_made());
    ck_assert_uint_eq(nt_budget_used(&made.file->budget), 0);
}

/* ---- Documents ---- */

static json_t *describe(bool is_branch)
{
    struct nt_buffer out = {0};
    if (is_branch)
        assert_ok(nt_ttree_describe_branch(&made.tree, &made.tree.branches[0], &out, &error));
    else
        assert_ok(nt_ttree_describe_tree(&made.tree, &out, &error));
    json_t *document = json_loadb(out.bytes, out.length, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(document);
    nt_buffer_deinit(&out);
    return document;
}

TEST(documents_have_the_members_of_the_objects, .setup = set_up, .teardown = tear_down)
{
    size_t list, leaf, start = put_tree_start(1, &list);
    put_branch(&plain, &leaf);
    put_tree_end(start, list);
    assert_ok(read_made());
    json_t *document = describe(false), *object = json_object_get(document, "object");
    ck_assert_str_eq(json_string_value(json_object_get(document, "schema")), "ntuplefs.tree/1");
    ck_assert_int_eq(json_integer_value(json_object_get(object, "fEntries")), 10);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(object, "fClusterSize"), 0)), 6);
    ck_assert_ptr_null(json_object_get(object, "fBranches"));
    ck_assert(json_is_null(json_object_get(object, "fAliases")));
    json_t *friend = json_array_get(json_object_get(object, "fFriends"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(friend, "_typename")), "TFriendElement");
    ck_assert_str_eq(json_string_value(json_object_get(friend, "fTreeName")), "real name");
    json_decref(document);
    document = describe(true);
    object = json_object_get(document, "object");
    ck_assert_str_eq(json_string_value(json_object_get(document, "schema")), "ntuplefs.branch/1");
    ck_assert_uint_eq(json_array_size(json_object_get(object, "fBasketSeek")), SLOTS);
    ck_assert_ptr_null(json_object_get(object, "fBaskets"));
    json_t *basket = json_array_get(json_object_get(document, "embedded_baskets"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(basket, "basket")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(basket, "record_bytes")), 48);
    json_t *first = json_array_get(json_object_get(object, "fLeaves"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(first, "_typename")), "TLeafI");
    ck_assert(json_is_true(json_object_get(first, "fIsUnsigned")));
    json_decref(document);
}
