/* SPDX-License-Identifier: MIT
 *
 * Elements of fields into the memory of NumPy arrays, without the interpreter's lock.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

static bool kind_of(const char *name, enum nt_stream_kind *kind_ret)
{
    for (enum nt_stream_kind kind = 0; kind < NT_STREAM_COUNT; kind++)
        if (!strcmp(nt_stream_name(kind), name)) {
            *kind_ret = kind;
            return true;
        }
    PyErr_SetString(PyExc_ValueError, "unknown kind of stream");
    return false;
}

static PyObject *wrap_stream(struct file *file, struct nt_stream *opened)
{
    struct stream *stream = calloc(1, sizeof(*stream));
    if (!stream) {
        nt_stream_close(opened);
        return PyErr_NoMemory();
    }
    *stream = (struct stream){.file = file, .stream = opened, .process = getpid()};
    atomic_fetch_add(&file->references, 1);
    return stream_handle(stream);
}

static PyObject *stream_open(PyObject *module, PyObject *arguments)
{
    PyObject *handle;
    unsigned int index, field;
    const char *name;
    enum nt_stream_kind kind;
    struct nt_stream *stream = NULL;
    struct nt_error error = {0};
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OIIs", &handle, &index, &field, &name) || !kind_of(name, &kind))
        return NULL;
    struct file *file = file_of(handle);
    struct nt_dataset *dataset = file && resolve_file(file) ? dataset_of(file, index) : NULL;
    struct nt_reader *reader = dataset ? reader_here(file->reader) : NULL;
    if (!reader)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = nt_stream_open(reader, dataset, field, kind, &stream, &error);
    Py_END_ALLOW_THREADS return status == NT_OK ? wrap_stream(file, stream) : raise_error(&error);
}

static PyObject *fields_announce(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *fields;
    unsigned int index;
    uint32_t *numbers = NULL;
    size_t count;
    if (!PyArg_ParseTuple(arguments, "OIO", &handle, &index, &fields))
        return NULL;
    struct file *file = file_of(handle);
    struct nt_dataset *dataset = file && resolve_file(file) ? dataset_of(file, index) : NULL;
    bool is_good = dataset && numbers_of(fields, &numbers, &count);
    if (is_good)
        nt_fields_announce(dataset, numbers, count);
    free(numbers);
    return is_good ? Py_BuildValue("") : NULL;
}

static PyObject *stream_info(PyObject *module, PyObject *handle)
{
    struct stream *stream = stream_of(handle);
    if (!stream)
        return NULL;
    return Py_BuildValue("KsI", (unsigned long long)nt_stream_elements(stream->stream),
                         nt_stream_dtype(stream->stream)->numpy,
                         (unsigned int)nt_stream_element_bytes(stream->stream));
}

/* ---- reading ---- */

/* (stream, first, count, array): raises an exception if the array is too small. */
static bool take_range(PyObject *item, struct nt_stream_range *range)
{
    PyObject *handle, *array;
    unsigned long long first, count;
    void *memory = NULL;
    size_t bytes = 0;
    if (!PyTuple_Check(item) || !PyArg_ParseTuple(item, "OKKO", &handle, &first, &count, &array)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "expected tuples as ranges");
        return false;
    }
    struct stream *stream = stream_of(handle);
    if (!stream || !memory_of(array, true, &memory, &bytes))
        return false;
    uint32_t element_bytes = nt_stream_element_bytes(stream->stream);
    if (element_bytes && count > bytes / element_bytes) {
        PyErr_SetString(PyExc_ValueError, "the array is smaller than the requested elements");
        return false;
    }
    *range =
        (struct nt_stream_range){.stream = stream->stream, .first = first, .count = count, .output = memory};
    return true;
}

static bool take_ranges(PyObject *items, struct nt_stream_range *ranges)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(items); i++)
        if (!take_range(PyTuple_GetItem(items, i), &ranges[i]))
            return false;
    return true;
}

/* The tuple of tuples is immutable, so it keeps streams and arrays alive while other threads run. */
static PyObject *streams_read(PyObject *module, PyObject *list)
{
    PyObject *items = PySequence_Tuple(list), *result = NULL;
    struct nt_error error = {0};
    enum nt_status status;
    if (!items)
        return NULL;
    size_t count = (size_t)PyTuple_Size(items);
    struct nt_stream_range *ranges = calloc(count + 1, sizeof(*ranges));
    if (!ranges) {
        PyErr_NoMemory();
    } else if (take_ranges(items, ranges)) {
        Py_BEGIN_ALLOW_THREADS status = nt_streams_read_elements(ranges, count, &error);
        Py_END_ALLOW_THREADS result = status == NT_OK ? Py_BuildValue("") : raise_error(&error);
    }
    free(ranges);
    Py_DECREF(items);
    return result;
}

PyMethodDef stream_functions[] = {
    {"fields_announce", fields_announce, METH_VARARGS, NULL},
    {"stream_open", stream_open, METH_VARARGS, NULL},
    {"stream_info", stream_info, METH_O, NULL},
    {"streams_read", streams_read, METH_O, NULL},
    {0},
};
