#include "runtime/hub/curl_transport.h"

#include "runtime/hub/url.h"
#include "tenon/config.h"

#if TENON_HAS_CURL
#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
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
  /// Whether the head is an interim answer or a redirect, which libcurl follows.
  bool another_follows() const {
    return status() < 200 || (status() >= 300 && status() < 400 && response.find("location"));
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
    if (line.empty() && !transfer.another_follows()) {
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

void restrict_redirects(CURL* curl, bool secure) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
#else
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS,
                   static_cast<long>(secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

}  // namespace

void curl_get(const Request& request, Receiver& receiver) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, Closer> curl(initialised == CURLE_OK ? curl_easy_init() : nullptr);
  TENON_CHECK(curl, "[hub] libcurl cannot be initialised");

  Transfer transfer{curl.get(), receiver};
  std::unique_ptr<curl_slist, Closer> headers;
  for (const auto& [name, value] : request.headers) {
    std::string line = name;
    line.append(": ").append(value);
    TENON_CHECK_VALUE(line.find_first_of("\r\n") == std::string::npos, "[hub] the header ", name,
                      " must have no line breaks");
    curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
    TENON_CHECK(longer, "[hub] libcurl is out of memory");
    (void)headers.release();  // it is the list that `longer` continues
    headers.reset(longer);
  }
  char message[CURL_ERROR_SIZE] = "";
  const auto set = [&](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(curl.get(), option, value);
    TENON_CHECK(code == CURLE_OK, "[hub] libcurl: ", curl_easy_strerror(code));
  };
  const auto stall_seconds = static_cast<long>(
      std::max<int64_t>(1, std::chrono::ceil<std::chrono::seconds>(request.stall_timeout).count()));
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_USERAGENT, "tenon/" TENON_VERSION);
  set(CURLOPT_ERRORBUFFER, message);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_MAXREDIRS, static_cast<long>(request.max_redirects));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
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
  restrict_redirects(curl.get(), scheme_of(request.url) == "https");

  const CURLcode code = curl_easy_perform(curl.get());
  if (transfer.error) std::rethrow_exception(transfer.error);
  if (code == CURLE_WRITE_ERROR && !transfer.body_wanted) return;
  if (code != CURLE_OK)
    throw TransportError(tenon::detail::concat("[hub] cannot fetch ", display(request.url), ": ",
                                               message[0] ? message : curl_easy_strerror(code)),
                         is_transient(code));
  transfer.pass_head();
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
