#include "runtime/fusion/build.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "aten/dispatch/load_library.h"
#include "runtime/fusion/composition_text.h"
#include "runtime/fusion/process.h"

namespace tenon::fusion {
namespace {

namespace fs = std::filesystem;

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  TENON_CHECK(file, "[fuse] cannot read ", path.string());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  TENON_CHECK(file, "[fuse] cannot write ", path.string());
}

/// The file that holds the function.
template <class Function>
fs::path library_of(Function* function) {
  Dl_info info{};
  TENON_CHECK(dladdr(reinterpret_cast<const void*>(function), &info) && info.dli_fname,
              "[fuse] cannot find Tenon's libraries");
  return fs::absolute(info.dli_fname);
}

fs::path cache_folder() {
  std::string base = from_environment("TENON_CACHE_DIR");
  if (base.empty()) {
    base = from_environment("XDG_CACHE_HOME");
    base = (base.empty() ? from_environment("HOME") + "/.cache" : base) + "/tenon";
  }
  return fs::path(base) / "fused";
}

/// What tells one version of a file from another.
std::string stamp(const std::string& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  return path + " " + std::to_string(fs::file_size(path, error)) + " " + std::to_string(time);
}

/// The stamps of the files that the generator reads, in the order of their names.
std::string generator_stamps(const BuildTools& tools) {
  std::vector<std::string> files = {tools.tenonc, tools.native_functions, tools.tags,
                                    (fs::path(tools.templates).parent_path() / "render.py")};
  for (const fs::directory_entry& one : fs::recursive_directory_iterator(tools.templates)) {
    if (one.is_regular_file()) files.push_back(one.path());
  }
  std::sort(files.begin(), files.end());
  std::string stamps;
  for (const std::string& file : files) stamps += stamp(file) + "\n";
  return stamps;
}

/// Kernels are compiled for this processor: another one does not load them.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags") || line.starts_with("Features")) return line;
  }
  return "";
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

/// Removes the folders of builds that were killed.
void remove_abandoned(const fs::path& cache) {
  std::error_code error;
  const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (const fs::directory_entry& one : fs::directory_iterator(cache, error)) {
    const bool is_folder = one.path().filename().string().starts_with("tmp");
    if (is_folder && one.last_write_time(error) < yesterday) fs::remove_all(one.path(), error);
  }
}

/// A folder that goes with the scope.
class BuildFolder {
 public:
  explicit BuildFolder(const fs::path& within) {
    std::error_code error;
    fs::create_directories(within, error);
    remove_abandoned(within);
    std::string name = (within / "tmpXXXXXX").string();
    TENON_CHECK(mkdtemp(name.data()), "[fuse] cannot write to ", within.string(),
                ", where kernels are kept (TENON_CACHE_DIR names another folder)");
    path_ = name;
  }
  ~BuildFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Generates and compiles an entry in a folder.
class Build {
 public:
  Build(const BuildTools& tools, const fs::path& folder) : tools_(tools), folder_(folder) {
    flags_ = words(tools.compiler);
    for (const char* flag :
         {"-std=c++20", "-O2", "-fPIC", "-march=native", "-ffp-contract=off",
          "-DHWY_COMPILE_ONLY_STATIC", "-DNDEBUG", "-fno-math-errno", "-fno-trapping-math", "-w"})
      flags_.emplace_back(flag);
    flags_.push_back("-I" + (folder / "gen").string());
    for (const std::string& one : tools.include) flags_.push_back("-I" + one);
  }

  fs::path run(const std::string& yaml, const std::vector<ScalarType>& dtypes) {
    generate(yaml, dtypes);
    compile();
    return link();
  }

 private:
  std::string log(const std::string& name) const { return (folder_ / (name + ".log")).string(); }

  void generate(const std::string& yaml, const std::vector<ScalarType>& dtypes) {
    write(folder_ / "fused.yaml", yaml);
    Command command = {tools_.tenonc, "gen",
                       "--native",    (folder_ / "fused.yaml").string(),
                       "--base",      tools_.native_functions,
                       "--tags",      tools_.tags,
                       "--templates", tools_.templates,
                       "--python",    tools_.python,
                       "--out",       (folder_ / "gen").string()};
    for (const ScalarType dtype : dtypes) {
      command.emplace_back("--fused-dtype");
      command.emplace_back(to_string(dtype));
    }
    Processes processes("[fuse] the generator refuses the composition\n" + yaml);
    processes.start(command, log("gen"));
    processes.wait();
  }

  /// The generator's sources: kernels apart, and all others, which have the same headers, in one.
  std::vector<std::string> sources() const {
    const std::string listing = contents(folder_ / "gen" / "sources.cmake");
    const size_t begin = listing.find("set(TENON_GEN_CPU_SOURCES\n");
    const size_t end = listing.find(')', begin + 1);
    std::vector<std::string> kernels;
    std::string others;
    for (size_t at = listing.find('"', begin); at < end; at = listing.find('"', at + 1)) {
      const size_t close = listing.find('"', at + 1);
      const std::string path = listing.substr(at + 1, close - at - 1);
      at = close;
      if (fs::path(path).parent_path().filename() == "gen") {
        others += "#include \"" + path + "\"\n";
      } else {
        kernels.push_back(path);
      }
    }
    write(folder_ / "gen" / "operators.cpp", others);
    kernels.push_back((folder_ / "gen" / "operators.cpp").string());
    return kernels;
  }

  void compile() {
    Processes processes("[fuse] a fused kernel does not compile",
                        std::max(std::thread::hardware_concurrency(), 1u));
    for (const std::string& source : sources()) {
      Command command = flags_;
      objects_.push_back((folder_ / (std::to_string(objects_.size()) + ".o")).string());
      command.insert(command.end(), {"-c", source, "-o", objects_.back()});
      processes.start(command, log(std::to_string(objects_.size())));
    }
    processes.wait();
  }

  fs::path link() const {
    const fs::path library = folder_ / "fused.so";
    Command command = words(tools_.compiler);
    command.insert(command.end(), {"-shared", "-o", library.string()});
    command.insert(command.end(), objects_.begin(), objects_.end());
    command.push_back(tools_.library);
    command.push_back("-Wl,-rpath," + fs::path(tools_.library).parent_path().string());
    Processes processes("[fuse] the fused kernels cannot be linked");
    processes.start(command, log("link"));
    processes.wait();
    return library;
  }

  const BuildTools& tools_;
  const fs::path folder_;
  std::vector<std::string> flags_, objects_;
};

}  // namespace

BuildTools BuildTools::find() {
  const fs::path file = library_of(&build_library).parent_path() / "tenon_build_paths.txt";
  BuildTools tools;
  std::istringstream lines(contents(file));
  for (std::string line; std::getline(lines, line);) {
    const size_t sign = line.find('=');
    if (sign == std::string::npos) continue;
    const std::string key = line.substr(0, sign), value = line.substr(sign + 1);
    const auto path = [&] { return (file.parent_path() / value).lexically_normal().string(); };
    if (key == "tenonc") tools.tenonc = path();
    if (key == "templates") tools.templates = path();
    if (key == "native_functions") tools.native_functions = path();
    if (key == "tags") tools.tags = path();
    if (key == "include") tools.include.push_back(path());
    if (key == "python") tools.python = value;
    if (key == "compiler") tools.compiler = value;
  }
  tools.library = fs::canonical(library_of(&load_library)).string();
  if (const std::string given = from_environment("CXX"); !given.empty()) {
    tools.compiler = given;
  } else if (!fs::exists(tools.compiler)) {
    tools.compiler = "c++";
  }
  for (const std::string& path :
       {tools.tenonc, tools.templates, tools.native_functions, tools.tags})
    TENON_CHECK(fs::exists(path), "[fuse] ", path,
                " is missing, which builds kernels: install Tenon again");
  return tools;
}

std::string library_key(const BuildTools& tools, const std::string& yaml,
                        const std::vector<ScalarType>& dtypes) {
  static const std::string machine = processor();
  std::string key = yaml;
  for (const ScalarType dtype : dtypes) key += std::string("\n") + to_string(dtype);
  for (const std::string& part :
       {generator_stamps(tools), stamp(tools.library), tools.compiler, machine,
        from_environment("CPATH"), from_environment("CPLUS_INCLUDE_PATH")})
    key += "\n" + part;
  return digest(key);
}

std::string build_library(const std::string& yaml, const std::vector<ScalarType>& dtypes,
                          const std::string& python) {
  BuildTools tools = BuildTools::find();
  if (!python.empty()) tools.python = python;
  const fs::path cache = cache_folder(),
                 library = cache / (library_key(tools, yaml, dtypes) + ".so");
  if (fs::exists(library)) return library.string();
  const BuildFolder folder(cache);
  // Under its name it is complete, whoever else builds it meanwhile.
  fs::rename(Build(tools, folder.path()).run(yaml, dtypes), library);
  return library.string();
}

}  // namespace tenon::fusion
