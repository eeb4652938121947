#include "runtime/distributed/backends/gloo_engine.h"

#include <fcntl.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/broadcast.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <complex>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <set>
#include <sstream>

namespace tenon::distributed::detail {
namespace {

/// Our store as Gloo sees it: a wait ends when the group has failed.
class StoreForGloo final : public ::gloo::rendezvous::Store {
 public:
  StoreForGloo(std::shared_ptr<distributed::Store> store, Mesh& mesh)
      : store_("gloo", std::move(store)), mesh_(mesh) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_.set(key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string& key) override {
    wait({key});
    const std::string value = store_.get(key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, store_.timeout()); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    const Deadline end = Clock::now() + timeout;
    while (!store_.wait_for(keys, Milliseconds(std::min(50, milliseconds_until(end))))) {
      mesh_.throw_if_failed("gloo");
      if (Clock::now() >= end) store_.wait(keys, Milliseconds(0));
    }
  }

 private:
  PrefixStore store_;
  Mesh& mesh_;
};

/// The port at the end of "[127.0.0.1]:4711", or of such with something behind it.
int port_of(const std::string& address) {
  const size_t colon = address.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(address.c_str() + colon + 1);
}

int port_of(const sockaddr_storage& name) {
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(name).sin_port);
}

/// The sockets of this process that are connected from one of the ports `own`, or to one of
/// `theirs`. Duplicates, whose numbers nobody else reuses.
std::vector<Socket> connected_sockets(const std::set<int>& own, const std::set<int>& theirs) {
  std::vector<Socket> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    sockaddr_storage here{}, there{};
    socklen_t here_size = sizeof here, there_size = sizeof there;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&here), &here_size) != 0 ||
        ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&there), &there_size) != 0)
      continue;
    if (own.contains(port_of(here)) || theirs.contains(port_of(there)))
      found.emplace_back(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  }
  return found;
}

void ignore_broken_pipes() {
  struct sigaction current;
  if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
    ::signal(SIGPIPE, SIG_IGN);
}

/// Gloo's thread spins while a thread that holds a pair's lock is not running; as a batch thread it
/// does not take that thread's processor until the next tick. New threads inherit the policy.
std::shared_ptr<::gloo::transport::Device> make_device(const std::string& address) {
  const int policy = ::sched_getscheduler(0);
  sched_param parameters{};
  const bool changed =
      policy == SCHED_OTHER && ::sched_setscheduler(0, SCHED_BATCH, &parameters) == 0;
  struct Restore {
    bool needed;
    ~Restore() {
      sched_param none{};
      if (needed) ::sched_setscheduler(0, SCHED_OTHER, &none);
    }
  } restore{changed};
  ::gloo::transport::tcp::attr attributes;
  attributes.hostname = address;
  return ::gloo::transport::tcp::CreateDevice(attributes);
}

/// How long a transfer may take. All ranks have met just before it, so that it need not wait for
/// slow ones; and Gloo does not always wake who waits for a connection that broke in mid-transfer.
std::chrono::milliseconds limit(Deadline deadline, size_t bytes) {
  const auto expected = std::chrono::milliseconds(20000 + bytes / 10000);  // 10 MB/s
  return std::clamp(std::chrono::milliseconds(milliseconds_until(deadline)),
                    std::chrono::milliseconds(1), expected);
}

size_t total(const std::vector<size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), size_t{0});
}

class GlooEngine final : public Engine {
 public:
  GlooEngine(const BackendArguments& arguments, Mesh& mesh) {
    ignore_broken_pipes();
    StoreForGloo store(arguments.store, mesh);
    context_ = std::make_shared<::gloo::rendezvous::Context>(arguments.rank, arguments.size);
    // It waits five times as long for a connection; all ranks are here already, and the store has
    // timeouts of its own.
    context_->setTimeout(std::min(arguments.timeout, Milliseconds(2000)));
    auto device = make_device(arguments.store->local_address());
    context_->connectFullMesh(store, device);
    find_sockets(*arguments.store);
  }

  void broadcast(void* data, size_t bytes, int root, Deadline deadline) override {
    ::gloo::BroadcastOptions options(context_);
    options.setOutput(static_cast<char*>(data), bytes);
    options.setRoot(root);
    options.setTag(tag_++);
    options.setTimeout(limit(deadline, bytes));
    ::gloo::broadcast(options);
  }

  void all_reduce(void* data, size_t n, ScalarType dtype, ReduceOp op, Deadline deadline) override {
    ::gloo::AllreduceOptions options(context_);
    switch (element_size(dtype)) {
    case 1: options.setOutput(static_cast<uint8_t*>(data), n); break;
    case 2: options.setOutput(static_cast<uint16_t*>(data), n); break;
    case 4: options.setOutput(static_cast<uint32_t*>(data), n); break;
    case 8: options.setOutput(static_cast<uint64_t*>(data), n); break;
    default: options.setOutput(static_cast<std::complex<double>*>(data), n); break;
    }
    options.setReduceFunction(reduce_function(op, dtype, "all_reduce"));
    options.setTag(tag_++);
    options.setTimeout(limit(deadline, n * element_size(dtype)));
    ::gloo::allreduce(options);
  }

  void all_gather(const void* in, void* out, const std::vector<size_t>& sizes,
                  Deadline deadline) override {
    ::gloo::AllgathervOptions options(context_);
    options.setInput(static_cast<char*>(const_cast<void*>(in)), sizes[context_->rank]);
    options.setOutput(static_cast<char*>(out), sizes);
    options.setTag(tag_++);
    options.setTimeout(limit(deadline, total(sizes)));
    ::gloo::allgatherv(options);
  }

  void all_to_all(const void* in, const std::vector<size_t>& in_sizes, void* out,
                  const std::vector<size_t>& out_sizes, Deadline deadline) override {
    ::gloo::AlltoallvOptions options(context_);
    options.setInput(static_cast<char*>(const_cast<void*>(in)),
                     std::vector<int64_t>(in_sizes.begin(), in_sizes.end()));
    options.setOutput(static_cast<char*>(out),
                      std::vector<int64_t>(out_sizes.begin(), out_sizes.end()));
    options.setTag(tag_++);
    options.setTimeout(limit(deadline, total(in_sizes) + total(out_sizes)));
    ::gloo::alltoallv(options);
  }

  void abort() override {
    for (const Socket& socket : sockets_) ::shutdown(socket.descriptor(), SHUT_RDWR);
  }

 private:
  /// Gloo keeps its sockets to itself, and closing its pairs does not wake who waits for one;
  /// shutting the sockets down does. Of each pair, one end has connected to the port of the other.
  void find_sockets(distributed::Store& store) {
    const int rank = context_->rank, size = context_->size;
    const auto key = [](int r) { return "gloo_ports/" + std::to_string(r); };
    std::ostringstream text;
    std::set<int> own, theirs;
    for (int r = 0; r < size; ++r) {
      const int port = r == rank ? 0 : port_of(context_->getPair(r)->address().str());
      if (port) own.insert(port);
      text << port << ' ';
    }
    store.set(key(rank), text.str());
    for (int r = 0; r < size; ++r) {
      if (r == rank) continue;
      std::istringstream ports(store.get(key(r)));
      int port = 0;
      for (int i = 0; i <= rank; ++i) ports >> port;
      if (port) theirs.insert(port);
    }
    sockets_ = connected_sockets(own, theirs);
  }

  std::shared_ptr<::gloo::rendezvous::Context> context_;
  std::vector<Socket> sockets_;
  uint32_t tag_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_gloo_engine(const BackendArguments& arguments, Mesh& mesh) {
  return std::make_unique<GlooEngine>(arguments, mesh);
}

}  // namespace tenon::distributed::detail
