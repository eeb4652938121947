#include "runtime/serialization/pickle/sparse_parts.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "tenon/ops/_sparse_compressed_tensor_unsafe.h"
#include "tenon/ops/_sparse_coo_tensor_unsafe.h"
#include "tenon/ops/_validate_sparse_compressed_tensor_args.h"
#include "tenon/ops/_validate_sparse_coo_tensor_args.h"

namespace tenon::serialization {
namespace {

constexpr std::array kLayouts = {kSparse, kSparseCsr, kSparseCsc, kSparseBsr, kSparseBsc};

Layout layout_named(const std::string& name) {
  for (const Layout layout : kLayouts) {
    std::ostringstream text;
    text << "torch." << layout;
    if (text.str() == name) return layout;
  }
  tenon::detail::raise<Error>("a sparse tensor of layout ", name);
}

}  // namespace

std::vector<Tensor> parts_of_sparse(const Tensor& sparse) {
  const Tensor t = sparse.detach();
  switch (t.layout()) {
  case kSparse: return {t._indices(), t._values()};
  case kSparseCsr:
  case kSparseBsr: return {t.crow_indices(), t.col_indices(), t.values()};
  default: return {t.ccol_indices(), t.row_indices(), t.values()};
  }
}

Value sparse_arguments(const Tensor& t, bool says_coalesced) {
  Value::Items data;
  for (const Tensor& part : parts_of_sparse(t)) data.emplace_back(part);
  data.push_back(Value::size(t.sizes()));
  if (t.layout() == kSparse && says_coalesced) data.emplace_back(t.is_coalesced());
  return Value::tuple({Value(t.layout()), Value::tuple(std::move(data))});
}

Tensor sparse_of_arguments(const Value& args) {
  TENON_CHECK(args.size() == 2 && args.items()[0].is(Value::Kind::Layout) &&
                  args.items()[1].is_tuple(),
              "_rebuild_sparse_tensor expected (layout, (indices, values, size))");
  const Layout layout = layout_named(args.items()[0].name());
  const Value::Items& data = args.items()[1].items();
  const size_t parts = layout == kSparse ? 2 : 3;
  TENON_CHECK(data.size() == parts + 1 || (layout == kSparse && data.size() == 4),
              "_rebuild_sparse_tensor of layout ", layout, " expected ", parts,
              " tensors and their size, got ", data.size(), " values");
  DimVector size;
  for (const Value& v : data[parts].items()) size.push_back(v.to_int());
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < parts; ++i) tensors.emplace_back(data[i].to_tensor());
  if (layout != kSparse)
    return ops::_sparse_compressed_tensor_unsafe::call(
        tensors[0], tensors[1], tensors[2], size, std::nullopt, layout, std::nullopt, std::nullopt);
  TENON_CHECK(tensors[0].scalar_type() == kLong && tensors[0].dim() == 2 && tensors[1].dim() >= 1 &&
                  static_cast<int64_t>(size.size()) == tensors[0].size(0) + tensors[1].dim() - 1,
              "a sparse_coo tensor of indices ", tensors[0].scalar_type(), tensors[0].sizes(),
              " and values ", tensors[1].sizes(), " for size ", size);
  const bool coalesced = data.size() == 4 && !data[3].is_none() && data[3].to_bool();
  return ops::_sparse_coo_tensor_unsafe::call(tensors[0], tensors[1], size, std::nullopt,
                                              std::nullopt, std::nullopt, std::nullopt, coalesced);
}

void check_sparse(const Tensor& t) {
  const std::vector<Tensor> parts = parts_of_sparse(t);
  if (t.layout() == kSparse) {
    ops::_validate_sparse_coo_tensor_args::call(parts[0], parts[1], t.sizes(), t.is_coalesced(),
                                                std::nullopt);
  } else {
    ops::_validate_sparse_compressed_tensor_args::call(parts[0], parts[1], parts[2], t.sizes(),
                                                       t.layout(), std::nullopt);
  }
}

}  // namespace tenon::serialization
