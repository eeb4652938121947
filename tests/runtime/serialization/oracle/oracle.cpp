// What oracle.py and large.py run beside PyTorch:
//   serialization_oracle write OUT      saves every case as OUT/<name>.pt
//   serialization_oracle check IN       loads IN/<name>.pt of every case and compares
//   serialization_oracle resave IN OUT  loads every IN/<name>.pt and saves it as OUT/<name>.pt
//   serialization_oracle large FILE zip|deflated|legacy  saves large.py's value
//   serialization_oracle check-large FILE mmap|read      loads and checks it
#include <filesystem>
#include <iostream>

#include "tenon/ops/arange.h"
#include "tenon/ops/zeros.h"
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

/// More bytes than 32 bits count, few of which are not zero.
constexpr int64_t kLarge = (int64_t{1} << 32) + 300'000'001;
constexpr int64_t kMarked[] = {0,
                               1,
                               (int64_t{1} << 31) - 1,
                               int64_t{1} << 31,
                               (int64_t{1} << 32) - 1,
                               int64_t{1} << 32,
                               kLarge - 1};

void save_large(const std::string& path, const std::string& form) {
  const tenon::Tensor big = tenon::zeros({kLarge}, tenon::TensorOptions(tenon::kByte));
  uint8_t mark = 0;
  for (const int64_t at : kMarked) big.data_ptr<uint8_t>()[at] = ++mark;
  SaveOptions options;
  if (form == "legacy") options.format = SaveOptions::Format::Legacy;
  if (form == "deflated") options.deflate = 1;
  const auto floats = tenon::arange(5, tenon::TensorOptions(tenon::kFloat));
  save(Value::dict({{"big", big}, {"after", floats}}), path, options);
}

void check_large(const std::string& path, bool mapped) {
  LoadOptions options;
  options.mmap = mapped ? LoadOptions::Mmap::Private : LoadOptions::Mmap::None;
  const Value all = load(path, options);
  const tenon::Tensor big = all["big"].to_tensor();
  TENON_CHECK(big.numel() == kLarge, big.numel(), " bytes");
  uint8_t mark = 0;
  for (const int64_t at : kMarked)
    TENON_CHECK(big.data_ptr<uint8_t>()[at] == ++mark, "wrong byte at ", at);
  int64_t others = 0;
  for (int64_t at = 0; at < kLarge; at += 4099) others += big.data_ptr<uint8_t>()[at] != 0;
  TENON_CHECK(others == 1, others, " bytes are not zero");
  TENON_CHECK(all["after"] == Value(tenon::arange(5, tenon::TensorOptions(tenon::kFloat))),
              "the tensor behind the large one differs");
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args.size() == 2 && args[0] == "write") {
      for (const Case& c : cases()) save(Owned(c.make()), file_of(args[1], c.name), c.save);
    } else if (args.size() == 2 && args[0] == "check") {
      return check(args[1]);
    } else if (args.size() == 3 && args[0] == "large") {
      save_large(args[1], args[2]);
    } else if (args.size() == 3 && args[0] == "check-large") {
      check_large(args[1], args[2] == "mmap");
    } else if (args.size() == 3 && args[0] == "resave") {
      resave(args[1], args[2]);
    } else {
      std::cerr << "usage: serialization_oracle write OUT | check IN | resave IN OUT |\n"
                   "  large FILE zip|deflated|legacy | check-large FILE mmap|read\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
