/* SPDX-License-Identifier: MIT
 *
 * Datasets and their fields: what they are. Nothing is decoded.
 */
#include <stdlib.h>

#include "module.h"

/* The file and the dataset of a call. If `dataset` is NULL, an exception is set. */
struct opened {
    struct file *file;
    struct nt_dataset *dataset;
};

static struct opened opened_of(PyObject *handle, unsigned int index)
{
    struct opened opened = {.file = file_of(handle)};
    if (opened.file)
        opened.dataset = dataset_of(opened.file, index);
    return opened;
}

/* The same, to read from. */
static struct opened resolved_of(PyObject *handle, unsigned int index)
{
    struct file *file = file_of(handle);
    return file && resolve_file(file) ? opened_of(handle, index) : (struct opened){0};
}

/* A path from a function that works like snprintf. */
static PyObject *path_value(size_t (*get_path)(const struct nt_dataset *dataset, uint32_t field, char *text,
                                               size_t capacity),
                            const struct nt_dataset *dataset, uint32_t field)
{
    size_t length = get_path(dataset, field, NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return PyErr_NoMemory();
    get_path(dataset, field, text, length + 1);
    PyObject *value = text_value((struct nt_text){text, length});
    free(text);
    return value;
}

static size_t get_dataset_path(const struct nt_dataset *dataset, uint32_t field, char *text, size_t capacity)
{
    return nt_dataset_path(dataset, text, capacity);
}

static PyObject *dataset_info(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index;
    if (!PyArg_ParseTuple(arguments, "OI", &handle, &index))
        return NULL;
    const struct nt_dataset *dataset = opened_of(handle, index).dataset;
    if (!dataset)
        return NULL;
    return Py_BuildValue(
        "{sNsNsNsNsNsssssssIsKsKsO}", "path", path_value(get_dataset_path, dataset, NT_NONE), "name",
        text_value(nt_dataset_name(dataset)), "title", text_value(nt_dataset_title(dataset)), "description",
        text_value(nt_dataset_description(dataset)), "writer", text_value(nt_dataset_writer(dataset)),
        "format", nt_dataset_format(dataset), "version", nt_dataset_version(dataset), "generation",
        nt_dataset_generation(dataset), "cycle", (unsigned int)nt_dataset_cycle(dataset), "entries",
        (unsigned long long)nt_dataset_entries(dataset), "stored_entries",
        (unsigned long long)nt_dataset_stored_entries(dataset), "is_attribute_set",
        nt_dataset_attribute_of(dataset) ? Py_True : Py_False);
}

/* An array of 64-bit integers: pairs of first entry and count. */
static PyObject *dataset_select(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *array;
    unsigned int index;
    void *memory = NULL;
    size_t bytes = 0;
    struct nt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "OIO", &handle, &index, &array))
        return NULL;
    struct opened opened = resolved_of(handle, index);
    if (!opened.dataset || !memory_of(array, false, &memory, &bytes))
        return NULL;
    if (nt_dataset_select(opened.dataset, memory, bytes / sizeof(struct nt_entry_range), &error) != NT_OK)
        return raise_error(&error);
    Py_RETURN_NONE;
}

static enum nt_status select_by_file(struct nt_dataset *dataset, const char *path, struct nt_error *error)
{
    struct nt_selection *selection = NULL;
    enum nt_status status = nt_selection_open(path, &selection, error);
    if (status == NT_OK)
        status = nt_selection_apply(selection, dataset, error);
    nt_selection_free(selection);
    return status;
}

static PyObject *dataset_select_by_file(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index;
    const char *path;
    struct nt_error error = {0};
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OIy", &handle, &index, &path))
        return NULL;
    struct opened opened = resolved_of(handle, index);
    if (!opened.dataset)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = select_by_file(opened.dataset, path, &error);
    Py_END_ALLOW_THREADS if (status != NT_OK) return raise_error(&error);
    Py_RETURN_NONE;
}

static PyObject *dataset_schema(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index;
    int as_lines;
    struct document document = {0};
    struct nt_error error = {0};
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OIp", &handle, &index, &as_lines))
        return NULL;
    struct opened opened = resolved_of(handle, index);
    struct nt_reader *reader = opened.dataset ? reader_here(opened.file->reader) : NULL;
    if (!reader)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = (as_lines ? nt_write_schema_lines : nt_write_schema_json)(
        reader, opened.dataset, take_text, &document, &error);
    Py_END_ALLOW_THREADS return document_value(&document, status, &error);
}

/* The stored numbers of consecutive selected entries, from `first` on, into an array of 64-bit integers. */
static PyObject *dataset_selected(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *array;
    unsigned int index;
    unsigned long long first;
    void *memory = NULL;
    size_t bytes = 0;
    if (!PyArg_ParseTuple(arguments, "OIKO", &handle, &index, &first, &array))
        return NULL;
    struct opened opened = resolved_of(handle, index);
    if (!opened.dataset || !memory_of(array, true, &memory, &bytes))
        return NULL;
    uint64_t entries = nt_dataset_entries(opened.dataset), *numbers = memory;
    size_t count = bytes / sizeof(*numbers);
    if (first > entries || count > entries - first)
        return PyErr_Format(PyExc_IndexError, "there are %llu entries", (unsigned long long)entries);
    for (size_t i = 0; i < count; i++)
        numbers[i] = nt_dataset_selected_entry(opened.dataset, first + i);
    Py_RETURN_NONE;
}

/* ---- parts ---- */

static PyObject *dataset_files(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index;
    struct document document = {0};
    struct nt_error error = {0};
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OI", &handle, &index))
        return NULL;
    struct opened opened = resolved_of(handle, index);
    if (!opened.dataset)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = nt_write_files(opened.dataset, take_text, &document, &error);
    Py_END_ALLOW_THREADS return document_value(&document, status, &error);
}

static PyObject *dataset_clusters(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *sequence;
    unsigned int index;
    uint32_t *fields = NULL;
    size_t count = 0;
    struct document document = {0};
    struct nt_error error = {0};
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OIO", &handle, &index, &sequence))
        return NULL;
    struct opened opened = resolved_of(handle, index);
    if (!opened.dataset || (sequence != Py_None && !numbers_of(sequence, &fields, &count))) {
        free(fields);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status =
        nt_write_clusters(opened.dataset, fields, count, take_text, &document, &error);
    Py_END_ALLOW_THREADS free(fields);
    return document_value(&document, status, &error);
}

/* ---- fields ---- */

static PyObject *dataset_find(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index;
    const char *path;
    uint32_t field;
    struct nt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "OIy", &handle, &index, &path))
        return NULL;
    const struct nt_dataset *dataset = opened_of(handle, index).dataset;
    if (!dataset)
        return NULL;
    if (nt_dataset_find(dataset, path, &field, &error) != NT_OK)
        return raise_error(&error);
    return PyLong_FromUnsignedLong(field);
}

static PyObject *numbers_value(const uint32_t *numbers, uint32_t count)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLong(numbers[i]);
        if (!number || PyList_Append(list, number) != 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

/* The numbers of the fields that match a path or pattern. */
static PyObject *dataset_match(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index;
    const char *pattern;
    uint32_t count;
    struct nt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "OIy", &handle, &index, &pattern))
        return NULL;
    const struct nt_dataset *dataset = opened_of(handle, index).dataset;
    if (!dataset)
        return NULL;
    uint32_t field_count = nt_dataset_field_count(dataset);
    uint32_t *fields = calloc((size_t)field_count + 1, sizeof(*fields));
    if (!fields)
        return PyErr_NoMemory();
    enum nt_status status = nt_dataset_match(dataset, pattern, fields, field_count, &count, &error);
    PyObject *value = status == NT_OK ? numbers_value(fields, count) : raise_error(&error);
    free(fields);
    return value;
}

static PyObject *dataset_children(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *parent;
    unsigned int index;
    uint32_t field = NT_NONE, count;
    if (!PyArg_ParseTuple(arguments, "OIO", &handle, &index, &parent))
        return NULL;
    const struct nt_dataset *dataset = opened_of(handle, index).dataset;
    if (!dataset)
        return NULL;
    if (parent != Py_None) {
        field = (uint32_t)PyLong_AsUnsignedLong(parent);
        if (PyErr_Occurred() || !field_of(dataset, field))
            return NULL;
    }
    const uint32_t *children = nt_dataset_children(dataset, field, &count);
    return numbers_value(children, count);
}

static PyObject *dimensions_value(const uint64_t *dimensions, uint32_t count)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(dimensions[i]);
        if (!number || PyList_Append(list, number) != 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

static PyObject *all_dimensions_value(const struct nt_dataset *dataset, uint32_t field)
{
    uint32_t count = nt_field_dimensions(dataset, field, NULL, 0);
    uint64_t *dimensions = calloc((size_t)count + 1, sizeof(*dimensions));
    if (!dimensions)
        return PyErr_NoMemory();
    nt_field_dimensions(dataset, field, dimensions, count);
    PyObject *value = dimensions_value(dimensions, count);
    free(dimensions);
    return value;
}

static PyObject *streams_value(const struct nt_field *field)
{
    PyObject *names = PyList_New(0);
    for (enum nt_stream_kind kind = 0; names && kind < NT_STREAM_COUNT; kind++) {
        if (!nt_field_has_stream(field, kind))
            continue;
        PyObject *name = PyUnicode_FromString(nt_stream_name(kind));
        if (!name || PyList_Append(names, name) != 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *field_info(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index, number;
    if (!PyArg_ParseTuple(arguments, "OII", &handle, &index, &number))
        return NULL;
    const struct nt_dataset *dataset = opened_of(handle, index).dataset;
    const struct nt_field *field = dataset ? field_of(dataset, number) : NULL;
    if (!field)
        return NULL;
    PyObject *parent = field->parent == NT_NONE ? Py_None : NULL;
    return Py_BuildValue(
        "{sNsNsNsNsssOsksKsNsNsNszsO}", "path", path_value(nt_field_path, dataset, number), "name",
        text_value(field->name), "type", text_value(field->type), "description",
        text_value(field->description), "kind", nt_field_kind_name(field->kind), "has_parent",
        parent ? Py_False : Py_True, "parent", parent ? 0UL : (unsigned long)field->parent, "repetition",
        (unsigned long long)field->repetition, "own_dimensions",
        dimensions_value(field->dimensions, field->dimension_count), "dimensions",
        all_dimensions_value(dataset, number), "streams", streams_value(field), "unreadable",
        field->unreadable, "is_fortran_order", nt_field_is_fortran_order(field) ? Py_True : Py_False);
}

static PyObject *field_rows(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index, number;
    uint64_t rows = 0;
    struct nt_error error = {0};
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OII", &handle, &index, &number))
        return NULL;
    struct opened opened = resolved_of(handle, index);
    struct nt_reader *reader = opened.dataset ? reader_here(opened.file->reader) : NULL;
    if (!reader)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = nt_field_rows(reader, opened.dataset, number, &rows, &error);
    Py_END_ALLOW_THREADS return status == NT_OK ? PyLong_FromUnsignedLongLong(rows) : raise_error(&error);
}

PyMethodDef dataset_functions[] = {
    {"dataset_info", dataset_info, METH_VARARGS, NULL},
    {"dataset_select", dataset_select, METH_VARARGS, NULL},
    {"dataset_select_by_file", dataset_select_by_file, METH_VARARGS, NULL},
    {"dataset_selected", dataset_selected, METH_VARARGS, NULL},
    {"dataset_files", dataset_files, METH_VARARGS, NULL},
    {"dataset_clusters", dataset_clusters, METH_VARARGS, NULL},
    {"dataset_schema", dataset_schema, METH_VARARGS, NULL},
    {"dataset_find", dataset_find, METH_VARARGS, NULL},
    {"dataset_match", dataset_match, METH_VARARGS, NULL},
    {"dataset_children", dataset_children, METH_VARARGS, NULL},
    {"field_info", field_info, METH_VARARGS, NULL},
    {"field_rows", field_rows, METH_VARARGS, NULL},
    {0},
};
