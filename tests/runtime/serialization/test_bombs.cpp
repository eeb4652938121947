// Small files that ask for much: each is refused, or read in time and memory that its size
// warrants.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "runtime/serialization/inspect.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/printable.h"
#include "runtime/serialization/values/value_names.h"
#include "runtime/serialization/values/value_text.h"
#include "runtime/serialization/zip/zip_deflate.h"
#include "tests/runtime/serialization/archive.h"
#include "tests/runtime/serialization/files.h"
#include "tests/runtime/serialization/in_memory.h"

using namespace tenon;
using namespace tenon::serialization;
using namespace tenon::test;
using namespace std::string_literals;

namespace {

constexpr const char* kRefused = "bytes of memory and work: it is damaged or hostile";

std::string times(size_t count, const std::string& opcodes) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += opcodes;
  return all;
}

std::string number(uint32_t n) {
  return {static_cast<char>(n), static_cast<char>(n >> 8), static_cast<char>(n >> 16),
          static_cast<char>(n >> 24)};
}

std::string text(const std::string& s) { return "X" + number(static_cast<uint32_t>(s.size())) + s; }

std::string pickle(const std::string& opcodes) { return "\x80\x02" + opcodes + "."; }

/// A checkpoint whose pickle is deflated; stored, in a build that cannot deflate.
std::string deflated(const std::string& opcodes) {
  const std::string all = pickle(opcodes);
  MemorySink sink;
  ZipWriter zip(sink, "archive");
  zip.add("data.pkl", all.data(), all.size(), zip::has_deflate() ? 9 : 0);
  zip.add("version", "3\n");
  zip.finish();
  return sink.bytes();
}

std::string failure(const std::string& bytes, const LoadOptions& options = {}) {
  return error_of([&] { dispose(loaded(bytes, options)); });
}

std::string inspection_failure(const std::string& bytes) {
  return error_of([&] { dispose(inspect(bytes.data(), bytes.size()).value); });
}

void check_refused(const std::string& bytes) {
  const std::string error = failure(bytes);
  CHECK_THAT(error, Catch::StartsWith("[load] a buffer: data.pkl at byte "));
  CHECK_THAT(error, Catch::Contains(kRefused));
  CHECK_THAT(inspection_failure(bytes), Catch::Contains(kRefused));
}

/// A float tensor over one stored element.
std::string tensor(const std::string& sizes, const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" +
         text("0") + text("cpu") + "K\x01tQK\0"s + sizes + strides +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

}  // namespace

TEST_CASE("a deflated pickle cannot make more objects than its size in the file warrants") {
  if (!zip::has_deflate()) return;
  const std::string lists = deflated("(" + times(1'000'000, "]") + "t");
  REQUIRE(lists.size() < 10'000);
  check_refused(lists);
  check_refused(deflated("(" + times(1'000'000, ")") + "t"));
  check_refused(deflated("(" + times(2'000'000, "N") + "l"));
  check_refused(deflated(times(200'000, "ctorch\nfloat32\n0") + "N"));
  // What is stored pays for itself.
  const Value all = loaded(archive_of(pickle("(" + times(300'000, "]") + "t")));
  CHECK(all.size() == 300'000);
}

TEST_CASE("a pickle is not even inflated when it would be too large") {
  if (!zip::has_deflate()) return;
  LoadOptions little;
  little.limits.budget = 1 << 20;
  const std::string bytes = deflated(text(std::string(2 << 20, 'x')));
  CHECK_THAT(failure(bytes, little), Catch::Contains("LoadLimits::budget"));
  CHECK(loaded(bytes).to_string().size() == 2 << 20);
}

TEST_CASE("large keys that are used again and again") {
  const std::string key = "(" + times(5'000, "N") + "tq\1" + "0";
  check_refused(deflated("}" + key + "(" + times(20'000, "h\1N") + "u"));
  check_refused(deflated("}" + key + times(20'000, "h\1Ns")));
  check_refused(deflated("\x8f" + key + "(" + times(20'000, "h\1") + "\x90"));
  // A text as the key of many dicts is compared, but by its identity.
  const std::string texts = text(std::string(1 << 20, 'k')) + "q\1" + "0(";
  const Value dicts = loaded(archive_of(pickle(texts + times(10'000, "}h\1Nsh\1Ns") + "l")));
  CHECK(dicts.size() == 10'000);
  dispose(dicts);
}

TEST_CASE("long decimal numbers") {
  const std::string digits = std::string(4'300, '7');
  check_refused(deflated("(" + times(1'000, "I" + digits + "\n") + "l"));
  const Value stored = loaded(archive_of(pickle("(" + times(30, "L" + digits + "L\n") + "l")));
  CHECK(stored.size() == 30);
  std::ostringstream out;
  out << stored[29];
  CHECK(out.str().starts_with("0x"));
  CHECK_THAT(failure(archive_of(pickle("Np" + digits + "\n"))), Catch::Contains("too many digits"));
}

TEST_CASE("a long key over many tensors") {
  const std::string bytes =
      deflated("}" + text(std::string(1 << 20, 'k')) + "(" +
               times(20'000, "ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
                             "(ctorch\nfloat32\n))\x89tR") +
               "ls");
  CHECK_THAT(inspection_failure(bytes), Catch::Contains(kRefused));
  // Of fewer, names and all are held.
  const std::string few =
      archive_of(pickle("}" + text(std::string(100'000, 'k')) + "(" +
                        times(20, "ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
                                  "(ctorch\nfloat32\n))\x89tR") +
                        "ls"));
  const CheckpointInfo info = inspect(few.data(), few.size());
  REQUIRE(info.tensors.size() == 20);
  CHECK(info.tensors[19].name == std::string(100'000, 'k') + ".19");
  CHECK(info.tensors[19].kind == "meta");
}

TEST_CASE("arguments of a tensor that refer to one another without end") {
  std::string tuples = "(" + times(1'000, "N") + "t";
  for (int i = 0; i < 3; ++i) tuples += "q\1" + "0("s + times(1'000, "h\1") + "t";
  const std::string bytes = deflated("ctorch._utils\n_rebuild_sparse_tensor\n" + tuples + "\x85R");
  CHECK_THAT(inspection_failure(bytes), Catch::Contains(kRefused));
}

TEST_CASE("messages do not repeat what is large or hidden") {
  const std::string large = "\x8b"s + number(5'000'000) + std::string(5'000'000, '\x55');
  const auto storage = [](const std::string& key) {
    return archive_of(
        pickle("(" + text("storage") + "ctorch\nFloatStorage\n" + key + text("cpu") + "K\1tQ"));
  };
  const std::string of_int = failure(storage(large)),
                    of_text = failure(storage(text(std::string(5'000'000, 'x'))));
  CHECK_THAT(of_int, Catch::Contains("a storage's key must be a string or an int of 64 bits"));
  CHECK_THAT(of_text, Catch::Contains("a word of 5000000 bytes"));
  CHECK(of_int.size() < 2'000);
  const std::string global = failure(
      archive_of(pickle("\x80\x04" + text("m\x1b[2J") + text(std::string(100'000, 'n')) + "\x93")));
  CHECK(global.size() < 2'000);
  CHECK_THAT(global, Catch::Contains("GLOBAL m\\x1b[2J."));
  CHECK(std::none_of(global.begin(), global.end(), [](unsigned char c) { return c < 0x20; }));
  // An int that is asked for as a number of 64 bits.
  const Value value = loaded(archive_of(pickle(large)));
  CHECK_THAT(error_of([&] { value.to_int(); }),
             Catch::Matches("the int <int of 5000000 bytes> does not fit into 64 bits"));
}

TEST_CASE("words of an archive that are no words") {
  const auto with = [](const std::string& version, const std::string& order) {
    return archive_of(pickle("N"), {{"byteorder", order}}, version);
  };
  CHECK(loaded(with("3\n", "little")).is_none());
  CHECK_THAT(failure(with(std::string(1 << 20, '3'), "little")),
             Catch::Contains("record version has 1048576 bytes"));
  CHECK_THAT(failure(with("3\n", std::string(1 << 20, 'b'))),
             Catch::Contains("record byteorder has 1048576 bytes"));
}

TEST_CASE("a lack of memory is an error of the file") {
  const std::string of_tensor = saved(Value(Tensor(empty({2}, kFloat, kCPU))));
  LoadOptions options;
  options.map_location = [](const Storage&, const std::string&) -> Storage {
    throw std::bad_alloc();
  };
  CHECK_THAT(failure(of_tensor, options),
             Catch::Matches("\\[load\\] a buffer: there is not enough memory to read it"));
}

TEST_CASE("few elements, shown as very many") {
  const std::string bytes = archive_of(pickle(tensor("\x8a\6\0\0\0\0\0\1\x85"s, "K\0\x85"s)),
                                       {{"data/0", "\0\0\x80\x3f"s}});
  const Value value = loaded(bytes);
  CHECK(value.to_tensor().numel() == int64_t{1} << 40);
  const CheckpointInfo info = inspect(bytes.data(), bytes.size());
  CHECK(info.tensors.at(0).sizes == std::vector<int64_t>{int64_t{1} << 40});
}

TEST_CASE("text of values, of limited length") {
  CHECK(text_of(Value("abc"), 10) == "'abc'");
  CHECK(text_of(Value(std::string(100, 'a')), 10) == "'aaaaaa...");
  CHECK(text_of(Value::list({1, 2, 3, 4, 5, 6, 7}), 10) == "[1, 2, ...");
  // No half of a character.
  CHECK(text_of(Value("aaaaa\u00e9\u00e9\u00e9\u00e9"), 10) == "'aaaaa...");
  CHECK(text_of(Value::int_of_bytes(std::string(1'000'000, '\1')), 60) == "<int of 1000000 bytes>");
  const Value circle = Value::list();
  circle.append(circle);
  CHECK(text_of(circle, 3) == "...");
  dispose(circle);
}

TEST_CASE("text that may be shown") {
  CHECK(printable("caf\u00e9 \u4e2d \U0001f600", 100) == "caf\u00e9 \u4e2d \U0001f600");
  CHECK(printable("a\x1b[2J\nb\tc\x7f"s + '\0', 100) == "a\\x1b[2J\\nb\\tc\\x7f\\x00");
  CHECK(printable("\u0085\u202e\u2066\ufeff", 100) == "\\u0085\\u202e\\u2066\\ufeff");
  // Not UTF-8: a lone tail, a cut character, one longer than need be, a surrogate, beyond the last.
  CHECK(printable("\x80|\xe4\xb8|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80", 100) ==
        "\\x80|\\xe4\\xb8|\\xc0\\xaf|\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80");
  CHECK(printable(std::string(50, 'a') + std::string(50, 'b'), 30) ==
        "aaaaaaaaaa...(70 bytes)...bbbbbbbbbbbbbbbbbbbb");
  CHECK(printable("\u4e2d\u4e2d\u4e2d\u4e2d", 5) == "...(9 bytes)...\u4e2d");
}

TEST_CASE("names of what a value holds") {
  const Value shared = Value::list({1});
  const Value root = Value::dict({{"a", shared}, {"b", shared}, {2, Value::tuple({"x"})}});
  shared.append(root);
  const auto names = [&](Repeats repeats) {
    Budget budget(0, 0, {});
    std::vector<std::string> all;
    walk_names(root, repeats, budget, [&](const std::string& name, const Value&) -> unsigned {
      all.push_back(name);
      return kItems;
    });
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(names(Repeats::First) == Names{"", "a", "a.0", "a.1", "b", "2", "2.0"});
  CHECK(names(Repeats::All) == Names{"", "a", "a.0", "a.1", "b", "b.0", "b.1", "2", "2.0"});
  Budget little(0, 0, {.budget = 3 * Budget::kValue});
  CHECK_THROWS_WITH(walk_names(root, Repeats::All, little,
                               [](const std::string&, const Value&) -> unsigned { return kItems; }),
                    Catch::Contains(kRefused));
  dispose(root);
}
