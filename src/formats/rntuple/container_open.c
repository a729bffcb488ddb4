/* SPDX-License-Identifier: MIT
 *
 * The kinds of containers, tried one after the other.
 */
#include "container/container.h"

#include <string.h>

#include "formats/format.h"

static const struct nt_container_kind *const kinds[] = {&nt_container_tfile, &nt_container_bare,
                                                        &nt_container_store};

/* Magic words are words: a text (/etc/passwd) may begin with one. */
static enum nt_status is_of_kind(struct nt_source *source, const struct nt_container_kind *kind, bool *is_ret,
                                 struct nt_error *error)
{
    enum { START_BYTES = 4096 };
    char start[START_BYTES];
    size_t length = strlen(kind->magic),
           count = source->size < sizeof(start) ? (size_t)source->size : sizeof(start);
    *is_ret = false;
    if (source->size < length)
        return NT_OK;
    enum nt_status status = nt_source_read(source, 0, start, length, error);
    if (status != NT_OK || memcmp(start, kind->magic, length) != 0)
        return status;
    bool is_text = source->size > length && nt_is_text_file(source);
    *is_ret = is_text == (kind->text_mark != NULL);
    if (!is_text || !kind->text_mark)
        return NT_OK;
    status = nt_source_read(source, 0, start, count, error);
    *is_ret = status == NT_OK && memmem(start, count, kind->text_mark, strlen(kind->text_mark));
    return status;
}

static enum nt_status find_kind(struct nt_source *source, const struct nt_container_kind **kind_ret,
                                struct nt_error *error)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        bool is_kind;
        enum nt_status status = is_of_kind(source, kinds[i], &is_kind, error);
        if (status != NT_OK)
            return status;
        if (is_kind) {
            *kind_ret = kinds[i];
            return NT_OK;
        }
    }
    return nt_fail(error, NT_NOT_THIS_FORMAT, NT_NO_OFFSET, "neither a ROOT file nor a bare RNTuple file");
}

enum nt_status nt_container_open(struct nt_file *file, struct nt_container *container, struct nt_error *error)
{
    const struct nt_container_kind *kind = NULL;
    enum nt_status status = find_kind(file->source, &kind, error);
    if (status)
        return status;
    *container = (struct nt_container){.kind = kind};
    status = kind->open(file, container, error);
    if (status)
        return status;
    file->format_data = container;
    file->describe = kind->describe;
    file->layout = kind->layout;
    file->documents = kind->documents;
    file->document_count = kind->document_count;
    return NT_OK;
}
