/* SPDX-License-Identifier: MIT
 *
 * In: lines of /proc/self/mountinfo, e.g.
 *     36 35 98:0 /root /mnt\040point rw,noatime master:1 - fuse.ntuplefs /a.root rw,user_id=0
 * Out: device and type of the last line for a mountpoint (later mounts lie on top of earlier ones).
 */
#include "fuse/mountinfo.h"

#include <stdlib.h>
#include <string.h>

static bool is_octal(char digit)
{
    return digit >= '0' && digit <= '7';
}

/* Space, tab, newline and backslash stand in the table as \ooo. In place. */
static void unescape(char *text)
{
    char *out = text;
    while (*text) {
        if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) && is_octal(text[3])) {
            *out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
            text += 4;
        } else {
            *out++ = *text++;
        }
    }
    *out = '\0';
}

/* Take a line apart (it is modified): false where it is not for `mountpoint`. */
static bool parse_line(char *line, const char *mountpoint, struct nt_mountinfo *info)
{
    enum { DEVICE = 2, MOUNTPOINT = 4, FIRST_OPTIONAL = 6 };
    unsigned major = 0, minor = 0;
    char *rest = line, *word;
    for (int number = 0; (word = strsep(&rest, " \n")); number++) {
        if (number == DEVICE && sscanf(word, "%u:%u", &major, &minor) != 2)
            return false;
        if (number == MOUNTPOINT) {
            unescape(word);
            if (strcmp(word, mountpoint) != 0)
                return false;
        }
        if (number >= FIRST_OPTIONAL && strcmp(word, "-") == 0)
            break;
    }
    char *type = strsep(&rest, " \n");
    if (!type)
        return false;
    info->major = major;
    info->minor = minor;
    snprintf(info->type, sizeof(info->type), "%s", type);
    return true;
}

bool nt_mountinfo_find(FILE *stream, const char *mountpoint, struct nt_mountinfo *info)
{
    bool found = false;
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stream) > 0)
        found |= parse_line(line, mountpoint, info);
    free(line);
    return found;
}

bool nt_mountinfo_get(const char *mountpoint, struct nt_mountinfo *info)
{
    FILE *stream = fopen("/proc/self/mountinfo", "re");
    if (!stream)
        return false;
    bool found = nt_mountinfo_find(stream, mountpoint, info);
    fclose(stream);
    return found;
}
