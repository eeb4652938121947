#pragma once

#include "runtime/distributed/stores/store.h"

namespace tenon::distributed {

namespace detail {
class StoreServer;
class StoreClient;
}  // namespace detail

struct TCPStoreOptions {
  int port = 0;            ///< of the server; 0 at the server itself: any that is free
  bool is_server = false;  ///< whether this process keeps the values
  Milliseconds timeout = Store::kDefaultTimeout;
};

/// A store that one process keeps and others reach over TCP. What connects to the port and is no
/// store is turned away; so is what is too large.
class TENON_API TCPStore final : public Store {
 public:
  /// A client waits for the server. DistNetworkError after the timeout, or if something else
  /// listens at the port.
  TCPStore(std::string host, const TCPStoreOptions& options);
  ~TCPStore() override;
  const std::string& host() const { return host_; }
  int port() const { return port_; }
  bool wait_for(const std::vector<std::string>& keys, Milliseconds timeout) override;
  std::string execute(const detail::StoreRequest& request) override;
  std::string local_address() const override;

 private:
  std::string host_;
  int port_;
  std::unique_ptr<detail::StoreServer> server_;
  std::unique_ptr<detail::StoreClient> client_;
};

}  // namespace tenon::distributed
