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
    if (const AliasOf* alias = op.as<AliasOf>()) names("of", alias->of);
    computation(op);
    line("promote", op.has_key("promote") ? std::string(to_string(*op.promotion)) : "");
    names("check", op.check);
    if (op.batched) line("batched", op.batched->text);
    if (const Delegate* delegate = op.as<Delegate>())
      line("structured_delegate", delegate->of.text);
    names("structured_inherits", op.upstream.structured_inherits);
    flag("structured", op.is<Structured>());
    flag("non_differentiable", op.non_differentiable);
    names("out_name", op.out_name);
    names("python_module", op.python_module);
    names("category_override", op.upstream.category_override);
    sorted_names("tags", op.tags);
    sorted_names("autogen", op.autogen);
    sorted_names("cpp_no_default_args", op.cpp_no_default_args);
    for (const SourceString& text : op.upstream.precomputed) line("precomputed", text.text);
    for (const UfuncInnerLoop& loop : op.upstream.ufunc_inner_loop) line(loop.key, loop.value.text);
    line("device_check", std::to_string(static_cast<int>(op.upstream.device_check)));
    flag("device_guard", op.upstream.device_guard);
    flag("manual_cpp_binding", op.manual_cpp_binding);
    flag("manual_kernel_registration", op.upstream.manual_kernel_registration);
    flag("use_const_ref_for_mutable_tensors", op.upstream.use_const_ref_for_mutable_tensors);
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
    for (const PointwiseCase& one : op.as<Pointwise>()->cases) {
      if (dtypes.empty()) line("pointwise " + one.category + one.backend, one.expression.text);
    }
    for (const std::string& dtype : dtypes) {
      for (size_t i = 0; i < op.schema.returns.size(); ++i) {
        for (const char* backend : {"cpu", "cuda"}) {
          const std::string output = op.schema.return_name(i);
          const PointwiseCase* one = op.as<Pointwise>()->find(output, dtype, backend);
          if (one != nullptr) line(output + " " + dtype + " " + backend, one->expression.text);
        }
      }
    }
  }

  void computation(const Operator& op) {
    if (op.as<Pointwise>()) pointwise(op);
    if (op.as<Update>()) parts("pointwise", *op.as<Update>());
    if (op.as<Rowwise>()) {
      parts("rowwise", *op.as<Rowwise>());
      line("over", op.as<Rowwise>()->over ? op.as<Rowwise>()->over->text : "");
      sorted_names("rows", op.as<Rowwise>()->rows);
      sorted_names("columns", op.as<Rowwise>()->columns);
      line("keepdim", op.as<Rowwise>()->keepdim ? "True" : "");
    }
    // `composite: explicit` is a kernel for CompositeExplicit.
    std::string kernel =
        op.composition() ? op.composition()->text.text : kernel_name(op.schema, "Composite");
    for (const DispatchEntry& entry : op.dispatch) {
      if (&entry == op.find_dispatch("CompositeExplicit") ||
          &entry == op.find_dispatch("CompositeImplicit")) {
        kernel = entry.kernel;
        if (entry.kernel_namespace.empty()) continue;
      }
      line("dispatch " + entry.key, entry.kernel_namespace + "::" + entry.kernel);
    }
    if (op.is_composite()) line(op.is_composite_implicit() ? "implicit" : "explicit", kernel);
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
