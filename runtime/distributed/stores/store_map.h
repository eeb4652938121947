#pragma once

#include <string>
#include <unordered_map>

#include "runtime/distributed/stores/store.h"

namespace tenon::distributed::detail {

using StoreMap = std::unordered_map<std::string, std::string>;

/// Carries out the request and gives the answer. ValueError for a request that makes no sense,
/// which changes nothing.
std::string carry_out(StoreMap& map, const StoreRequest& request);
bool has_all(const StoreMap& map, const std::vector<std::string>& keys);
/// Whether the request may change the map.
bool is_write(StoreCommand command);

/// Requests as bytes: the command, the number of arguments, and each with its length before it.
std::string encode(const StoreRequest& request);
/// ValueError for bytes that are no request.
StoreRequest decode(std::string_view bytes);
void put_u32(std::string& out, uint32_t value);
uint32_t get_u32(const char* bytes);

}  // namespace tenon::distributed::detail
