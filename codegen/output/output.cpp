#include "codegen/output/output.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "codegen/ir/print.h"
#include "codegen/output/index.h"

namespace tenon::codegen {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

void write_file(const fs::path& path, const std::string& text) {
  const fs::path fresh = path.string() + ".new";
  {
    std::ofstream out(fresh, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write " + fresh.string());
  }
  fs::rename(fresh, path);
}

void write_if_changed(const fs::path& path, const std::string& text) {
  if (!fs::exists(path) || read_file(path) != text) write_file(path, text);
}

fs::path renderer_script(const OutputOptions& options) {
  return fs::path(options.templates).parent_path() / "render.py";
}

/// Everything besides the IR that the output depends on.
std::vector<fs::path> renderer_files(const OutputOptions& options) {
  std::vector<fs::path> files = {renderer_script(options)};
  for (const auto& entry : fs::recursive_directory_iterator(options.templates)) {
    if (entry.path().extension() == ".j2") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// FNV-1a, 64 bits, of the texts that the rendering depends on.
std::string fingerprint(const std::string& ir, const std::vector<fs::path>& renderer) {
  uint64_t hash = 14695981039346656037ull;
  const auto add = [&](const std::string& text) {
    for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  };
  add(ir);
  for (const auto& file : renderer) add(read_file(file));
  std::ostringstream text;
  text << std::hex << hash << "\n";
  return std::move(text).str();
}

/// Runs a program and waits for it; its exit status, or 127 when it could not be started.
int run_program(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const auto& part : command) argv.push_back(const_cast<char*>(part.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// Runs a script of Python; 1 if it failed.
int run_script(const std::string& python, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {python};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const int status = run_program(command);
  if (status == 127) {
    std::cerr << "tenonc: cannot run '" << python << "': give --python a Python 3 with Jinja2\n";
  }
  return status == 0 ? 0 : 1;
}

std::string escape_for_depfile(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (c == ' ' || c == '#') out += '\\';
    out += c;
  }
  return out;
}

/// The list for the build: OUT/sources.cmake.
std::string sources_cmake(const OutputOptions& options, const ir::Library& library) {
  const fs::path out = fs::absolute(options.out);
  std::string cpu, cuda, headers, python, python_files, optim;
  for (const ir::File& file : library.files) {
    const std::string line = "  \"" + (out / file.path).string() + "\"\n";
    const std::string extension = fs::path(file.path).extension();
    if (file.path.starts_with("python/")) {
      if (extension == ".cpp") python += line;
      if (extension == ".py") python_files += line;
      continue;
    }
    if (file.optimizer && extension == ".cpp") {
      optim += line;
      continue;
    }
    (extension == ".cpp" ? cpu : extension == ".cu" ? cuda : headers) += line;
  }
  std::string text = "set(TENON_GEN_CPU_SOURCES\n" + cpu + ")\nset(TENON_GEN_CUDA_SOURCES\n" +
                     cuda + ")\nset(TENON_GEN_HEADERS\n" + headers + ")\n";
  if (!python.empty()) text += "set(TENON_GEN_PYTHON_SOURCES\n" + python + ")\n";
  if (!optim.empty()) text += "set(TENON_GEN_OPTIM_SOURCES\n" + optim + ")\n";
  if (!python_files.empty()) text += "set(TENON_GEN_PYTHON_FILES\n" + python_files + ")\n";
  if (!library.unused_sources) return text;
  text += "set(TENON_UNUSED_SOURCES\n";
  for (const std::string& path : *library.unused_sources) text += "  \"" + path + "\"\n";
  return text + ")\n";
}

}  // namespace

void write_depfile(const std::string& path, const std::string& target,
                   const std::vector<std::string>& files) {
  std::string text = escape_for_depfile(target) + ":";
  for (const auto& file : files)
    text += " \\\n  " + escape_for_depfile(fs::absolute(file).string());
  write_if_changed(path, text + "\n");
}

int write_rendering(const OutputOptions& options, const Rendering& rendering) {
  const fs::path out(options.out);
  fs::create_directories(out);
  const std::string& text = rendering.ir;
  const auto renderer = renderer_files(options);
  const std::string print = fingerprint(text, renderer);
  const fs::path done = out / ".fingerprint";
  if (!fs::exists(done) || read_file(done) != print) {
    fs::remove(done);
    const fs::path ir_file = out / "ir.json";
    write_file(ir_file, text);
    if (run_script(options.python, {renderer_script(options).string(), ir_file.string(),
                                    options.templates, options.out}) != 0) {
      return 1;
    }
    write_file(done, print);
  }
  write_if_changed(out / "sources.cmake", rendering.sources_cmake);
  if (!options.depfile.empty()) {
    std::vector<std::string> files = rendering.inputs;
    for (const auto& file : renderer) files.push_back(file.string());
    write_depfile(options.depfile, options.stamp.empty() ? options.out : options.stamp, files);
  }
  if (!options.stamp.empty()) write_file(options.stamp, "");
  return 0;
}

int write_pages(const OutputOptions& options, const ir::Library& library) {
  const fs::path out(options.out);
  fs::create_directories(out);
  const fs::path ir_file = out / ".ir.json";
  write_file(ir_file, ir::print(library));
  const fs::path script = fs::path(options.templates).parent_path() / "pages" / "write_pages.py";
  // Without -B the folder of an installation would get compiled modules.
  const int status =
      run_script(options.python, {"-B", script.string(), ir_file.string(), options.out});
  fs::remove(ir_file);
  return status;
}

int write_output(const OutputOptions& options, const std::vector<std::string>& inputs,
                 const ir::Library& library) {
  fs::create_directories(options.out);
  write_if_changed(fs::path(options.out) / "index.txt", print_index(library));
  return write_rendering(options, {ir::print(library), sources_cmake(options, library), inputs});
}

}  // namespace tenon::codegen
