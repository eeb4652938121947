#include "runtime/hub/curl_transport.h"

#include "runtime/hub/url.h"
#include "tenon/config.h"

#if TENON_HAS_CURL
#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>
#endif

namespace tenon::hub {

#if TENON_HAS_CURL
namespace {

/// More than any server sends.
constexpr size_t kMostHeaderBytes = 256 << 10;

/// The state of one transfer, which libcurl's callbacks are given. No exception may pass through
/// libcurl: the first one is kept and thrown afterwards.
struct Transfer {
  CURL* curl;
  Receiver& receiver;
  Response response{};
  size_t header_bytes = 0;  ///< of all answers
  bool head_passed = false;
  bool body_wanted = true;
  std::exception_ptr error{};

  int status() const {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }
  /// Where the answer leads to instead of being one, else nullptr.
  const std::string* redirect() const {
    return status() >= 300 && status() < 400 ? response.find("location") : nullptr;
  }
  /// Passes the head on, once.
  void pass_head() {
    if (std::exchange(head_passed, true)) return;
    char* url = nullptr;
    curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &url);
    response.status = status();
    response.url = url ? url : "";
    body_wanted = receiver.head(response);
  }
};

size_t on_header(char* data, size_t, size_t bytes, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  try {
    transfer.header_bytes += bytes;
    TENON_CHECK(transfer.header_bytes <= kMostHeaderBytes, "[hub] the answer has more than ",
                kMostHeaderBytes, " bytes of headers");
    std::string_view line(data, bytes);
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() && transfer.status() >= 200) {
      if (transfer.redirect()) return 0;  // its body is of no use
      transfer.pass_head();
      return transfer.body_wanted ? bytes : 0;
    }
    // A status line: what came before belongs to a redirect or to an interim answer.
    if (line.starts_with("HTTP/")) {
      transfer.response.headers.clear();
      return bytes;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return bytes;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    transfer.response.headers.emplace_back(
        std::move(name), value == std::string_view::npos ? "" : line.substr(value));
    return bytes;
  } catch (...) {
    transfer.error = std::current_exception();
    return 0;
  }
}

size_t on_body(char* data, size_t, size_t bytes, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  try {
    transfer.pass_head();
    if (!transfer.body_wanted) return 0;
    transfer.receiver.body(data, bytes);
    return bytes;
  } catch (...) {
    transfer.error = std::current_exception();
    return 0;
  }
}

bool is_transient(CURLcode code) {
  switch (code) {
  case CURLE_COULDNT_RESOLVE_PROXY:
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_CONNECT:
  case CURLE_PARTIAL_FILE:
  case CURLE_OPERATION_TIMEDOUT:
  case CURLE_GOT_NOTHING:
  case CURLE_SEND_ERROR:
  case CURLE_RECV_ERROR:
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_HTTP2:
  case CURLE_HTTP2_STREAM: return true;
  default: return false;
  }
}

struct Closer {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// A URL and its parts.
class Url {
 public:
  explicit Url(const std::string& text) : url_(curl_url()) {
    TENON_CHECK(url_, "[hub] libcurl is out of memory");
    set(text);
  }

  /// The URL that `text`, whole or relative to this one, stands for.
  Url resolved(const std::string& text) const {
    Url next(this->text());
    next.set(text);
    return next;
  }
  std::string text() const { return part(CURLUPART_URL); }
  std::string scheme() const { return part(CURLUPART_SCHEME); }
  /// Scheme, host and port, which who is trusted with a secret goes by.
  std::string origin() const {
    std::string host = part(CURLUPART_HOST);
    std::transform(host.begin(), host.end(), host.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return scheme() + "://" + host + ":" + part(CURLUPART_PORT);
  }
  /// Takes over the user and password of another URL unless it has its own.
  void take_user(const Url& from) {
    if (!part(CURLUPART_USER).empty()) return;
    for (const CURLUPart which : {CURLUPART_USER, CURLUPART_PASSWORD}) {
      const std::string value = from.part(which);
      if (!value.empty()) curl_url_set(url_.get(), which, value.c_str(), 0);
    }
  }

 private:
  struct Freer {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }
  };

  void set(const std::string& text) {
    const CURLUcode code = curl_url_set(url_.get(), CURLUPART_URL, text.c_str(),
                                        CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE);
    if (code != CURLUE_OK)
      throw TransportError("[hub] " + display(text) + " is no URL that libcurl knows",
                           /*transient=*/false);
  }
  std::string part(CURLUPart which) const {
    char* text = nullptr;
    const unsigned flags = which == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0;
    if (curl_url_get(url_.get(), which, &text, flags) != CURLUE_OK) return {};
    std::string copy(text);
    curl_free(text);
    return copy;
  }

  std::unique_ptr<CURLU, Freer> url_;
};

/// Headers that tell nobody's secret: they are sent wherever a redirect leads.
bool is_harmless(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name == "accept" || name == "range" || name == "if-range";
}

using HeaderList = std::unique_ptr<curl_slist, Closer>;

HeaderList header_list(const std::vector<Header>& headers, bool harmless_alone) {
  HeaderList list;
  for (const auto& [name, value] : headers) {
    if (harmless_alone && !is_harmless(name)) continue;
    std::string line = name;
    line.append(": ").append(value);
    TENON_CHECK_VALUE(line.find_first_of("\r\n") == std::string::npos, "[hub] the header ", name,
                      " must have no line breaks");
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    TENON_CHECK(longer, "[hub] libcurl is out of memory");
    (void)list.release();  // it is the list that `longer` continues
    list.reset(longer);
  }
  return list;
}

struct MultiCloser {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

/// Takes a transfer out of the set that it was added to.
struct Remover {
  CURLM* multi;
  void operator()(CURL* curl) const { curl_multi_remove_handle(multi, curl); }
};

/// curl_easy_perform(), which would notice an interrupt once a second. What `check_interrupt`
/// throws ends the transfer.
CURLcode perform(CURL* curl, const std::function<void()>& check_interrupt) {
  constexpr std::chrono::milliseconds kBetweenChecks{100};
  using Clock = std::chrono::steady_clock;
  const std::unique_ptr<CURLM, MultiCloser> multi(curl_multi_init());
  TENON_CHECK(multi, "[hub] libcurl is out of memory");
  const auto check = [](CURLMcode code) {
    TENON_CHECK(code == CURLM_OK, "[hub] libcurl: ", curl_multi_strerror(code));
  };
  check(curl_multi_add_handle(multi.get(), curl));
  const std::unique_ptr<CURL, Remover> added(curl, Remover{multi.get()});
  int running = 1;
  auto next_check = Clock::now() + kBetweenChecks;
  while (true) {
    check(curl_multi_perform(multi.get(), &running));
    if (!running) break;
    check(curl_multi_poll(multi.get(), nullptr, 0, kBetweenChecks.count(), nullptr));
    if (!check_interrupt || Clock::now() < next_check) continue;
    next_check = Clock::now() + kBetweenChecks;
    try {
      check_interrupt();
    } catch (...) {
#if LIBCURL_VERSION_NUM >= 0x075700
      // Else the end of a look-up of the host's name is waited for.
      curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
#endif
      throw;
    }
  }
  int waiting = 0;
  const CURLMsg* const done = curl_multi_info_read(multi.get(), &waiting);
  TENON_CHECK(done && done->msg == CURLMSG_DONE, "[hub] libcurl: the transfer has no result");
  return done->data.result;
}

/// One request without its redirects; the URL that it is redirected to, if it is.
std::optional<Url> get_once(CURL* curl, const Request& request, const Url& url, curl_slist* headers,
                            Receiver& receiver) {
  Transfer transfer{curl, receiver};
  char message[CURL_ERROR_SIZE] = "";
  const auto set = [&](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(curl, option, value);
    TENON_CHECK(code == CURLE_OK, "[hub] libcurl: ", curl_easy_strerror(code));
  };
  const auto stall_seconds = static_cast<long>(
      std::max<int64_t>(1, std::chrono::ceil<std::chrono::seconds>(request.stall_timeout).count()));
  set(CURLOPT_URL, url.text().c_str());
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_USERAGENT, "tenon/" TENON_VERSION);
  set(CURLOPT_ERRORBUFFER, message);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(std::max<int64_t>(1, request.min_rate)));
  set(CURLOPT_LOW_SPEED_TIME, stall_seconds);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_BUFFERSIZE, 256L * 1024);
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  // As the program curl does: the library alone knows only the certificates it was built with.
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
    if (const char* file = std::getenv(name); file && *file) set(CURLOPT_CAINFO, file);
  }

  const CURLcode code = perform(curl, request.check_interrupt);
  if (transfer.error) std::rethrow_exception(transfer.error);
  if (code == CURLE_WRITE_ERROR && !transfer.head_passed && transfer.redirect())
    return url.resolved(*transfer.redirect());
  if (code == CURLE_WRITE_ERROR && !transfer.body_wanted) return std::nullopt;
  if (code != CURLE_OK)
    throw TransportError(tenon::detail::concat("[hub] cannot fetch ", display(url.text()), ": ",
                                               message[0] ? message : curl_easy_strerror(code)),
                         is_transient(code));
  transfer.pass_head();
  return std::nullopt;
}

}  // namespace

// Redirects are not left to libcurl, which keeps of the headers two names alone from other hosts,
// and would go from https to http and back.
void curl_get(const Request& request, Receiver& receiver) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, Closer> curl(initialised == CURLE_OK ? curl_easy_init() : nullptr);
  TENON_CHECK(curl, "[hub] libcurl cannot be initialised");

  const auto refuse = [&](const auto&... why) {
    throw TransportError(
        tenon::detail::concat("[hub] cannot fetch ", display(request.url), ": ", why...),
        /*transient=*/false);
  };
  Url url(request.url);
  HeaderList headers = header_list(request.headers, /*harmless_alone=*/false);
  for (int redirects = 0;; ++redirects) {
    std::optional<Url> next = get_once(curl.get(), request, url, headers.get(), receiver);
    if (!next) return;
    const std::string shown = display(next->text());
    if (redirects == request.max_redirects)
      refuse("it is redirected more than ", request.max_redirects, " times, to ", shown);
    const std::string scheme = next->scheme();
    if (scheme != "https" && (scheme != "http" || url.scheme() == "https"))
      refuse("a redirect leads to ", shown, ", from ", url.scheme(), " to ", scheme);
    if (next->origin() == url.origin()) {
      next->take_user(url);
    } else {
      headers = header_list(request.headers, /*harmless_alone=*/true);
    }
    url = std::move(*next);
  }
}

#else

void curl_get(const Request& request, Receiver&) {
  throw TransportError("[hub] cannot fetch " + display(request.url) +
                           ": this build of Tenon has no libcurl; install libcurl4-openssl-dev and "
                           "configure again, or fetch the file yourself and give a file:// URL",
                       /*transient=*/false);
}

#endif

}  // namespace tenon::hub
