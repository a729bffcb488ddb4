/* SPDX-License-Identifier: MIT
 *
 * Small files, each for one property of the container or the schema.
 */
#include "dataset.hxx"

#include <ROOT/RNTupleAttrWriting.hxx>
#include <TFileMerger.h>

namespace structures
{

std::unique_ptr<TFile> create(const std::string &path, int compression = 505)
{
    return std::unique_ptr<TFile>(TFile::Open(path.c_str(), "RECREATE", "", compression));
}

std::string result(const std::string &file, const std::vector<std::pair<const DataSet *, std::string>> &sets)
{
    std::string text = "{";
    for (const auto &[set, path] : sets)
        text += (text.size() > 1 ? "," : "") + json::of_text(path) + ":" + set->Read(file, path);
    return text + "}";
}

/* Numbers that compress, numbers that do not, and text. */
void add_mixture(DataSet &set)
{
    set.Add<std::int32_t>("ramp", [](auto &v, auto i) { v = static_cast<std::int32_t>(i / 4); });
    set.Add<std::uint64_t>("noise", [](auto &v, auto i) { v = Random(i).Next(); });
    set.Add<std::vector<float>>("values", [](auto &v, auto i) { v.assign(i % 5, i / 2.f); });
    set.Add<std::string>("text",
                         [](auto &v, auto i) { v = i % 2 ? "all work and no play" : "makes a dull column"; });
}

} // namespace structures

std::string write_compression(const std::string &path, int setting)
{
    DataSet set("compressed");
    structures::add_mixture(set);
    set.WriteOptions().SetCompression(setting);
    {
        auto file = structures::create(path, setting);
        set.Write(*file, 1000, {150});
    }
    return structures::result(path, {{&set, "compressed"}});
}

namespace structures
{

/* Fields that the writer adds after entries have been written: their columns are deferred, in the footer. */
void write_late(const std::string &path, const char *name, bool has_flag)
{
    auto file = create(path);
    std::shared_ptr<std::int32_t> number;
    std::shared_ptr<std::vector<float>> list;
    std::shared_ptr<bool> flag;
    auto model = ROOT::RNTupleModel::Create();
    auto first = model->MakeField<std::int32_t>("first");
    auto writer = ROOT::RNTupleWriter::Append(std::move(model), name, *file);
    for (int i = 0; i < 60; i++) {
        if (i == 10 || i == 40)
            writer->CommitCluster();
        if (i == 25) { /* in the middle of a cluster */
            auto updater = writer->CreateModelUpdater();
            updater->BeginUpdate();
            number = updater->MakeField<std::int32_t>("number");
            list = updater->MakeField<std::vector<float>>("list");
            if (has_flag)
                flag = updater->MakeField<bool>("flag");
            updater->CommitUpdate();
        }
        *first = i;
        if (flag)
            *flag = i % 3;
        if (number) {
            *number = -i;
            list->assign(i % 3, i / 2.f);
        }
        writer->Fill();
    }
}

std::string read_late(const std::string &path, const char *name, bool has_flag)
{
    DataSet read(name);
    read.Add<std::int32_t>("first", [](auto &, auto) {});
    read.Add<std::int32_t>("number", [](auto &, auto) {});
    read.Add<std::vector<float>>("list", [](auto &, auto) {});
    if (has_flag)
        read.Add<bool>("flag", [](auto &, auto) {});
    return result(path, {{&read, name}});
}

} // namespace structures

std::string write_late_fields(const std::string &path)
{
    structures::write_late(path, "late", false);
    return structures::read_late(path, "late", false);
}

/* Two files with such fields, merged as hadd does. The merger writes too few elements of `flag` for entries
 * before the field was added: a byte of bits counts as one. */
std::string write_merged(const std::string &path)
{
    const std::string source = path + ".source";
    structures::write_late(source, "merged", true);
    TFileMerger merger(false);
    if (!merger.OutputFile(path.c_str(), "RECREATE", 505) || !merger.AddFile(source.c_str()) ||
        !merger.AddFile(source.c_str()) || !merger.Merge())
        throw std::runtime_error("cannot merge " + path);
    std::remove(source.c_str());
    return structures::read_late(path, "merged", true);
}

/* Columns in several representations. Each cluster uses one; the others are suppressed there. */
std::string write_multi_representation(const std::string &path)
{
    using Type = ROOT::ENTupleColumnType;
    using Modifier = ROOT::Internal::RFieldRepresentationModifier;
    DataSet set("representations");
    auto number = std::make_unique<ROOT::RField<double>>("number");
    number->SetColumnRepresentatives({{Type::kSplitReal64}, {Type::kReal32}, {Type::kReal16}});
    auto text = std::make_unique<ROOT::RField<std::string>>("text");
    text->SetColumnRepresentatives({{Type::kSplitIndex64, Type::kChar}, {Type::kIndex32, Type::kChar}});
    set.Add<double>(std::move(number), [](auto &v, auto i) { v = i / 4.0; });
    set.Add<std::string>(std::move(text), [](auto &v, auto i) { v = std::string(i % 4, 'x'); });
    {
        auto file = structures::create(path);
        set.Write(*file, 50, {10, 20, 30}, {40}, [](ROOT::RNTupleWriter &writer, std::uint64_t i) {
            auto field = [&writer](const char *name) -> ROOT::RFieldBase & {
                return const_cast<ROOT::RFieldBase &>(writer.GetModel().GetConstField(name));
            };
            if (i % 10 == 0) {
                Modifier::SetPrimaryColumnRepresentation(field("number"), i / 10 % 3);
                Modifier::SetPrimaryColumnRepresentation(field("text"), i / 20 % 2);
            }
        });
    }
    return structures::result(path, {{&set, "representations"}});
}

/* The names that ROOT lets through. */
std::string write_names(const std::string &path)
{
    const std::vector<std::string> names = {"AnalysisJetsAux::pt",
                                            "a;1",
                                            "%",
                                            "%41",
                                            "100%",
                                            "~2",
                                            "quote\"",
                                            "it's",
                                            "<&>",
                                            "*",
                                            "na\u00efve",
                                            "\u65e5\u672c\u8a9e",
                                            "UPPER",
                                            "upper",
                                            std::string(300, 'n'),
                                            std::string(299, 'n') + "m",
                                            "data",
                                            "-",
                                            "\u202eright",
                                            "[0]",
                                            "$HOME",
                                            "`id`"};
    DataSet set("names;set");
    for (const auto &name : names)
        set.Add<std::int32_t>(name, [](auto &v, auto i) { v = static_cast<std::int32_t>(i); });
    {
        auto file = structures::create(path);
        set.Write(*file, 3);
    }
    return structures::result(path, {{&set, "names;set"}});
}

std::string write_empty(const std::string &path)
{
    DataSet no_entries("no_entries"), no_fields("no_fields"), nothing("nothing");
    structures::add_mixture(no_entries);
    {
        auto file = structures::create(path);
        no_entries.Write(*file, 0);
        no_fields.Write(*file, 5);
        nothing.Write(*file, 0);
    }
    return structures::result(
        path, {{&no_entries, "no_entries"}, {&no_fields, "no_fields"}, {&nothing, "nothing"}});
}

/* Datasets in nested TDirectories, one next to keys of other kinds, and a dataset that was written
 * again. */
std::string write_dirs_and_cycles(const std::string &path)
{
    DataSet top("top"), again("top"), inner("inner"), deep("inner");
    top.Add<std::int32_t>("number", [](auto &v, auto i) { v = static_cast<std::int32_t>(i); });
    again.Add<std::int32_t>("number", [](auto &v, auto i) { v = 100 + static_cast<std::int32_t>(i); });
    inner.Add<float>("number", [](auto &v, auto i) { v = i / 2.f; });
    deep.Add<double>("number", [](auto &v, auto i) { v = i / 3.0; });
    std::string older;
    {
        auto file = structures::create(path);
        TNamed note("note", "not a data set");
        note.Write();
        top.Write(*file, 4);
        TDirectory *directory = file->mkdir("run 1.5");
        inner.Write(*directory, 5);
        deep.Write(*directory->mkdir("deeper"), 6);
        file->mkdir("empty");
    }
    older = top.Read(path, "top");
    {
        std::unique_ptr<TFile> file(TFile::Open(path.c_str(), "UPDATE"));
        again.Write(*file, 7);
    }
    return "{\"top;1\":" + older + ",\"top\":" + again.Read(path, "top") +
           ",\"run 1.5/inner\":" + inner.Read(path, "run 1.5/inner") +
           ",\"run 1.5/deeper/inner\":" + deep.Read(path, "run 1.5/deeper/inner") + "}";
}

struct Hit {
    float energy = 0;
    std::uint32_t cell = 0;
    std::string json() const
    {
        return "{\"energy\":" + json::of(energy) + ",\"cell\":" + json::of(cell) + "}";
    }
};

std::string write_projected(const std::string &path)
{
    DataSet set("projected");
    set.Add<float>("met", [](auto &v, auto i) { v = i / 8.f; });
    set.Add<std::string>("label", [](auto &v, auto i) { v = std::string(i % 3, 'l'); });
    set.Add<std::vector<Hit>>("hits", [](auto &v, auto i) {
        v.resize(i % 4);
        for (std::size_t k = 0; k < v.size(); k++) {
            v[k].energy = i + k / 16.f;
            v[k].cell = static_cast<std::uint32_t>(k);
        }
    });
    set.AddProjected<float>("missing_energy", {{"missing_energy", "met"}});
    set.AddProjected<std::string>("title", {{"title", "label"}});
    set.AddProjected<std::vector<float>>("energies",
                                         {{"energies", "hits"}, {"energies._0", "hits._0.energy"}});
    set.AddProjected<ROOT::RNTupleCardinality<std::uint32_t>>("hit_count", {{"hit_count", "hits"}});
    {
        auto file = structures::create(path);
        set.Write(*file, 40, {13});
    }
    return structures::result(path, {{&set, "projected"}});
}

std::string write_without_checksums(const std::string &path)
{
    DataSet set("unchecked");
    structures::add_mixture(set);
    set.WriteOptions().SetEnablePageChecksums(false);
    {
        auto file = structures::create(path);
        set.Write(*file, 100, {40});
    }
    return structures::result(path, {{&set, "unchecked"}});
}

/* Payloads of more than 2 kB are split over several keys. */
std::string write_split_keys(const std::string &path)
{
    DataSet set("split");
    structures::add_mixture(set);
    ROOT::Internal::RNTupleWriteOptionsManip::SetMaxKeySize(set.WriteOptions(), 2048);
    set.WriteOptions().SetCompression(0);
    set.WriteOptions().SetInitialUnzippedPageSize(16384);
    {
        auto file = structures::create(path);
        set.Write(*file, 1000);
    }
    return structures::result(path, {{&set, "split"}});
}

/* Many pages in a cluster: the last one is short. */
std::string write_many_pages(const std::string &path)
{
    DataSet set("pages");
    structures::add_mixture(set);
    set.WriteOptions().SetInitialUnzippedPageSize(64);
    set.WriteOptions().SetMaxUnzippedPageSize(64);
    {
        auto file = structures::create(path, 0);
        set.WriteOptions().SetCompression(404);
        set.Write(*file, 500, {499});
    }
    return structures::result(path, {{&set, "pages"}});
}

/* A linked attribute set: a dataset of its own, whose anchor is only in the footer. */
std::string write_attributes(const std::string &path)
{
    {
        auto file = structures::create(path);
        auto model = ROOT::RNTupleModel::Create();
        auto number = model->MakeField<std::int32_t>("number");
        auto writer = ROOT::RNTupleWriter::Append(std::move(model), "main", *file);
        auto attributes = ROOT::RNTupleModel::Create();
        auto label = attributes->MakeField<std::string>("label");
        auto set = writer->CreateAttributeSet(std::move(attributes), "ranges");
        for (int begin = 0; begin < 30; begin += 10) {
            auto range = set->BeginRange();
            *label = "from " + std::to_string(begin);
            for (int i = begin; i < begin + 10; i++) {
                *number = i * i;
                writer->Fill();
            }
            set->CommitRange(std::move(range));
        }
    }
    DataSet main("main");
    main.Add<std::int32_t>("number", [](auto &, auto) {});
    return "{\"main\":" + main.Read(path, "main") +
           ",\"main/"
           "attribute.ranges\":{\"entries\":3,\"fields\":{\"_rangeStart\":[0,10,20],\"_rangeLen\":[10,10,10],"
           "\"_userData\":[{\"label\":\"from 0\"},{\"label\":\"from 10\"},{\"label\":\"from 20\"}]}}}";
}

/* What uproot wrote into directories. */
std::string read_directories_by_uproot(const std::string &path)
{
    DataSet numbers("");
    numbers.Add<std::int64_t>("x", [](auto &, auto) {});
    std::vector<std::pair<const DataSet *, std::string>> sets;
    for (const char *name : {"top", "a/one", "a/b/two", "a/b/c/three"})
        sets.push_back({&numbers, name});
    for (char number = '0'; number < '6'; number++)
        sets.push_back({&numbers, std::string("many/a_data_set_with_a_long_name_number_") + number});
    return structures::result(path, sets);
}
