#include "runtime/hub/repository_name.h"

#include <algorithm>
#include <cctype>

#include "aten/core/error.h"

namespace tenon::hub {
namespace {

bool consists_of(std::string_view text, std::string_view punctuation) {
  return !text.empty() && text.size() <= 100 &&
         std::all_of(text.begin(), text.end(), [&](unsigned char c) {
           return (c < 0x80 && std::isalnum(c)) || punctuation.find(c) != std::string_view::npos;
         });
}

bool is_ref(std::string_view ref) {
  return consists_of(ref, "-_./+@") && ref.find("..") == std::string_view::npos &&
         ref.find("//") == std::string_view::npos && ref.front() != '/' && ref.back() != '/' &&
         ref.front() != '-' && ref.front() != '.';
}

}  // namespace

RepositoryName RepositoryName::parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view path = text.substr(0, colon);
  const size_t slash = path.find('/');
  RepositoryName repository;
  if (slash != std::string_view::npos) {
    repository.owner = path.substr(0, slash);
    repository.name = path.substr(slash + 1);
  }
  TENON_CHECK_VALUE(consists_of(repository.owner, "-") && consists_of(repository.name, "-_.") &&
                        repository.name != "." && repository.name != "..",
                    "[hub] a repository must be \"owner/name\" or \"owner/name:ref\", got \"", text,
                    '"');
  if (colon == std::string_view::npos) return repository;
  repository.ref = text.substr(colon + 1);
  TENON_CHECK_VALUE(
      is_ref(repository.ref),
      "[hub] a ref must be a branch, a tag or a commit of at most 100 letters, digits "
      "and -_./+@, got \"",
      repository.ref, "\" in \"", text, '"');
  return repository;
}

}  // namespace tenon::hub
