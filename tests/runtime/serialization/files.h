#pragma once

#include <string>

#include "runtime/serialization/io/os_error.h"
#include "tests/runtime/serialization/temporary_folder.h"

namespace tenon::test {

/// The files that fixtures.py and variants.py made.
inline const std::string kData = std::string(TENON_TEST_DIR) + "/runtime/serialization/data/";

/// Archives are the same but for the digest's record, whose content is free, and its checksum.
inline void check_same_archive(const std::string& ours, const std::string& theirs) {
  REQUIRE(ours.size() == theirs.size());
  const size_t record = theirs.find(".data/serialization_id");
  REQUIRE(record != theirs.npos);
  REQUIRE(ours.substr(0, record) == theirs.substr(0, record));
  size_t different = 0;
  for (size_t i = record; i < ours.size(); ++i) different += ours[i] != theirs[i];
  CHECK(different <= 40 + 4 + 4);
}

/// The code of the OSError that calling f throws; 0 if none does.
template <class F>
int code_of(F&& f) {
  try {
    f();
  } catch (const OSError& error) {
    return error.code();
  }
  return 0;
}

/// What the error says that calling f throws; "no error" if none does.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tenon::test
