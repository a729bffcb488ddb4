// SPDX-License-Identifier: MIT
//
// libntuple for C++17 and newer: files, datasets and columns as objects that close themselves, and
// failures as exceptions. Everything is inline; programs link libntuple as C programs do.
//
//   ntuple::file file("events.root");
//   std::vector<float> pt = file["Events"]["muons/_0/pt"];
//   std::vector<std::int64_t> offsets = file["Events"]["muons"].offsets();
//
// Objects may be copied and may outlive one another: each keeps the file open. Threads may share
// objects through const members. <ntuple/read.h> documents the cost of each call.
#ifndef NTUPLE_NTUPLE_HPP
#define NTUPLE_NTUPLE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

#include <ntuple/ntuple.h>

namespace ntuple
{

// A failure of the library and its message.
class error : public std::runtime_error
{
  public:
    explicit error(const nt_error &failure) : std::runtime_error(failure.message), status_(failure.status) {}
    error(nt_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
    nt_status status() const noexcept
    {
        return status_;
    }

  private:
    nt_status status_;
};

namespace detail
{

// Calls a function of the library and throws its error, which is the last argument.
template <typename... Parameters, typename... Arguments>
void call(nt_status (*function)(Parameters...), Arguments... arguments)
{
    nt_error failure = {};
    if (function(arguments..., &failure) != NT_OK)
        throw error(failure);
}

struct closer {
    void operator()(nt_file *file) const
    {
        nt_file_close(file);
    }
    void operator()(nt_reader *reader) const
    {
        nt_reader_free(reader);
    }
};

// A file and its reader, which is freed first.
struct opened {
    std::unique_ptr<nt_file, closer> file;
    std::unique_ptr<nt_reader, closer> reader;
};

// Maps a C++ type to the type of elements. Types without a specialisation cannot be read.
template <typename T> struct element;
template <nt_element value> using is = std::integral_constant<nt_element, value>;
template <> struct element<bool> : is<NT_ELEMENT_BOOL> {};
template <> struct element<char> : is<NT_ELEMENT_BYTE> {};
template <> struct element<std::byte> : is<NT_ELEMENT_BYTE> {};
template <> struct element<std::int8_t> : is<NT_ELEMENT_INT8> {};
template <> struct element<std::uint8_t> : is<NT_ELEMENT_UINT8> {};
template <> struct element<std::int16_t> : is<NT_ELEMENT_INT16> {};
template <> struct element<std::uint16_t> : is<NT_ELEMENT_UINT16> {};
template <> struct element<std::int32_t> : is<NT_ELEMENT_INT32> {};
template <> struct element<std::uint32_t> : is<NT_ELEMENT_UINT32> {};
template <> struct element<std::int64_t> : is<NT_ELEMENT_INT64> {};
template <> struct element<std::uint64_t> : is<NT_ELEMENT_UINT64> {};
template <> struct element<float> : is<NT_ELEMENT_REAL32> {};
template <> struct element<double> : is<NT_ELEMENT_REAL64> {};

} // namespace detail

// The elements of a field as one sequence: its values, or the offsets of a collection or string.
class column
{
  public:
    // The number of elements.
    std::uint64_t size() const
    {
        return nt_stream_elements(stream_.get());
    }
    // NumPy's name of the type: "<f4".
    std::string type() const
    {
        return nt_stream_dtype(stream_.get())->numpy;
    }
    // Reads elements [first, first + count) into memory of the caller.
    template <typename T> void read(T *output, std::uint64_t first, std::uint64_t count) const
    {
        check<T>();
        detail::call(nt_stream_read_elements, stream_.get(), first, count, static_cast<void *>(output));
    }
#if __cplusplus >= 202002L
    // Fills the span with elements from `first` on.
    template <typename T, std::size_t extent>
    void read(std::span<T, extent> output, std::uint64_t first = 0) const
    {
        read(output.data(), first, output.size());
    }
#endif
    // Reads elements [first, first + count). For bool use std::uint8_t: std::vector<bool> packs bits.
    template <typename T> std::vector<T> read(std::uint64_t first, std::uint64_t count) const
    {
        static_assert(!std::is_same_v<T, bool>, "read bool as std::uint8_t: std::vector<bool> packs bits");
        if (first > size() || count > size() - first)
            throw error(NT_INVALID, "cannot read " + std::to_string(count) + " elements from " +
                                        std::to_string(first) + " on: the column has " +
                                        std::to_string(size()));
        std::vector<T> elements(static_cast<std::size_t>(count));
        read(elements.data(), first, count);
        return elements;
    }
    template <typename T> std::vector<T> read() const
    {
        return read<T>(0, size());
    }
    template <typename T> operator std::vector<T>() const
    {
        return read<T>();
    }
    // The offsets of each row's items: one element more than there are rows, the first is 0.
    std::vector<std::int64_t> offsets() const
    {
        return column(opened_, dataset_, field_, NT_STREAM_OFFSETS).read<std::int64_t>();
    }
    // 1 for rows that are not null, else 0.
    std::vector<std::uint8_t> valid() const
    {
        return column(opened_, dataset_, field_, NT_STREAM_VALID).read<std::uint8_t>();
    }

  private:
    friend class dataset;
    struct stream_closer {
        void operator()(nt_stream *stream) const
        {
            nt_stream_close(stream);
        }
    };

    column(std::shared_ptr<const detail::opened> opened, nt_dataset *dataset, std::uint32_t field,
           nt_stream_kind kind)
        : opened_(std::move(opened)), dataset_(dataset), field_(field)
    {
        nt_stream *stream = nullptr;
        detail::call(nt_stream_open, opened_->reader.get(), dataset, field, kind, &stream);
        stream_.reset(stream, stream_closer());
    }
    // The main stream of a field: its data, or the offsets of a collection.
    static nt_stream_kind main_stream(const nt_field *field)
    {
        bool is_collection = field->kind == NT_FIELD_COLLECTION || field->kind == NT_FIELD_OPTIONAL;
        return is_collection ? NT_STREAM_OFFSETS : NT_STREAM_DATA;
    }
    template <typename T> void check() const
    {
        const nt_dtype *dtype = nt_stream_dtype(stream_.get());
        constexpr nt_element requested = detail::element<T>::value;
        bool are_bytes = dtype->bytes == 1 && sizeof(T) == 1 &&
                         (dtype->element == NT_ELEMENT_BYTE || dtype->element == NT_ELEMENT_BOOL) &&
                         (requested == NT_ELEMENT_BYTE || requested == NT_ELEMENT_UINT8);
        if (dtype->element != requested && !are_bytes)
            throw error(NT_INVALID, std::string("the column has elements of another type: expected ") +
                                        nt_element_info(requested)->dtype + ", found " + dtype->numpy);
    }

    std::shared_ptr<const detail::opened> opened_; // declared first: destroyed after the stream
    std::shared_ptr<nt_stream> stream_;
    nt_dataset *dataset_;
    std::uint32_t field_;
};

class dataset
{
  public:
    std::string name() const
    {
        nt_text name = nt_dataset_name(dataset_);
        return std::string(name.bytes, name.length);
    }
    std::uint64_t entries() const
    {
        return nt_dataset_entries(dataset_);
    }
    // A field by its path: "weight", "muons/_0/pt".
    column operator[](const std::string &path) const
    {
        std::uint32_t field = NT_NONE;
        detail::call(nt_dataset_find, const_cast<const nt_dataset *>(dataset_), path.c_str(), &field);
        return column(opened_, dataset_, field, column::main_stream(nt_dataset_field(dataset_, field)));
    }
    // For functions of the library without a counterpart here.
    nt_dataset *get() const
    {
        return dataset_;
    }

  private:
    friend class file;
    dataset(std::shared_ptr<const detail::opened> opened, nt_dataset *found)
        : opened_(std::move(opened)), dataset_(found)
    {
    }

    std::shared_ptr<const detail::opened> opened_;
    nt_dataset *dataset_;
};

class file
{
  public:
    // A path or a URL. `options` and `reader_options` may be NULL (<ntuple/format.h>, <ntuple/read.h>).
    explicit file(const std::string &path, const nt_open_options *options = nullptr,
                  const nt_reader_options *reader_options = nullptr)
    {
        auto opened = std::make_shared<detail::opened>();
        nt_file *opened_file = nullptr;
        nt_reader *reader = nullptr;
        detail::call(nt_file_open, path.c_str(), options, &opened_file);
        opened->file.reset(opened_file);
        detail::call(nt_reader_new, reader_options, &reader);
        opened->reader.reset(reader);
        opened_ = std::move(opened);
    }
    std::size_t size() const
    {
        return nt_file_dataset_count(opened_->file.get());
    }
    // A dataset by its path: "Events", "directory/Events".
    dataset operator[](const std::string &path) const
    {
        return find(path.c_str());
    }
    // The only dataset of the file.
    dataset only() const
    {
        return find(nullptr);
    }
    const nt_file *get() const
    {
        return opened_->file.get();
    }

  private:
    dataset find(const char *path) const
    {
        nt_dataset *found = nullptr;
        detail::call(nt_file_find, static_cast<const nt_file *>(opened_->file.get()), path, &found);
        return dataset(opened_, found);
    }

    std::shared_ptr<const detail::opened> opened_;
};

} // namespace ntuple

#endif
