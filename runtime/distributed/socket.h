#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/distributed/error.h"

namespace tenon::distributed::detail {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// Milliseconds until then, as poll() takes them; at least 0.
int milliseconds_until(Deadline deadline);

/// A TCP socket that does not block and never raises SIGPIPE.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket() { close(); }

  /// Listens at a port, 0 for any, of one address, or of all if it is empty. DistNetworkError.
  static Socket listen(const std::string& address, int port);
  /// Tries until it succeeds or the deadline has passed: DistNetworkError then.
  static Socket connect(const std::string& host, int port, Deadline deadline);
  /// A connection that waits, or an invalid socket if none does.
  Socket accept() const;

  bool valid() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  int port() const;
  /// The address of this end.
  std::string address() const;
  void close();

  /// Sends what fits: number of bytes, or -1 if the connection is broken.
  ssize_t send_some(std::string_view bytes) const;
  /// Receives what is there: number of bytes, 0 for none, or -1 if the connection has ended.
  ssize_t receive_some(char* bytes, size_t size) const;
  /// All, or false if the connection broke or the deadline passed.
  bool send_all(std::string_view bytes, Deadline deadline) const;
  bool receive_all(char* bytes, size_t size, Deadline deadline) const;

 private:
  int descriptor_ = -1;
};

}  // namespace tenon::distributed::detail
