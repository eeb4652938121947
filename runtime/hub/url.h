#pragma once

#include <string>
#include <string_view>

namespace tenon::hub {

/// "http", "https" or "file". ValueError for any other scheme, a missing host, spaces and control
/// characters.
std::string scheme_of(std::string_view url);

/// The URL without user, password, query and fragment, any of which may hold a secret: for
/// messages.
std::string display(std::string_view url);

/// The last part of the URL's path. ValueError where that is no file name.
std::string file_name_of(std::string_view url);

/// The path of a file:// URL. ValueError for a host other than localhost.
std::string path_of_file_url(std::string_view url);

/// ValueError unless `name` can name a file within a folder.
void check_file_name(std::string_view name);

}  // namespace tenon::hub
