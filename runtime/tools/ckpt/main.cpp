#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "runtime/serialization/printable.h"
#include "runtime/tools/ckpt/commands.h"

namespace {

using namespace tenon::ckpt;

constexpr const char* kHelp = R"(usage: tenon-ckpt COMMAND [options] ARGUMENTS

Looks into checkpoints, checks, compares and converts them. Zip and legacy files of PyTorch,
safetensors files and sharded folders are told apart by their contents. Nothing in a file is executed.

  ls FILE             list the tensors and the other values
  show FILE NAME      one of them: dtype, shape, statistics, first elements
  verify FILE...      read everything and check sizes and checksums
  diff A B            what was added, removed or changed from A to B
  convert FROM TO     write a checkpoint in another format

Options:
  --json              print JSON
  --quiet             no progress bar and no notes
  --tolerance X       diff: take elements for equal that differ by at most X (default 0)
  --to FORMAT         convert: zip, legacy, safetensors or sharded. Default: safetensors for a name that
                      ends so, sharded for a folder, else zip
  --flatten           convert to safetensors or sharded: take the tensors of a nested value, under names
                      with dots, and leave out the rest
  --compact           convert to zip or legacy: of each storage only the part that tensors use
  --deflate LEVEL     convert to zip or sharded: compress, 1 (fast) to 9 (small)
  --sha256            convert to sharded: put the SHA-256 of each file into the index
  --help              this text

Exit status: 0 fine; 1 diff found differences or verify found damage; 2 it could not be done.
)";

struct Command {
  const char* name;
  Status (*run)(const Options&);
  size_t least, most;  ///< arguments
};

constexpr Command kCommands[] = {
    {"ls", list, 1, 1},   {"show", show, 2, 2},       {"verify", verify, 1, SIZE_MAX},
    {"diff", diff, 2, 2}, {"convert", convert, 2, 2},
};

[[noreturn]] void usage_error(const std::string& what) {
  std::fprintf(stderr, "tenon-ckpt: %s\nTry 'tenon-ckpt --help'.\n", what.c_str());
  std::exit(kTrouble);
}

/// A number that is all of `text`.
double number_of(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 0))
    usage_error(option + " needs a number that is not negative, got '" + text + "'");
  return number;
}

Options parse(int argc, char** argv, int from) {
  Options options;
  bool only_arguments = false;
  for (int i = from; i < argc; ++i) {
    const std::string text = argv[i];
    const auto value = [&] {
      if (i + 1 >= argc) usage_error(text + " needs a value");
      return std::string(argv[++i]);
    };
    if (only_arguments || !text.starts_with("-") || text == "-") {
      options.arguments.push_back(text);
    } else if (text == "--") {
      only_arguments = true;
    } else if (text == "--json") {
      options.json = true;
    } else if (text == "--quiet") {
      options.quiet = true;
    } else if (text == "--flatten") {
      options.flatten = true;
    } else if (text == "--compact") {
      options.compact = true;
    } else if (text == "--sha256") {
      options.sha256 = true;
    } else if (text == "--to") {
      options.to = value();
    } else if (text == "--tolerance") {
      options.tolerance = number_of(text, value());
    } else if (text == "--deflate") {
      const double level = number_of(text, value());
      if (level > 9 || level != static_cast<int>(level))
        usage_error("--deflate needs a level of 0 to 9");
      options.deflate = static_cast<int>(level);
    } else {
      usage_error("unknown option '" + text + "'");
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == "--") break;
    if (text == "--help" || text == "-h" || (i == 1 && text == "help")) {
      std::fputs(kHelp, stdout);
      return kFine;
    }
  }
  if (argc < 2) usage_error("a command is needed");
  for (const Command& command : kCommands) {
    if (std::string(argv[1]) != command.name) continue;
    const Options options = parse(argc, argv, 2);
    const size_t count = options.arguments.size();
    if (count < command.least || count > command.most)
      usage_error(std::string(command.name) + " got " + std::to_string(count) + " arguments");
    try {
      return command.run(options);
    } catch (const std::exception& error) {
      constexpr size_t kMessage = 2000;
      std::fprintf(stderr, "tenon-ckpt: %s\n",
                   tenon::serialization::printable(error.what(), kMessage).c_str());
      return kTrouble;
    }
  }
  usage_error("unknown command '" + std::string(argv[1]) + "'");
}
