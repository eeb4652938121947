#pragma once

#include "runtime/distributed/stores/store.h"

namespace tenon::distributed {

/// A store in a file that all ranks can reach, also over a network file system with working locks:
/// a log of changes, which each process reads and adds to under a lock. What a killed process wrote
/// only half is cut off by the next. The last of `world_size` objects to go removes the file; with
/// 0 it stays.
class TENON_API FileStore final : public Store {
 public:
  /// DistStoreError if the file cannot be made, or is no store.
  explicit FileStore(std::string path, int world_size = 0, Milliseconds timeout = kDefaultTimeout);
  ~FileStore() override;
  bool wait_for(const std::vector<std::string>& keys, Milliseconds timeout) override;
  std::string execute(const detail::StoreRequest& request) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::distributed
