#include "runtime/hub/trust.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>

#include "runtime/hub/directory.h"
#include "runtime/hub/file_lock.h"
#include "runtime/serialization/io/byte_sink.h"

namespace tenon::hub {
namespace {

std::string list_path() { return get_dir() + "/trusted_list"; }

std::string read_list() {
  std::ifstream in(list_path(), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

bool lists(const std::string& text, const std::string& id) {
  return ("\n" + text).find("\n" + id + "\n") != std::string::npos;
}

void add_to_list(const std::string& id, const std::function<void()>& check_interrupt) {
  make_folder(get_dir());
  const FileLock lock(list_path() + ".lock", {}, check_interrupt);
  const std::string text = read_list();
  if (lists(text, id)) return;
  serialization::FileSink file(list_path());
  const std::string longer = text + id + "\n";
  file.write(longer.data(), longer.size());
  file.commit();
}

bool ask_on_terminal(const std::string& question) {
  if (!::isatty(STDIN_FILENO) || !::isatty(STDERR_FILENO)) return false;
  std::fputs((question + " (y/N) ").c_str(), stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

void check_trust(const std::string& repository, const std::string& id, bool cached,
                 const RepositoryOptions& options) {
  // A cache that cannot be written serves those it trusts.
  const bool trusted = cached || lists(read_list(), id);
  if (options.trust_repo != TrustRepo::No && trusted) return;
  if (options.trust_repo != TrustRepo::Yes) {
    const std::string question =
        "hub: files of the repository " + repository + " will be downloaded. Do you trust it?";
    TENON_CHECK(
        options.ask ? options.ask(question) : ask_on_terminal(question),
        "[hub] Untrusted repository. ", repository,
        " is not to be downloaded: the answer "
        "was no, or there is no terminal to ask on. To trust it, pass TrustRepo::Yes, or add "
        "the line ",
        id, " to ", list_path());
  }
  if (!trusted) add_to_list(id, options.download.check_interrupt);
}

}  // namespace tenon::hub
