#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/distributed/error.h"

namespace tenon::distributed {

using Milliseconds = std::chrono::milliseconds;

namespace detail {

/// What a store is asked to do; the numbers go over the wire and into files.
enum class StoreCommand : uint8_t {
  Set = 1,         ///< key, value
  Get = 2,         ///< key: "+value", or nothing if there is none
  Add = 3,         ///< key, decimal number: the sum, decimal
  CompareSet = 4,  ///< key, expected, desired: the value afterwards
  Check = 5,       ///< keys: '1' or '0' for each
  Delete = 6,      ///< key: "1" if there was one
  NumKeys = 7,     ///< decimal
  Append = 8,      ///< key, value
};
struct StoreRequest {
  StoreCommand command;
  std::vector<std::string> arguments;
};

}  // namespace detail

/// Keys and values that several processes share: how ranks find each other. Values are bytes.
/// Every function is atomic, and may be called by several threads.
class TENON_API Store {
 public:
  static constexpr Milliseconds kDefaultTimeout = std::chrono::seconds(300);

  explicit Store(Milliseconds timeout = kDefaultTimeout) : timeout_(timeout) {}
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void set(const std::string& key, const std::string& value);
  /// Waits for the key. DistStoreError after timeout().
  std::string get(const std::string& key);
  /// Adds to the decimal number that the key holds, 0 if there is none, and gives the sum.
  /// ValueError if it holds something else.
  int64_t add(const std::string& key, int64_t amount);
  /// Sets the key to `desired` if it holds `expected`, or if there is none and `expected` is empty.
  /// What it holds afterwards; `expected` if there is none.
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired);
  /// DistStoreError that names the missing keys, unless all are there within the time.
  void wait(const std::vector<std::string>& keys) { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, Milliseconds timeout);
  /// The same without an error: whether all came.
  virtual bool wait_for(const std::vector<std::string>& keys, Milliseconds timeout) = 0;
  /// Whether all keys are there.
  bool check(const std::vector<std::string>& keys) { return missing(keys).empty(); }
  /// Those that are not there.
  std::vector<std::string> missing(const std::vector<std::string>& keys);
  /// Whether there was such a key.
  bool delete_key(const std::string& key);
  /// Number of keys, those of other prefixes included.
  int64_t num_keys();
  /// Adds to the end of the value.
  void append(const std::string& key, const std::string& value);
  std::vector<std::string> multi_get(const std::vector<std::string>& keys);
  void multi_set(const std::vector<std::string>& keys, const std::vector<std::string>& values);

  Milliseconds timeout() const { return timeout_; }
  void set_timeout(Milliseconds timeout) { timeout_ = timeout; }

  /// The address under which this machine is known to those who share the store.
  virtual std::string local_address() const { return "127.0.0.1"; }
  virtual std::string execute(const detail::StoreRequest& request) = 0;

 private:
  Milliseconds timeout_;
};

/// A store of the threads of one process.
class TENON_API HashStore final : public Store {
 public:
  explicit HashStore(Milliseconds timeout = kDefaultTimeout);
  ~HashStore() override;
  bool wait_for(const std::vector<std::string>& keys, Milliseconds timeout) override;
  std::string execute(const detail::StoreRequest& request) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A part of another store: "prefix/" is put before every key.
class TENON_API PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> store);
  bool wait_for(const std::vector<std::string>& keys, Milliseconds timeout) override;
  std::string execute(const detail::StoreRequest& request) override;
  std::string local_address() const override { return store_->local_address(); }

 private:
  std::string prefix_;
  std::shared_ptr<Store> store_;
};

}  // namespace tenon::distributed
