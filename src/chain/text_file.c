/* SPDX-License-Identifier: MIT
 *
 * In: the path of a text. Out: its bytes.
 */
#include "chain/text_file.h"

#include "core/io/source.h"

static enum nt_status read_source(struct nt_source *source, const char *path, const char *what,
                                  int most_bytes, nt_chain_check_text *check, struct nt_buffer *text,
                                  struct nt_error *error)
{
    struct stat attributes;
    enum nt_status status = check ? nt_source_stat(source, &attributes, error) : NT_OK;
    if (status == NT_OK && check)
        status = check(&attributes, path, error);
    if (status != NT_OK)
        return status;
    if (source->size > (uint64_t)most_bytes)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "%s: %s of more than %d bytes", path, what, most_bytes);
    return nt_source_append(source, 0, source->size, text, error);
}

enum nt_status nt_chain_read_text(const char *path, const char *what, int most_bytes,
                                  nt_chain_check_text *check, struct nt_buffer *text, struct nt_error *error)
{
    struct nt_source *source;
    enum nt_status status = nt_source_open_file(path, &source, error);
    if (status != NT_OK)
        return status;
    status = read_source(source, path, what, most_bytes, check, text, error);
    nt_source_close(source);
    return status == NT_OK && text->failed ? nt_fail_memory(error) : status;
}
