#include <string_view>

#include "aten/dispatch/operator_entry.h"
#include "tenon/ops/add.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/maximum.h"
#include "tenon/ops/mul.h"
#include "tests/aten/cuda/support.h"

namespace tenon::test {
namespace {

/// The kinds of an operator's arguments if it may be pointwise: Tensors and Scalars in, one Tensor
/// out.
std::vector<std::string> argument_kinds(const OperatorEntry& op) {
  const std::string_view schema = op.info->schema;
  const size_t open = schema.find('('), close = schema.rfind(") -> ");
  if (schema.substr(close) != ") -> Tensor" || close == open + 1) return {};
  std::vector<std::string> kinds;
  std::string_view arguments = schema.substr(open + 1, close - open - 1);
  while (!arguments.empty()) {
    const size_t comma = std::min(arguments.find(", "), arguments.size());
    const std::string_view one = arguments.substr(0, comma);
    arguments.remove_prefix(std::min(comma + 2, arguments.size()));
    if (one == "*") continue;
    const std::string_view type = one.substr(0, one.find(' '));
    if (type != "Tensor" && type != "Scalar") return {};
    kinds.emplace_back(type);
  }
  return kinds;
}

struct Outcome {
  Tensor value;
  std::string error;
};

Outcome call(const OperatorEntry& op, const std::vector<std::string>& kinds,
             const std::vector<Tensor>& tensors, const Scalar& number) {
  Stack stack;
  size_t next = 0;
  for (const std::string& kind : kinds) {
    if (kind == "Tensor") {
      stack.emplace_back(static_cast<const TensorBase&>(tensors[next++]));
    } else {
      stack.emplace_back(number);
    }
  }
  try {
    op.boxed(op, stack);
    return {Tensor(stack.at(0).to_tensor()), ""};
  } catch (const Error& error) {
    return {Tensor(), error.what()};
  }
}

/// Every operand layout that takes another way through the kernel.
std::vector<std::vector<Tensor>> operand_sets(size_t count, ScalarType dtype) {
  const auto make = [&](auto&& shape) {
    std::vector<Tensor> tensors;
    for (size_t k = 0; k < count; ++k) tensors.push_back(shape(k));
    return tensors;
  };
  return {
      // More than a block of float and of double, and a rest.
      make([&](size_t k) { return sample({523}, dtype, k + 1); }),
      make([&](size_t k) {
        return k == 1 ? sample({7, 1}, dtype, 2) : sample({5, 7, 3}, dtype, k + 1);
      }),
      make([&](size_t k) {
        return sample({6, 9}, dtype, k + 1).t();
      }),
      make([&](size_t k) {
        return k == 0 ? sample({3, 8}, dtype) : sample({}, dtype, k + 1);
      }),
      make([&](size_t k) { return sample({33}, dtype, k + 1).slice(0, 1); }),
  };
}

std::vector<Tensor> on_gpu(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> moved;
  for (const Tensor& t : tensors) moved.push_back(t.cuda());
  return moved;
}

/// Functions whose approximations differ by more than the dtype's usual error.
double limit_of(const OperatorEntry& op, ScalarType dtype) {
  const std::string_view name = op.info->name;
  const bool hard = name.find("pow") != name.npos || name.find("gamma") != name.npos ||
                    name.find("erfinv") != name.npos;
  return tolerance(dtype) * (hard ? 20 : 1);
}

TEST_CASE("every pointwise operator gives on the GPU what it gives on the CPU") {
  TENON_NEEDS_GPU();
  int compared = 0;
  for (OperatorEntry* op : all_operators()) {
    const auto kinds = argument_kinds(*op);
    const auto tensors = static_cast<size_t>(std::count(kinds.begin(), kinds.end(), "Tensor"));
    if (tensors == 0 || !op->kernels()[1 + static_cast<int>(Backend::CUDA)]) continue;
    // Of matrices, and made of _linalg_svd, which has a kernel for the CPU alone.
    if (op->info->name == std::string_view("aten::_linalg_polar")) continue;
    for (ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kByte, kBool,
                             kComplexFloat, kComplexDouble}) {
      const Scalar number = is_integral(dtype, true) ? Scalar(2) : Scalar(1.5);
      for (const auto& operands : operand_sets(tensors, dtype)) {
        const Outcome here = call(*op, kinds, operands, number);
        // What the CPU refuses may be no pointwise operator at all, and numbers no valid indices.
        if (!here.error.empty()) continue;
        const Outcome there = call(*op, kinds, on_gpu(operands), number);
        // Made of an operator that has a kernel for the CPU alone, and of matrices:
        // test_kernels.cpp lists those.
        if (there.error.find("Could not run") != std::string::npos) continue;
        INFO(op->qualified_name() << " of " << to_string(dtype) << ", sizes " << operands[0].sizes()
                                  << ' ' << there.error);
        CHECK(there.error.empty());
        if (!there.error.empty()) continue;
        CHECK(there.value.is_cuda());
        CHECK(difference(here.value, there.value, limit_of(*op, dtype)) == "");
        ++compared;
      }
    }
  }
  CHECK(compared > 1000);
}

TEST_CASE("operands that are dense, or the same, along the fastest dimension alone") {
  TENON_NEEDS_GPU();
  // 16 and 32 are whole shares of a thread, 18 is not; a slice at 3 is not aligned.
  for (ScalarType dtype : {kBool, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}) {
    for (const int64_t n : {16, 18}) {
      INFO(to_string(dtype) << ", " << n);
      const Tensor x = sample({5, n}, dtype), wide = sample({5, 48}, dtype, 2);
      for (const Tensor& other :
           {sample({n}, dtype, 3), sample({5, 1}, dtype, 3), wide.slice(1, 16, 16 + n),
            wide.slice(1, 3, 3 + n), sample({2, 1, n}, dtype, 3)}) {
        same_on_both(
            [](const std::vector<Tensor>& in) {
              return std::vector<Tensor>{in[0].add(in[1]), in[1].mul(in[0])};
            },
            {x, other});
      }
      same_on_both(
          [n](const std::vector<Tensor>& in) {
            const Tensor all = in[1].clone();
            all.slice(1, 16, 16 + n).mul_(in[0]);
            return std::vector<Tensor>{all};
          },
          {x, wide});
    }
  }
}

TEST_CASE("operands of different dtypes are converted in the kernel") {
  TENON_NEEDS_GPU();
  for (ScalarType a :
       {kBool, kByte, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}) {
    for (ScalarType b : {kBool, kShort, kLong, kHalf, kFloat, kDouble, kComplexDouble}) {
      INFO(to_string(a) << " and " << to_string(b));
      same_on_both(
          [](const std::vector<Tensor>& in) {
            return std::vector<Tensor>{in[0].add(in[1]), in[0].mul(in[1]), in[0].eq(in[1])};
          },
          {sample({5, 66}, a), sample({66}, b, 2)}, 1e-2);
    }
  }
}

TEST_CASE("a 0-dim CPU tensor joins a GPU tensor") {
  TENON_NEEDS_GPU();
  const Tensor t = sample({100}, kFloat);
  const Tensor number = tenon::full({}, 3.0);
  CHECK(difference(t.mul(number), t.cuda().mul(number), 0) == "");
  CHECK(difference(number.sub(t), number.sub(t.cuda()), 0) == "");
  CHECK_THROWS_WITH(t.cuda().add(sample({100}, kFloat)), Catch::Contains("same device"));
}

TEST_CASE("in-place, out and partial results") {
  TENON_NEEDS_GPU();
  same_on_both(
      [](const std::vector<Tensor>& in) {
        Tensor a = in[0].clone();
        a.add_(in[1]).mul_(2).clamp_(-1, 1);
        Tensor column = in[0].clone();
        column.select(1, 2).exp_();
        Tensor out = tenon::empty({0}, in[0].options());
        tenon::add_out(out, in[0], in[1]);
        Tensor wide = tenon::empty({4, 9}, in[0].options().dtype(kDouble));
        tenon::mul_out(wide, in[0], in[1]);
        return std::vector<Tensor>{a, column, out, wide};
      },
      {sample({4, 9}, kFloat), sample({9}, kFloat, 2)});
}

TEST_CASE("gradients of pointwise operators agree") {
  TENON_NEEDS_GPU();
  const std::vector<Tensor> inputs{sample({6, 50}, kDouble).abs().add(0.1),
                                   sample({50}, kDouble, 2)};
  const std::pair<const char*, Function> cases[] = {
      {"mul", [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].mul(in[1])}; }},
      {"div", [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[1].div(in[0])}; }},
      {"log, tanh",
       [](const std::vector<Tensor>& in) {
         return std::vector<Tensor>{in[0].log().mul(in[1].tanh())};
       }},
      {"sigmoid",
       [](const std::vector<Tensor>& in) {
         return std::vector<Tensor>{in[0].mul(in[1].sigmoid())};
       }},
      {"gelu, relu",
       [](const std::vector<Tensor>& in) {
         return std::vector<Tensor>{tenon::gelu(in[1]), in[1].relu().mul(in[0])};
       }},
      {"maximum",
       [](const std::vector<Tensor>& in) {
         return std::vector<Tensor>{tenon::maximum(in[0], in[1])};
       }},
  };
  for (const auto& [name, f] : cases) {
    INFO(name);
    same_gradients(f, inputs);
  }
}

}  // namespace
}  // namespace tenon::test
