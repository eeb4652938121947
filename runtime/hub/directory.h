#pragma once

#include <string>

#include "aten/core/macros.h"

namespace tenon::hub {

/// Sets the folder that downloads are kept in; a leading "~" or "~user" is a home folder, here and
/// in the variables below. An empty path undoes an earlier set_dir.
TENON_API void set_dir(const std::string& path);

/// The folder: the one of set_dir, else $TENON_HOME/hub, else $XDG_CACHE_HOME/tenon/hub, else
/// ~/.cache/tenon/hub. It need not exist. Error if there is no home folder.
TENON_API std::string get_dir();

/// Whether a folder has that path; no for a path that cannot be looked at.
bool is_folder(const std::string& path);

/// Makes a folder and those it is in. Error "[hub] cannot create the folder ...".
void make_folder(const std::string& path);

}  // namespace tenon::hub
