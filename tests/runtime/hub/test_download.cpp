#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "runtime/hub/download.h"
#include "runtime/serialization/sha256.h"
#include "tenon/config.h"
#include "tests/runtime/hub/http_server.h"
#include "tests/runtime/hub/support.h"

using namespace std::chrono_literals;
using Catch::Contains;
using tenon::Error;
using tenon::ValueError;
using tenon::serialization::sha256_hex;

namespace tenon::hub::test {
namespace {

DownloadOptions quick() {
  DownloadOptions options;
  options.progress = false;
  options.backoff = 1ms;
  options.retries = 2;
  options.allow_insecure = true;  // the tests' servers speak http
  return options;
}

TEST_CASE("download: URLs and paths that cannot be", "[hub]") {
  const TemporaryFolder folder;
  for (const char* url : {"", "x.bin", "ftp://host/x", "http://", "http:///x", "https://a b/x",
                          "http://host/x\ny", "file://host/x", "file:///%zz", "file:///%00"}) {
    CAPTURE(url);
    CHECK_THROWS_AS(download_url_to_file(url, folder / "x", quick()), ValueError);
  }
  CHECK_THROWS_WITH(download_url_to_file("file:///x", folder / "none/x", quick()),
                    Contains("Parent directory " + (folder / "none") + " does not exist."));
  CHECK_THROWS_WITH(download_url_to_file("file:///x", folder.path(), quick()),
                    Contains("it is a directory"));
  const std::string too_long = folder / std::string(300, 'x');
  CHECK_THROWS_AS(download_url_to_file("file:///x", too_long, quick()), Error);
  CHECK_THROWS_AS(download_once("file:///x", too_long + "/x", quick()), Error);
  CHECK(folder.entries() == 0);
}

TEST_CASE("download: file URLs need no network", "[hub]") {
  const TemporaryFolder folder;
  write_file(folder / "a b.bin", "weights");
  download_url_to_file("file://" + (folder / "a%20b.bin"), folder / "x", quick());
  CHECK(read_file(folder / "x") == "weights");
  CHECK_THROWS_WITH(download_url_to_file("file://" + (folder / "none"), folder / "y", quick()),
                    Contains("there is no file"));
  // A folder, a pipe and a device are no files.
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  for (const std::string& path : {folder.path(), folder / "pipe", std::string("/dev/zero")})
    CHECK_THROWS_WITH(download_url_to_file("file://" + path, folder / "y", quick()),
                      Contains("there is no file"));
  CHECK(folder.entries() == 3);
}

#if TENON_HAS_CURL

HttpServer::Handler always(int status, HttpConnection::Headers headers = {},
                           std::string body = {}) {
  return [=](const HttpRequest&, HttpConnection& connection) {
    connection.respond(status, headers, body);
  };
}

TEST_CASE("download: a whole file, and nothing else left", "[hub]") {
  const std::string body = sample_bytes(700'000);
  const HttpServer server(
      [&](const HttpRequest& r, HttpConnection& c) { serve_file(r, c, body, "\"1\""); });
  const TemporaryFolder folder;
  write_file(folder / "x.bin", "old");
  DownloadOptions options = quick();
  std::vector<uint64_t> seen;
  options.on_progress = [&](uint64_t done, std::optional<uint64_t> total) {
    CHECK(total == body.size());
    seen.push_back(done);
  };
  options.hash_prefix = sha256_hex(body);
  download_url_to_file(server.url("/x.bin"), folder / "x.bin", options);
  CHECK(read_file(folder / "x.bin") == body);
  CHECK(folder.entries() == 1);
  CHECK(seen.front() == 0);
  CHECK(seen.back() == body.size());
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(server.requests().size() == 1);
  CHECK(server.requests()[0].header("range").empty());

  SECTION("an empty one") {
    const HttpServer empty(always(200));
    download_url_to_file(empty.url("/x.bin"), folder / "x.bin", quick());
    CHECK(read_file(folder / "x.bin").empty());
  }
}

TEST_CASE("download: the hash decides", "[hub]") {
  const HttpServer server(always(200, {{"ETag", "\"1\""}}, "weights"));
  const TemporaryFolder folder;
  write_file(folder / "x.bin", "old");
  DownloadOptions options = quick();
  options.hash_prefix = sha256_hex("weights").substr(0, 8);
  options.hash_prefix[0] = static_cast<char>(std::toupper(options.hash_prefix[0]));
  download_url_to_file(server.url("/x.bin"), folder / "x.bin", options);
  CHECK(read_file(folder / "x.bin") == "weights");

  options.hash_prefix = "00000000";
  CHECK_THROWS_WITH(download_url_to_file(server.url("/x.bin"), folder / "x.bin", options),
                    Contains("invalid hash value (expected \"00000000\", got \"" +
                             sha256_hex("weights") + "\")"));
  CHECK(read_file(folder / "x.bin") == "weights");
  CHECK(folder.entries() == 1);

  for (const char* bad : {"0123456", "0123456g", "deadbeef "}) {
    options.hash_prefix = bad;
    CHECK_THROWS_AS(download_url_to_file(server.url("/x.bin"), folder / "x.bin", options),
                    ValueError);
  }
  CHECK(server.requests().size() == 2);
}

TEST_CASE("download: a status of failure is an error that says which", "[hub]") {
  const TemporaryFolder folder;
  const auto status_of = [&](const HttpServer& server, const std::string& text) {
    try {
      download_url_to_file(server.url("/x.bin"), folder / "x.bin", quick());
    } catch (const HttpError& error) {
      CHECK_THAT(error.what(), Contains(text));
      CHECK(folder.entries() == 0);
      return error.status();
    }
    return 0;
  };
  CHECK(status_of(HttpServer(always(404, {}, "<html>")), "HTTP 404 (Not Found)") == 404);
  CHECK(status_of(HttpServer(always(300)), "Multiple Choices") == 300);
  CHECK(status_of(HttpServer(always(204)), "HTTP 204") == 204);
  const HttpServer limited(
      always(403, {{"X-RateLimit-Remaining", "0"}, {"X-RateLimit-Reset", "1714564800"}}));
  CHECK(status_of(limited, "rate limit is exceeded until 2024-05-01 12:00:00 UTC") == 403);
  CHECK(limited.requests().size() == 1);

  // Those that may pass are tried again.
  const HttpServer broken(always(503));
  CHECK(status_of(broken, "HTTP 503 (Service Unavailable)") == 503);
  CHECK(broken.requests().size() == 3);
  const HttpServer later(always(429, {{"Retry-After", "3600"}}));
  CHECK(status_of(later, "HTTP 429") == 429);
  CHECK(later.requests().size() == 1);

  std::atomic<int> count = 0;
  const HttpServer recovers([&](const HttpRequest& r, HttpConnection& c) {
    count++ == 0 ? c.respond(500) : serve_file(r, c, "weights", "\"1\"");
  });
  download_url_to_file(recovers.url("/x.bin"), folder / "x.bin", quick());
  CHECK(read_file(folder / "x.bin") == "weights");
}

TEST_CASE("download: redirects are followed, not without end and not anywhere", "[hub]") {
  const TemporaryFolder folder;
  write_file(folder / "secret", "secret");
  const HttpServer target(always(200, {}, "weights"));
  const auto redirect = [&](const std::string& to) {
    const HttpServer server(always(302, {{"Location", to}}, "moved"));
    DownloadOptions options = quick();
    options.headers = {{"Authorization", "Bearer abc"}};
    download_url_to_file(server.url("/x.bin"), folder / "x.bin", options);
    CHECK(server.requests()[0].header("authorization") == "Bearer abc");
  };
  redirect(target.url("/y", "localhost"));
  CHECK(read_file(folder / "x.bin") == "weights");
  DownloadOptions forged = quick();
  forged.headers = {{"X-Name", "a\r\nAuthorization: b"}};
  CHECK_THROWS_WITH(download_url_to_file(target.url("/y"), folder / "y", forged),
                    Contains("no line breaks"));
  CHECK_THROWS_AS(redirect("/x.bin"), TransportError);
  CHECK_THROWS_AS(redirect("file://" + (folder / "secret")), TransportError);
  CHECK_THROWS_AS(redirect("ftp://127.0.0.1/x"), TransportError);
  CHECK(read_file(folder / "x.bin") == "weights");
}

TEST_CASE("download: headers are for whom they were given for", "[hub]") {
  const TemporaryFolder folder;
  DownloadOptions options = quick();
  options.headers = {{"Authorization", "Bearer abc"},
                     {"PRIVATE-TOKEN", "abc"},
                     {"x-api-key", "abc"},
                     {"Accept", "application/octet-stream"}};
  const auto tokens = [](const HttpRequest& request) {
    return request.header("authorization") + request.header("private-token") +
           request.header("x-api-key");
  };
  const std::string all = "Bearer abcabcabc";
  const HttpServer target(always(200, {}, "weights"));

  SECTION("another host or port gets none, and neither does who comes after it") {
    HttpServer* back = nullptr;
    const HttpServer between([&](const HttpRequest&, HttpConnection& c) {
      c.respond(302, {{"Location", back->url("/last")}}, "moved");
    });
    for (const char* host : {"127.0.0.1", "localhost"}) {
      HttpServer first([&](const HttpRequest& r, HttpConnection& c) {
        if (r.target == "/last") {
          c.respond(200, {}, "weights");
        } else if (r.target == "/same") {
          c.respond(301, {{"Location", between.url("/x", host)}}, "moved");
        } else {
          c.respond(307, {{"Location", "/same"}}, "moved");
        }
      });
      back = &first;
      download_url_to_file(first.url("/x"), folder / "x", options);
      const auto at_first = first.requests();
      REQUIRE(at_first.size() == 3);
      CHECK(tokens(at_first[0]) == all);
      CHECK(tokens(at_first[1]) == all);
      CHECK(tokens(at_first[2]).empty());
      CHECK(tokens(between.requests().back()).empty());
      CHECK(between.requests().back().header("accept") == "application/octet-stream");
    }
  }
  SECTION("the user of a URL") {
    const HttpServer first([&](const HttpRequest& r, HttpConnection& c) {
      c.respond(302, {{"Location", r.target == "/x" ? "/y" : target.url("/z")}}, "moved");
    });
    std::string url = first.url("/x");
    download_url_to_file(url.insert(7, "me:pw@"), folder / "x", quick());
    const std::string user = "Basic bWU6cHc=";
    CHECK(first.requests()[0].header("authorization") == user);
    CHECK(first.requests()[1].header("authorization") == user);
    CHECK(target.requests()[0].header("authorization").empty());
  }
  SECTION("what a resumed download asks for goes along") {
    const std::string body = sample_bytes(100'000);
    const HttpServer store(
        [&](const HttpRequest& r, HttpConnection& c) { serve_file(r, c, body, "\"1\"", 60'000); });
    const HttpServer first(always(302, {{"Location", store.url("/x")}}, "moved"));
    download_url_to_file(first.url("/x"), folder / "x", options);
    CHECK(read_file(folder / "x") == body);
    const auto requests = store.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[1].header("range") == "bytes=60000-");
    CHECK(requests[1].header("if-range") == "\"1\"");
    CHECK(tokens(requests[1]).empty());
  }
}

TEST_CASE("download: http needs a hash that names one file", "[hub]") {
  const TemporaryFolder folder;
  const HttpServer server(always(200, {}, "weights"));
  DownloadOptions options = quick();
  options.allow_insecure = false;
  const std::string digest = sha256_hex("weights");
  for (const size_t digits : {0, 8, 31}) {
    options.hash_prefix = digest.substr(0, digits);
    CHECK_THROWS_AS(download_url_to_file(server.url("/x"), folder / "x", options), ValueError);
  }
  CHECK(server.requests().empty());
  CHECK(folder.entries() == 0);
  for (const size_t digits : {32, 64}) {
    options.hash_prefix = digest.substr(0, digits);
    download_url_to_file(server.url("/x"), folder / "x", options);
    CHECK(read_file(folder / "x") == "weights");
  }
}

TEST_CASE("download: a page in a file's place is no file", "[hub]") {
  const TemporaryFolder folder;
  DownloadOptions options = quick();
  for (const std::string& page :
       {std::string("<html>log in</html>"), std::string("\xef\xbb\xbf\r\n <!DOCTYPE HTML>"),
        std::string("<?xml version=\"1.0\"?>\n<!-- > -->\n<HTML lang=\"en\">"),
        std::string("<!-- x --><head>"), "<body>" + std::string(5000, 'x')}) {
    const HttpServer server(always(200, {{"Content-Type", "text/html"}}, page));
    CHECK_THROWS_WITH(download_url_to_file(server.url("/x.pt?page=.html"), folder / "x", options),
                      Contains(server.url("/x.pt") + " answers with a web page"));
    CHECK(server.requests().size() == 1);
    CHECK(folder.entries() == 0);
    // Where it is what was asked for, it is taken.
    download_url_to_file(server.url("/x.html"), folder / "x", options);
    options.hash_prefix = sha256_hex(page);
    download_url_to_file(server.url("/x.pt"), folder / "x", options);
    CHECK(read_file(folder / "x") == page);
    options.hash_prefix.clear();
    std::filesystem::remove(folder / "x");
  }
  for (const std::string& text : {std::string("<"), std::string("<!--"), std::string("<?"),
                                  std::string("x<html>"), std::string("<svg>")}) {
    const HttpServer server(always(200, {}, text));
    download_url_to_file(server.url("/x.pt"), folder / "x", options);
    CHECK(read_file(folder / "x") == text);
  }
}

TEST_CASE("download: a connection that is too slow is given up", "[hub]") {
  const TemporaryFolder folder;
  // A byte now and then, so that it is never silent, for longer than anybody waits.
  const HttpServer slow([](const HttpRequest& r, HttpConnection& c) {
    const size_t first = r.header("range").empty() ? 0 : std::stoul(r.header("range").substr(6));
    c.send_head(first > 0 ? 206 : 200,
                {{"ETag", "\"1\""},
                 {"Content-Length", std::to_string(400 - first)},
                 {"Content-Range", "bytes " + std::to_string(first) + "-399/400"}});
    for (size_t i = first; i < 400; ++i) {
      c.send("x");
      std::this_thread::sleep_for(50ms);
    }
  });
  DownloadOptions options = quick();
  options.retries = 1;
  options.stall_timeout = 1s;
  CHECK_THROWS_AS(download_url_to_file(slow.url("/x"), folder / "x", options), TransportError);
  // The few bytes that the first attempt brought did not make it a success.
  CHECK(slow.requests().size() == 2);
}

TEST_CASE("download: no answer at all", "[hub]") {
  const TemporaryFolder folder;
  std::string url;
  {
    const HttpServer gone(always(200));
    url = gone.url("/x.bin");
  }
  CHECK_THROWS_WITH(download_url_to_file(url, folder / "x.bin", quick()),
                    Contains("[hub] cannot fetch " + url));
  CHECK_THROWS_WITH(
      download_url_to_file("http://me:pw@127.0.0.1:1/x.bin?token=t", folder / "x.bin", quick()),
      Contains("http://127.0.0.1:1/x.bin") && !Contains("pw") && !Contains("token"));

  const HttpServer silent([](const HttpRequest&, HttpConnection& c) { c.wait_for_hang_up(); });
  DownloadOptions options = quick();
  options.retries = 0;
  options.stall_timeout = 1ms;
  CHECK_THROWS_AS(download_url_to_file(silent.url("/x.bin"), folder / "x.bin", options),
                  TransportError);

  const HttpServer rude([](const HttpRequest&, HttpConnection& c) { c.reset(); });
  CHECK_THROWS_AS(download_url_to_file(rude.url("/x.bin"), folder / "x.bin", quick()),
                  TransportError);
  CHECK(rude.requests().size() == 3);
  CHECK(folder.entries() == 0);
}

TEST_CASE("download: an interrupt ends what is waited for", "[hub]") {
  struct Interrupt {};
  const TemporaryFolder folder;
  const std::string body = sample_bytes(100'000), path = folder / "file.bin";
  DownloadOptions options;
  options.progress = false;
  options.allow_insecure = true;
  std::atomic<bool> due = false;
  options.check_interrupt = [&] {
    if (due) throw Interrupt{};
  };
  options.on_progress = [&](uint64_t done, std::optional<uint64_t>) { due = done == 60'000; };
  const auto begin = std::chrono::steady_clock::now();

  // An answer that stalls in the middle; what came is kept, and continued.
  bool stalls = true;
  HttpServer server([&](const HttpRequest& request, HttpConnection& connection) {
    serve_file(request, connection, body, "\"1\"", stalls ? 60'000 : body.size());
    if (stalls) connection.wait_for_hang_up();
  });
  CHECK_THROWS_AS(download_url_to_file(server.url("/file.bin"), path, options), Interrupt);
  stalls = false;
  download_url_to_file(server.url("/file.bin"), path, options);
  CHECK(read_file(path) == body);
  CHECK(server.requests().back().header("range") == "bytes=60000-");

  // The wait before the next attempt.
  HttpServer failing([&](const HttpRequest&, HttpConnection& connection) {
    connection.respond(503);
    due = true;
  });
  due = false;
  options.backoff = std::chrono::minutes(1);
  CHECK_THROWS_AS(download_url_to_file(failing.url("/file.bin"), path, options), Interrupt);

  // A lock that another has.
  const int lock = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT, 0666);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  due = true;
  CHECK_THROWS_AS(download_url_to_file(server.url("/file.bin"), path, options), Interrupt);
  ::close(lock);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("download: sizes are held to", "[hub]") {
  const TemporaryFolder folder;
  DownloadOptions options = quick();
  options.max_bytes = 10;
  const HttpServer announced(always(200, {}, "eleven byte"));
  CHECK_THROWS_WITH(download_url_to_file(announced.url("/x"), folder / "x", options),
                    Contains("has 11 bytes, more than the 10 allowed (max_bytes)"));
  const HttpServer talkative([](const HttpRequest&, HttpConnection& c) {
    c.send("HTTP/1.1 200 OK\r\n");
    while (true) c.send("X-More: " + std::string(10'000, 'x') + "\r\n");
  });
  CHECK_THROWS_WITH(download_url_to_file(talkative.url("/x"), folder / "x", options),
                    Contains("the answer has more than 262144 bytes of headers"));
  const HttpServer endless([](const HttpRequest&, HttpConnection& c) {
    c.send_head(200, {});
    while (true) c.send("more and more");
  });
  CHECK_THROWS_WITH(download_url_to_file(endless.url("/x"), folder / "x", options),
                    Contains("sends more than the 10 bytes allowed"));
  const HttpServer huge([](const HttpRequest&, HttpConnection& c) {
    c.send_head(200, {{"Content-Length", "1000000000000000000"}});
    c.wait_for_hang_up();
  });
  options.max_bytes = UINT64_MAX;
  CHECK_THROWS_WITH(download_url_to_file(huge.url("/x"), folder / "x", options),
                    Contains("has room for"));
  // A length that is too long is a truncated file; one that is too short cuts it, as the hash
  // shows.
  const HttpServer too_long([](const HttpRequest&, HttpConnection& c) {
    c.send_head(200, {{"Content-Length", "100"}});
    c.send("seven b");
  });
  CHECK_THROWS_AS(download_url_to_file(too_long.url("/x"), folder / "x", quick()), TransportError);
  const HttpServer too_short([](const HttpRequest&, HttpConnection& c) {
    c.send_head(200, {{"Content-Length", "3"}});
    c.send("weights");
  });
  options.hash_prefix = sha256_hex("weights");
  CHECK_THROWS_WITH(download_url_to_file(too_short.url("/x"), folder / "x", options),
                    Contains("invalid hash value"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("download: proxies come from the environment", "[hub]") {
  const TemporaryFolder folder;
  const HttpServer proxy(always(200, {}, "by proxy"));
  const Variable set("http_proxy", proxy.url(""));
  const Variable all_hosts("no_proxy", std::nullopt), as_well("NO_PROXY", std::nullopt);
  download_url_to_file("http://host.invalid/x.bin", folder / "x", quick());
  CHECK(read_file(folder / "x") == "by proxy");
  CHECK(proxy.requests()[0].target == "http://host.invalid/x.bin");
}

#else

TEST_CASE("download: without libcurl http is an error that says so", "[hub]") {
  const TemporaryFolder folder;
  for (const char* url : {"http://127.0.0.1/x", "https://127.0.0.1/x"})
    CHECK_THROWS_WITH(download_url_to_file(url, folder / "x", quick()),
                      Contains("has no libcurl; install libcurl4-openssl-dev"));
  CHECK(folder.entries() == 0);
}

#endif

}  // namespace
}  // namespace tenon::hub::test
