#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <sstream>
#include <thread>

#include "tenon/ops/full.h"
#include "tests/runtime/distributed/ranks.h"

// What ranks tell each other, and what they make of it, with a rank among them that this test
// plays.

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;

namespace {

/// The last rank of a group, which says what the test wants it to say, and nothing else: it does
/// not answer when it is asked whether it lives.
class PlayedRank {
 public:
  PlayedRank(Store& store, int rank) {
    store.set("mesh/" + std::to_string(rank), "127.0.0.1 1 0123456789abcdef 4711 elsewhere");
    for (int r = 0; r < rank; ++r) {
      const std::string key = "mesh/" + std::to_string(r);
      store.wait({key}, std::chrono::seconds(60));
      std::istringstream text(store.get(key));
      std::string address, nonce;
      int port = 0;
      text >> address >> port >> nonce;
      sockaddr_in name{};
      name.sin_family = AF_INET;
      name.sin_port = htons(static_cast<uint16_t>(port));
      TENON_CHECK(::inet_pton(AF_INET, address.c_str(), &name.sin_addr) == 1, address);
      const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockets_.push_back(s);
      TENON_CHECK(::connect(s, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0,
                  std::strerror(errno));
      write(r, "tenon-mesh-1" + nonce + number(static_cast<uint32_t>(rank)));
    }
  }
  ~PlayedRank() {
    for (const int s : sockets_) ::close(s);
  }
  void tell_failure(int to, const std::string& text) {
    std::string message = number(static_cast<uint32_t>(text.size()));
    message.append(1, '\3').append(8, '\0').append(text);
    write(to, message);
  }
  /// Announces the very collective that `from` announces.
  void agree(int from) {
    const std::string head = read(from, 13);
    uint32_t size = 0;
    std::memcpy(&size, head.data(), 4);
    write(from, head + read(from, size));
  }

 private:
  static std::string number(uint32_t n) {
    return std::string(reinterpret_cast<const char*>(&n), sizeof n);
  }
  void write(int to, const std::string& bytes) {
    RANK_REQUIRE(::send(sockets_[to], bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                 static_cast<ssize_t>(bytes.size()));
  }
  std::string read(int from, size_t size) {
    std::string bytes(size, 0);
    RANK_REQUIRE(size == 0 || ::recv(sockets_[from], bytes.data(), size, MSG_WAITALL) ==
                                  static_cast<ssize_t>(size));
    return bytes;
  }

  std::vector<int> sockets_;
};

struct Heartbeat {
  explicit Heartbeat(const char* seconds) { ::setenv("TENON_HEARTBEAT_TIMEOUT", seconds, 1); }
  ~Heartbeat() { ::unsetenv("TENON_HEARTBEAT_TIMEOUT"); }
};

GroupPtr group_of(const std::shared_ptr<Store>& store, int rank, int size) {
  return std::make_shared<ProcessGroup>("gloo", store, rank, size, std::chrono::seconds(120));
}

}  // namespace

TEST_CASE("a rank that leaves because another failed is not named for that") {
  const auto store = std::make_shared<HashStore>();
  std::vector<std::string> errors(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      GroupPtr g = group_of(store, r, 3);
      errors[r] = error_of([&] { barrier(g); });
      g.reset();
    });
  }
  // Rank 2 fails and is stopped before it has told rank 1, which sees rank 0 leave.
  PlayedRank failing(*store, 2);
  failing.tell_failure(0, "rank 2 (process 4711 on elsewhere): out of data");
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors)
    CHECK(error ==
          "[barrier] the group has failed: rank 2 (process 4711 on elsewhere): out of data");
}

TEST_CASE("a rank that leaves because another has left is not named for that") {
  std::atomic<int> gone{0};
  const auto store = std::make_shared<HashStore>();
  std::string met, named;
  std::vector<std::thread> threads;
  for (int r = 0; r < 3; ++r) {
    threads.emplace_back([&, r] {
      GroupPtr g = group_of(store, r, 3);
      if (r == 0) met = error_of([&] { barrier(g); });
      while (r == 2 && gone < 2) std::this_thread::yield();
      if (r == 2) named = error_of([&] { barrier(g); });
      g.reset();
      ++gone;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(contains(met, "[barrier] rank 1 (process "));
  CHECK(contains(met, "has left the group"));
  CHECK(named == met);
}

TEST_CASE(
    "a rank that stops in a transfer, or whose message is awaited, is named by the heartbeat") {
  const Heartbeat heartbeat("0.3");
  enum class Kind { Transfer, Recv, RecvFromAny };
  for (const Kind kind : {Kind::Transfer, Kind::Recv, Kind::RecvFromAny}) {
    CAPTURE(static_cast<int>(kind));
    const auto store = std::make_shared<HashStore>();
    std::string error;
    std::thread waiting([&] {
      const GroupPtr g = group_of(store, 0, 2);
      const Tensor t = full({40000}, 1.0, TensorOptions(kFloat));
      error = error_of([&] {
        if (kind == Kind::Transfer) {
          all_reduce(t, ReduceOp::SUM, g);
        } else {
          recv(t, kind == Kind::Recv ? 1 : -1, g);
        }
      });
    });
    PlayedRank stopped(*store, 1);
    if (kind == Kind::Transfer) stopped.agree(0);
    waiting.join();
    const std::string what = kind == Kind::Transfer ? "[all_reduce]" : "[recv]";
    CAPTURE(error);
    CHECK(contains(error, "the group has failed: rank 0 (process "));
    CHECK(contains(error, what + " rank 1 (process 4711 on elsewhere) has not answered for 300 ms: "
                                 "its process is stopped, or cut off"));
  }
}
