/* SPDX-License-Identifier: MIT
 *
 * The option parser, over a table with every kind of option: syntax, units, escapes, and messages about
 * mistakes.
 */
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

#include "support.h"
#include "core/base/memory.h"

struct settings {
    bool flag, other, is_dark;
    const char *text, *other_text, *file, *animal;
    const char *const *texts, *const *folders, *const *named;
    uint64_t size;
    unsigned count, choice, few;
    struct nt_buffer passed;
    struct nt_id id;
};

#define MEMBER(name) offsetof(struct settings, name)

static const char *const colors[] = {"red", "green", NULL};
static const char *const shades[] = {"light", "dark", NULL};

static const char *const accepted[] = {"dev", "user", "x-*", NULL};

static void each_animal(nt_option_value *take, void *context)
{
    take(context, "dog", "barks");
    take(context, "dove", "coos");
}

static bool is_animal(const char *name)
{
    return strcmp(name, "dog") == 0 || strcmp(name, "dove") == 0;
}

static bool begins_with_letter(const char *text)
{
    return *text >= 'a' && *text <= 'z';
}

static const struct nt_option first_table[] = {
    {'f', "flag", NT_OPTION_FLAG, MEMBER(flag), .help = "a flag"},
    {'o', "options", NT_OPTION_LIST, .argument = "LIST", .help = "a list"},
    {.name = "few",
     .kind = NT_OPTION_NUMBER,
     .member = MEMBER(few),
     .argument = "N",
     .most = 3,
     .help = "few"},
    {'n', "count", NT_OPTION_NUMBER, MEMBER(count), "N", .help = "a number"},
    {0},
};

static const struct nt_option second_table[] = {
    {.name = "other", .kind = NT_OPTION_FLAG, .member = MEMBER(other), .help = "another flag"},
    {.name = "text", .kind = NT_OPTION_TEXT, .member = MEMBER(text), .argument = "TEXT", .help = "a text"},
    {.name = "animal",
     .kind = NT_OPTION_TEXT,
     .member = MEMBER(animal),
     .argument = "ANIMAL",
     .each_value = each_animal,
     .is_value = is_animal,
     .help = "an animal"},
    {.name = "texts",
     .kind = NT_OPTION_TEXTS,
     .member = MEMBER(texts),
     .argument = "TEXT",
     .is_value = begins_with_letter,
     .expected = "TEXT with a letter in front",
     .help = "texts"},
    {.name = "folder",
     .kind = NT_OPTION_FOLDERS,
     .member = MEMBER(folders),
     .argument = "DIRECTORY",
     .help = "a directory"},
    {.name = "named",
     .kind = NT_OPTION_NAMED_FILES,
     .member = MEMBER(named),
     .argument = "[NAME:]FILE",
     .help = "a file"},
    {.name = "file",
     .kind = NT_OPTION_FILE,
     .member = MEMBER(file),
     .argument = "FILE",
     .help = "a new file"},
    {.name = "size", .kind = NT_OPTION_SIZE, .member = MEMBER(size), .argument = "SIZE", .help = "a size"},
    {.name = "color",
     .kind = NT_OPTION_CHOICE,
     .member = MEMBER(choice),
     .argument = "red|green",
     .choices = colors,
     .help = "a color"},
    {.name = "shade",
     .kind = NT_OPTION_EITHER,
     .member = MEMBER(is_dark),
     .argument = "light|dark",
     .choices = shades,
     .help = "a shade"},
    {.name = "pass", .kind = NT_OPTION_PASS, .member = MEMBER(passed), .passed = "a,b", .help = "passed on"},
    {.name = "label",
     .kind = NT_OPTION_PASS,
     .member = MEMBER(passed),
     .argument = "LABEL",
     .passed = "label=",
     .help = "passed on with its value"},
    {.name = "mask", .kind = NT_OPTION_REFUSED, .argument = "MASK", .help = "refused: there is none"},
    {.name = "other",
     .kind = NT_OPTION_TEXT,
     .member = MEMBER(other_text),
     .argument = "N",
     .help = "its text"},
    {.name = "ignored", .kind = NT_OPTION_PASS, .member = MEMBER(passed), .help = "not passed on"},
    {.name = "id", .kind = NT_OPTION_ID, .member = MEMBER(id), .argument = "NUMBER", .help = "a user"},
    {.name = "again", .kind = NT_OPTION_REFUSED, .help = "refused: begin anew"},
    {.name = "", .kind = NT_OPTION_IGNORED, .choices = accepted, .help = "Accepted:"},
    {0},
};

static const struct nt_option *const tables[] = {first_table, second_table, NULL};

enum { MAX_WORDS = 12 };

static struct settings settings;
static struct nt_arena *arena;
static struct nt_error error;
static char *words[MAX_WORDS];
static int word_count, first_operand;

static void set_up(void)
{
    memset(&settings, 0, sizeof(settings));
    arena = nt_arena_new();
}

static void tear_down(void)
{
    nt_buffer_deinit(&settings.passed);
    nt_arena_free(arena);
}

static void start_again(void)
{
    tear_down();
    set_up();
}

/* Parses a NULL-terminated list of words that follow the program's name. */
static enum nt_status parse(bool in_front_only, const char *const *arguments)
{
    word_count = 0;
    words[word_count++] = (char *)"program";
    while (*arguments && word_count < MAX_WORDS)
        words[word_count++] = (char *)*arguments++;
    return nt_options_parse(tables, in_front_only, word_count, words, &settings, arena, &first_operand,
                            &error);
}

#define PARSE(...) parse(false, (const char *const[]){__VA_ARGS__, NULL})

TEST(short_long_and_listed_options_are_the_same, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-f", "-n", "3", "--size=2K"));
    ck_assert(settings.flag && settings.count == 3 && settings.size == 2048);
    start_again();
    assert_ok(PARSE("--flag", "--count", "3", "--size", "2K"));
    ck_assert(settings.flag && settings.count == 3 && settings.size == 2048);
    start_again();
    assert_ok(PARSE("-o", "flag,count=3,size=2K"));
    ck_assert(settings.flag && settings.count == 3 && settings.size == 2048);
}

TEST(two_options_have_one_name_where_one_takes_a_value, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("--other", "7"));
    ck_assert(settings.other && !settings.other_text);
    ck_assert_str_eq(words[first_operand], "7");
    start_again();
    assert_ok(PARSE("--other=7"));
    ck_assert(!settings.other && settings.other_text);
    ck_assert_str_eq(settings.other_text, "7");
    start_again();
    assert_ok(PARSE("-o", "other=8,flag"));
    ck_assert(!settings.other && settings.flag);
    ck_assert_str_eq(settings.other_text, "8");
    start_again();
    assert_ok(PARSE("-o", "flag,other"));
    ck_assert(settings.other && !settings.other_text);
}

TEST(operands_may_be_before_options, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("one", "-f", "two", "-o", "other"));
    ck_assert(settings.flag && settings.other);
    ck_assert_int_eq(word_count - first_operand, 2);
    ck_assert_str_eq(words[first_operand], "one");
    ck_assert_str_eq(words[first_operand + 1], "two");
}

TEST(options_after_a_command_can_be_left_alone, .setup = set_up, .teardown = tear_down)
{
    assert_ok(parse(true, (const char *const[]){"-f", "command", "--unknown", NULL}));
    ck_assert(settings.flag);
    ck_assert_str_eq(words[first_operand], "command");
}

TEST(operands_after_two_dashes_are_no_options, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("--", "-f"));
    ck_assert(!settings.flag);
    ck_assert_str_eq(words[first_operand], "-f");
}

TEST(backslashes_escape_commas_in_lists, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-o", "text=a\\,b\\\\c=d,other,,"));
    ck_assert_str_eq(settings.text, "a,b\\c=d");
    ck_assert(settings.other);
}

TEST(passed_options_are_joined, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-o", "pass,ignored", "--pass"));
    ck_assert_str_eq(settings.passed.bytes, "a,b,a,b");
}

TEST(passed_options_keep_their_values, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-o", "pass,label=s0:c1\\,c2", "--label=a\\b"));
    ck_assert_str_eq(settings.passed.bytes, "a,b,label=s0:c1\\,c2,label=a\\\\b");
    assert_status(NT_INVALID, PARSE("-o", "label"));
}

TEST(a_refused_option_may_have_a_value, .setup = set_up, .teardown = tear_down)
{
    assert_status(NT_INVALID, PARSE("-o", "mask=022"));
    ck_assert_str_eq(error.message, "option \"mask\" is refused: there is none");
}

TEST(accepted_names_are_in_lists_only_with_a_value_or_without, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-o", "dev,user,user=me,x-,x-any.thing=1,size=1"));
    ck_assert_uint_eq(settings.size, 1);
    assert_status(NT_INVALID, PARSE("-o", "devil"));
    assert_status(NT_INVALID, PARSE("-o", "x"));
    assert_status(NT_INVALID, PARSE("--dev"));
    assert_status(NT_INVALID, PARSE("--=1"));
}

TEST(the_number_of_a_user_may_be_0, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-o", "id=0"));
    ck_assert(settings.id.is_given && settings.id.number == 0);
    assert_ok(PARSE("--id=4294967294"));
    ck_assert_uint_eq(settings.id.number, 4294967294);
    assert_status(NT_INVALID, PARSE("--id=4294967295"));
    assert_status(NT_INVALID, PARSE("--id=root"));
}

TEST(directories_are_absolute_and_one_more_each_time, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-o", "folder=/usr/..,other", "--folder=/proc/self/../"));
    ck_assert_str_eq(settings.folders[0], "/");
    ck_assert_str_eq(settings.folders[1], "/proc");
    ck_assert_ptr_null(settings.folders[2]);
    struct nt_buffer text = {0};
    nt_options_append_given(&text, second_table, &settings);
    ck_assert_str_eq(text.bytes, "other, folder=/, folder=/proc");
    nt_buffer_deinit(&text);
    assert_status(NT_NOT_FOUND, PARSE("--folder=/nonexistent"));
    ck_assert_ptr_nonnull(strstr(error.message, "option \"folder\": /nonexistent"));
    assert_status(NT_INVALID, PARSE("--folder=/proc/self/stat"));
    ck_assert_ptr_nonnull(strstr(error.message, "not a directory"));
}

TEST(paths_of_files_are_absolute_after_their_names, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-o", "named=/usr/../proc/self/../version", "--named=a b:/proc/version",
                    "--named=:/proc/version"));
    ck_assert_str_eq(settings.named[0], ":/proc/version");
    ck_assert_str_eq(settings.named[1], "a b:/proc/version");
    ck_assert_str_eq(settings.named[2], ":/proc/version");
    ck_assert_ptr_null(settings.named[3]);
    struct nt_buffer text = {0};
    nt_options_append_given(&text, second_table, &settings);
    ck_assert_str_eq(text.bytes, "named=:/proc/version, named=a b:/proc/version, named=:/proc/version");
    nt_buffer_deinit(&text);
    assert_status(NT_NOT_FOUND, PARSE("--named=a:/nonexistent"));
    ck_assert_ptr_nonnull(strstr(error.message, "option \"named\": /nonexistent"));
}

TEST(a_file_need_not_be_there_but_its_folder, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("-o", "file=/proc/self/../new"));
    ck_assert_str_eq(settings.file, "/proc/new");
    assert_ok(PARSE("--file=/new"));
    ck_assert_str_eq(settings.file, "/new");
    ck_assert_int_eq(chdir("/proc"), 0);
    assert_ok(PARSE("--file=new"));
    ck_assert_str_eq(settings.file, "/proc/new");
    struct nt_buffer text = {0};
    nt_options_append_given(&text, second_table, &settings);
    ck_assert_str_eq(text.bytes, "file=/proc/new");
    nt_buffer_deinit(&text);
    assert_status(NT_NOT_FOUND, PARSE("--file=/nonexistent/new"));
    ck_assert_ptr_nonnull(strstr(error.message, "option \"file\": /nonexistent/new"));
    assert_status(NT_INVALID, PARSE("--file=/proc/"));
}

TEST(what_was_given_can_be_reported, .setup = set_up, .teardown = tear_down)
{
    struct nt_buffer text = {0};
    nt_options_append_given(&text, second_table, &settings);
    ck_assert_uint_eq(text.length, 0);
    assert_ok(
        PARSE("-f", "-o", "dev,size=2K,color=green,shade=dark,id=0", "--text=a b", "-n", "7", "--pass"));
    nt_options_append_given(&text, first_table, &settings);
    nt_options_append_given(&text, second_table, &settings);
    ck_assert_str_eq(text.bytes, "flag, count=7, text=a b, size=2048, color=green, shade=dark, id=0");
    nt_buffer_deinit(&text);
}

TEST(texts_of_a_list_are_one_more_each_time, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("--texts=one", "-o", "texts=two,other", "--animal=dove"));
    ck_assert_str_eq(settings.texts[0], "one");
    ck_assert_str_eq(settings.texts[1], "two");
    ck_assert_ptr_null(settings.texts[2]);
    ck_assert_str_eq(settings.animal, "dove");
    struct nt_buffer text = {0};
    nt_options_append_given(&text, second_table, &settings);
    ck_assert_str_eq(text.bytes, "other, animal=dove, texts=one, texts=two");
    nt_buffer_deinit(&text);
}

TEST(the_last_of_several_values_wins, .setup = set_up, .teardown = tear_down)
{
    assert_ok(PARSE("--shade=dark"));
    ck_assert(settings.is_dark);
    assert_ok(PARSE("--color=green", "-o", "color=red,size=1,size=3,shade=light"));
    ck_assert(!settings.is_dark);
    ck_assert_uint_eq(settings.choice, 0);
    ck_assert_uint_eq(settings.size, 3);
}

static const struct {
    const char *text;
    uint64_t bytes;
} sizes[] = {{"0", 0},
             {"1", 1},
             {"4k", 4096},
             {"3M", 3145728},
             {"2G", 2ull << 30},
             {"16T", 16ull << 40},
             {"18446744073709551615", UINT64_MAX}};

TEST(sizes_have_units, .setup = set_up, .teardown = tear_down, .end = sizeof(sizes) / sizeof(*sizes))
{
    assert_ok(PARSE("--size", sizes[_i].text));
    ck_assert_uint_eq(settings.size, sizes[_i].bytes);
}

static const struct {
    const char *words[3];
    const char *named; /* expected in the message */
} refused[] = {
    {{"--size=", NULL}, "\"\""},
    {{"--size=-1", NULL}, "\"-1\""},
    {{"--size= 1", NULL}, "\" 1\""},
    {{"--size=1X", NULL}, "\"1X\""},
    {{"--size=1KK", NULL}, "\"1KK\""},
    {{"--size=1.5G", NULL}, "\"size\": expected a whole number of bytes, or with a suffix K, M, G or T"},
    {{"--id=root", NULL}, "\"id\": expected a number from 0 to 4294967294"},
    {{"--text=", NULL}, "\"\" is not a value of option \"text\": expected TEXT"},
    {{"--animal=cat", NULL}, "\"cat\" is not a value of option \"animal\": expected dog, dove"},
    {{"--texts=1", NULL}, "\"1\" is not a value of option \"texts\": expected TEXT with a letter in front"},
    {{"--texts=", NULL}, "\"\" is not a value of option \"texts\""},
    {{"--size=18446744073709551616", NULL}, "18446744073709551616"},
    {{"--size=18014398509481984K", NULL}, "18014398509481984K"},
    {{"--count=0", NULL}, "\"count\""},
    {{"--count=2147483648", NULL}, "\"count\""},
    {{"--count=3x", NULL}, "\"count\""},
    {{"--few=4", NULL}, "from 1 to 3"},
    {{"--color=blue", NULL}, "red|green"},
    {{"--color=re", NULL}, "red|green"},
    {{"--shade=grey", NULL}, "light|dark"},
    {{"--shade=", NULL}, "light|dark"},
    {{"-n", NULL}, "\"-n\""},
    {{"--text", NULL}, "\"--text\""},
    {{"-x", NULL}, "\"-x\""},
    {{"-fx", NULL}, "\"-x\""},
    {{"--unknown", NULL}, "\"--unknown\""},
    {{"-o", "unknown", NULL}, "\"unknown\""},
    {{"-o", "unknown=1", NULL}, "\"unknown\""},
    {{"-o", "flag=1", NULL}, "\"flag\" takes no value"},
    {{"--flag=1", NULL}, "\"flag\" takes no value"},
    {{"--pass=", NULL}, "\"pass\" takes no value"},
    {{"-o", "text", NULL}, "\"text\""},
    {{"-o", "again", NULL}, "option \"again\" is refused: begin anew"},
    {{"-o", "options=flag", NULL}, "\"options\""},
    {{"-o", "fla", NULL}, "\"fla\""},
};

TEST(what_is_wrong_is_named, .setup = set_up, .teardown = tear_down,
     .end = sizeof(refused) / sizeof(*refused))
{
    assert_status(NT_INVALID, parse(false, refused[_i].words));
    ck_assert_msg(strstr(error.message, refused[_i].named) != NULL, "%s", error.message);
}

TEST(a_letter_that_another_table_has_is_not_reported_twice, .setup = set_up, .teardown = tear_down)
{
    static const struct nt_option own[] = {{'f', "fast", NT_OPTION_FLAG, MEMBER(other), .help = "fast"}, {0}};
    char text[4096] = "";
    FILE *stream = fmemopen(text, sizeof(text), "w");
    nt_options_help(stream, own, NULL);
    nt_options_help(stream, first_table, own);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "  -f, --fast "));
    ck_assert_ptr_nonnull(strstr(text, "      --flag "));
    ck_assert_ptr_nonnull(strstr(text, "  -n, --count=N "));
}

TEST(help_has_a_line_for_each_option, .setup = set_up, .teardown = tear_down)
{
    char text[4096] = "";
    FILE *stream = fmemopen(text, sizeof(text), "w");
    nt_options_help(stream, first_table, NULL);
    nt_options_help(stream, second_table, NULL);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "  -f, --flag "));
    ck_assert_ptr_nonnull(strstr(text, "  -n, --count=N "));
    ck_assert_ptr_nonnull(strstr(text, "      --color=red|green "));
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_ptr_nonnull(strstr(text, "Accepted:\n  dev, user, x-*\n"));
    ck_assert_uint_eq(lines, 21);
}
