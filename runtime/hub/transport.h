#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/core/error.h"

namespace tenon::hub {

using Header = std::pair<std::string, std::string>;

/// What a transport is asked for: a GET of a http, https or file URL.
struct Request {
  std::string url;
  std::vector<Header> headers{};
  std::chrono::milliseconds connect_timeout{15'000};
  /// How long the connection may be silent, or slower than `min_rate` bytes per second. Transports
  /// may round it up to whole seconds.
  std::chrono::milliseconds stall_timeout{60'000};
  int64_t min_rate = 1024;
  /// Redirects to follow; they lead to http and https only, and once to https, to https only. To
  /// another scheme, host or port go no headers but Accept, Range and If-Range.
  int max_redirects = 10;
  /// Called at least ten times a second, if the transport can; what it throws ends the transfer.
  std::function<void()> check_interrupt{};
};

/// The head of an answer. Names of headers are in lower case.
struct TENON_API Response {
  int status = 0;
  std::string url;  ///< after redirects
  std::vector<Header> headers{};

  /// The value of a header, or nullptr.
  const std::string* find(std::string_view name) const;
};

/// Takes an answer as it comes. What it throws ends the transfer and reaches the caller.
class TENON_API Receiver {
 public:
  virtual ~Receiver() = default;
  /// Called once, before the body. False: the body is not wanted.
  virtual bool head(const Response& response) = 0;
  virtual void body(const char* data, size_t bytes) = 0;
};

/// No answer came, or only a part of it: no such host, no connection, silence, a broken transfer.
class TENON_API TransportError : public Error {
 public:
  /// `transient`: the same request may succeed later.
  TransportError(const std::string& message, bool transient)
      : Error(message), transient_(transient) {}
  bool transient() const { return transient_; }

 private:
  bool transient_;
};

/// The server answered with a status that is none of success.
class TENON_API HttpError : public Error {
 public:
  HttpError(const std::string& message, int status) : Error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

/// How bytes are got from a URL. An implementation may be called by several threads at once.
class TENON_API Transport {
 public:
  virtual ~Transport() = default;
  /// Sends the request, follows redirects, passes the last answer to `receiver` and returns when
  /// its body is complete. Any status is an answer; TransportError where there is none.
  virtual void get(const Request& request, Receiver& receiver) = 0;
};

/// Reads file:// URLs itself and leaves http and https to libcurl, whose proxies come from the
/// environment (http_proxy, https_proxy, all_proxy, no_proxy). In a build without libcurl http and
/// https are an Error that says so.
TENON_API std::shared_ptr<Transport> default_transport();

/// An answer whose body is small enough to be kept.
struct Answer {
  Response response;
  std::string body;
};
/// GETs the whole answer. Error if the body has more than `max_bytes`.
TENON_API Answer get(Transport& transport, const Request& request, size_t max_bytes);

/// The error that stands for a status: "[hub] HTTP 404 (Not Found) for https://...". It says when a
/// rate limit ends.
TENON_API HttpError http_error(const Response& response);

}  // namespace tenon::hub
