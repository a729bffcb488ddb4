/* SPDX-License-Identifier: MIT
 *
 * example.root: what the README mounts. "Events" is a small set of collisions as an experiment would keep
 * them, with one field of nearly every kind; "calibration/Constants" lies in a TDirectory and is flat.
 */
#include "dataset.hxx"

enum class Trigger : std::uint8_t { kNone, kSingleMuon, kDoubleMuon, kJet };

struct Muon {
    float pt = 0, eta = 0, phi = 0;
    std::int8_t charge = 0;
    std::string json() const
    {
        return "{\"pt\":" + json::of(pt) + ",\"eta\":" + json::of(eta) + ",\"phi\":" + json::of(phi) +
               ",\"charge\":" + json::of(charge) + "}";
    }
};

struct Vertex {
    double x = 0, y = 0, z = 0;
    std::string json() const
    {
        return "{\"x\":" + json::of(x) + ",\"y\":" + json::of(y) + ",\"z\":" + json::of(z) + "}";
    }
};

static const std::uint64_t kEvents = 1000;

static Random at(std::uint64_t entry, std::uint64_t field)
{
    return Random(entry * 64 + field);
}

/* The number of muons and jets of an event, for all fields that belong together. */
static std::size_t muons(std::uint64_t entry)
{
    return at(entry, 1).Below(4);
}
static std::size_t jets(std::uint64_t entry)
{
    return at(entry, 2).Below(6);
}

static float muon_pt(std::uint64_t entry, std::size_t k)
{
    return static_cast<float>(3 + 40 * -std::log(1 - at(entry, 10 + k).Uniform()));
}

static void add_scalars(DataSet &set)
{
    set.Add<std::uint32_t>("run", [](auto &v, auto i) { v = 362104 + i / 300; });
    set.Add<std::uint64_t>("event", [](auto &v, auto i) { v = 10000000000u + 3 * i; });
    set.Add<double>("weight", [](auto &v, auto i) { v = 0.5 + at(i, 3).Uniform(); });
    set.Add<bool>("is_simulated", [](auto &v, auto i) { v = i % 3 == 0; });
    set.Add<std::string>("stream", [](auto &v, auto i) {
        static const char *const names[] = {"physics_Main", "express", "", "caf\u00e9", "calibration"};
        v = names[i % 5];
    });
    set.Add<Trigger>("trigger", [](auto &v, auto i) { v = static_cast<Trigger>(at(i, 4).Below(4)); });
    set.Add<std::bitset<12>>("trigger_bits",
                             [](auto &v, auto i) { v = std::bitset<12>(at(i, 5).Below(4096)); });
}

static void add_collections(DataSet &set)
{
    set.Add<std::vector<float>>("muon_pt", [](auto &v, auto i) {
        v.resize(muons(i));
        for (std::size_t k = 0; k < v.size(); k++)
            v[k] = muon_pt(i, k);
    });
    set.Add<std::vector<Muon>>("muons", [](auto &v, auto i) {
        v.resize(muons(i));
        for (std::size_t k = 0; k < v.size(); k++) {
            Random random = at(i, 20 + k);
            v[k].pt = muon_pt(i, k);
            v[k].eta = static_cast<float>(5 * random.Uniform() - 2.5);
            v[k].phi = static_cast<float>(6.283185307179586 * random.Uniform() - 3.141592653589793);
            v[k].charge = random.Below(2) ? 1 : -1;
        }
    });
    set.Add<std::vector<std::vector<std::int32_t>>>("jet_tracks", [](auto &v, auto i) {
        v.assign(jets(i), {});
        for (std::size_t k = 0; k < v.size(); k++)
            for (std::uint64_t n = at(i, 30 + k).Below(4); n > 0; n--)
                v[k].push_back(static_cast<std::int32_t>(at(i, 40 + n).Below(200)) - 100);
    });
    set.Add<std::map<std::string, float>>("scale_factors", [](auto &v, auto i) {
        v.clear();
        if (i % 4 == 0)
            v["muon"] = static_cast<float>(at(i, 50).Uniform());
        if (i % 6 == 0)
            v["pileup"] = static_cast<float>(at(i, 51).Uniform());
    });
}

static void add_records(DataSet &set)
{
    set.Add<Vertex>("vertex", [](auto &v, auto i) {
        Random random = at(i, 60);
        v = {random.Uniform() - 0.5, random.Uniform() - 0.5, 100 * random.Uniform() - 50};
    });
    set.Add<std::array<float, 3>>("beam_spot", [](auto &v, auto i) {
        v = {0.25f, -0.5f, static_cast<float>(i / 250)};
    });
    set.Add<std::optional<float>>("missing_energy", [](auto &v, auto i) {
        v.reset();
        if (i % 3)
            v = static_cast<float>(80 * at(i, 61).Uniform());
    });
    set.Add<std::variant<std::int32_t, std::string>>("comment", [](auto &v, auto i) {
        if (i % 5)
            v = static_cast<std::int32_t>(i % 7);
        else
            v = "event " + std::to_string(i);
    });
    set.Add<std::pair<std::int16_t, float>>("leading_cell", [](auto &v, auto i) {
        v = {static_cast<std::int16_t>(at(i, 62).Below(1000)), static_cast<float>(at(i, 63).Uniform())};
    });
    set.Add<std::tuple<std::uint8_t, double, std::string>>("quality", [](auto &v, auto i) {
        v = {static_cast<std::uint8_t>(i % 4), i / 8.0, i % 2 ? "good" : "suspect"};
    });
}

static void add_lossy(DataSet &set)
{
    auto quantized = std::make_unique<ROOT::RField<double>>("charge_fraction");
    quantized->SetQuantized(12, {0.0, 1.0});
    set.Add<double>(std::move(quantized), [](auto &v, auto i) { v = at(i, 70).Uniform(); });
    auto truncated = std::make_unique<ROOT::RField<double>>("time_of_flight");
    truncated->SetTruncated(18);
    set.Add<double>(std::move(truncated), [](auto &v, auto i) { v = 25 * at(i, 71).Uniform() - 5; });
}

/* Writes the file; returns the values by path of the dataset, as read back by ROOT. */
std::string write_example(const std::string &path)
{
    DataSet events("Events", "Simulated collisions: an example with a field of nearly every kind");
    add_scalars(events);
    add_collections(events);
    add_records(events);
    add_lossy(events);
    events.WriteOptions().SetCompression(505);
    DataSet constants("Constants", "Gain and pedestal of each channel");
    constants.Add<std::uint16_t>("channel", [](auto &v, auto i) { v = static_cast<std::uint16_t>(i); });
    constants.Add<float>("gain",
                         [](auto &v, auto i) { v = static_cast<float>(1 + at(i, 72).Uniform() / 8); });
    constants.Add<float>("pedestal", [](auto &v, auto i) { v = static_cast<float>(40 + i % 5); });
    {
        std::unique_ptr<TFile> file(TFile::Open(path.c_str(), "RECREATE", "example of ntuplefs", 505));
        events.Write(*file, kEvents, {250, 750}, {500});
        constants.Write(*file->mkdir("calibration"), 64);
    }
    return "{\"Events\":" + events.Read(path, "Events") +
           ",\"calibration/Constants\":" + constants.Read(path, "calibration/Constants") + "}";
}
