// Slips of the kind people make, in real files: a word misspelt, dropped, written twice, exchanged
// with its neighbour. The result is either a correct file or located diagnostics; never an
// exception, and never an error without a place. The same mutations in every run.

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/emit/emit_library.h"
#include "codegen/load/loader.h"
#include "codegen/yaml/short_schema.h"
#include "tests/codegen/upstream.h"

namespace tenon::codegen {
namespace {

const std::string kRoot = std::string(TENON_SOURCE_DIR) + "/";

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A file as its entries, "- func: ..." or "- name: ..." and the lines that follow; what precedes
// the first one is left out.
std::vector<std::string> split_entries(const std::string& text) {
  std::vector<std::string> entries;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("- ")) entries.emplace_back();
    if (!entries.empty()) entries.back() += line + "\n";
  }
  return entries;
}

std::string join(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += entry;
  return text;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }

  // One slip in a word of the entry; empty if there was nothing to exchange.
  std::string mutate(const std::string& entry, std::string& what) {
    const std::vector<std::pair<size_t, size_t>> words = find_words(entry);
    if (words.size() < 3) return {};
    // The first word is the key `func` or `name`.
    const size_t i = 1 + below(words.size() - 1);
    const auto [begin, length] = words[i];
    const std::string word = entry.substr(begin, length);
    std::string mutated = entry;
    switch (below(4)) {
    case 0: {
      if (length < 3) return {};
      const size_t at = 1 + below(length - 2);
      if (word[at] == word[at + 1]) return {};
      std::swap(mutated[begin + at], mutated[begin + at + 1]);
      what = "misspell " + word;
      break;
    }
    case 1:
      mutated.erase(begin, length);
      what = "drop " + word;
      break;
    case 2:
      mutated.insert(begin, word + " ");
      what = "duplicate " + word;
      break;
    default: {
      const auto [before, before_length] = words[i - 1];
      if (i == 1) return {};
      const std::string other = entry.substr(before, before_length);
      mutated.replace(begin, length, other);
      mutated.replace(before, before_length, word);
      what = "swap " + other + " and " + word;
    }
    }
    return mutated == entry ? std::string() : mutated;
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  static std::vector<std::pair<size_t, size_t>> find_words(const std::string& text) {
    std::vector<std::pair<size_t, size_t>> words;
    bool comment = false;
    for (size_t i = 0; i < text.size();) {
      comment = text[i] != '\n' && (comment || text[i] == '#');
      size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      if (end > i && !comment) words.emplace_back(i, end - i);
      i = std::max(end, i + 1);
    }
    return words;
  }

  std::mt19937 random_;
};

struct Files {
  Dialect dialect;
  std::vector<std::string> native, derivatives;
  std::string tags;
};

struct Outcome {
  size_t operators = 0, problems = 0;
  bool yaml = true;  // it could be read as YAML at all
};

// Loads, checks and, where nothing is wrong and formulas may call what a `base` has, emits;
// everything that is reported has a place.
Outcome check(const Files& files, const Model* base = nullptr) {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("native.yaml", join(files.native)));
  sources.derivatives.push_back(sink.sources().add("derivatives.yaml", join(files.derivatives)));
  sources.tags = sink.sources().add("tags.yaml", files.tags);
  const Model model = load(sources, files.dialect, sink, base);
  run_checks(model, sink, base);
  if (base != nullptr && !sink.has_errors()) {
    EmitOptions options;
    options.library = false;
    options.base = base;
    emit_library(model, options, sink);
  }
  for (const Diagnostic& d : sink.sorted()) {
    if (!d.location.valid() || d.message.empty()) FAIL_CHECK("no place: " << d.message);
  }
  std::ostringstream printed;
  sink.print(printed);
  if (!sink.empty() && printed.str().empty()) FAIL_CHECK("nothing is printed");
  const std::vector<Diagnostic> diagnostics = sink.sorted();
  const bool yaml = std::none_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
    return d.message.starts_with("this is not YAML");
  });
  return {model.operators().size(), diagnostics.size(), yaml};
}

// Twenty neighbours in native_functions.yaml, and the derivatives of what they declare.
Files window(const Files& files, size_t begin) {
  Files some = {files.dialect, {}, {}, files.tags};
  std::set<std::string> names;
  // Several where the entry has alternatives.
  const auto names_of = [](const std::string& entry) {
    const size_t at = entry.find(": ") + 2;
    DiagnosticSink sink;
    std::set<std::string> result;
    for (const SourceString& one :
         alternatives({entry.substr(at, entry.find('\n', at) - at), {}, {}}, sink)) {
      result.insert(one.text.substr(0, one.text.find('(')));
    }
    return result;
  };
  for (size_t i = begin; i < std::min(begin + 20, files.native.size()); ++i) {
    some.native.push_back(files.native[i]);
    names.merge(names_of(files.native[i]));
  }
  // What aliases are of.
  const size_t chosen = some.native.size();
  for (size_t i = 0; i < chosen; ++i) {
    const std::string entry = some.native[i];
    const size_t at = entry.find("  of: ");
    if (!entry.starts_with("- alias: ") || at == std::string::npos) continue;
    const std::string all = entry.substr(at + 6, entry.find('\n', at) - at - 6);
    const std::string of = all.substr(0, all.find('|'));
    const auto found = std::find_if(files.native.begin(), files.native.end(), [&](const auto& one) {
      return one.starts_with("- func: ") && names_of(one).contains(of);
    });
    if (found == files.native.end() || names.contains(of)) continue;
    names.merge(names_of(*found));
    some.native.push_back(*found);
  }
  for (const std::string& entry : files.derivatives) {
    const size_t at = entry.find("name: ") + 6;
    if (names.contains(entry.substr(at, entry.find('\n') - at))) some.derivatives.push_back(entry);
  }
  return some;
}

TEST_CASE("a slip in our files is reported or harmless", "[model][mutation]") {
  const Files files = {Dialect::kTenon, split_entries(read(kRoot + "native_functions.yaml")),
                       split_entries(read(kRoot + "derivatives.yaml")), read(kRoot + "tags.yaml")};
  REQUIRE(files.native.size() > 300);
  DiagnosticSink sink;
  const Model whole = load({kRoot + "native_functions.yaml"}, {}, "", Dialect::kTenon, sink);
  Mutator mutator(20);
  size_t tried = 0, reported = 0;
  while (tried < 300) {
    const Files some = window(files, mutator.below(files.native.size()));
    const bool native = tried % 3 != 0 || some.derivatives.empty();
    Files changed = some;
    std::vector<std::string>& entries = native ? changed.native : changed.derivatives;
    std::string& entry = entries[mutator.below(entries.size())];
    std::string what;
    const std::string mutated = mutator.mutate(entry, what);
    if (mutated.empty()) continue;
    CAPTURE(what, entry, mutated);
    const Outcome before = check(some, &whole), after = [&] {
      entry = mutated;
      return check(changed, &whole);
    }();
    ++tried;
    reported += after.problems > before.problems;
    // Without a word about it, nothing was lost. A window may lack what an entry in it needs, a
    // mistake that another can hide.
    if (before.problems == 0 && after.problems == 0) CHECK(after.operators == before.operators);
  }
  // Most words are names that something else refers to. The rest: names of kernels, of operators
  // and of arguments that no formula reads, `variants`, values of defaults.
  CHECK(reported > tried * 3 / 4);
}

// All at once, so that the upstream files are read once: two hundred entries changed.
TEST_CASE("slips in upstream's files are reported", "[.][upstream]") {
  const Files files = {
      Dialect::kUpstream, split_entries(read(upstream_file("native_functions.yaml"))),
      split_entries(read(upstream_file("derivatives.yaml"))), read(upstream_file("tags.yaml"))};
  Mutator mutator(21);
  Files changed = files;
  size_t count = 0;
  while (count < 200) {
    const bool native = count % 4 != 0;
    const std::vector<std::string>& original = native ? files.native : files.derivatives;
    std::vector<std::string>& entries = native ? changed.native : changed.derivatives;
    const size_t i = mutator.below(entries.size());
    if (entries[i] != original[i]) continue;
    std::string what;
    const std::string mutated = mutator.mutate(entries[i], what);
    // What is no YAML would end the file.
    if (mutated.empty() || !check({files.dialect, {mutated}, {}, files.tags}).yaml) continue;
    entries[i] = mutated;
    ++count;
  }
  const Outcome outcome = check(changed);
  CHECK(outcome.problems > count / 2);
  CHECK(outcome.operators + count > files.native.size());
}

}  // namespace
}  // namespace tenon::codegen
