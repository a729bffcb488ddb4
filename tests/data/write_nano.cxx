/* SPDX-License-Identifier: MIT
 *
 * A file like NanoAOD after ROOT's RNTupleImporter has converted its TTree: jagged branches are projected
 * fields of untyped collections, `_collection0`, `_collection1`.
 */
#include <ROOT/RNTupleImporter.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleView.hxx>
#include <TFile.h>
#include <TTree.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "dataset.hxx"

namespace nano_file
{

enum { ENTRIES = 200, MOST = 8 };

inline void write_tree(const std::string &path)
{
    TFile file(path.c_str(), "recreate");
    TTree tree("Events", "as NanoAOD has them");
    unsigned run = 362104;
    unsigned long long event = 0;
    int muons = 0, jets = 0, charge[MOST];
    float met = 0, muon_pt[MOST], muon_eta[MOST], jet_pt[MOST], jet_mass[MOST];
    tree.Branch("run", &run, "run/i");
    tree.Branch("event", &event, "event/l");
    tree.Branch("MET_pt", &met, "MET_pt/F");
    tree.Branch("nMuon", &muons, "nMuon/I");
    tree.Branch("Muon_pt", muon_pt, "Muon_pt[nMuon]/F");
    tree.Branch("Muon_eta", muon_eta, "Muon_eta[nMuon]/F");
    tree.Branch("Muon_charge", charge, "Muon_charge[nMuon]/I");
    tree.Branch("nJet", &jets, "nJet/I");
    tree.Branch("Jet_pt", jet_pt, "Jet_pt[nJet]/F");
    tree.Branch("Jet_mass", jet_mass, "Jet_mass[nJet]/F");
    for (int i = 0; i < ENTRIES; i++) {
        event = 1000 + 3 * i;
        met = i / 3.f;
        muons = i * 7 % 5;
        jets = i * 3 % 4;
        for (int k = 0; k < muons; k++) {
            muon_pt[k] = 3 + i / 8.f + 10 * k;
            muon_eta[k] = (i % 48 - 24) / 10.f + k / 16.f;
            charge[k] = 1 - 2 * ((i + k) % 2);
        }
        for (int k = 0; k < jets; k++) {
            jet_pt[k] = 20 + i / 4.f + k;
            jet_mass[k] = (i + k) % 50 == 7   ? std::numeric_limits<float>::quiet_NaN()
                          : (i + k) % 60 == 9 ? std::numeric_limits<float>::infinity()
                                              : 5.f + k;
        }
        tree.Fill();
    }
    tree.Write();
}

template <typename T> std::string values(ROOT::RNTupleReader &reader, const std::string &name)
{
    auto view = reader.GetView<T>(name);
    std::string all;
    for (auto i : reader.GetEntryRange())
        all += (all.empty() ? "" : ", ") + json::of(view(i));
    return "\"" + name + "\": [" + all + "]";
}

/* The items of a collection as objects, by the projected fields that show their members. */
template <typename... Ts>
std::string objects(ROOT::RNTupleReader &reader, const std::string &collection,
                    const std::vector<std::string> &names)
{
    std::size_t next = 0;
    std::vector<std::vector<std::vector<std::string>>> members; /* [member][entry][item] */
    const auto read = [&](auto view) {
        std::vector<std::vector<std::string>> entries;
        for (auto i : reader.GetEntryRange()) {
            entries.emplace_back();
            for (const auto &item : view(i))
                entries.back().push_back(json::of(item));
        }
        members.push_back(entries);
    };
    (read(reader.GetView<std::vector<Ts>>(names[next++])), ...);
    std::string all;
    for (std::size_t entry = 0; entry < members[0].size(); entry++) {
        all += entry ? ", [" : "[";
        for (std::size_t item = 0; item < members[0][entry].size(); item++) {
            all += item ? ", {" : "{";
            for (std::size_t k = 0; k < names.size(); k++)
                all += (k ? ", \"" : "\"") + names[k] + "\": " + members[k][entry][item];
            all += "}";
        }
        all += "]";
    }
    return "\"" + collection + "\": [" + all + "]";
}

} // namespace nano_file

std::string write_nano(const std::string &path)
{
    const std::string tree = path + ".tree";
    nano_file::write_tree(tree);
    std::remove(path.c_str());
    auto importer = ROOT::Experimental::RNTupleImporter::Create(tree, "Events", path);
    importer->SetIsQuiet(true);
    importer->Import();
    std::remove(tree.c_str());
    using floats = std::vector<float>;
    auto reader = ROOT::RNTupleReader::Open("Events", path);
    return "{\"Events\": {\"entries\": " + std::to_string(reader->GetNEntries()) + ", \"fields\": {" +
           nano_file::values<std::uint32_t>(*reader, "run") + ", " +
           nano_file::values<std::uint64_t>(*reader, "event") + ", " +
           nano_file::values<float>(*reader, "MET_pt") + ", " +
           nano_file::values<floats>(*reader, "Muon_pt") + ", " +
           nano_file::values<floats>(*reader, "Muon_eta") + ", " +
           nano_file::values<std::vector<std::int32_t>>(*reader, "Muon_charge") + ", " +
           nano_file::values<floats>(*reader, "Jet_pt") + ", " +
           nano_file::values<floats>(*reader, "Jet_mass") + ", " +
           nano_file::values<ROOT::RNTupleCardinality<std::uint32_t>>(*reader, "nJet") + ", " +
           nano_file::values<ROOT::RNTupleCardinality<std::uint32_t>>(*reader, "nMuon") + ", " +
           nano_file::objects<float, float>(*reader, "_collection0", {"Jet_pt", "Jet_mass"}) + ", " +
           nano_file::objects<float, float, std::int32_t>(*reader, "_collection1",
                                                          {"Muon_pt", "Muon_eta", "Muon_charge"}) +
           "}}}";
}
