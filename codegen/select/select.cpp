#include "codegen/select/select.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "codegen/schema/suggest.h"
#include "codegen/select/source_calls.h"
#include "codegen/select/tensor_operators.h"

namespace tenon::codegen {
namespace {

/// Folders whose sources are compiled only if they are needed.
const std::vector<std::string> kKernelFolders = {"aten/composite", "aten/conjugate", "aten/cpu",
                                                 "aten/cuda",      "aten/meta",      "aten/sparse"};
/// Folders whose sources every library has, and what these call.
const std::vector<std::string> kCoreFolders = {"aten/core", "aten/iterator", "aten/registration",
                                               "autograd"};
/// Gradient checking is for development: its calls do not make an operator part of every library.
const std::set<std::string> kNoRoots = {"autograd/tools/gradcheck.cpp"};
/// Methods and C++ operators of Tensor: part of every library, and no reason to keep an operator.
const std::string kTensorApi = "aten/generated_support/tensor_methods.cpp";
/// Functions of Tensor that no operator leads to.
const std::string kTensorFactories = "aten/generated_support/tensor_factories.cpp";
/// What stands for a tensor that is absent.
const std::string kOfCompositions = "aten/generated_support/composition.h";
const std::string kOfLists = "aten/generated_support/foreach.h";
constexpr const char* kOfRows = "aten/generated_support/composed_rows.cpp";
constexpr const char* kOfMixedResults = "aten/generated_support/pointwise_mixed.cpp";

std::vector<std::string> all_folders() {
  auto folders = kKernelFolders;
  folders.insert(folders.end(), kCoreFolders.begin(), kCoreFolders.end());
  return folders;
}

bool is_source(const std::string& path) { return path.ends_with(".cpp") || path.ends_with(".cu"); }

bool in_folders(const std::string& path, const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return path.rfind(folder + "/", 0) == 0; });
}

/// "tenon/ops/add.h" gives "add".
std::string operator_of_header(const std::string& include) {
  const std::string prefix = "tenon/ops/";
  if (include.rfind(prefix, 0) != 0) return "";
  return include.substr(prefix.size(), include.size() - prefix.size() - 2);
}

class Selection {
 public:
  Selection(std::vector<ir::Entry>& operators, const std::string& root, const Targets& targets)
      : operators_(operators), targets_(targets) {
    for (size_t i = 0; i < operators.size(); ++i) index(i);
    files_ = read_sources(root, all_folders());
    for (const auto& [path, file] : files_) {
      if (!is_source(path) || !in_folders(path, kKernelFolders)) continue;
      for (const SourceFunction& f : file.functions) {
        if (f.is_kernel) {
          defined_in_.emplace(f.name, path);
        } else if (!f.is_private) {
          helpers_.emplace(f.name, path);
        }
      }
      // By convention a source's own header is its first include.
      if (!file.includes.empty()) implemented_by_[file.includes[0]].push_back(path);
    }
  }

  /// Every form's name, "aten::add.Tensor".
  const std::map<std::string, size_t>& names() const { return by_name_; }

  /// `from`: what needs the operator; "" for the list.
  void add(size_t op, const std::string& from) {
    op = operator_of(op);
    if (reached_from_.emplace(op, from).second) work_.push_back(op);
  }

  void add_core() {
    visit(kTensorApi);
    visit(kTensorFactories);
    for (const std::string& name : arithmetic_functions()) add_named(functions_, name, kTensorApi);
    for (size_t i = 0; i < operators_.size(); ++i) {
      if (operators_[i].called_by_generated_code) add(i, "generated code");
    }
    for (const auto& [path, file] : files_) {
      if (in_folders(path, kCoreFolders) && !kNoRoots.contains(path)) visit(path);
    }
  }

  void close() {
    while (!work_.empty()) {
      const size_t op = work_.back();
      work_.pop_back();
      reach_from(operators_[op]);
    }
  }

  std::vector<std::string> finish() {
    for (size_t i = 0; i < operators_.size(); ++i) {
      const auto found = reached_from_.find(operator_of(i));
      operators_[i].selected = found != reached_from_.end();
      if (found != reached_from_.end()) operators_[i].reached_from = found->second;
    }
    std::vector<std::string> unused;
    for (const auto& [path, file] : files_) {
      const bool kernel = is_source(path) && in_folders(path, kKernelFolders);
      if (kernel && !visited_.contains(path)) unused.push_back(path);
    }
    return unused;
  }

 private:
  using Names = std::multimap<std::string, size_t>;

  void index(size_t i) {
    const ir::Entry& op = operators_[i];
    by_entry_[op.name] = i;
    for (const ir::Form& form : op.forms) {
      by_name_[form.schema_namespace + "::" + form.name +
               (form.overload.empty() ? "" : "." + form.overload)] = i;
      functions_.emplace(form.name, i);
      functions_.emplace(form.ident, i);
      if (form.return_type == "tenon::Tensor" || form.return_type == "tenon::Tensor&") {
        tensors_.functions.insert({form.name, form.ident});
      }
      if (!form.outs.empty()) functions_.emplace(form.name + "_out", i);
      if (form.method) methods_.emplace(form.name, i);
    }
  }

  /// Of an alias the operator that it is another name of.
  size_t operator_of(size_t i) const {
    return operators_[i].alias ? by_entry_.at(operators_[i].alias->name) : i;
  }

  void add_named(const Names& names, const std::string& name, const std::string& from) {
    const auto [begin, end] = names.equal_range(name);
    for (auto one = begin; one != end; ++one) add(one->second, from);
  }

  void reach_from(const ir::Entry& op) {
    for (const KernelDeclaration& declaration : op.declarations) {
      if (declaration.backend != "CUDA" || targets_.cuda) need_kernel(declaration.name);
    }
    const auto add_all = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names) add_named(functions_, name, op.name);
    };
    if (op.kernel && (op.kernel->masks != 0 || !op.kernel->draws.empty())) visit(kOfMixedResults);
    if (op.rowwise) {
      add_all(op.rowwise->operators);
      visit(kOfRows);
    }
    TensorNames names = tensors_;
    for (const ir::Argument& argument : op.forms[0].arguments) {
      if (argument.is_tensor || argument.is_optional_tensor) names.variables.insert(argument.name);
    }
    if (op.composition) {
      add_all(op.composition->operators);
      for (const ir::NamedText& local : op.composition->locals) {
        names.variables.insert(local.name);
        reach_from_code(local.text, names, op.name);
      }
      reach_from_code(op.composition->result, names, op.name);
      reach_from_code(op.composition->inplace, names, op.name);
      reach_from_code(op.composition->out, names, op.name);
      if (!op.composition->lists.empty()) visit(kOfLists);
      if (op.composition->calls_helpers) visit(kOfCompositions);
    }
    if (!op.node) return;
    add_all(op.node->operators);
    names.variables.insert({"grad", "result"});
    for (const ir::NodeFormula& formula : op.node->formulas)
      reach_from_code(formula.text, names, op.name);
    for (const ir::PointwiseGradient& gradient : op.node->pointwise)
      reach_from_code(gradient.text, names, op.name);
    if (op.node->forward) reach_from_tangents(*op.node->forward, std::move(names), op.name);
  }

  void reach_from_tangents(const ir::Forward& forward, TensorNames names, const std::string& from) {
    for (const ir::ForwardValue& value : forward.values) {
      if (value.is_result || value.type == "tenon::Tensor") names.variables.insert(value.name);
    }
    for (const ir::TangentFormula& formula : forward.formulas) {
      for (const ir::TangentTerm& term : formula.terms) {
        for (const ir::Tangent& tangent : term.tangents) names.variables.insert(tangent.name);
        reach_from_code(term.text, names, from);
      }
    }
  }

  /// Operators that a formula, or a composition, calls.
  void reach_from_code(const std::string& code, const TensorNames& names, const std::string& from) {
    const std::string text = code + ";";
    const SourceCalls calls = calls_of(text);
    for (const auto& name : calls.functions) add_named(functions_, name, from);
    for (const auto& name : calls.methods) add_named(methods_, name, from);
    for (const auto& name : tensor_operators(text, names)) add_named(functions_, name, from);
  }

  /// The kernel is called: what it calls is too.
  void need_kernel(const std::string& name) {
    const auto found = defined_in_.find(name);
    if (found == defined_in_.end() || !kernels_.insert(name).second) return;
    const std::string& path = found->second;
    visit(path);
    reach_from_text(path, files_.at(path).needed_by({name}));
  }

  /// The file is compiled, or included by one that is. Of a source of kernels, only those that are
  /// called lead to operators; but all its functions must find what they call in other files.
  void visit(const std::string& path) {
    const auto found = files_.find(path);
    if (found == files_.end() || !visited_.insert(path).second) return;
    const SourceText& file = found->second;
    for (const std::string& include : file.includes) visit(include);
    const SourceCalls calls = calls_of(file.text);
    for (const std::string& name : calls.kernels) {
      const auto place = defined_in_.find(name);
      if (place != defined_in_.end()) visit(place->second);
    }
    for (const std::string& name : calls.functions) {
      for (const std::string& source : definitions(name, file)) visit(source);
    }
    const bool of_kernels = std::any_of(file.functions.begin(), file.functions.end(),
                                        [](const SourceFunction& f) { return f.is_kernel; });
    if (!of_kernels) reach_from_text(path, file.text);
    const auto implemented = implemented_by_.find(path);
    if (implemented == implemented_by_.end()) return;
    for (const std::string& source : implemented->second) visit(source);
  }

  /// Sources that define the function, and share a header that may declare it with the file.
  std::set<std::string> definitions(const std::string& name, const SourceText& file) const {
    std::set<std::string> found;
    const auto add = [&](const std::string& path) {
      const auto& theirs = files_.at(path).includes;
      for (const std::string& header : file.includes) {
        const bool declares =
            in_folders(header, kKernelFolders) || header.rfind("tenon/native/", 0) == 0;
        if (declares && std::find(theirs.begin(), theirs.end(), header) != theirs.end()) {
          found.insert(path);
        }
      }
    };
    const auto [begin, end] = helpers_.equal_range(name);
    for (auto one = begin; one != end; ++one) add(one->second);
    if (const auto kernel = defined_in_.find(name); kernel != defined_in_.end()) {
      add(kernel->second);
    }
    return found;
  }

  void reach_from_text(const std::string& path, const std::string& text) {
    if (path == kTensorApi) return;
    const SourceCalls calls = calls_of(text);
    for (const std::string& include : files_.at(path).includes) {
      const std::string base = operator_of_header(include);
      if (base.empty()) continue;
      // Of the operators that the header declares, those that the text mentions.
      for (const std::string& name : calls.functions) {
        const auto [begin, end] = functions_.equal_range(name);
        for (auto one = begin; one != end; ++one) {
          if (operators_[one->second].base == base) add(one->second, path);
        }
      }
    }
    for (const std::string& name : calls.kernels) need_kernel(name);
    for (const std::string& name : calls.functions) {
      if (defined_in_.contains(name) && !definitions(name, files_.at(path)).empty()) {
        need_kernel(name);
      }
    }
    // Kernels of a device work on memory, the others on tensors.
    const bool composite =
        in_folders(path, {"aten/composite", "aten/conjugate", "aten/sparse", "autograd"});
    if (!composite) return;
    for (const std::string& name : calls.methods) add_named(methods_, name, path);
    if (!is_source(path)) return;
    TensorNames names = tensors_;
    std::vector<std::string> near = files_.at(path).includes;
    near.push_back(path);
    for (const std::string& one : near) {
      if (!files_.contains(one)) continue;
      add_functions(files_.at(one).text, names);
      add_members(files_.at(one).rest, names);
    }
    for (const auto& name : tensor_operators(text, names)) add_named(functions_, name, path);
  }

  std::vector<ir::Entry>& operators_;
  const Targets targets_;
  std::map<std::string, SourceText> files_;
  std::map<std::string, size_t> by_name_, by_entry_;
  Names functions_, methods_;
  // Besides operators: functions that tensor.h declares.
  TensorNames tensors_ = {{"cpu", "cuda", "data", "grad", "_base"}, {}, {}};
  std::map<std::string, std::string> defined_in_;                   // kernel to file
  std::multimap<std::string, std::string> helpers_;                 // other functions to files
  std::map<std::string, std::vector<std::string>> implemented_by_;  // header to sources
  std::map<size_t, std::string> reached_from_;
  std::set<std::string> visited_, kernels_;
  std::vector<size_t> work_;
};

std::string trimmed(std::string line) {
  line = line.substr(0, line.find('#'));
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && blank(line.back())) line.pop_back();
  size_t begin = 0;
  while (begin < line.size() && blank(line[begin])) ++begin;
  return line.substr(begin);
}

}  // namespace

std::vector<std::string> select_operators(std::vector<ir::Entry>& operators,
                                          const std::string& list, const std::string& root,
                                          const Targets& targets, DiagnosticSink& sink) {
  const SourceFile* file = sink.sources().open(list);
  if (!file) {
    sink.error({}, "cannot read the list of operators " + list);
    return {};
  }
  Selection selection(operators, root, targets);
  std::vector<std::string> known;
  for (const auto& [name, op] : selection.names()) known.push_back(name);
  for (uint32_t number = 1; number <= file->num_lines(); ++number) {
    const std::string name = trimmed(std::string(file->line(number)));
    if (name.empty()) continue;
    const bool plain = name.find("::") == std::string::npos;
    const std::string full = std::string(plain ? "aten::" : "").append(name);
    const auto found = selection.names().find(full);
    if (found == selection.names().end()) {
      sink.error({file, number, 1}, "there is no operator `" + name + "`",
                 schema::nearest(full, known));
      continue;
    }
    selection.add(found->second, "");
  }
  selection.add_core();
  selection.close();
  return selection.finish();
}

std::vector<std::string> selection_inputs(const std::string& root) {
  std::vector<std::string> paths;
  for (const auto& [path, file] : read_sources(root, all_folders())) {
    paths.push_back((std::filesystem::path(root) / path).string());
  }
  return paths;
}

}  // namespace tenon::codegen
