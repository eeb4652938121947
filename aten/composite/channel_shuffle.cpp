#include "tenon/native/channel_shuffle.h"

namespace tenon {

/// [N, groups C, ...]: channels, group by group, become channels of all groups in turn.
Tensor native::channel_shuffle(const Tensor& self, int64_t groups) {
  TENON_CHECK(self.dim() > 2,
              "[channel_shuffle] expects input with > 2 dims, but got input with sizes ",
              self.sizes());
  TENON_CHECK(
      groups > 0,
      "[channel_shuffle] Number of groups to divide channels in must be positive. Value of groups:",
      groups);
  const int64_t channels = self.size(1);
  TENON_CHECK(channels % groups == 0,
              "[channel_shuffle] Number of channels must be divisible by groups. Got ", channels,
              " channels and ", groups, " groups.");
  DimVector split{self.size(0), groups, channels / groups};
  for (int64_t d = 2; d < self.dim(); ++d) split.push_back(self.size(d));
  return self.reshape(split).transpose(1, 2).contiguous().view(self.sizes());
}

}  // namespace tenon
