#include "runtime/distributed/stores/tcp_store.h"

#include "runtime/distributed/stores/store_server.h"

namespace tenon::distributed {

TCPStore::TCPStore(std::string host, const TCPStoreOptions& options)
    : Store(options.timeout), host_(std::move(host)), port_(options.port) {
  if (options.is_server) {
    server_ = std::make_unique<detail::StoreServer>(port_);
    port_ = server_->port();
  }
  client_ =
      std::make_unique<detail::StoreClient>(host_, port_, detail::Clock::now() + options.timeout);
}

TCPStore::~TCPStore() = default;

std::string TCPStore::execute(const detail::StoreRequest& request) {
  return client_->request(request, detail::Clock::now() + timeout());
}

bool TCPStore::wait_for(const std::vector<std::string>& keys, Milliseconds timeout) {
  detail::StoreRequest request{detail::kStoreWait, {std::to_string(timeout.count())}};
  request.arguments.insert(request.arguments.end(), keys.begin(), keys.end());
  // The server keeps the time; what is added is for one that hangs.
  const auto deadline = detail::Clock::now() + timeout + std::chrono::seconds(30);
  return client_->request(request, deadline) == "1";
}

std::string TCPStore::local_address() const { return client_->local_address(); }

}  // namespace tenon::distributed
