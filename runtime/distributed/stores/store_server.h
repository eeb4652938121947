#pragma once

#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/distributed/socket.h"
#include "runtime/distributed/stores/store_map.h"

namespace tenon::distributed::detail {

/// What both ends send first.
inline constexpr std::string_view kStoreMagic = "tenon-tcp-store-1";
/// The longest request or answer, in bytes.
inline constexpr uint32_t kStoreFrameLimit = 256u << 20;
/// A request of the wire alone: milliseconds, then keys. The answer is "1" when all are there.
inline constexpr auto kStoreWait = static_cast<StoreCommand>(100);

/// Keeps the values of a TCPStore, in a thread of its own. Connections are served as their bytes
/// come: one that sends nothing, or only half a request, holds up nobody.
class StoreServer {
 public:
  explicit StoreServer(int port);
  ~StoreServer();
  int port() const { return listener_.port(); }

 private:
  struct Connection {
    Socket socket;
    std::string in, out;
    bool greeted = false;
    bool waiting = false;
    Deadline until;
    std::vector<std::string> keys;
  };

  void run();
  /// False if the connection is to be closed.
  bool read(Connection& connection);
  bool serve(Connection& connection);
  bool flush(Connection& connection);
  void answer(Connection& connection, bool good, const std::string& text);
  void wake_waiters();

  Socket listener_;
  int stop_[2] = {-1, -1};
  std::list<Connection> connections_;
  StoreMap map_;
  std::thread thread_;
};

/// Connections to a server: one for each request that is under way.
class StoreClient {
 public:
  /// DistNetworkError unless a store answers before the deadline.
  StoreClient(std::string host, int port, Deadline deadline);
  /// DistStoreError if the server has gone, ValueError if it refused.
  std::string request(const StoreRequest& request, Deadline deadline);
  const std::string& local_address() const { return local_address_; }

 private:
  Socket connect(Deadline deadline) const;

  std::string host_;
  int port_;
  std::string local_address_;
  std::mutex mutex_;
  std::vector<Socket> idle_;
};

}  // namespace tenon::distributed::detail
