/* SPDX-License-Identifier: MIT
 *
 * In: nodes, one after the other. Out: a list of them, and what they point to.
 */
#include "formats/lance/file/tree_builder.h"

#include <inttypes.h>

#include "core/base/arena.h"

enum nt_status nt_lance_check_bits(const struct nt_tree_builder *builder, uint64_t bits, const char *what,
                                   struct nt_error *error)
{
    enum { MOST = 1 << 30 };
    bool may_be_empty = builder->value && builder->value->is_empty;
    if (bits == 1 || ((bits || may_be_empty) && bits % 8 == 0 && bits <= MOST))
        return NT_OK;
    return nt_fail(error, NT_UNSUPPORTED, NT_NO_OFFSET, "%s of %" PRIu64 " bits", what, bits);
}

enum nt_status nt_lance_make_symbols(const struct nt_tree_builder *builder, struct nt_proto message,
                                     uint32_t field, const struct nt_fsst **fsst_ret, struct nt_error *error)
{
    struct nt_proto_item item = {0};
    struct nt_fsst *fsst = nt_arena_alloc(builder->scratch, 1, sizeof(*fsst));
    if (!fsst)
        return nt_fail_memory(error);
    *fsst_ret = fsst;
    nt_proto_find(message, field, &item);
    return nt_fsst_init(fsst, item.bytes, item.size, error);
}

enum nt_status nt_tree_add_node(struct nt_tree_builder *builder, const struct nt_tree_node *node,
                                uint32_t *number_ret, struct nt_error *error)
{
    if (builder->count == NT_TREE_NODES)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "more than %d encodings in one another", NT_TREE_NODES);
    *number_ret = builder->count;
    builder->nodes[builder->count++] = *node;
    return NT_OK;
}

enum nt_status nt_lance_add_nulls(struct nt_tree_builder *builder, enum nt_tree_node_kind kind,
                                  uint32_t null_depth, uint32_t *number_ret, struct nt_error *error)
{
    const struct nt_lance_value *value = builder->value;
    const uint32_t list_count = value ? value->list_count : 0, bits = value ? value->bits : 0;
    enum nt_status status = NT_OK;
    uint32_t number;
    *number_ret = builder->count;
    for (uint32_t i = builder->depth; status == NT_OK && i < list_count; i++) {
        const struct nt_tree_node list = {.kind = NT_TREE_FIXED_LIST,
                                          .children = {builder->count + 1},
                                          .bits = bits,
                                          .items = value->lists[i],
                                          .is_null = i >= null_depth};
        status = nt_tree_add_node(builder, &list, &number, error);
    }
    const struct nt_tree_node node = {.kind = kind, .bits = bits, .is_null = true};
    return status == NT_OK ? nt_tree_add_node(builder, &node, &number, error) : status;
}
