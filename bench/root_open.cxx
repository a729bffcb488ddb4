// SPDX-License-Identifier: MIT
//
// How long ROOT takes to open an RNTuple and to get its number of entries.  root_open FILE ROUNDS
// Prints the entries, then the seconds of each round. In the first round ROOT also initializes itself. Ends
// at the end of its input, so that its memory can be measured.
#include <ROOT/RNTupleReader.hxx>
#include <chrono>
#include <cstdio>
#include <string>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 3)
        return 1;
    for (int round = 0; round < std::stoi(arguments[2]); ++round) {
        const double start = now();
        const auto reader = ROOT::RNTupleReader::Open("data", arguments[1]);
        const unsigned long long entries = reader->GetNEntries();
        const double seconds = now() - start;
        if (round == 0)
            std::printf("%llu", entries);
        std::printf(" %.6f", seconds);
    }
    std::puts("");
    std::fflush(stdout);
    std::getchar();
}
