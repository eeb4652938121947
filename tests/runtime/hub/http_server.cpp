#include "tests/runtime/hub/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace tenon::hub::test {
namespace {

/// The loopback interface is to be reached directly, whatever proxy the machine is behind.
[[maybe_unused]] const int no_proxy_set = ::setenv("no_proxy", "*", 1);

}  // namespace

std::string HttpRequest::header(const std::string& name) const {
  const auto it = headers.find(name);
  return it == headers.end() ? "" : it->second;
}

HttpConnection::~HttpConnection() {
  if (socket_ >= 0) ::close(socket_);
}

HttpRequest HttpConnection::read_request() {
  std::string text;
  char buffer[4096];
  while (text.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(socket_, buffer, sizeof(buffer), 0);
    if (got <= 0) throw std::runtime_error("the client hung up");
    text.append(buffer, static_cast<size_t>(got));
  }
  std::istringstream in(text);
  HttpRequest request;
  std::string method, line;
  in >> method >> request.target;
  std::getline(in, line);
  while (std::getline(in, line) && line != "\r") {
    const size_t colon = line.find(": ");
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  return request;
}

void HttpConnection::send(const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t done = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (done <= 0) throw std::runtime_error("the client hung up");
    at += static_cast<size_t>(done);
  }
}

void HttpConnection::send_head(int status, const Headers& headers) {
  std::string head = "HTTP/1.1 " + std::to_string(status) + " Text\r\nConnection: close\r\n";
  for (const auto& [name, value] : headers) head += name + ": " + value + "\r\n";
  send(head + "\r\n");
}

void HttpConnection::respond(int status, const Headers& headers, const std::string& body) {
  Headers all = headers;
  all.emplace_back("Content-Length", std::to_string(body.size()));
  send_head(status, all);
  send(body);
}

void HttpConnection::reset() {
  const linger now{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  ::close(std::exchange(socket_, -1));
}

void HttpConnection::wait_for_hang_up() {
  char buffer[256];
  while (::recv(socket_, buffer, sizeof(buffer), 0) > 0) {
  }
}

HttpServer::HttpServer(Handler handler)
    : handler_(std::move(handler)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, generic, bytes) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, generic, &bytes) != 0)
    throw std::runtime_error("no loopback interface to test with");
  port_ = ::ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

HttpServer::~HttpServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& worker : workers_) worker.join();
  ::close(listener_);
}

std::string HttpServer::url(const std::string& path, const std::string& host) const {
  return "http://" + host + ":" + std::to_string(port_) + path;
}

std::vector<HttpRequest> HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void HttpServer::accept_all() {
  while (true) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    workers_.emplace_back([this, socket] { serve(socket); });
  }
}

void HttpServer::serve(int socket) {
  HttpConnection connection(socket);
  try {
    const HttpRequest request = connection.read_request();
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    handler_(request, connection);
  } catch (const std::runtime_error&) {  // the client hung up, as some tests have it do
  }
}

void serve_file(const HttpRequest& request, HttpConnection& connection, const std::string& body,
                const std::string& etag, size_t limit) {
  const std::string range = request.header("range"), condition = request.header("if-range");
  HttpConnection::Headers headers{{"ETag", etag}};
  size_t first = 0;
  if (range.starts_with("bytes=") && (condition.empty() || condition == etag)) {
    first = std::strtoull(range.c_str() + 6, nullptr, 10);
    headers.emplace_back("Content-Range", "bytes " + std::to_string(first) + "-" +
                                              std::to_string(body.size() - 1) + "/" +
                                              std::to_string(body.size()));
  }
  headers.emplace_back("Content-Length", std::to_string(body.size() - first));
  connection.send_head(headers.size() == 3 ? 206 : 200, headers);
  connection.send(body.substr(first, limit));
}

}  // namespace tenon::hub::test
