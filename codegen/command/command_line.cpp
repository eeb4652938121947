#include "codegen/command/command_line.h"

#include <map>

#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

using Setter = void (*)(CommandLine&, const std::string&);

template <std::string CommandLine::*member>
void set(CommandLine& line, const std::string& value) {
  line.*member = value;
}

template <std::vector<std::string> CommandLine::*member>
void append(CommandLine& line, const std::string& value) {
  (line.*member).push_back(value);
}

void set_dialect(CommandLine& line, const std::string& value) {
  if (value != "tenon" && value != "upstream") {
    throw UsageError{"--dialect must be tenon or upstream, got '" + value + "'"};
  }
  line.dialect = value == "upstream" ? Dialect::kUpstream : Dialect::kTenon;
}

void set_format(CommandLine& line, const std::string& value) {
  const auto format = report_format_from(value);
  if (!format) throw UsageError{"--format must be text, json or sarif, got '" + value + "'"};
  line.format = *format;
}

void set_target(CommandLine& line, const std::string& value) {
  static const std::map<std::string, OutputTarget> targets = {
      {"c", OutputTarget::kC}, {"torch", OutputTarget::kTorch}, {"stable", OutputTarget::kStable}};
  const auto found = targets.find(value);
  if (found == targets.end())
    throw UsageError{"--target must be c, torch or stable, got '" + value + "'"};
  line.target = found->second;
}

void add_fused_dtype(CommandLine& line, const std::string& value) {
  if (value != "Float" && value != "Double" && value != "Half" && value != "BFloat16")
    throw UsageError{"--fused-dtype must be Float, Double, Half or BFloat16, got '" + value + "'"};
  line.fused_dtypes.push_back(value);
}

void set_backends(CommandLine& line, const std::string& value) {
  line.targets.cuda = value.find("CUDA") != std::string::npos;
}

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = {
      {"--native", append<&CommandLine::native>},
      {"--derivatives", append<&CommandLine::derivatives>},
      {"--base", append<&CommandLine::base>},
      {"--backend", set<&CommandLine::backend>},
      {"--header", set<&CommandLine::header>},
      {"--modules", set<&CommandLine::modules>},
      {"--optimizers", set<&CommandLine::optimizers>},
      {"--operators", set<&CommandLine::selected>},
      {"--root", set<&CommandLine::root>},
      {"--kernels", append<&CommandLine::kernels>},
      {"--target", set_target},
      {"--tags", set<&CommandLine::tags>},
      {"--out", set<&CommandLine::out>},
      {"--templates", set<&CommandLine::templates>},
      {"--python", set<&CommandLine::python>},
      {"--depfile", set<&CommandLine::depfile>},
      {"--stamp", set<&CommandLine::stamp>},
      {"--dialect", set_dialect},
      {"--format", set_format},
      {"--backends", set_backends},
      {"--fused-dtype", add_fused_dtype},
  };
  return table;
}

Setter find_setter(const std::string& option) {
  const auto found = setters().find(option);
  if (found != setters().end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, setter] : setters()) names.push_back(name);
  const std::string near = schema::nearest(option, names);
  throw UsageError{"unknown option " + option +
                   (near.empty() ? "\n\n" + usage() : "; did you mean '" + near + "'?")};
}

}  // namespace

std::string usage() {
  return R"(tenonc: Tenon's operator generator

  tenonc check   OPTIONS             report every mistake in the YAML files
  tenonc gen     OPTIONS --out DIR   write the C++ sources that follow from them
  tenonc check-kernels OPTIONS       report hand-written kernels that are missing
  tenonc explain OPTIONS NAME        what follows from an entry: an operator's, an
                                     optimizer's, with --modules a module's
  tenonc ir      OPTIONS             print the intermediate representation as JSON
  tenonc docs    FILES --out DIR     write a page for each operator in Markdown, and an index
  tenonc modules FILE OPTIONS        check modules.yaml; with --out DIR write the classes
  tenonc diff    OLD NEW             what a new version of operators breaks: files, or folders of
                                     YAML files; exit status 1 when it breaks something
  tenonc fmt     [--check] FILES     write YAML files in their one form; --check only says which
                                     are not
  tenonc schema  KIND                JSON Schema for editors; KIND is native_functions (with --tags
                                     it knows the tags), derivatives, tags, backend,
                                     modules or optimizers

Options
  --native FILE        operators (may be repeated)
  --derivatives FILE   derivative formulas (may be repeated)
  --tags FILE          the list of known tags
  --optimizers FILE    optimizers whose steps call the operators (check, explain, gen, ir)
  --base FILE          operators that exist already, for a library of your own
  --header PATH        with --base: the header that includes all others; NAME.h of the first
                       --native NAME.yaml without it (gen)
  --modules FILE       Tenon's modules.yaml, for modules of your own: their namespace is the name
                       of their file (modules); the modules that explain knows (explain)
  --target NAME        with --base: only the kernels of `pointwise` and `rowwise` entries, and no
                       run time: c (functions with a C signature), torch (an extension) or stable
                       (a library that serves several releases) (gen)
  --backend FILE       kernels of a device outside the library, for operators of --base
  --operators FILE     build only the operators that FILE lists, and what they reach (with --root)
  --root DIR           folder of the hand-written sources, for --operators
  --dialect NAME       tenon (default) or upstream
  --backends LIST      CPU or CPU,CUDA
  --fused-dtype NAME   with --base: Float, Double, Half or BFloat16, that the fused kernels of
                       compositions are for; without it all of them (may be repeated)
  --format NAME        of the messages: text (default, on standard error), json or sarif (a document
                       on standard output; on standard error for explain and ir)
  --out PATH           folder of the generated files (gen, docs), file to write (schema)
  --kernels PATH       a kernel source, or a folder of them (check, check-kernels; may be repeated)
  --templates DIR      Jinja2 templates (gen, docs); an installed tenonc finds them, --base and
                       --tags for docs
  --python PROGRAM     a Python that has Jinja2 (gen, docs)
  --python-module      also write the sources and stubs of Python's module (gen)
  --depfile FILE       dependencies of this run for Ninja (gen, check-kernels)
  --stamp FILE         touched when done (gen, check-kernels)

Exit status: 0 when all is well, 1 when the files have errors, 2 when the command line has, 3 for an
error of tenonc itself.
)";
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  if (arguments.empty()) throw UsageError{"expected a command\n\n" + usage()};
  line.verb = arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with("--")) {
      line.operands.push_back(argument);
      continue;
    }
    if (argument == "--check") {
      line.check = true;
      continue;
    }
    if (argument == "--python-module") {
      line.python_module = true;
      continue;
    }
    const size_t equal = argument.find('=');
    const std::string option = argument.substr(0, equal);
    const Setter setter = find_setter(option);
    if (equal != std::string::npos) {
      setter(line, argument.substr(equal + 1));
    } else if (++i == arguments.size()) {
      throw UsageError{"option " + option + " needs a value"};
    } else {
      setter(line, arguments[i]);
    }
  }
  return line;
}

}  // namespace tenon::codegen
