#include "codegen/schema/suggest.h"

#include <catch2/catch.hpp>

namespace tenon::schema {
namespace {

TEST_CASE("edit distance counts swaps of neighbours as one", "[schema]") {
  CHECK(edit_distance("self", "self") == 0);
  CHECK(edit_distance("slef", "self") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("only a near word is suggested", "[schema]") {
  CHECK(nearest("slef", {"other", "self"}) == "self");
  CHECK(nearest("cpu", {"CPU", "CUDA"}) == "CPU");
  CHECK(nearest("wibble", {"CPU", "CUDA"}).empty());
  CHECK(nearest("x", {"y"}).empty());
  CHECK(nearest("", {"y"}).empty());
}

}  // namespace
}  // namespace tenon::schema
