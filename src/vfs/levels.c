/* SPDX-License-Identifier: MIT
 *
 * Which files and which sections the directories of each level have.
 */
#include <string.h>

#include "vfs/pseudo.h"

#define SECTIONS (const struct nt_section *const[])

static const struct nt_section *const *const sections_of_level[NT_LEVEL_COUNT] = {
    [NT_LEVEL_MOUNT] = SECTIONS{&nt_section_files, NULL},
    [NT_LEVEL_DATASET] =
        SECTIONS{&nt_section_files, &nt_section_documents, &nt_section_items, &nt_section_fields, NULL},
    [NT_LEVEL_FIELD] = SECTIONS{&nt_section_files, &nt_section_columns, &nt_section_fields, NULL},
    [NT_LEVEL_COLUMN] = SECTIONS{&nt_section_files, NULL},
};

static const struct nt_section *const *const sections_of_place[] = {
    [NT_PLACE_GROUP] = SECTIONS{&nt_section_mount, &nt_section_places, NULL},
    [NT_PLACE_FOLDER] = SECTIONS{&nt_section_mount, &nt_section_places, NULL},
    [NT_PLACE_FILE] =
        SECTIONS{&nt_section_mount, &nt_section_files, &nt_section_documents, &nt_section_items, NULL},
    [NT_PLACE_FAILED] = SECTIONS{&nt_section_mount, &nt_section_files, NULL},
};

static const struct nt_section *const *const sections_of_failed = SECTIONS{&nt_section_files, NULL};

const struct nt_section *const *nt_scope_sections(const struct nt_scope *scope)
{
    if (scope->pseudo && scope->pseudo->sections)
        return scope->pseudo->sections;
    if (scope->node.level == NT_LEVEL_PLACE)
        return sections_of_place[scope->place_kind];
    if (scope->node.level == NT_LEVEL_DATASET && scope->dataset->failure)
        return sections_of_failed;
    return sections_of_level[scope->node.level];
}

static const struct nt_pseudo_table no_files = {NULL, 0};

const struct nt_pseudo_table *nt_scope_files(const struct nt_scope *scope)
{
    switch (scope->node.level) {
    case NT_LEVEL_PLACE:
        if (scope->place_kind == NT_PLACE_FAILED)
            return &nt_failed_files;
        return scope->file && scope->node.item == 0 ? &nt_container_files : &no_files;
    case NT_LEVEL_MOUNT:
        return &nt_mount_files;
    case NT_LEVEL_DATASET:
        return scope->dataset->failure ? &nt_failed_files : &nt_dataset_files;
    case NT_LEVEL_FIELD:
        return &nt_field_files;
    case NT_LEVEL_COLUMN:
        return &nt_column_files;
    default:
        return &no_files;
    }
}

/* ---- documents that the format gives ---- */

const struct nt_document *nt_scope_documents(const struct nt_scope *scope, uint32_t *count_ret)
{
    *count_ret = 0;
    if (scope->node.level == NT_LEVEL_DATASET && !scope->dataset->failure) {
        *count_ret = scope->dataset->document_count;
        return scope->dataset->documents;
    }
    if (scope->node.level == NT_LEVEL_PLACE && scope->file && scope->node.item == 0) {
        *count_ret = scope->file->document_count;
        return scope->file->documents;
    }
    return NULL;
}

uint64_t nt_document_count(const struct nt_scope *scope, const struct nt_document *document)
{
    return document->count ? document->count(scope->file, scope->dataset) : 1;
}

void nt_document_name(const struct nt_document *document, uint64_t number, struct nt_buffer *name)
{
    nt_buffer_text(name, document->prefix);
    if (document->count)
        nt_buffer_format(name, "%llu%s", (unsigned long long)number, document->suffix);
}

static bool is_text(struct nt_text text, const char *name)
{
    return strlen(name) == text.length && memcmp(name, text.bytes, text.length) == 0;
}

static bool is_document(const struct nt_document *document, struct nt_text name)
{
    uint64_t number;
    if (!document->count)
        return is_text(name, document->prefix);
    return strlen(name.bytes) == name.length &&
           nt_parse_between(name.bytes, document->prefix, document->suffix, &number);
}

bool nt_is_container_file(const struct nt_file *file, struct nt_text name)
{
    for (unsigned row = 0; row < nt_container_files.count; row++)
        if (is_text(name, nt_container_files.rows[row].name))
            return true;
    for (uint32_t i = 0; i < file->document_count; i++)
        if (is_document(&file->documents[i], name))
            return true;
    return false;
}

bool nt_parse_between(const char *name, const char *prefix, const char *suffix, uint64_t *number_ret)
{
    size_t skip = strlen(prefix);
    if (strncmp(name, prefix, skip) != 0)
        return false;
    const char *at = name + skip, *first = at;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return false;
    *number_ret = number;
    bool has_zeros = *first == '0' && at - first > 1;
    return at > first && !has_zeros && strcmp(at, suffix) == 0;
}
