/* SPDX-License-Identifier: MIT
 *
 * Names that users type: the datasets and fields that a path or pattern means, and similar names for one
 * that means nothing.
 */
#include "core/model/model.h"

#include <ctype.h>
#include <fnmatch.h>
#include <strings.h>

#include "core/base/text.h"
#include "core/model/field.h"

/* ---- Names of a pattern ---- */

struct pattern_name {
    struct nt_text text; /* as typed */
    const char *pattern; /* for fnmatch(3); NULL: a name */
    bool is_any_depth;   /* "**" */
};

struct parts {
    struct pattern_name *items, *at_any_depth; /* the latter: "**" in front of them */
    size_t count;
};

/* Bytes that are percent-encoded stand for themselves. */
static const char *decode_pattern(struct nt_text text, struct nt_arena *arena)
{
    char *pattern = nt_arena_alloc(arena, text.length + 1, 1), *out = pattern;
    for (size_t i = 0, step; pattern && i < text.length; i += step) {
        uint8_t byte;
        step = nt_percent_decode(text.bytes + i, text.length - i, &byte);
        if (step > 1)
            *out++ = '\\';
        *out++ = (char)byte;
    }
    return pattern;
}

static bool split(const char *name, char separator, struct nt_arena *arena, struct parts *parts)
{
    size_t most = 1;
    for (const char *at = name; *at; at++)
        most += *at == separator;
    struct pattern_name *all = nt_arena_alloc(arena, most + 1, sizeof(*all));
    if (!all)
        return false;
    all[0] = (struct pattern_name){.pattern = "**", .is_any_depth = true};
    *parts = (struct parts){.items = all + 1, .at_any_depth = all};
    for (const char *at = name, *end; *at; at = *end ? end + 1 : end) {
        end = strchrnul(at, separator);
        struct pattern_name part = {.text = {at, (size_t)(end - at)}};
        if (part.text.length == 0)
            continue;
        part.is_any_depth = part.text.length == 2 && memcmp(at, "**", 2) == 0;
        if (strcspn(at, "*?[") < part.text.length && !(part.pattern = decode_pattern(part.text, arena)))
            return false;
        parts->items[parts->count++] = part;
    }
    return true;
}

static bool have_patterns(const struct pattern_name *parts, size_t count)
{
    bool have_patterns = false;
    for (size_t i = 0; i < count; i++)
        have_patterns |= parts[i].pattern != NULL;
    return have_patterns;
}

static bool is_like(const struct pattern_name *part, struct nt_text name, bool is_exact)
{
    enum { MAX_NAME = 4096 };
    char text[MAX_NAME];
    if (nt_name_is(part->text, name))
        return true;
    if (is_exact || !part->pattern || name.length >= sizeof(text) || memchr(name.bytes, '\0', name.length))
        return false;
    memcpy(text, name.bytes, name.length);
    text[name.length] = '\0';
    return fnmatch(part->pattern, text, 0) == 0;
}

/* Do all parts match all names, or equal them? After a mismatch, the last "**" takes one more name. */
static bool are_like(const struct pattern_name *parts, size_t part_count, const struct nt_text *names,
                     size_t name_count, bool is_exact)
{
    size_t part = 0, name = 0, retry_part = SIZE_MAX, retry_name = 0;
    while (name < name_count) {
        if (part < part_count && parts[part].is_any_depth && !is_exact) {
            retry_part = ++part;
            retry_name = name;
        } else if (part < part_count && is_like(&parts[part], names[name], is_exact)) {
            part++;
            name++;
        } else if (retry_part != SIZE_MAX) {
            part = retry_part;
            name = ++retry_name;
        } else {
            return false;
        }
    }
    while (part < part_count && parts[part].is_any_depth && !is_exact)
        part++;
    return part == part_count;
}

/* ---- Fields ---- */

struct match_walk {
    const struct nt_dataset *dataset;
    const struct pattern_name *parts;
    size_t part_count;
    bool has_patterns;
    bool omits_items; /* compares with paths without the items of collections */
    struct nt_text names[NT_MAX_DEPTH + 1];
    struct nt_matches *matches;
};

static bool add(struct nt_matches *matches, uint32_t dataset, uint32_t field)
{
    if (!NT_GROW(matches->items, matches->count, matches->capacity))
        return false;
    matches->items[matches->count++] = (struct nt_match){dataset, field};
    return true;
}

/* Recursive: fields nest no deeper than NT_MAX_DEPTH. False: out of memory. */
static bool visit(struct match_walk *walk, uint32_t parent, size_t depth)
{
    uint32_t count;
    const struct nt_field *fields = walk->dataset->fields;
    const uint32_t *children = nt_dataset_children(walk->dataset, parent, &count);
    bool is_omitted = walk->omits_items && parent != NT_NONE && nt_field_has_nameless_item(&fields[parent]);
    for (uint32_t i = 0; i < count; i++) {
        walk->names[depth] = fields[children[i]].name;
        size_t names = depth + !is_omitted;
        bool is_found =
            !is_omitted && are_like(walk->parts, walk->part_count, walk->names, names, !walk->has_patterns);
        if (is_found && !add(walk->matches, walk->dataset->index, children[i]))
            return false;
        if (is_found && !walk->has_patterns)
            return true; /* the first of equal names */
        if (names <= NT_MAX_DEPTH && !visit(walk, children[i], names))
            return false;
    }
    return true;
}

/* Appends the fields below `parent` whose paths are like the parts; first those that equal them. */
static bool find_fields(const struct nt_dataset *dataset, uint32_t parent, const struct pattern_name *parts,
                        size_t count, struct nt_matches *matches)
{
    struct match_walk walk = {.dataset = dataset, .parts = parts, .part_count = count, .matches = matches};
    int rounds = have_patterns(parts, count) ? 4 : 2;
    bool has_memory = true;
    if (dataset->failure || count > NT_MAX_DEPTH)
        return true;
    for (int round = 0; has_memory && matches->count == 0 && round < rounds; round++) {
        walk.omits_items = round % 2;
        walk.has_patterns = round >= 2;
        has_memory = visit(&walk, parent, 0);
    }
    return has_memory;
}

/* ---- Datasets ---- */

static bool is_in_directory(const struct nt_dataset *dataset, uint32_t directory)
{
    uint32_t at = dataset->directory;
    while (at && at != directory)
        at = dataset->file->directories[at].parent;
    return at == directory;
}

/* Appends what the parts mean if they begin with the name of a dataset, or a pattern of it. */
static bool find_in_dataset(const struct nt_name_scope *scope, const struct nt_dataset *dataset,
                            const struct pattern_name *parts, size_t count, struct nt_matches *matches)
{
    struct nt_text names[NT_MAX_DEPTH + 1];
    size_t depth = 0;
    uint32_t chain[NT_MAX_DEPTH + 1], at = dataset->directory;
    for (; at && at != scope->directory && depth < NT_MAX_DEPTH; at = scope->file->directories[at].parent)
        chain[depth++] = at;
    for (size_t i = 0; i < depth; i++)
        names[i] = scope->file->directories[chain[depth - 1 - i]].name;
    names[depth++] = dataset->name;
    if (dataset->attribute_of != NT_NONE || !dataset->is_newest_cycle || count < depth ||
        !are_like(parts, depth, names, depth, false))
        return true;
    if (count == depth)
        return add(matches, dataset->index, NT_NONE);
    NT_CLEANUP(nt_matches_deinit) struct nt_matches below = {.count = 0};
    bool has_memory = find_fields(dataset, NT_NONE, parts + depth, count - depth, &below);
    for (size_t i = 0; has_memory && i < below.count; i++)
        has_memory = add(matches, dataset->index, below.items[i].field);
    return has_memory;
}

/* Is it a dataset that a name may omit? */
static bool may_be_omitted(const struct nt_name_scope *scope, const struct nt_dataset *dataset)
{
    return nt_dataset_is_main(dataset) && is_in_directory(dataset, scope->directory);
}

/* Finds what the parts mean without the dataset in front. Fields of several datasets are no match, but
 * *is_ambiguous_ret is set. */
static bool find_without_dataset(const struct nt_name_scope *scope, const struct pattern_name *parts,
                                 size_t count, struct nt_matches *matches, bool *is_ambiguous_ret)
{
    const struct nt_file *file = scope->file;
    bool has_memory = true;
    for (uint32_t i = 0; has_memory && i < file->dataset_count; i++) {
        NT_CLEANUP(nt_matches_deinit) struct nt_matches found = {.count = 0};
        if (!may_be_omitted(scope, file->datasets[i]))
            continue;
        has_memory =
            count ? find_fields(file->datasets[i], NT_NONE, parts, count, &found) : add(&found, i, NT_NONE);
        if (found.count && matches->count) {
            *is_ambiguous_ret |= count > 0;
            nt_matches_deinit(matches);
            return has_memory;
        }
        if (found.count) {
            *matches = found;
            found = (struct nt_matches){.count = 0};
        }
    }
    return has_memory;
}

/* Searches below all fields. A name without a pattern must be the only one. */
static bool find_at_any_depth(const struct nt_name_scope *scope, const struct parts *parts, size_t count,
                              struct nt_matches *matches, bool *is_ambiguous_ret)
{
    bool has_memory =
        count == 0 ||
        (scope->dataset
             ? find_fields(scope->dataset, scope->field, parts->at_any_depth, count + 1, matches)
             : find_without_dataset(scope, parts->at_any_depth, count + 1, matches, is_ambiguous_ret));
    if (matches->count > 1 && !have_patterns(parts->items, count))
        nt_matches_deinit(matches);
    return has_memory;
}

static bool find_in_scope(const struct nt_name_scope *scope, const struct pattern_name *parts, size_t count,
                          struct nt_matches *matches, bool *is_ambiguous_ret)
{
    if (scope->dataset)
        return count == 0 || find_fields(scope->dataset, scope->field, parts, count, matches);
    bool has_memory = find_without_dataset(scope, parts, count, matches, is_ambiguous_ret);
    bool is_found = matches->count;
    for (uint32_t i = 0; has_memory && !is_found && count && i < scope->file->dataset_count; i++)
        if (is_in_directory(scope->file->datasets[i], scope->directory))
            has_memory = find_in_dataset(scope, scope->file->datasets[i], parts, count, matches);
    return has_memory;
}

/* ---- Names ---- */

static enum nt_status refuse_ambiguous(const struct nt_name_scope *scope, const char *name,
                                       struct nt_matches *matches, struct nt_error *error)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer names = {0};
    for (uint32_t i = 0; i < scope->file->dataset_count; i++)
        if (may_be_omitted(scope, scope->file->datasets[i])) {
            nt_buffer_append_string(&names, names.length ? ", " : "");
            nt_append_dataset_path(&names, scope->file->datasets[i]);
        }
    nt_matches_deinit(matches);
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "several datasets have '%s'; put one in front of it: %s",
                   name, nt_buffer_string(&names));
}

enum nt_status nt_name_match(const struct nt_name_scope *scope, const char *name, bool has_files,
                             struct nt_matches *matches, struct nt_error *error)
{
    NT_CLEANUP(nt_arena_free_at) struct nt_arena *arena = nt_arena_new();
    struct parts parts = {.count = 0}, dotted;
    bool is_ambiguous = false;
    *matches = (struct nt_matches){.count = 0};
    const char *rest = "";
    bool has_memory = arena && split(name, '/', arena, &parts);
    for (size_t left = 0; has_memory && !matches->count && left <= (has_files ? parts.count : 0); left++) {
        has_memory = find_in_scope(scope, parts.items, parts.count - left, matches, &is_ambiguous);
        rest = left ? parts.items[parts.count - left].text.bytes : "";
        if (left == 0 && has_memory && !matches->count && !strchr(name, '/'))
            has_memory = split(name, '.', arena, &dotted) &&
                         find_in_scope(scope, dotted.items, dotted.count, matches, &is_ambiguous);
        if (has_memory && !matches->count)
            has_memory = find_at_any_depth(scope, &parts, parts.count - left, matches, &is_ambiguous);
    }
    matches->rest = rest;
    if (!has_memory) {
        nt_matches_deinit(matches);
        return nt_fail_memory(error);
    }
    if (is_ambiguous && (!matches->count || *rest))
        return refuse_ambiguous(scope, name, matches, error);
    return NT_OK;
}

void nt_matches_deinit(struct nt_matches *matches)
{
    free(matches->items);
    *matches = (struct nt_matches){.rest = ""};
}

enum nt_status nt_dataset_match(const struct nt_dataset *dataset, const char *pattern, uint32_t *fields,
                                uint32_t capacity, uint32_t *count_ret, struct nt_error *error)
{
    const struct nt_name_scope scope = {dataset->file, 0, dataset, NT_NONE};
    NT_CLEANUP(nt_matches_deinit) struct nt_matches matches = {.count = 0};
    uint32_t field = NT_NONE;
    enum nt_status status = nt_dataset_find(dataset, pattern, &field, error);
    if (status == NT_OK) {
        *count_ret = 1;
        if (capacity)
            fields[0] = field;
        return NT_OK;
    }
    if (status != NT_NOT_FOUND)
        return status;
    struct nt_error failure = {0};
    if (nt_name_match(&scope, pattern, false, &matches, &failure) != NT_OK)
        return nt_fail_copy(error, &failure);
    for (uint32_t i = 0; i < matches.count && i < capacity; i++)
        fields[i] = matches.items[i].field;
    *count_ret = (uint32_t)matches.count;
    return *count_ret ? NT_OK : NT_NOT_FOUND; /* `error` says which name */
}

/* ---- Similar names ---- */

enum { MAX_FIELDS = 4096, MAX_BYTES = 64 };

struct suggestion {
    const char *name;
    size_t length;
    bool is_pattern; /* a name that it matches in another case is as near as possible, and no other is */
    unsigned score;  /* of the best one: twice the distance, and 1 if only its own name was compared */
    struct nt_buffer best;
    unsigned within; /* fields whose names contain the name */
    unsigned equal;  /* fields of this name, at any depth */
};

/* The number of bytes to insert, remove or replace; upper and lower case are alike. UINT_MAX: more than
 * `limit`. */
static unsigned distance_of(const char *a, size_t a_bytes, const char *b, size_t b_bytes, unsigned limit)
{
    unsigned row[MAX_BYTES + 1];
    if (a_bytes > MAX_BYTES || b_bytes > MAX_BYTES || a_bytes > b_bytes + limit || b_bytes > a_bytes + limit)
        return UINT32_MAX;
    for (unsigned j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_bytes; i++) {
        unsigned diagonal = row[0], smallest = row[0] = i;
        for (unsigned j = 1; j <= b_bytes; j++) {
            bool is_same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            unsigned replaced = diagonal + !is_same;
            diagonal = row[j];
            row[j] = nt_min(replaced, 1 + nt_min(row[j], row[j - 1]));
            smallest = nt_min(smallest, row[j]);
        }
        if (smallest > limit)
            return UINT32_MAX;
    }
    return row[b_bytes] <= limit ? row[b_bytes] : UINT32_MAX;
}

/* Keeps `shown` if a name is nearer than those before; a `penalty` of 1 makes it lose against equals. */
static void compare_with(struct suggestion *suggestion, const char *name, size_t length, const char *shown,
                         unsigned penalty)
{
    if (length == 0 || suggestion->score <= penalty)
        return;
    unsigned limit = (suggestion->score - 1 - penalty) / 2;
    unsigned distance = suggestion->is_pattern
                            ? (fnmatch(suggestion->name, shown, FNM_CASEFOLD) == 0 ? 0 : UINT32_MAX)
                            : distance_of(suggestion->name, suggestion->length, name, length, limit);
    if (distance == UINT32_MAX)
        return;
    suggestion->score = 2 * distance + penalty;
    nt_buffer_clear(&suggestion->best);
    nt_buffer_append_string(&suggestion->best, shown);
}

/* The path of a field within the scope: as it is, and without the items of collections. */
static void append_paths(const struct nt_dataset *dataset, uint32_t field, uint32_t above,
                         struct nt_buffer *path, struct nt_buffer *plain)
{
    uint32_t chain[NT_MAX_DEPTH + 1], depth = 0;
    for (uint32_t at = field; at != above && at != NT_NONE && depth <= NT_MAX_DEPTH;
         at = dataset->fields[at].parent)
        chain[depth++] = at;
    while (depth-- > 0) {
        const struct nt_field *at = &dataset->fields[chain[depth]];
        bool is_item = at->parent != NT_NONE && nt_field_has_nameless_item(&dataset->fields[at->parent]);
        nt_buffer_append_string(path, path->length ? "/" : "");
        nt_name_encode(at->name, NT_NAME_TYPED, path);
        if (is_item)
            continue;
        nt_buffer_append_string(plain, plain->length ? "/" : "");
        nt_name_encode(at->name, NT_NAME_TYPED, plain);
    }
}

static bool is_within(const struct suggestion *suggestion, struct nt_text name)
{
    for (size_t i = 0; suggestion->length && i + suggestion->length <= name.length; i++)
        if (strncasecmp(name.bytes + i, suggestion->name, suggestion->length) == 0)
            return true;
    return false;
}

/* Compares with the fields of a dataset, also with the dataset in front. */
static void suggest_fields(struct suggestion *suggestion, const struct nt_dataset *dataset, uint32_t above,
                           bool has_dataset)
{
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0}, plain = {0}, whole = {0};
    uint32_t count = dataset->failure ? 0 : dataset->field_count;
    for (uint32_t i = 0; i < count && i < MAX_FIELDS && !path.failed && !plain.failed; i++) {
        uint32_t at = i;
        while (at != above && at != NT_NONE)
            at = dataset->fields[at].parent;
        if (at != above || i == above)
            continue;
        nt_buffer_clear(&path);
        nt_buffer_clear(&plain);
        append_paths(dataset, i, above, &path, &plain);
        compare_with(suggestion, nt_buffer_string(&path), path.length, nt_buffer_string(&path), 0);
        compare_with(suggestion, nt_buffer_string(&plain), plain.length, nt_buffer_string(&path), 0);
        compare_with(suggestion, dataset->fields[i].name.bytes, dataset->fields[i].name.length,
                     nt_buffer_string(&path), 1);
        if (has_dataset) {
            nt_buffer_clear(&whole);
            nt_append_dataset_path(&whole, dataset);
            nt_buffer_append_format(&whole, "/%s", nt_buffer_string(&path));
            compare_with(suggestion, nt_buffer_string(&whole), whole.length, nt_buffer_string(&whole), 0);
        }
        suggestion->within +=
            dataset->fields[i].parent == above && is_within(suggestion, dataset->fields[i].name);
        suggestion->equal += nt_name_is((struct nt_text){suggestion->name, (uint32_t)suggestion->length},
                                        dataset->fields[i].name);
    }
}

static void suggest_datasets(struct suggestion *suggestion, const struct nt_file *file)
{
    for (uint32_t i = 0; i < file->dataset_count && i < MAX_FIELDS; i++) {
        struct nt_buffer path = {0};
        nt_append_dataset_path(&path, file->datasets[i]);
        compare_with(suggestion, nt_buffer_string(&path), path.length, nt_buffer_string(&path), 0);
        compare_with(suggestion, file->datasets[i]->name.bytes, file->datasets[i]->name.length,
                     nt_buffer_string(&path), 1);
        nt_buffer_deinit(&path);
    }
}

static void suggest_fields_of_datasets(struct suggestion *suggestion, const struct nt_name_scope *scope)
{
    for (uint32_t i = 0; i < scope->file->dataset_count && i < MAX_FIELDS; i++)
        if (may_be_omitted(scope, scope->file->datasets[i]))
            suggest_fields(suggestion, scope->file->datasets[i], NT_NONE, true);
}

/* Appends "; the datasets are NAME, ...". */
static void append_datasets(const struct nt_name_scope *scope, struct nt_buffer *out)
{
    enum { SHOWN = 10 };
    uint32_t count = 0, shown = 0;
    for (uint32_t i = 0; i < scope->file->dataset_count; i++)
        count += may_be_omitted(scope, scope->file->datasets[i]);
    for (uint32_t i = 0; i < scope->file->dataset_count && shown < SHOWN; i++)
        if (may_be_omitted(scope, scope->file->datasets[i])) {
            nt_buffer_append_string(out, shown++      ? ", "
                                         : count == 1 ? "; the dataset is "
                                                      : "; the datasets are ");
            nt_append_dataset_path(out, scope->file->datasets[i]);
        }
    nt_buffer_append_string(out, count > shown ? ", …" : "");
}

static struct suggestion suggestion_for(const char *name)
{
    struct suggestion suggestion = {
        .name = name, .length = strlen(name), .is_pattern = nt_has_wildcard(name)};
    while (suggestion.length && name[suggestion.length - 1] == '/')
        suggestion.length--;
    suggestion.score = 2 * (2 + nt_min((unsigned)suggestion.length, MAX_BYTES) / 4);
    return suggestion;
}

void nt_name_suggest(const struct nt_name_scope *scope, const char *before, const char *name,
                     struct nt_buffer *out)
{
    struct suggestion suggestion = suggestion_for(name);
    if (scope->dataset) {
        suggest_fields(&suggestion, scope->dataset, scope->field, false);
    } else {
        suggest_datasets(&suggestion, scope->file);
        suggest_fields_of_datasets(&suggestion, scope);
    }
    bool has_best = suggestion.best.length;
    bool has_equals = suggestion.equal > 1;
    bool has_several = !suggestion.is_pattern && !has_equals && suggestion.within > has_best;
    if (has_best || has_several)
        nt_buffer_append_string(out, ": did you mean ");
    if (has_best)
        nt_buffer_append_format(out, "%s%s%s", before, suggestion.best.bytes,
                                has_several || has_equals ? ", or " : "");
    if (has_equals)
        nt_buffer_append_format(out, "'%s**/%.*s' (%u fields)", before, (int)suggestion.length, name,
                                suggestion.equal);
    if (has_several)
        nt_buffer_append_format(out, "'%s*%.*s*' (%u %s)", before, (int)suggestion.length, name,
                                suggestion.within, suggestion.within == 1 ? "field" : "fields");
    if (has_best || has_several)
        nt_buffer_append_byte(out, '?');
    else if (!scope->dataset)
        append_datasets(scope, out);
    nt_buffer_deinit(&suggestion.best);
}

/* Appends which dataset has the field that a name means, if there is exactly one. */
static bool append_meant_field(const struct nt_name_scope *scope, const char *name, struct nt_buffer *out)
{
    NT_CLEANUP(nt_matches_deinit) struct nt_matches matches = {.count = 0};
    NT_CLEANUP(nt_buffer_deinit) struct nt_buffer path = {0}, plain = {0};
    struct nt_error failure = {0};
    if (nt_name_match(scope, name, false, &matches, &failure) != NT_OK || matches.count != 1 ||
        matches.items[0].field == NT_NONE)
        return false;
    const struct nt_dataset *dataset = scope->file->datasets[matches.items[0].dataset];
    nt_buffer_append_string(out, ": find the dataset ");
    nt_append_dataset_path(out, dataset);
    append_paths(dataset, matches.items[0].field, NT_NONE, &path, &plain);
    nt_buffer_append_format(out, ", then its field %s", nt_buffer_string(&path));
    return true;
}

void nt_dataset_suggest(const struct nt_file *file, const char *name, struct nt_buffer *out)
{
    const struct nt_name_scope scope = {file, 0, NULL, NT_NONE};
    struct suggestion suggestion = suggestion_for(name);
    if (append_meant_field(&scope, name, out))
        return;
    suggest_datasets(&suggestion, file);
    if (suggestion.best.length)
        nt_buffer_append_format(out, ": did you mean %s?", suggestion.best.bytes);
    else
        append_datasets(&scope, out);
    nt_buffer_deinit(&suggestion.best);
}
