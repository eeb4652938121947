// What oracle.py runs beside PyTorch:
//   serialization_oracle write OUT      saves every case as OUT/<name>.pt
//   serialization_oracle check IN       loads IN/<name>.pt of every case and compares
//   serialization_oracle resave IN OUT  loads every IN/<name>.pt and saves it as OUT/<name>.pt
#include <filesystem>
#include <iostream>

#include "tests/runtime/serialization/cases.h"

using namespace tenon::serialization;
namespace fs = std::filesystem;

namespace {

std::string file_of(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / (name + ".pt")).string();
}

int check(const std::string& folder) {
  int failures = 0;
  for (const Case& c : cases()) {
    const Owned read(load(file_of(folder, c.name), c.load)), made(c.make());
    const Value &loaded = read, &expected = made;
    if (!(loaded == expected)) {
      ++failures;
      std::cerr << c.name << ": loaded " << loaded << "\nexpected " << expected << "\n";
    }
  }
  return failures;
}

void resave(const std::string& from, const std::string& to) {
  LoadOptions harmless;
  harmless.weights_only = false;
  for (const auto& entry : fs::directory_iterator(from))
    save(Owned(load(entry.path().string(), harmless)),
         (fs::path(to) / entry.path().filename()).string());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args.size() == 2 && args[0] == "write") {
      for (const Case& c : cases()) save(Owned(c.make()), file_of(args[1], c.name), c.save);
    } else if (args.size() == 2 && args[0] == "check") {
      return check(args[1]);
    } else if (args.size() == 3 && args[0] == "resave") {
      resave(args[1], args[2]);
    } else {
      std::cerr << "usage: serialization_oracle write OUT | check IN | resave IN OUT\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
