/* SPDX-License-Identifier: MIT
 *
 * Writes small TTrees that request huge resources: baskets, branches, entries, nested classes, items.
 */
#include "bombs.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "demand.h"
#include "tree_writer.h"

enum { BASIC = 3, ANY = 62, STL = 500, VECTOR = 1, ARRAY = 20 };
#define INTEGER                                                                                              \
    {                                                                                                        \
        .name = "i", .type_name = "int", .kind = "TStreamerBasicType", .type = BASIC                         \
    }

static const uint8_t four_numbers[16] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};
static const struct tree_basket basket = {
    .values = four_numbers, .stored_bytes = 16, .object_bytes = 16, .entries = 4, .entry_bytes = 4};

static void write_branch(const struct tree_branch *branch, int64_t entries, bool is_compressed,
                         struct nt_buffer *file)
{
    tree_write(
        &(struct tree_description){
            .entries = entries, .branches = branch, .branch_count = 1, .is_compressed = is_compressed},
        file);
}

/* ---- Baskets ---- */

static void a_tree_of_one_basket(struct nt_buffer *file)
{
    write_branch(&(struct tree_branch){.name = "x", .title = "x/I", .baskets = 1, .basket = &basket}, 4,
                 false, file);
}

static void a_million_claimed_baskets(struct nt_buffer *file)
{
    write_branch(&(struct tree_branch){.name = "x", .title = "x/I", .claimed_baskets = 1000000}, 4, false,
                 file);
}

/* They are there. */
static void many_small_baskets(struct nt_buffer *file)
{
    enum { COUNT = 9000 };
    write_branch(
        &(struct tree_branch){
            .name = "x", .title = "x/I", .baskets = COUNT, .records = COUNT, .basket = &basket},
        4 * COUNT, true, file);
}

static void baskets_that_are_all_the_same_one(struct nt_buffer *file)
{
    write_branch(&(struct tree_branch){.name = "x", .title = "x/I", .baskets = 200000, .basket = &basket},
                 4 * 200000, true, file);
}

static void more_entries_than_a_file_can_have(struct nt_buffer *file)
{
    write_branch(&(struct tree_branch){.name = "x", .title = "x/I", .baskets = 1, .basket = &basket},
                 INT64_MAX / 2, false, file);
}

static void a_leaf_of_a_billion_items(struct nt_buffer *file)
{
    write_branch(&(struct tree_branch){.name = "x",
                                       .title = "x[2000000000]/I",
                                       .leaf_length = 2000000000,
                                       .baskets = 1,
                                       .basket = &basket},
                 4, false, file);
}

static void a_key_that_is_longer_than_its_record(struct nt_buffer *file)
{
    struct tree_basket longer = basket;
    longer.key_length = 32000;
    write_branch(&(struct tree_branch){.name = "x", .title = "x/I", .baskets = 1, .basket = &longer}, 4,
                 false, file);
}

static void offsets_that_fall(struct nt_buffer *file)
{
    static const int32_t offsets[] = {0, 12, 4, 8, 16};
    struct tree_basket falling = basket;
    falling.offsets = offsets;
    const struct tree_branch branches[] = {
        {.name = "n", .title = "n/I", .baskets = 1, .basket = &basket},
        {.name = "x",
         .title = "x[n]/I",
         .counter = "n",
         .has_offsets = true,
         .baskets = 1,
         .basket = &falling},
    };
    tree_write(&(struct tree_description){.entries = 4, .branches = branches, .branch_count = 2}, file);
}

enum { BLOCK_HEADER = 9 };

/* The header of a block, before its `stored` bytes. Returns the bytes of both. */
static uint32_t end_block(uint8_t *room, const char *algorithm, size_t stored, uint32_t count)
{
    memcpy(room, algorithm, 3);
    for (unsigned i = 0; i < 3; i++) {
        room[3 + i] = (uint8_t)(stored >> 8 * i);
        room[6 + i] = (uint8_t)(count >> 8 * i);
    }
    return (uint32_t)stored + BLOCK_HEADER;
}

/* A block of zeros that decompresses to so many bytes. */
static uint32_t make_zeros(uint8_t *room, size_t room_bytes, uint32_t count)
{
    uint8_t *zeros = calloc(count, 1);
    uLongf size = room_bytes - BLOCK_HEADER;
    demand(zeros && compress2(room + BLOCK_HEADER, &size, zeros, count, 9) == Z_OK);
    free(zeros);
    return end_block(room, "ZL\x08", size, count);
}

/* A block by LZMA, which is short and slow to decompress. */
static uint32_t make_slow_block(uint8_t *room, size_t room_bytes, const uint8_t *bytes, uint32_t count)
{
    size_t size = 0;
    demand(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, bytes, count, room + BLOCK_HEADER, &size,
                                   room_bytes - BLOCK_HEADER) == LZMA_OK);
    return end_block(room, "XZ", size, count);
}

static uint32_t make_slow_zeros(uint8_t *room, size_t room_bytes, uint32_t count)
{
    uint8_t *zeros = calloc(count, 1);
    demand(zeros);
    uint32_t bytes = make_slow_block(room, room_bytes, zeros, count);
    free(zeros);
    return bytes;
}

/* Each of 10,000 baskets is the one that decompresses to 12 MB. */
static void baskets_that_share_a_large_record(struct nt_buffer *file)
{
    enum { BYTES = 12000000, ROOM = 1 << 16 };
    static uint8_t room[ROOM];
    const struct tree_basket large = {.values = room,
                                      .stored_bytes = make_zeros(room, ROOM, BYTES),
                                      .object_bytes = BYTES,
                                      .entries = BYTES / 4,
                                      .entry_bytes = 4};
    write_branch(&(struct tree_branch){.name = "x", .title = "x/I", .baskets = 10000, .basket = &large},
                 INT64_C(10000) * (BYTES / 4), false, file);
}

/* The basket of the first of so many branches. */
static void branches_that_share_a_large_record(struct nt_buffer *file)
{
    enum { BYTES = 12000000, ROOM = 1 << 16, COUNT = 1000 };
    static uint8_t room[ROOM];
    static char names[COUNT][16];
    static struct tree_branch branches[COUNT];
    const struct tree_basket large = {.values = room,
                                      .stored_bytes = make_zeros(room, ROOM, BYTES),
                                      .object_bytes = BYTES,
                                      .entries = BYTES / 4,
                                      .entry_bytes = 4};
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof(names[i]), "b%u", i);
        branches[i] = (struct tree_branch){
            .name = names[i], .title = "x/I", .baskets = 1, .is_shared = i > 0, .basket = &large};
    }
    tree_write(
        &(struct tree_description){
            .entries = BYTES / 4, .branches = branches, .branch_count = COUNT, .is_compressed = true},
        file);
}

static void a_basket_that_claims_two_gigabytes(struct nt_buffer *file)
{
    enum { CLAIMED = 2000000000, BYTES = 1000000, ROOM = 1 << 14 };
    static uint8_t room[ROOM];
    const struct tree_basket large = {.values = room,
                                      .stored_bytes = make_zeros(room, ROOM, BYTES),
                                      .object_bytes = CLAIMED,
                                      .entries = CLAIMED / 4,
                                      .entry_bytes = 4};
    write_branch(&(struct tree_branch){.name = "x", .title = "x/I", .baskets = 1, .basket = &large},
                 CLAIMED / 4, false, file);
}

/* ---- Branches ---- */

static void a_counter_that_counts_itself(struct nt_buffer *file)
{
    write_branch(&(struct tree_branch){.name = "x",
                                       .title = "x[x]/I",
                                       .counter = "x",
                                       .has_offsets = true,
                                       .baskets = 1,
                                       .basket = &basket},
                 4, false, file);
}

static void branches_within_branches(struct nt_buffer *file)
{
    enum { COUNT = 3000 };
    struct tree_branch *branches = calloc(COUNT, sizeof(*branches));
    demand(branches);
    for (uint32_t i = 0; i < COUNT; i++)
        branches[i] = (struct tree_branch){.name = "x",
                                           .title = "x/I",
                                           .children = i + 1 < COUNT ? &branches[i + 1] : NULL,
                                           .child_count = i + 1 < COUNT};
    write_branch(branches, 4, false, file);
    free(branches);
}

/* The tree with so many copies of its branch. */
static void write_copies(struct tree_description tree, uint32_t count, struct nt_buffer *file)
{
    struct tree_branch *branches = calloc(count, sizeof(*branches));
    char(*names)[16] = calloc(count, sizeof(*names));
    demand(branches && names);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "b%u", i);
        branches[i] = tree.branches[0];
        branches[i].name = names[i];
    }
    tree.branches = branches;
    tree.branch_count = count;
    tree_write(&tree, file);
    free(branches);
    free(names);
}

static void write_many_branches(uint32_t count, bool is_compressed, struct nt_buffer *file)
{
    const struct tree_branch branch = {.title = "x/I", .baskets = 1, .basket = &basket};
    write_copies((struct tree_description){.entries = 4, .branches = &branch, .is_compressed = is_compressed},
                 count, file);
}

static void many_branches(struct nt_buffer *file)
{
    write_many_branches(1500, false, file);
}

static void many_compressed_branches(struct nt_buffer *file)
{
    write_many_branches(8000, true, file);
}

static void a_billion_claimed_branches(struct nt_buffer *file)
{
    const struct tree_branch branch = {.name = "x", .title = "x/I", .baskets = 1, .basket = &basket};
    tree_write(
        &(struct tree_description){
            .entries = 4, .branches = &branch, .branch_count = 1, .claimed_branches = 1000000000},
        file);
}

void write_objects_in_large_baskets(struct nt_buffer *file)
{
    enum { BYTES = 12000000, ROOM = 1 << 14, COUNT = 350, NO_OFFSETS = sizeof(int32_t) };
    static uint8_t room[ROOM];
    const struct tree_basket large = {.values = room,
                                      .stored_bytes = make_slow_zeros(room, ROOM, BYTES),
                                      .object_bytes = BYTES,
                                      .entries = 1,
                                      .entry_bytes = 1000,
                                      .last = BYTES - NO_OFFSETS};
    const struct tree_branch branch = {
        .title = "o", .object_class = "TClonesArray", .has_offsets = true, .baskets = 1, .basket = &large};
    write_copies((struct tree_description){.entries = 1, .branches = &branch, .is_compressed = true}, COUNT,
                 file);
}

/* ---- Classes ---- */

/* An object of the first class, one entry of these bytes. */
static void write_object(const struct tree_class *classes, uint32_t count, const char *name,
                         const void *bytes, uint32_t byte_count, struct nt_buffer *file)
{
    const int32_t offsets[] = {0, (int32_t)byte_count};
    const struct tree_basket object = {.values = bytes,
                                       .stored_bytes = byte_count,
                                       .object_bytes = byte_count,
                                       .offsets = offsets,
                                       .entries = 1,
                                       .entry_bytes = 1000};
    const struct tree_branch branch = {.name = "o",
                                       .title = "o",
                                       .object_class = name,
                                       .has_offsets = true,
                                       .baskets = 1,
                                       .basket = &object};
    tree_write(
        &(struct tree_description){
            .entries = 1, .branches = &branch, .branch_count = 1, .classes = classes, .class_count = count},
        file);
}

/* The byte count and version of an object, and zeros. */
static const uint8_t object_bytes[64] = {0x40, 0, 0, 60, 0, 1};

static void a_class_within_itself(struct nt_buffer *file)
{
    const struct tree_element elements[] = {{"a", "A", "TStreamerObjectAny", ANY, 0, 0, 0}};
    const struct tree_class class = {"A", elements, 1};
    write_object(&class, 1, "A", object_bytes, sizeof(object_bytes), file);
}

static void a_base_class_of_itself(struct nt_buffer *file)
{
    const struct tree_element elements[] = {{"A", "BASE", "TStreamerBase", 0, 0, 0, 0}, INTEGER};
    const struct tree_class class = {"A", elements, 2};
    write_object(&class, 1, "A", object_bytes, sizeof(object_bytes), file);
}

static void a_list_of_its_own_class(struct nt_buffer *file)
{
    const struct tree_element elements[] = {{"a", "vector<A>", "TStreamerSTL", STL, 0, VECTOR, ANY}};
    const struct tree_class class = {"A", elements, 1};
    write_object(&class, 1, "A", object_bytes, sizeof(object_bytes), file);
}

/* Four baskets of an object with a long text, then arrays of objects whose class is looked for, one array
 * after the other. */
static void many_unknown_classes_in_slow_baskets(struct nt_buffer *file)
{
    enum {
        ARRAYS = 20,
        ARRAY_BYTES = 26,
        TEXT = 1650000,
        BEFORE = 5,
        BYTES = BEFORE + TEXT + ARRAYS * ARRAY_BYTES,
        BASKETS = 4
    };
    enum { STRING = 65, OBJECT = 61, ROOM = 1 << 18 };
    static uint8_t bytes[BYTES] = {255}, room[ROOM];
    static struct tree_element elements[ARRAYS + 1] = {
        {"text", "TString", "TStreamerString", STRING, 0, 0, 0}};
    static char names[ARRAYS][8];
    uint32_t state = __builtin_bswap32(TEXT);
    memcpy(bytes + 1, &state, sizeof(state));
    for (uint32_t i = 0; i < TEXT; i++) {
        state = state * 1664525 + 1013904223;
        bytes[BEFORE + i] = state >> 24 < 25 ? 'B' : 'A';
    }
    for (uint32_t i = 0; i < ARRAYS; i++) {
        static const uint8_t array[ARRAY_BYTES] = {0x40, 0, 0, ARRAY_BYTES - 4, 0, 4, 0, 1};
        memcpy(bytes + BEFORE + TEXT + (size_t)i * ARRAY_BYTES, array, ARRAY_BYTES);
        snprintf(names[i], sizeof(names[i]), "m%u", i);
        elements[i + 1] = (struct tree_element){names[i], "TClonesArray", "TStreamerObject", OBJECT, 0, 0, 0};
    }
    const struct tree_class class = {"A", elements, ARRAYS + 1};
    const struct tree_basket slow = {.values = room,
                                     .stored_bytes = make_slow_block(room, ROOM, bytes, BYTES),
                                     .object_bytes = BYTES,
                                     .entries = 1,
                                     .entry_bytes = 1000};
    const struct tree_branch branch = {.name = "o",
                                       .title = "o",
                                       .object_class = "A",
                                       .baskets = BASKETS,
                                       .records = BASKETS,
                                       .basket = &slow};
    tree_write(
        &(struct tree_description){
            .entries = BASKETS, .branches = &branch, .branch_count = 1, .classes = &class, .class_count = 1},
        file);
}

/* The class of many branches has many members, and arrays of objects that each have to be looked for. */
static void many_members_and_unknown_classes(struct nt_buffer *file)
{
    enum { MEMBERS = 4000, ARRAYS = 16, BRANCHES = 300, OBJECT = 61 };
    static struct tree_element elements[MEMBERS];
    static char names[MEMBERS][16];
    for (uint32_t i = 0; i < MEMBERS; i++) {
        snprintf(names[i], sizeof(names[i]), "m%u", i);
        elements[i] =
            i < ARRAYS ? (struct tree_element){names[i], "TClonesArray", "TStreamerObject", OBJECT, 0, 0, 0}
                       : (struct tree_element){names[i], "int", "TStreamerBasicType", BASIC, 0, 0, 0};
    }
    const struct tree_class class = {"A", elements, MEMBERS};
    const struct tree_branch branch = {.title = "o", .object_class = "A"};
    write_copies(
        (struct tree_description){
            .entries = 1, .branches = &branch, .classes = &class, .class_count = 1, .is_compressed = true},
        BRANCHES, file);
}

/* Fifty thousand fields, as simulations of detectors have them: an object for each of many places. */
static void write_many_objects(uint32_t missing_bytes, struct nt_buffer *file)
{
    enum { MEMBERS = 70, BRANCHES = 700 };
    static struct tree_element elements[MEMBERS];
    static char names[MEMBERS][16];
    static const uint8_t bytes[MEMBERS * sizeof(int32_t)];
    const int32_t offsets[] = {0, (int32_t)(sizeof(bytes) - missing_bytes)};
    for (uint32_t i = 0; i < MEMBERS; i++) {
        snprintf(names[i], sizeof(names[i]), "m%u", i);
        elements[i] = (struct tree_element){names[i], "int", "TStreamerBasicType", BASIC, 0, 0, 0};
    }
    const struct tree_class class = {"A", elements, MEMBERS};
    const struct tree_basket object = {.values = bytes,
                                       .stored_bytes = sizeof(bytes) - missing_bytes,
                                       .object_bytes = sizeof(bytes) - missing_bytes,
                                       .offsets = offsets,
                                       .entries = 1,
                                       .entry_bytes = 1000};
    const struct tree_branch branch = {
        .title = "o", .object_class = "A", .has_offsets = true, .baskets = 1, .basket = &object};
    write_copies(
        (struct tree_description){
            .entries = 1, .branches = &branch, .classes = &class, .class_count = 1, .is_compressed = true},
        BRANCHES, file);
}

static void many_objects_of_many_members(struct nt_buffer *file)
{
    write_many_objects(0, file);
}

static void many_damaged_objects(struct nt_buffer *file)
{
    write_many_objects(1, file);
}

/* Each class holds the next one as often: the last one is there powers of times. */
static void write_nested_classes(uint32_t count, uint32_t members, struct nt_buffer *file)
{
    struct tree_class *classes = calloc(count, sizeof(*classes));
    struct tree_element *elements = calloc((size_t)count * members, sizeof(*elements));
    char(*names)[16] = calloc(count + 1, sizeof(*names));
    char(*member_names)[16] = calloc(members, sizeof(*member_names));
    demand(classes && elements && names && member_names);
    for (uint32_t i = 0; i <= count; i++)
        snprintf(names[i], sizeof(names[i]), "C%u", i);
    for (uint32_t i = 0; i < members; i++)
        snprintf(member_names[i], sizeof(member_names[i]), "m%u", i);
    for (uint32_t i = 0; i < count; i++) {
        classes[i] = (struct tree_class){names[i], &elements[(size_t)i * members], members};
        for (uint32_t k = 0; k < members; k++)
            elements[(size_t)i * members + k] =
                i + 1 < count
                    ? (struct tree_element){member_names[k], names[i + 1], "TStreamerObjectAny", ANY, 0, 0, 0}
                    : (struct tree_element){member_names[k], "int", "TStreamerBasicType", BASIC, 0, 0, 0};
    }
    write_object(classes, count, "C0", object_bytes, sizeof(object_bytes), file);
    free(member_names);
    free(names);
    free(elements);
    free(classes);
}

static void classes_that_hold_two_of_the_next(struct nt_buffer *file)
{
    write_nested_classes(40, 2, file);
}

static void classes_nested_deep(struct nt_buffer *file)
{
    write_nested_classes(3000, 1, file);
}

static void lists_of_lists_of_lists(struct nt_buffer *file)
{
    enum { DEPTH = 30 };
    static char name[DEPTH * 8 + 8];
    name[0] = 0;
    for (unsigned i = 0; i < DEPTH; i++)
        strcat(name, "vector<");
    strcat(name, "int");
    for (unsigned i = 0; i < DEPTH; i++)
        strcat(name, ">");
    write_object(NULL, 0, name, object_bytes, sizeof(object_bytes), file);
}

/* Two billion items of no bytes. */
static void write_items_of_nothing(const uint8_t *bytes, uint32_t count, struct nt_buffer *file)
{
    const struct tree_class classes[] = {{"Nothing", NULL, 0}};
    write_object(classes, 1, "vector<Nothing>", bytes, count, file);
}

static void many_items_of_nothing(struct nt_buffer *file)
{
    static const uint8_t bytes[] = {0x40, 0, 0, 6, 0, 1, 0x7f, 0xff, 0xff, 0xff};
    write_items_of_nothing(bytes, sizeof(bytes), file);
}

static void many_items_of_nothing_by_members(struct nt_buffer *file)
{
    static const uint8_t bytes[] = {0x40, 0, 0, 8, 0x40, 9, 0, 1, 0x7f, 0xff, 0xff, 0xff};
    write_items_of_nothing(bytes, sizeof(bytes), file);
}

static void an_array_of_two_billion_objects_of_nothing(struct nt_buffer *file)
{
    const struct tree_element elements[] = {
        {"a", "Nothing", "TStreamerObjectAny", ANY + ARRAY, 2000000000, 0, 0}};
    const struct tree_class classes[] = {{"A", elements, 1}, {"Nothing", NULL, 0}};
    write_object(classes, 2, "A", object_bytes, sizeof(object_bytes), file);
}

static void an_array_of_two_billion_numbers(struct nt_buffer *file)
{
    const struct tree_element elements[] = {
        {"a", "int", "TStreamerBasicType", BASIC + ARRAY, 2000000000, 0, 0}};
    const struct tree_class class = {"A", elements, 1};
    write_object(&class, 1, "A", object_bytes, sizeof(object_bytes), file);
}

static void a_list_that_claims_two_billion_numbers(struct nt_buffer *file)
{
    static const uint8_t bytes[] = {0x40, 0, 0, 6, 0, 1, 0x7f, 0xff, 0xff, 0xff};
    write_object(NULL, 0, "vector<int>", bytes, sizeof(bytes), file);
}

static void a_list_that_claims_two_billion_strings(struct nt_buffer *file)
{
    static const uint8_t bytes[] = {0x40, 0, 0, 6, 0, 1, 0x7f, 0xff, 0xff, 0xff};
    write_object(NULL, 0, "vector<string>", bytes, sizeof(bytes), file);
}

const struct bomb tree_bombs[] = {
    BOMB(a_tree_of_one_basket, BOMB_READ),
    BOMB(a_million_claimed_baskets, BOMB_REFUSED),
    BOMB(many_small_baskets, BOMB_READ),
    BOMB(baskets_that_are_all_the_same_one, BOMB_REFUSED),
    BOMB(more_entries_than_a_file_can_have, BOMB_FAILED),
    BOMB(a_leaf_of_a_billion_items, BOMB_FAILED),
    BOMB(a_key_that_is_longer_than_its_record, BOMB_FAILED),
    BOMB(offsets_that_fall, BOMB_READ | BOMB_FAILED),
    BOMB(baskets_that_share_a_large_record, BOMB_REFUSED),
    BOMB(branches_that_share_a_large_record, BOMB_READ | BOMB_FAILED),
    BOMB(a_basket_that_claims_two_gigabytes, BOMB_FAILED),
    BOMB(a_counter_that_counts_itself, BOMB_READ),
    BOMB(branches_within_branches, BOMB_REFUSED),
    BOMB(many_branches, BOMB_READ),
    BOMB(many_compressed_branches, BOMB_READ),
    BOMB(a_billion_claimed_branches, BOMB_REFUSED),
    BOMB(many_unknown_classes_in_slow_baskets, BOMB_READ | BOMB_FAILED),
    BOMB(many_members_and_unknown_classes, BOMB_REFUSED),
    BOMB(many_objects_of_many_members, BOMB_READ),
    BOMB(many_damaged_objects, BOMB_FAILED),
    BOMB(a_class_within_itself, BOMB_FAILED),
    BOMB(a_base_class_of_itself, BOMB_FAILED),
    BOMB(a_list_of_its_own_class, BOMB_READ | BOMB_FAILED),
    BOMB(classes_that_hold_two_of_the_next, BOMB_FAILED),
    BOMB(classes_nested_deep, BOMB_FAILED),
    BOMB(lists_of_lists_of_lists, BOMB_FAILED),
    BOMB(many_items_of_nothing, BOMB_READ),
    BOMB(many_items_of_nothing_by_members, BOMB_READ),
    BOMB(an_array_of_two_billion_objects_of_nothing, BOMB_WITHOUT_STREAMS),
    BOMB(an_array_of_two_billion_numbers, BOMB_FAILED),
    BOMB(a_list_that_claims_two_billion_numbers, BOMB_READ | BOMB_FAILED),
    BOMB(a_list_that_claims_two_billion_strings, BOMB_FAILED),
};
const size_t tree_bomb_count = sizeof(tree_bombs) / sizeof(*tree_bombs);
