/* SPDX-License-Identifier: MIT
 *
 * Readers and files: opened, listed, laid out.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

static PyObject *reader_new(PyObject *module, PyObject *arguments)
{
    unsigned long long cache_bytes;
    unsigned int threads;
    struct nt_error error = {0};
    if (!PyArg_ParseTuple(arguments, "KI", &cache_bytes, &threads))
        return NULL;
    struct reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PyErr_NoMemory();
    reader->references = 1;
    reader->process = getpid();
    reader->options = (struct nt_reader_options){.struct_bytes = sizeof(reader->options),
                                                 .cache_bytes = cache_bytes,
                                                 .threads = threads,
                                                 .caches_siblings = true};
    if (nt_reader_new(&reader->options, &reader->reader, &error) != NT_OK) {
        free(reader);
        return raise_error(&error);
    }
    return reader_handle(reader);
}

static PyObject *reader_counters(PyObject *module, PyObject *handle)
{
    struct reader *reader = reader_of(handle);
    PyObject *counters = reader && reader_here(reader) ? PyDict_New() : NULL;
    const char *name;
    uint64_t value;
    for (uint32_t i = 0; counters && nt_reader_counter(reader->reader, i, &name, &value); i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(value);
        if (!number || PyDict_SetItemString(counters, name, number) != 0)
            Py_CLEAR(counters);
        Py_XDECREF(number);
    }
    return counters;
}

/* ---- opening ---- */

/* Takes ownership of an opened file and of `bases`. */
static PyObject *wrap_file(struct reader *reader, struct nt_file *opened, PyObject *memory,
                           const char **bases)
{
    struct file *file = calloc(1, sizeof(*file));
    if (!file) {
        nt_file_close(opened);
        free(bases);
        return PyErr_NoMemory();
    }
    *file = (struct file){.references = 1,
                          .reader = reader,
                          .opened = opened,
                          .file = opened,
                          .memory = memory,
                          .bases = bases};
    atomic_fetch_add(&reader->references, 1);
    Py_XINCREF(memory);
    return file_handle(file);
}

bool resolve_file(struct file *file)
{
    struct nt_file *resolved;
    struct nt_error error = {0};
    enum nt_status status;
    Py_BEGIN_ALLOW_THREADS status = nt_file_resolve(file->opened, &resolved, &error);
    Py_END_ALLOW_THREADS if (status != NT_OK)
    {
        raise_error(&error);
        return false;
    }
    file->file = resolved;
    return true;
}

/* The names as C strings, which live as long as the sequence; NULL with an exception. */
static const char **names_of(PyObject *sequence, size_t *count_ret)
{
    Py_ssize_t count = PySequence_Size(sequence);
    const char **names = count < 0 ? NULL : calloc((size_t)count + 1, sizeof(*names));
    if (count >= 0 && !names)
        return (const char **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; names && i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        names[i] = item ? PyBytes_AsString(item) : NULL;
        Py_XDECREF(item); /* the sequence has it, too */
        if (!names[i]) {
            free(names);
            return NULL;
        }
    }
    *count_ret = (size_t)count;
    return names;
}

static PyObject *file_open(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *folders;
    const char *path, *format, *version;
    int friends;
    size_t count;
    struct nt_file *file = NULL;
    struct nt_error error = {0};
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OyzzpO", &handle, &path, &format, &version, &friends, &folders))
        return NULL;
    struct reader *reader = reader_of(handle);
    const char **bases = reader ? names_of(folders, &count) : NULL;
    if (!bases)
        return NULL;
    options.format = format;
    options.version = version;
    options.friends = friends;
    options.bases = bases;
    Py_BEGIN_ALLOW_THREADS status = nt_file_open(path, &options, &file, &error);
    Py_END_ALLOW_THREADS if (status == NT_OK)
    {
        bool refers = format || version || count;
        return wrap_file(reader, file, refers ? arguments : NULL, bases);
    }
    free(bases);
    return raise_error(&error);
}

static PyObject *file_open_chain(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *sequence, *index, *folders;
    const char *format;
    int union_fields, skip_failed, friends;
    size_t count = 0, base_count;
    struct nt_file *file = NULL;
    struct nt_error error = {0};
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OOzOpppO", &handle, &sequence, &format, &index, &union_fields,
                          &skip_failed, &friends, &folders))
        return NULL;
    struct reader *reader = reader_of(handle);
    const char **names = reader ? names_of(sequence, &count) : NULL;
    const char **bases = names ? names_of(folders, &base_count) : NULL;
    if (!bases || (index != Py_None && !PyBytes_Check(index))) {
        free(names);
        free(bases);
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "index: expected bytes");
    }
    options.format = format;
    options.friends = friends;
    options.bases = bases;
    options.index = index == Py_None ? NULL : PyBytes_AsString(index);
    const unsigned flags =
        (union_fields ? NT_CHAIN_UNION_FIELDS : 0) | (skip_failed ? NT_CHAIN_SKIP_FAILED : 0);
    Py_BEGIN_ALLOW_THREADS status = nt_file_open_chain(names, count, &options, flags, &file, &error);
    Py_END_ALLOW_THREADS free(names);
    if (status == NT_OK)
        return wrap_file(reader, file, format || base_count ? arguments : NULL, bases);
    free(bases);
    return raise_error(&error);
}

static enum nt_status open_memory(const void *memory, size_t bytes, const char *name, const char *format,
                                  struct nt_file **file_ret, struct nt_error *error)
{
    struct nt_open_options options = NT_OPEN_OPTIONS_INIT;
    struct nt_source *source;
    enum nt_status status = nt_source_open_memory(memory, bytes, name, &source, error);
    if (status != NT_OK)
        return status;
    options.format = format;
    status = nt_file_open_source(source, &options, file_ret, error);
    if (status != NT_OK)
        nt_source_close(source);
    return status;
}

static PyObject *file_open_memory(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *array;
    const char *name, *format;
    void *memory = NULL;
    size_t bytes = 0;
    struct nt_file *file = NULL;
    struct nt_error error = {0};
    enum nt_status status;
    if (!PyArg_ParseTuple(arguments, "OOyz", &handle, &array, &name, &format))
        return NULL;
    struct reader *reader = reader_of(handle);
    if (!reader || !memory_of(array, false, &memory, &bytes))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = open_memory(memory, bytes, name, format, &file, &error);
    Py_END_ALLOW_THREADS return status == NT_OK ? wrap_file(reader, file, array, NULL) : raise_error(&error);
}

/* ---- looking ---- */

static PyObject *file_dataset_count(PyObject *module, PyObject *handle)
{
    struct file *file = file_of(handle);
    return file ? PyLong_FromUnsignedLong(nt_file_dataset_count(file->file)) : NULL;
}

/* How many files of a chain were skipped, and why the first was; None if none were. */
static PyObject *file_skipped(PyObject *module, PyObject *handle)
{
    struct nt_error error = {0};
    struct file *file = file_of(handle);
    if (!file)
        return NULL;
    if (nt_file_check_skipped(file->file, &error) == NT_OK)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(error.message, (Py_ssize_t)strlen(error.message), "replace");
}

static PyObject *file_find(PyObject *module, PyObject *arguments)
{
    PyObject *handle, *bytes;
    struct nt_dataset *dataset;
    struct nt_error error = {0};
    uint32_t index = 0;
    if (!PyArg_ParseTuple(arguments, "OO", &handle, &bytes))
        return NULL;
    struct file *file = file_of(handle);
    const char *path = bytes == Py_None ? NULL : PyBytes_AsString(bytes);
    if (!file || PyErr_Occurred())
        return NULL;
    if (nt_file_find(file->file, path, &dataset, &error) != NT_OK)
        return raise_error(&error);
    while (nt_file_dataset(file->file, index) != dataset)
        index++;
    return PyLong_FromUnsignedLong(index);
}

static PyObject *file_layout(PyObject *module, PyObject *handle)
{
    struct file *file = file_of(handle);
    struct document document = {0};
    struct nt_error error = {0};
    enum nt_status status;
    if (!file || !resolve_file(file))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = nt_write_layout(file->file, take_text, &document, &error);
    Py_END_ALLOW_THREADS return document_value(&document, status, &error);
}

/* ---- the library ---- */

static PyObject *library_version(PyObject *module, PyObject *nothing)
{
    return PyUnicode_FromString(nt_version());
}

/* Name and description of each format. */
static PyObject *format_rows(PyObject *module, PyObject *nothing)
{
    PyObject *rows = PyList_New(0);
    for (uint32_t i = 0; rows && nt_format_name(i); i++) {
        PyObject *row = Py_BuildValue("ss", nt_format_name(i), nt_format_description(i));
        if (!row || PyList_Append(rows, row) != 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

PyMethodDef file_functions[] = {
    {"reader_new", reader_new, METH_VARARGS, NULL},
    {"reader_counters", reader_counters, METH_O, NULL},
    {"file_open", file_open, METH_VARARGS, NULL},
    {"file_open_chain", file_open_chain, METH_VARARGS, NULL},
    {"file_open_memory", file_open_memory, METH_VARARGS, NULL},
    {"file_dataset_count", file_dataset_count, METH_O, NULL},
    {"file_find", file_find, METH_VARARGS, NULL},
    {"file_skipped", file_skipped, METH_O, NULL},
    {"file_layout", file_layout, METH_O, NULL},
    {"library_version", library_version, METH_NOARGS, NULL},
    {"format_rows", format_rows, METH_NOARGS, NULL},
    {0},
};
