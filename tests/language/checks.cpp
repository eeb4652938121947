#include "mine/native/bounded.h"
#include "mine/native/halved.h"

void mine::native::bounded_check(const tenon::Tensor&, const std::optional<tenon::Tensor>& scale,
                                 std::optional<double> limit, std::string_view) {
  TENON_CHECK(!limit || *limit >= 0, "[mine::bounded] limit must not be negative, got ", *limit);
  TENON_CHECK(!scale || !tenon::is_integral(scale->scalar_type(), true),
              "[mine::bounded] scale must be floating, got ", scale->scalar_type());
}

void mine::native::halved_check(const tenon::Tensor& self, std::optional<std::string_view>) {
  TENON_CHECK(self.dim() > 0, "[mine::halved] needs a dimension");
}
