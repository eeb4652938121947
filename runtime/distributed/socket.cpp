#include "runtime/distributed/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "runtime/distributed/interrupt.h"

namespace tenon::distributed::detail {
namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Addresses resolve(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                  std::to_string(port).c_str(), &hints, &found);
  TENON_CHECK_AS(DistNetworkError, error == 0, "[socket] cannot find the address of '", host,
                 "': ", ::gai_strerror(error));
  return Addresses(found, ::freeaddrinfo);
}

Socket make(const addrinfo& address) {
  return Socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void no_delay(const Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool wait_for(int descriptor, short events, Deadline deadline) {
  while (true) {
    pollfd entry{descriptor, events, 0};
    const int n =
        ::poll(&entry, 1, milliseconds_until(std::min(deadline, Clock::now() + kInterruptSlice)));
    if (n > 0) return true;
    if (n == 0 && Clock::now() >= deadline) return false;
    if (n < 0 && errno != EINTR) return false;
    check_interrupt();
  }
}

/// Whether the connection was made; errno says why not.
bool try_connect(const Socket& socket, const addrinfo& address, Deadline deadline) {
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  if (!wait_for(socket.descriptor(), POLLOUT, deadline)) {
    errno = ETIMEDOUT;
    return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

}  // namespace

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
}

Socket Socket::listen(const std::string& address, int port) {
  const Addresses all = resolve(address, port, AI_PASSIVE);
  int error = 0;
  for (const addrinfo* one = all.get(); one; one = one->ai_next) {
    Socket socket = make(*one);
    const int on = 1;
    ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (socket.valid() && ::bind(socket.descriptor(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(socket.descriptor(), 1024) == 0)
      return socket;
    error = errno;
  }
  raise<DistNetworkError>("[socket] cannot listen at ", address.empty() ? "port " : address + ":",
                          port, ": ", std::strerror(error),
                          error == EADDRINUSE ? "; port 0 takes one that is free" : "");
}

Socket Socket::connect(const std::string& host, int port, Deadline deadline) {
  std::string reason;
  while (true) {
    try {
      const Addresses all = resolve(host, port, 0);
      for (const addrinfo* one = all.get(); one; one = one->ai_next) {
        Socket socket = make(*one);
        if (socket.valid() && try_connect(socket, *one, deadline)) {
          no_delay(socket);
          return socket;
        }
        reason = std::strerror(errno);
      }
    } catch (const DistNetworkError& error) {
      reason = error.what();
    }
    const auto wait = std::chrono::milliseconds(20);
    if (Clock::now() + wait >= deadline)
      raise<DistNetworkError>("[socket] cannot connect to ", host, ":", port, ": ", reason);
    check_interrupt();
    std::this_thread::sleep_for(wait);
  }
}

Socket Socket::accept() const {
  Socket socket(::accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.valid()) no_delay(socket);
  return socket;
}

int Socket::port() const {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&name), &size);
  return name.ss_family == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6&>(name).sin6_port)
                                    : ntohs(reinterpret_cast<sockaddr_in&>(name).sin_port);
}

std::string Socket::address() const {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  char text[NI_MAXHOST] = {};
  if (::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&name), size, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) != 0)
    return "127.0.0.1";
  return text;
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

ssize_t Socket::send_some(std::string_view bytes) const {
  while (true) {
    const ssize_t n = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0) return n;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) return -1;
  }
}

ssize_t Socket::receive_some(char* bytes, size_t size) const {
  while (true) {
    const ssize_t n = ::recv(descriptor_, bytes, size, 0);
    if (n > 0) return n;
    if (n == 0) return -1;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) return -1;
  }
}

bool Socket::send_all(std::string_view bytes, Deadline deadline) const {
  while (!bytes.empty()) {
    const ssize_t n = send_some(bytes);
    if (n < 0 || (n == 0 && !wait_for(descriptor_, POLLOUT, deadline))) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool Socket::receive_all(char* bytes, size_t size, Deadline deadline) const {
  while (size > 0) {
    const ssize_t n = receive_some(bytes, size);
    if (n < 0 || (n == 0 && !wait_for(descriptor_, POLLIN, deadline))) return false;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace tenon::distributed::detail
