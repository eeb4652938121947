#include <algorithm>
#include <sstream>

#include "codegen/format/shorten.h"
#include "codegen/meaning/defaults.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {
namespace {

/// All that an entry says or leaves to follow, as lines.
class Description {
 public:
  explicit Description(const Operator& op) {
    line("schema", schema::to_string(op.schema));
    line("forms", std::to_string(op.variants.function) + std::to_string(op.variants.method) +
                      std::to_string(op.variants.inplace) + std::to_string(op.variants.out));
    names("of", op.alias_of);
    computation(op);
    line("promote", op.has_key("promote") ? std::string(to_string(op.promotion)) : "");
    names("check", op.check);
    names("structured_delegate", op.structured_delegate);
    names("structured_inherits", op.structured_inherits);
    flag("structured", op.structured);
    flag("non_differentiable", op.non_differentiable);
    names("out_name", op.out_name);
    names("python_module", op.python_module);
    names("category_override", op.category_override);
    sorted_names("tags", op.tags);
    sorted_names("autogen", op.autogen);
    sorted_names("cpp_no_default_args", op.cpp_no_default_args);
    for (const SourceString& text : op.precomputed) line("precomputed", text.text);
    for (const UfuncInnerLoop& loop : op.ufunc_inner_loop) line(loop.key, loop.value.text);
    line("device_check", std::to_string(static_cast<int>(op.device_check)));
    flag("device_guard", op.device_guard);
    flag("manual_cpp_binding", op.manual_cpp_binding);
    flag("manual_kernel_registration", op.manual_kernel_registration);
    flag("use_const_ref_for_mutable_tensors", op.use_const_ref_for_mutable_tensors);
  }

  std::string take() const { return text_.str(); }

 private:
  void line(const std::string& key, const std::string& value) {
    text_ << key << ": " << value << "\n";
  }
  void flag(const std::string& key, bool value) { line(key, value ? "True" : "False"); }
  void names(const std::string& key, const std::optional<LocatedName>& name) {
    if (name) line(key, name->text);
  }
  void sorted_names(const std::string& key, const std::vector<LocatedName>& list) {
    std::vector<std::string> texts;
    for (const LocatedName& name : list) texts.push_back(name.text);
    std::sort(texts.begin(), texts.end());
    for (const std::string& text : texts) line(key, text);
  }
  void parts(const std::string& key, const NamedExpressions& spec) {
    for (const NamedExpressions::Part& part : spec.parts) {
      line(key + " " + part.name.text, part.expression.text);
    }
  }

  // By dtypes, whether these are said or follow; as written where it calls what is not known here.
  void pointwise(const Operator& op) {
    const std::vector<std::string> dtypes = served_dtypes(op);
    for (const PointwiseCase& one : op.pointwise->cases) {
      if (dtypes.empty()) line("pointwise " + one.category + one.backend, one.expression.text);
    }
    for (const std::string& dtype : dtypes) {
      for (size_t i = 0; i < op.schema.returns.size(); ++i) {
        for (const char* backend : {"cpu", "cuda"}) {
          const std::string output = op.schema.return_name(i);
          const PointwiseCase* one = op.pointwise->find(output, dtype, backend);
          if (one != nullptr) line(output + " " + dtype + " " + backend, one->expression.text);
        }
      }
    }
  }

  void computation(const Operator& op) {
    if (op.pointwise) pointwise(op);
    if (op.update) parts("pointwise", *op.update);
    if (op.rowwise) {
      parts("rowwise", *op.rowwise);
      line("over", op.rowwise->over ? op.rowwise->over->text : "");
      sorted_names("rows", op.rowwise->rows);
      sorted_names("columns", op.rowwise->columns);
      line("keepdim", op.rowwise->keepdim ? "True" : "");
    }
    // `composite: explicit` is a kernel for CompositeExplicit.
    Composite composite = op.composite;
    std::string kernel =
        op.composition ? op.composition->text : kernel_name(op.schema, "Composite");
    for (const DispatchEntry& entry : op.dispatch) {
      const bool is_explicit = &entry == op.find_dispatch("CompositeExplicit");
      if (is_explicit || &entry == op.find_dispatch("CompositeImplicit")) {
        composite = is_explicit ? Composite::kExplicit : Composite::kImplicit;
        kernel = entry.kernel;
        if (entry.kernel_namespace.empty()) continue;
      }
      line("dispatch " + entry.key, entry.kernel_namespace + "::" + entry.kernel);
    }
    if (composite != Composite::kNo) {
      line(composite == Composite::kExplicit ? "explicit" : "implicit", kernel);
    }
  }

  std::ostringstream text_;
};

}  // namespace

bool same_operators(const Model& a, const Model& b) {
  return std::equal(a.operators().begin(), a.operators().end(), b.operators().begin(),
                    b.operators().end(),
                    [](const Operator& x, const Operator& y) {
                      return Description(x).take() == Description(y).take();
                    }) &&
         std::equal(a.definitions().begin(), a.definitions().end(), b.definitions().begin(),
                    b.definitions().end(), [](const Definition& x, const Definition& y) {
                      return x.name.text == y.name.text && x.body.text == y.body.text;
                    });
}

}  // namespace tenon::codegen
