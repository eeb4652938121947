#include "runtime/distributed/ddp/buckets.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tenon::distributed {

std::vector<std::vector<size_t>>
compute_bucket_assignment_by_size(const std::vector<Tensor>& tensors,
                                  const std::vector<size_t>& limits,
                                  const std::vector<size_t>& order) {
  TENON_CHECK_VALUE(!limits.empty(), "[compute_bucket_assignment_by_size] expected a limit");
  TENON_CHECK_VALUE(order.empty() || order.size() == tensors.size(),
                    "[compute_bucket_assignment_by_size] expected an order of ", tensors.size(),
                    " tensors, got ", order.size());
  struct Filling {
    std::vector<size_t> indices;
    size_t bytes = 0;
    size_t limit = 0;
  };
  std::map<std::tuple<ScalarType, DeviceType, DeviceIndex>, Filling> filling;
  std::vector<std::vector<size_t>> buckets;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t index = order.empty() ? i : order[i];
    const Device device = tensors[index].device();
    Filling& f = filling[{tensors[index].scalar_type(), device.type(), device.index()}];
    f.indices.push_back(index);
    f.bytes += tensors[index].nbytes();
    if (f.bytes < limits[f.limit]) continue;
    buckets.push_back(std::move(f.indices));
    f = Filling{{}, 0, std::min(f.limit + 1, limits.size() - 1)};
  }
  for (auto& [kind, f] : filling) {
    if (!f.indices.empty()) buckets.push_back(std::move(f.indices));
  }
  if (order.empty()) {
    std::sort(buckets.begin(), buckets.end(), [](const auto& a, const auto& b) {
      return *std::min_element(a.begin(), a.end()) < *std::min_element(b.begin(), b.end());
    });
  }
  return buckets;
}

}  // namespace tenon::distributed
