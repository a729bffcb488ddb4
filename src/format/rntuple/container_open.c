/* SPDX-License-Identifier: MIT
 *
 * The kinds of containers, tried one after the other.
 */
#include "format/rntuple/container.h"

#include <string.h>

#include "format/format.h"

static const struct nt_container_kind *const kinds[] = {&nt_container_tfile, &nt_container_bare};

static enum nt_status find_kind(struct nt_source *source, const struct nt_container_kind **kind_ret,
                                struct nt_error *error)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        char start[16];
        size_t length = strlen(kinds[i]->magic);
        if (source->size < length)
            continue;
        enum nt_status status = nt_source_read(source, 0, start, length, error);
        if (status)
            return status;
        /* Magic words are words: a text (/etc/passwd) may begin with one, but no container is a text. */
        if (!memcmp(start, kinds[i]->magic, length) && (source->size == length || !nt_is_text_file(source))) {
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
