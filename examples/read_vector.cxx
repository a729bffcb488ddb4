// SPDX-License-Identifier: MIT
//
// A field's elements as a std::vector, one a line:
//
//   read_vector FILE DATASET FIELD
//
// FIELD has numbers of 64-bit floating point; other types differ in one word. To build it elsewhere:
//
//   c++ -std=c++17 read_vector.cxx $(pkg-config --cflags --libs libntuple)
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <ntuple/ntuple.hpp>

int main(int argument_count, char **arguments)
{
    if (argument_count != 4) {
        std::fprintf(stderr, "usage: read_vector FILE DATASET FIELD\n");
        return EXIT_FAILURE;
    }
    try {
        ntuple::file file(arguments[1]);
        std::vector<double> elements = file[arguments[2]][arguments[3]];
        for (double element : elements)
            std::printf("%.17g\n", element);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "read_vector: %s\n", failure.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
