#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tenon::fusion {

using Command = std::vector<std::string>;

/// Programs that run at the same time; those that still run at the end of the scope are ended.
class Processes {
 public:
  Processes() = default;
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// `log`: the file that gets its output; empty: none. RuntimeError if there is no such program.
  void start(const Command& command, const std::string& log);
  /// Waits for all. RuntimeError with `what` and the output of the first that fails.
  void wait(const std::string& what);
  /// Waits for all; whether each has succeeded.
  bool wait_quietly();

 private:
  struct Running {
    pid_t pid;
    std::string program, log;
  };
  std::vector<Running> running_;
};

}  // namespace tenon::fusion
