/* SPDX-License-Identifier: MIT
 *
 * 64 bits = level (4) and the parts of that level, highest first: slot, item, number, file. The widths are a
 * table; packing and unpacking walk it.
 */
#include "vfs/node.h"

enum { LEVEL_SHIFT = 60, PARTS = 4 };

/* Bits of slot, item, number and file; together at most 60. */
static const uint8_t widths[NT_LEVEL_COUNT][PARTS] = {
    [NT_LEVEL_PLACE] = {20, 16, 12, 12},   [NT_LEVEL_MOUNT] = {0, 0, 0, 12},
    [NT_LEVEL_DATASET] = {16, 0, 32, 12},  [NT_LEVEL_FIELD] = {16, 24, 0, 12},
    [NT_LEVEL_COLUMN] = {16, 24, 0, 12},   [NT_LEVEL_PAGE_RAW] = {16, 20, 24, 0},
    [NT_LEVEL_PAGE_BIN] = {16, 20, 24, 0}, [NT_LEVEL_PAGE_FILE] = {16, 19, 20, 5},
    [NT_LEVEL_ENTRY] = {16, 0, 44, 0},     [NT_LEVEL_BLOB] = {16, 14, 30, 0},
};

bool nt_node_pack(const struct nt_node *node, uint64_t *number_ret)
{
    const uint64_t parts[PARTS] = {node->slot, node->item, node->number, node->file};
    uint64_t number = 0;
    for (int i = 0; i < PARTS; i++) {
        unsigned width = widths[node->level][i];
        if (parts[i] >> width)
            return false;
        number = number << width | parts[i];
    }
    *number_ret = (uint64_t)node->level << LEVEL_SHIFT | number;
    return true;
}

bool nt_node_unpack(uint64_t number, struct nt_node *node)
{
    uint64_t level = number >> LEVEL_SHIFT, parts[PARTS];
    if (level >= NT_LEVEL_COUNT)
        return false;
    number &= (UINT64_C(1) << LEVEL_SHIFT) - 1;
    for (int i = PARTS - 1; i >= 0; i--) {
        unsigned width = widths[level][i];
        parts[i] = number & ((UINT64_C(1) << width) - 1);
        number >>= width;
    }
    *node = (struct nt_node){(enum nt_level)level, (uint32_t)parts[0], (uint32_t)parts[1], (uint32_t)parts[3],
                             parts[2]};
    return number == 0 && (widths[level][PARTS - 1] == 0 || node->file >= NT_NODE_SELF);
}

uint64_t nt_node_number(enum nt_level level, uint32_t slot, uint32_t item, uint32_t file)
{
    struct nt_node node = {.level = level, .slot = slot, .item = item, .file = file};
    uint64_t number = 0;
    return nt_node_pack(&node, &number) ? number : 0;
}
