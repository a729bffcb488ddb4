/* SPDX-License-Identifier: MIT
 *
 * In: the number of a file in a chain's list. Out: members of a JSON object.
 */
#include "chain/files.h"

#include "core/base/search.h"
#include "chain/opened.h"
#include "core/model/path.h"

NT_DEFINE_LAST_AT_MOST(last_part, struct nt_chain_part, .number)

uint32_t nt_chain_file_count(const struct nt_file *chain)
{
    return nt_chain_of(chain)->part_count + nt_chain_of(chain)->skipped;
}

/* Those that are left out are few. */
static const struct nt_chain_part *find_part(const struct nt_chain *chain, uint32_t number)
{
    const struct nt_chain_part *part = &chain->parts[last_part(chain->parts, chain->part_count, number)];
    const struct nt_chain_part *left_out = &chain->parts[chain->part_count];
    if (part->number == number)
        return part;
    while (left_out->number != number)
        left_out++;
    return left_out;
}

/* An address that no list has told of is what was found there when it was opened. */
static struct stat identity_of(const struct nt_chain_part *part)
{
    struct stat found;
    bool is_asked = part->listed->address && !part->listed->identity.st_mode && part->file;
    return is_asked && nt_source_stat(part->file->source, &found, NULL) == NT_OK ? found
                                                                                 : part->listed->identity;
}

static void write_identity(struct nt_json *json, const struct nt_chain_part *part)
{
    const struct nt_chain_file *listed = part->listed;
    const struct stat identity = identity_of(part);
    nt_json_member_text(json, "file", nt_text_of(listed->path));
    if (S_ISREG(identity.st_mode))
        nt_json_member_unsigned(json, "file_bytes", (uint64_t)identity.st_size);
    else
        nt_json_member_null(json, "file_bytes");
    if (identity.st_mode)
        nt_json_member_time(json, "modified", identity.st_mtime);
    else
        nt_json_member_null(json, "modified");
    if (!listed->sample)
        return;
    nt_json_member_text(json, "sample", nt_text_of(listed->sample->name));
    nt_json_key(json, "metadata");
    nt_json_raw(json, listed->sample->metadata ? listed->sample->metadata : "null");
}

static void write_share(struct nt_json *json, const struct nt_chain_share *share, bool has_field_groups)
{
    struct nt_buffer path = {0};
    if (share->dataset) {
        nt_append_dataset_path(&path, share->dataset);
        nt_json_member_buffer(json, "dataset", &path);
    } else {
        nt_json_member_null(json, "dataset");
    }
    nt_json_member_unsigned(json, "first_entry", share->first_entry);
    nt_json_member_unsigned(json, "entries", share->entries);
    if (has_field_groups) { /* each field has clusters of its own */
        nt_json_member_null(json, "first_cluster");
        nt_json_member_null(json, "clusters");
    } else {
        nt_json_member_unsigned(json, "first_cluster", share->first_cluster);
        nt_json_member_unsigned(json, "clusters", share->failure ? 0 : share->dataset->cluster_count);
    }
    if (share->failure)
        nt_json_member_text(json, "error", nt_text_of(share->failure->message));
}

void nt_chain_write_file(const struct nt_dataset *dataset, uint32_t number, struct nt_json *json)
{
    const struct nt_chain *chain = nt_chain_of(dataset->file);
    const struct nt_chain_part *part = find_part(chain, number);
    bool is_left_out = part - chain->parts >= chain->part_count;
    write_identity(json, part);
    nt_json_member_bool(json, "is_left_out", is_left_out);
    if (is_left_out)
        nt_json_member_text(json, "error", nt_text_of(part->failure.message));
    else
        write_share(json, &nt_chain_dataset_of(dataset)->shares[part - chain->parts],
                    dataset->field_groups != NULL);
}
