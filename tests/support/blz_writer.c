/* SPDX-License-Identifier: MIT
 *
 * Writes files below the root of a test directory.
 */
#include "blz_writer.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bloscpack_writer.h"
#include "save_bytes.h"

char root[64];

void put_file(const char *name, const void *bytes, size_t count)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0755);
    }
    save_file(bytes, count, path);
}

void put_text(const char *name, const char *text)
{
    put_file(name, text, strlen(text));
}

void put_metadata(const char *array, const char *dtype, const char *shape, unsigned chunk_rows)
{
    char name[256], text[1024];
    snprintf(name, sizeof(name), "%s/meta/sizes", array);
    snprintf(text, sizeof(text), "{\"shape\": %s, \"nbytes\": 0, \"cbytes\": 0}", shape);
    put_text(name, text);
    snprintf(name, sizeof(name), "%s/meta/storage", array);
    snprintf(text, sizeof(text), "{\"dtype\": \"%s\", \"bparams\": {}, \"chunklen\": %u, \"dflt\": NaN}",
             dtype, chunk_rows);
    put_text(name, text);
}

void put_chunk(const char *array, unsigned number, const void *bytes, size_t count, unsigned type_bytes)
{
    struct nt_buffer out = {0};
    char name[256];
    bloscpack_write(&out,
                    &(struct bloscpack_options){.version = 1, .type_bytes = type_bytes, .chunk_bytes = count},
                    bytes, count, NULL);
    snprintf(name, sizeof(name), "%s/data/__%u.blp", array, number);
    put_file(name, out.bytes, out.length);
    nt_buffer_deinit(&out);
}
