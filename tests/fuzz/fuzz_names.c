/* SPDX-License-Identifier: MIT
 *
 * Names of siblings, one per line. Each gets a unique name that a directory can have.
 */
#include <stdlib.h>
#include <string.h>

#include "vfs/inode.h"
#include "core/model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

struct lines {
    struct nt_text *lines;
    uint32_t count;
};

static void ask(const void *context, uint32_t item, struct nt_name_request *wish)
{
    const struct lines *lines = context;
    *wish = (struct nt_name_request){.text = lines->lines[item], .rule = NT_NAME_FIELD, .prefix = ""};
}

static void check_names(const struct nt_names *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *name = nt_names_get(names, i);
        size_t length = strlen(name);
        if (length == 0 || length > 255 || strchr(name, '/') || nt_names_find(names, 0, name) != i)
            abort();
    }
}

/* Texts of the model end with a NUL. */
static void split(char *text, size_t count, struct lines *lines)
{
    for (size_t at = 0, end; at <= count; at = end + 1) {
        for (end = at; end < count && text[end] != '\n'; end++) {
            /* to the end of the line */
        }
        text[end] = '\0';
        lines->lines[lines->count++] = (struct nt_text){text + at, end - at};
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct lines lines = {calloc(count + 1, sizeof(*lines.lines)), 0};
    char *text = malloc(count + 1);
    struct nt_names *names;
    if (lines.lines && text) {
        memcpy(text, bytes, count);
        split(text, count, &lines);
        if (nt_names_build(lines.count, ask, &lines, &names, NULL) == NT_OK) {
            check_names(names, lines.count);
            nt_names_free(names);
        }
    }
    free(lines.lines);
    free(text);
    return 0;
}
