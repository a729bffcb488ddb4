/* SPDX-License-Identifier: MIT
 *
 * The chain index, a JSON Lines file that caches the entry and cluster counts of member files so that
 * they need not be opened for them. Its content is untrusted: a file that changed since is detected
 * when it is opened.
 */
#include "chain/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

#include "core/io/address.h"
#include "core/json/parse.h"
#include "formats/formats.h"

/* ---- Read and write the index ---- */

/* Jansson needs some 75 times the bytes of a line's values. */
enum { MAX_BYTES = 256 << 20, MAX_LINE_BYTES = 1 << 20 };

/* ---- Lookup ---- */

static int compare_files(const void *left, const void *right)
{
    const struct nt_indexed_file *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    return order ? order : strcmp(a->meant, b->meant);
}

const struct nt_indexed_file *nt_chain_index_find(const struct nt_chain_index *index, const char *path,
                                                  const char *meant)
{
    const struct nt_indexed_file key = {.path = path, .meant = meant};
    return index->count ? bsearch(&key, index->files, index->count, sizeof(key), compare_files) : NULL;
}

const struct nt_indexed_dataset *nt_indexed_dataset_find(const struct nt_indexed_file *file, const char *path)
{
    for (uint32_t i = 0; i < file->dataset_count; i++)
        if (strcmp(file->datasets[i].path, path) == 0)
            return &file->datasets[i];
    return NULL;
}

/* ---- Writing ---- */

/* A file with these opens when its rows are read. */
static void put_clusters(struct nt_json *json, const struct nt_indexed_dataset *dataset)
{
    if (!dataset->schema || !dataset->cluster_entries)
        return;
    if (dataset->path_in_file)
        nt_json_member_string(json, "path_in_file", dataset->path_in_file);
    nt_json_member_string(json, "schema", dataset->schema);
    nt_json_member_array(json, "cluster_entries");
    for (uint64_t i = 0; i < dataset->clusters; i++)
        nt_json_unsigned(json, dataset->cluster_entries[i]);
    nt_json_end_array(json);
    if (dataset->has_deletions)
        nt_json_member_bool(json, "has_deletions", true);
}

static void put_counts(struct nt_json *json, const struct nt_indexed_dataset *dataset)
{
    struct nt_buffer text = {0};
    nt_json_member_array(json, "cluster_elements");
    for (uint64_t i = 0; i < dataset->clusters; i++) {
        nt_cluster_counts_append(&text, &dataset->counts[i]);
        nt_json_buffer(json, &text);
    }
    nt_json_end_array(json);
}

/* Cannot fail but by a lack of memory. */
static void put_file(struct nt_buffer *out, const struct nt_indexed_file *file, bool with_counts)
{
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_string(&json, "file", file->path);
    if (*file->meant)
        nt_json_member_string(&json, "dataset", file->meant);
    if (file->state)
        nt_json_member_string(&json, "state", file->state);
    nt_json_member_unsigned(&json, "file_bytes", file->bytes);
    nt_json_member_string(&json, "modified", file->modified);
    if (file->validator)
        nt_json_member_string(&json, "validator", file->validator);
    else
        nt_json_member_unsigned(&json, "inode", file->inode);
    if (file->files)
        nt_json_member_unsigned(&json, "files", file->files);
    nt_json_member_array(&json, "datasets");
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        nt_json_object(&json);
        nt_json_member_string(&json, "path", file->datasets[i].path);
        nt_json_member_unsigned(&json, "entries", file->datasets[i].entries);
        nt_json_member_unsigned(&json, "clusters", file->datasets[i].clusters);
        put_clusters(&json, &file->datasets[i]);
        if (with_counts && file->datasets[i].counts)
            put_counts(&json, &file->datasets[i]);
        nt_json_end_object(&json);
    }
    nt_json_end_array(&json);
    nt_json_finish(&json);
}

/* Accepts NULL. */
static bool is_text(const char *text)
{
    return !text || nt_is_utf8(text, strlen(text));
}

void nt_indexed_file_append(struct nt_buffer *out, const struct nt_indexed_file *file, size_t max_bytes)
{
    size_t start = out->length;
    bool is_readable = is_text(file->path) && is_text(file->meant) && file->inode <= INT64_MAX &&
                       is_text(file->validator) && is_text(file->state);
    for (uint32_t i = 0; i < file->dataset_count; i++)
        is_readable &= is_text(file->datasets[i].path) && is_text(file->datasets[i].path_in_file);
    if (!is_readable)
        return;
    put_file(out, file, true);
    if (!out->failed && out->length - start > max_bytes) {
        out->length = start;
        put_file(out, file, false);
    }
    if (!out->failed && out->length - start > MAX_LINE_BYTES)
        out->length = start; /* a reader would reject it */
}

/* ---- Reading ---- */

struct index_reader {
    struct nt_chain_index *index;
    size_t capacity;
    struct nt_error *error;
};

static enum nt_status refuse(const struct index_reader *reader, const char *key, const char *expected)
{
    return nt_fail(reader->error, NT_CORRUPT, NT_NO_OFFSET, "\"%s\" is not %s", key, expected);
}

static enum nt_status take_text(const struct index_reader *reader, const json_t *object, const char *key,
                                const char **text_ret)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return refuse(reader, key, "a string");
    *text_ret = nt_arena_copy(reader->index->arena, json_string_value(value), json_string_length(value));
    return *text_ret ? NT_OK : nt_fail_memory(reader->error);
}

static enum nt_status take_count(const struct index_reader *reader, const json_t *object, const char *key,
                                 uint64_t *count_ret)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return refuse(reader, key, "an integer of at least 0");
    *count_ret = (uint64_t)json_integer_value(value);
    return NT_OK;
}

/* Missing in indexes of earlier versions, and if the line would have been too long. */
static enum nt_status read_counts(const struct index_reader *reader, const json_t *object,
                                  struct nt_indexed_dataset *dataset)
{
    const json_t *list = json_object_get(object, "cluster_elements");
    struct nt_arena *arena = reader->index->arena;
    if (!list)
        return NT_OK;
    if (!json_is_array(list) || json_array_size(list) != dataset->clusters)
        return refuse(reader, "cluster_elements", "a list with a text for each cluster");
    dataset->counts = nt_arena_alloc(arena, json_array_size(list) + 1, sizeof(*dataset->counts));
    NT_TRY(nt_check_memory(dataset->counts, reader->error));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *text = json_array_get(list, i);
        NT_TRY(json_is_string(text) ? nt_cluster_counts_read(json_string_value(text), arena,
                                                             &dataset->counts[i], reader->error)
                                    : refuse(reader, "cluster_elements", "a list of texts"));
    }
    return NT_OK;
}

/* These are missing in indexes of earlier versions, and in those of files with many clusters. */
static enum nt_status take_clusters(const struct index_reader *reader, const json_t *object,
                                    struct nt_indexed_dataset *dataset)
{
    const json_t *list = json_object_get(object, "cluster_entries");
    uint64_t sum = 0;
    if (!list || !json_object_get(object, "schema"))
        return NT_OK;
    if (!json_is_array(list) || json_array_size(list) != dataset->clusters)
        return refuse(reader, "cluster_entries", "a list with the entries of each cluster");
    dataset->cluster_entries =
        nt_arena_alloc(reader->index->arena, json_array_size(list) + 1, sizeof(*dataset->cluster_entries));
    NT_TRY(nt_check_memory(dataset->cluster_entries, reader->error));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return refuse(reader, "cluster_entries", "a list of integers of at least 0");
        dataset->cluster_entries[i] = (uint64_t)json_integer_value(value);
        if (!nt_checked_add(sum, dataset->cluster_entries[i], &sum))
            return refuse(reader, "cluster_entries", "a list with the entries of each cluster");
    }
    if (sum != dataset->entries)
        return refuse(reader, "cluster_entries", "a list whose sum is the number of entries");
    if (json_object_get(object, "path_in_file"))
        NT_TRY(take_text(reader, object, "path_in_file", &dataset->path_in_file));
    NT_TRY(take_text(reader, object, "schema", &dataset->schema));
    dataset->has_deletions = json_is_true(json_object_get(object, "has_deletions"));
    return read_counts(reader, object, dataset);
}

static enum nt_status take_datasets(const struct index_reader *reader, const json_t *list,
                                    struct nt_indexed_file *file)
{
    if (!json_is_array(list))
        return refuse(reader, "datasets", "a list");
    file->datasets = nt_arena_alloc(reader->index->arena, json_array_size(list) + 1, sizeof(*file->datasets));
    NT_TRY(nt_check_memory(file->datasets, reader->error));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        struct nt_indexed_dataset *dataset = &file->datasets[file->dataset_count++];
        NT_TRY(take_text(reader, object, "path", &dataset->path));
        NT_TRY(take_count(reader, object, "entries", &dataset->entries));
        NT_TRY(take_count(reader, object, "clusters", &dataset->clusters));
        NT_TRY(take_clusters(reader, object, dataset));
    }
    return NT_OK;
}

/* Missing in indexes of earlier versions, and for single files. */
static enum nt_status take_files(const struct index_reader *reader, const json_t *object,
                                 struct nt_indexed_file *file)
{
    uint64_t files = 0;
    if (json_object_get(object, "files"))
        NT_TRY(take_count(reader, object, "files", &files));
    file->files = (uint32_t)files;
    return files < NT_NONE ? NT_OK : refuse(reader, "files", "an integer below 2^32 - 1");
}

static enum nt_status take_file(const struct index_reader *reader, const json_t *object,
                                struct nt_indexed_file *file)
{
    *file = (struct nt_indexed_file){.meant = ""};
    NT_TRY(take_text(reader, object, "file", &file->path));
    if (json_object_get(object, "dataset"))
        NT_TRY(take_text(reader, object, "dataset", &file->meant));
    if (json_object_get(object, "state"))
        NT_TRY(take_text(reader, object, "state", &file->state));
    NT_TRY(take_count(reader, object, "file_bytes", &file->bytes));
    NT_TRY(take_text(reader, object, "modified", &file->modified));
    NT_TRY(json_object_get(object, "validator") ? take_text(reader, object, "validator", &file->validator)
                                                : take_count(reader, object, "inode", &file->inode));
    NT_TRY(take_files(reader, object, file));
    return take_datasets(reader, json_object_get(object, "datasets"), file);
}

static enum nt_status take_line(struct index_reader *reader, const char *line, size_t length)
{
    struct nt_chain_index *index = reader->index;
    json_auto_t *object = NULL;
    if (length > MAX_LINE_BYTES)
        return nt_fail(reader->error, NT_CORRUPT, NT_NO_OFFSET, "expected at most %d bytes, found %zu",
                       MAX_LINE_BYTES, length);
    NT_TRY(nt_json_parse(line, length, JSON_REJECT_DUPLICATES, &object, reader->error));
    NT_TRY(nt_check_memory(NT_GROW(index->files, index->count, reader->capacity), reader->error));
    NT_TRY(take_file(reader, object, &index->files[index->count]));
    index->count++;
    return NT_OK;
}

static enum nt_status take_lines(struct index_reader *reader, const char *text, size_t length)
{
    const char *end = text + length;
    for (uint32_t number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        NT_TRY(nt_with_context(take_line(reader, text, (size_t)(stop - text)), reader->error, "line %" PRIu32,
                               number));
        text = newline ? newline + 1 : end;
    }
    return NT_OK;
}

/* An invalid line is the caller's mistake, not a damaged source: NT_CORRUPT becomes NT_INVALID. */
static enum nt_status refuse_text(const char *path, enum nt_status status, struct nt_error *error)
{
    if (status != NT_CORRUPT)
        return status;
    nt_error_context(error, "%s: is not an index of files", path);
    if (error)
        error->status = NT_INVALID;
    return NT_INVALID;
}

/* Others with write access to the directory could replace the index. */
static enum nt_status check_folder(const char *path, struct nt_error *error)
{
    struct stat attributes;
    NT_AUTO_FREE char *copy = strdup(path);
    NT_TRY(nt_check_memory(copy, error));
    const char *folder = dirname(copy);
    return stat(folder, &attributes) == 0 ? nt_check_writers(&attributes, folder, error) : NT_OK;
}

NT_DEFINE_CLEANUP(struct nt_chain_index, nt_chain_index_free)

enum nt_status nt_chain_index_read(const char *path, struct nt_chain_index **index_ret,
                                   struct nt_error *error)
{
    NT_CLEANUP(nt_chain_index_free_at) struct nt_chain_index *index = calloc(1, sizeof(*index));
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    struct index_reader reader = {.index = index, .error = error};
    NT_TRY(nt_check_memory(index && (index->arena = nt_arena_new()), error));
    NT_TRY(check_folder(path, error));
    enum nt_status status = nt_chain_read_text(path, "an index", MAX_BYTES, true, &text, error);
    if (status != NT_OK && status != NT_NOT_FOUND)
        return status;
    if (text.length)
        NT_TRY(refuse_text(path, take_lines(&reader, text.bytes, text.length), error));
    if (index->count)
        qsort(index->files, index->count, sizeof(*index->files), compare_files);
    *index_ret = index;
    index = NULL;
    return NT_OK;
}

void nt_chain_index_free(struct nt_chain_index *index)
{
    if (!index)
        return;
    free(index->files);
    nt_arena_free(index->arena);
    free(index);
}

static bool write_text(const char *path, const struct nt_buffer *text)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0)
        return false;
    int problem = nt_write_all(descriptor, text->bytes, text->length);
    return close(descriptor) == 0 && !problem;
}

void nt_chain_index_write(const char *path, const struct nt_buffer *text)
{
    char *new_path;
    if (asprintf(&new_path, "%s.%ld.new", path, (long)getpid()) < 0)
        return;
    if (access(new_path, F_OK) != 0 && !(write_text(new_path, text) && rename(new_path, path) == 0))
        unlink(new_path);
    free(new_path);
}

/* ---- Apply and update the index ---- */

enum { MAX_PATH = 4096 };

/* Returns the index key of a member. NULL if its address has redacted parts, which may be secrets. */
static const char *key_of(const struct nt_chain_member *member)
{
    const char *address = member->listed->address;
    if (!address)
        return member->path;
    NT_AUTO_FREE char *shown = nt_address_redact(address);
    return shown && strcmp(shown, address) == 0 ? address : NULL;
}

static const char *meant_of(const struct nt_chain_member *member)
{
    return member->listed->sample ? member->listed->sample->dataset : "";
}

/* Opens the directory of a dataset. Its address may lack the slash of a directory. */
static enum nt_status open_folder(const struct nt_chain *chain, const struct nt_chain_member *member,
                                  struct nt_source **source_ret)
{
    const char *address = member->listed->address;
    NT_AUTO_FREE char *folder = address ? nt_address_below(address, "", true) : NULL;
    return !address || folder ? nt_open_source(folder ? folder : member->path, &chain->open, source_ret, NULL)
                              : NT_NO_MEMORY;
}

/* Does the dataset in a directory still have the version of the index? A directory on a server stays open, so
 * that its lists are not requested again. */
static bool is_version_known(const struct nt_chain *chain, struct nt_chain_member *member,
                             const struct nt_indexed_file *known)
{
    struct nt_open_options options = chain->open;
    struct nt_chain_identity found;
    struct nt_source *source;
    if (open_folder(chain, member, &source) != NT_OK)
        return false;
    bool is_known = source->folder &&
                    nt_chain_identify_dataset(source->folder, options.version, &options, &found) &&
                    nt_indexed_file_check(known, &found, NULL) == NT_OK;
    if (source->folder && !nt_folder_is_local(source->folder))
        member->source = source;
    else
        nt_source_close(source);
    return is_known;
}

/* A file at an address without a listing is trusted now, and checked when it is opened. */
static bool is_as_known(const struct nt_chain *chain, struct nt_chain_member *member,
                        const struct nt_indexed_file *known)
{
    const struct nt_chain_file *listed = member->listed;
    if (!listed->address != !known->validator)
        return false;
    if (known->state)
        return is_version_known(chain, member, known);
    bool has_identity = !listed->address || listed->identity.st_mode;
    const struct nt_chain_identity found = nt_chain_identity_of(&listed->identity);
    return !has_identity ||
           (!S_ISDIR(listed->identity.st_mode) && nt_indexed_file_check(known, &found, NULL) == NT_OK);
}

static void match_one(void *context, uint32_t number)
{
    const struct nt_chain *chain = context;
    struct nt_chain_member *member = &chain->members[number];
    const char *key = key_of(member);
    const struct nt_indexed_file *known =
        key ? nt_chain_index_find(chain->options.index, key, meant_of(member)) : NULL;
    if (key && !known) /* a chain of all datasets of the file may have made the index */
        known = nt_chain_index_find(chain->options.index, key, "");
    if (known && is_as_known(chain, member, known))
        member->known = known;
}

void nt_chain_match_index(struct nt_chain *chain)
{
    if (chain->options.index)
        nt_chain_work_together(chain, 0, chain->member_count, match_one, chain);
}

enum nt_status nt_chain_member_check(const struct nt_chain_member *member, struct nt_error *error)
{
    struct nt_chain_identity found;
    if (!member->known)
        return NT_OK;
    NT_TRY(nt_chain_identify_member(member, &found, error));
    return nt_indexed_file_check(member->known, &found, error);
}

const struct nt_indexed_dataset *nt_chain_indexed_dataset(const struct nt_chain_member *member,
                                                          const struct nt_dataset *dataset)
{
    char path[MAX_PATH];
    if (!member->known || nt_dataset_path(dataset, path, sizeof(path)) >= sizeof(path))
        return NULL;
    bool is_meant =
        strcmp(member->known->meant, meant_of(member)) == 0 || strcmp(path, meant_of(member)) == 0;
    if (!is_meant)
        return NULL;
    return nt_indexed_dataset_find(member->known, path);
}

size_t nt_chain_line_bytes(const struct nt_chain *chain)
{
    return nt_min(MAX_BYTES / chain->member_count, MAX_LINE_BYTES);
}

/* ---- Before the files are open ---- */

/* The first member's dataset whose path a member's dataset has in the index. */
static const struct nt_dataset *first_of(const struct nt_dataset *dataset,
                                         const struct nt_chain_member *member)
{
    return nt_chain_first_dataset(nt_chain_slice_of(dataset, member));
}

/* Finds a member's dataset that belongs to a dataset of the chain. */
static bool find_own(const struct nt_dataset *dataset, const struct nt_chain_member *member,
                     struct nt_dataset **own_ret)
{
    return nt_chain_match_dataset(first_of(dataset, member), member, own_ret, NULL) == NT_OK;
}

/* Entries of a member after the first: from the index, or from the member itself if that is open. */
static bool entries_of(const struct nt_chain_member *member, const struct nt_dataset *dataset,
                       uint64_t *entries_ret)
{
    const struct nt_indexed_dataset *known = nt_chain_indexed_dataset(member, first_of(dataset, member));
    struct nt_dataset *own = NULL;
    if (!known && !(member->file && find_own(dataset, member, &own)))
        return false;
    *entries_ret = known ? known->entries : own->entries;
    return true;
}

/* Of a series, which begins at a member. False if they are not known. */
static bool sum_entries(const struct nt_dataset *dataset, uint32_t first, uint64_t *sum_ret)
{
    const struct nt_chain *chain = nt_chain_of(dataset->file);
    const struct nt_dataset *own = first_of(dataset, &chain->members[first]);
    const struct nt_indexed_dataset *known = nt_chain_indexed_dataset(&chain->members[first], own);
    *sum_ret = own->entries;
    if (known && known->entries != own->entries)
        return false;
    for (uint32_t i = first + 1; i < nt_chain_series_end(chain, first); i++) {
        uint64_t entries;
        if (!entries_of(&chain->members[i], dataset, &entries) ||
            !nt_checked_add(*sum_ret, entries, sum_ret) || *sum_ret > INT64_MAX)
            return false;
    }
    return true;
}

enum nt_status nt_chain_set_stub_entries(struct nt_file *stub, struct nt_error *error)
{
    const struct nt_chain *chain = nt_chain_of(stub);
    for (uint32_t i = 0; i < stub->dataset_count; i++) {
        struct nt_dataset *dataset = stub->datasets[i];
        uint64_t entries, of_friend;
        bool are_known = !dataset->failure && sum_entries(dataset, 0, &entries);
        for (uint32_t k = nt_chain_series_end(chain, 0); are_known && k < chain->member_count;
             k = nt_chain_series_end(chain, k))
            if ((are_known = sum_entries(dataset, k, &of_friend)))
                NT_TRY(
                    nt_chain_check_friend(chain->members[k].listed->sample->name, entries, of_friend, error));
        if (!are_known)
            continue;
        dataset->entries = entries;
        dataset->knows_all_entries = true;
    }
    return NT_OK;
}

/* ---- After the files are open ---- */

/* Reads the page lists if clusters need them, so that later readers need not. Consecutive clusters only:
 * their entries are all that the index has. */
static bool find_clusters(struct nt_indexed_dataset *known, struct nt_dataset *own, size_t max_bytes,
                          struct nt_arena *arena)
{
    enum { MAX_CLUSTERS = 4096 };
    char schema[NT_SCHEMA_DIGEST + 1];
    uint64_t first = 0;
    uint32_t count = nt_chain_own_clusters(own);
    if (count > MAX_CLUSTERS || !nt_chain_schema_digest(own, schema) ||
        (!own->field_groups && nt_dataset_load_all(own, NULL) != NT_OK))
        return true;
    uint64_t *entries = nt_arena_alloc(arena, (size_t)count + 1, sizeof(*entries));
    known->schema = nt_arena_copy(arena, schema, strlen(schema));
    if (!entries || !known->schema)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!own->field_groups && nt_dataset_cluster(own, i).first_entry != first)
            return true;
        entries[i] = nt_chain_own_entries(own, i);
        first += entries[i];
    }
    if (first != own->entries)
        return true;
    known->cluster_entries = entries;
    known->has_deletions = own->part_deletions != NULL;
    return own->field_groups || nt_chain_find_counts(known, own, max_bytes, arena);
}

/* A member's slice; NULL in a stub without it, or in a dataset that is not whole. */
static const struct nt_chain_slice *slice_of(const struct nt_dataset *dataset,
                                             const struct nt_chain_member *member)
{
    const struct nt_chain_dataset *chain = nt_chain_dataset_of(dataset);
    size_t number = (size_t)(member - nt_chain_of(dataset->file)->members);
    bool is_there = chain && number < chain->slice_count && chain->slices[number].member == member;
    return is_there ? &chain->slices[number] : NULL;
}

static enum nt_status put_dataset(struct nt_indexed_file *file, const struct nt_dataset *dataset,
                                  const struct nt_chain_member *member, struct nt_arena *arena)
{
    struct nt_dataset *own;
    char path[MAX_PATH], own_path[MAX_PATH];
    size_t length = nt_dataset_path(first_of(dataset, member), path, sizeof(path)), own_length;
    if (length >= sizeof(path) || !find_own(dataset, member, &own) ||
        (own_length = nt_dataset_path(own, own_path, sizeof(own_path))) >= sizeof(own_path))
        return NT_OK;
    struct nt_indexed_dataset *known = &file->datasets[file->dataset_count++];
    known->path = nt_arena_copy(arena, path, length);
    if (strcmp(path, own_path) && !(known->path_in_file = nt_arena_copy(arena, own_path, own_length)))
        return NT_NO_MEMORY;
    known->entries = own->entries;
    known->clusters = nt_chain_own_clusters(own);
    const struct nt_chain_slice *slice = own->field_groups ? slice_of(dataset, member) : NULL;
    return known->path && find_clusters(known, own, nt_chain_line_bytes(nt_chain_of(dataset->file)), arena) &&
                   (!slice || nt_chain_merge_counts(slice, known, arena))
               ? NT_OK
               : NT_NO_MEMORY;
}

/* Returns the key to store for an open member; NULL, too, if later readers cannot check its version. */
static const char *lasting_key_of(const struct nt_chain_member *member)
{
    const struct nt_chain_identity *of_folder = member->identity;
    struct nt_remote_names names;
    bool lasts = !member->listed->address;
    if (member->file->source->folder) /* a server may report no validator */
        lasts = of_folder && (!of_folder->has_validator || *of_folder->validator);
    else if (member->listed->address)
        lasts = nt_source_remote(member->file->source, &names) && names.validator[0];
    return lasts ? key_of(member) : NULL;
}

/* Describes an open member, with texts in the arena. `known->path` is NULL if a later reader could not check
 * that it is the same file. */
static enum nt_status note_member(const struct nt_file *file, const struct nt_chain_member *member,
                                  struct nt_arena *arena, struct nt_indexed_file *known)
{
    struct nt_chain_identity found;
    const char *key = lasting_key_of(member);
    *known = (struct nt_indexed_file){.meant = meant_of(member)};
    enum nt_status status = nt_chain_identify_member(member, &found, NULL);
    if (status != NT_OK || !key)
        return status;
    known->bytes = found.bytes;
    known->inode = found.inode;
    known->files = member->file->layout_sources ? nt_chain_count_sources(member->file) : 0;
    known->path = nt_arena_copy(arena, key, strlen(key));
    known->state = nt_arena_copy(arena, found.state, strlen(found.state));
    known->modified = nt_arena_copy(arena, found.modified, strlen(found.modified));
    known->validator = nt_arena_copy(arena, found.validator, strlen(found.validator));
    known->datasets = nt_arena_alloc(arena, (size_t)file->dataset_count + 1, sizeof(*known->datasets));
    if (!known->path || !known->state || !known->modified || !known->validator || !known->datasets)
        return NT_NO_MEMORY;
    if (!*known->state)
        known->state = NULL;
    if (!member->listed->address)
        known->validator = NULL;
    for (uint32_t i = 0; status == NT_OK && i < file->dataset_count; i++)
        if (!file->datasets[i]->failure)
            status = put_dataset(known, file->datasets[i], member, arena);
    return status;
}

const struct nt_indexed_file *
nt_chain_note_member(const struct nt_file *file, const struct nt_chain_member *member, struct nt_arena *arena)
{
    struct nt_indexed_file *known = nt_arena_alloc(arena, 1, sizeof(*known));
    return known && note_member(file, member, arena, known) == NT_OK && known->path ? known : NULL;
}

static enum nt_status put_member(struct nt_buffer *out, const struct nt_file *file, uint32_t number,
                                 struct nt_arena *arena)
{
    struct nt_indexed_file known;
    NT_TRY(note_member(file, &nt_chain_of(file)->members[number], arena, &known));
    if (known.path)
        nt_indexed_file_append(out, &known, nt_chain_line_bytes(nt_chain_of(file)));
    return NT_OK;
}

/* A member that is not open, with what was learned when it was. */
static enum nt_status put_known(struct nt_buffer *out, const struct nt_file *file, uint32_t number,
                                struct nt_arena *arena)
{
    const struct nt_chain *chain = nt_chain_of(file);
    const struct nt_chain_member *member = &chain->members[number];
    struct nt_indexed_file known = *member->known;
    known.datasets = nt_arena_alloc(arena, (size_t)known.dataset_count + 1, sizeof(*known.datasets));
    if (!known.datasets)
        return NT_NO_MEMORY;
    for (uint32_t i = 0; i < known.dataset_count; i++)
        known.datasets[i] = member->known->datasets[i];
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_chain_slice *slice =
            file->datasets[i]->failure ? NULL : slice_of(file->datasets[i], member);
        if (slice && slice->learned && slice->lazy &&
            !nt_chain_merge_counts(slice, &known.datasets[slice->lazy - member->known->datasets], arena))
            return NT_NO_MEMORY;
    }
    nt_indexed_file_append(out, &known, nt_chain_line_bytes(chain));
    return NT_OK;
}

/* Is the index entry of an address disproved? Keeping it would hide the change from later readers. */
static bool is_outdated(const struct nt_chain_member *member)
{
    return !member->file && member->listed->address && member->failure.status == NT_CHANGED;
}

static bool has_learned(const struct nt_file *file, const struct nt_chain_member *member)
{
    bool has_learned = false;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_chain_slice *slice =
            file->datasets[i]->failure ? NULL : slice_of(file->datasets[i], member);
        has_learned |= slice && slice->learned;
    }
    return has_learned;
}

static bool is_known(const struct nt_file *file, uint32_t number)
{
    const struct nt_chain_member *member = &nt_chain_of(file)->members[number];
    if (has_learned(file, member))
        return false;
    if (!member->file)
        return !member->is_noted && !is_outdated(member);
    if (!lasting_key_of(member))
        return true;
    for (uint32_t i = 0; i < file->dataset_count; i++) {
        const struct nt_dataset *dataset = file->datasets[i];
        const struct nt_indexed_dataset *known =
            nt_chain_indexed_dataset(member, dataset->failure ? dataset : first_of(dataset, member));
        struct nt_dataset *own;
        if (dataset->failure && known) /* the index entry may be the reason */
            return false;
        if (!dataset->failure && find_own(dataset, member, &own) &&
            (!known || known->entries != own->entries))
            return false;
    }
    return true;
}

void nt_chain_save_index(const struct nt_file *file)
{
    const struct nt_chain *chain = nt_chain_of(file);
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    bool is_new = false;
    for (uint32_t i = 0; chain->options.save_index && !is_new && i < chain->member_count; i++)
        is_new = !is_known(file, i);
    if (!is_new)
        return;
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    enum nt_status status = arena ? NT_OK : NT_NO_MEMORY;
    for (uint32_t i = 0; status == NT_OK && i < chain->member_count; i++) {
        const struct nt_chain_member *member = &chain->members[i];
        if (member->file)
            status = put_member(&text, file, i, arena);
        else if (member->known && !is_outdated(member))
            status = put_known(&text, file, i, arena);
    }
    if (status == NT_OK && !text.failed)
        chain->options.save_index(chain->options.context, &text);
}

void nt_chain_save_learned(const struct nt_file *file)
{
    const struct nt_chain *chain = nt_chain_of(file);
    for (uint32_t i = 0; i < chain->member_count; i++)
        if (has_learned(file, &chain->members[i])) {
            nt_chain_save_index(file);
            return;
        }
}
