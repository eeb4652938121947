#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen {

bool contains(const std::vector<std::string>& words, std::string_view word);
/// "a, b or c".
std::string join_words(const std::vector<std::string>& words);

}  // namespace tenon::codegen
