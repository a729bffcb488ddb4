/* SPDX-License-Identifier: MIT
 *
 * Writes versions.jsonl: one line per version in the history of the open version.
 */
#include "formats/lance/dataset/dataset.h"

enum { MAX_VERSIONS = 1 << 20, MAX_TAGS = 1 << 16 };

struct tagged {
    uint64_t version;
    const char *name;
};

struct versions_text {
    struct nt_text_generator base;
    const struct nt_lance_dataset *lance;
    struct nt_source *source; /* of the directory */
    struct nt_arena *arena;   /* for the names of tags */
    struct nt_lance_version *versions;
    struct tagged *tags; /* of this history */
    size_t count, capacity, tag_count, tag_capacity, next, next_tag;
};

/* ---- List versions ---- */

static enum nt_status add_version(void *context, const struct nt_lance_version *version,
                                  struct nt_error *error)
{
    struct versions_text *text = context;
    if (text->count == MAX_VERSIONS)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the dataset has more than the limit of %d versions",
                       MAX_VERSIONS);
    NT_TRY(nt_check_memory(NT_GROW(text->versions, text->count, text->capacity), error));
    text->versions[text->count++] = *version;
    return NT_OK;
}

static enum nt_status put_tag(struct versions_text *text, const char *name, uint64_t version,
                              struct nt_error *error)
{
    if (text->tag_count == MAX_TAGS)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the dataset has more than the limit of %d tags",
                       MAX_TAGS);
    const char *copy = nt_arena_copy(text->arena, name, strlen(name));
    NT_TRY(nt_check_memory(copy && NT_GROW(text->tags, text->tag_count, text->tag_capacity), error));
    text->tags[text->tag_count++] = (struct tagged){version, copy};
    return NT_OK;
}

/* Ignores tags that cannot be read. */
static enum nt_status add_tag(void *context, const char *name, struct nt_error *error)
{
    struct versions_text *text = context;
    struct nt_lance_tag tag;
    struct nt_error failure = {0};
    enum nt_status status = nt_lance_read_tag(text->lance->folder, name, text->arena, &tag, &failure);
    if (status == NT_OK && strcmp(tag.branch, text->lance->branch) == 0)
        return put_tag(text, name, tag.version, error);
    return nt_is_retryable(status, &failure) ? nt_fail_copy(error, &failure) : NT_OK;
}

/* If two manifests have the same number, the preferred one comes first. */
static int compare_versions(const void *left, const void *right)
{
    const struct nt_lance_version *a = left, *b = right;
    return a->number != b->number ? (a->number > b->number) - (a->number < b->number)
                                  : (int)b->is_inverted - (int)a->is_inverted;
}

static int compare_tags(const void *left, const void *right)
{
    const struct tagged *a = left, *b = right;
    return a->version != b->version ? (a->version > b->version) - (a->version < b->version)
                                    : strcmp(a->name, b->name);
}

static enum nt_status look(struct versions_text *text, struct nt_error *error)
{
    const char *root = text->lance->manifest.version.root;
    NT_TRY(nt_lance_each_version(text->lance->folder, root, add_version, text, error));
    NT_TRY(nt_lance_each_ref(text->lance->folder, NT_LANCE_TAGS, add_tag, text, error));
    if (text->count)
        qsort(text->versions, text->count, sizeof(*text->versions), compare_versions);
    if (text->tag_count)
        qsort(text->tags, text->tag_count, sizeof(*text->tags), compare_tags);
    return NT_OK;
}

/* ---- The summary of a manifest ---- */

struct sums {
    uint64_t fragments, data_files, data_file_bytes, deletion_files, physical_rows, deleted_rows;
    bool has_rows, has_deleted_rows, has_bytes; /* all fragments have them */
};

static void add_data_file(struct sums *sums, struct nt_proto data_file)
{
    uint64_t bytes = nt_proto_number(data_file, NT_LANCE_DATA_FILE_SIZE);
    sums->data_files++;
    sums->data_file_bytes += bytes;
    sums->has_bytes &= bytes > 0;
}

static void add_fragment(struct sums *sums, struct nt_proto fragment)
{
    struct nt_proto deletions = nt_proto_message(fragment, NT_LANCE_FRAGMENT_DELETION_FILE), data_file;
    uint64_t rows = nt_proto_number(fragment, NT_LANCE_FRAGMENT_PHYSICAL_ROWS),
             deleted = nt_proto_number(deletions, NT_LANCE_DELETION_FILE_ROWS);
    sums->fragments++;
    sums->physical_rows += rows;
    sums->deleted_rows += deleted;
    sums->deletion_files += deletions.bytes != NULL;
    sums->has_rows &= rows > 0;
    sums->has_deleted_rows &= !deletions.bytes || deleted > 0;
    while (nt_proto_next_message(&fragment, NT_LANCE_FRAGMENT_FILES, &data_file))
        add_data_file(sums, data_file);
}

/* Row counts are unreliable in manifests that do not name their writer. */
static struct sums sum_up(struct nt_proto manifest)
{
    struct sums sums = {.has_rows = true, .has_deleted_rows = true, .has_bytes = true};
    struct nt_proto rest = manifest, fragment;
    while (nt_proto_next_message(&rest, NT_LANCE_MANIFEST_FRAGMENTS, &fragment))
        add_fragment(&sums, fragment);
    sums.has_rows &= !sums.fragments || nt_proto_has(manifest, NT_LANCE_MANIFEST_WRITER_VERSION);
    return sums;
}

static void put_known(struct nt_json *json, const char *key, bool is_known, uint64_t value)
{
    if (is_known)
        nt_json_member_unsigned(json, key, value);
    else
        nt_json_member_null(json, key);
}

static void put_sums(struct nt_json *json, struct nt_proto manifest)
{
    const struct sums sums = sum_up(manifest);
    bool has_entries = sums.has_rows && sums.has_deleted_rows && sums.deleted_rows <= sums.physical_rows;
    put_known(json, "entries", has_entries, sums.physical_rows - sums.deleted_rows);
    nt_json_member_unsigned(json, "fragments", sums.fragments);
    nt_json_member_unsigned(json, "data_files", sums.data_files);
    put_known(json, "data_file_bytes", sums.has_bytes, sums.data_file_bytes);
    put_known(json, "physical_rows", sums.has_rows, sums.physical_rows);
    nt_json_member_unsigned(json, "deletion_files", sums.deletion_files);
    put_known(json, "deleted_rows", sums.has_deleted_rows, sums.deleted_rows);
}

/* ---- Lines ---- */

static void put_text(struct nt_json *json, const char *key, struct nt_text text)
{
    if (text.length)
        nt_json_member_text(json, key, text);
    else
        nt_json_member_null(json, key);
}

/* Versions and tags are both sorted by version. */
static void put_tags(struct nt_json *json, struct versions_text *text, uint64_t version)
{
    nt_json_member_array(json, "tags");
    for (; text->next_tag < text->tag_count && text->tags[text->next_tag].version <= version;
         text->next_tag++) {
        const struct tagged *tag = &text->tags[text->next_tag];
        if (tag->version == version) /* else its version was deleted */
            nt_json_bytes(json, tag->name, strlen(tag->name));
    }
    nt_json_end_array(json);
}

static void write_line(struct versions_text *text, const struct nt_lance_manifest_file *manifest,
                       const struct nt_error *failure, struct nt_buffer *out)
{
    struct nt_proto message = manifest->message;
    struct nt_json json;
    nt_json_line(&json, out);
    nt_json_member_unsigned(&json, "version", manifest->version.number);
    put_text(&json, "branch", nt_text_of(text->lance->branch));
    put_tags(&json, text, manifest->version.number);
    nt_json_member_format(&json, "file", "%s/%s", text->lance->folder->path, manifest->name);
    nt_json_member_unsigned(&json, "file_bytes", manifest->size);
    if (failure) {
        nt_json_member_text(&json, "error", nt_text_of(failure->message));
    } else {
        nt_lance_put_timestamp(&json, nt_proto_message(message, NT_LANCE_MANIFEST_TIMESTAMP));
        put_sums(&json, message);
        put_text(&json, "transaction_file", nt_proto_text(message, NT_LANCE_MANIFEST_TRANSACTION_FILE));
    }
    nt_json_finish(&json);
}

/* Reads the manifest only for this line. If it was deleted meanwhile, there is no line. If the system
 * fails to read it, the version is unknown, so the whole text fails. */
static enum nt_status write_version(struct versions_text *text, const struct nt_lance_version *version,
                                    struct nt_buffer *out, uint64_t *work, struct nt_error *error)
{
    struct nt_lance_manifest_file manifest;
    struct nt_file *file;
    struct nt_error failure = {0};
    NT_TRY(nt_file_new(text->source->path, text->source, &(struct nt_limits){0}, &file, error));
    enum nt_status status = nt_lance_read_manifest(file, version, &manifest, &failure);
    *work += manifest.size;
    bool is_refused = nt_is_retryable(status, &failure);
    if (is_refused)
        nt_fail_copy(error, &failure);
    else if (status != NT_NOT_FOUND)
        write_line(text, &manifest, status == NT_OK ? NULL : &failure, out);
    nt_file_discard(file);
    return is_refused ? status : NT_OK;
}

static enum nt_status next_versions(struct nt_text_generator *base, struct nt_buffer *out, bool *more_ret,
                                    struct nt_error *error)
{
    enum { PIECE_BYTES = 64 * 1024, PIECE_WORK = 1 << 20 };
    struct versions_text *text = (struct versions_text *)base;
    size_t end = out->length + PIECE_BYTES;
    uint64_t work = 0;
    while (text->next < text->count && out->length < end && work < PIECE_WORK) {
        const struct nt_lance_version *version = &text->versions[text->next++];
        bool is_again = version > text->versions && version[-1].number == version->number;
        if (!is_again)
            NT_TRY(write_version(text, version, out, &work, error));
    }
    *more_ret = text->next < text->count;
    return nt_check_memory(!out->failed, error);
}

static double share_of_versions(const struct nt_text_generator *base)
{
    const struct versions_text *text = (const struct versions_text *)base;
    return text->count ? (double)text->next / (double)text->count : 1;
}

static void free_text(struct nt_text_generator *base)
{
    struct versions_text *text = (struct versions_text *)base;
    nt_arena_free(text->arena);
    free(text->versions);
    free(text->tags);
    free(text);
}

enum nt_status nt_lance_open_versions(const struct nt_document_request *request,
                                      struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct versions_text *text = calloc(1, sizeof(*text));
    NT_TRY(nt_check_memory(text, error));
    text->base =
        (struct nt_text_generator){.next = next_versions, .free = free_text, .share = share_of_versions};
    text->lance = nt_lance_dataset_of(request->dataset);
    text->source = request->file->source;
    text->arena = nt_arena_new();
    enum nt_status status = text->arena ? look(text, error) : nt_fail_memory(error);
    if (status == NT_OK)
        *text_ret = &text->base;
    else
        free_text(&text->base);
    return status;
}

/* ---- Is the document short? ---- */

struct estimate {
    struct nt_folder *folder;
    unsigned manifests, tags;
    uint64_t bytes;
};

enum { SHORT_COUNT = 64, SHORT_BYTES = 1 << 20 };

static bool is_over(const struct estimate *estimate)
{
    return estimate->manifests > SHORT_COUNT || estimate->tags > SHORT_COUNT || estimate->bytes > SHORT_BYTES;
}

/* Ends the walk with NT_LIMIT if there is too much. */
static enum nt_status count_version(void *context, const struct nt_lance_version *version,
                                    struct nt_error *error)
{
    struct estimate *estimate = context;
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer name = {0};
    struct stat attributes = {0};
    nt_lance_append_manifest_name(&name, version);
    NT_TRY(nt_check_memory(!name.failed, error));
    enum nt_status status = nt_folder_stat(estimate->folder, name.bytes, &attributes, error);
    estimate->manifests++;
    estimate->bytes += (uint64_t)attributes.st_size;
    if (status == NT_OK && is_over(estimate))
        status = nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "many versions");
    return status == NT_NOT_FOUND ? NT_OK : status;
}

static enum nt_status count_tag(void *context, const char *name, struct nt_error *error)
{
    struct estimate *estimate = context;
    estimate->tags++;
    return is_over(estimate) ? nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "many tags") : NT_OK;
}

enum nt_status nt_lance_versions_are_short(const struct nt_document_request *request, bool *is_short_ret,
                                           struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(request->dataset);
    struct estimate estimate = {.folder = lance->folder};
    *is_short_ret = false;
    if (!nt_folder_is_local(lance->folder)) /* this would fetch all manifests */
        return NT_OK;
    enum nt_status status =
        nt_lance_each_version(lance->folder, lance->manifest.version.root, count_version, &estimate, error);
    if (status == NT_OK)
        status = nt_lance_each_ref(lance->folder, NT_LANCE_TAGS, count_tag, &estimate, error);
    *is_short_ret = status == NT_OK;
    return status == NT_LIMIT ? NT_OK : status;
}

/* ---- Numbers of versions ---- */

struct number_walk {
    nt_visit_version *visit;
    void *context;
};

static enum nt_status visit_number(void *context, const struct nt_lance_version *version,
                                   struct nt_error *error)
{
    const struct number_walk *walk = context;
    return walk->visit(walk->context, version->number, error);
}

enum nt_status nt_lance_visit_history(const struct nt_dataset *dataset, nt_visit_version *visit,
                                      void *context, struct nt_error *error)
{
    const struct nt_lance_dataset *lance = nt_lance_dataset_of(dataset);
    struct number_walk walk = {visit, context};
    return nt_lance_each_version(lance->folder, lance->manifest.version.root, visit_number, &walk, error);
}
