/* SPDX-License-Identifier: MIT
 *
 * Names that a data set has for versions: tags and branches.
 */
#ifndef NT_FORMAT_LANCE_DATASET_REFS_H
#define NT_FORMAT_LANCE_DATASET_REFS_H

#include "core/base/arena.h"
#include "formats/lance/dataset/opened.h"

/* Where they are, beneath the data set's folder. */
#define NT_LANCE_TAGS "_refs/tags"
#define NT_LANCE_BRANCHES "_refs/branches"

/* What a tag names. */
struct nt_lance_tag {
    const char *branch; /* "": none, the data set itself */
    uint64_t version;
};

/* Called for each name, in no order; valid during the visit. Anything but NT_OK ends the walk. */
typedef enum nt_status nt_lance_visit_ref(void *context, const char *name, struct nt_error *error);

/* Walk over the names in one of these folders, which need not be there. */
enum nt_status nt_lance_each_ref(struct nt_folder *folder, const char *refs, nt_lance_visit_ref *visit,
                                 void *context, struct nt_error *error);

/* Read a tag. NT_NOT_FOUND where there is none; NT_CORRUPT, with its file's name, where it names nothing that can be a
 * version, or its branch is a path that leads elsewhere. Texts are the arena's. */
enum nt_status nt_lance_read_tag(struct nt_folder *folder, const char *name, struct nt_arena *arena,
                                 struct nt_lance_tag *tag_ret, struct nt_error *error);

/* A list of all tags, or branches: their names, and what their files hold or why that cannot be read. */
enum nt_status nt_lance_put_refs(struct nt_folder *folder, const char *refs, const char *key,
                                 struct nt_json *json, struct nt_error *error);

/* Where a branch lies beneath the data set's folder, "" for none; NULL without memory. */
const char *nt_lance_root_of(struct nt_arena *arena, const char *branch);

enum nt_status nt_lance_has_branch(struct nt_folder *folder, const char *name, bool *has_ret,
                                   struct nt_error *error);

#endif
