#pragma once

#include <string>
#include <vector>

namespace tenon::ckpt {

/// Exit codes.
enum Status : int {
  kFine = 0,
  kFound = 1,    ///< a difference or damage, where that was the question
  kTrouble = 2,  ///< the question could not be answered
};

struct Options {
  std::vector<std::string> arguments;
  bool json = false;
  bool quiet = false;    ///< no progress bar
  bool flatten = false;  ///< convert
  bool compact = false;
  bool sha256 = false;
  int deflate = 0;
  double tolerance = 0;  ///< diff
  std::string to;        ///< convert: the format
};

Status list(const Options& options);
Status show(const Options& options);
Status verify(const Options& options);
Status diff(const Options& options);
Status convert(const Options& options);

}  // namespace tenon::ckpt
