/* SPDX-License-Identifier: MIT
 *
 * The file: a directory "sub", and the datasets
 *
 *   Events           run int32, name string, jets vector<record {pt float}>, array array<float, 3>,
 *                    odd (unreadable)
 *   Events;1         an older cycle of it
 *   sub/Events       the same in a directory
 *   attribute.notes  an attribute set of Events
 *   broken           one that cannot be opened
 *   evil             fields with evil names
 *
 * each of 9 entries in clusters of 3, 2 and 4; the first cluster group has one of them, the second two.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/memory.h"
#include "formats/formats.h"
#include "core/base/error.h"
#include "core/codec/codec.h"
#include "core/io/folder.h"
#include "core/io/source.h"
#include "core/model/builder.h"
#include "core/model/model.h"

atomic_uint model_loads, model_open_files;
bool model_has_bad_group, model_has_bad_page;
void (*model_before_load)(const struct nt_dataset *dataset);
void (*model_before_close)(void);

enum { CLUSTERS = 3, PAGE_ELEMENTS = 2, FILE_BYTES = 1 << 16 };

static const uint64_t cluster_entries[CLUSTERS] = {3, 2, 4};

/* ---- the bytes of the file: pages are appended as page lists are made ---- */

struct memory {
    uint8_t bytes[FILE_BYTES];
    size_t used;
};

static enum nt_status stat_memory(struct nt_source *source, struct stat *attributes, struct nt_error *error)
{
    *attributes = (struct stat){.st_mode = S_IFREG | 0640, .st_uid = 7, .st_gid = 8};
    attributes->st_mtim.tv_sec = 1000000;
    return NT_OK;
}

static enum nt_status read_memory(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                  struct nt_error *error);

struct memory_source {
    struct nt_source source;
    struct memory memory;
};

static enum nt_status read_memory(struct nt_source *source, uint64_t offset, void *buffer, size_t bytes,
                                  struct nt_error *error)
{
    struct memory_source *m = (struct memory_source *)source;
    if (offset > FILE_BYTES || bytes > FILE_BYTES - offset)
        return nt_fail(error, NT_TRUNCATED, offset, "past the end");
    memcpy(buffer, m->memory.bytes + offset, bytes);
    return NT_OK;
}

static void close_memory(struct nt_source *source)
{
    if (model_before_close)
        model_before_close();
    model_open_files--;
    free(source);
}

static const struct nt_source_ops memory_ops = {
    .read_at = read_memory, .stat = stat_memory, .close = close_memory};

/* ---- the columns' elements ---- */

enum column { RUN, NAME_INDEX, NAME_CHARS, JETS_INDEX, PT, ARRAY, COLUMNS };

static const struct {
    enum nt_encoding_kind encoding;
    const char *name;
    uint32_t field;
} columns[COLUMNS] = {
    [RUN] = {NT_ENCODING_INT32, "Int32", 0},      [NAME_INDEX] = {NT_ENCODING_INDEX64, "Index64", 1},
    [NAME_CHARS] = {NT_ENCODING_CHAR, "Char", 1}, [JETS_INDEX] = {NT_ENCODING_INDEX64, "Index64", 2},
    [PT] = {NT_ENCODING_REAL32, "Real32", 4},     [ARRAY] = {NT_ENCODING_REAL32, "Real32", 6},
};

static void put(uint8_t *out, size_t *used, const void *value, size_t bytes)
{
    memcpy(out + *used, value, bytes);
    *used += bytes;
}

/* The elements of a column for entries [first, end). */
static size_t column_bytes(uint32_t column, uint64_t first, uint64_t end, uint8_t *out)
{
    size_t used = 0;
    uint64_t sum = 0;
    for (uint64_t entry = first; entry < end; entry++) {
        int32_t run = model_run(entry);
        char letter = (char)('a' + entry);
        if (column == RUN)
            put(out, &used, &run, sizeof(run));
        if (column == NAME_INDEX || column == JETS_INDEX) {
            sum += column == NAME_INDEX ? model_name_length(entry) : model_jets(entry);
            put(out, &used, &sum, sizeof(sum));
        }
        for (uint64_t i = 0; column == NAME_CHARS && i < model_name_length(entry); i++)
            put(out, &used, &letter, 1);
        for (uint64_t i = 0; column == PT && i < model_jets(entry); i++)
            put(out, &used, &(float){model_pt(entry, i)}, sizeof(float));
        for (uint64_t i = 0; column == ARRAY && i < MODEL_ARRAY; i++)
            put(out, &used, &(float){model_array(entry, i)}, sizeof(float));
    }
    return used;
}

/* ---- page lists ---- */

static uint32_t element_bytes_of(uint32_t column)
{
    return nt_element_info(nt_encoding_info(columns[column].encoding)->element)->bytes;
}

static uint32_t decoder_number(struct nt_dataset *dataset, uint32_t column)
{
    struct nt_decoder decoder;
    uint32_t number;
    if (nt_decoder_init(&decoder, columns[column].encoding, 0, 0, 0, NULL) != NT_OK ||
        nt_decoders_add(&dataset->decoders, dataset->arena, &dataset->file->budget, &decoder, &number,
                        NULL) != NT_OK)
        abort();
    return number;
}

static uint64_t elements_before(const struct nt_dataset *dataset, uint32_t column, uint32_t cluster)
{
    uint8_t scratch[4096];
    uint64_t first = dataset->clusters[cluster].first_entry;
    uint32_t kind = column < COLUMNS && dataset->column_count == COLUMNS ? column : RUN;
    return column_bytes(kind, 0, first, scratch) / element_bytes_of(kind);
}

static void add_pages(struct nt_dataset *dataset, struct nt_group *group, uint32_t cluster, uint32_t column)
{
    struct memory *memory = &((struct memory_source *)dataset->sources[0])->memory;
    struct nt_range *range =
        group->ranges + (size_t)(cluster - group->first_cluster) * dataset->column_count + column;
    const struct nt_cluster *c = &dataset->clusters[cluster];
    uint32_t kind = dataset->column_count == COLUMNS ? column : RUN;
    uint32_t element_bytes = element_bytes_of(kind);
    uint8_t bytes[4096];
    size_t count = column_bytes(kind, c->first_entry, c->first_entry + c->entries, bytes) / element_bytes;
    *range = (struct nt_range){.first_element = elements_before(dataset, column, cluster),
                               .first_page = (uint32_t)group->page_count,
                               .compression_settings = 505};
    for (size_t first = 0; first < count; first += PAGE_ELEMENTS, range->pages++) {
        size_t elements = count - first < PAGE_ELEMENTS ? count - first : PAGE_ELEMENTS;
        size_t size = elements * element_bytes;
        uint8_t *at = memory->bytes + memory->used;
        memcpy(at, bytes + first * element_bytes, size);
        uint64_t digest = nt_xxh3(at, size);
        if (model_has_bad_page && column == RUN && cluster == 0 && first == 0)
            digest++;
        memcpy(at + size, &digest, sizeof(digest));
        group->pages[group->page_count++] = (struct nt_page){.offset = memory->used,
                                                             .stored_bytes = size,
                                                             .first_element = first,
                                                             .elements = (uint32_t)elements,
                                                             .decoder = decoder_number(dataset, kind),
                                                             .checksum = NT_CHECKSUM_XXH3_64};
        memory->used += size + sizeof(digest);
    }
}

static enum nt_status load_group(struct nt_dataset *dataset, uint32_t number, struct nt_error *error)
{
    struct nt_group *group = nt_group_slot(dataset, number);
    model_loads++;
    if (model_before_load)
        model_before_load(dataset);
    if (model_has_bad_group && number == 1)
        return nt_fail_mismatch(error, NT_CHECKSUM, 4242, "page list", "aa", "bb");
    group->ranges = calloc((size_t)group->clusters * dataset->column_count, sizeof(*group->ranges));
    group->pages = calloc(1000, sizeof(*group->pages));
    for (uint32_t i = 0; i < group->clusters; i++)
        for (uint32_t column = 0; column < dataset->column_count; column++)
            add_pages(dataset, group, group->first_cluster + i, column);
    return NT_OK;
}

struct version_visit {
    nt_visit_version *visit;
    void *context;
};

static enum nt_status visit_version(void *context, const struct nt_folder_entry *entry,
                                    struct nt_error *visit_error)
{
    const struct version_visit *each = context;
    return each->visit(each->context, (uint64_t)(entry->name[0] - '0'), visit_error);
}

/* The files in versions/. */
static enum nt_status each_version(const struct nt_dataset *dataset, nt_visit_version *visit, void *context,
                                   struct nt_error *version_error)
{
    struct version_visit each = {visit, context};
    struct nt_folder *folder;
    enum nt_status status = nt_folder_open(dataset->file->path, NT_FOLDER_DATASET, &folder, version_error);
    if (status != NT_OK)
        return status;
    status = nt_folder_list(folder, "versions", visit_version, &each, version_error);
    nt_folder_close(folder);
    return status;
}

static const struct nt_dataset_ops ops = {.load_group = load_group, .each_version = each_version};

/* ---- documents ---- */

static enum nt_status write_header(const struct nt_document_request *request, struct nt_buffer *out,
                                   struct nt_error *error)
{
    struct nt_text name = request->dataset->name;
    nt_buffer_append_format(out, "%.*s %d\n", (int)name.length, name.bytes, (int)request->number);
    return NT_OK;
}

static uint64_t count_two(const struct nt_file *file, const struct nt_dataset *dataset)
{
    return 2;
}

struct countdown {
    struct nt_text_generator text;
    int line;
};

static enum nt_status next_line(struct nt_text_generator *text, struct nt_buffer *out, bool *more_ret,
                                struct nt_error *error)
{
    struct countdown *countdown = (struct countdown *)text;
    nt_buffer_append_format(out, "line %d\n", countdown->line++);
    *more_ret = countdown->line < 1000;
    return NT_OK;
}

static void free_countdown(struct nt_text_generator *text)
{
    free(text);
}

static enum nt_status open_countdown(const struct nt_document_request *request,
                                     struct nt_text_generator **text_ret, struct nt_error *error)
{
    struct countdown *countdown = calloc(1, sizeof(*countdown));
    countdown->text = (struct nt_text_generator){.next = next_line, .free = free_countdown};
    *text_ret = &countdown->text;
    return NT_OK;
}

static const struct nt_document dataset_documents[] = {
    {.prefix = "header.json", .write = write_header},
    {.prefix = "pagelist.", .suffix = ".bin", .count = count_two, .write = write_header},
    {.prefix = "pagelist.", .suffix = ".json", .count = count_two, .open = open_countdown},
};

static const struct nt_document file_documents[] = {{.prefix = "keys.jsonl", .open = open_countdown}};

/* ---- schemas ---- */

static struct nt_text text(const char *literal)
{
    return (struct nt_text){literal, strlen(literal)};
}

static const struct nt_field events_fields[] = {
    {.parent = NT_NONE, .kind = NT_FIELD_VALUE, .dtype = {.element = NT_ELEMENT_INT32}, .name = {"run", 3}},
    {.parent = NT_NONE, .kind = NT_FIELD_STRING, .dtype = {.element = NT_ELEMENT_BYTE}, .name = {"name", 4}},
    {.parent = NT_NONE, .kind = NT_FIELD_COLLECTION, .role = NT_ROLE_COLLECTION, .name = {"jets", 4}},
    {.parent = 2, .kind = NT_FIELD_RECORD, .role = NT_ROLE_RECORD, .name = {"_0", 2}},
    {.parent = 3, .kind = NT_FIELD_VALUE, .dtype = {.element = NT_ELEMENT_REAL32}, .name = {"pt", 2}},
    {.parent = NT_NONE, .kind = NT_FIELD_ARRAY, .repetition = MODEL_ARRAY, .name = {"array", 5}},
    {.parent = 5, .kind = NT_FIELD_VALUE, .dtype = {.element = NT_ELEMENT_REAL32}, .name = {"_0", 2}},
    {.parent = NT_NONE, .kind = NT_FIELD_UNREADABLE, .name = {"odd", 3}, .unreadable = "of a type to come"},
};

static const struct nt_text evil_names[MODEL_EVIL_FIELDS] = {
    {".", 1},    {"..", 2},       {"a/b", 3}, {"field.json", 10}, {"\xff", 1},   {"same", 4},
    {"same", 4}, {"column.0", 8}, {"", 0},    {"new\nline", 8},   {"100%25", 6}, {"nul\0l", 5},
};

static void add_events_schema(struct nt_dataset *dataset)
{
    dataset->field_count = sizeof(events_fields) / sizeof(events_fields[0]);
    dataset->fields = nt_arena_alloc(dataset->arena, dataset->field_count, sizeof(struct nt_field));
    memcpy(dataset->fields, events_fields, sizeof(events_fields));
    dataset->column_count = COLUMNS;
    dataset->columns = nt_arena_alloc(dataset->arena, COLUMNS, sizeof(struct nt_column));
    for (uint32_t i = 0; i < COLUMNS; i++)
        dataset->columns[i] = (struct nt_column){.id = i,
                                                 .field = columns[i].field,
                                                 .type_name = columns[i].name,
                                                 .decoder = decoder_number(dataset, i)};
}

static void add_evil_schema(struct nt_dataset *dataset)
{
    dataset->field_count = dataset->column_count = MODEL_EVIL_FIELDS;
    dataset->fields = nt_arena_alloc(dataset->arena, MODEL_EVIL_FIELDS, sizeof(struct nt_field));
    dataset->columns = nt_arena_alloc(dataset->arena, MODEL_EVIL_FIELDS, sizeof(struct nt_column));
    for (uint32_t i = 0; i < MODEL_EVIL_FIELDS; i++) {
        dataset->fields[i] = events_fields[0];
        dataset->fields[i].name = evil_names[i];
        dataset->columns[i] = (struct nt_column){
            .id = i, .field = i, .type_name = "Int32", .decoder = decoder_number(dataset, RUN)};
    }
}

static void add_clusters(struct nt_dataset *dataset)
{
    if (nt_dataset_add_groups(dataset, 2, CLUSTERS, NULL) != NT_OK)
        abort();
    dataset->clusters_known = true;
    uint64_t entry = 0;
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        dataset->clusters[i] = (struct nt_cluster){entry, cluster_entries[i], i > 0, NT_NONE};
        entry += cluster_entries[i];
    }
    dataset->groups.records[0] = (struct nt_group_record){.entries = 3, .clusters = 1};
    dataset->groups.records[1] =
        (struct nt_group_record){.first_entry = 3, .entries = 6, .first_cluster = 1, .clusters = 2};
}

static struct nt_dataset *add_dataset(struct nt_file *file, const char *name, uint32_t directory)
{
    struct nt_dataset *dataset;
    if (nt_file_add_dataset(file, &dataset, NULL) != NT_OK)
        abort();
    dataset->name = dataset->title = text(name);
    dataset->description = text("made by hand");
    dataset->writer = text("");
    dataset->directory = directory;
    dataset->format = "rntuple";
    dataset->version = "1.0.0.0";
    dataset->generation = "test";
    dataset->generation_reason = "it is one";
    dataset->entries = MODEL_ENTRIES;
    dataset->ops = &ops;
    dataset->source_count = 1;
    dataset->sources = nt_arena_alloc(dataset->arena, 1, sizeof(struct nt_source *));
    dataset->sources[0] = file->source;
    dataset->documents = dataset_documents;
    dataset->document_count = sizeof(dataset_documents) / sizeof(dataset_documents[0]);
    add_clusters(dataset);
    if (strcmp(name, "evil") == 0)
        add_evil_schema(dataset);
    else
        add_events_schema(dataset);
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        struct nt_field *field = &dataset->fields[i];
        field->id = i;
        field->dtype = nt_element_dtype(field->dtype.element);
        field->type = field->description = text("");
    }
    for (uint32_t i = 0; i < dataset->column_count; i++)
        dataset->columns[i].dtype = nt_element_dtype(nt_column_decoder(dataset, i)->element);
    if (nt_dataset_link(dataset, NULL) != NT_OK)
        abort();
    return dataset;
}

static const struct nt_format format = {.name = "test", .description = "made by hand"};
const struct nt_format *const nt_formats[] = {&format, &(const struct nt_format){.name = NULL}};

/* A failed one may have documents: here the first. */
static void fail_dataset(struct nt_dataset *dataset, const struct nt_error *failure)
{
    dataset->document_count = 1;
    if (nt_dataset_set_failure(dataset, failure, NULL) != NT_OK)
        abort();
}

static enum nt_status open_model(const char *path, const struct nt_open_options *options,
                                 struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_error broken = {.status = NT_CORRUPT, .offset = 12, .message = "the anchor is broken"};
    struct memory_source *source = calloc(1, sizeof(*source));
    model_open_files++;
    source->source = (struct nt_source){.ops = &memory_ops, .size = FILE_BYTES, .path = "memory"};
    enum nt_status status = nt_file_new(path, &source->source, &(struct nt_limits){0}, file_ret, error);
    if (status != NT_OK)
        return status;
    struct nt_file *file = *file_ret;
    file->format = &format;
    file->documents = file_documents;
    file->document_count = 1;
    uint32_t sub = nt_file_add_directory(file, 0, text("sub"));
    add_dataset(file, "Events", 0);
    struct nt_dataset *older = add_dataset(file, "Events", 0);
    older->cycle = 1;
    older->is_newest_cycle = false;
    add_dataset(file, "Events", sub);
    add_dataset(file, "notes", 0)->attribute_of = 0;
    fail_dataset(add_dataset(file, "broken", 0), &broken);
    add_dataset(file, "evil", 0);
    add_dataset(file, "file.json", 0);
    return NT_OK;
}

/* A file of which no dataset opens. */
static enum nt_status open_broken_model(const char *path, const struct nt_open_options *options,
                                        struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_error broken = {.status = NT_CORRUPT, .offset = 3};
    enum nt_status status = open_model(path, options, file_ret, error);
    if (status != NT_OK)
        return status;
    struct nt_file *file = *file_ret;
    snprintf(broken.message, sizeof(broken.message), "%s: broken", path);
    for (uint32_t i = 0; i < file->dataset_count; i++)
        fail_dataset(file->datasets[i], &broken);
    file->failure = file->datasets[0]->failure;
    return NT_OK;
}

/* The file of a version says whether it is valid. */
static bool is_bad_version(const char *path, const char *version)
{
    char name[512], content[4] = "";
    snprintf(name, sizeof(name), "%s/versions/%s", path, version);
    FILE *file = fopen(name, "r");
    bool is_bad = file && fgets(content, sizeof(content), file) && strcmp(content, "bad") == 0;
    if (file)
        fclose(file);
    return is_bad;
}

/* Replaces the table of real formats. */
enum nt_status nt_file_open(const char *path, const struct nt_open_options *options,
                            struct nt_file **file_ret, struct nt_error *error)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (options->version && is_bad_version(path, options->version))
        return nt_fail(error, NT_CORRUPT, 3, "%s: version %s is broken", path, options->version);
    if (strncmp(name, "good", 4) == 0)
        return open_model(path, options, file_ret, error);
    if (strncmp(name, "bad", 3) == 0 && options->open_broken)
        return open_broken_model(path, options, file_ret, error);
    if (strncmp(name, "bad", 3) == 0)
        return nt_fail(error, NT_CORRUPT, 3, "%s: broken", path);
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "%s: something else", path);
}

/* Nothing is on a server. */
enum nt_status nt_open_source(const char *path, const struct nt_open_options *options,
                              struct nt_source **source_ret, struct nt_error *error)
{
    return nt_source_open_file(path, source_ret, error);
}

bool nt_may_be_data_file(struct nt_source *source, const char *name)
{
    return true;
}

/* By the name of the source; the file has its own copy. */
enum nt_status nt_file_open_source(struct nt_source *source, const struct nt_open_options *options,
                                   struct nt_file **file_ret, struct nt_error *error)
{
    enum nt_status status = nt_file_open(source->path, options, file_ret, error);
    if (status == NT_OK)
        nt_source_close(source);
    return status;
}

enum nt_status nt_is_dataset_folder(struct nt_folder *folder, bool *is_dataset_ret, struct nt_error *error)
{
    return nt_folder_has(folder, "meta/storage", is_dataset_ret, error);
}

enum nt_status nt_is_dataset_path(const char *path, bool *is_dataset_ret, struct nt_error *error)
{
    struct nt_folder *folder;
    enum nt_status status = nt_folder_open(path, NT_FOLDER_DATASET, &folder, error);
    if (status != NT_OK)
        return status;
    status = nt_is_dataset_folder(folder, is_dataset_ret, error);
    nt_folder_close(folder);
    return status;
}

/* ---- versions: the files in versions/, called by a digit ---- */

atomic_uint model_searches;

static enum nt_status note_latest(void *context, const struct nt_folder_entry *entry, struct nt_error *error)
{
    char *latest = context;
    if (entry->name[0] > *latest)
        *latest = entry->name[0];
    return NT_OK;
}

static enum nt_status find_version(struct nt_folder *folder, const char *requested,
                                   struct nt_dataset_version *version_ret, struct nt_error *error)
{
    char name[2] = "", file[16];
    bool is_there;
    enum nt_status status = NT_OK;
    if (requested)
        name[0] = requested[0];
    else
        status = nt_folder_list(folder, "versions", note_latest, name, error);
    snprintf(file, sizeof(file), "versions/%s", name);
    if (status == NT_OK)
        status = nt_folder_has(folder, file, &is_there, error);
    if (status == NT_OK && (!is_there || !name[0]))
        status = nt_fail(error, NT_NOT_FOUND, NT_NO_OFFSET, "no version %s", name);
    if (status == NT_OK)
        *version_ret = (struct nt_dataset_version){.series = strdup(""),
                                                   .number = (uint64_t)(name[0] - '0'),
                                                   .file = strdup(file),
                                                   .watched = {strdup("versions")}};
    return status;
}

enum nt_status nt_find_version_in(struct nt_folder *folder, const struct nt_open_options *options,
                                  struct nt_dataset_version *version_ret, struct nt_error *error)
{
    bool has_versions;
    *version_ret = (struct nt_dataset_version){.number = 0};
    model_searches++;
    enum nt_status status = nt_folder_has(folder, "versions", &has_versions, error);
    if (status == NT_OK && has_versions)
        status = find_version(folder, options->version, version_ret, error);
    return status;
}

enum nt_status nt_find_version(const char *path, const struct nt_open_options *options,
                               struct nt_dataset_version *version_ret, struct nt_error *error)
{
    struct nt_folder *folder;
    enum nt_status status = nt_folder_open(path, NT_FOLDER_DATASET, &folder, error);
    if (status != NT_OK)
        return status;
    status = nt_find_version_in(folder, options, version_ret, error);
    nt_folder_close(folder);
    return status;
}

void nt_version_deinit(struct nt_dataset_version *version)
{
    free(version->series);
    free(version->file);
    for (size_t i = 0; i < NT_VERSION_WATCHED; i++)
        free(version->watched[i]);
}
