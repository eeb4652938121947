#include "runtime/hub/entry_point.h"

#include <catch2/catch.hpp>

#include "runtime/hub/directory.h"
#include "tenon/config.h"
#include "tenon/nn/modules/linear.h"
#include "tests/runtime/hub/fake_transport.h"
#include "tests/runtime/hub/support.h"

using Catch::Contains;
using tenon::Error;
using tenon::TypeError;
using tenon::ValueError;

namespace tenon::hub::test {
namespace {

/// Registered once for all tests of this program.
void register_all() {
  static const bool once = [] {
    register_entry_point({"lab/models", "linear", "A linear layer.", [](const Call& call) {
                            return nn::Linear(call.arguments.get<int64_t>("in_features"),
                                              call.arguments.get("out_features", 2));
                          }});
    register_entry_point({"lab/models", "folder", "", [](const Call& call) { return call.dir; }});
    register_entry_point({"lab/models", "all", "", [](const Call& call) {
                            const Arguments& a = call.arguments;
                            return a.get<bool>("b") && a.get<int>("i") == 3 &&
                                   a.get<double>("d") == 0.5 && a.get<double>("i") == 3 &&
                                   a.get<std::string>("s") == "text" &&
                                   a.get<Value>("b").to_bool() && !a.contains("none");
                          }});
    register_entry_point(
        {"lab/models", "gpu", "", [](const Call&) { return 1; }, {"zlib", "cuda"}});
    register_entry_point({"other/models", "linear", "Another.", [](const Call&) { return 1; }});
    return true;
  }();
  (void)once;
}

LoadOptions local() {
  LoadOptions options;
  options.source = "local";
  options.repository = "lab/models";
  return options;
}

TEST_CASE("entry point: list and help need no network", "[hub]") {
  register_all();
  CHECK(list("lab/models") == std::vector<std::string>{"all", "folder", "gpu", "linear"});
  CHECK(list("lab/models:v1").size() == 4);
  CHECK(list("/anywhere", local()).size() == 4);
  CHECK(help("lab/models", "linear") == "A linear layer.");
  CHECK(help("other/models", "linear") == "Another.");
  CHECK_THROWS_WITH(list("lab/model"), Contains("no entry points of lab/model.") &&
                                           Contains("Did you mean lab/models?"));
  CHECK_THROWS_WITH(help("lab/models", "liner"),
                    Contains("Cannot find callable liner in hubconf of lab/models. Did you mean "
                             "linear? It has: all, folder, gpu, linear"));
  LoadOptions unsaid = local();
  unsaid.repository.clear();
  CHECK_THROWS_WITH(list("/anywhere", unsaid), Contains("lab/models, other/models"));
}

TEST_CASE("entry point: loading calls it with the folder and the arguments", "[hub]") {
  register_all();
  const TemporaryFolder folder;
  const std::string path = folder.path();
  auto linear = load<nn::Linear>(path, "linear", {{"in_features", 3}}, local());
  CHECK(linear->parameters()[0].sizes() == IntArrayRef({2, 3}));
  CHECK(load<std::string>(path, "folder", {}, local()) == path);
  CHECK(load<bool>(path, "all", {{"b", true}, {"i", 3}, {"d", 0.5}, {"s", "text"}}, local()));

  CHECK_THROWS_WITH(load<nn::Linear>(path, "liner", {}, local()),
                    Contains("Cannot find callable liner in hubconf"));
  CHECK_THROWS_WITH(load<nn::Linear>(folder / "none", "linear", {}, local()),
                    Contains("there is no folder"));
  CHECK_THROWS_WITH(load<int>(path, "folder", {}, local()),
                    Contains("[hub] folder returns a std::") && Contains("not a int"));
  CHECK_THROWS_WITH(load<nn::Linear>(path, "linear", {}, local()),
                    Contains("the argument 'in_features' is missing"));
  CHECK_THROWS_WITH(load<nn::Linear>(path, "linear", {{"in_features", "3"}}, local()),
                    Contains("argument 'in_features': expected a value of type int"));
  CHECK_THROWS_WITH(
      load<nn::Linear>(path, "linear", {{"in_features", 3}, {"out_feature", 4}}, local()),
      Contains("linear takes no argument 'out_feature'. Did you mean out_features?"));
  CHECK_THROWS_AS(load<bool>(path, "all", {{"b", true}, {"i", int64_t{1} << 40}}, local()),
                  TypeError);
  if (!TENON_HAS_CUDA)
    CHECK_THROWS_WITH(load<int>(path, "gpu", {}, local()),
                      Contains("Missing dependencies: ") && Contains("cuda"));
}

TEST_CASE("entry point: the repository comes from where it is said to", "[hub]") {
  register_all();
  const TemporaryFolder folder;
  set_dir(folder.path());
  LoadOptions options;
  const auto network = std::make_shared<FakeTransport>();
  network->answers["https://github.com/lab/models/zipball/main"] = {
      200, read_file(TENON_TEST_DIR "/runtime/hub/data/repository.zip")};
  options.download.transport = network;
  options.download.progress = false;
  options.ask = [](const std::string&) { return false; };
  CHECK_THROWS_WITH(load<std::string>("lab/models", "folder", {}, options),
                    Contains("Untrusted repository."));
  options.trust_repo = TrustRepo::Yes;
  CHECK(load<std::string>("lab/models", "folder", {}, options) == folder / "lab_models_main");
  // An entry point that is not there is found out before anything is downloaded.
  CHECK_THROWS_AS(load<std::string>("lab/models:v1", "none", {}, options), Error);
  CHECK(network->requests.size() == 1);
  set_dir("");
}

TEST_CASE("entry point: what cannot be registered", "[hub]") {
  register_all();
  const auto factory = [](const Call&) { return 1; };
  CHECK_THROWS_WITH(register_entry_point({"lab/models", "linear", "", factory}),
                    Contains("has an entry point linear already"));
  CHECK_THROWS_AS(register_entry_point({"models", "x", "", factory}), ValueError);
  CHECK_THROWS_AS(register_entry_point({"lab/models:v1", "x", "", factory}), ValueError);
  CHECK_THROWS_AS(register_entry_point({"lab/models", "", "", factory}), ValueError);
  CHECK_THROWS_AS(register_entry_point({"lab/models", "x", "", nullptr}), ValueError);
  CHECK_THROWS_WITH(register_entry_point({"lab/models", "x", "", factory, {"numpy"}}),
                    Contains("must be one of cuda, curl"));
}

}  // namespace
}  // namespace tenon::hub::test
