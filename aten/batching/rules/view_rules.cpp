// Views, and the operators of the same geometry: dimensions move behind the batch.

#include "aten/batching/rules/rule.h"
#include "aten/core/error.h"
#include "tenon/ops/_conj.h"
#include "tenon/ops/_neg_view.h"
#include "tenon/ops/_unsafe_view.h"
#include "tenon/ops/alias.h"
#include "tenon/ops/as_strided.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/contiguous.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/select.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/split.h"
#include "tenon/ops/split_with_sizes.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/transpose.h"
#include "tenon/ops/unbind.h"
#include "tenon/ops/unfold.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/view.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/view_as_real.h"

namespace tenon::batching {
namespace {

/// `self`, and what follows from it. For all rules of this file.
struct Self {
  explicit Self(const Call& c)
      : call(c), of(c.tensor("self")), value(c.value(of)), rank(of.dim()) {}
  const Call& call;
  Tensor of, value;
  int64_t rank;

  int64_t dim(std::string_view name) const { return call.dim(name, rank); }
  /// Sizes behind the batch; one may be -1, for the rest of an example.
  DimVector sizes(std::string_view name) const {
    const Value::Ints given = call[name].to_ints();
    int64_t known = 1, missing = -1;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] == -1 && missing < 0) {
        missing = static_cast<int64_t>(i);
      } else {
        known *= given[i];
      }
    }
    DimVector sizes;
    sizes.push_back(value.size(0));
    for (const int64_t size : given) sizes.push_back(size);
    const bool fits = missing >= 0 && known > 0 && of.numel() % known == 0;
    TENON_CHECK(missing < 0 || fits, "shape '", IntArrayRef(given),
                "' is invalid for input of size ", of.numel());
    if (missing >= 0) sizes[static_cast<size_t>(missing) + 1] = of.numel() / known;
    return sizes;
  }
};

Values alias_rule(const Call& call) { return {alias(call.value("self"))}; }

Values as_strided_rule(const Call& call) {
  const Self self(call);
  DimVector sizes, strides;
  sizes.push_back(self.value.size(0));
  strides.push_back(self.value.stride(0));
  for (const int64_t size : call["size"].to_ints()) sizes.push_back(size);
  for (const int64_t stride : call["stride"].to_ints()) strides.push_back(stride);
  const Value& given = call["storage_offset"];
  const int64_t offset =
      given.is_none() ? self.value.storage_offset() : self.value.storage_offset() + given.to_int();
  return {self.value.as_strided(sizes, strides, offset)};
}

Values diagonal_rule(const Call& call) {
  const Self self(call);
  return {self.value.diagonal(call.integer("offset"), self.dim("dim1"), self.dim("dim2"))};
}

Values expand_rule(const Call& call) {
  const Self self(call);
  const Value::Ints given = call["size"].to_ints();
  const auto rank = static_cast<int64_t>(given.size());
  DimVector sizes;
  sizes.push_back(self.value.size(0));
  for (const int64_t size : given) sizes.push_back(size);
  return {call.aligned(self.of, rank).expand(sizes, call["implicit"].to_bool())};
}

Values permute_rule(const Call& call) {
  const Self self(call);
  std::vector<int64_t> dims = call.dims("dims", self.rank);
  TENON_CHECK(static_cast<int64_t>(dims.size()) == self.rank,
              "permute(sparse_coo): number of dimensions in the tensor input does not match the "
              "length of the desired ordering of dimensions i.e. input.dim() = ",
              self.rank, " is not equal to len(dims) = ", dims.size());
  dims.insert(dims.begin(), 0);
  return {self.value.permute(dims)};
}

Values select_rule(const Call& call) {
  const Self self(call);
  TENON_CHECK_INDEX(self.rank > 0, "select() cannot be applied to a 0-dim tensor.");
  return {self.value.select(self.dim("dim"), call.integer("index"))};
}

std::optional<int64_t> optional_integer(const Value& value) {
  if (value.is_none()) return std::nullopt;
  return value.to_int();
}

Values slice_rule(const Call& call) {
  const Self self(call);
  TENON_CHECK_INDEX(self.rank > 0, "slice() cannot be applied to a 0-dim tensor.");
  return {self.value.slice(self.dim("dim"), optional_integer(call["start"]),
                           optional_integer(call["end"]), call.integer("step"))};
}

Value list(std::vector<Tensor> tensors) { return Value::Tensors(tensors.begin(), tensors.end()); }

Values split_rule(const Call& call) {
  const Self self(call);
  return {list(tenon::split(self.value, call.integer("split_size"), self.dim("dim")))};
}

Values split_with_sizes_rule(const Call& call) {
  const Self self(call);
  return {list(split_with_sizes(self.value, call["split_sizes"].to_ints(), self.dim("dim")))};
}

Values unbind_rule(const Call& call) {
  const Self self(call);
  TENON_CHECK_INDEX(self.rank > 0, "Dimension specified as 0 but tensor has no dimensions");
  return {list(tenon::unbind(self.value, self.dim("dim")))};
}

/// The dimensions of size 1 of an example, of those given.
std::vector<int64_t> ones(const Self& self, const std::vector<int64_t>& dims) {
  std::vector<int64_t> ones;
  for (const int64_t d : dims) {
    if (self.value.size(d) == 1) ones.push_back(d);
  }
  return ones;
}

std::vector<int64_t> squeezed(const Self& self) {
  if (self.rank == 0) return {};
  std::vector<int64_t> all;
  for (int64_t d = 1; d <= self.rank; ++d) all.push_back(d);
  const Call& call = self.call;
  if (!call.has("dim")) return ones(self, all);
  if (std::holds_alternative<int64_t>(call["dim"].variant())) return ones(self, {self.dim("dim")});
  return ones(self, call.dims("dim", self.rank));
}

Tensor squeeze_value(const Self& self) {
  const std::vector<int64_t> dims = squeezed(self);
  return dims.empty() ? alias(self.value) : self.value.squeeze(dims);
}

Values squeeze_rule(const Call& call) { return {squeeze_value(Self(call))}; }

Values t_rule(const Call& call) {
  const Self self(call);
  TENON_CHECK(self.rank <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.rank,
              "D");
  return {self.rank == 2 ? self.value.transpose(1, 2) : alias(self.value)};
}

Values transpose_rule(const Call& call) {
  const Self self(call);
  const int64_t a = self.dim("dim0"), b = self.dim("dim1");
  return {self.rank == 0 ? alias(self.value) : self.value.transpose(a, b)};
}

Values unsqueeze_rule(const Call& call) {
  const Self self(call);
  return {self.value.unsqueeze(call.dim("dim", self.rank + 1))};
}

Values unfold_rule(const Call& call) {
  const Self self(call);
  if (self.rank == 0) {
    wrap_dim(call.integer("dimension"), 0);
    return {
        self.value.unsqueeze(1).unfold(1, call.integer("size"), call.integer("step")).select(1, 0)};
  }
  return {self.value.unfold(self.dim("dimension"), call.integer("size"), call.integer("step"))};
}

Values view_rule(const Call& call) {
  const Self self(call);
  return {self.value.view(self.sizes("size"))};
}

Values unsafe_view_rule(const Call& call) {
  const Self self(call);
  return {_unsafe_view(self.value, self.sizes("size"))};
}

Values view_as_complex_rule(const Call& call) {
  const Tensor value = call.value("self");
  // The batch's dimension may lie between the two parts.
  return {view_as_complex(value.dim() > 1 && value.stride(-1) != 1 ? value.contiguous() : value)};
}
Values conj_rule(const Call& call) { return {_conj(call.value("self"))}; }
Values neg_view_rule(const Call& call) { return {_neg_view(call.value("self"))}; }
Values view_as_real_rule(const Call& call) { return {view_as_real(call.value("self"))}; }

// Of the memory in place: the value takes the new geometry, and the batched tensor follows.

Values as_strided_in_place(const Call& call) {
  const Tensor view(as_strided_rule(call).at(0).to_tensor());
  Tensor(call.value("self")).as_strided_(view.sizes(), view.strides(), view.storage_offset());
  return {};
}

Values squeeze_in_place(const Call& call) {
  const Self self(call);
  const std::vector<int64_t> dims = squeezed(self);
  if (!dims.empty()) self.value.squeeze_(dims);
  return {};
}

Values t_in_place(const Call& call) {
  const Self self(call);
  if (self.rank == 2) self.value.transpose_(1, 2);
  return {};
}

Values transpose_in_place(const Call& call) {
  const Self self(call);
  const int64_t a = self.dim("dim0"), b = self.dim("dim1");
  if (self.rank > 0) self.value.transpose_(a, b);
  return {};
}

Values unsqueeze_in_place(const Call& call) {
  const Self self(call);
  self.value.unsqueeze_(call.dim("dim", self.rank + 1));
  return {};
}

/// The operator itself, of the values.
Values same_of_values(const Call& call) {
  Values arguments = call.arguments();
  for (Value& argument : arguments) {
    if (argument.is_tensor()) argument = call.value(Tensor(argument.to_tensor()));
  }
  // The formats of images are those of as many dimensions as an example has.
  if (call.has("memory_format")) {
    Value& format = arguments[call.index("memory_format")];
    if (!format.is_none() && format.to_enum<MemoryFormat>() > MemoryFormat::Preserve)
      format = Value();
  }
  return call.call(std::move(arguments));
}

}  // namespace

void add_view_rules(RuleTable& table) {
  table.insert({
      {"aten::alias", below<alias_rule>},
      {"aten::as_strided", below<as_strided_rule>},
      {"aten::diagonal", below<diagonal_rule>},
      {"aten::expand", below<expand_rule>},
      {"aten::permute", below<permute_rule>},
      {"aten::select.int", below<select_rule>},
      {"aten::slice.Tensor", below<slice_rule>},
      {"aten::split.Tensor", below<split_rule>},
      {"aten::unsafe_split.Tensor", below<split_rule>},
      {"aten::split_with_sizes", below<split_with_sizes_rule>},
      {"aten::unsafe_split_with_sizes", below<split_with_sizes_rule>},
      {"aten::unbind.int", below<unbind_rule>},
      {"aten::squeeze", below<squeeze_rule>},
      {"aten::squeeze.dim", below<squeeze_rule>},
      {"aten::squeeze.dims", below<squeeze_rule>},
      {"aten::t", below<t_rule>},
      {"aten::transpose.int", below<transpose_rule>},
      {"aten::unsqueeze", below<unsqueeze_rule>},
      {"aten::unfold", below<unfold_rule>},
      {"aten::view", below<view_rule>},
      {"aten::_unsafe_view", below<unsafe_view_rule>},
      {"aten::view_as_complex", below<view_as_complex_rule>},
      {"aten::_conj", below<conj_rule>},
      {"aten::_neg_view", below<neg_view_rule>},
      {"aten::view_as_real", below<view_as_real_rule>},
      {"aten::squeeze_", below<squeeze_in_place>},
      {"aten::squeeze_.dim", below<squeeze_in_place>},
      {"aten::squeeze_.dims", below<squeeze_in_place>},
      {"aten::t_", below<t_in_place>},
      {"aten::transpose_", below<transpose_in_place>},
      {"aten::unsqueeze_", below<unsqueeze_in_place>},
      {"aten::view.dtype", same_of_values},
      {"aten::clone", same_of_values},
      {"aten::_to_copy", same_of_values},
      {"aten::zero_", same_of_values},
      {"aten::fill.Scalar", same_of_values},
      {"aten::as_strided_", below<as_strided_in_place>},
      {"aten::fill_.Scalar", same_of_values},
      {"aten::_differentiable_once", same_of_values},
  });
}

}  // namespace tenon::batching
