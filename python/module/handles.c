/* SPDX-License-Identifier: MIT
 *
 * Handles: capsules that hold references. The last reference closes, inner objects first, in any thread.
 *
 * In a forked process the workers of the parent's reader are not there, and a lock of it may be held for
 * ever: streams, tables and readers of another process are left as they are when they end here. Only their
 * memory is lost, and only here.
 */
#include <stdlib.h>
#include <unistd.h>

#include "module.h"

static const char reader_name[] = "ntuple.reader", file_name[] = "ntuple.file",
                  stream_name[] = "ntuple.stream", table_name[] = "ntuple.table";

/* ---- ends ---- */

static void reader_release(struct reader *reader)
{
    if (atomic_fetch_sub(&reader->references, 1) > 1)
        return;
    if (reader->process == getpid())
        nt_reader_free(reader->reader);
    free(reader);
}

void file_release(struct file *file)
{
    if (atomic_fetch_sub(&file->references, 1) > 1)
        return;
    for (uint32_t i = 0; file->reader->process == getpid() && i < nt_file_dataset_count(file->file); i++)
        nt_reader_forget(file->reader->reader, nt_file_dataset(file->file, i));
    nt_file_close(file->opened);
    reader_release(file->reader);
    if (file->memory && Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(file->memory);
        PyGILState_Release(state);
    }
    free(file->bases);
    free(file);
}

static void stream_free(struct stream *stream)
{
    if (stream->process == getpid())
        nt_stream_close(stream->stream);
    file_release(stream->file);
    free(stream);
}

void table_hold(struct table *table)
{
    atomic_fetch_add(&table->references, 1);
}

void table_release(struct table *table)
{
    if (atomic_fetch_sub(&table->references, 1) > 1)
        return;
    if (table->process == getpid())
        nt_arrow_free(table->arrow);
    file_release(table->file);
    free(table);
}

/* ---- capsules ---- */

static void end_reader(PyObject *handle)
{
    struct reader *reader = PyCapsule_GetPointer(handle, reader_name);
    Py_BEGIN_ALLOW_THREADS /* waits for the workers to finish */
        reader_release(reader);
    Py_END_ALLOW_THREADS
}

static void end_file(PyObject *handle)
{
    struct file *file = PyCapsule_GetPointer(handle, file_name);
    Py_BEGIN_ALLOW_THREADS file_release(file);
    Py_END_ALLOW_THREADS
}

static void end_stream(PyObject *handle)
{
    struct stream *stream = PyCapsule_GetPointer(handle, stream_name);
    Py_BEGIN_ALLOW_THREADS stream_free(stream);
    Py_END_ALLOW_THREADS
}

static void end_table(PyObject *handle)
{
    struct table *table = PyCapsule_GetPointer(handle, table_name);
    Py_BEGIN_ALLOW_THREADS table_release(table);
    Py_END_ALLOW_THREADS
}

PyObject *reader_handle(struct reader *reader)
{
    PyObject *handle = PyCapsule_New(reader, reader_name, end_reader);
    if (!handle)
        reader_release(reader);
    return handle;
}

PyObject *file_handle(struct file *file)
{
    PyObject *handle = PyCapsule_New(file, file_name, end_file);
    if (!handle)
        file_release(file);
    return handle;
}

PyObject *stream_handle(struct stream *stream)
{
    PyObject *handle = PyCapsule_New(stream, stream_name, end_stream);
    if (!handle)
        stream_free(stream);
    return handle;
}

PyObject *table_handle(struct table *table)
{
    PyObject *handle = PyCapsule_New(table, table_name, end_table);
    if (!handle)
        table_release(table);
    return handle;
}

/* ---- use ---- */

static bool is_of_this_process(pid_t process)
{
    if (process == getpid())
        return true;
    PyErr_SetString(PyExc_RuntimeError, "the handle belongs to the process that forked this one");
    return false;
}

struct reader *reader_of(PyObject *handle)
{
    return PyCapsule_GetPointer(handle, reader_name);
}

struct file *file_of(PyObject *handle)
{
    return PyCapsule_GetPointer(handle, file_name);
}

struct stream *stream_of(PyObject *handle)
{
    struct stream *stream = PyCapsule_GetPointer(handle, stream_name);
    return stream && is_of_this_process(stream->process) ? stream : NULL;
}

struct table *table_of(PyObject *handle)
{
    struct table *table = PyCapsule_GetPointer(handle, table_name);
    return table && is_of_this_process(table->process) ? table : NULL;
}

struct nt_reader *reader_here(struct reader *reader)
{
    struct nt_error error = {0};
    if (reader->process == getpid())
        return reader->reader;
    if (nt_reader_new(&reader->options, &reader->reader, &error) != NT_OK) {
        raise_error(&error);
        return NULL;
    }
    reader->process = getpid();
    return reader->reader;
}
