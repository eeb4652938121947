#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen {

/// A token of a C++ text: a name, `::`, `->`, or one character.
struct CppToken {
  std::string_view text;
  size_t offset = 0;
};

/// The tokens of a text without comments, literals and preprocessor lines.
std::vector<CppToken> cpp_tokens(std::string_view text);

/// A function that a kernel source defines.
struct KernelDefinition {
  std::string name;        // after the last `::`
  bool qualified = false;  // written `native::name`, so that the compiler compares the declaration
  size_t offset = 0;       // of the name in the text
  size_t end = 0;          // after the body
};

/// The definitions in a C++ or CUDA text: names followed by parameters in parentheses and a body.
/// Comments, strings, characters and preprocessor lines are skipped; calls are not definitions. The
/// text is not expanded: what a macro defines is not found.
std::vector<KernelDefinition> find_definitions(std::string_view text);

/// The hand-written sources of a library.
class KernelSources {
 public:
  struct File {
    std::string path;
    std::string text;
  };
  struct Place {
    size_t file;  // index into files()
    size_t offset;
  };

  /// Reads a file, or every *.cpp and *.cu below a folder; false when there is no such path.
  bool add(const std::string& path);

  const std::vector<File>& files() const { return files_; }
  /// The places of `native::name(...) {...}` by name.
  const std::map<std::string, Place>& qualified() const { return qualified_; }
  /// The places of `name(...) {...}` by name.
  const std::map<std::string, Place>& unqualified() const { return unqualified_; }

 private:
  void add_file(const std::string& path);

  std::vector<File> files_;
  std::map<std::string, Place> qualified_, unqualified_;
};

}  // namespace tenon::codegen
