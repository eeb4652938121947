#include <catch2/catch.hpp>

#include "runtime/hub/directory.h"
#include "runtime/hub/download.h"
#include "runtime/serialization/serialize.h"
#include "runtime/serialization/sha256.h"
#include "tenon/nn/modules/linear.h"
#include "tests/runtime/hub/fake_transport.h"
#include "tests/runtime/hub/support.h"
#include "tests/runtime/values.h"

using Catch::Contains;
using tenon::ValueError;

namespace tenon::hub::test {
namespace {

TEST_CASE("state dict: from a URL, and then from the cache", "[hub]") {
  const TemporaryFolder folder;
  set_dir(folder / "hub");
  nn::Linear linear(3, 2);
  tenon::save(linear, folder / "linear.pt");
  const std::string bytes = read_file(folder / "linear.pt");
  const std::string hash = serialization::sha256_hex(bytes).substr(0, 12);
  const auto network = std::make_shared<FakeTransport>();
  const std::string url = "https://host/models/linear-" + hash + ".pt?token=t";
  network->answers[url] = {200, bytes};
  CachedFileOptions options;
  options.transport = network;
  options.progress = false;
  options.retries = 0;
  options.check_hash = true;

  const auto check = [&](const nn::StateDict& state) {
    CHECK(state.keys() == std::vector<std::string>{"weight", "bias"});
    CHECK(values(state["weight"]) == values(linear->state_dict()["weight"]));
  };
  check(load_state_dict_from_url(url, options));
  const std::string cached = folder / ("hub/checkpoints/linear-" + hash + ".pt");
  CHECK(read_file(cached) == bytes);
  network->offline = true;
  check(load_state_dict_from_url(url, options));
  CHECK(network->requests.size() == 1);

  // A file of another hash is no hit.
  network->offline = false;
  write_file(cached, "something else");
  check(load_state_dict_from_url(url, options));
  CHECK(network->requests.size() == 2);

  SECTION("a wrong hash") {
    const std::string other = "https://host/linear-00000000.pt";
    network->answers[other] = {200, bytes};
    CHECK_THROWS_WITH(load_state_dict_from_url(other, options),
                      Contains("invalid hash value (expected \"00000000\", got \"" + hash));
    CHECK_FALSE(std::filesystem::exists(folder / "hub/checkpoints/linear-00000000.pt"));
  }
  SECTION("a name without a hash that is long enough") {
    for (const char* name : {"linear.pt", "linear-0123456.pt", "linear-.pt", "linear-0123456789",
                             "linear-012345678X.pt", "0123456789.pt"}) {
      options.file_name = name;
      CHECK_THROWS_WITH(load_state_dict_from_url(url, options), Contains("check_hash needs"));
    }
    CHECK(network->requests.size() == 2);
  }
  SECTION("the last hash in the name counts") {
    options.file_name = "linear-1.0-" + hash + ".v2.pt";
    check(load_state_dict_from_url(url, options));
    options.file_name = "linear-deadbeef.-" + hash + ".pt";
    check(load_state_dict_from_url(url, options));
  }
  SECTION("another folder and name") {
    options.model_dir = folder / "models";
    options.file_name = "mine.pt";
    options.check_hash = false;
    check(load_state_dict_from_url(url, options));
    CHECK(read_file(folder / "models/mine.pt") == bytes);
    for (const char* name : {"../mine.pt", "..", "a/b"}) {
      options.file_name = name;
      CHECK_THROWS_AS(load_state_dict_from_url(url, options), ValueError);
    }
    options.file_name.clear();
    CHECK_THROWS_AS(load_state_dict_from_url("https://host/", options), ValueError);
    CHECK_THROWS_AS(load_state_dict_from_url("https://host", options), ValueError);
    CHECK_THROWS_AS(load_state_dict_from_url("https://host/a/..", options), ValueError);
  }
  SECTION("to another place, mapped, and as strictly as is asked for") {
    const nn::StateDict meta = load_state_dict_from_url(url, options, {.map_location = kMeta});
    CHECK(meta["weight"].is_meta());
    CHECK(meta["weight"].sizes() == IntArrayRef({2, 3}));
    serialization::LoadOptions load;
    load.mmap = serialization::LoadOptions::Mmap::Shared;
    const nn::StateDict mapped = load_state_dict_from_url(url, options, load);
    check(mapped);
    // It is the cached file that is mapped.
    mapped["bias"].data_ptr<float>()[0] = 77;
    load.mmap = serialization::LoadOptions::Mmap::Private;
    options.check_hash = false;
    CHECK(values(load_state_dict_from_url(url, options, load)["bias"])[0] == 77);
    const serialization::Value with_set =
        serialization::Value::dict({{"names", serialization::Value::frozenset({})}});
    tenon::save(with_set, folder / "set.pt");
    network->answers["https://host/set.pt"] = {200, read_file(folder / "set.pt")};
    CHECK_THROWS_WITH(load_state_dict_from_url("https://host/set.pt", options),
                      Contains("Unsupported global: GLOBAL frozenset"));
    load = {.weights_only = false};
    CHECK_THROWS_WITH(load_state_dict_from_url("https://host/set.pt", options, load),
                      Contains("'names' is a frozenset, expected a tensor"));
  }
  SECTION("what is no checkpoint is named") {
    options.check_hash = false;
    network->answers["https://host/text.pt"] = {200, "not found"};
    CHECK_THROWS_WITH(load_state_dict_from_url("https://host/text.pt", options),
                      Contains(folder / "hub/checkpoints/text.pt"));
    // A page is not even kept: the file is there at the next call, or the page again.
    const std::string page = "https://host/page.pt";
    network->answers[page] = {200, "<html>"};
    CHECK_THROWS_WITH(load_state_dict_from_url(page, options), Contains("web page"));
    network->answers[page] = {200, bytes};
    check(load_state_dict_from_url(page, options));
  }
  set_dir("");
}

}  // namespace
}  // namespace tenon::hub::test
