/* SPDX-License-Identifier: MIT
 *
 * Between values of Python and of the library.
 */
#include <stdlib.h>
#include <string.h>

#include "module.h"

PyObject *text_value(struct nt_text text)
{
    return PyUnicode_DecodeUTF8(text.bytes ? text.bytes : "", (Py_ssize_t)text.length, "surrogateescape");
}

struct nt_dataset *dataset_of(struct file *file, unsigned int index)
{
    struct nt_dataset *dataset = nt_file_dataset(file->file, index);
    if (!dataset)
        PyErr_SetString(PyExc_IndexError, "no such dataset");
    return dataset;
}

const struct nt_field *field_of(const struct nt_dataset *dataset, unsigned int index)
{
    const struct nt_field *field = nt_dataset_field(dataset, index);
    if (!field)
        PyErr_SetString(PyExc_IndexError, "no such field");
    return field;
}

static bool take_interface(PyObject *interface, bool is_written, void **memory_ret)
{
    PyObject *data = PyDict_GetItemString(interface, "data");
    PyObject *strides = PyDict_GetItemString(interface, "strides");
    if (!data || !PyTuple_Check(data) || PyTuple_Size(data) != 2 || (strides && strides != Py_None)) {
        PyErr_SetString(PyExc_TypeError, "expected a contiguous array");
        return false;
    }
    if (is_written && PyObject_IsTrue(PyTuple_GetItem(data, 1))) {
        PyErr_SetString(PyExc_TypeError, "expected a writable array");
        return false;
    }
    *memory_ret = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    return !PyErr_Occurred();
}

/* NumPy's array interface: the stable ABI has the buffer protocol only from 3.11 on. */
bool memory_of(PyObject *array, bool is_written, void **memory_ret, size_t *bytes_ret)
{
    PyObject *interface = PyObject_GetAttrString(array, "__array_interface__"), *bytes = NULL;
    bool is_there = interface && PyDict_Check(interface) && take_interface(interface, is_written, memory_ret);
    if (is_there)
        bytes = PyObject_GetAttrString(array, "nbytes");
    if (bytes)
        *bytes_ret = PyLong_AsSize_t(bytes);
    if (interface && !is_there && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "expected a NumPy array");
    Py_XDECREF(interface);
    Py_XDECREF(bytes);
    return !PyErr_Occurred();
}

bool numbers_of(PyObject *sequence, uint32_t **numbers_ret, size_t *count_ret)
{
    PyObject *items = PySequence_Tuple(sequence);
    if (!items)
        return false;
    *count_ret = (size_t)PyTuple_Size(items);
    *numbers_ret = calloc(*count_ret + 1, sizeof(**numbers_ret));
    if (!*numbers_ret)
        PyErr_NoMemory();
    for (size_t i = 0; *numbers_ret && i < *count_ret; i++)
        (*numbers_ret)[i] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(items, (Py_ssize_t)i));
    Py_DECREF(items);
    return !PyErr_Occurred();
}

bool take_text(void *context, const char *bytes, size_t count)
{
    struct document *document = context;
    if (count > document->capacity - document->length) {
        size_t capacity = 2 * (document->length + count);
        char *grown = realloc(document->bytes, capacity);
        if (!grown)
            return false;
        document->bytes = grown;
        document->capacity = capacity;
    }
    memcpy(document->bytes + document->length, bytes, count);
    document->length += count;
    return true;
}

PyObject *document_value(struct document *document, enum nt_status status, const struct nt_error *error)
{
    PyObject *value = NULL;
    if (status == NT_OK)
        value = PyBytes_FromStringAndSize(document->bytes, (Py_ssize_t)document->length);
    else if (status == NT_CANCELED) /* take_text cancels, and only without memory */
        PyErr_NoMemory();
    else
        raise_error(error);
    free(document->bytes);
    return value;
}
