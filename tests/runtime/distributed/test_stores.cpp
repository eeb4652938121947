#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "runtime/distributed/stores/file_store.h"
#include "runtime/distributed/stores/rendezvous.h"
#include "runtime/distributed/stores/tcp_store.h"
#include "tests/runtime/distributed/ranks.h"

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;
using std::chrono::milliseconds;

namespace {

/// Two views of one store, as two ranks have them.
void check_semantics(Store& a, Store& b) {
  a.set("key", "value");
  CHECK(b.get("key") == "value");
  const std::string bytes("\0\n\xff", 3);
  b.set("bytes", bytes);
  CHECK(a.get("bytes") == bytes);
  a.set("empty", "");
  CHECK(b.get("empty").empty());
  CHECK(b.check({"key", "bytes", "empty"}));
  CHECK_FALSE(b.check({"key", "none"}));
  CHECK(b.missing({"key", "none"}) == std::vector<std::string>{"none"});

  CHECK(a.add("count", 2) == 2);
  CHECK(b.add("count", 40) == 42);
  CHECK(a.get("count") == "42");
  CHECK_THROWS_AS(a.add("key", 1), ValueError);
  CHECK_THROWS_AS(a.add("count", INT64_MAX), ValueError);
  CHECK(b.add("count", 0) == 42);

  CHECK(a.compare_set("cas", "old", "new") == "old");
  CHECK_FALSE(b.check({"cas"}));
  CHECK(a.compare_set("cas", "", "first") == "first");
  CHECK(b.compare_set("cas", "other", "new") == "first");
  CHECK(b.compare_set("cas", "first", "second") == "second");

  a.append("list", "x");
  b.append("list", "yz");
  CHECK(a.get("list") == "xyz");
  a.multi_set({"m1", "m2"}, {"1", "2"});
  CHECK(b.multi_get({"m2", "m1"}) == std::vector<std::string>{"2", "1"});
  CHECK(b.num_keys() == 8);
  CHECK(a.delete_key("m1"));
  CHECK_FALSE(b.delete_key("m1"));
  CHECK(b.num_keys() == 7);

  CHECK_FALSE(a.wait_for({"late", "key"}, milliseconds(20)));
  CHECK_THROWS_WITH(a.wait({"late", "key", "never"}, milliseconds(20)),
                    Catch::Contains("timed out after 20 ms waiting for keys: late, never"));
  std::thread setter([&] {
    std::this_thread::sleep_for(milliseconds(30));
    b.set("late", "now");
  });
  CHECK(a.get("late") == "now");
  setter.join();

  // Nothing is lost or counted twice.
  std::vector<std::thread> adders;
  for (int t = 0; t < 4; ++t) {
    adders.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) (t % 2 ? a : b).add("many", 1);
    });
  }
  for (std::thread& t : adders) t.join();
  CHECK(a.add("many", 0) == 100);
}

/// A connection as a stranger makes it.
class Stranger {
 public:
  explicit Stranger(int port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{60, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    REQUIRE(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  ~Stranger() { ::close(descriptor_); }
  void send(const std::string& bytes) {
    REQUIRE(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0);
  }
  /// Whether the other end closes the connection.
  bool is_turned_away() {
    char bytes[256];
    ssize_t n;
    while ((n = ::recv(descriptor_, bytes, sizeof bytes, 0)) > 0) {
    }
    return n == 0 || errno == ECONNRESET;
  }

 private:
  int descriptor_;
};

std::string number(uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

}  // namespace

TEST_CASE("a hash store") {
  HashStore store;
  check_semantics(store, store);
}

TEST_CASE("a file store, seen through two objects") {
  const TemporaryFolder folder;
  {
    FileStore a(folder / "store", 2), b(folder / "store", 2);
    check_semantics(a, b);
    CHECK(std::filesystem::exists(folder / "store"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "store"));
}

TEST_CASE("a TCP store at any free port, seen by its server and a client") {
  TCPStore server("127.0.0.1", {.is_server = true});
  REQUIRE(server.port() > 0);
  TCPStore client("127.0.0.1", {.port = server.port()});
  check_semantics(server, client);
  CHECK(client.local_address() == "127.0.0.1");
}

TEST_CASE("prefix stores share nothing but the store") {
  const auto store = std::make_shared<HashStore>();
  PrefixStore a("a", store), again("a", store), b("b", store);
  check_semantics(a, again);
  CHECK(b.missing({"key"}).size() == 1);
  b.set("key", "other");
  CHECK(a.get("key") == "value");
  CHECK(store->get("a/key") == "value");
}

TEST_CASE("a file store goes on after a writer was killed in mid-record") {
  const TemporaryFolder folder;
  const std::string path = folder / "store";
  { FileStore(path).set("key", "value"); }
  const auto whole = std::filesystem::file_size(path);
  { FileStore(path).set("other", "lost"); }
  const auto longer = std::filesystem::file_size(path);
  for (auto size = longer - 1; size > whole; --size) {
    std::filesystem::resize_file(path, size);
    FileStore store(path);
    CHECK(store.get("key") == "value");
    CHECK_FALSE(store.check({"other"}));
  }
  FileStore store(path);
  store.set("new", "1");
  CHECK(FileStore(path).get("new") == "1");
  CHECK(FileStore(path).num_keys() == 2);
}

TEST_CASE("a file that is no store is named and left alone") {
  const TemporaryFolder folder;
  const std::string path = folder / "notes.txt";
  std::ofstream(path) << "something else, longer than a store's first line";
  CHECK_THROWS_WITH(FileStore(path),
                    Catch::Contains("notes.txt") && Catch::Contains("not a store"));
  CHECK(std::filesystem::file_size(path) == 48);
  CHECK_THROWS_AS(FileStore("/nonexistent/folder/store"), DistStoreError);
}

TEST_CASE("a TCP store turns strangers away and goes on") {
  TCPStore store("127.0.0.1", {.is_server = true});
  const std::string magic = "tenon-tcp-store-1";
  Stranger half_open(store.port());
  Stranger half_a_greeting(store.port());
  half_a_greeting.send(magic.substr(0, 5));
  Stranger half_a_request(store.port());
  half_a_request.send(magic + number(100) + "\1");
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(1000, '\0'), magic + number(0xffffffffu),
        magic + number(0), magic + number(1) + "\1", magic + number(5) + "\x77" + number(0),
        magic + number(9) + "\1" + number(1) + number(500),
        magic + number(5) + "\1" + number(0xffffffffu), magic + number(5) + "\144" + number(0)}) {
    CAPTURE(bytes);
    Stranger stranger(store.port());
    stranger.send(bytes);
    if (bytes == magic + number(5) + "\x77" + number(0)) continue;  // answered with an error
    CHECK(stranger.is_turned_away());
  }
  store.set("key", "value");
  CHECK(store.get("key") == "value");
}

TEST_CASE("a TCP store's client says what it cannot reach") {
  int port;
  {
    TCPStore gone("127.0.0.1", {.is_server = true});
    port = gone.port();
  }
  CHECK_THROWS_WITH(TCPStore("127.0.0.1", {.port = port, .timeout = milliseconds(100)}),
                    Catch::Contains("cannot connect to 127.0.0.1:" + std::to_string(port)));
  TCPStore server("127.0.0.1", {.is_server = true});
  CHECK_THROWS_WITH(TCPStore("127.0.0.1", {.port = server.port(), .is_server = true}),
                    Catch::Contains("port 0 takes one that is free"));

  auto dying = std::make_unique<TCPStore>("127.0.0.1", TCPStoreOptions{.is_server = true});
  TCPStore client("127.0.0.1", {.port = dying->port()});
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(30));
    dying.reset();
  });
  CHECK_THROWS_AS(client.get("never"), DistStoreError);
  killer.join();
}

TEST_CASE("ranks meet at each kind of address") {
  const TemporaryFolder folder;
  int port;
  {
    TCPStore probe("127.0.0.1", {.is_server = true});
    port = probe.port();
  }
  const auto check = [](const std::string& url, bool in_url) {
    std::vector<std::string> errors(3);
    std::vector<std::thread> threads;
    for (int r = 0; r < 3; ++r) {
      threads.emplace_back([&, r] {
        errors[r] = error_of([&] {
          const Rendezvous found =
              in_url ? rendezvous(url + "?rank=" + std::to_string(r) + "&world_size=3")
                     : rendezvous(url, r, 3);
          RANK_REQUIRE(found.rank == r && found.world_size == 3);
          found.store->set("at" + std::to_string(r), "here");
          found.store->wait({"at0", "at1", "at2"});
          // Rank 0 keeps the store until the others need it no more.
          if (found.store->add("through", 1) == 3) found.store->set("all", "");
          if (r == 0) found.store->wait({"all"});
        });
      });
    }
    for (std::thread& t : threads) t.join();
    for (const std::string& error : errors) CHECK(error == "no error");
  };
  check("tcp://127.0.0.1:" + std::to_string(port), false);
  check("file://" + (folder / "store"), false);
  check("file://" + (folder / "other"), true);
  {
    TCPStore launcher("127.0.0.1", {.is_server = true});
    ::setenv("MASTER_ADDR", "127.0.0.1", 1);
    ::setenv("MASTER_PORT", std::to_string(launcher.port()).c_str(), 1);
    ::setenv("TENON_RUN_STORE", "1", 1);
    ::setenv("RESTART_COUNT", "2", 1);
    check("env://", false);
    CHECK(launcher.check({"attempt_2/rank/0", "attempt_2/rank/2"}));
    for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "TENON_RUN_STORE", "RESTART_COUNT"})
      ::unsetenv(name);
  }
}

TEST_CASE("addresses and environments that make no sense") {
  ::unsetenv("RANK");
  ::unsetenv("WORLD_SIZE");
  CHECK_THROWS_WITH(rendezvous("env://"),
                    Catch::Contains("environment variable WORLD_SIZE expected, but not set"));
  CHECK_THROWS_WITH(rendezvous("env://", -1, 2),
                    Catch::Contains("environment variable RANK expected, but not set"));
  CHECK_THROWS_WITH(rendezvous("env://", 0, 2),
                    Catch::Contains("environment variable MASTER_ADDR expected, but not set"));
  ::setenv("RANK", "one", 1);
  CHECK_THROWS_WITH(rendezvous("env://", -1, 2), Catch::Contains("got 'one'"));
  ::unsetenv("RANK");
  for (const char* url : {"", "tcp", "tcp://", "tcp://host", "tcp://:1", "tcp://host:0",
                          "tcp://host:99999", "tcp://host:1x", "http://host:1", "file://relative",
                          "file://", "tcp://h:1?x=1", "tcp://h:1?rank"}) {
    CAPTURE(url);
    CHECK_THROWS_AS(rendezvous(url, 0, 2), ValueError);
  }
  CHECK_THROWS_AS(rendezvous("file:///tmp/x", 2, 2), ValueError);
  CHECK_THROWS_AS(rendezvous("file:///tmp/x"), ValueError);
}

TEST_CASE("a timeout names the ranks that are missing") {
  const TemporaryFolder folder;
  const std::string url = "file://" + (folder / "store");
  CHECK_THROWS_WITH(rendezvous(url, 1, 4, milliseconds(50)),
                    Catch::Contains("3 are missing: 0, 2, 3"));
  CHECK_THROWS_WITH(rendezvous(url, 1, 4, milliseconds(50)), Catch::Contains("earlier run"));
  CHECK_THROWS_WITH(rendezvous(url, 2, 3, milliseconds(50)), Catch::Contains("1 is missing: 0"));
}
