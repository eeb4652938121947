// Values as PyTorch and as Tenon save and load them.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/runtime/serialization/cases.h"
#include "tests/runtime/serialization/files.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;

namespace {

std::string saved(const Value& value, SaveOptions options, const std::string& archive) {
  options.archive_name = archive;
  std::ostringstream out;
  save(value, out, options);
  return out.str();
}

Value loaded(const std::string& bytes, const LoadOptions& options = {}) {
  return load(bytes.data(), bytes.size(), options);
}

}  // namespace

TEST_CASE("every case is saved as PyTorch saves it") {
  for (const Case& c : cases()) {
    if (c.save.format != SaveOptions::Format::Zip) continue;
    INFO(c.name);
    const std::string theirs = bytes_of(kData + c.name + ".pt");
    check_same_archive(saved(Owned(c.make()), c.save, c.name), theirs);
  }
}

TEST_CASE("every case is loaded from what PyTorch saved") {
  for (const Case& c : cases()) {
    INFO(c.name);
    const Owned loaded(load(kData + c.name + ".pt", c.load)), made(c.make());
    const Value &value = loaded, &expected = made;
    CHECK(value == expected);
  }
}

TEST_CASE("what is loaded is saved as it was") {
  // Sharing, order and attributes survive, or the bytes would differ.
  for (const Case& c : cases()) {
    if (c.save.format != SaveOptions::Format::Zip) continue;
    INFO(c.name);
    const Owned value(load(kData + c.name + ".pt", c.load));
    const std::string once = saved(value, c.save, c.name);
    CHECK(saved(Owned(loaded(once, c.load)), c.save, c.name) == once);
  }
}
