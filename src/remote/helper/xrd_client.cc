/* SPDX-License-Identifier: MIT
 *
 * Maps requests for files to calls of XrdCl, and judges its answers. Never repeats texts of servers:
 * they may contain secrets of an address. XrdCl's recovery is off: it would reopen the current file at
 * the address, and continue as if it were the same.
 */
#include "remote/helper/xrd_client.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include <XProtocol/XProtocol.hh>
#include <XrdCl/XrdClDefaultEnv.hh>
#include <XrdCl/XrdClFile.hh>
#include <XrdCl/XrdClFileSystem.hh>

#include "remote/helper/result.h"

struct nt_xrd_file {
    XrdCl::File file;
    std::string server; /* the server where it is open */
};

struct nt_xrd_list {
    std::unique_ptr<XrdCl::DirectoryList> entries;
};

namespace
{

/* Users' own settings (XRD_...) take priority. The client connects only once: the scheduler retries.
 * More connections to a server would make opening one round trip longer. */
const struct {
    const char *name;
    int value;
} settings[] = {{"ConnectionWindow", 10}, {"ConnectionRetry", 1},      {"StreamErrorWindow", 0},
                {"StreamTimeout", 15},    {"TimeoutResolution", 1},    {"RequestTimeout", 60},
                {"RedirectLimit", 16},    {"SubStreamsPerChannel", 1}, {"MetalinkProcessing", 0}};

/* ---- Judging answers ---- */

struct Meaning {
    int code;
    nt_request_outcome outcome;
    nt_fetch_failure failure;
    const char *message; /* nullptr: use the number */
};

const Meaning of_servers[] = {
    {kXR_NotFound, NT_OUTCOME_FAILED, NT_FETCH_NOT_FOUND, "the server has no such file"},
    {kXR_NotAuthorized, NT_OUTCOME_FAILED, NT_FETCH_FORBIDDEN, "the server does not allow it"},
    {kXR_AuthFailed, NT_OUTCOME_FAILED, NT_FETCH_FORBIDDEN, "the server does not know the user"},
    {kXR_isDirectory, NT_OUTCOME_FAILED, NT_FETCH_NOT_FOUND, "it is a directory"},
    {kXR_FileNotOpen, NT_OUTCOME_OTHER_SERVER, NT_FETCH_UNREACHABLE, nullptr},
    {kXR_FileLocked, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, nullptr},
    {kXR_FSError, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, nullptr},
    {kXR_IOError, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, nullptr},
    {kXR_NoMemory, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, nullptr},
    {kXR_ServerError, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, nullptr},
    {kXR_noserver, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, nullptr},
    {kXR_Cancelled, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, nullptr},
    {kXR_Overloaded, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE, nullptr},
};

const Meaning of_client[] = {
    {XrdCl::errInvalidSession, NT_OUTCOME_OTHER_SERVER, NT_FETCH_UNREACHABLE,
     "the server has forgotten the file"},
    {XrdCl::errAuthFailed, NT_OUTCOME_FAILED, NT_FETCH_FORBIDDEN,
     "the server accepted no way to authenticate (X509_USER_PROXY, BEARER_TOKEN, KRB5CCNAME, ...)"},
    {XrdCl::errLoginFailed, NT_OUTCOME_FAILED, NT_FETCH_FORBIDDEN, "the server does not admit the user"},
    {XrdCl::errTlsError, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE,
     "cannot make an encrypted connection: no trusted authority signed the server's certificate "
     "(X509_CERT_DIR), or it has none"},
    {XrdCl::errNotSupported, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE, "XrdCl: Operation not supported"},
    {XrdCl::errInvalidArgs, NT_OUTCOME_FAILED, NT_FETCH_INVALID, "XrdCl: Invalid arguments"},
    {XrdCl::errRedirect, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE,
     "the server redirects to another protocol, or while the file is read"},
    {XrdCl::errRedirectLimit, NT_OUTCOME_FAILED, NT_FETCH_UNREACHABLE, "too many redirects"},
};

template <size_t count> const Meaning *meaning_of(const Meaning (&table)[count], int code)
{
    for (const Meaning &meaning : table)
        if (meaning.code == code)
            return &meaning;
    return nullptr;
}

void judge_server(nt_result *result, uint32_t number)
{
    const Meaning *known = meaning_of(of_servers, static_cast<int>(number));
    result->outcome = known ? known->outcome : NT_OUTCOME_FAILED;
    result->failure = known ? known->failure : NT_FETCH_UNREACHABLE;
    if (known && known->message)
        snprintf(result->message, sizeof(result->message), "%s (%u)", known->message, number);
    else
        snprintf(result->message, sizeof(result->message), "the server answers %u", number);
}

const Meaning is_never_contacted = {XrdCl::errSocketError, NT_OUTCOME_FAILED, NT_FETCH_FORBIDDEN,
                                    NT_NEVER_CONTACTED};

/* XrdCl's message without its severity: "[ERROR] Operation expired". */
void judge_client(nt_result *result, const XrdCl::Status &status)
{
    const Meaning *known = status.errNo == NT_ERRNO_NEVER_CONTACTED ? &is_never_contacted
                                                                    : meaning_of(of_client, status.code);
    std::string text = status.ToString();
    size_t words = text.find("] ");
    const char *own = text.c_str() + (words == std::string::npos ? 0 : words + 2);
    result->outcome = known ? known->outcome : NT_OUTCOME_RETRY;
    result->failure = known ? known->failure : NT_FETCH_UNREACHABLE;
    snprintf(result->message, sizeof(result->message), "%s", known ? known->message : own);
    result->message[strcspn(result->message, "\r\n")] = '\0';
}

void judge(nt_xrd_answer *answer, const XrdCl::XRootDStatus &status)
{
    bool is_servers = status.code == XrdCl::errErrorResponse;
    answer->result = nt_result{};
    if (status.IsOK())
        return;
    if (is_servers)
        judge_server(&answer->result, status.errNo);
    else
        judge_client(&answer->result, status);
    answer->is_lost = !is_servers || status.errNo == kXR_FileNotOpen;
}

void judge_as(nt_xrd_answer *answer, const Meaning &meaning)
{
    answer->result.outcome = meaning.outcome;
    answer->result.failure = meaning.failure;
    snprintf(answer->result.message, sizeof(answer->result.message), "%s", meaning.message);
}

const Meaning is_local_file = {0, NT_OUTCOME_FAILED, NT_FETCH_FORBIDDEN,
                               "the server redirects to a file of this machine"};
const Meaning is_short = {0, NT_OUTCOME_RETRY, NT_FETCH_UNREACHABLE,
                          "the server sent fewer bytes than requested"};
/* Errors that servers return for a listed file. */
const Meaning is_no_folder = {0, NT_OUTCOME_FAILED, NT_FETCH_NOT_FOUND,
                              "it is not a directory, or the server cannot list it (3005)"};
static_assert(kXR_FSError == 3005, "the number in the message");

/* ---- Requests ---- */

/* A request, until its answer. */
class Question : public XrdCl::ResponseHandler
{
  public:
    Question(nt_xrd_file *file, uint16_t seconds, nt_xrd_done *done, void *context)
        : file(file), seconds(seconds), done(done), context(context)
    {
    }

    void HandleResponse(XrdCl::XRootDStatus *status, XrdCl::AnyObject *response) override
    {
        std::unique_ptr<XrdCl::XRootDStatus> held_status(status);
        std::unique_ptr<XrdCl::AnyObject> held(response);
        answered(*status, response);
    }

    /* A request that could not be sent gets no other answer. */
    void asked(const XrdCl::XRootDStatus &status)
    {
        if (!status.IsOK())
            answered(status, nullptr);
    }

    virtual void answered(const XrdCl::XRootDStatus &status, XrdCl::AnyObject *response)
    {
        (void)response;
        judge(&answer, status);
        finish();
    }

  protected:
    void take_attributes(const XrdCl::StatInfo &info)
    {
        nt_xrd_attributes &attributes = answer.attributes;
        attributes.size = info.GetSize();
        attributes.modified = static_cast<int64_t>(info.GetModTime());
        snprintf(attributes.id, sizeof(attributes.id), "%s", info.GetId().c_str());
        snprintf(attributes.server, sizeof(attributes.server), "%s", file->server.c_str());
        answer.has_attributes = true;
    }

    void finish()
    {
        std::unique_ptr<Question> self(this);
        done(context, &answer);
    }

    nt_xrd_file *file;
    uint16_t seconds;
    nt_xrd_done *done;
    void *context;
    nt_xrd_answer answer{};
};

/* The open response includes the attributes, so asking for them is free. The client passes them while
 * it holds its lock on the file. */
class Opening : public Question
{
  public:
    using Question::Question;

    /* Open resolves the server's name in the calling thread, which may block: runs on its own thread.
     * Ends when both the call and its answer are complete. */
    void ask(const std::string &url)
    {
        asked(file->file.Open(url, XrdCl::OpenFlags::Read, XrdCl::Access::None, this, seconds));
        end_one();
    }

  private:
    bool is_open = false;
    std::atomic<int> left{2};

    /* The client opens a file of this machine if a server says so. */
    bool is_local()
    {
        std::string url;
        return file->file.GetProperty("LastURL", url) && XrdCl::URL(url).IsLocalFile();
    }

    void end_one()
    {
        if (--left == 0)
            finish();
    }

    void answered(const XrdCl::XRootDStatus &status, XrdCl::AnyObject *response) override
    {
        XrdCl::StatInfo *info = nullptr;
        judge(&answer, status);
        if (is_open && response)
            response->Get(info);
        if (info)
            take_attributes(*info);
        if (is_open || !status.IsOK()) {
            end_one();
            return;
        }
        is_open = true;
        file->file.GetProperty("DataServer", file->server);
        file->file.SetProperty("FollowRedirects", "false"); /* later ones could lead there, too */
        if (is_local()) {
            judge_as(&answer, is_local_file);
            end_one();
        } else {
            asked(file->file.Stat(false, this, seconds));
        }
    }
};

/* Requests bytes and attributes at once; the later answer ends it. */
class Reading : public Question
{
  public:
    Reading(nt_xrd_file *file, uint64_t bytes, uint16_t seconds, nt_xrd_done *done, void *context)
        : Question(file, seconds, done, context), bytes(bytes), attributes(*this)
    {
    }

    /* Without attributes the object may be freed as soon as the bytes are requested. */
    void ask(const nt_xrd_range *ranges, unsigned count, bool has_attributes)
    {
        left = has_attributes ? 2 : 1;
        if (count == 1) {
            asked(file->file.Read(ranges->offset, ranges->bytes, ranges->buffer, this, seconds));
        } else {
            XrdCl::ChunkList chunks;
            for (unsigned i = 0; i < count; i++)
                chunks.emplace_back(ranges[i].offset, ranges[i].bytes, ranges[i].buffer);
            asked(file->file.VectorRead(chunks, nullptr, this, seconds));
        }
        if (has_attributes) {
            XrdCl::XRootDStatus status = file->file.Stat(true, &attributes, seconds);
            if (!status.IsOK())
                attributes_answered(status, nullptr);
        }
    }

    void attributes_answered(const XrdCl::XRootDStatus &status, XrdCl::AnyObject *response)
    {
        XrdCl::StatInfo *info = nullptr;
        attributes_status = status;
        if (response && status.IsOK())
            response->Get(info);
        if (info)
            take_attributes(*info);
        end_one();
    }

    void answered(const XrdCl::XRootDStatus &status, XrdCl::AnyObject *response) override
    {
        XrdCl::ChunkInfo *chunk = nullptr;
        XrdCl::VectorReadInfo *vector = nullptr;
        judge(&answer, status);
        if (response && status.IsOK()) {
            response->Get(chunk);
            response->Get(vector);
        }
        uint64_t got = chunk ? chunk->length : vector ? vector->GetSize() : 0;
        if (status.IsOK() && got != bytes)
            judge_as(&answer, is_short);
        end_one();
    }

  private:
    class Attributes : public XrdCl::ResponseHandler
    {
      public:
        explicit Attributes(Reading &reading) : reading(reading)
        {
        }
        void HandleResponse(XrdCl::XRootDStatus *status, XrdCl::AnyObject *response) override
        {
            std::unique_ptr<XrdCl::XRootDStatus> held_status(status);
            std::unique_ptr<XrdCl::AnyObject> held(response);
            reading.attributes_answered(*status, response);
        }

      private:
        Reading &reading;
    };

    void end_one()
    {
        if (--left > 0)
            return;
        if (answer.result.outcome == NT_OUTCOME_OK && !attributes_status.IsOK())
            judge(&answer, attributes_status);
        finish();
    }

    uint64_t bytes;
    std::atomic<int> left{1};
    Attributes attributes;
    XrdCl::XRootDStatus attributes_status;
};

/* ---- Table of functions ---- */

/* Keeps exceptions out of C: answers with a failure, if there is a callback to answer. */
template <typename Function> void guard(nt_xrd_done *done, void *context, Function function)
{
    try {
        function();
    } catch (...) {
        nt_xrd_answer answer{};
        judge(&answer, XrdCl::XRootDStatus(XrdCl::stError, XrdCl::errInternal));
        done(context, &answer);
    }
}

void set_up()
{
    XrdCl::Env *environment = XrdCl::DefaultEnv::GetEnv();
    for (const auto &setting : settings)
        environment->PutInt(setting.name, setting.value);
}

nt_xrd_file *make_file()
{
    try {
        set_up();
        std::unique_ptr<nt_xrd_file> file(new nt_xrd_file);
        file->file.SetProperty("ReadRecovery", "false");
        return file.release();
    } catch (...) {
        return nullptr;
    }
}

void open_file(nt_xrd_file *file, const char *url, uint16_t seconds, nt_xrd_done *done, void *context)
{
    guard(done, context, [=] {
        Opening *opening = new Opening(file, seconds, done, context);
        std::thread(&Opening::ask, opening, std::string(url)).detach();
    });
}

void read_file(nt_xrd_file *file, const nt_xrd_range *ranges, unsigned count, bool has_attributes,
               uint16_t seconds, nt_xrd_done *done, void *context)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += ranges[i].bytes;
    guard(done, context, [=] {
        Reading *reading = new Reading(file, bytes, seconds, done, context);
        reading->ask(ranges, count, has_attributes);
    });
}

void close_file(nt_xrd_file *file, uint16_t seconds, nt_xrd_done *done, void *context)
{
    guard(done, context, [=] {
        Question *closing = new Question(file, seconds, done, context);
        closing->asked(file->file.Close(closing, seconds));
    });
}

void free_file(nt_xrd_file *file)
{
    delete file;
}

/* ---- Directories ---- */

/* Only the blocking call asks all servers that have a part of the directory. */
void list_folder(nt_xrd_list *list, const std::string &text, uint16_t seconds, nt_xrd_done *done,
                 void *context)
{
    guard(done, context, [=] {
        nt_xrd_answer answer{};
        XrdCl::URL url(text);
        XrdCl::FileSystem system(url);
        XrdCl::DirectoryList *entries = nullptr;
        XrdCl::XRootDStatus status = system.DirList(url.GetPathWithParams(),
                                                    XrdCl::DirListFlags::Stat | XrdCl::DirListFlags::Locate |
                                                        XrdCl::DirListFlags::Merge,
                                                    entries, seconds);
        list->entries.reset(entries);
        judge(&answer, status);
        if (status.code == XrdCl::errErrorResponse && status.errNo == kXR_FSError)
            judge_as(&answer, is_no_folder);
        if (status.IsOK() && (status.code == XrdCl::suPartial || !entries))
            judge_as(&answer, is_short);
        done(context, &answer);
    });
}

nt_xrd_list *start_list(const char *url, uint16_t seconds, nt_xrd_done *done, void *context)
{
    try {
        set_up();
        std::unique_ptr<nt_xrd_list> list(new nt_xrd_list);
        std::thread(list_folder, list.get(), std::string(url), seconds, done, context).detach();
        return list.release();
    } catch (...) {
        return nullptr;
    }
}

bool entry_of(const nt_xrd_list *list, unsigned number, nt_xrd_entry *entry)
{
    if (!list->entries || number >= list->entries->GetSize())
        return false;
    const XrdCl::DirectoryList::ListEntry *found = list->entries->At(number);
    const XrdCl::StatInfo *info = found->GetStatInfo();
    *entry = nt_xrd_entry{};
    entry->name = found->GetName().c_str();
    entry->has_attributes = info != nullptr;
    if (info) {
        entry->is_folder = info->TestFlags(XrdCl::StatInfo::IsDir);
        entry->size = info->GetSize();
        entry->modified = static_cast<int64_t>(info->GetModTime());
    }
    return true;
}

void free_list(nt_xrd_list *list)
{
    delete list;
}

} // namespace

const struct nt_xrd_client nt_xrd_client = {make_file, open_file,  read_file, close_file,
                                            free_file, start_list, entry_of,  free_list};
