#include "codegen/load/load_backend.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/meaning/cpp_names.h"
#include "codegen/model/keys.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/suggest.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen {
namespace {

using detail::Reader;

class BackendLoader {
 public:
  /// Without `base`, the form alone is looked at.
  BackendLoader(const Model* base, DiagnosticSink& sink)
      : base_(base), sink_(sink), reader_(sink) {}

  BackendKernels load(const YamlNode& root) {
    std::set<std::string> given;
    reader_.map(root, [&](const LocatedName& key, const YamlNode&, const YamlNode& value) {
      given.insert(key.text);
      if (key.text == "backend") {
        backend(reader_.name(value, "`backend`"));
      } else if (key.text == "cpp_namespace") {
        cpp_namespace(reader_.name(value, "`cpp_namespace`"));
      } else if (key.text == "supported") {
        for (const LocatedName& name : reader_.names(value, "`supported`")) supported(name);
      } else {
        const RuleScope scope(sink_, "known_key");
        sink_.error(key.location, "unknown key `" + key.text + "`",
                    schema::nearest(key.text, {"backend", "cpp_namespace", "supported"}));
      }
    });
    for (const KeyInfo& key : entry_keys(FileKind::kBackend)) {
      if (given.contains(std::string(key.name))) continue;
      const RuleScope scope(sink_, "missing_key");
      sink_.error(root.location, "a backend's file needs `" + std::string(key.name) + "`");
    }
    return std::move(kernels_);
  }

 private:
  void backend(const std::optional<LocatedName>& name) {
    if (!name || !reader_.word(*name, external_backends(), "backend")) return;
    kernels_.backend = name->text;
  }

  void cpp_namespace(const std::optional<LocatedName>& name) {
    if (!name) return;
    const std::string& text = name->text;
    const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) ||
        !std::all_of(text.begin(), text.end(), allowed) || text == "tenon") {
      const RuleScope scope(sink_, "value_form");
      sink_.error(name->location,
                  "`cpp_namespace` must be a C++ name of your own, got `" + text + "`");
      return;
    }
    kernels_.cpp_namespace = text;
  }

  void supported(const LocatedName& name) {
    const RuleScope scope(sink_, "backend_operators");
    const auto [before, fresh] = seen_.emplace(name.text, name.location);
    if (!fresh) {
      sink_.report({Severity::kError,
                    name.location,
                    "`" + name.text + "` is given twice",
                    {{before->second, "the first is here"}},
                    {}});
      return;
    }
    if (base_ == nullptr) return;
    const OperatorRef* ref = base_->find(name.text);
    if (!ref) {
      std::vector<std::string> known;
      for (const Operator& op : base_->operators()) known.push_back(op.name());
      sink_.error(name.location, "there is no operator `" + name.text + "`",
                  schema::nearest(name.text, known));
      return;
    }
    const Operator& op = base_->op(*ref);
    if (ref->variant != 0) {
      sink_.error(name.location, "`" + name.text + "` follows from `" + op.name() +
                                     "`, whose kernel serves all its forms: name that");
      return;
    }
    if (op.is_composite()) {
      sink_.report({Severity::kError,
                    name.location,
                    "`" + name.text +
                        "` is composite: it runs on every backend, through the "
                        "operators that it calls",
                    {{op.location, "it is declared here"}},
                    {}});
      return;
    }
    kernels_.supported.push_back({name, ref->op});
  }

  const Model* base_;
  DiagnosticSink& sink_;
  Reader reader_;
  BackendKernels kernels_;
  std::map<std::string, Location> seen_;
};

bool is_backend_map(const YamlNode& root, DiagnosticSink& sink) {
  if (root.is_map()) return true;
  const RuleScope scope(sink, "value_form");
  sink.error(root.location, "the file must be a map with the keys `backend`, `cpp_namespace` and "
                            "`supported`, got " +
                                std::string(root.describe()));
  return false;
}

}  // namespace

std::optional<BackendKernels> load_backend(const std::string& path, const Model& base,
                                           DiagnosticSink& sink) {
  const SourceFile* file = sink.sources().open(path);
  if (!file) {
    const RuleScope scope(sink, "unreadable_file");
    sink.error({}, "cannot read `" + path + "`");
    return std::nullopt;
  }
  const YamlPtr root = parse_yaml(*file, sink);
  if (!root || !is_backend_map(*root, sink)) return std::nullopt;
  BackendKernels kernels = BackendLoader(&base, sink).load(*root);
  kernels.file = path;
  return kernels;
}

void check_backend_form(const YamlNode& root, DiagnosticSink& sink) {
  if (is_backend_map(root, sink)) BackendLoader(nullptr, sink).load(root);
}

}  // namespace tenon::codegen
