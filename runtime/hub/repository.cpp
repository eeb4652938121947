#include "runtime/hub/repository.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "runtime/hub/directory.h"
#include "runtime/hub/file_lock.h"
#include "runtime/hub/github.h"
#include "runtime/hub/repository_name.h"
#include "runtime/hub/trust.h"
#include "runtime/hub/unpack.h"
#include "runtime/hub/url.h"
#include "runtime/serialization/sha256.h"

namespace tenon::hub {
namespace {

namespace fs = std::filesystem;

/// In a folder that was unpacked: the URL it came from, since "a/b_c:d" and "a/b:c_d" have folders
/// of one name.
constexpr const char* kOriginFile = ".tenon_hub";

/// Where a repository comes from and where it is kept.
class Source {
 public:
  Source(RepositoryName repository, const RepositoryOptions& options)
      : repository_(std::move(repository)), options_(options) {
    if (is_github()) return;
    while (base_.ends_with('/')) base_.pop_back();
    const std::string shown = display(base_);
    // The text is for people, the digits tell URLs apart, and '@' sets both apart from every owner
    // at GitHub.
    std::transform(shown.begin(), shown.end(), std::back_inserter(prefix_), [](unsigned char c) {
      return std::isalnum(c) || c == '.' ? static_cast<char>(c) : '-';
    });
    constexpr size_t kMostText = 100, kDigits = 16;
    prefix_.resize(std::min(prefix_.size(), kMostText));
    prefix_ += "-" + serialization::sha256_hex(shown).substr(0, kDigits) + "@";
  }

  /// The repository's line in the list of trusted ones: no other's, since no owner has a '_'.
  std::string id() const { return prefix_ + repository_.owner + "_" + repository_.name; }

  std::string folder(const std::string& ref) const {
    std::string name = id() + "_" + ref;
    std::replace(name.begin(), name.end(), '/', '_');
    return get_dir() + "/" + name;
  }

  std::string url(const std::string& ref) const {
    return is_github() ? "https://github.com/" + repository_.without_ref() + "/zipball/" + ref
                       : base_ + "/" + repository_.without_ref() + "/archive/" + ref + ".zip";
  }

  bool has(const std::string& ref) const { return is_folder(folder(ref)); }

  /// Whether the cache has this repository, and not another whose folder has the same name. One
  /// that somebody put there says nothing of itself, and is never downloaded over.
  bool has_own(const std::string& ref) const {
    if (!has(ref)) return false;
    const std::string origin = origin_of(ref);
    return origin.empty() ? !options_.force_reload : origin == display(url(ref));
  }

  /// The folder of what is in the cache.
  std::string cached(const std::string& ref) const {
    std::string path = folder(ref);
    if (const std::string origin = origin_of(ref); !origin.empty())
      TENON_CHECK(origin == display(url(ref)), "[hub] the folder ", path, " is for ",
                  display(url(ref)), " and holds ", origin,
                  "; remove it or choose another set_dir");
    return path;
  }

  /// Downloads unless somebody else did so just now.
  std::string fetch(const std::string& ref) const;

  bool is_github() const { return options_.source == "github"; }

 private:
  std::string origin_of(const std::string& ref) const {
    std::ifstream in(folder(ref) + "/" + kOriginFile, std::ios::binary);
    std::string origin;
    std::getline(in, origin);
    return origin;
  }

  RepositoryName repository_;
  const RepositoryOptions& options_;
  std::string base_ = options_.source;
  std::string prefix_;
};

/// Temporary files and folders: gone before the work begins, and when it is done, well or not.
class TemporaryPaths {
 public:
  explicit TemporaryPaths(std::vector<std::string> paths) : paths_(std::move(paths)) { remove(); }
  ~TemporaryPaths() { remove(); }
  TemporaryPaths(const TemporaryPaths&) = delete;
  TemporaryPaths& operator=(const TemporaryPaths&) = delete;

 private:
  void remove() const {
    std::error_code ignored;
    for (const std::string& path : paths_) fs::remove_all(path, ignored);
  }

  std::vector<std::string> paths_;
};

/// Makes what was unpacked durable, all files at once: one by one takes minutes where there are
/// thousands.
void sync(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = descriptor >= 0 && ::syncfs(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  TENON_CHECK(done, "[hub] cannot sync '", folder, "': ", std::strerror(reason));
}

void rename(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  TENON_CHECK(!error, "[hub] cannot rename '", from, "' to '", to, "': ", error.message());
}

std::string Source::fetch(const std::string& ref) const {
  // '~' is in no ref, so no other ref's folder has one of these names.
  std::string path = folder(ref);
  const std::string archive = path + "~zip", fresh = path + "~new", old = path + "~old";
  const FileLock lock(path + "~lock", {}, options_.download.check_interrupt);
  // Another's folder of the same name is not replaced, either.
  if (has(ref) && cached(ref) == path && !options_.force_reload) return path;
  DownloadOptions download = options_.download;
  download.max_bytes = std::min(download.max_bytes, options_.max_archive_bytes);
  const TemporaryPaths temporary({archive, fresh, old});
  download_url_to_file(url(ref), archive, download);
  unpack(archive, fresh, {.bytes = options_.max_unpacked_bytes, .entries = options_.max_entries});
  std::ofstream origin(fresh + "/" + kOriginFile, std::ios::binary);
  TENON_CHECK(origin << display(url(ref)) << std::endl, "[hub] cannot write to '", fresh, "'");
  origin.close();
  sync(fresh);
  if (has(ref)) rename(path, old);
  rename(fresh, path);
  return path;
}

/// The default branch: main, else master.
std::string get_default_branch(const Source& source, const std::string& repository,
                               const RepositoryOptions& options) {
  if (!options.force_reload && source.has("main")) return source.cached("main");
  const bool may_use_master = !options.force_reload && source.has("master");
  try {
    try {
      return source.fetch("main");
    } catch (const HttpError& error) {
      if (error.status() != 404) throw;
    }
    if (may_use_master) return source.cached("master");
    return source.fetch("master");
  } catch (const HttpError& error) {
    if (may_use_master) return source.cached("master");
    if (error.status() != 404) throw;
    throw HttpError("[hub] " + repository +
                        " has neither a branch main nor a branch master, or it is private or does "
                        "not exist: " +
                        error.what(),
                    error.status());
  } catch (const TransportError&) {
    if (may_use_master) return source.cached("master");
    throw;
  }
}

/// Downloads the ref that the name gives.
std::string get_pinned(const Source& source, const RepositoryName& name,
                       const RepositoryOptions& options) {
  if (source.has(name.ref) && !options.force_reload) return source.cached(name.ref);
  if (source.is_github() && !options.skip_validation) check_ref(name, options.download);
  try {
    return source.fetch(name.ref);
  } catch (const HttpError& error) {
    if (error.status() != 404) throw;
    throw HttpError("[hub] Cannot find " + name.ref + " in " + name.without_ref() + ": " +
                        error.what(),
                    error.status());
  }
}

}  // namespace

std::string get_repository(const std::string& repository, const RepositoryOptions& options) {
  if (options.source == "local") {
    TENON_CHECK(is_folder(repository), "[hub] there is no folder '", repository, "'");
    return repository;
  }
  const bool is_url = options.source.find("://") != std::string::npos;
  TENON_CHECK_VALUE(options.source == "github" || is_url, "[hub] Unknown source: \"",
                    options.source,
                    "\". Allowed values: \"github\" | \"local\". A server of your "
                    "own is named by its URL, as in https://host/path");
  if (is_url) scheme_of(options.source);
  const auto name = RepositoryName::parse(repository);
  const Source source(name, options);
  const bool is_cached = name.ref.empty() ? source.has_own("main") || source.has_own("master")
                                          : source.has_own(name.ref);
  check_trust(name.without_ref(), source.id(), is_cached, options);
  make_folder(get_dir());
  try {
    return name.ref.empty() ? get_default_branch(source, name.without_ref(), options)
                            : get_pinned(source, name, options);
  } catch (const TransportError& error) {
    if (options.force_reload) throw;
    throw TransportError(std::string(error.what()) + ", and " + repository +
                             " is not in the cache " + get_dir(),
                         error.transient());
  }
}

}  // namespace tenon::hub
