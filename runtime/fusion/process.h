#pragma once

#include <sys/types.h>

#include <deque>
#include <string>
#include <vector>

namespace tenon::fusion {

using Command = std::vector<std::string>;

/// Programs that run at the same time; those that still run at the end of the scope are ended.
class Processes {
 public:
  /// `what`: the beginning of the message if one fails. At most `limit` run at a time.
  explicit Processes(std::string what, size_t limit = 1) : what_(std::move(what)), limit_(limit) {}
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// `log`: the file that gets its output. RuntimeError if there is no such program.
  void start(const Command& command, const std::string& log);
  /// Waits for all. RuntimeError with the output of the first that fails.
  void wait();

 private:
  struct Running {
    pid_t pid;
    std::string program, log;
  };
  void wait_for_first();

  const std::string what_;
  const size_t limit_;
  std::deque<Running> running_;
};

}  // namespace tenon::fusion
