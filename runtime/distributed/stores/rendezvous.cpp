#include "runtime/distributed/stores/rendezvous.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/distributed/stores/file_store.h"
#include "runtime/distributed/stores/tcp_store.h"

namespace tenon::distributed {
namespace {

struct Url {
  std::string scheme, place;
  std::map<std::string, std::string> query;
};

Url parse(const std::string& text) {
  const size_t colon = text.find("://");
  TENON_CHECK_VALUE(colon != std::string::npos,
                    "[init_process_group] expected env://, tcp://HOST:PORT or file:///PATH, got '",
                    text, "'");
  Url url{text.substr(0, colon), text.substr(colon + 3), {}};
  const size_t mark = url.place.find('?');
  if (mark == std::string::npos) return url;
  std::string rest = url.place.substr(mark + 1);
  url.place.resize(mark);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string item = rest.substr(0, end);
    rest.erase(0, end + 1);
    const size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    TENON_CHECK_VALUE(equals != std::string::npos && (key == "rank" || key == "world_size"),
                      "[init_process_group] ", text, ": expected rank=N or world_size=N, got '",
                      item, "'");
    url.query[key] = item.substr(equals + 1);
  }
  return url;
}

int number(const std::string& text, const std::string& what, int least, int most) {
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TENON_CHECK_VALUE(error == std::errc() && stop == text.data() + text.size() && value >= least &&
                        value <= most,
                    "[init_process_group] expected ", what, " to be a number from ", least, " to ",
                    most, ", got '", text, "'");
  return value;
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::string required(const char* name) {
  const auto value = variable(name);
  TENON_CHECK_VALUE(value, "[init_process_group] env:// rendezvous: environment variable ", name,
                    " expected, but not set; start the program by tenon-run (in Python: python -m "
                    "tenon.distributed.run)");
  return *value;
}

struct Handlers {
  std::mutex mutex;
  std::map<std::string, RendezvousHandler> by_scheme;
};

Handlers& handlers() {
  static Handlers instance;
  return instance;
}

constexpr int kMostRanks = 1 << 20;

int choose(int given, const Url& url, const char* key, const char* name, int least) {
  if (given >= 0) return given;
  const auto found = url.query.find(key);
  if (found != url.query.end()) return number(found->second, key, least, kMostRanks);
  TENON_CHECK_VALUE(url.scheme == "env" || variable(name), "[init_process_group] ", url.scheme,
                    "://: ", key, " expected, as an argument, as '?", key, "=' or in the variable ",
                    name);
  return number(required(name), name, least, kMostRanks);
}

}  // namespace

void meet(Store& store, int rank, int world_size, Milliseconds timeout) {
  const auto key = [](int r) { return "rank/" + std::to_string(r); };
  TENON_CHECK_AS(DistStoreError, store.add(key(rank), 1) == 1,
                 "[init_process_group] another process has announced itself as rank ", rank,
                 ", or the store is left from an earlier run");
  std::vector<std::string> keys;
  for (int r = 0; r < world_size; ++r) keys.push_back(key(r));
  if (store.wait_for(keys, timeout)) return;
  std::string names;
  int count = 0;
  for (const std::string& missing : store.missing(keys)) {
    names += (names.empty() ? "" : ", ") + missing.substr(5);
    ++count;
  }
  detail::raise<DistStoreError>("[init_process_group] rank ", rank, " waited ", timeout.count(),
                                " ms for the ", world_size, " ranks; ", count,
                                count == 1 ? " is" : " are", " missing: ", names);
}

void register_rendezvous_handler(const std::string& scheme, RendezvousHandler handler) {
  const std::lock_guard lock(handlers().mutex);
  const bool own = scheme == "env" || scheme == "tcp" || scheme == "file";
  TENON_CHECK_VALUE(!own && handlers().by_scheme.emplace(scheme, std::move(handler)).second,
                    "[register_rendezvous_handler] there is a handler of '", scheme,
                    "://' already");
}

bool has_rendezvous_handler(const std::string& scheme) {
  const std::lock_guard lock(handlers().mutex);
  return handlers().by_scheme.contains(scheme);
}

Rendezvous rendezvous(const std::string& text, int rank, int world_size, Milliseconds timeout) {
  const std::string scheme = text.substr(0, text.find("://"));
  RendezvousHandler handler;
  {
    const std::lock_guard lock(handlers().mutex);
    const auto found = handlers().by_scheme.find(scheme);
    if (found != handlers().by_scheme.end()) handler = found->second;
  }
  if (handler) return handler(text, rank, world_size, timeout);
  const Url url = parse(text);
  Rendezvous result;
  result.world_size = choose(world_size, url, "world_size", "WORLD_SIZE", 1);
  result.rank = choose(rank, url, "rank", "RANK", 0);
  TENON_CHECK_VALUE(result.rank < result.world_size, "[init_process_group] expected a rank below ",
                    "the world size ", result.world_size, ", got ", result.rank);
  if (url.scheme == "file") {
    TENON_CHECK_VALUE(!url.place.empty() && url.place[0] == '/',
                      "[init_process_group] expected file:///PATH, got '", text, "'");
    result.store = std::make_shared<FileStore>(url.place, result.world_size, timeout);
    TENON_CHECK_AS(DistStoreError, !result.store->check({"rank/" + std::to_string(result.rank)}),
                   "[init_process_group] ", url.place, " is left from an earlier run, or another ",
                   "process has rank ", result.rank, ": remove it or name another file");
    meet(*result.store, result.rank, result.world_size, timeout);
    return result;
  }
  std::string host, prefix;
  int port = 0;
  bool is_server = result.rank == 0;
  if (url.scheme == "env") {
    host = required("MASTER_ADDR");
    port = number(required("MASTER_PORT"), "MASTER_PORT", 0, 65535);
    if (variable("TENON_RUN_STORE") == "1") {
      is_server = false;
      prefix = "attempt_" + variable("RESTART_COUNT").value_or("0");
    }
  } else {
    TENON_CHECK_VALUE(url.scheme == "tcp", "[init_process_group] expected env://, tcp:// or ",
                      "file://, got '", text, "'");
    const size_t colon = url.place.rfind(':');
    TENON_CHECK_VALUE(colon != std::string::npos && colon > 0,
                      "[init_process_group] expected tcp://HOST:PORT, got '", text, "'");
    host = url.place.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
      host = host.substr(1, host.size() - 2);
    port = number(url.place.substr(colon + 1), "the port", 0, 65535);
  }
  TENON_CHECK_VALUE(port != 0 || result.world_size == 1,
                    "[init_process_group] port 0 is for a store that tells the others its port; ",
                    "here every rank must know it");
  result.store = std::make_shared<TCPStore>(host, TCPStoreOptions{port, is_server, timeout});
  if (!prefix.empty()) result.store = std::make_shared<PrefixStore>(prefix, result.store);
  meet(*result.store, result.rank, result.world_size, timeout);
  return result;
}

}  // namespace tenon::distributed
