/* SPDX-License-Identifier: MIT
 *
 * In: a directory. Out: the sections that it is made of. And the one directory that is no level's: .ntuplefs,
 * at the top of the mount.
 */
#include "vfs/pseudo.h"

#include <string.h>

/* ---- .ntuplefs ---- */

static const struct nt_section *const mount_sections[] = {&nt_section_files, NULL};

const struct nt_pseudo nt_mount_directory = {".ntuplefs", NT_VFS_DIRECTORY, .sections = mount_sections};

static uint64_t mount_node(void)
{
    return nt_node_number(NT_LEVEL_MOUNT, 0, 0, NT_NODE_SELF);
}

static enum nt_status mount_next(const struct nt_scope *directory, uint64_t *index,
                                 struct nt_dir_entry *listed, struct nt_error *error)
{
    if (*index > 0 || directory->number != NT_VFS_ROOT)
        return nt_no_such_file(error);
    listed->node = mount_node();
    listed->class = NT_VFS_DIRECTORY;
    nt_dir_entry_set_name(listed, nt_mount_directory.name);
    return NT_OK;
}

static enum nt_status mount_find(const struct nt_scope *directory, const char *name, uint64_t *node_ret,
                                 struct nt_error *error)
{
    if (directory->number != NT_VFS_ROOT || strcmp(name, nt_mount_directory.name) != 0)
        return nt_no_such_file(error);
    *node_ret = mount_node();
    return NT_OK;
}

static const struct nt_section section_mount = {.next = mount_next, .find = mount_find};

/* ---- which ---- */

#define SECTIONS (const struct nt_section *const[])

static const struct nt_section *const *const sections_of_level[NT_LEVEL_COUNT] = {
    [NT_LEVEL_DATASET] =
        SECTIONS{&nt_section_files, &nt_section_documents, &nt_section_items, &nt_section_fields, NULL},
    [NT_LEVEL_FIELD] = SECTIONS{&nt_section_files, &nt_section_columns, &nt_section_fields, NULL},
    [NT_LEVEL_COLUMN] = SECTIONS{&nt_section_files, NULL},
};

static const struct nt_section *const *const sections_of_place[] = {
    [NT_PLACE_GROUP] = SECTIONS{&section_mount, &nt_section_places, NULL},
    [NT_PLACE_FOLDER] = SECTIONS{&section_mount, &nt_section_places, NULL},
    [NT_PLACE_FILE] =
        SECTIONS{&section_mount, &nt_section_files, &nt_section_documents, &nt_section_items, NULL},
    [NT_PLACE_FAILED] = SECTIONS{&section_mount, &nt_section_files, NULL},
};

static const struct nt_section *const *const sections_of_failed =
    SECTIONS{&nt_section_files, &nt_section_documents, NULL};

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
