/* SPDX-License-Identifier: MIT
 *
 * Completions of the last word of a command line, over commands of the test: operands, values of options,
 * and items of lists.
 */
#include "cli/cli.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "core/base/memory.h"

static const char *const colors[] = {"red", "green", NULL};

static void each_animal(nt_option_value *take, void *context)
{
    take(context, "dog", "barks");
    take(context, "dove", "coos");
}

static const struct nt_option paint_options[] = {
    {.letter = 'c',
     .name = "color",
     .kind = NT_OPTION_CHOICE,
     .argument = "red|green",
     .choices = colors,
     .help = "color"},
    {.name = "colorless",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, quiet),
     .help = "none"},
    {.name = "animal",
     .kind = NT_OPTION_TEXT,
     .member = offsetof(struct nt_settings, sort),
     .argument = "ANIMAL",
     .each_value = each_animal,
     .help = "what"},
    {0},
};
static const struct nt_command paint = {
    .name = "paint", .operands = "FILE [PATH] DESTINATION", .help = "a picture", .options = paint_options};
static const struct nt_command look = {.name = "look", .operands = "FILE PATH...", .help = "at it"};
static const struct nt_command part = {.name = "part", .operands = "[COMMAND]", .help = "of it"};
static const struct nt_command compare = {
    .name = "compare", .operands = "A B [PATH [PATH_IN_B]]", .help = "two"};
static const struct nt_command *const commands[] = {&paint, &look, &part, &compare};
static const struct nt_option common_options[] = {
    {.letter = 'q',
     .name = "quiet",
     .kind = NT_OPTION_FLAG,
     .member = offsetof(struct nt_settings, quiet),
     .help = "hush"},
    {0},
};

/* Words separated by one blank, "@" for the example; the expected output, "|" for ends of lines. */
static const struct line {
    const char *words, *expected;
} lines[] = {
    {"ntuple pa", "paint\ta picture|part\tof it|"},
    {"ntuple -", "--quiet\thush|"},
    {"ntuple -q pai", "paint\ta picture|"},
    {"ntuple dance ", ""},
    {"ntuple part l", "look\tat it|"},
    {"ntuple part look ", ""},
    {"ntuple paint --col", "--color=\tcolor|--colorless\tnone|"},
    {"ntuple paint --color=g", "--color=green\t|"},
    {"ntuple paint --color g", "green\t|"},
    {"ntuple paint -qc g", "green\t|"},
    {"ntuple paint -cg", "-cgreen\t|"},
    {"ntuple paint --color=blue x ", ""},
    {"ntuple paint --animal=d", "--animal=dog\tbarks|--animal=dove\tcoos|"},
    {"ntuple paint --colorless=r", ""},
    {"ntuple paint ", "\tfiles|"},
    {"ntuple paint --color=red ", "\tfiles|"},
    {"ntuple paint @ Events/mu", "\tpaths|Events/muon_pt/\t|Events/muons/\t|\tfiles|"},
    {"ntuple paint @ Events x", "\tfiles|"},
    {"ntuple paint @ Events x y", ""},
    {"ntuple look --format=rntuple @ -q Events Events/weight/data.n", "\tpaths|Events/weight/data.npy\t|"},
    {"ntuple look --format=blz @ Ev", "\tpaths|"},
    {"ntuple look @ nothing/Ev", "\tpaths|"},
    {"ntuple compare nothing ", "\tfiles|"},
    {"ntuple compare @ nothing Ev", "\tpaths|Events/\t|"},
    {"ntuple compare nothing @ x Ev", "\tpaths|Events/\t|"},
    {"ntuplefs ", "\tfiles|"},
    {"/usr/bin/ntuplefs a b c ", "\tfiles|"},
    {"ntuplefs -o broken=s", "broken=show\t|"},
    {"ntuplefs -o ro,text=a\\,b,list=s", "ro,text=a\\,b,list=sized\t|"},
    {"ntuplefs -oro,direct_io=o", "-oro,direct_io=on\t|-oro,direct_io=off\t|"},
    {"ntuplefs -o foregr", ""},
    {"ntuplefs -o ro,chain=", "ro,chain=check\t|ro,chain=union\t|"},
    {"ntuplefs --chain=u", "--chain=union\t|"},
    {"ntuple look --chain=", "--chain=check\t|--chain=union\t|"},
    {"ntuple look --chain @ Ev", "\tpaths|Events/\t|"},
    {"ntuplefs -o sparkling=", ""},
    {"ntuplefs -o x-a=", ""},
};

enum { PRINTED = 1000 };

static size_t split(char *text, const char *example, char **words, size_t most)
{
    size_t count = 0;
    for (char *word; count < most && (word = strsep(&text, " "));)
        words[count++] = strcmp(word, "@") == 0 ? (char *)example : word;
    return count;
}

/* Completion enters the sandbox, where the test library cannot measure time. So it runs in a process of its
 * own. Puts the printed lines into `text`. */
static void complete(const struct nt_complete_tables *tables, char **words, size_t count, char text[PRINTED])
{
    int status;
    FILE *out = tmpfile();
    ck_assert(out != NULL);
    pid_t process = fork();
    if (process == 0) {
        struct nt_arena *arena = nt_arena_new();
        nt_complete(out, tables, words, (int)count, arena);
        _exit(fclose(out) != 0);
    }
    ck_assert_int_eq(waitpid(process, &status, 0), process);
    ck_assert_int_eq(status, 0);
    rewind(out);
    text[fread(text, 1, PRINTED - 1, out)] = '\0';
    fclose(out);
}

TEST(a_line_has_these_words, .end = sizeof(lines) / sizeof(*lines))
{
    const struct nt_complete_tables tables = {commands, sizeof(commands) / sizeof(*commands), common_options};
    const struct line *line = &lines[_i];
    char typed[100], example[1000], *words[10], found[PRINTED];
    snprintf(typed, sizeof(typed), "%s", line->words);
    snprintf(example, sizeof(example), "%s/example.root", getenv("NTUPLE_TEST_DATA"));
    size_t count = split(typed, example, words, sizeof(words) / sizeof(*words));
    complete(&tables, words, count, found);
    for (char *at = found; (at = strchr(at, '\n'));)
        *at = '|';
    ck_assert_msg(strcmp(found, line->expected) == 0, "\"%s\": \"%s\" instead of \"%s\"", line->words, found,
                  line->expected);
}

TEST(a_program_alone_has_no_word_to_complete)
{
    const struct nt_complete_tables tables = {commands, 1, common_options};
    char *words[] = {(char *)"ntuple"}, found[PRINTED];
    complete(&tables, words, 1, found);
    ck_assert_str_eq(found, "");
}
