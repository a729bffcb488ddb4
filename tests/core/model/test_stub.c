/* SPDX-License-Identifier: MIT
 *
 * The file of a stub is built once, on first use, and is closed with the stub.
 */
#include "builder.h"

static struct nt_error error;
static int closed, completions, reported, waited;
static enum nt_status next_completion;

static void count_close(struct nt_source *source)
{
    closed++;
}

static const struct nt_source_ops source_ops = {.close = count_close};
static struct nt_source source = {.ops = &source_ops, .path = "outline"};

static struct nt_file *new_file(void)
{
    static const struct nt_limits derived;
    struct nt_file *file;
    assert_ok(nt_file_new("/outline", &source, &derived, &file, &error));
    return file;
}

static enum nt_status complete(struct nt_file *stub, struct nt_file **file_ret, struct nt_error *failure)
{
    completions++;
    if (next_completion != NT_OK)
        return nt_fail(failure, next_completion, NT_NO_OFFSET, "the second file");
    *file_ret = new_file();
    nt_file_set_stub(*file_ret, stub);
    return NT_OK;
}

static void count_failure(void *context, const struct nt_dataset *dataset, uint32_t group,
                          const struct nt_error *failure)
{
    reported++;
}

static void count_wait(void *context)
{
    ck_assert_ptr_eq(context, &reported);
    waited++;
}

static struct nt_file *new_stub(void)
{
    struct nt_file *file = new_file();
    file->resolve = complete;
    file->on_group_failure = count_failure;
    file->before_blocking = count_wait;
    file->context = &reported;
    closed = completions = reported = waited = 0;
    next_completion = NT_OK;
    return file;
}

TEST(a_file_that_is_no_stub_resolves_to_itself)
{
    struct nt_file *file = new_file(), *found = NULL;
    ck_assert(nt_file_is_resolved(file));
    ck_assert_ptr_eq(file->stub, file);
    assert_ok(nt_file_resolve(file, &found, &error));
    ck_assert_ptr_eq(found, file);
    nt_file_close(file);
}

TEST(a_stub_is_resolved_once_on_first_use)
{
    struct nt_file *stub = new_stub(), *file = NULL, *again = NULL;
    ck_assert(!nt_file_is_resolved(stub));
    ck_assert_int_eq(completions, 0);
    assert_ok(nt_file_resolve(stub, &file, &error));
    assert_ok(nt_file_resolve(stub, &again, NULL));
    ck_assert(nt_file_is_resolved(stub));
    ck_assert_int_eq(completions, 1);
    ck_assert_int_eq(waited, 1); /* a second caller does not wait */
    ck_assert_ptr_ne(file, stub);
    ck_assert_ptr_eq(file, again);
    ck_assert_ptr_eq(file->stub, stub);
    nt_file_close(stub);
    ck_assert_int_eq(closed, 2);
}

TEST(a_caller_with_the_stub_gets_the_file)
{
    struct nt_file *stub = new_stub(), *file;
    assert_ok(nt_file_resolve(stub, &file, &error));
    file->on_group_failure(file->context, NULL, 0, NULL);
    file->before_blocking(file->context);
    ck_assert_int_eq(reported, 1);
    ck_assert_int_eq(waited, 2);
    nt_file_close(stub);
}

TEST(why_there_is_no_file_is_remembered)
{
    struct nt_file *stub = new_stub(), *file = NULL;
    next_completion = NT_CORRUPT;
    assert_status(NT_CORRUPT, nt_file_resolve(stub, &file, NULL));
    next_completion = NT_OK;
    assert_status(NT_CORRUPT, nt_file_resolve(stub, &file, &error));
    ck_assert_str_eq(error.message, "the second file");
    ck_assert_int_eq(completions, 1);
    ck_assert_ptr_null(file);
    nt_file_close(stub);
    ck_assert_int_eq(closed, 1);
}

TEST(what_the_machine_refused_is_tried_again)
{
    static const enum nt_status statuses[] = {NT_NO_MEMORY, NT_IO, NT_CHANGED, NT_CANCELED};
    struct nt_file *stub = new_stub(), *file;
    for (size_t i = 0; i < LENGTH(statuses); i++) {
        next_completion = statuses[i];
        assert_status(statuses[i], nt_file_resolve(stub, &file, &error));
        ck_assert(!nt_file_is_resolved(stub));
    }
    next_completion = NT_OK;
    assert_ok(nt_file_resolve(stub, &file, &error));
    nt_file_close(stub);
}
