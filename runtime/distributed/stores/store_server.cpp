#include "runtime/distributed/stores/store_server.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace tenon::distributed::detail {

StoreServer::StoreServer(int port) : listener_(Socket::listen("", port)) {
  TENON_CHECK_AS(DistNetworkError, ::pipe2(stop_, O_CLOEXEC) == 0, "[TCPStore] no pipe");
  thread_ = std::thread([this] { run(); });
}

StoreServer::~StoreServer() {
  ::close(stop_[1]);
  thread_.join();
  ::close(stop_[0]);
}

void StoreServer::run() {
  while (true) {
    std::vector<pollfd> entries{{stop_[0], POLLIN, 0}, {listener_.descriptor(), POLLIN, 0}};
    int timeout = -1;
    for (const Connection& c : connections_) {
      const short wanted = static_cast<short>(c.out.empty() ? POLLIN : POLLIN | POLLOUT);
      entries.push_back({c.socket.descriptor(), wanted, 0});
      if (!c.waiting) continue;
      const int left = milliseconds_until(c.until);
      timeout = timeout < 0 ? left : std::min(timeout, left);
    }
    if (::poll(entries.data(), entries.size(), timeout) < 0) continue;
    if (entries[0].revents) return;
    size_t i = 2;
    for (auto it = connections_.begin(); it != connections_.end(); ++i) {
      const short events = entries[i].revents;
      bool good = true;
      if (events & (POLLIN | POLLHUP | POLLERR)) good = read(*it);
      if (good && (events & POLLOUT)) good = flush(*it);
      it = good ? std::next(it) : connections_.erase(it);
    }
    wake_waiters();
    if (entries[1].revents) {
      Socket socket = listener_.accept();
      if (socket.valid()) {
        connections_.emplace_back();
        connections_.back().socket = std::move(socket);
        connections_.back().out = kStoreMagic;
        flush(connections_.back());
      } else {
        // Too many open files, most likely: the kernel keeps the connection until there is room.
        ::poll(nullptr, 0, 5);
      }
    }
  }
}

bool StoreServer::read(Connection& connection) {
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = connection.socket.receive_some(buffer, sizeof buffer);
    if (n < 0) return false;
    if (n == 0) return true;
    connection.in.append(buffer, static_cast<size_t>(n));
    if (!serve(connection)) return false;
  }
}

bool StoreServer::serve(Connection& connection) {
  std::string& in = connection.in;
  if (!connection.greeted) {
    const size_t known = std::min(in.size(), kStoreMagic.size());
    if (in.compare(0, known, kStoreMagic, 0, known) != 0) return false;
    if (in.size() < kStoreMagic.size()) return true;
    connection.greeted = true;
    in.erase(0, kStoreMagic.size());
  }
  while (in.size() >= 4) {
    const uint32_t size = get_u32(in.data());
    if (size > kStoreFrameLimit || connection.waiting) return false;
    if (in.size() - 4 < size) break;
    StoreRequest request;
    try {
      request = decode(std::string_view(in).substr(4, size));
    } catch (const ValueError&) {
      return false;
    }
    in.erase(0, 4 + size);
    if (request.command == kStoreWait) {
      int64_t milliseconds = 0;
      if (request.arguments.empty()) return false;
      const std::string& text = request.arguments[0];
      std::from_chars(text.data(), text.data() + text.size(), milliseconds);
      milliseconds = std::clamp<int64_t>(milliseconds, 0, int64_t{1} << 40);
      connection.waiting = true;
      connection.until = Clock::now() + std::chrono::milliseconds(milliseconds);
      connection.keys.assign(request.arguments.begin() + 1, request.arguments.end());
      continue;
    }
    try {
      answer(connection, true, carry_out(map_, request));
    } catch (const Error& error) {
      answer(connection, false, error.what());
    }
    if (!flush(connection)) return false;
  }
  return true;
}

void StoreServer::answer(Connection& connection, bool good, const std::string& text) {
  put_u32(connection.out, static_cast<uint32_t>(text.size() + 1));
  connection.out += good ? '+' : '-';
  connection.out += text;
}

bool StoreServer::flush(Connection& connection) {
  while (!connection.out.empty()) {
    const ssize_t n = connection.socket.send_some(connection.out);
    if (n < 0) return false;
    if (n == 0) return true;
    connection.out.erase(0, static_cast<size_t>(n));
  }
  return true;
}

void StoreServer::wake_waiters() {
  for (Connection& connection : connections_) {
    if (!connection.waiting) continue;
    const bool all = has_all(map_, connection.keys);
    if (!all && Clock::now() < connection.until) continue;
    connection.waiting = false;
    answer(connection, true, all ? "1" : "0");
    flush(connection);  // one that is broken is found by poll()
  }
}

StoreClient::StoreClient(std::string host, int port, Deadline deadline)
    : host_(std::move(host)), port_(port) {
  idle_.push_back(connect(deadline));
  local_address_ = idle_.back().address();
}

Socket StoreClient::connect(Deadline deadline) const {
  Socket socket = Socket::connect(host_, port_, deadline);
  std::string magic(kStoreMagic.size(), '\0');
  TENON_CHECK_AS(DistNetworkError,
                 socket.send_all(kStoreMagic, deadline) &&
                     socket.receive_all(magic.data(), magic.size(), deadline) &&
                     magic == kStoreMagic,
                 "[TCPStore] what listens at ", host_, ":", port_, " is not a store");
  return socket;
}

std::string StoreClient::request(const StoreRequest& request, Deadline deadline) {
  Socket socket;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      socket = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!socket.valid()) socket = connect(deadline);
  const std::string body = encode(request);
  TENON_CHECK_VALUE(body.size() <= kStoreFrameLimit, "[TCPStore] a request may have ",
                    kStoreFrameLimit, " bytes, got ", body.size());
  std::string frame;
  put_u32(frame, static_cast<uint32_t>(body.size()));
  frame += body;
  char size[4];
  std::string reply;
  bool good = socket.send_all(frame, deadline) && socket.receive_all(size, 4, deadline);
  if (good) {
    reply.resize(get_u32(size));
    good = !reply.empty() && socket.receive_all(reply.data(), reply.size(), deadline);
  }
  TENON_CHECK_AS(DistStoreError, good, "[TCPStore] the store at ", host_, ":", port_,
                 Clock::now() < deadline ? " has closed the connection: its process has ended"
                                         : " did not answer in time");
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(socket));
  }
  TENON_CHECK_VALUE(reply[0] == '+', reply.substr(1));
  return reply.substr(1);
}

}  // namespace tenon::distributed::detail
