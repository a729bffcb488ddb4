/* SPDX-License-Identifier: MIT
 *
 * A container opened from memory or from disk, for its tests.
 */
#pragma once

#include <string.h>

#include "container/container.h"
#include "support.h"
#include "tfile_writer.h"
#include "core/base/error.h"
#include "core/io/source.h"
#include "core/model/model.h"
#include <ntuple/source.h>

struct opened {
    struct nt_file *file;
    struct nt_container container;
};

static inline enum nt_status open_source(struct opened *opened, struct nt_source *source,
                                         struct nt_error *error)
{
    ck_assert(nt_file_new(source->path, source, &(struct nt_limits){0}, &opened->file, error) == NT_OK);
    enum nt_status status = nt_container_open(opened->file, &opened->container, error);
    if (!status && opened->file->failure)
        status = nt_fail_copy(error, opened->file->failure);
    if (status) {
        nt_file_close(opened->file);
        opened->file = NULL;
    }
    return status;
}

static inline enum nt_status open_bytes(struct opened *opened, const void *bytes, size_t size,
                                        struct nt_error *error)
{
    struct nt_source *source;
    ck_assert(nt_source_open_memory(bytes, size, "test.root", &source, error) == NT_OK);
    return open_source(opened, source, error);
}

static inline enum nt_status open_writer(struct opened *opened, const struct tfile_writer *writer,
                                         struct nt_error *error)
{
    return open_bytes(opened, writer->out.bytes, writer->out.length, error);
}

static inline void opened_close(struct opened *opened)
{
    nt_file_close(opened->file);
    opened->file = NULL;
}

/* The anchor with this name and cycle; fails the test if there is none. */
static inline const struct nt_anchor_object *find_anchor(const struct opened *opened, const char *name,
                                                         uint32_t cycle)
{
    for (uint32_t i = 0; i < opened->container.anchor_count; i++) {
        const struct nt_anchor_object *anchor = &opened->container.anchors[i];
        if (anchor->name.length == strlen(name) && !memcmp(anchor->name.bytes, name, strlen(name)) &&
            anchor->cycle == cycle)
            return anchor;
    }
    ck_abort_msg("no anchor %s;%u", name, cycle);
    return NULL;
}

/* Expects one failure with this status, and a correct anchor of this name. */
static inline void assert_damage_of_other(const struct opened *opened, const char *name,
                                          enum nt_status status)
{
    ck_assert_ptr_null(find_anchor(opened, name, 1)->failure);
    uint32_t failures = 0;
    for (uint32_t i = 0; i < opened->container.anchor_count; i++) {
        const struct nt_anchor_object *anchor = &opened->container.anchors[i];
        if (!anchor->failure)
            continue;
        failures++;
        ck_assert_ptr_null(anchor->bytes);
        ck_assert_msg(anchor->failure->status == status, "%s: %s", nt_status_name(anchor->failure->status),
                      anchor->failure->message);
    }
    ck_assert_uint_eq(failures, 1);
}
