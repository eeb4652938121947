#include "runtime/serialization/io/path_queue.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/serialization/io/folder.h"

namespace tenon::serialization::detail {
namespace {

struct Queues {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::vector<const PathQueue*>> of;
};

Queues& queues() {
  static Queues* instance = new Queues;  // threads may outlive the program's static objects
  return *instance;
}

/// The same for all paths of a file. The places of a process's parent are none of its own: the
/// threads that would leave them are not there after a fork.
std::string key_of(const std::string& path) {
  const std::filesystem::path target(target_of(path));
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::canonical(parent_of(target.string()), error);
  return std::to_string(::getpid()) + ":" + (error ? target : folder / target.filename()).string();
}

}  // namespace

PathQueue::PathQueue(const std::string& path) : key_(key_of(path)) {
  const std::lock_guard lock(queues().mutex);
  queues().of[key_].push_back(this);
}

PathQueue::~PathQueue() {
  const std::lock_guard lock(queues().mutex);
  const auto queue = queues().of.find(key_);
  std::erase(queue->second, this);
  if (queue->second.empty()) queues().of.erase(queue);
  queues().changed.notify_all();
}

void PathQueue::wait() const {
  std::unique_lock lock(queues().mutex);
  queues().changed.wait(lock, [this] { return queues().of.at(key_).front() == this; });
}

}  // namespace tenon::serialization::detail
