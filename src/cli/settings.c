/* SPDX-License-Identifier: MIT */
#include "cli/settings.h"

#include <sched.h>

#define MEMBER(name) offsetof(struct nt_settings, name)
#define CHOICES(...)                                                                                         \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

const struct nt_option nt_tree_options[] = {
    {.name = "format",
     .kind = NT_OPTION_TEXT,
     .member = MEMBER(format),
     .argument = "NAME",
     .help = "read the sources as this format only"},
    {.name = "cachesize",
     .kind = NT_OPTION_SIZE,
     .member = MEMBER(cache_bytes),
     .argument = "SIZE",
     .help = "keep at most so many bytes of decoded pages (with K, M, G; default 256M)"},
    {.name = "threads",
     .kind = NT_OPTION_NUMBER,
     .member = MEMBER(threads),
     .argument = "N",
     .help = "decode on N threads (default: the number of processors)"},
    {.name = "list",
     .kind = NT_OPTION_CHOICE,
     .member = MEMBER(list),
     .argument = "all|sized",
     .choices = CHOICES("all", "sized"),
     .help = "sized: leave files whose size is not known out of listings"},
    {.name = "verify",
     .kind = NT_OPTION_CHOICE,
     .member = MEMBER(verify),
     .argument = "read|open",
     .choices = CHOICES("read", "open"),
     .help = "open: check all pages of a file when it is opened"},
    {.name = "arrow_strings",
     .kind = NT_OPTION_CHOICE,
     .member = MEMBER(arrow_strings),
     .argument = "text|binary",
     .choices = CHOICES("text", "binary"),
     .help = "binary: strings in table.arrow need not be UTF-8"},
    {.name = "trailing",
     .kind = NT_OPTION_CHOICE,
     .member = MEMBER(trailing_bytes),
     .argument = "accept|refuse",
     .choices = CHOICES("accept", "refuse"),
     .help = "refuse: bytes behind the end of a Roaring bitmap are an error"},
    {0},
};

void nt_tree_options_help(FILE *stream)
{
    nt_options_help(stream, nt_tree_options);
    fputs("\nFormats:\n", stream);
    for (const struct nt_format *const *format = nt_formats; *format; format++)
        fprintf(stream, "  %-8s %s\n", (*format)->name, (*format)->description);
}

unsigned nt_processors(void)
{
    cpu_set_t processors;
    int count = sched_getaffinity(0, sizeof(processors), &processors) == 0 ? CPU_COUNT(&processors) : 0;
    return count > 0 ? (unsigned)count : 1;
}

struct nt_vfs_options nt_settings_tree(const struct nt_settings *settings)
{
    return (struct nt_vfs_options){
        .open = {.format = settings->format, .refuse_trailing_bytes = settings->trailing_bytes != 0},
        .cache_bytes = settings->cache_bytes,
        .threads = settings->threads ? settings->threads : nt_processors(),
        .list_sized = settings->list != 0,
        .verify_on_open = settings->verify != 0,
        .arrow_strings_binary = settings->arrow_strings != 0,
    };
}
