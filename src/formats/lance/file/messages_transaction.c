/* SPDX-License-Identifier: MIT
 *
 * The table of the message that says what made a version: a Transaction, whose operation is one of many.
 */
#include "formats/lance/file/messages_table.h"
#include "formats/lance/file/rows.h"

/* ---- operations on fragments ---- */

static const struct nt_proto_field append_rows[] = {
    MESSAGES(1, "fragments", nt_lance_fragment),
};
static const struct nt_proto_table append = TABLE("Transaction.Append", append_rows);

static const struct nt_proto_field delete_rows[] = {
    MESSAGES(1, "updated_fragments", nt_lance_fragment),
    UINTS(2, "deleted_fragment_ids"),
    TEXT(3, "predicate"),
};
static const struct nt_proto_table delete = TABLE("Transaction.Delete", delete_rows);

static const struct nt_proto_field overwrite_rows[] = {
    MESSAGES(1, "fragments", nt_lance_fragment),
    MESSAGES(2, "schema", nt_lance_field),
    MESSAGES(3, "schema_metadata", nt_lance_metadata_entry),
    MESSAGES(4, "config_upsert_values", nt_lance_metadata_entry),
    MESSAGES(5, "initial_bases", nt_lance_base_path),
};
static const struct nt_proto_table overwrite = TABLE("Transaction.Overwrite", overwrite_rows);

static const struct nt_proto_field rewrite_group_rows[] = {
    MESSAGES(1, "old_fragments", nt_lance_fragment),
    MESSAGES(2, "new_fragments", nt_lance_fragment),
};
static const struct nt_proto_table rewrite_group =
    TABLE("Transaction.Rewrite.RewriteGroup", rewrite_group_rows);
static const struct nt_proto_field rewritten_index_rows[] = {
    MESSAGE(1, "old_id", nt_lance_uuid),
    MESSAGE(2, "new_id", nt_lance_uuid),
    MESSAGE(3, "new_index_details", nt_lance_any),
    UINT(4, "new_index_version"),
};
static const struct nt_proto_table rewritten_index =
    TABLE("Transaction.Rewrite.RewrittenIndex", rewritten_index_rows);
static const struct nt_proto_field rewrite_rows[] = {
    MESSAGES(1, "old_fragments", nt_lance_fragment),
    MESSAGES(2, "new_fragments", nt_lance_fragment),
    MESSAGES(3, "groups", rewrite_group),
    MESSAGES(4, "rewritten_indices", rewritten_index),
};
static const struct nt_proto_table rewrite = TABLE("Transaction.Rewrite", rewrite_rows);

static const struct nt_proto_field merge_rows[] = {
    MESSAGES(1, "fragments", nt_lance_fragment),
    MESSAGES(2, "schema", nt_lance_field),
    MESSAGES(3, "schema_metadata", nt_lance_metadata_entry),
};
static const struct nt_proto_table merge = TABLE("Transaction.Merge", merge_rows);

static const char *const update_modes[] = {"REWRITE_ROWS", "REWRITE_COLUMNS", NULL};
static const struct nt_proto_field update_rows[] = {
    UINTS(1, "removed_fragment_ids"),
    MESSAGES(2, "updated_fragments", nt_lance_fragment),
    MESSAGES(3, "new_fragments", nt_lance_fragment),
    UINTS(4, "fields_modified"),
    UINTS(6, "fields_for_preserving_frag_bitmap"),
    ENUM(7, "update_mode", update_modes),
};
static const struct nt_proto_table update = TABLE("Transaction.Update", update_rows);

static const struct nt_proto_field data_replacement_group_rows[] = {
    UINT(1, "fragment_id"),
    MESSAGE(2, "new_file", nt_lance_data_file),
};
static const struct nt_proto_table data_replacement_group =
    TABLE("Transaction.DataReplacementGroup", data_replacement_group_rows);
static const struct nt_proto_field data_replacement_rows[] = {
    MESSAGES(1, "replacements", data_replacement_group),
};
static const struct nt_proto_table data_replacement =
    TABLE("Transaction.DataReplacement", data_replacement_rows);

static const struct nt_proto_field reserve_fragments_rows[] = {
    UINT(1, "num_fragments"),
};
static const struct nt_proto_table reserve_fragments =
    TABLE("Transaction.ReserveFragments", reserve_fragments_rows);

/* ---- on all else ---- */

static const struct nt_proto_field create_index_rows[] = {
    MESSAGES(1, "new_indices", nt_lance_index_metadata),
    MESSAGES(2, "removed_indices", nt_lance_index_metadata),
};
static const struct nt_proto_table create_index = TABLE("Transaction.CreateIndex", create_index_rows);

static const struct nt_proto_field project_rows[] = {
    MESSAGES(1, "schema", nt_lance_field),
};
static const struct nt_proto_table project = TABLE("Transaction.Project", project_rows);

static const struct nt_proto_field restore_rows[] = {
    UINT(1, "version"),
};
static const struct nt_proto_table restore = TABLE("Transaction.Restore", restore_rows);

static const struct nt_proto_field clone_rows[] = {
    BOOL(1, "is_shallow"), OPTIONAL_TEXT(2, "ref_name"),    UINT(3, "ref_version"),
    TEXT(4, "ref_path"),   OPTIONAL_TEXT(5, "branch_name"),
};
static const struct nt_proto_table clone = TABLE("Transaction.Clone", clone_rows);

static const struct nt_proto_field update_bases_rows[] = {
    MESSAGES(1, "new_bases", nt_lance_base_path),
};
static const struct nt_proto_table update_bases = TABLE("Transaction.UpdateBases", update_bases_rows);

static const struct nt_proto_field update_map_entry_rows[] = {
    TEXT(NT_LANCE_ENTRY_KEY, "key"),
    OPTIONAL_TEXT(NT_LANCE_ENTRY_VALUE, "value"),
};
static const struct nt_proto_table update_map_entry =
    TABLE("Transaction.UpdateMapEntry", update_map_entry_rows);
static const struct nt_proto_field update_map_rows[] = {
    MESSAGES(1, "update_entries", update_map_entry),
    BOOL(2, "replace"),
};
static const struct nt_proto_table update_map = TABLE("Transaction.UpdateMap", update_map_rows);
static const struct nt_proto_field field_update_rows[] = {
    INT(NT_LANCE_ENTRY_KEY, "key"),
    MESSAGE(NT_LANCE_ENTRY_VALUE, "value", update_map),
};
static const struct nt_proto_table field_update = TABLE("FieldMetadataUpdatesEntry", field_update_rows);
static const struct nt_proto_field old_metadata_rows[] = {
    MESSAGES(5, "metadata", nt_lance_metadata_entry),
};
static const struct nt_proto_table old_metadata =
    TABLE("Transaction.UpdateConfig.FieldMetadataUpdate", old_metadata_rows);
static const struct nt_proto_field old_field_update_rows[] = {
    UINT(NT_LANCE_ENTRY_KEY, "key"),
    MESSAGE(NT_LANCE_ENTRY_VALUE, "value", old_metadata),
};
static const struct nt_proto_table old_field_update = TABLE("FieldMetadataEntry", old_field_update_rows);
static const struct nt_proto_field update_config_rows[] = {
    MESSAGE(6, "config_updates", update_map),
    MESSAGE(7, "table_metadata_updates", update_map),
    MESSAGE(8, "schema_metadata_updates", update_map),
    MESSAGES(9, "field_metadata_updates", field_update),
    MESSAGES(1, "upsert_values", nt_lance_metadata_entry),
    TEXTS(2, "delete_keys"),
    MESSAGES(3, "schema_metadata", nt_lance_metadata_entry),
    MESSAGES(4, "field_metadata", old_field_update),
};
static const struct nt_proto_table update_config = TABLE("Transaction.UpdateConfig", update_config_rows);

/* ---- all ---- */

static const struct nt_proto_field transaction_rows[] = {
    UINT(1, "read_version"),
    TEXT(2, "uuid"),
    TEXT(3, "tag"),
    MESSAGES(4, "transaction_properties", nt_lance_metadata_entry),
    MESSAGE(100, "append", append),
    MESSAGE(101, "delete", delete),
    MESSAGE(102, "overwrite", overwrite),
    MESSAGE(103, "create_index", create_index),
    MESSAGE(104, "rewrite", rewrite),
    MESSAGE(105, "merge", merge),
    MESSAGE(106, "restore", restore),
    MESSAGE(107, "reserve_fragments", reserve_fragments),
    MESSAGE(108, "update", update),
    MESSAGE(109, "project", project),
    MESSAGE(110, "update_config", update_config),
    MESSAGE(111, "data_replacement", data_replacement),
    MESSAGE(113, "clone", clone),
    MESSAGE(114, "update_bases", update_bases),
};
const struct nt_proto_table nt_lance_transaction = TABLE("Transaction", transaction_rows);
