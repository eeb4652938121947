#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen {

/// What a C++ text mentions, as far as it may lead to operators.
struct SourceCalls {
  std::set<std::string> functions;  ///< `name(`, but for std::, and `ops::name::`
  std::set<std::string> methods;    ///< `.name(` or `->name(`
  std::set<std::string> kernels;    ///< `native::name(`
};
SourceCalls calls_of(std::string_view text);

/// A function of a source with its text, from its name to the end of its body.
struct SourceFunction {
  std::string name;
  bool is_kernel = false;   ///< written `native::name(...) {`
  bool is_private = false;  ///< no other file can call it
  std::string text;
};

/// A hand-written source or header.
struct SourceText {
  std::string text;
  std::vector<std::string> includes;  ///< in order, as written
  std::vector<SourceFunction> functions;
  std::string rest;  ///< what is in no function: initialisers, constants

  /// The text that the kernels need: theirs, that of every function of the file they mention,
  /// directly or not, and what is in no function.
  std::string needed_by(const std::set<std::string>& kernels) const;
};

/// The files *.cpp, *.cu, *.h and *.cuh below the folders of `root`, by root-relative path.
std::map<std::string, SourceText> read_sources(const std::string& root,
                                               const std::vector<std::string>& folders);

}  // namespace tenon::codegen
