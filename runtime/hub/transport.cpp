#include "runtime/hub/transport.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include "runtime/hub/curl_transport.h"
#include "runtime/hub/url.h"

namespace tenon::hub {
namespace {

constexpr size_t kChunk = 1 << 20;

/// Answers like a server: 404 for what is not there, so that callers need no case of their own.
void get_file(const Request& request, Receiver& receiver) {
  const std::string path = path_of_file_url(request.url);
  // A folder has no bytes, and to open a pipe could take for ever.
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  std::ifstream in;
  if (regular) in.open(path, std::ios::binary | std::ios::ate);
  const std::streamoff bytes = in.is_open() ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (!in || bytes < 0) {
    receiver.head({404, request.url});
    return;
  }
  in.seekg(0);
  if (!receiver.head({200, request.url, {{"content-length", std::to_string(bytes)}}})) return;
  std::vector<char> buffer(kChunk);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    if (in.gcount() > 0) receiver.body(buffer.data(), static_cast<size_t>(in.gcount()));
  }
  if (in.bad() || !in.eof())
    throw TransportError("[hub] cannot read '" + path + "'", /*transient=*/false);
}

class DefaultTransport final : public Transport {
 public:
  void get(const Request& request, Receiver& receiver) override {
    if (scheme_of(request.url) == "file") {
      get_file(request, receiver);
    } else {
      curl_get(request, receiver);
    }
  }
};

const char* reason_of(int status) {
  switch (status) {
  case 300:
    return "Multiple Choices: the name stands for a branch and a tag; give refs/heads/NAME, "
           "refs/tags/NAME or a commit";
  case 401: return "Unauthorized";
  case 403: return "Forbidden";
  case 404: return "Not Found";
  case 408: return "Request Timeout";
  case 410: return "Gone";
  case 416: return "Range Not Satisfiable";
  case 429: return "Too Many Requests";
  case 500: return "Internal Server Error";
  case 502: return "Bad Gateway";
  case 503: return "Service Unavailable";
  case 504: return "Gateway Timeout";
  default: return "no success";
  }
}

/// "until 2024-05-01 12:00:00 UTC" from the seconds since 1970 that GitHub gives; else empty.
std::string reset_time(const Response& response) {
  const std::string* reset = response.find("x-ratelimit-reset");
  if (!reset) return {};
  const std::time_t seconds = std::strtoll(reset->c_str(), nullptr, 10);
  std::tm utc{};
  char text[40];
  if (seconds <= 0 || !::gmtime_r(&seconds, &utc) ||
      std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
    return {};
  return std::string(" until ") + text;
}

class Collector final : public Receiver {
 public:
  Collector(Answer& answer, size_t max_bytes) : answer_(answer), max_bytes_(max_bytes) {}
  bool head(const Response& response) override {
    answer_.response = response;
    return true;
  }
  void body(const char* data, size_t bytes) override {
    TENON_CHECK(bytes <= max_bytes_ - answer_.body.size(), "[hub] the answer of ",
                display(answer_.response.url), " has more than ", max_bytes_, " bytes");
    answer_.body.append(data, bytes);
  }

 private:
  Answer& answer_;
  size_t max_bytes_;
};

}  // namespace

const std::string* Response::find(std::string_view name) const {
  for (const Header& header : headers) {
    if (header.first == name) return &header.second;
  }
  return nullptr;
}

std::shared_ptr<Transport> default_transport() {
  static const auto transport = std::make_shared<DefaultTransport>();
  return transport;
}

Answer get(Transport& transport, const Request& request, size_t max_bytes) {
  Answer answer;
  Collector collector(answer, max_bytes);
  transport.get(request, collector);
  return answer;
}

bool is_rate_limited(const Response& response) {
  const std::string* left = response.find("x-ratelimit-remaining");
  return (response.status == 403 || response.status == 429) && left && *left == "0";
}

HttpError http_error(const Response& response) {
  if (response.url.starts_with("file:"))
    return {"[hub] there is no file " + display(response.url), response.status};
  std::string text =
      tenon::detail::concat("[hub] HTTP ", response.status, " (", reason_of(response.status),
                            ") for ", display(response.url));
  if (is_rate_limited(response))
    text += ": the rate limit is exceeded" + reset_time(response) +
            "; a token in the environment variable GITHUB_TOKEN raises it";
  return {text, response.status};
}

}  // namespace tenon::hub
