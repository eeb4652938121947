// Publishes weights in a folder, then loads them the way a user of the hub does: by entry point and
// URL. With https:// in place of file:// nothing else changes.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "perceptron.h"
#include "runtime/serialization/serialize.h"
#include "runtime/serialization/sha256.h"
#include "tenon/ops/equal.h"
#include "tenon/ops/randn.h"

namespace {

/// Saves the weights under a name that has the first digits of their SHA-256; gives the URL.
std::string publish(const Perceptron& model, const std::filesystem::path& folder) {
  const std::string path = folder / "perceptron.pt";
  tenon::save(model, path);
  const std::string hash = tenon::serialization::sha256_file(path).substr(0, 8);
  const std::string named = folder / ("perceptron-" + hash + ".pt");
  std::filesystem::rename(path, named);
  return "file://" + named;
}

int run(const std::filesystem::path& folder) {
  register_acme_models();
  tenon::hub::set_dir(folder / "cache");
  // The repository's folder: here one on this disk, else "acme/models" or "acme/models:v1.2".
  tenon::hub::LoadOptions options;
  options.source = "local";

  for (const std::string& name : tenon::hub::list(folder, options))
    std::cout << name << ": " << tenon::hub::help(folder, name, options);

  Perceptron trained(4, 3);
  const std::string url = publish(trained, folder);
  auto model = tenon::hub::load<Perceptron>(folder, "perceptron", {{"weights", url}}, options);

  const tenon::Tensor x = tenon::randn({2, 4});
  const bool same = tenon::equal(model(x), trained(x));
  std::cout << "scores " << model(x) << "\nas published: " << (same ? "yes" : "no") << "\n";
  return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const std::filesystem::path folder =
        count > 1 ? arguments[1] : std::filesystem::current_path() / "hub-example";
    std::filesystem::create_directories(folder);
    return run(folder);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
