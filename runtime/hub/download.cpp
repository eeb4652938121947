#include "runtime/hub/download.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "runtime/hub/directory.h"
#include "runtime/hub/file_lock.h"
#include "runtime/hub/hash_prefix.h"
#include "runtime/hub/partial_file.h"
#include "runtime/hub/url.h"
#include "runtime/serialization/progress_bar.h"
#include "runtime/serialization/serialize.h"
#include "runtime/serialization/sha256.h"

namespace tenon::hub {
namespace {

using serialization::ProgressBar;

constexpr std::chrono::milliseconds kLongestWait{60'000};
constexpr int kOk = 200, kPartialContent = 206, kRangeNotSatisfiable = 416;

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::optional<uint64_t> number_in(const std::string* text) {
  uint64_t number = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

/// "bytes 100-199/200".
struct ContentRange {
  uint64_t first = 0, last = 0;
  std::optional<uint64_t> total{};
};

std::optional<ContentRange> content_range(const Response& response) {
  const std::string* text = response.find("content-range");
  if (!text || !text->starts_with("bytes ")) return std::nullopt;
  const size_t dash = text->find('-'), slash = text->find('/');
  if (dash == std::string::npos || slash == std::string::npos || dash > slash) return std::nullopt;
  const std::string first = text->substr(6, dash - 6),
                    last = text->substr(dash + 1, slash - dash - 1),
                    total = text->substr(slash + 1);
  const auto first_byte = number_in(&first), last_byte = number_in(&last);
  if (!first_byte || !last_byte || *last_byte < *first_byte) return std::nullopt;
  return ContentRange{*first_byte, *last_byte, number_in(&total)};
}

/// What identifies this version of the file, or nothing: a weak ETag does not promise equal bytes.
std::string validator_of(const Response& response) {
  if (const std::string* tag = response.find("etag"); tag && !tag->starts_with("W/")) return *tag;
  const std::string* date = response.find("last-modified");
  return date ? *date : "";
}

bool is_transient(int status) {
  return status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

/// A status after which the same request may succeed, perhaps after a wait.
struct TryLater {
  HttpError error;
  std::chrono::milliseconds wait;
};

std::string lower(std::string_view text) {
  std::string copy(text);
  std::transform(copy.begin(), copy.end(), copy.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return copy;
}

std::string_view without_query(std::string_view url) {
  return url.substr(0, url.find_first_of("?#"));
}

/// Whether text begins as HTML does, after a byte order mark, blanks and comments.
bool is_web_page(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f"), text.size()));
    const std::string_view end = text.starts_with("<!--") ? "-->" : ">";
    if (!text.starts_with("<!--") && !text.starts_with("<?")) break;
    text.remove_prefix(std::min(text.find(end), text.size() - end.size()) + end.size());
  }
  const std::string start = lower(text.substr(0, 16));
  for (const char* tag : {"<!doctype html", "<html", "<head", "<body", "<script"})
    if (start.starts_with(tag)) return true;
  return false;
}

/// ValueError for bytes that anybody on their way could exchange: http without a hash that names
/// one file alone.
void check_secure(const std::string& url, const DownloadOptions& options) {
  constexpr size_t kDigitsOfOneFile = 32;
  if (scheme_of(url) != "http" || options.allow_insecure) return;
  TENON_CHECK_VALUE(
      options.hash_prefix.size() >= kDigitsOfOneFile, "[hub] ", display(url),
      " comes over http, where anybody on the way can exchange it: take https, give at least ",
      kDigitsOfOneFile, " digits of its SHA-256 (hash_prefix, check_hash), of which there are ",
      options.hash_prefix.size(), ", or set allow_insecure");
}

/// One file's way from the server to its name.
class Download final : public Receiver {
 public:
  Download(const std::string& url, const std::string& path, const DownloadOptions& options,
           ProgressBar& bar)
      : url_(url), source_(serialization::sha256_hex(url)), options_(options), bar_(bar),
        transport_(options.transport ? options.transport : default_transport()),
        hash_prefix_(options.hash_prefix.empty() ? "" : checked_hash_prefix(options.hash_prefix)),
        path_(path), partial_(path) {}

  void run() {
    resumable_ = can_resume();
    joined_ = continues();
    if (joined_) hash_present();
    // Parts that were put together may prove wrong as a whole; then all is fetched once more.
    for (bool again = false;; again = true) {
      fetch();
      const std::string hash = hash_prefix_.empty() ? "" : sha_.hex();
      if (hash.starts_with(hash_prefix_)) break;
      TENON_CHECK(joined_ && !again, "[hub] invalid hash value (expected \"", hash_prefix_,
                  "\", got \"", hash, "\") of ", display(url_));
      resumable_ = false;
    }
    if (hash_prefix_.empty()) check_no_page();
    partial_.commit();
  }

  bool head(const Response& response) override;
  void body(const char* data, size_t bytes) override;

 private:
  void fetch();
  void attempt();
  void check_interrupt();
  void sleep(std::chrono::milliseconds time);
  bool is_complete() const { return resumable_ && partial_.size() == partial_.origin().total; }
  /// Bytes are continued if they are known to be of the same file, or if their hash will tell.
  bool can_resume() const {
    const Origin& origin = partial_.origin();
    return origin.source == source_ && !(origin.validator.empty() && hash_prefix_.empty()) &&
           partial_.size() <= origin.total.value_or(options_.max_bytes);
  }
  /// Whether the next request is for the rest alone.
  bool continues() const { return resumable_ && partial_.size() > 0; }
  void keep_for_later() {
    if (continues()) partial_.keep();
  }
  void hash_present();
  void check_room(uint64_t total) const;
  void check_no_page() const;
  void report();

  const std::string& url_;
  const std::string source_;
  const DownloadOptions& options_;
  ProgressBar& bar_;
  std::shared_ptr<Transport> transport_;
  std::string hash_prefix_;
  const std::string& path_;
  PartialFile partial_;
  serialization::Sha256 sha_;
  bool resumable_ = false;  ///< the bytes in partial_ may be continued
  bool joined_ = false;     ///< the bytes in partial_ are from several answers
};

void Download::hash_present() {
  if (hash_prefix_.empty()) return;
  std::vector<char> buffer(1 << 20);
  for (uint64_t at = 0; at < partial_.size();) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(buffer.size(), partial_.size() - at));
    partial_.read(at, buffer.data(), bytes);
    sha_.update(buffer.data(), bytes);
    at += bytes;
  }
}

void Download::check_room(uint64_t total) const {
  TENON_CHECK(total <= options_.max_bytes, "[hub] ", display(url_), " has ", total,
              " bytes, more than the ", options_.max_bytes, " allowed (max_bytes)");
  std::error_code unknown;
  const auto space = std::filesystem::space(folder_of(path_), unknown);
  TENON_CHECK(unknown || total <= space.available, "[hub] ", display(url_), " has ", total,
              " bytes, and the folder ", folder_of(path_), " has room for ", space.available);
}

/// Servers answer with a page, and a status of success, where one should log in or look elsewhere.
void Download::check_no_page() const {
  const std::string name = lower(without_query(url_));
  if (name.ends_with(".html") || name.ends_with(".htm") || name.ends_with(".xhtml")) return;
  std::string text(std::min<uint64_t>(partial_.size(), 512), '\0');
  partial_.read(0, text.data(), text.size());
  TENON_CHECK(
      !is_web_page(text), "[hub] ", display(url_),
      " answers with a web page, not with a file. It may want one to log in, or have moved; "
      "what was downloaded is not kept");
}

void Download::report() {
  bar_.update(partial_.size(), partial_.origin().total);
  if (!options_.on_progress) return;
  try {
    options_.on_progress(partial_.size(), partial_.origin().total);
  } catch (...) {
    keep_for_later();
    throw;
  }
}

bool Download::head(const Response& response) {
  const auto length = number_in(response.find("content-length"));
  if (response.status == kOk) {
    sha_ = {};
    partial_.restart({source_, validator_of(response), length});
    resumable_ = can_resume();
    joined_ = false;
    if (length) check_room(*length);
    report();
    return true;
  }
  if (response.status == kPartialContent && continues()) {
    const auto range = content_range(response);
    const auto known = partial_.origin().total;
    const std::string validator = validator_of(response);
    // A server or proxy that answers a range with another one would corrupt the file.
    if (!range || range->first != partial_.size() || (known && range->total != known) ||
        (!validator.empty() && !partial_.origin().validator.empty() &&
         validator != partial_.origin().validator)) {
      resumable_ = false;
      throw TransportError("[hub] " + display(url_) + " answered the request for its bytes from " +
                               std::to_string(partial_.size()) + " with others",
                           /*transient=*/true);
    }
    joined_ = true;
    report();
    return true;
  }
  if (response.status == kRangeNotSatisfiable && continues()) {
    resumable_ = false;
    throw TransportError("[hub] " + display(url_) + " has no bytes from " +
                             std::to_string(partial_.size()) + " on",
                         /*transient=*/true);
  }
  if (!is_transient(response.status)) throw http_error(response);
  const auto seconds = number_in(response.find("retry-after"));
  throw TryLater{http_error(response),
                 std::chrono::seconds(std::min<uint64_t>(seconds.value_or(0), 86'400))};
}

void Download::body(const char* data, size_t bytes) {
  const uint64_t total = partial_.origin().total.value_or(options_.max_bytes);
  TENON_CHECK(bytes <= total - partial_.size(), "[hub] ", display(url_), " sends more than the ",
              total, partial_.origin().total ? " bytes that it announced" : " bytes allowed");
  partial_.append(data, bytes);
  if (!hash_prefix_.empty()) sha_.update(data, bytes);
  report();
}

void Download::attempt() {
  Request request{url_, options_.headers, options_.connect_timeout, options_.stall_timeout,
                  options_.min_rate};
  request.check_interrupt = [this] { check_interrupt(); };
  if (continues()) {
    request.headers.emplace_back("Range", "bytes=" + std::to_string(partial_.size()) + "-");
    if (!partial_.origin().validator.empty())
      request.headers.emplace_back("If-Range", partial_.origin().validator);
  }
  transport_->get(request, *this);
  const auto total = partial_.origin().total;
  if (total && partial_.size() != *total)
    throw TransportError(tenon::detail::concat("[hub] ", display(url_), " ended after ",
                                               partial_.size(), " of ", *total, " bytes"),
                         /*transient=*/true);
}

void Download::fetch() {
  // What the slowest connection allowed brings until it is given up.
  const auto least =
      static_cast<uint64_t>(std::max<int64_t>(0, options_.min_rate) *
                            std::max<int64_t>(1, options_.stall_timeout.count() / 1000));
  int failures = 0;
  uint64_t furthest = partial_.size();
  while (!is_complete()) {
    std::chrono::milliseconds wait{0};
    try {
      attempt();
      return;
    } catch (const TransportError& error) {
      if (partial_.size() > furthest + least) {
        failures = 0;
        furthest = partial_.size();
      }
      if (!error.transient() || failures >= options_.retries) {
        keep_for_later();
        throw;
      }
      bar_.note(std::string(error.what()) + "; trying again");
    } catch (const TryLater& later) {
      if (failures >= options_.retries || later.wait > kLongestWait) {
        keep_for_later();
        throw later.error;
      }
      wait = later.wait;
    } catch (const Error&) {
      throw;
    } catch (...) {
      // An interrupt that the transport has noticed itself.
      keep_for_later();
      throw;
    }
    wait = std::max(wait, std::min(kLongestWait, options_.backoff * (1 << std::min(failures, 16))));
    ++failures;
    sleep(wait);
  }
}

void Download::check_interrupt() {
  if (!options_.check_interrupt) return;
  try {
    options_.check_interrupt();
  } catch (...) {
    keep_for_later();
    throw;
  }
}

void Download::sleep(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kStep{100};
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    check_interrupt();
    std::this_thread::sleep_until(std::min(end, std::chrono::steady_clock::now() + kStep));
  }
}

/// Fetches under the lock unless `is_there` says that somebody has done so meanwhile.
void fetch_locked(const std::string& url, const std::string& path, const DownloadOptions& options,
                  const std::function<bool()>& is_there) {
  TENON_CHECK(is_folder(folder_of(path)), "[hub] Parent directory ", folder_of(path),
              " does not exist.");
  TENON_CHECK(!is_folder(path), "[hub] cannot download to '", path, "': it is a directory");
  check_secure(url, options);
  ProgressBar bar(std::filesystem::path(path).filename().string(), options.progress);
  const FileLock lock(
      path + ".lock", [&] { bar.note("waiting for another download of it"); },
      options.check_interrupt);
  if (is_there()) return;
  Download(url, path, options, bar).run();
}

}  // namespace

void download_url_to_file(const std::string& url, const std::string& path,
                          const DownloadOptions& options) {
  fetch_locked(url, path, options, [] { return false; });
}

void download_once(const std::string& url, const std::string& path,
                   const DownloadOptions& options) {
  const std::string prefix =
      options.hash_prefix.empty() ? "" : checked_hash_prefix(options.hash_prefix);
  const auto is_there = [&] {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) &&
           (prefix.empty() || serialization::sha256_file(path).starts_with(prefix));
  };
  if (!is_there()) fetch_locked(url, path, options, is_there);
}

std::string cached_file(const std::string& url, const CachedFileOptions& options) {
  const std::string folder =
      options.model_dir.empty() ? get_dir() + "/checkpoints" : options.model_dir;
  const std::string name = options.file_name.empty() ? file_name_of(url) : options.file_name;
  check_file_name(name);
  DownloadOptions download = options;
  if (options.check_hash && download.hash_prefix.empty()) {
    download.hash_prefix = hash_prefix_in(name);
    TENON_CHECK_VALUE(
        !download.hash_prefix.empty(),
        "[hub] check_hash needs a file name with at least 8 hexadecimal digits of the "
        "file's SHA-256, such as lenet-0123abcd.pt, got \"",
        name, '"');
  }
  make_folder(folder);
  std::string path = folder + "/" + name;
  download_once(url, path, download);
  return path;
}

nn::StateDict load_state_dict_from_url(const std::string& url, const CachedFileOptions& options,
                                       const serialization::LoadOptions& load) {
  return serialization::load_state_dict(cached_file(url, options), load);
}

}  // namespace tenon::hub
