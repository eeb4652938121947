#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace tenon::serialization {

/// What a checkpoint of a training says of itself.
struct CheckpointFile {
  std::string path{};
  int64_t step = 0;
  std::string run{};   ///< empty in files that were written before runs had names
  int64_t number = 0;  ///< of the folder's saves before it; 0 in such files
};

struct CheckpointFiles {
  std::vector<CheckpointFile> whole;  ///< as far as was looked, in the order they were saved in
  std::vector<std::string> damaged;   ///< what is wrong with them
  /// Those that cannot be read for another reason than damage, or are no checkpoints of a training,
  /// and what the first one's reason is.
  std::vector<std::string> unknown;
  std::exception_ptr reason;
};

/// "folder/step-000000001200.pt", or for `copy` above 1 "folder/step-000000001200-2.pt".
std::string checkpoint_path(const std::string& folder, int64_t step, int copy = 1);

/// The checkpoints of a folder. No tensor data are read, so what is damaged in them alone counts as
/// whole. OSError if the folder cannot be read.
CheckpointFiles find_checkpoints(const std::string& folder);

/// Whether a file lost bytes or got others than were written to it: it is not the whole archive
/// that it was, or a checksum does not match. OSError if it cannot be read.
bool is_damaged(const std::string& path);

}  // namespace tenon::serialization
