#include "runtime/hub/repository.h"

#include <pwd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/hub/directory.h"
#include "runtime/serialization/sha256.h"
#include "tests/runtime/hub/fake_transport.h"
#include "tests/runtime/hub/support.h"

using Catch::Contains;
using tenon::Error;
using tenon::ValueError;

namespace tenon::hub::test {
namespace {

const std::string kApi = "https://api.github.com/repos/o/n/";
const std::string kZipball = "https://github.com/o/n/zipball/";
const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";

/// A cache of its own, a fake network and a trusting user.
struct Hub {
  Hub() {
    set_dir(folder.path());
    options.trust_repo = TrustRepo::Yes;
    options.download.transport = network;
    options.download.progress = false;
    options.download.retries = 0;
  }
  ~Hub() { set_dir(""); }

  static std::string archive() {
    return read_file(TENON_TEST_DIR "/runtime/hub/data/repository.zip");
  }
  /// What GitHub's API says about branches and tags.
  void answer_refs() const {
    network->answers[kApi + "branches?per_page=100&page=1"] = {
        200, R"([{"name": "main", "commit": {"sha": ")" + kCommit + R"("}}, {"name": "a/b"}])"};
    network->answers[kApi + "tags?per_page=100&page=1"] = {200, R"([{"name": "v1"}])"};
  }
  std::string get(const std::string& name) const { return get_repository(name, options); }

  const Variable no_token{"GITHUB_TOKEN", std::nullopt};
  TemporaryFolder folder;
  std::shared_ptr<FakeTransport> network = std::make_shared<FakeTransport>();
  RepositoryOptions options;
};

TEST_CASE("repository: the folder of the cache", "[hub]") {
  const Variable home("HOME", "/home/me"), tenon("TENON_HOME", std::nullopt),
      xdg("XDG_CACHE_HOME", std::nullopt);
  CHECK(get_dir() == "/home/me/.cache/tenon/hub");
  const Variable relative("XDG_CACHE_HOME", "cache");
  CHECK(get_dir() == "/home/me/.cache/tenon/hub");
  const Variable absolute("XDG_CACHE_HOME", "/cache");
  CHECK(get_dir() == "/cache/tenon/hub");
  const Variable tenon_home("TENON_HOME", "/tenon");
  CHECK(get_dir() == "/tenon/hub");
  set_dir("~/here");
  CHECK(get_dir() == "/home/me/here");
  set_dir("~");
  CHECK(get_dir() == "/home/me");
  const passwd* const user = ::getpwuid(::getuid());
  REQUIRE(user);
  set_dir(std::string("~") + user->pw_name + "/here");
  CHECK(get_dir() == std::string(user->pw_dir) + "/here");
  set_dir("~nobody of that name/here");
  CHECK(get_dir() == "~nobody of that name/here");
  set_dir("");
  CHECK(get_dir() == "/tenon/hub");
  const Variable tenon_in_home("TENON_HOME", "~/tenon");
  CHECK(get_dir() == "/home/me/tenon/hub");
  const Variable no_tenon("TENON_HOME", std::nullopt), xdg_in_home("XDG_CACHE_HOME", "~/cache");
  CHECK(get_dir() == "/home/me/cache/tenon/hub");
}

TEST_CASE("repository: names", "[hub]") {
  Hub hub;
  for (const char* bad :
       {"",        "n",        "o/",     "/n",       "o/n/m",  "o/..",     "o/.",
        "../n",    "o_p/n",    "o/n:",   "o/n:../x", "o/n:/x", "o/n:a..b", "o/n:-x",
        "o/n:a b", "o/n:a//b", "o/n:a/", "o/n:a:b",  "o /n",   "o/n\n"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(hub.get(bad), ValueError);
  }
  hub.options.source = "gitlab";
  CHECK_THROWS_WITH(hub.get("o/n"),
                    Contains(R"(Unknown source: "gitlab". Allowed values: "github" | "local".)"));
  hub.options.source = "ftp://host";
  CHECK_THROWS_AS(hub.get("o/n"), ValueError);
  CHECK(hub.network->requests.empty());
  CHECK(hub.folder.entries() == 0);
}

TEST_CASE("repository: a local one is where it is", "[hub]") {
  Hub hub;
  hub.options.source = "local";
  CHECK(hub.get(hub.folder.path()) == hub.folder.path());
  CHECK_THROWS_WITH(hub.get(hub.folder / "none"), Contains("there is no folder"));
}

TEST_CASE("repository: the default branch is main", "[hub]") {
  Hub hub;
  hub.network->answers[kZipball + "main"] = {200, Hub::archive()};
  const std::string path = hub.get("o/n");
  CHECK(path == hub.folder / "o_n_main");
  CHECK(read_file(path + "/README.md") == "# LeNet\n");
  CHECK(read_file(path + "/data/labels.txt").ends_with("label 39\nlabel 40\n"));
  CHECK(std::filesystem::file_size(path + "/data/empty") == 0);
  // Nothing but the repository and the list of trusted ones.
  CHECK(hub.folder.entries() == 2);
  CHECK(read_file(hub.folder / "trusted_list") == "o_n\n");
  // Code is not made ready to run.
  using std::filesystem::perms;
  CHECK((std::filesystem::status(path + "/run.sh").permissions() & perms::owner_exec) ==
        perms::none);

  CHECK(hub.get("o/n") == path);
  CHECK(hub.network->urls() == std::vector<std::string>{kZipball + "main"});
  hub.network->offline = true;
  CHECK(hub.get("o/n") == path);
  hub.options.force_reload = true;
  CHECK_THROWS_AS(hub.get("o/n"), TransportError);
  CHECK(read_file(path + "/README.md") == "# LeNet\n");
  hub.network->offline = false;
  write_file(path + "/stale", "");
  CHECK(hub.get("o/n") == path);
  CHECK_FALSE(std::filesystem::exists(path + "/stale"));
  CHECK(hub.folder.entries() == 2);
}

TEST_CASE("repository: the default branch is else master", "[hub]") {
  Hub hub;
  CHECK_THROWS_WITH(hub.get("o/n"), Contains("neither a branch main nor a branch master"));
  hub.network->answers[kZipball + "master"] = {200, Hub::archive()};
  CHECK(hub.get("o/n") == hub.folder / "o_n_master");
  // main may have come to be; where that cannot be known, master serves.
  CHECK(hub.get("o/n") == hub.folder / "o_n_master");
  CHECK(hub.network->urls().back() == kZipball + "main");
  hub.network->offline = true;
  CHECK(hub.get("o/n") == hub.folder / "o_n_master");
  hub.network->offline = false;
  hub.network->answers[kZipball + "main"] = {403, "", {{"x-ratelimit-remaining", "0"}}};
  CHECK(hub.get("o/n") == hub.folder / "o_n_master");
  hub.network->answers[kZipball + "main"] = {200, Hub::archive()};
  CHECK(hub.get("o/n") == hub.folder / "o_n_main");
}

TEST_CASE("repository: offline and not in the cache", "[hub]") {
  Hub hub;
  hub.network->offline = true;
  for (const char* name : {"o/n", "o/n:v1"})
    CHECK_THROWS_WITH(hub.get(name),
                      Contains(std::string(name) + " is not in the cache " + hub.folder.path()));
}

TEST_CASE("repository: a ref must be of the repository, not of a fork", "[hub]") {
  Hub hub;
  hub.answer_refs();
  for (const char* ref : {"v1", "a/b", "refs/tags/v1", "refs/heads/a/b", "0123456"}) {
    hub.network->answers[kZipball + ref] = {200, Hub::archive()};
    std::string folder = "o_n_" + std::string(ref);
    std::replace(folder.begin(), folder.end(), '/', '_');
    CHECK(hub.get("o/n:" + std::string(ref)) == hub.folder / folder);
  }
  const size_t asked = hub.network->requests.size();
  CHECK(hub.get("o/n:v1") == hub.folder / "o_n_v1");
  CHECK(hub.network->requests.size() == asked);

  for (const char* ref : {"012345", "1234567", "refs/pull/1/head", "refs/tags/a/b", "v"}) {
    hub.network->answers[kZipball + ref] = {200, Hub::archive()};
    CHECK_THROWS_WITH(hub.get("o/n:" + std::string(ref)),
                      Contains("Cannot find " + std::string(ref) + " in https://github.com/o/n"));
  }
  hub.options.skip_validation = true;
  CHECK(hub.get("o/n:1234567") == hub.folder / "o_n_1234567");
  CHECK_THROWS_WITH(hub.get("o/n:v2"), Contains("Cannot find v2 in o/n"));
}

TEST_CASE("repository: GitHub's API", "[hub]") {
  Hub hub;
  const std::string branches = kApi + "branches?per_page=100&page=";
  hub.network->answers[kZipball + "v1"] = {200, Hub::archive()};

  SECTION("lists come in pages; the token goes to the API alone") {
    const Variable token("GITHUB_TOKEN", "abc");
    std::string page = "[";
    for (int i = 0; i < 100; ++i)
      page += std::string(i ? "," : "") + R"({"name": "b)" + std::to_string(i) + "\"}";
    hub.network->answers[branches + "1"] = {200, page + "]"};
    hub.network->answers[branches + "2"] = {200, R"([{"name": "v1"}])"};
    CHECK(hub.get("o/n:v1") == hub.folder / "o_n_v1");
    REQUIRE(hub.network->requests.size() == 3);
    const Header authorization{"Authorization", "Bearer abc"};
    const auto sends = [&](size_t i) {
      const auto& headers = hub.network->requests[i].headers;
      return std::find(headers.begin(), headers.end(), authorization) != headers.end();
    };
    CHECK(sends(0));
    CHECK(sends(1));
    CHECK_FALSE(sends(2));
  }
  SECTION("a rate limit says so, and how to do without") {
    hub.network->answers[branches + "1"] = {
        403, "", {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1714564800"}}};
    CHECK_THROWS_WITH(hub.get("o/n:v1"), Contains("HTTP 403") && Contains("2024-05-01 12:00:00") &&
                                             Contains("GITHUB_TOKEN") &&
                                             Contains("skip_validation"));
    // What is in the cache needs no API.
    std::filesystem::create_directory(hub.folder / "o_n_v1");
    CHECK(hub.get("o/n:v1") == hub.folder / "o_n_v1");
  }
  SECTION("no such repository") {
    CHECK_THROWS_WITH(hub.get("o/n:v1"), Contains("Cannot find o/n at GitHub"));
  }
  SECTION("answers that are none") {
    for (const char* body : {"", "<html>", "{}", "[", "[1, {\"name\": 3, \"commit\": 4}]"}) {
      hub.network->answers[branches + "1"] = {200, body};
      CHECK_THROWS_AS(hub.get("o/n:v1"), Error);
    }
  }
}

TEST_CASE("repository: trust", "[hub]") {
  Hub hub;
  hub.network->answers[kZipball + "main"] = {200, Hub::archive()};
  std::vector<std::string> questions;
  bool answer = false;
  hub.options.trust_repo = TrustRepo::Check;

  // No terminal is asked in tests: nobody to say yes.
  if (!::isatty(STDIN_FILENO) || !::isatty(STDERR_FILENO))
    CHECK_THROWS_WITH(hub.get("o/n"), Contains("Untrusted repository."));
  hub.options.ask = [&](const std::string& question) {
    questions.push_back(question);
    return answer;
  };
  CHECK_THROWS_WITH(hub.get("o/n"), Contains("Untrusted repository.") &&
                                        Contains("TrustRepo::Yes") &&
                                        Contains(hub.folder / "trusted_list"));
  REQUIRE(questions.size() == 1);
  CHECK_THAT(questions[0], Contains("o/n"));
  CHECK(hub.network->requests.empty());
  CHECK(hub.folder.entries() == 0);

  answer = true;
  hub.get("o/n");
  CHECK(questions.size() == 2);
  CHECK(read_file(hub.folder / "trusted_list") == "o_n\n");
  hub.get("o/n");
  CHECK(questions.size() == 2);
  hub.options.trust_repo = TrustRepo::No;
  hub.get("o/n");
  CHECK(questions.size() == 3);
  CHECK(read_file(hub.folder / "trusted_list") == "o_n\n");

  // The list decides for what is not in the cache; names are compared whole.
  hub.options.trust_repo = TrustRepo::Check;
  write_file(hub.folder / "trusted_list", "p_nm\no_n2\np_m");
  hub.network->answers["https://github.com/p/n/zipball/main"] = {200, Hub::archive()};
  hub.network->answers["https://github.com/p/m/zipball/main"] = {200, Hub::archive()};
  hub.get("p/m");
  CHECK(questions.size() == 3);
  hub.get("p/n");
  CHECK(questions.size() == 4);
  CHECK(read_file(hub.folder / "trusted_list") == "p_nm\no_n2\np_m\np_n\n");
  // So does a folder in the cache, however it came there.
  std::filesystem::create_directory(hub.folder / "q_n_main");
  hub.get("q/n");
  CHECK(questions.size() == 4);
  // Where all is there, nothing is written: the cache may be read-only.
  const auto before = std::filesystem::last_write_time(hub.folder.path());
  hub.options.trust_repo = TrustRepo::Yes;
  for (const char* name : {"o/n", "p/n", "q/n"}) hub.get(name);
  CHECK(std::filesystem::last_write_time(hub.folder.path()) == before);
  CHECK(read_file(hub.folder / "trusted_list") == "p_nm\no_n2\np_m\np_n\n");
}

TEST_CASE("repository: who is trusted is no one else", "[hub]") {
  Hub hub;
  hub.options.trust_repo = TrustRepo::Check;
  hub.options.skip_validation = true;
  std::vector<std::string> questions;
  hub.options.ask = [&](const std::string& question) {
    questions.push_back(question);
    return questions.size() == 1;
  };
  // Both have the folder acme_a_b_c.
  hub.network->answers["https://github.com/acme/a_b/zipball/c"] = {200, Hub::archive()};
  hub.network->answers["https://github.com/acme/a/zipball/b_c"] = {200, Hub::archive()};
  const std::string path = hub.get("acme/a_b:c");
  for (const bool force : {false, true}) {
    hub.options.force_reload = force;
    CHECK_THROWS_WITH(hub.get("acme/a:b_c"), Contains("Untrusted repository."));
  }
  CHECK(questions.size() == 3);
  CHECK(hub.network->requests.size() == 1);
  // Nor is a folder replaced by what has a claim to its name alone.
  hub.options.trust_repo = TrustRepo::Yes;
  CHECK_THROWS_WITH(hub.get("acme/a:b_c"), Contains("holds https://github.com/acme/a_b"));
  CHECK(read_file(path + "/.tenon_hub") == "https://github.com/acme/a_b/zipball/c\n");

  // Servers whose names are written alike.
  hub.options.force_reload = false;
  hub.options.trust_repo = TrustRepo::Check;
  questions.clear();
  for (const char* source : {"https://h.org/a", "https://h.org-a"}) {
    hub.options.source = source;
    hub.network->answers[std::string(source) + "/o/n/archive/v.zip"] = {200, Hub::archive()};
  }
  hub.options.source = "https://h.org/a";
  hub.get("o/n:v");
  hub.options.source = "https://h.org-a";
  CHECK_THROWS_WITH(hub.get("o/n:v"), Contains("Untrusted repository."));
}

TEST_CASE("repository: a server of one's own", "[hub]") {
  Hub hub;
  TemporaryFolder server;
  std::filesystem::create_directories(server / "o/n/archive");
  write_file(server / "o/n/archive/v1.zip", Hub::archive());
  hub.options.download.transport = nullptr;
  hub.options.source = "file://" + server.path() + "/";
  const std::string path = hub.get("o/n:v1");
  CHECK_THAT(path, Contains(hub.folder / "file---") && Catch::EndsWith("@o_n_v1"));
  CHECK(read_file(path + "/README.md") == "# LeNet\n");
  CHECK_THROWS_WITH(hub.get("o/n:v2"), Contains("Cannot find v2 in o/n"));
  CHECK_THROWS_AS(hub.get("o/n"), HttpError);
  write_file(server / "o/n/archive/master.zip", Hub::archive());
  CHECK_THAT(hub.get("o/n"), Catch::EndsWith("@o_n_master"));

  hub.options.source = "https://hub.example.org/models";
  hub.options.download.transport = hub.network;
  hub.network->answers["https://hub.example.org/models/o/n/archive/main.zip"] = {200,
                                                                                 Hub::archive()};
  const std::string key = "https---hub.example.org-models-" +
                          serialization::sha256_hex(hub.options.source).substr(0, 16) + "@o_n";
  CHECK(hub.get("o/n") == hub.folder / (key + "_main"));
  CHECK_THAT(read_file(hub.folder / "trusted_list"), Contains("\n" + key + "\n"));
  // http is for who says so.
  hub.options.source = "http://hub.example.org/models";
  CHECK_THROWS_WITH(hub.get("o/n:v1"), Contains("allow_insecure"));
}

TEST_CASE("repository: a download leaves the folders of other refs alone", "[hub]") {
  Hub hub;
  hub.network->answers[kZipball + "main"] = {200, Hub::archive()};
  for (const char* ref : {"main.new", "main.old", "main.zip", "main.lock"})
    std::filesystem::create_directory(hub.folder / ("o_n_" + std::string(ref)));
  hub.get("o/n");
  CHECK(hub.folder.entries() == 6);
}

TEST_CASE("repository: two refs with one folder are told apart", "[hub]") {
  Hub hub;
  hub.options.skip_validation = true;
  hub.network->answers[kZipball + "a/b"] = {200, Hub::archive()};
  hub.get("o/n:a/b");
  CHECK_THROWS_WITH(hub.get("o/n:a_b"), Contains("holds https://github.com/o/n/zipball/a/b"));
}

TEST_CASE("repository: what is no good archive leaves the old one alone", "[hub]") {
  Hub hub;
  auto& answer = hub.network->answers[kZipball + "main"];
  answer.body = Hub::archive();
  const std::string path = hub.get("o/n");
  hub.options.force_reload = true;
  for (const std::string& body :
       {std::string("<html>log in first</html>"), Hub::archive().substr(0, 900),
        read_file(TENON_TEST_DIR "/runtime/hub/data/symbolic_link.zip")}) {
    answer.body = body;
    CHECK_THROWS_AS(hub.get("o/n"), Error);
  }
  hub.options.max_archive_bytes = 500;
  answer.body = Hub::archive();
  CHECK_THROWS_WITH(hub.get("o/n"), Contains("more than the 500 bytes allowed"));
  CHECK(read_file(path + "/README.md") == "# LeNet\n");
  CHECK(hub.folder.entries() == 2);
}

}  // namespace
}  // namespace tenon::hub::test
