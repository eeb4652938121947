#include "codegen/emit/emit_includes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tenon::codegen {
namespace {

/// The order of headers: as in a dictionary, whichever letters are capitals.
struct ByLetters {
  static std::string lower(std::string text) {
    for (char& c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return text;
  }
  bool operator()(const std::string& a, const std::string& b) const {
    return std::pair(lower(a), a) < std::pair(lower(b), b);
  }
};

/// Headers of a file's operators.
class Includes {
 public:
  Includes(const ir::File& file, const std::vector<ir::Entry>& operators) : file_(file) {
    for (const size_t at : file.operators) members_.push_back(&operators[at]);
  }

  std::vector<std::string> run() && {
    const std::string& name = file_.template_name;
    if (name == "operators.cpp.j2") of_operators();
    if (name == "autograd.cpp.j2") of_autograd();
    if (name == "operator.h.j2") of_aliases();
    if (name == "left_out.cpp.j2") add({"aten/dispatch/left_out.h"});
    if (name == "pointwise.cu.j2") {
      const bool draws =
          any([](const ir::Entry& op) { return op.kernel && !op.kernel->draws.empty(); });
      add({draws ? "aten/cuda/drawing.cuh" : "aten/cuda/cuda_pointwise.cuh"});
    }
    if (name == "python/functions.cpp.j2") of_python();
    if (name == "left_out.cpp.j2" || name == "ops.h.j2" || name == "python/functions.cpp.j2")
      add_headers([](const ir::Entry& op) { return std::vector<std::string>{op.header}; });
    return std::move(result_);
  }

 private:
  void of_operators() {
    const auto updates = [](const ir::Entry& op) { return op.updates.has_value(); };
    const auto rows = [](const ir::Entry& op) { return op.rowwise.has_value(); };
    const auto composition = [](const ir::Entry& op) { return op.composition.has_value(); };
    const auto fills_parts = [](const ir::Entry& op) {
      return op.composition && op.composition->fused.starts_with("tenon::native::filled_parts");
    };
    const auto mixed = [](const ir::Entry& op) {
      return op.kernel && (!op.kernel->draws.empty() || op.kernel->masks != 0);
    };
    add({"aten/registration/boxing.h", "aten/dispatch/operator_entry.h"});
    if (any([](const ir::Entry& op) { return !op.aliases.empty(); }))
      add({"aten/dispatch/alias_library.h"});
    add({"aten/iterator/pointwise.h", "aten/meta/structured.h", "tenon/ops/copy.h"});
    if (any(updates)) add({"aten/iterator/update.h"});
    add_called(&ir::Entry::updates);
    if (any(mixed)) add({"aten/iterator/mixed.h"});
    if (any(rows)) add({"aten/generated_support/composed_rows.h"});
    add_called(&ir::Entry::rowwise);
    if (any(composition)) add({"aten/generated_support/composition.h"});
    if (any(fills_parts)) add({"aten/generated_support/filled_parts.h"});
    if (any([](const ir::Entry& op) { return op.composition && !op.composition->lists.empty(); }))
      add({"aten/generated_support/foreach.h"});
    add_called(&ir::Entry::composition);
    if (any(updates) || any(rows) || any(composition)) add({"aten/generated_support/polynomial.h"});
    std::map<std::string, std::string, ByLetters>
        native;  // of each header; empty where nothing is declared
    for (const ir::Entry* op : members_) {
      std::string& header = native[op->header];
      if (!op->declarations.empty()) header = op->cpp_namespace + "/native/" + op->base + ".h";
    }
    for (const auto& [header, declared] : native) {
      add({header});
      if (!declared.empty()) add({declared});
    }
  }

  void of_autograd() {
    add({"aten/dispatch/operator_entry.h", "aten/generated_support/polynomial.h",
         "aten/iterator/pointwise.h", "autograd/generated_support/formulas.h",
         "autograd/generated_support/generated_support.h", "tenon/ops/conj.h",
         "tenon/ops/zeros_like.h"});
    add_headers([](const ir::Entry& op) { return std::vector<std::string>{op.header}; });
    const auto forward = [](const ir::Entry& op) {
      return op.node && op.node->forward && !op.node->forward->formulas.empty();
    };
    if (any(forward)) add({"autograd/forward/forward_call.h"});
    if (any([](const ir::Entry& op) { return op.updates.has_value(); }))
      add({"autograd/views/update_checks.h"});
    if (any([](const ir::Entry& op) { return op.node && op.node->rowwise; }))
      add({"aten/generated_support/composed_rows.h"});
    add_called(&ir::Entry::node);
  }

  void of_aliases() {
    add({"aten/dispatch/operator_types.h", "tenon/tensor.h"});
    add_headers([&](const ir::Entry& op) {
      const bool other = op.alias && op.alias->header != file_.path;
      return other ? std::vector<std::string>{op.alias->header} : std::vector<std::string>();
    });
  }

  void of_python() {
    add({"bindings/python/src/calls/arguments.h"});
    const auto& calls = file_.calls;
    if (std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.checked; }))
      add({"bindings/python/src/calls/out_dtype.h"});
    add({"bindings/python/src/calls/results.h"});
  }

  template <class Has>
  bool any(const Has& has) const {
    return std::any_of(members_.begin(), members_.end(), [&](const auto* op) { return has(*op); });
  }

  void add(const std::vector<std::string>& headers) {
    result_.insert(result_.end(), headers.begin(), headers.end());
  }

  /// Those that `of` gives of each operator, each once, sorted.
  template <class Of>
  void add_headers(const Of& of) {
    std::set<std::string, ByLetters> headers;
    for (const ir::Entry* op : members_) {
      for (std::string& header : of(*op)) headers.insert(std::move(header));
    }
    result_.insert(result_.end(), headers.begin(), headers.end());
  }

  /// Those of the operators that a part of the entries calls.
  template <class Part>
  void add_called(std::optional<Part> ir::Entry::*part) {
    add_headers([&](const ir::Entry& op) {
      return op.*part ? (op.*part)->headers : std::vector<std::string>();
    });
  }

  const ir::File& file_;
  std::vector<const ir::Entry*> members_;
  std::vector<std::string> result_;
};

}  // namespace

std::vector<std::string> emit_includes(const ir::File& file,
                                       const std::vector<ir::Entry>& operators) {
  return Includes(file, operators).run();
}

}  // namespace tenon::codegen
