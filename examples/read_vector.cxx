// SPDX-License-Identifier: MIT
//
// A field's elements as a std::vector, one a line:
//
//   read_vector FILE DATASET FIELD
//
// FIELD has numbers of 64-bit floating point; other types differ in one word. To build it elsewhere:
//
//   c++ -std=c++17 read_vector.cxx $(pkg-config --cflags --libs libntuple)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <ntuple/ntuple.h>

namespace
{

// What is opened, closed by its own function.
template <typename T, void (*close)(T *)> struct Closer {
    void operator()(T *opened) const
    {
        close(opened);
    }
};
using File = std::unique_ptr<nt_file, Closer<nt_file, nt_file_close>>;
using Reader = std::unique_ptr<nt_reader, Closer<nt_reader, nt_reader_free>>;
using Stream = std::unique_ptr<nt_stream, Closer<nt_stream, nt_stream_close>>;

// Calls that leave an error become exceptions with its message.
template <typename... Parameters, typename... Arguments>
void call(nt_status (*function)(Parameters...), Arguments... arguments)
{
    nt_error error = {};
    if (function(arguments..., &error) != NT_OK)
        throw std::runtime_error(error.message);
}

template <typename T>
std::vector<T> read_field(nt_reader *reader, nt_dataset *dataset, const char *path, nt_element element)
{
    std::uint32_t field = NT_NONE;
    nt_stream *opened = nullptr;
    call(nt_dataset_find, dataset, path, &field);
    if (nt_dataset_field(dataset, field)->dtype.element != element)
        throw std::runtime_error(std::string(path) + " has elements of another type");
    call(nt_stream_open, reader, dataset, field, NT_STREAM_DATA, &opened);
    Stream stream(opened);
    std::vector<T> elements(nt_stream_elements(opened));
    call(nt_stream_read_elements, opened, std::uint64_t(0), std::uint64_t(elements.size()), elements.data());
    return elements;
}

void print_field(const char *path, const char *dataset_path, const char *field_path)
{
    nt_file *opened_file = nullptr;
    nt_reader *opened_reader = nullptr;
    nt_dataset *dataset = nullptr;
    call(nt_file_open, path, nullptr, &opened_file);
    File file(opened_file);
    call(nt_file_find, opened_file, dataset_path, &dataset);
    call(nt_reader_new, nullptr, &opened_reader);
    Reader reader(opened_reader);
    for (double element : read_field<double>(opened_reader, dataset, field_path, NT_ELEMENT_REAL64))
        std::printf("%.17g\n", element);
}

} // namespace

int main(int argument_count, char **arguments)
{
    if (argument_count != 4) {
        std::fprintf(stderr, "usage: read_vector FILE DATASET FIELD\n");
        return EXIT_FAILURE;
    }
    try {
        print_field(arguments[1], arguments[2], arguments[3]);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "read_vector: %s\n", failure.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
