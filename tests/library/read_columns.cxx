// SPDX-License-Identifier: MIT
//
// Prints what ntuple.hpp reads of a file, as JSON for test_cpp.py: columns of several types, ranges, offsets,
// and failures.
//
//   read_columns FILE
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <ntuple/ntuple.hpp>

namespace
{

template <typename T> void print(const char *name, const std::vector<T> &values)
{
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < values.size(); i++)
        std::printf("%s%.17g", i ? ", " : "", static_cast<double>(values[i]));
    std::printf("],\n");
}

template <typename Function> void print_failure(const char *name, Function function)
{
    nt_status status = NT_OK;
    try {
        function();
    } catch (const ntuple::error &failure) {
        status = failure.status();
    }
    std::printf("\"%s\": \"%s\",\n", name, nt_status_name(status));
}

// The file object ends here: the column keeps the file open.
ntuple::column pt_of(const char *path)
{
    ntuple::file file(path);
    return file["Events"]["muons/_0/pt"];
}

} // namespace

int main(int, char **arguments)
{
    ntuple::file file(arguments[1]);
    const ntuple::dataset events = file["Events"];
    std::printf("{\n");
    print<std::uint64_t>("event", events["event"]);
    print("middle", events["event"].read<std::uint64_t>(500, 3));
    print("offsets", events["muons"].offsets());
    print<std::int64_t>("same offsets", events["muons"]);
    print<float>("pt", pt_of(arguments[1]));
    print<std::uint8_t>("is_simulated", events["is_simulated"]);
#if __cplusplus >= 202002L
    std::vector<double> weights(3);
    events["weight"].read(std::span(weights), 97);
    print("span", weights);
#endif
    ntuple::column moved = events["weight"], copied = moved;
    moved = events["event"];
    print("copied", copied.read<double>(0, 2));
    print_failure("no file", [] { ntuple::file("/nowhere.root"); });
    print_failure("no field", [&] { events["absent"]; });
    print_failure("no dataset", [&] { file["Absent"]; });
    print_failure("another type", [&] { events["weight"].read<float>(); });
    print_failure("past the end", [&] { events["weight"].read<double>(999, 2); });
    std::printf("\"type\": \"%s\", \"entries\": %llu, \"name\": \"%s\", \"size\": %llu}\n",
                events["weight"].type().c_str(), static_cast<unsigned long long>(events.entries()),
                events.name().c_str(), static_cast<unsigned long long>(events["weight"].size()));
    return 0;
}
