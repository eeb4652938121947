#include "runtime/hub/github.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace tenon::hub {
namespace {

constexpr size_t kPageLength = 100;
constexpr size_t kMostPages = 100;
constexpr size_t kMostBytes = 16 << 20;
/// Fewer digits could be met by chance.
constexpr size_t kShortestCommit = 7;

using Json = nlohmann::json;

Json get_page(const RepositoryName& repository, const std::string& kind, size_t page,
              const DownloadOptions& options) {
  Request request;
  request.url = "https://api.github.com/repos/" + repository.without_ref() + "/" + kind +
                "?per_page=" + std::to_string(kPageLength) + "&page=" + std::to_string(page);
  request.headers = {{"Accept", "application/vnd.github+json"}};
  if (const char* token = std::getenv("GITHUB_TOKEN"); token && *token)
    request.headers.emplace_back("Authorization", std::string("Bearer ") + token);
  request.connect_timeout = options.connect_timeout;
  request.stall_timeout = options.stall_timeout;
  request.min_rate = options.min_rate;
  request.check_interrupt = options.check_interrupt;
  const auto transport = options.transport ? options.transport : default_transport();
  const Answer answer = get(*transport, request, kMostBytes);
  TENON_CHECK(answer.response.status != 404, "[hub] Cannot find ", repository.without_ref(),
              " at GitHub: there is no such repository, or it is private");
  if (answer.response.status != 200) {
    const HttpError error = http_error(answer.response);
    throw HttpError(std::string(error.what()) + ". The option skip_validation does without asking",
                    error.status());
  }
  Json list = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  TENON_CHECK(list.is_array(), "[hub] GitHub's answer about the ", kind, " of ",
              repository.without_ref(), " is not a list");
  return list;
}

/// A member that is a string, else "".
std::string text_in(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

/// Whether "branches" or "tags" have the ref, whose full name begins with `prefix`.
bool is_among(const std::string& kind, const std::string& prefix, const RepositoryName& repository,
              const DownloadOptions& options) {
  const std::string& ref = repository.ref;
  const bool may_be_commit = ref.size() >= kShortestCommit &&
                             ref.find_first_not_of("0123456789abcdef") == std::string::npos;
  for (size_t page = 1; page <= kMostPages; ++page) {
    const Json list = get_page(repository, kind, page, options);
    for (const Json& item : list) {
      const std::string name = text_in(item, "name");
      if (!name.empty() && (ref == name || ref == prefix + name)) return true;
      const auto commit = item.is_object() ? item.find("commit") : item.end();
      if (may_be_commit && item.is_object() && commit != item.end() &&
          text_in(*commit, "sha").starts_with(ref))
        return true;
    }
    if (list.size() < kPageLength) return false;
  }
  return false;
}

}  // namespace

void check_ref(const RepositoryName& repository, const DownloadOptions& options) {
  TENON_CHECK(is_among("branches", "refs/heads/", repository, options) ||
                  is_among("tags", "refs/tags/", repository, options),
              "[hub] Cannot find ", repository.ref, " in https://github.com/",
              repository.without_ref(),
              ": it is no branch, no tag and not the newest commit of one. If it is a commit of a "
              "fork, name the fork; if you know it to be an older commit of this repository, set "
              "skip_validation");
}

}  // namespace tenon::hub
