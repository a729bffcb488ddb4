/* SPDX-License-Identifier: MIT
 *
 * A server's listing of a directory. The first byte selects the protocol, and how the listing is cut into
 * pieces. Names and validators from it must be safe in paths and request headers.
 */
#include <stdlib.h>
#include <string.h>

#include "remote/helper/helper.h"
#include "remote/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_word(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            abort();
}

static void check_entry(void *context, const struct nt_listed *entry)
{
    size_t length = strlen(entry->name);
    if (length == 0 || length > NT_FETCH_NAME_BYTES || strchr(entry->name, '/') ||
        strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
        abort();
    if (entry->size > INT64_MAX || strncmp(entry->validator, "W/", 2) == 0)
        abort();
    check_word(entry->validator);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count == 0)
        return 0;
    bool is_s3 = bytes[0] == '#';
    size_t piece = bytes[0] ? bytes[0] : 1;
    struct nt_list_parser *list = nt_list_parser_new(is_s3 ? NT_SERVICE_S3 : NT_SERVICE_HTTP,
                                                     is_s3 ? "a&b/" : "/datasets/", check_entry, NULL);
    if (!list)
        return 0;
    const char *text = (const char *)bytes + 1, *end = (const char *)bytes + count;
    bool is_good = true;
    for (; is_good && (size_t)(end - text) > piece; text += piece)
        is_good = nt_list_parser_feed(list, text, piece, false);
    is_good = is_good && nt_list_parser_feed(list, text, (size_t)(end - text), true);
    if (is_good == (nt_list_parser_problem(list)[0] != '\0'))
        abort();
    const char *token = is_good ? nt_list_parser_token(list) : NULL;
    if (token && strlen(token) >= NT_FOLDER_LIST_TOKEN_BYTES)
        abort();
    nt_list_parser_free(list);
    return 0;
}
