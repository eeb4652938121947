#include "runtime/hub/url.h"

#include <algorithm>
#include <cctype>

#include "aten/core/error.h"

namespace tenon::hub {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// What follows "scheme://".
std::string_view after_scheme(std::string_view url) { return url.substr(url.find("://") + 3); }

std::string_view without_query(std::string_view url) {
  return url.substr(0, url.find_first_of("?#"));
}

/// The part of a URL's rest up to its path.
std::string_view authority_of(std::string_view rest) { return rest.substr(0, rest.find('/')); }

}  // namespace

std::string scheme_of(std::string_view url) {
  const size_t end = url.find("://");
  std::string scheme(url.substr(0, end == std::string_view::npos ? 0 : end));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  TENON_CHECK_VALUE(scheme == "http" || scheme == "https" || scheme == "file",
                    "[hub] a URL must begin with http://, https:// or file://, got \"",
                    display(url), '"');
  const bool clean =
      std::none_of(url.begin(), url.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  TENON_CHECK_VALUE(clean, "[hub] a URL must have no spaces and no control characters, got \"",
                    display(url), '"');
  TENON_CHECK_VALUE(scheme == "file" || !authority_of(without_query(after_scheme(url))).empty(),
                    "[hub] a URL must name a host, got \"", display(url), '"');
  return scheme;
}

std::string display(std::string_view url) {
  std::string text(without_query(url));
  const size_t host = text.find("://");
  if (host == std::string::npos) return text;
  const size_t path = text.find('/', host + 3);
  const size_t at = text.rfind('@', path);
  if (at != std::string::npos && at >= host + 3) text.erase(host + 3, at + 1 - (host + 3));
  return text;
}

std::string file_name_of(std::string_view url) {
  scheme_of(url);
  const std::string_view rest = after_scheme(without_query(url));
  const size_t slash = rest.rfind('/');
  std::string name(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
  TENON_CHECK_VALUE(!name.empty(), "[hub] the URL must end with a file name, got \"", display(url),
                    "\"; else give file_name");
  check_file_name(name);
  return name;
}

std::string path_of_file_url(std::string_view url) {
  const std::string_view rest = after_scheme(without_query(url));
  const std::string_view host = authority_of(rest);
  TENON_CHECK_VALUE(host.empty() || host == "localhost",
                    "[hub] a file URL must name no host (file:///folder/file), got \"",
                    display(url), '"');
  const std::string_view encoded = rest.substr(host.size());
  std::string path;
  for (size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] != '%') {
      path += encoded[i];
      continue;
    }
    const int high = i + 2 < encoded.size() ? hex_value(encoded[i + 1]) : -1;
    const int low = i + 2 < encoded.size() ? hex_value(encoded[i + 2]) : -1;
    TENON_CHECK_VALUE(high >= 0 && low >= 0 && high + low > 0,
                      "[hub] '%' in a URL must be followed by two hexadecimal digits, got \"",
                      display(url), '"');
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  TENON_CHECK_VALUE(!path.empty(), "[hub] a file URL must have a path, got \"", display(url), '"');
  return path;
}

void check_file_name(std::string_view name) {
  const bool good = !name.empty() && name != "." && name != ".." &&
                    name.find('/') == std::string_view::npos &&
                    name.find('\0') == std::string_view::npos && name.size() <= 200;
  TENON_CHECK_VALUE(good, "[hub] a file name must have 1 to 200 characters and no slash, got \"",
                    name, '"');
}

}  // namespace tenon::hub
