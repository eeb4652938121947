#include "runtime/distributed/stores/store.h"

#include <charconv>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "runtime/distributed/interrupt.h"
#include "runtime/distributed/stores/store_map.h"

namespace tenon::distributed {
namespace detail {
namespace {

int64_t number_of(const std::string& text, const char* what) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  TENON_CHECK_VALUE(error == std::errc() && stop == end, "[Store] expected ", what,
                    " to be a decimal number, got '", text.substr(0, 40), "'");
  return number;
}

size_t least_arguments(StoreCommand command) {
  switch (command) {
  case StoreCommand::CompareSet: return 3;
  case StoreCommand::Set:
  case StoreCommand::Add:
  case StoreCommand::Append: return 2;
  case StoreCommand::Get:
  case StoreCommand::Delete: return 1;
  case StoreCommand::Check:
  case StoreCommand::NumKeys: return 0;
  }
  raise<ValueError>("[Store] there is no command ", static_cast<int>(command));
}

}  // namespace

bool has_all(const StoreMap& map, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (!map.contains(key)) return false;
  }
  return true;
}

bool is_write(StoreCommand command) {
  return command != StoreCommand::Get && command != StoreCommand::Check &&
         command != StoreCommand::NumKeys;
}

std::string carry_out(StoreMap& map, const StoreRequest& request) {
  const auto& arguments = request.arguments;
  TENON_CHECK_VALUE(arguments.size() >= least_arguments(request.command), "[Store] command ",
                    static_cast<int>(request.command), " lacks arguments");
  switch (request.command) {
  case StoreCommand::Set: map[arguments[0]] = arguments[1]; return {};
  case StoreCommand::Append: map[arguments[0]] += arguments[1]; return {};
  case StoreCommand::Get: {
    const auto found = map.find(arguments[0]);
    return found == map.end() ? std::string() : "+" + found->second;
  }
  case StoreCommand::Add: {
    const auto found = map.find(arguments[0]);
    const int64_t before = found == map.end() ? 0 : number_of(found->second, "the value");
    int64_t sum = 0;
    TENON_CHECK_VALUE(!__builtin_add_overflow(before, number_of(arguments[1], "the amount"), &sum),
                      "[Store] the sum under key '", arguments[0], "' is too large");
    return map[arguments[0]] = std::to_string(sum);
  }
  case StoreCommand::CompareSet: {
    const auto found = map.find(arguments[0]);
    if (found == map.end()) {
      if (!arguments[1].empty()) return arguments[1];
      return map[arguments[0]] = arguments[2];
    }
    if (found->second == arguments[1]) found->second = arguments[2];
    return found->second;
  }
  case StoreCommand::Check: {
    std::string present;
    for (const std::string& key : arguments) present += map.contains(key) ? '1' : '0';
    return present;
  }
  case StoreCommand::Delete: return map.erase(arguments[0]) > 0 ? "1" : "0";
  case StoreCommand::NumKeys: return std::to_string(map.size());
  }
  return {};
}

void put_u32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
}

uint32_t get_u32(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string encode(const StoreRequest& request) {
  std::string out(1, static_cast<char>(request.command));
  put_u32(out, static_cast<uint32_t>(request.arguments.size()));
  for (const std::string& argument : request.arguments) {
    TENON_CHECK_VALUE(argument.size() < UINT32_MAX, "[Store] a key or value has 4 GiB or more");
    put_u32(out, static_cast<uint32_t>(argument.size()));
    out += argument;
  }
  return out;
}

StoreRequest decode(std::string_view bytes) {
  const auto take = [&](size_t n) {
    TENON_CHECK_VALUE(n <= bytes.size(), "[Store] a request is cut off");
    const std::string_view part = bytes.substr(0, n);
    bytes.remove_prefix(n);
    return part;
  };
  StoreRequest request{static_cast<StoreCommand>(take(1)[0]), {}};
  const uint32_t count = get_u32(take(4).data());
  TENON_CHECK_VALUE(count <= bytes.size() / 4, "[Store] a request is cut off");
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t size = get_u32(take(4).data());
    request.arguments.emplace_back(take(size));
  }
  TENON_CHECK_VALUE(bytes.empty(), "[Store] a request has ", bytes.size(), " bytes too many");
  return request;
}

}  // namespace detail

using detail::StoreCommand;

void Store::set(const std::string& key, const std::string& value) {
  execute({StoreCommand::Set, {key, value}});
}

std::string Store::get(const std::string& key) {
  const auto end = std::chrono::steady_clock::now() + timeout_;
  while (true) {
    const std::string answer = execute({StoreCommand::Get, {key}});
    if (!answer.empty()) return answer.substr(1);
    // Somebody may delete the key between the wait and the next look.
    const auto left =
        std::chrono::duration_cast<Milliseconds>(end - std::chrono::steady_clock::now());
    wait({key}, std::max(left, Milliseconds(0)));
  }
}

int64_t Store::add(const std::string& key, int64_t amount) {
  return detail::number_of(execute({StoreCommand::Add, {key, std::to_string(amount)}}), "the sum");
}

std::string Store::compare_set(const std::string& key, const std::string& expected,
                               const std::string& desired) {
  return execute({StoreCommand::CompareSet, {key, expected, desired}});
}

void Store::wait(const std::vector<std::string>& keys, Milliseconds timeout) {
  if (wait_for(keys, timeout)) return;
  std::string names;
  for (const std::string& key : missing(keys)) names += (names.empty() ? "" : ", ") + key;
  detail::raise<DistStoreError>("[Store] timed out after ", timeout.count(),
                                " ms waiting for keys: ", names);
}

std::vector<std::string> Store::missing(const std::vector<std::string>& keys) {
  const std::string present = execute({StoreCommand::Check, keys});
  std::vector<std::string> names;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i >= present.size() || present[i] != '1') names.push_back(keys[i]);
  }
  return names;
}

bool Store::delete_key(const std::string& key) {
  return execute({StoreCommand::Delete, {key}}) == "1";
}

int64_t Store::num_keys() {
  return detail::number_of(execute({StoreCommand::NumKeys, {}}), "the number of keys");
}

void Store::append(const std::string& key, const std::string& value) {
  execute({StoreCommand::Append, {key, value}});
}

std::vector<std::string> Store::multi_get(const std::vector<std::string>& keys) {
  wait(keys);
  std::vector<std::string> values;
  for (const std::string& key : keys) values.push_back(get(key));
  return values;
}

void Store::multi_set(const std::vector<std::string>& keys,
                      const std::vector<std::string>& values) {
  TENON_CHECK_VALUE(keys.size() == values.size(), "[Store] multi_set: there are ", keys.size(),
                    " keys and ", values.size(), " values");
  for (size_t i = 0; i < keys.size(); ++i) set(keys[i], values[i]);
}

struct HashStore::State {
  std::mutex mutex;
  std::condition_variable changed;
  detail::StoreMap map;
};

HashStore::HashStore(Milliseconds timeout) : Store(timeout), state_(new State) {}
HashStore::~HashStore() = default;

bool HashStore::wait_for(const std::vector<std::string>& keys, Milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  return detail::wait_until(state_->changed, lock, std::chrono::steady_clock::now() + timeout,
                            [&] { return detail::has_all(state_->map, keys); });
}

std::string HashStore::execute(const detail::StoreRequest& request) {
  const std::lock_guard lock(state_->mutex);
  std::string answer = detail::carry_out(state_->map, request);
  if (detail::is_write(request.command)) state_->changed.notify_all();
  return answer;
}

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> store)
    : Store(store->timeout()), prefix_(std::move(prefix) + "/"), store_(std::move(store)) {}

bool PrefixStore::wait_for(const std::vector<std::string>& keys, Milliseconds timeout) {
  std::vector<std::string> full;
  for (const std::string& key : keys) full.push_back(prefix_ + key);
  return store_->wait_for(full, timeout);
}

std::string PrefixStore::execute(const detail::StoreRequest& request) {
  detail::StoreRequest full = request;
  const size_t keys = request.command == StoreCommand::Check ? full.arguments.size() : 1;
  for (size_t i = 0; i < std::min(keys, full.arguments.size()); ++i)
    full.arguments[i] = prefix_ + full.arguments[i];
  return store_->execute(full);
}

}  // namespace tenon::distributed
