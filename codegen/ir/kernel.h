#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/expr/rows/row_schedule.h"
#include "codegen/model/operator.h"
#include "codegen/schema/fields.h"

namespace tenon::codegen::ir {

using expr::NamedText;

/// The functor of the same source file that computes the same from tensors alone.
struct SameBody {
  std::string functor;
  std::vector<int> operands;  ///< of each of its inputs: input k, or number -1 - k
  TENON_FIELDS(functor, operands)
};

/// What a kernel computes for a group of types.
struct KernelBody {
  std::string functor;
  std::vector<std::string> types;
  std::vector<std::string> statements;
  std::vector<std::string> results;
  bool wraps = false;            ///< bytes can be computed in bytes
  std::optional<SameBody> same;  ///< on the CPU its loops are run
  TENON_FIELDS(functor, types, statements, results, wraps, same)
};

/// A pointwise kernel of the engine.
struct Kernel {
  std::string ident;
  std::vector<std::string> inputs, scalars;
  size_t num_outputs = 0;
  Promotion promotion = Promotion::kDefault;
  uint32_t promoting_inputs = 0, promoting_scalars = 0;  ///< bit masks
  int cost = 0;
  bool complex32 = false, unsigned_integers = false;  ///< takes these storage-only dtypes too
  std::vector<KernelBody> bodies;
  TENON_FIELDS(ident, inputs, scalars, num_outputs, promotion, promoting_inputs, promoting_scalars,
               cost, complex32, unsigned_integers, bodies)
};

/// That of a `pointwise` entry.
struct ForwardKernel : Kernel {
  std::vector<NamedText> defaults;  ///< of numbers that may be absent
  uint32_t masks = 0;               ///< results that are Bool beside others
  std::vector<std::string> draws;   ///< `uniform`, `normal`: what the last inputs are drawn from
  TENON_MORE_FIELDS(Kernel, defaults, masks, draws)
};

/// One that computes gradients.
struct GradientKernel : Kernel {
  std::vector<size_t> outputs;  ///< indices of the node's inputs
  TENON_MORE_FIELDS(Kernel, outputs)
};

/// One of an entry that writes arguments, for one set of optional tensors.
struct UpdateKernel : Kernel {
  std::vector<std::string> given, absent;
  std::vector<std::string> written;   ///< its outputs
  std::vector<NamedText> numbers;     ///< its scalars
  std::vector<std::string> composed;  ///< each output, made of operators
  TENON_MORE_FIELDS(Kernel, given, absent, written, numbers, composed)
};

/// An argument that is a tensor.
struct TensorName {
  std::string name;
  bool optional = false;
  TENON_FIELDS(name, optional)
};

/// A `pointwise` entry that writes arguments.
struct Update {
  std::vector<TensorName> written, reads;
  std::vector<UpdateKernel> kernels;
  std::vector<std::string> operators, headers;
  TENON_FIELDS(written, reads, kernels, operators, headers)
};

}  // namespace tenon::codegen::ir
