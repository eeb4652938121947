#include "tenon/config.h"

#if TENON_HAS_CURL
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <csignal>
#include <mutex>

#include "runtime/hub/download.h"
#include "runtime/serialization/sha256.h"
#include "tests/runtime/hub/http_server.h"
#include "tests/runtime/hub/support.h"

using namespace std::chrono_literals;
using Catch::Contains;
using tenon::serialization::sha256_hex;

namespace tenon::hub::test {
namespace {

DownloadOptions quick(int retries = 2) {
  DownloadOptions options;
  options.progress = false;
  options.backoff = 1ms;
  options.retries = retries;
  options.allow_insecure = true;  // the tests' servers speak http
  options.min_rate = 1;           // and break off early
  return options;
}

/// Serves the first request with `first` and all others with `then`.
HttpServer::Handler first_then(HttpServer::Handler first, HttpServer::Handler then) {
  auto count = std::make_shared<std::atomic<int>>(0);
  return [=](const HttpRequest& request, HttpConnection& connection) {
    ((*count)++ == 0 ? first : then)(request, connection);
  };
}

HttpServer::Handler file(const std::string& body, const std::string& etag,
                         size_t limit = std::string::npos) {
  return [=](const HttpRequest& r, HttpConnection& c) { serve_file(r, c, body, etag, limit); };
}

const std::string kBody = sample_bytes(300'000);
const std::string kOther = kBody.substr(7) + "another";

TEST_CASE("resume: a truncated transfer goes on where it broke", "[hub]") {
  const TemporaryFolder folder;
  const HttpServer server(first_then(file(kBody, "\"1\"", 100'000), file(kBody, "\"1\"")));
  DownloadOptions options = quick();
  options.hash_prefix = sha256_hex(kBody);
  download_url_to_file(server.url("/x"), folder / "x", options);
  CHECK(read_file(folder / "x") == kBody);
  CHECK(folder.entries() == 1);
  const auto requests = server.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[1].header("range") == "bytes=100000-");
  CHECK(requests[1].header("if-range") == "\"1\"");
}

TEST_CASE("resume: progress is no failure, standing still is", "[hub]") {
  const TemporaryFolder folder;
  // Ten pieces with two retries allowed.
  const HttpServer slow(file(kBody, "\"1\"", 30'000));
  download_url_to_file(slow.url("/x"), folder / "x", quick());
  CHECK(read_file(folder / "x") == kBody);
  CHECK(slow.requests().size() == 10);

  const HttpServer stuck(first_then(file(kBody, "\"1\"", 50'000), file(kBody, "\"1\"", 0)));
  CHECK_THROWS_AS(download_url_to_file(stuck.url("/y"), folder / "y", quick()), TransportError);
  CHECK(stuck.requests().size() == 3);
  // What is there is kept for later, and of no use for another URL.
  CHECK(read_file(folder / "y.partial") == kBody.substr(0, 50'000));
  const HttpServer whole(file(kBody, "\"1\""));
  download_url_to_file(whole.url("/y"), folder / "y", quick());
  CHECK(whole.requests()[0].header("range").empty());
  CHECK(read_file(folder / "y") == kBody);
  CHECK(folder.entries() == 2);
}

TEST_CASE("resume: what a failed download left is continued by the next", "[hub]") {
  const TemporaryFolder folder;
  const HttpServer server(first_then(file(kBody, "\"1\"", 50'000), file(kBody, "\"1\"")));
  CHECK_THROWS_AS(download_url_to_file(server.url("/x"), folder / "x", quick(0)), TransportError);
  std::vector<uint64_t> seen;
  DownloadOptions options = quick();
  options.on_progress = [&](uint64_t done, std::optional<uint64_t>) { seen.push_back(done); };
  SECTION("with the hash of all bytes") { options.hash_prefix = sha256_hex(kBody); }
  SECTION("or without") {}
  download_url_to_file(server.url("/x"), folder / "x", options);
  CHECK(seen.front() == 50'000);
  CHECK(read_file(folder / "x") == kBody);
  CHECK(folder.entries() == 1);
}

TEST_CASE("resume: never onto bytes of another file", "[hub]") {
  const TemporaryFolder folder;
  const auto answer_range = [](const std::string& range, const std::string& etag) {
    return [=](const HttpRequest&, HttpConnection& c) {
      c.respond(206, {{"ETag", etag}, {"Content-Range", range}}, kOther.substr(50'000));
    };
  };
  const std::string good = "bytes 50000-299999/300000";
  HttpServer::Handler second;
  SECTION("the file changed") { second = file(kOther, "\"2\""); }
  SECTION("the server knows no ranges") {
    second = [](const HttpRequest&, HttpConnection& c) { c.respond(200, {}, kOther); };
  }
  SECTION("the server passes over If-Range") { second = answer_range(good, "\"2\""); }
  SECTION("the range begins elsewhere") {
    second = answer_range("bytes 49999-299999/300000", "\"1\"");
  }
  SECTION("the file has another size") {
    second = answer_range("bytes 50000-299999/300001", "\"1\"");
  }
  SECTION("no range is named") { second = answer_range("", "\"1\""); }
  SECTION("the range cannot be") {
    second = [](const HttpRequest&, HttpConnection& c) {
      c.respond(416, {{"Content-Range", "bytes */10"}});
    };
  }
  // A handler for the second request, and the new file for a third without a range.
  const HttpServer server(first_then(file(kBody, "\"1\"", 50'000), [&](const auto& r, auto& c) {
    r.header("range").empty() ? serve_file(r, c, kOther, "\"2\"") : second(r, c);
  }));
  download_url_to_file(server.url("/x"), folder / "x", quick());
  CHECK(read_file(folder / "x") == kOther);
  CHECK(server.requests()[1].header("range") == "bytes=50000-");
  CHECK(folder.entries() == 1);
}

TEST_CASE("resume: without a validator only the hash allows it", "[hub]") {
  const TemporaryFolder folder;
  const auto plain = [](size_t limit) {
    return [=](const HttpRequest& r, HttpConnection& c) {
      const size_t first = r.header("range").empty() ? 0 : std::stoul(r.header("range").substr(6));
      HttpConnection::Headers headers{{"ETag", "W/\"weak\""},
                                      {"Content-Length", std::to_string(kBody.size() - first)}};
      if (first > 0)
        headers.emplace_back("Content-Range", "bytes " + std::to_string(first) + "-299999/300000");
      c.send_head(first > 0 ? 206 : 200, headers);
      c.send(kBody.substr(first, limit));
    };
  };
  const HttpServer server(first_then(plain(50'000), plain(std::string::npos)));
  DownloadOptions options = quick();
  SECTION("none") {
    download_url_to_file(server.url("/x"), folder / "x", options);
    CHECK(server.requests()[1].header("range").empty());
  }
  SECTION("a hash") {
    options.hash_prefix = sha256_hex(kBody);
    download_url_to_file(server.url("/x"), folder / "x", options);
    CHECK(server.requests()[1].header("range") == "bytes=50000-");
    CHECK(server.requests()[1].header("if-range").empty());
  }
  CHECK(read_file(folder / "x") == kBody);
}

TEST_CASE("resume: if the whole has a wrong hash, all is fetched once more", "[hub]") {
  const TemporaryFolder folder;
  const HttpServer server(file(kBody, "\"1\""));
  write_file(folder / "x.partial", "not what the server has");
  write_file(folder / "x.origin", sha256_hex(server.url("/x")) + "\n\"1\"\n300000\nend\n");
  DownloadOptions options = quick();
  options.hash_prefix = sha256_hex(kBody);
  download_url_to_file(server.url("/x"), folder / "x", options);
  CHECK(read_file(folder / "x") == kBody);
  CHECK(server.requests().size() == 2);

  // A note that was cut off vouches for nothing, nor does one for fewer bytes than there are.
  for (const char* note : {"\n\"1\"\n300000\n", "\n\"1\"\n3\nend\n", ""}) {
    write_file(folder / "y.partial", "not what the server has");
    write_file(folder / "y.origin", sha256_hex(server.url("/y")) + note);
    download_url_to_file(server.url("/y"), folder / "y", quick());
    CHECK(read_file(folder / "y") == kBody);
  }
  CHECK(folder.entries() == 2);
}

TEST_CASE("resume: after the caller stopped it", "[hub]") {
  const TemporaryFolder folder;
  const HttpServer server(file(kBody, "\"1\""));
  struct Stop {};
  DownloadOptions options = quick();
  options.on_progress = [](uint64_t done, std::optional<uint64_t>) {
    if (done > 0) throw Stop();
  };
  CHECK_THROWS_AS(download_url_to_file(server.url("/x"), folder / "x", options), Stop);
  download_url_to_file(server.url("/x"), folder / "x", quick());
  CHECK(server.requests()[1].header("if-range") == "\"1\"");
  CHECK(read_file(folder / "x") == kBody);
}

TEST_CASE("resume: a disk that takes no more is an error, and nothing is left", "[hub]") {
  const TemporaryFolder folder;
  write_file(folder / "x", "old");
  const HttpServer server(file(kBody, "\"1\""));
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_WITH(download_url_to_file(server.url("/x"), folder / "x", quick()),
                    Contains("[hub] cannot write '" + (folder / "x.partial") +
                             "' at byte 100000: File too large"));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(read_file(folder / "x") == "old");
  CHECK(folder.entries() == 1);
}

// ---- two processes ----

/// What the child processes below run; hidden from a plain run of all tests.
TEST_CASE("child: fetch", "[.child]") {
  download_once(std::getenv("TENON_TEST_URL"), std::getenv("TENON_TEST_PATH"), quick());
}

pid_t spawn_fetch(const std::string& url, const std::string& path) {
  const Variable set_url("TENON_TEST_URL", url), set_path("TENON_TEST_PATH", path);
  char program[] = "/proc/self/exe", test[] = "child: fetch", out[] = "-o", null[] = "/dev/null";
  char* arguments[] = {program, test, out, null, nullptr};
  pid_t child = 0;
  REQUIRE(::posix_spawn(&child, program, nullptr, nullptr, arguments, environ) == 0);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return status;
}

/// Whether `path` has that many bytes within some seconds.
bool grows_to(const std::string& path, size_t bytes) {
  for (int i = 0; i < 5000; ++i) {
    std::error_code error;
    if (std::filesystem::file_size(path, error) >= bytes && !error) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST_CASE("lock: of two processes one downloads and the other waits", "[hub]") {
  const TemporaryFolder folder;
  // A lock file that nobody holds is no hindrance.
  write_file(folder / "x.lock", "");
  std::mutex mutex;
  std::condition_variable changed;
  bool go_on = false;
  const HttpServer server([&](const HttpRequest&, HttpConnection& c) {
    c.send_head(200, {{"Content-Length", std::to_string(kBody.size())}});
    c.send(kBody.substr(0, 1000));
    std::unique_lock lock(mutex);
    changed.wait_for(lock, 10s, [&] { return go_on; });
    c.send(kBody.substr(1000));
  });
  const pid_t first = spawn_fetch(server.url("/x"), folder / "x");
  CHECK(grows_to(folder / "x.partial", 1000));
  const pid_t second = spawn_fetch(server.url("/x"), folder / "x");
  std::this_thread::sleep_for(100ms);
  int status = 0;
  CHECK(::waitpid(second, &status, WNOHANG) == 0);
  {
    const std::lock_guard lock(mutex);
    go_on = true;
  }
  changed.notify_all();
  CHECK(wait_for(first) == 0);
  CHECK(wait_for(second) == 0);
  CHECK(server.requests().size() == 1);
  CHECK(read_file(folder / "x") == kBody);
  CHECK(folder.entries() == 1);
}

TEST_CASE("lock: threads share a download as processes do", "[hub]") {
  const TemporaryFolder folder;
  const HttpServer server(file(kBody, "\"1\""));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { download_once(server.url("/x"), folder / "x", quick()); });
  for (std::thread& thread : threads) thread.join();
  CHECK(server.requests().size() == 1);
  CHECK(read_file(folder / "x") == kBody);
  CHECK(folder.entries() == 1);
}

TEST_CASE("lock: a killed download is taken over and resumed", "[hub]") {
  const TemporaryFolder folder;
  const HttpServer server(first_then(
      [](const HttpRequest&, HttpConnection& c) {
        c.send_head(200, {{"ETag", "\"1\""}, {"Content-Length", std::to_string(kBody.size())}});
        c.send(kBody.substr(0, 120'000));
        c.wait_for_hang_up();
      },
      file(kBody, "\"1\"")));
  const pid_t child = spawn_fetch(server.url("/x"), folder / "x");
  CHECK(grows_to(folder / "x.partial", 120'000));
  ::kill(child, SIGKILL);
  CHECK(WIFSIGNALED(wait_for(child)));
  CHECK(std::filesystem::exists(folder / "x.lock"));
  CHECK_FALSE(std::filesystem::exists(folder / "x"));
  download_once(server.url("/x"), folder / "x", quick());
  CHECK(read_file(folder / "x") == kBody);
  CHECK(server.requests()[1].header("range") == "bytes=120000-");
  CHECK(folder.entries() == 1);
}

}  // namespace
}  // namespace tenon::hub::test

#endif
