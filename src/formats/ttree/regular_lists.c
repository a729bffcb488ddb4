/* SPDX-License-Identifier: MIT
 *
 * Decodes entries that consist of one list, as most branches of variable size have: loops for regular
 * entries, without steps. What they do not take (the end of the basket, damage, large lists, rare forms) is
 * left to the steps.
 */
#include "formats/ttree/program.h"

enum form {
    FORM_STEPS,  /* none of these */
    FORM_REST,   /* items up to the end */
    FORM_LIST,   /* byte count, version, number of items, items */
    FORM_STRING, /* a length of one byte, characters */
};

struct list_form {
    enum form form;
    uint32_t lead;       /* bytes before it */
    uint32_t item_bytes; /* > 0 */
    uint32_t number;     /* of the operation that has the items */
    bool has_ends;       /* they are the output; else items are, side by side */
    struct nt_operation values;
};

static bool find_form(const struct nt_operation *operations, struct list_form *list)
{
    uint32_t i = 1, end = operations[0].end;
    if (i < end && operations[i].kind == NT_STEP_SKIP)
        list->lead = operations[i++].count;
    if (i == end || operations[i].end != end)
        return false;
    const struct nt_operation *operation = &operations[i];
    uint32_t list_end = operation->other ? operation->other : end; /* else members are side by side */
    bool has_long_length = operation->count == sizeof(uint32_t);
    bool is_any_header =
        operation->kind == NT_STEP_HEADER && !operation->bits && operation->version < 0 && !operation->count;
    list->form = operation->kind == NT_STEP_REST                         ? FORM_REST
                 : operation->kind == NT_STEP_STRING && !has_long_length ? FORM_STRING
                                                                         : FORM_STEPS;
    if (is_any_header && i + 1 < list_end && operations[i + 1].kind == NT_STEP_LIST &&
        operations[i + 1].end == list_end) {
        list->form = FORM_LIST;
        i++;
    }
    list->number = i;
    return list->form != FORM_STEPS;
}

static struct list_form list_of(const struct nt_operation *operations)
{
    struct list_form list = {0};
    const struct list_form none = {0};
    if (!find_form(operations, &list))
        return none;
    const struct nt_operation *operation = &operations[list.number];
    const struct nt_operation *only = &operations[operation->only];
    list.has_ends = operation->ends != NT_NONE;
    list.values = *only;
    list.item_bytes = operation->body_bytes;
    if (list.form == FORM_STRING) {
        list.item_bytes = 1;
        list.values = (struct nt_operation){
            .number_copy = NT_NUMBER_COPY_PLAIN, .width = 1, .element_bytes = 1, .count = 1};
    } else if (!list.item_bytes || list.item_bytes == NT_VARIABLE ||
               (!list.has_ends && (!operation->only || only->values == NT_NONE ||
                                   list.item_bytes != only->count * only->width))) {
        return none;
    }
    return list;
}

/* Where lists end, for items side by side whose size is a power of two. The bytes of each list are items if
 * those of each list and all before it are. */
static uint32_t put_ends_of_rest(struct nt_program_run *run, const struct nt_basket_content *content,
                                 const struct list_form *list, uint32_t first)
{
    uint32_t start = (uint32_t)nt_basket_entry_start(content, first) + content->basket.key_bytes,
             mask = list->item_bytes - 1;
    uint32_t shift = (uint32_t)__builtin_ctz(list->item_bytes), count = content->basket.entries - 1;
    uint64_t room = run->capacity - run->done->elements, before = run->done->items;
    uint8_t *to = run->output + sizeof(before) * run->done->elements;
    const uint8_t *next = content->offsets + sizeof(uint32_t) * (first + 1);
    uint32_t rest = 0, bytes = 0;
    count = count - first < room ? count - first : (uint32_t)room;
    for (uint32_t i = 0; i < count; i++) {
        bytes = nt_load_be32(next + sizeof(bytes) * i) - start;
        rest |= bytes & mask;
        uint64_t end = before + (bytes >> shift);
        memcpy(to + sizeof(end) * i, &end, sizeof(end));
        nt_prefetch_for_write(to + sizeof(end) * i);
    }
    for (uint32_t i = 0; rest && i < count; i++) { /* up to the first that is not regular */
        uint32_t regular = bytes;
        bytes = nt_load_be32(next + sizeof(bytes) * i) - start;
        if (bytes & mask) {
            count = i;
            bytes = i ? regular : 0;
        }
    }
    run->done->elements += count;
    run->done->items = before + (bytes >> shift);
    return first + count;
}

/* Lists are copied one after the other into a little memory, which the processor has at hand; then all their
 * numbers are decoded. Whether all entries are regular is known only after that: nothing waits for it. */
enum { CHUNK = 32, LISTS = 256, LISTS_BYTES = 8 * 1024 };

/* What is in front of the items of a list. */
struct front {
    size_t bytes; /* of an entry before its items */
    uint32_t item_bytes;
    uint32_t byte_count; /* of a FORM_LIST without items */
    uint16_t version;    /* of all FORM_LISTs */
};

/* Up to LISTS entries, but not the last one of the basket, whose end is not in the offsets. */
struct list_batch {
    const struct nt_basket_content *content;
    const struct list_form *list;
    struct nt_program_run *items, *ends; /* what is made: both, or one (NULL) */
    uint32_t first, end;
    struct front front;
    size_t room;    /* for copies of items */
    size_t bytes;   /* of the copies */
    uint64_t sum;   /* of the items of all lists so far */
    uint64_t wrong; /* 0: all that were copied are regular */
    uint8_t copies[LISTS_BYTES + CHUNK];
};

/* Copies chunks up to `bytes` bytes or a little more, and at least one: the processor does not guess whether
 * a list is empty. */
static inline void copy_chunks(const uint8_t *from, size_t bytes, uint8_t *to)
{
    memcpy(to, from, CHUNK);
    for (size_t i = CHUNK; i < bytes; i += CHUNK)
        memcpy(to + i, from + i, CHUNK);
}

/* The number of items of a list, which are `bytes` bytes. Sets `wrong` if the list is not regular. */
static inline uint64_t count_items(struct front front, enum form form, const uint8_t *items, size_t bytes,
                                   uint64_t *wrong)
{
    uint64_t count;
    if (form == FORM_LIST) {
        const uint8_t *version = items - NT_COUNT_BYTES - NT_VERSION_BYTES;
        count = nt_load_be32(items - NT_COUNT_BYTES);
        *wrong |= nt_load_be32(version - NT_BYTE_COUNT_BYTES) ^ (front.byte_count + bytes);
        *wrong |= nt_load_be16(version) ^ front.version;
    } else if (form == FORM_STRING) {
        count = items[-1];
        *wrong |= count == UINT8_MAX;
    } else {
        count = (uint32_t)bytes / front.item_bytes;
    }
    *wrong |= count * front.item_bytes ^ bytes;
    return count;
}

/* Copies items, puts ends, or both. Returns the first entry that is not done: it needs more room, or is close
 * to the end of the values. What changes is in local variables: the compiler cannot know that the output does
 * not hold the objects of pointers. */
__attribute__((always_inline)) static inline uint32_t copy_lists(struct list_batch *lists, enum form form,
                                                                 bool has_items, bool has_ends)
{
    const struct nt_basket *basket = &lists->content->basket;
    const uint8_t *values = lists->content->values;
    const uint8_t *offsets = lists->content->offsets + sizeof(uint32_t);
    uint32_t entry = lists->first, last = lists->end, key_bytes = basket->key_bytes;
    const struct front front = lists->front;
    size_t start = nt_basket_entry_start(lists->content, entry) + front.bytes;
    size_t values_end = basket->value_bytes, room = lists->room, done = 0;
    uint64_t wrong = 0, sum = lists->sum;
    uint8_t *to = has_ends ? lists->ends->output + sizeof(sum) * lists->ends->done->elements : NULL;
    for (; entry < last; entry++) {
        size_t end = nt_load_be32(offsets + sizeof(uint32_t) * entry) - key_bytes, bytes = end - start;
        if (end + CHUNK > values_end || bytes > room - done)
            break;
        uint64_t count = count_items(front, form, values + start, bytes, &wrong);
        if (has_items) {
            copy_chunks(values + start, bytes, lists->copies + done);
            done += bytes;
        }
        if (has_ends) {
            sum += count;
            memcpy(to, &sum, sizeof(sum));
            nt_prefetch_for_write(to);
            to += sizeof(sum);
        }
        start = end + front.bytes;
    }
    lists->bytes = done;
    lists->sum = sum;
    lists->wrong = wrong;
    return entry;
}

__attribute__((always_inline)) static inline uint32_t copy_form(struct list_batch *lists, enum form form)
{
    return lists->items && lists->ends ? copy_lists(lists, form, true, true)
           : lists->items              ? copy_lists(lists, form, true, false)
                                       : copy_lists(lists, form, false, true);
}

__attribute__((noinline)) static uint32_t copy(struct list_batch *lists)
{
    return lists->list->form == FORM_REST   ? copy_form(lists, FORM_REST)
           : lists->list->form == FORM_LIST ? copy_form(lists, FORM_LIST)
                                            : copy_form(lists, FORM_STRING);
}

/* All lists have the version of the first. False if that is not regular. */
static bool find_front(struct list_batch *lists)
{
    const struct list_form *list = lists->list;
    const struct nt_basket_content *content = lists->content;
    size_t start = nt_basket_entry_start(lists->content, lists->first) + list->lead;
    if (start + CHUNK > content->basket.value_bytes)
        return false;
    lists->front = (struct front){list->lead + (list->form == FORM_STRING), list->item_bytes, 0, 0};
    if (list->form != FORM_LIST)
        return true;
    lists->front.bytes += NT_BYTE_COUNT_BYTES + NT_VERSION_BYTES + NT_COUNT_BYTES;
    lists->front.byte_count = NT_BYTE_COUNT_FLAG + NT_VERSION_BYTES + NT_COUNT_BYTES;
    lists->front.version = nt_load_be16(content->values + start + NT_BYTE_COUNT_BYTES);
    return lists->front.version > 0 && lists->front.version < NT_MEMBERWISE;
}

static void find_room(struct list_batch *lists, uint32_t entry)
{
    const struct nt_program_run *items = lists->items, *ends = lists->ends;
    uint32_t width = lists->list->values.width, left = lists->content->basket.entries - 1 - entry;
    uint64_t most =
        ends && ends->capacity - ends->done->elements < LISTS ? ends->capacity - ends->done->elements : LISTS;
    lists->first = entry;
    lists->end = entry + (left < most ? left : (uint32_t)most);
    lists->sum = ends ? ends->done->items : 0;
    lists->room = LISTS_BYTES;
    if (items && items->capacity - items->done->elements < LISTS_BYTES / width)
        lists->room = (size_t)(items->capacity - items->done->elements) * width;
}

/* Returns the first entry that is not done: `entry` if one of the next is not regular, or has no room. */
static uint32_t put_lists(struct list_batch *lists, uint32_t entry)
{
    const struct nt_operation *values = &lists->list->values;
    struct nt_program_run *items = lists->items, *ends = lists->ends;
    find_room(lists, entry);
    uint32_t end = find_front(lists) ? copy(lists) : entry;
    if (end == entry || lists->wrong)
        return entry;
    if (items) {
        size_t count = lists->bytes / values->width;
        uint8_t *to = items->output + items->done->elements * values->element_bytes;
        if (nt_decode_rows(values, lists->copies, (size_t)values->count * values->width, count, to, NULL) !=
            NT_OK)
            return entry;
        items->done->elements += count;
    }
    if (ends) {
        ends->done->elements += end - entry;
        ends->done->items = lists->sum;
    }
    return end;
}

uint32_t nt_put_regular_lists(struct nt_program_run *run, struct nt_program_run *items,
                              const struct nt_basket_content *content, uint32_t entry)
{
    const struct list_form list = list_of(items ? items->operations : run->operations);
    struct nt_program_run *ends = items || list.has_ends ? run : NULL;
    struct list_batch lists;
    uint32_t before;
    bool is_power = !(list.item_bytes & (list.item_bytes - 1));
    if (!content->offsets || list.form == FORM_STEPS)
        return entry;
    if (list.form == FORM_REST && !items && ends && list.lead == 0 && is_power)
        return put_ends_of_rest(ends, content, &list, entry);
    lists.content = content;
    lists.list = &list;
    lists.items = items || ends ? items : run;
    lists.ends = ends;
    do {
        before = entry;
        entry = put_lists(&lists, entry);
    } while (entry > before);
    return entry;
}

bool nt_are_of_one_list(const struct nt_operation *ends, const struct nt_operation *items)
{
    const struct list_form a = list_of(ends), b = list_of(items);
    return (a.form == FORM_LIST || a.form == FORM_STRING) && a.form == b.form && a.lead == b.lead &&
           a.item_bytes == b.item_bytes && a.number == b.number && a.has_ends && !b.has_ends;
}
