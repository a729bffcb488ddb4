/* SPDX-License-Identifier: MIT
 *
 * Node numbers at the limits of their parts, and invalid ones.
 */
#include "support.h"
#include "vfs/vfs.h"
#include "vfs/tree.h"

TEST(place_0_is_the_root)
{
    const struct nt_node root = {.type = NT_NODE_INODE, .file = NT_NODE_SELF};
    uint64_t number;
    ck_assert(nt_node_pack(&root, &number));
    ck_assert_uint_eq(number, NT_VFS_ROOT);
}

/* The largest values that each level must be able to hold. */
static const struct nt_node largest[] = {
    {NT_NODE_INODE, (1 << 20) - 1, (1 << 16) - 1, 4095, 4095},
    {NT_NODE_MOUNT, 0, 0, 4095, 0},
    {NT_NODE_DATASET, 65535, 0, 4095, UINT32_MAX},
    {NT_NODE_FIELD, 65535, (1 << 24) - 1, 4095, 0},
    {NT_NODE_COLUMN, 65535, (1 << 24) - 1, 4095, 0},
    {NT_NODE_PAGE_RAW, 65535, (1 << 20) - 1, 0, (1 << 24) - 1},
    {NT_NODE_PAGE_BIN, 65535, (1 << 20) - 1, 0, (1 << 24) - 1},
    {NT_NODE_PAGE_FILE, 65535, (1 << 19) - 1, 31, (1 << 20) - 1},
    {NT_NODE_ENTRY, 65535, 0, 0, (UINT64_C(1) << 44) - 1},
    {NT_NODE_BLOB, 65535, (1 << 14) - 1, 0, (1 << 30) - 1},
    {NT_NODE_VERSION, 65535, 0, 0, (UINT64_C(1) << 44) - 1},
};

static void assert_round_trip(const struct nt_node *node)
{
    uint64_t number;
    struct nt_node back;
    ck_assert(nt_node_pack(node, &number));
    ck_assert_uint_ne(number, 0);
    ck_assert(nt_node_unpack(number, &back));
    ck_assert_int_eq(back.type, node->type);
    ck_assert_uint_eq(back.owner, node->owner);
    ck_assert_uint_eq(back.item, node->item);
    ck_assert_uint_eq(back.file, node->file);
    ck_assert_uint_eq(back.number, node->number);
}

TEST(the_largest_and_smallest_node_of_each_level_come_back, .end = NT_NODE_TYPES)
{
    struct nt_node smallest = {.type = largest[_i].type, .file = largest[_i].file ? NT_NODE_SELF : 0};
    ck_assert_int_eq(largest[_i].type, _i);
    assert_round_trip(&largest[_i]);
    if (smallest.type != NT_NODE_INODE || smallest.file)
        assert_round_trip(&smallest);
}

TEST(one_more_than_the_largest_is_refused, .end = NT_NODE_TYPES)
{
    uint64_t number;
    for (int part = 0; part < 4; part++) {
        struct nt_node node = largest[_i];
        if (part == 0)
            node.owner++;
        else if (part == 1)
            node.item++;
        else if (part == 2)
            node.file++;
        else
            node.number++;
        ck_assert_msg(!nt_node_pack(&node, &number), "part %d", part);
    }
}

TEST(whatever_number_comes_is_refused_or_comes_back_the_same)
{
    uint64_t state = 88172645463325252u, accepted = 0;
    for (int i = 0; i < 100000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        struct nt_node node;
        uint64_t number, presented = i % 2 ? state : state >> (state % 64);
        if (!nt_node_unpack(presented, &node))
            continue;
        accepted++;
        if (!nt_node_pack(&node, &number) || number != presented)
            ck_abort_msg("%llx came back as %llx", (unsigned long long)presented, (unsigned long long)number);
    }
    ck_assert_uint_gt(accepted, 1000);
}

TEST(zero_is_no_node)
{
    struct nt_node node;
    ck_assert(!nt_node_unpack(0, &node));
    ck_assert(!nt_node_unpack(UINT64_MAX, &node));
}
