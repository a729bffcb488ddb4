/* SPDX-License-Identifier: MIT
 *
 * Compiles the steps of a branch into the program of one output: checks them, and joins what it skips.
 */
#include "formats/ttree/program.h"

/* ---- Steps ---- */

enum { MAX_DEPTH = 32 };

struct compiler {
    const struct nt_interpretation *from;
    uint32_t output; /* NT_NONE: all */
    struct nt_program *program;
    struct nt_buffer names;
    uint32_t last; /* the last operation of the body being compiled; 0: none so far */
};

/* Does its data name the class of its objects? */
static bool has_class_name(uint8_t kind)
{
    return kind == NT_STEP_CASE || kind == NT_STEP_CLONES || kind == NT_STEP_NAME;
}

/* Is it left out by a byte count, or not run at all, if nothing in it is an output? */
static bool is_optional(uint8_t kind)
{
    return kind == NT_STEP_CASE || kind == NT_STEP_CLONES || kind == NT_STEP_POINTER ||
           kind == NT_STEP_OBJECTS;
}

static bool has_text(uint8_t kind)
{
    return kind == NT_STEP_STRING || kind == NT_STEP_POINTER;
}

static bool has_body(uint8_t kind)
{
    return kind == NT_STEP_HEADER || kind == NT_STEP_LIST || kind == NT_STEP_MEMBERS ||
           kind == NT_STEP_REST || kind == NT_STEP_COUNTED || kind == NT_STEP_REPEAT ||
           kind == NT_STEP_WHEN || is_optional(kind);
}

/* Where the first body of a step ends; its other body follows. */
static uint32_t middle_of(const struct nt_step *step)
{
    bool may_have =
        step->kind == NT_STEP_HEADER || step->kind == NT_STEP_WHEN || step->kind == NT_STEP_CLONES;
    return may_have && step->other ? step->other : step->end;
}

static bool has_number(uint8_t kind)
{
    return kind == NT_STEP_VALUES || kind == NT_STEP_COUNTER;
}

static bool has_output(uint8_t kind)
{
    return has_number(kind) || kind == NT_STEP_LIST || kind == NT_STEP_MEMBERS || kind == NT_STEP_REST ||
           kind == NT_STEP_COUNTED || kind == NT_STEP_STRING || is_optional(kind);
}

static uint32_t next_step(const struct nt_step *steps, uint32_t i)
{
    return has_body(steps[i].kind) ? steps[i].end : i + 1;
}

static uint32_t width_of(const struct nt_step *step)
{
    uint32_t bits = nt_encoding_info(step->encoding)->bits;
    return (bits ? bits : step->bits) / 8;
}

enum { HEADERS = 1, CONDITIONS = 2 };

/* Bytes that the steps always take, or NT_VARIABLE. `omitted`: without headers, or what is conditional. */
static uint64_t fixed_bytes(const struct nt_step *steps, uint32_t first, uint32_t end, unsigned omitted)
{
    uint64_t sum = 0;
    for (uint32_t i = first; i < end; i = next_step(steps, i)) {
        const struct nt_step *step = &steps[i];
        uint64_t bytes = NT_VARIABLE;
        if (step->kind == NT_STEP_VALUES)
            bytes = (uint64_t)step->count * width_of(step);
        else if (step->kind == NT_STEP_COUNTER)
            bytes = width_of(step);
        else if (step->kind == NT_STEP_SKIP)
            bytes = step->count;
        else if (step->kind == NT_STEP_REPEAT)
            bytes = fixed_bytes(steps, i + 1, step->end, omitted);
        else if ((omitted & HEADERS) && step->kind == NT_STEP_HEADER && !(step->bits & ~NT_HEADER_WHOLE) &&
                 !step->other)
            bytes = fixed_bytes(steps, i + 1, step->end, omitted);
        else if ((omitted & CONDITIONS) && step->kind == NT_STEP_WHEN)
            bytes = 0;
        if (step->kind == NT_STEP_REPEAT &&
            (bytes == NT_VARIABLE || !nt_checked_multiply(bytes, step->count, &bytes)))
            bytes = NT_VARIABLE;
        sum += bytes;
        if (bytes >= NT_VARIABLE || sum >= NT_VARIABLE)
            return NT_VARIABLE;
    }
    return sum;
}

static bool is_by_members(const struct nt_step *step)
{
    return step->kind == NT_STEP_REST && (step->bits & NT_REST_MEMBERS);
}

static uint32_t number_of(const struct compiler *compiler, uint32_t output)
{
    if (compiler->output == NT_NONE || output == NT_NONE)
        return output;
    return output == compiler->output ? 0 : NT_NONE;
}

static uint32_t ends_of(const struct compiler *compiler, const struct nt_step *step)
{
    return has_output(step->kind) && step->kind != NT_STEP_VALUES ? number_of(compiler, step->output)
                                                                  : NT_NONE;
}

static uint32_t values_of(const struct compiler *compiler, const struct nt_step *step)
{
    if (step->kind == NT_STEP_VALUES)
        return number_of(compiler, step->output);
    return has_text(step->kind) && step->output != NT_NONE ? number_of(compiler, step->output + 1) : NT_NONE;
}

static bool have_outputs(const struct compiler *compiler, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct nt_step *step = &compiler->from->steps[i];
        if (ends_of(compiler, step) != NT_NONE || values_of(compiler, step) != NT_NONE)
            return true;
    }
    return false;
}

static bool are_needed(const struct compiler *compiler, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (compiler->from->steps[i].kind == NT_STEP_VALUES && compiler->from->steps[i].counter)
            return true;
    return have_outputs(compiler, first, end);
}

/* ---- Compiling ---- */

static enum nt_status fail_step(uint32_t i, const char *what, struct nt_error *error)
{
    return nt_fail(error, NT_INVALID, NT_NO_OFFSET, "step %" PRIu32 " of a branch: %s", i, what);
}

static bool is_output(const struct nt_interpretation *from, uint32_t output, bool are_offsets,
                      uint32_t element_bytes)
{
    if (output >= from->output_count)
        return false;
    const struct nt_output *row = &from->outputs[output];
    return row->is_offsets == are_offsets &&
           (are_offsets || nt_element_info(row->element)->bytes == element_bytes);
}

static bool has_valid_output(const struct nt_interpretation *from, const struct nt_step *step)
{
    if (step->output == NT_NONE || !has_output(step->kind))
        return true;
    if (step->kind == NT_STEP_VALUES)
        return is_output(from, step->output, false,
                         nt_element_info(nt_encoding_info(step->encoding)->element)->bytes);
    return is_output(from, step->output, true, 0) &&
           (!has_text(step->kind) || is_output(from, step->output + 1, false, 1));
}

static enum nt_status check_step(const struct nt_interpretation *from, uint32_t i, uint32_t end,
                                 bool is_in_pointer, struct nt_error *error)
{
    const struct nt_step *step = &from->steps[i];
    if (step->kind > NT_STEP_OBJECTS || step->encoding >= NT_ENCODING_COUNT)
        return fail_step(i, "its kind or encoding is unknown", error);
    if (has_body(step->kind) && (step->end <= i || step->end > end))
        return fail_step(i, "its body does not end within that of its parent", error);
    if (has_body(step->kind) && middle_of(step) != step->end &&
        (middle_of(step) <= i || middle_of(step) > step->end))
        return fail_step(i, "its second body does not begin within it", error);
    if (has_number(step->kind) && (width_of(step) == 0 || width_of(step) > sizeof(uint64_t)))
        return fail_step(i, "its numbers have no fixed size", error);
    if (step->kind == NT_STEP_VALUES && step->counter && step->count != 1)
        return fail_step(i, "several numbers count the same items", error);
    bool needs_counter = step->kind == NT_STEP_WHEN || step->kind == NT_STEP_CLONES ||
                         (step->kind == NT_STEP_COUNTED && !from->lengths);
    if (needs_counter && !step->counter)
        return fail_step(i, "the number that it depends on does not exist", error);
    if ((step->kind == NT_STEP_CASE) != is_in_pointer)
        return fail_step(i, "the body of a pointer consists of cases, and only that", error);
    if (step->kind == NT_STEP_OBJECTS && (step->end == i + 1 || step->count > NT_LIST_OF_PAIRS))
        return fail_step(i, "a list of objects has no body or no known form", error);
    if (has_class_name(step->kind) && step->count != NT_NONE && step->count >= from->class_name_count)
        return fail_step(i, "the name of its class does not exist", error);
    return has_valid_output(from, step) ? NT_OK : fail_step(i, "its output has another type", error);
}

static enum nt_status check_steps(const struct nt_interpretation *from, uint32_t first, uint32_t end,
                                  unsigned depth, bool are_cases, struct nt_error *error)
{
    if (depth == MAX_DEPTH)
        return nt_fail(error, NT_LIMIT, NT_NO_OFFSET, "the content of a branch is nested more than %d deep",
                       MAX_DEPTH);
    for (uint32_t i = first; i < end; i = next_step(from->steps, i)) {
        NT_TRY(check_step(from, i, end, are_cases, error));
        if (!has_body(from->steps[i].kind))
            continue;
        uint32_t body_end = from->steps[i].end;
        uint32_t middle = middle_of(&from->steps[i]);
        bool is_pointer = from->steps[i].kind == NT_STEP_POINTER;
        NT_TRY(check_steps(from, i + 1, middle, depth + 1, is_pointer, error));
        NT_TRY(check_steps(from, middle, body_end, depth + 1, is_pointer, error));
    }
    return NT_OK;
}

static enum nt_number_copy number_copy_of(const struct nt_operation *operation)
{
    switch ((enum nt_encoding_kind)operation->encoding) {
    case NT_ENCODING_BIG_INT16:
    case NT_ENCODING_BIG_UINT16:
        return NT_NUMBER_COPY_SWAP16;
    case NT_ENCODING_BIG_INT32:
    case NT_ENCODING_BIG_UINT32:
    case NT_ENCODING_BIG_REAL32:
        return NT_NUMBER_COPY_SWAP32;
    case NT_ENCODING_BIG_INT64:
    case NT_ENCODING_BIG_UINT64:
    case NT_ENCODING_BIG_REAL64:
        return NT_NUMBER_COPY_SWAP64;
    default:
        return nt_encoding_is_identity(operation->encoding) ? NT_NUMBER_COPY_PLAIN : NT_NUMBER_COPY_DECODE;
    }
}

static void set_number(struct nt_operation *operation, const struct nt_step *step)
{
    enum nt_element element = nt_encoding_info(step->encoding)->element;
    operation->encoding = step->encoding;
    operation->width = (uint8_t)width_of(step);
    operation->element_bytes = (uint8_t)nt_element_info(element)->bytes;
    operation->is_signed = element == NT_ELEMENT_INT8 || element == NT_ELEMENT_INT16 ||
                           element == NT_ELEMENT_INT32 || element == NT_ELEMENT_INT64;
    operation->number_copy = (uint8_t)number_copy_of(operation);
    operation->minimum = step->minimum;
    operation->maximum = step->maximum;
}

static void add_skip(struct compiler *compiler, uint32_t bytes)
{
    struct nt_program *program = compiler->program;
    struct nt_operation *last = &program->operations[compiler->last];
    if (bytes == 0)
        return;
    if (compiler->last && last->kind == NT_STEP_SKIP && bytes <= NT_NONE - last->count) {
        last->count += bytes;
        return;
    }
    compiler->last = program->count++;
    program->operations[compiler->last] = (struct nt_operation){
        .kind = NT_STEP_SKIP, .ends = NT_NONE, .values = NT_NONE, .count = bytes, .end = program->count};
}

/* Finds the only number of a body, if there is nothing else but bytes to skip. */
static void find_only(struct nt_program *program, uint32_t parent)
{
    struct nt_operation *operation = &program->operations[parent];
    uint32_t i = parent + 1, end = operation->end;
    uint32_t lead = i < end && program->operations[i].kind == NT_STEP_SKIP ? program->operations[i].count : 0;
    i += lead > 0;
    if (operation->body_bytes == NT_VARIABLE || i >= end || program->operations[i].kind != NT_STEP_VALUES ||
        program->operations[i].counter)
        return;
    if (i + 1 == end || (i + 2 == end && program->operations[i + 1].kind == NT_STEP_SKIP)) {
        operation->only = i;
        operation->lead = lead;
    }
}

static uint32_t add_name(struct compiler *compiler, struct nt_text name)
{
    uint32_t at = (uint32_t)compiler->names.length;
    nt_buffer_append(&compiler->names, name.bytes, name.length);
    nt_buffer_append_byte(&compiler->names, 0);
    return at;
}

static void compile_body(struct compiler *compiler, uint32_t first, uint32_t end);

static void compile_step(struct compiler *compiler, uint32_t i)
{
    const struct nt_step *step = &compiler->from->steps[i];
    struct nt_program *program = compiler->program;
    uint32_t number = program->count++, end = next_step(compiler->from->steps, i);
    uint32_t middle = has_body(step->kind) ? middle_of(step) : end;
    struct nt_operation *operation = &program->operations[number];
    *operation = (struct nt_operation){.kind = step->kind,
                                       .counter = step->counter,
                                       .bits = step->bits,
                                       .ends = ends_of(compiler, step),
                                       .values = values_of(compiler, step),
                                       .count = step->count,
                                       .version = step->version,
                                       .is_needed = are_needed(compiler, i, end)};
    if (has_number(step->kind))
        set_number(operation, step);
    if (is_optional(step->kind)) /* numbers that count there count nothing elsewhere */
        operation->is_needed = have_outputs(compiler, i, end);
    if (has_class_name(step->kind) && step->count != NT_NONE)
        operation->count = add_name(compiler, compiler->from->class_names[step->count]);
    if (has_body(step->kind)) {
        operation->body_bytes =
            (uint32_t)fixed_bytes(compiler->from->steps, i + 1, middle, is_by_members(step) ? CONDITIONS : 0);
        operation->bare_bytes = step->kind == NT_STEP_LIST && operation->body_bytes == NT_VARIABLE
                                    ? (uint32_t)fixed_bytes(compiler->from->steps, i + 1, middle, HEADERS)
                                    : NT_VARIABLE;
        compile_body(compiler, i + 1, middle);
        operation->other = middle != end ? program->count : 0;
        compile_body(compiler, middle, end);
    }
    operation->end = program->count;
    compiler->last = number;
    if (!is_by_members(step))
        find_only(program, number);
}

/* Steps that make nothing and have a fixed size become one SKIP. */
static void compile_body(struct compiler *compiler, uint32_t first, uint32_t end)
{
    const struct nt_step *steps = compiler->from->steps;
    compiler->last = 0;
    for (uint32_t i = first, next; i < end; i = next) {
        next = next_step(steps, i);
        uint64_t bytes = are_needed(compiler, i, next) ? NT_VARIABLE : fixed_bytes(steps, i, next, 0);
        if (bytes < NT_VARIABLE)
            add_skip(compiler, (uint32_t)bytes);
        else
            compile_step(compiler, i);
    }
}

/* Moves the names of classes behind the operations. */
static enum nt_status add_names(struct compiler *compiler, size_t *bytes_ret, struct nt_error *error)
{
    size_t bytes = sizeof(*compiler->program) + compiler->program->count * sizeof(struct nt_operation);
    struct nt_program *program =
        compiler->names.failed ? NULL : realloc(compiler->program, bytes + compiler->names.length);
    if (program && compiler->names.length)
        memcpy((uint8_t *)program + bytes, compiler->names.bytes, compiler->names.length);
    *bytes_ret = bytes + compiler->names.length;
    nt_buffer_deinit(&compiler->names);
    NT_TRY(nt_check_memory(program, error));
    compiler->program = program;
    return NT_OK;
}

enum nt_status nt_program_compile(const struct nt_interpretation *from, uint32_t output,
                                  struct nt_program **program_ret, size_t *bytes_ret, struct nt_error *error)
{
    NT_TRY(check_steps(from, 0, from->step_count, 0, false, error));
    struct nt_program *program =
        calloc(1, sizeof(*program) + ((size_t)from->step_count + 1) * sizeof(*program->operations));
    NT_TRY(nt_check_memory(program, error));
    struct compiler compiler = {.from = from, .output = output, .program = program};
    program->output = output;
    program->count = 1;
    compile_body(&compiler, 0, from->step_count);
    program->operations[0] =
        (struct nt_operation){.kind = NT_STEP_REPEAT,
                              .ends = NT_NONE,
                              .values = NT_NONE,
                              .is_needed = true,
                              .end = program->count,
                              .body_bytes = (uint32_t)fixed_bytes(from->steps, 0, from->step_count, 0)};
    find_only(program, 0);
    enum nt_status status = add_names(&compiler, bytes_ret, error);
    if (status == NT_OK)
        *program_ret = compiler.program;
    else
        free(compiler.program);
    return status;
}

/* ---- Counting ---- */

uint64_t nt_steps_count(const struct nt_step *steps, uint32_t first, uint32_t end, uint32_t output)
{
    uint64_t sum = 0;
    for (uint32_t i = first; i < end; i = next_step(steps, i)) {
        const struct nt_step *step = &steps[i];
        if (step->kind == NT_STEP_VALUES && step->output == output)
            sum += step->count;
        if (has_body(step->kind))
            sum += nt_steps_count(steps, i + 1, middle_of(step), output) *
                   (step->kind == NT_STEP_REPEAT ? step->count : 1);
    }
    return sum;
}
