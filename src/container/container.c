/* SPDX-License-Identifier: MIT
 *
 * What the descriptions of all containers have in common.
 */
#include "container/container.h"

#include <stdio.h>

void nt_container_describe_root_version(struct nt_json *json, uint32_t version)
{
    char text[32];
    version %= 1000000; /* the mark of a big file */
    snprintf(text, sizeof(text), "%u.%02u.%02u", version / 10000, version / 100 % 100, version % 100);
    nt_json_member_string(json, "root_version", text);
}

void nt_container_describe_compression(struct nt_json *json, uint32_t setting)
{
    /* ROOT's numbers of them; 0 leaves the choice to the writer. */
    static const enum nt_algorithm algorithms[] = {NT_ALGORITHM_UNKNOWN, NT_ALGORITHM_ZLIB,
                                                   NT_ALGORITHM_LZMA,    NT_ALGORITHM_OLD_ZLIB,
                                                   NT_ALGORITHM_LZ4,     NT_ALGORITHM_ZSTD};
    uint32_t algorithm = setting / 100;
    bool is_known = algorithm < sizeof(algorithms) / sizeof(*algorithms);
    nt_json_key(json, "compression");
    nt_json_object(json);
    nt_json_member_unsigned(json, "setting", setting);
    nt_json_member_string(json, "algorithm",
                          setting % 100 == 0 ? nt_algorithm_name(NT_ALGORITHM_NONE)
                          : algorithm == 0   ? "default"
                          : is_known         ? nt_algorithm_name(algorithms[algorithm])
                                             : NULL);
    nt_json_member_unsigned(json, "level", setting % 100);
    nt_json_end_object(json);
}
