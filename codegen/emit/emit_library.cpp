#include "codegen/emit/emit_library.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "codegen/emit/emit_autograd.h"
#include "codegen/emit/emit_batching.h"
#include "codegen/emit/emit_composition.h"
#include "codegen/emit/emit_dispatch.h"
#include "codegen/emit/emit_form.h"
#include "codegen/emit/emit_includes.h"
#include "codegen/emit/emit_pointwise.h"
#include "codegen/emit/emit_python.h"
#include "codegen/emit/emit_rowwise.h"
#include "codegen/emit/emit_update.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/defaults.h"
#include "codegen/select/select.h"

namespace tenon::codegen {
namespace {

/// Source files of Python's functions.
constexpr int kPythonShards = 8;

/// FNV-1a: the same on every machine, so that an operator's shard never moves.
uint32_t hash_name(const std::string& name) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : name) hash = (hash ^ c) * 16777619u;
  return hash;
}

/// The form of operator `of` that the alias's form is another name of.
const VariantSchema& form_of(const Model& model, const Operator& of, const VariantSchema& form) {
  for (const VariantSchema& one : model.variants(model.find(of.name())->op)) {
    if (one.kind == form.kind) return one;
  }
  throw std::logic_error("[tenonc] an alias has a form that its operator has not");
}

std::string header_of(const Operator& op) {
  return cpp_namespace(op.schema) + "/ops/" + op.schema.base_name() + ".h";
}

ir::Entry emit_operator(const Model& model, size_t index, const EmitOptions& options) {
  const Operator& op = model.operators()[index];
  const auto& forms = model.variants(index);
  const Operator* of =
      op.is<AliasOf>() ? &model.op(*model.find(op.as<AliasOf>()->of->text)) : nullptr;
  ir::Entry entry;
  entry.name = op.name();
  entry.ident = cpp_identifier(op.schema);
  entry.base = op.schema.base_name();
  entry.cpp_namespace = cpp_namespace(op.schema);
  entry.header = header_of(op);
  entry.error_name = op.error_name();
  entry.called_by_generated_code = op.has_tag(kGeneratedCallsTag);
  entry.place = ir::Place(op.location);
  // Those of all backends: kernels compile alike whichever are built.
  entry.declarations = kernel_declarations(op, Targets{.cuda = true});
  if (op.check) entry.check = op.check->text;
  if (op.as<Pointwise>()) {
    entry.kernel = emit_pointwise(op);
    entry.expression.emplace();
    for (const auto& one : op.as<Pointwise>()->cases)
      entry.expression->push_back(one.expression.text);
  }
  if (op.as<Update>()) entry.updates = emit_update(op);
  if (op.as<Rowwise>()) entry.rowwise = emit_rowwise(op);
  entry.composition = emit_composition(op);
  entry.node = emit_node(model, index);
  if (of) entry.alias = {of->name(), of->base_name(), header_of(*of)};
  for (size_t f = 0; f < forms.size(); ++f) {
    ir::Form form = emit_form(op, forms[f]);
    if (of) {
      const VariantSchema& same = form_of(model, *of, forms[f]);
      form.of = {cpp_identifier(same.schema), same.schema.name};
    } else {
      form.dispatch = emit_dispatch(model, index, f, options.targets);
      form.autograd = emit_autograd(model, index, f, entry.node);
      form.batching = emit_batching(op, form, entry.kernel);
    }
    form.cpp_namespace = entry.cpp_namespace;
    if (options.python) {
      form.python =
          emit_python_call(forms[f].schema, form, op.python_module ? op.python_module->text : "");
    }
    entry.forms.push_back(std::move(form));
  }
  return entry;
}

/// Headers of the operators that a node's formulas, or the composed form of a row operator, call,
/// as far as they are operators: those of their own namespace `ns` and Tenon's by their names,
/// others as `other::f`.
std::vector<std::string> called_headers(const Model& model, const Model* base,
                                        const std::string& ns,
                                        const std::vector<std::string>& called) {
  std::vector<std::string> headers;
  for (const std::string& name : called) {
    for (const Model* known : {&model, base}) {
      if (!known) continue;
      for (const OperatorGroup& group : known->groups()) {
        const Operator& op = known->operators()[group.operators[0]];
        const std::string of = cpp_namespace(op.schema), function = op.base_name();
        const std::string plain = name.ends_with("_") ? name.substr(0, name.size() - 1) : name;
        const bool seen =
            plain == of + "::" + function || (plain == function && (of == ns || of == "tenon"));
        if (seen) headers.push_back(of + "/ops/" + function + ".h");
      }
    }
  }
  std::sort(headers.begin(), headers.end());
  headers.erase(std::unique(headers.begin(), headers.end()), headers.end());
  return headers;
}

std::vector<ir::Entry> emit_operators(const Model& model, const EmitOptions& options) {
  std::vector<size_t> order(model.operators().size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Everything follows the order of names, so that moving an entry in the file changes nothing.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return model.operators()[a].name() < model.operators()[b].name();
  });
  std::vector<ir::Entry> operators;
  std::map<std::string, size_t> by_name;
  for (const size_t index : order) {
    ir::Entry entry = emit_operator(model, index, options);
    const auto add_headers = [&](auto& part) {
      if (part)
        part->headers = called_headers(model, options.base, entry.cpp_namespace, part->operators);
    };
    add_headers(entry.node);
    add_headers(entry.updates);
    add_headers(entry.composition);
    add_headers(entry.rowwise);
    by_name.emplace(entry.name, operators.size());
    operators.push_back(std::move(entry));
  }
  for (size_t at = 0; at < operators.size(); ++at) {
    if (!operators[at].alias) continue;
    auto& aliases = operators[by_name.at(operators[at].alias->name)].aliases;
    for (const ir::Form& form : operators[at].forms)
      aliases.push_back({form.schema_namespace + "::" + form.name, form.overload, form.of->ident});
  }
  return operators;
}

/// Lists the files to render.
class Files {
 public:
  Files(const ir::Library& library, const EmitOptions& options)
      : operators_(library.operators), header_(library.header), options_(options) {
    for (size_t at = 0; at < operators_.size(); ++at) {
      const ir::Entry& entry = operators_[at];
      by_base_[{entry.cpp_namespace, entry.base}].push_back(at);
      all_.push_back(at);
      if (entry.alias) continue;  // where its operator is
      if (entry.selected) {
        const uint32_t hash = hash_name(entry.base);
        shards_[hash % static_cast<uint32_t>(options.shards)].push_back(at);
        cuda_shards_[hash % static_cast<uint32_t>(options.cuda_shards)].push_back(at);
      } else {
        left_out_.push_back(at);
      }
    }
  }

  std::vector<ir::File> run() {
    for (const auto& [key, group] : by_base_) of_base(key.first, key.second, group);
    for (int shard = 0; shard < options_.shards; ++shard) of_shard(shard);
    if (options_.targets.cuda)
      for (int shard = 0; shard < options_.cuda_shards; ++shard) of_cuda_shard(shard);
    if (options_.python) of_python();
    if (!options_.selected.empty()) add("left_out.cpp", "left_out.cpp.j2", left_out_);
    if (options_.library) add("tenon/tensor.h", "tensor.h.j2", all_);
    add(header_, "ops.h.j2", all_);
    if (options_.library) add("tenon/tenon.h", "tenon.h.j2", {});
    for (ir::File& file : files_) file.includes = emit_includes(file, operators_);
    return std::move(files_);
  }

 private:
  ir::File& add(const std::string& path, const char* tmpl, const std::vector<size_t>& operators) {
    ir::File& file = files_.emplace_back();
    file.path = path;
    file.template_name = tmpl;
    file.operators = operators;
    return file;
  }

  void of_base(const std::string& ns, const std::string& base, const std::vector<size_t>& group) {
    const auto add_one = [&](const std::string& path, const char* tmpl,
                             const std::vector<size_t>& operators) {
      ir::File& file = add(path, tmpl, operators);
      file.base = base;
      file.cpp_namespace = ns;
    };
    const auto where = [&](const auto& wanted) {
      std::vector<size_t> chosen;
      for (const size_t at : group) {
        if (wanted(operators_[at])) chosen.push_back(at);
      }
      return chosen;
    };
    add_one(ns + "/ops/" + base + ".h", "operator.h.j2", group);
    const auto declares = [](const ir::Entry& op) { return !op.declarations.empty(); };
    if (!where(declares).empty()) add_one(ns + "/native/" + base + ".h", "native.h.j2", group);
    const std::vector<size_t> rowwise = where([](const ir::Entry& op) {
      return op.selected && (op.rowwise || (op.node && op.node->rowwise));
    });
    const std::vector<size_t> pointwise = where([](const ir::Entry& op) {
      return op.selected && (op.kernel || op.updates || (op.node && !op.node->kernels.empty()));
    });
    const std::string folder = ns == "tenon" ? "" : ns + "/";
    if (!rowwise.empty()) {
      add_one("rowwise/" + folder + base + ".cpp", "rowwise.cpp.j2", rowwise);
      if (options_.targets.cuda)
        add_one("rowwise/" + folder + base + ".cu", "rowwise.cu.j2", rowwise);
    }
    if (!pointwise.empty())
      add_one("pointwise/" + folder + base + ".cpp", "pointwise.cpp.j2", pointwise);
  }

  void of_shard(int shard) {
    const std::vector<size_t>& members = shards_[static_cast<uint32_t>(shard)];
    if (members.empty() && !options_.library) return;
    const std::string number = std::to_string(shard);
    add("operators_" + number + ".cpp", "operators.cpp.j2", members).shard = shard;
    add("autograd_" + number + ".cpp", "autograd.cpp.j2", members).shard = shard;
  }

  void of_cuda_shard(int shard) {
    const std::vector<size_t>& members = cuda_shards_[static_cast<uint32_t>(shard)];
    if (members.empty() && !options_.library) return;
    add("pointwise_" + std::to_string(shard) + ".cu", "pointwise.cu.j2", members).shard = shard;
  }

  void of_python() {
    std::vector<size_t> members[kPythonShards];
    std::vector<size_t> chosen;
    for (const size_t at : all_) {
      if (!operators_[at].selected) continue;
      members[hash_name(operators_[at].base) % kPythonShards].push_back(at);
      chosen.push_back(at);
    }
    for (int shard = 0; shard < kPythonShards; ++shard) {
      ir::File& file = add("python/functions_" + std::to_string(shard) + ".cpp",
                           "python/functions.cpp.j2", members[shard]);
      emit_python(operators_, members[shard], file);
      file.shard = shard;
    }
    add("python/tables.cpp", "python/tables.cpp.j2", {}).shards = kPythonShards;
    ir::File& stubs = add("python/_C.pyi", "python/_C.pyi.j2", {});
    emit_python(operators_, chosen, stubs);
    emit_stubs(stubs);
  }

  const std::vector<ir::Entry>& operators_;
  const std::string& header_;
  const EmitOptions& options_;
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> by_base_;  // namespace, base
  std::map<uint32_t, std::vector<size_t>> shards_, cuda_shards_;
  std::vector<size_t> all_, left_out_;
  std::vector<ir::File> files_;
};

}  // namespace

ir::Library emit_library(const Model& model, const EmitOptions& options, DiagnosticSink& sink) {
  ir::Library library;
  library.name = options.library_name;
  library.in_tree = options.library;
  library.cuda = options.targets.cuda;
  library.header = options.library ? "tenon/ops.h" : options.header;
  library.operators = emit_operators(model, options);
  if (!options.selected.empty()) {
    library.unused_sources =
        select_operators(library.operators, options.selected, options.root, options.targets, sink);
  }
  if (options.target == OutputTarget::kLibrary) {
    std::map<std::pair<std::string, std::string>, std::vector<ir::Entry*>> overloads;
    for (ir::Entry& entry : library.operators) {
      if (entry.selected) overloads[{entry.cpp_namespace, entry.base}].push_back(&entry);
    }
    for (const auto& [name, entries] : overloads) share_bodies(entries);
    library.files = Files(library, options).run();
  } else {
    library.files = emit_standalone(model, options.target, options.targets.cuda, library, sink);
  }
  return library;
}

}  // namespace tenon::codegen
