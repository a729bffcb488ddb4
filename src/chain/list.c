/* SPDX-License-Identifier: MIT
 *
 * Expands the operands of a command line into the ordered list of files of a chain: paths, glob
 * patterns, list files, RDataFrame specifications and URLs. Duplicates are errors.
 */
#include "chain/chain.h"

#include <errno.h>
#include <unistd.h>

#include "core/io/address.h"
#include "formats/formats.h"

/* ---- Read a small text file ---- */

enum nt_status nt_chain_read_text(const char *path, const char *what, int max_bytes, bool needs_trust,
                                  struct nt_buffer *text, struct nt_error *error)
{
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    struct stat attributes;
    NT_TRY(nt_source_open_file(path, &source, error));
    if (needs_trust) {
        NT_TRY(nt_source_stat(source, &attributes, error));
        NT_TRY(nt_check_writers(&attributes, path, error));
    }
    if (source->size > (uint64_t)max_bytes)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: %s cannot have more than %d bytes", path, what,
                       max_bytes);
    NT_TRY(nt_source_append(source, 0, source->size, text, error));
    return nt_check_memory(!text->failed, error);
}

/* ---- Expand local operands ---- */

enum { MAX_LIST_BYTES = 64 << 20 };

/* A file of the list. A specification may name several datasets of a file, and friends the same one. */
struct known {
    struct nt_hash_link link;
    const char *address; /* "": a local file */
    dev_t device;
    ino_t inode;
    const char *path;
    const char *dataset; /* the selected one; "": all */
    const char *friend;  /* that is made of it; NULL: none */
};

struct list_reader {
    struct nt_chain_list *list;
    struct nt_hash_table known;
    bool allow_missing;
    size_t capacity, folder_capacity;
    const char *folder;   /* absolute; base of relative names */
    const char *source;   /* the list that holds the names; NULL: operands */
    struct stat identity; /* of the list */
    uint32_t line;
    const struct nt_chain_sample *sample; /* of the names; NULL: not from a specification */
};

/* ---- One file ---- */

static bool is_same(const struct known *one, const struct known *other)
{
    return one->device == other->device && one->inode == other->inode &&
           strcmp(one->address, other->address) == 0 && strcmp(one->dataset, other->dataset) == 0 &&
           one->friend == other->friend;
}

/* Adds a file to the table, unless it has the same one: then *same_ret is that one, else NULL. */
static enum nt_status know(struct nt_hash_table *table, struct nt_arena *arena, const struct known *file,
                           uint64_t hash, const struct known **same_ret, struct nt_error *error)
{
    const struct nt_hash_link *link = nt_hash_table_find(table, hash);
    while (link && !is_same((const struct known *)link, file))
        link = nt_hash_table_next(link);
    *same_ret = (const struct known *)link;
    if (link)
        return NT_OK;
    struct known *known = nt_arena_alloc(arena, 1, sizeof(*known));
    NT_TRY(nt_check_memory(known, error));
    *known = *file;
    nt_hash_table_insert(table, &known->link, hash);
    return NT_OK;
}

static enum nt_status refuse_known(const struct known *known, const char *path, struct nt_error *error)
{
    return strcmp(known->path, path) == 0
               ? nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: is named twice", path)
               : nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: is the same file as %s (a link to it)", path,
                         known->path);
}

/* Consecutive files are mostly in one directory, so only the last directory is compared. */
static enum nt_status add_folder(struct list_reader *reader, const char *path, bool is_folder,
                                 struct nt_error *error)
{
    struct nt_chain_list *list = reader->list;
    size_t length = is_folder ? strlen(path) : (size_t)(strrchr(path, '/') - path);
    const char *last = list->folder_count ? list->folders[list->folder_count - 1] : "";
    length += length == 0; /* the root directory "/" */
    if (strlen(last) == length && strncmp(last, path, length) == 0)
        return NT_OK;
    NT_TRY(nt_check_memory(NT_GROW(list->folders, list->folder_count, reader->folder_capacity), error));
    const char *copy = nt_arena_copy(list->arena, path, length);
    NT_TRY(nt_check_memory(copy, error));
    list->folders[list->folder_count++] = copy;
    return NT_OK;
}

/* Adds the directory of a file; for a link, that of its target. */
static enum nt_status add_folder_of(struct list_reader *reader, const char *path, bool is_folder,
                                    struct nt_error *error)
{
    struct stat itself;
    if (lstat(path, &itself))
        return nt_fail_path(error, errno, path);
    if (!S_ISLNK(itself.st_mode))
        return add_folder(reader, path, is_folder, error);
    NT_AUTO_FREE char *target = realpath(path, NULL);
    if (!target)
        return nt_fail_path(error, errno, path);
    return add_folder(reader, target, is_folder, error);
}

static enum nt_status know_file(struct list_reader *reader, const char *path, const struct stat *attributes,
                                struct nt_error *error)
{
    uint64_t hash = attributes->st_ino * UINT64_C(0x9e3779b97f4a7c15) ^ attributes->st_dev;
    const struct known file = {.address = "",
                               .device = attributes->st_dev,
                               .inode = attributes->st_ino,
                               .path = nt_arena_copy(reader->list->arena, path, strlen(path)),
                               .dataset = reader->sample ? reader->sample->dataset : "",
                               .friend = nt_chain_friend_of(reader->sample)};
    const struct known *same;
    NT_TRY(nt_check_memory(file.path, error));
    NT_TRY(know(&reader->known, reader->list->arena, &file, hash, &same, error));
    return same ? refuse_known(same, path, error)
                : add_folder_of(reader, path, S_ISDIR(attributes->st_mode), error);
}

static enum nt_status add(struct list_reader *reader, const char *path, const struct stat *attributes,
                          struct nt_error *error)
{
    struct nt_chain_list *list = reader->list;
    NT_TRY(nt_check_memory(NT_GROW(list->files, list->count, reader->capacity), error));
    const char *copy = nt_arena_copy(list->arena, path, strlen(path));
    NT_TRY(nt_check_memory(copy, error));
    list->files[list->count++] =
        (struct nt_chain_file){.path = copy, .sample = reader->sample, .identity = *attributes};
    return NT_OK;
}

/* A file that a list names may be missing, an operand may not. */
static enum nt_status add_missing(struct list_reader *reader, const char *path, int system_error,
                                  struct nt_error *error)
{
    bool is_gone = system_error == ENOENT || system_error == ENOTDIR;
    return is_gone && reader->allow_missing && reader->source ? add(reader, path, &(struct stat){0}, error)
                                                              : nt_fail_path(error, system_error, path);
}

/* A text file is a list, because no supported format is text. */
static enum nt_status is_list(const char *path, bool *is_list_ret, struct nt_error *error)
{
    NT_CLEANUP(nt_source_close_at) struct nt_source *source = NULL;
    struct stat attributes;
    *is_list_ret = false;
    if (stat(path, &attributes))
        return nt_fail_path(error, errno, path);
    if (!S_ISREG(attributes.st_mode) || attributes.st_size == 0)
        return NT_OK;
    NT_TRY(nt_source_open_file(path, &source, error));
    return nt_find_text(source, is_list_ret, error);
}

static enum nt_status take(void *context, const char *path, struct nt_error *error)
{
    struct list_reader *reader = context;
    struct stat attributes;
    if (stat(path, &attributes))
        return add_missing(reader, path, errno, error);
    if (reader->source && attributes.st_dev == reader->identity.st_dev &&
        attributes.st_ino == reader->identity.st_ino)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: the list names itself", path);
    NT_TRY(know_file(reader, path, &attributes, error));
    return add(reader, path, &attributes, error);
}

static enum nt_status read_list(struct list_reader *reader, const char *path, struct nt_error *error);

/* Only operands can be lists: otherwise each file would be opened here. */
static enum nt_status take_file(struct list_reader *reader, const char *path, struct nt_error *error)
{
    bool is_a_list = false;
    if (!reader->source)
        NT_TRY(is_list(path, &is_a_list, error));
    return is_a_list ? read_list(reader, path, error) : take(reader, path, error);
}

/* Sends no request: the whole list must be read first. */
static enum nt_status take_address(struct list_reader *reader, const char *address, struct nt_error *error)
{
    struct nt_chain_list *list = reader->list;
    NT_TRY(nt_address_check(address, error));
    NT_AUTO_FREE char *shown = nt_address_redact(address);
    NT_TRY(nt_check_memory(shown, error));
    NT_TRY(add(reader, shown, &(struct stat){0}, error));
    struct nt_chain_file *file = &list->files[list->count - 1];
    file->address = list->address = nt_arena_copy(list->arena, address, strlen(address));
    if (reader->line)
        file->named = nt_arena_format(list->arena, "%s, line %" PRIu32, reader->source, reader->line);
    else if (reader->source)
        file->named = nt_arena_copy(list->arena, reader->source, strlen(reader->source));
    return file->address && (file->named || !reader->source) ? NT_OK : nt_fail_memory(error);
}

/* A file with this exact name takes precedence over a pattern. */
static enum nt_status take_name(struct list_reader *reader, const char *name, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0};
    struct stat attributes;
    if (nt_is_address(name))
        return take_address(reader, name, error);
    nt_buffer_append_format(&path, "%s%s%s", name[0] == '/' ? "" : reader->folder, name[0] == '/' ? "" : "/",
                            name);
    NT_TRY(nt_check_memory(!path.failed, error));
    if (!nt_has_wildcard(name) || stat(path.bytes, &attributes) == 0)
        return take_file(reader, path.bytes, error);
    nt_buffer_clear(&path);
    if (name[0] != '/')
        nt_pattern_append_escaped(&path, nt_text_of(reader->folder));
    nt_buffer_append_format(&path, "%s%s", name[0] == '/' ? "" : "/", name);
    NT_TRY(nt_check_memory(!path.failed, error));
    return nt_pattern_expand(path.bytes, take, reader, error);
}

/* ---- Lists ---- */

/* A '#' at the start or after a blank begins a comment. Blanks before it are not part of the name. */
static void cut_comment(char *line)
{
    for (char *at = strchr(line, '#'); at; at = strchr(at + 1, '#'))
        if (at == line || at[-1] == ' ' || at[-1] == '\t') {
            while (at > line && (at[-1] == ' ' || at[-1] == '\t'))
                at--;
            *at = '\0';
            return;
        }
}

static enum nt_status take_lines(struct list_reader *reader, char *text, struct nt_error *error)
{
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n"))) {
        size_t length = strlen(line);
        reader->line++;
        if (length && line[length - 1] == '\r')
            line[--length] = '\0';
        cut_comment(line);
        if (*line)
            NT_TRY(nt_with_context(take_name(reader, line, error), error, "%s, line %" PRIu32, reader->source,
                                   reader->line));
    }
    return NT_OK;
}

static enum nt_status take_of_sample(void *context, const struct nt_chain_sample *sample, const char *name,
                                     struct nt_error *error)
{
    struct list_reader *reader = context;
    reader->sample = sample;
    return take_name(reader, name, error);
}

static enum nt_status take_samples(struct list_reader *reader, const struct nt_buffer *text,
                                   struct nt_error *error)
{
    enum nt_status status =
        nt_specification_read(text->bytes, text->length, reader->list->arena, take_of_sample, reader, error);
    return nt_with_context(status, error, "%s", reader->source);
}

static enum nt_status read_list(struct list_reader *reader, const char *path, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer text = {0};
    NT_AUTO_FREE char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    const char *outer_folder = reader->folder;
    NT_TRY(nt_check_memory(folder, error));
    NT_TRY(nt_chain_read_text(path, "a list", MAX_LIST_BYTES, false, &text, error));
    if (stat(path, &reader->identity))
        return nt_fail_path(error, errno, path);
    reader->source = path;
    reader->folder = folder;
    enum nt_status status = nt_is_specification(text.bytes, text.length)
                                ? take_samples(reader, &text, error)
                                : take_lines(reader, text.bytes, error);
    reader->source = NULL;
    reader->folder = outer_folder;
    reader->line = 0;
    reader->sample = NULL;
    return status;
}

/* ---- All operands ---- */

static bool has_friends(const struct nt_chain_list *list)
{
    bool has_friends = false;
    for (uint32_t i = 0; i < list->count; i++)
        has_friends |= nt_chain_friend_of(list->files[i].sample) != NULL;
    return has_friends;
}

static enum nt_status read_operands(struct list_reader *reader, const char *const *operands, size_t count,
                                    struct nt_error *error)
{
    struct nt_chain_list *list = reader->list;
    bool is_whole = operands[0][0] == '/' || nt_is_address(operands[0]);
    NT_AUTO_FREE char *shown = nt_address_redact(operands[0]);
    NT_TRY(nt_check_memory(shown, error));
    list->name =
        nt_arena_format(list->arena, "%s%s%s", is_whole ? "" : reader->folder, is_whole ? "" : "/", shown);
    NT_TRY(nt_check_memory(list->name, error));
    for (size_t i = 0; i < count; i++)
        NT_TRY(take_name(reader, operands[i], error));
    if (list->count == 0)
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: names no file", list->name);
    if (count > 1 && has_friends(list))
        return nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                       "a specification with friends must be the only name of a chain");
    return NT_OK;
}

enum nt_status nt_chain_list_new(const char *const *operands, size_t count, bool allow_missing,
                                 struct nt_chain_list **list_ret, struct nt_error *error)
{
    struct nt_chain_list *list = calloc(1, sizeof(*list));
    struct list_reader reader = {.list = list, .allow_missing = allow_missing};
    NT_AUTO_FREE char *folder = getcwd(NULL, 0);
    if (!folder || !list || !(list->arena = nt_arena_new()) || !nt_hash_table_init(&reader.known)) {
        nt_chain_list_free(list);
        return nt_fail_memory(error);
    }
    reader.folder = folder;
    enum nt_status status = read_operands(&reader, operands, count, error);
    nt_hash_table_deinit(&reader.known);
    if (status == NT_OK)
        *list_ret = list;
    else
        nt_chain_list_free(list);
    return status;
}

void nt_chain_list_free(struct nt_chain_list *list)
{
    if (!list)
        return;
    nt_open_folders_close(&list->listed);
    free(list->files);
    free(list->folders);
    nt_arena_free(list->arena);
    free(list);
}

/* ---- Expand remote patterns ---- */

struct list_expansion {
    struct nt_chain_list *list;
    struct nt_hash_table known; /* remote files in the new list */
    struct nt_chain_file *files;
    uint32_t count;
    size_t capacity;
    const struct nt_chain_file *pattern; /* the one being expanded */
};

static enum nt_status know_address(struct list_expansion *expansion, const struct nt_chain_file *file,
                                   struct nt_error *error)
{
    uint64_t hash = nt_xxh3_seeded(file->address, strlen(file->address), expansion->known.seed);
    const struct known wanted = {.address = file->address,
                                 .path = file->path,
                                 .dataset = file->sample ? file->sample->dataset : "",
                                 .friend = nt_chain_friend_of(file->sample)};
    const struct known *same;
    NT_TRY(know(&expansion->known, expansion->list->arena, &wanted, hash, &same, error));
    return same ? nt_fail(error, NT_INVALID, NT_NO_OFFSET, "%s: is named twice", file->path) : NT_OK;
}

static enum nt_status append_file(struct list_expansion *expansion, const struct nt_chain_file *file,
                                  struct nt_error *error)
{
    NT_TRY(file->address ? know_address(expansion, file, error) : NT_OK);
    NT_TRY(nt_check_memory(NT_GROW(expansion->files, expansion->count, expansion->capacity), error));
    expansion->files[expansion->count++] = *file;
    return NT_OK;
}

/* The name for messages: of a directory its address; of a file the listed directory and its name. */
static const char *shown(const struct list_expansion *expansion, const struct nt_remote_match *match)
{
    struct nt_arena *arena = expansion->list->arena;
    if (!match->is_folder)
        return nt_arena_format(arena, "%s%s%s", match->folder->path,
                               nt_address_is_folder(match->folder->path) ? "" : "/", match->name);
    NT_AUTO_FREE char *address = nt_address_folder_of(match->address);
    NT_AUTO_FREE char *text = address ? nt_address_redact(address) : NULL;
    return text ? nt_arena_copy(arena, text, strlen(text)) : NULL;
}

static enum nt_status take_match(void *context, const struct nt_remote_match *match, struct nt_error *error)
{
    struct list_expansion *expansion = context;
    struct nt_chain_file file = *expansion->pattern;
    NT_TRY(nt_folder_stat(match->folder, match->name, &file.identity, error));
    file.path = shown(expansion, match);
    file.address = match->address;
    if (!match->is_folder) {
        file.folder = match->folder;
        file.name = match->name;
    }
    return file.path ? append_file(expansion, &file, error) : nt_fail_memory(error);
}

static enum nt_status expand_file(struct list_expansion *expansion, const struct nt_chain_file *file,
                                  struct nt_fetcher *fetcher, struct nt_error *error)
{
    bool is_pattern = file->address && nt_address_is_pattern(file->address);
    enum nt_status status;
    expansion->pattern = file;
    if (file->address && nt_address_misuses_wildcard(file->address))
        status = nt_fail(error, NT_INVALID, NT_NO_OFFSET,
                         "%s: '?' begins the query of an address: use '*' or '[]' in a pattern", file->path);
    else if (is_pattern)
        status = nt_remote_pattern_expand(file->address, fetcher, expansion->list->arena,
                                          &expansion->list->listed, take_match, expansion, error);
    else
        status = append_file(expansion, file, error);
    if (status != NT_OK && file->named)
        nt_error_context(error, "%s", file->named);
    return status;
}

enum nt_status nt_chain_list_expand_remote(struct nt_chain_list *list, struct nt_fetcher *fetcher,
                                           struct nt_error *error)
{
    struct list_expansion expansion = {.list = list};
    enum nt_status status = NT_OK;
    if (!list->address)
        return NT_OK;
    NT_TRY(nt_check_memory(nt_hash_table_init(&expansion.known), error));
    for (uint32_t i = 0; status == NT_OK && i < list->count; i++)
        status = expand_file(&expansion, &list->files[i], fetcher, error);
    nt_hash_table_deinit(&expansion.known);
    if (status != NT_OK) {
        free(expansion.files);
        return status;
    }
    free(list->files);
    list->files = expansion.files;
    list->count = expansion.count;
    return NT_OK;
}
