/* SPDX-License-Identifier: MIT
 *
 * Arrow tables: their fields and entries are selected when they are created. They are exported as the
 * capsules of the Arrow PyCapsule interface
 * (https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html).
 */
#include <stdlib.h>
#include <unistd.h>

#include "module.h"

static const char schema_name[] = "arrow_schema", stream_name[] = "arrow_array_stream";

static PyObject *wrap_table(struct file *file, struct nt_arrow *arrow)
{
    struct table *table = calloc(1, sizeof(*table));
    if (!table) {
        nt_arrow_free(arrow);
        return PyErr_NoMemory();
    }
    *table = (struct table){.references = 1, .file = file, .arrow = arrow, .process = getpid()};
    atomic_fetch_add(&file->references, 1);
    return table_handle(table);
}

static bool take_entries(PyObject *entries, struct nt_arrow_options *options)
{
    unsigned long long first, count;
    if (entries == Py_None)
        return true;
    if (!PyArg_ParseTuple(entries, "KK", &first, &count))
        return false;
    options->has_range = true;
    options->first_entry = first;
    options->entries = count;
    return true;
}

static PyObject *open_table(struct file *file, unsigned int index, const struct nt_arrow_options *options)
{
    struct nt_dataset *dataset = resolve_file(file) ? dataset_of(file, index) : NULL;
    struct nt_reader *reader = dataset ? reader_here(file->reader) : NULL;
    struct nt_arrow *arrow = NULL;
    struct nt_error error = {0};
    enum nt_status status;
    if (!reader)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = nt_arrow_new(reader, dataset, options, &arrow, &error);
    Py_END_ALLOW_THREADS return status == NT_OK ? wrap_table(file, arrow) : raise_error(&error);
}

static PyObject *table_new(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *fields, *entries, *table = NULL;
    unsigned int index, unions;
    int is_binary;
    uint32_t *numbers = NULL;
    struct nt_arrow_options options = NT_ARROW_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "OIOOpI", &handle, &index, &fields, &entries, &is_binary, &unions))
        return NULL;
    struct file *file = file_of(handle);
    if (!file || !take_entries(entries, &options))
        return NULL;
    if (fields == Py_None || numbers_of(fields, &numbers, &options.field_count)) {
        options.strings_as_binary = is_binary;
        options.unions = (enum nt_arrow_unions)unions;
        options.fields = numbers;
        table = open_table(file, index, &options);
    }
    free(numbers);
    return table;
}

static PyObject *table_batches(PyObject *module, PyObject *handle)
{
    struct table *table = table_of(handle);
    return table ? PyLong_FromUnsignedLong(nt_arrow_batches(table->arrow)) : NULL;
}

/* [(field, reason)] */
static PyObject *table_omitted_fields(PyObject *module, PyObject *handle)
{
    struct table *table = table_of(handle);
    PyObject *rows = table ? PyList_New(0) : NULL;
    for (uint32_t i = 0; rows && i < nt_arrow_omitted_fields(table->arrow); i++) {
        const char *reason;
        uint32_t field = nt_arrow_omitted_field(table->arrow, i, &reason);
        PyObject *row = Py_BuildValue("Is", (unsigned int)field, reason);
        if (!row || PyList_Append(rows, row) != 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

/* Raises if the table lacks values that the file has. */
static PyObject *table_check(PyObject *module, PyObject *handle)
{
    struct table *table = table_of(handle);
    struct nt_error error = {0};
    if (!table)
        return NULL;
    if (nt_arrow_check(table->arrow, &error) != NT_OK)
        return raise_error(&error);
    Py_RETURN_NONE;
}

/* ---- capsules: what was not taken out of them is released with them ---- */

static void end_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, schema_name);
    if (schema->release)
        schema->release(schema);
    free(schema);
}

static PyObject *table_schema(PyObject *module, PyObject *handle)
{
    struct table *table = table_of(handle);
    struct nt_error error = {0};
    if (!table)
        return NULL;
    struct ArrowSchema *schema = calloc(1, sizeof(*schema));
    if (!schema)
        return PyErr_NoMemory();
    if (nt_arrow_export_schema(table->arrow, schema, &error) != NT_OK) {
        free(schema);
        return raise_error(&error);
    }
    PyObject *capsule = PyCapsule_New(schema, schema_name, end_schema);
    if (!capsule) {
        schema->release(schema);
        free(schema);
    }
    return capsule;
}

static void end_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, stream_name);
    if (stream->release)
        stream->release(stream);
    free(stream);
}

static void let_table_go(void *table)
{
    table_release(table);
}

static PyObject *table_stream(PyObject *module, PyObject *handle)
{
    struct table *table = table_of(handle);
    struct nt_error error = {0};
    if (!table)
        return NULL;
    struct ArrowArrayStream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return PyErr_NoMemory();
    if (nt_arrow_export_stream(table->arrow, let_table_go, table, stream, &error) != NT_OK) {
        free(stream);
        return raise_error(&error);
    }
    table_hold(table);
    PyObject *capsule = PyCapsule_New(stream, stream_name, end_stream);
    if (!capsule) {
        stream->release(stream);
        free(stream);
    }
    return capsule;
}

/* ---- the IPC file ---- */

static PyObject *table_file_bytes(PyObject *module, PyObject *handle)
{
    const struct table *table = table_of(handle);
    return table ? PyLong_FromUnsignedLongLong(nt_arrow_file_bytes(table->arrow)) : NULL;
}

static PyObject *table_file_read(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned long long offset;
    Py_ssize_t bytes;
    struct nt_error error = {0};
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OKn", &handle, &offset, &bytes))
        return NULL;
    const struct table *table = table_of(handle);
    PyObject *value = table ? PyBytes_FromStringAndSize(NULL, bytes) : NULL;
    if (!value)
        return NULL;
    char *memory = PyBytes_AsString(value);
    Py_BEGIN_ALLOW_THREADS status = nt_arrow_file_read(table->arrow, offset, memory, (size_t)bytes, &error);
    Py_END_ALLOW_THREADS if (status == NT_OK) return value;
    Py_DECREF(value);
    return raise_error(&error);
}

PyMethodDef table_functions[] = {
    {"table_file_bytes", table_file_bytes, METH_O, NULL},
    {"table_file_read", table_file_read, METH_VARARGS, NULL},
    {"table_new", table_new, METH_VARARGS, NULL},
    {"table_batches", table_batches, METH_O, NULL},
    {"table_check", table_check, METH_O, NULL},
    {"table_omitted_fields", table_omitted_fields, METH_O, NULL},
    {"table_schema", table_schema, METH_O, NULL},
    {"table_stream", table_stream, METH_O, NULL},
    {0},
};
