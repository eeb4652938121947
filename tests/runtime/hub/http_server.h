#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenon::hub::test {

struct HttpRequest {
  std::string target;                          ///< "/x", or what a proxy is asked for
  std::map<std::string, std::string> headers;  ///< names in lower case
  /// Empty if there is no such header.
  std::string header(const std::string& name) const;
};

/// One accepted connection, which is closed after its handler returns.
class HttpConnection {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  explicit HttpConnection(int socket) : socket_(socket) {}
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  HttpRequest read_request();
  void send(const std::string& bytes);
  /// Status line and headers, nothing added.
  void send_head(int status, const Headers& headers);
  /// A whole answer with its Content-Length.
  void respond(int status, const Headers& headers = {}, const std::string& body = {});
  /// Ends the connection with a reset.
  void reset();
  /// Says nothing until the other side hangs up.
  void wait_for_hang_up();

 private:
  int socket_;
};

/// A HTTP server on the loopback interface, at a port that is free.
class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpConnection&)>;

  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  std::string url(const std::string& path, const std::string& host = "127.0.0.1") const;
  std::vector<HttpRequest> requests() const;

 private:
  void accept_all();
  void serve(int socket);

  Handler handler_;
  int listener_;
  int port_;
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::vector<std::thread> workers_;
  std::thread acceptor_;
};

/// Serves `body` as a good server does: with ETag, Range and If-Range. Of the answer's body only
/// `limit` bytes are sent.
void serve_file(const HttpRequest& request, HttpConnection& connection, const std::string& body,
                const std::string& etag, size_t limit = std::string::npos);

}  // namespace tenon::hub::test
