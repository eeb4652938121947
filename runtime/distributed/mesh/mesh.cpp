#include "runtime/distributed/mesh/mesh.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <list>
#include <random>
#include <sstream>

#include "runtime/distributed/interrupt.h"
#include "runtime/distributed/stores/store_map.h"

namespace tenon::distributed::detail {
namespace {

constexpr std::string_view kMagic = "tenon-mesh-1";
constexpr size_t kNonceSize = 16;
constexpr size_t kFrameHead = 4 + 1 + 8;  // bytes of the body, kind, number
constexpr auto kSlice = std::chrono::milliseconds(100);
// Within the heartbeat's time. They are counted, not time: this process may have been stopped
// itself.
constexpr int kQuestions = 6;

std::string random_nonce() {
  std::random_device device;
  std::string nonce;
  for (size_t i = 0; i < kNonceSize; ++i) nonce += "0123456789abcdef"[device() & 15];
  return nonce;
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name[0] ? name : "localhost";
}

std::string key_of(int rank) { return "mesh/" + std::to_string(rank); }

Milliseconds heartbeat_timeout() {
  const char* text = std::getenv("TENON_HEARTBEAT_TIMEOUT");
  if (!text) return std::chrono::seconds(60);
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  TENON_CHECK_VALUE(end != text && !*end && seconds >= 0 && seconds < 1e6,
                    "[init_process_group] expected TENON_HEARTBEAT_TIMEOUT to be a number of ",
                    "seconds, got '", text, "'");
  return Milliseconds(static_cast<int64_t>(seconds * 1000));
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

}  // namespace

Mesh::Mesh(Store& store, int rank, int size, Milliseconds timeout)
    : rank_(rank), size_(size), heartbeat_(heartbeat_timeout()) {
  const Deadline deadline = Clock::now() + timeout;
  for (int r = 0; r < size; ++r) peers_.push_back(std::make_unique<Peer>());
  const Socket listener = Socket::listen(store.local_address(), 0);
  publish(store, listener);
  for (int r = 0; r < rank; ++r) {
    look_up(store, r, deadline, timeout);
    Peer& peer = *peers_[r];
    peer.socket = Socket::connect(peer.address, peer.port, deadline);
    std::string hello(kMagic);
    hello += peer.nonce;
    put_u32(hello, static_cast<uint32_t>(rank));
    TENON_CHECK_AS(DistNetworkError, peer.socket.send_all(hello, deadline),
                   "[init_process_group] rank ", rank, " cannot greet ", describe(r));
  }
  accept_others(listener, deadline, timeout);
  for (int r = rank + 1; r < size; ++r) look_up(store, r, deadline, timeout);
  TENON_CHECK_AS(DistNetworkError, ::pipe2(stop_, O_CLOEXEC) == 0, "[init_process_group] no pipe");
  thread_ = std::thread([this] { listen(); });
}

Mesh::~Mesh() {
  const Deadline soon = Clock::now() + std::chrono::seconds(1);
  std::string after;
  {
    const std::lock_guard lock(mutex_);
    after = first_left_;
  }
  for (int r = 0; r < size_; ++r) {
    if (r != rank_) write(*peers_[r], Kind::Goodbye, 0, after, soon);
  }
  ::close(stop_[1]);
  thread_.join();
  ::close(stop_[0]);
}

void Mesh::publish(Store& store, const Socket& listener) {
  Peer& self = *peers_[rank_];
  self.nonce = random_nonce();
  self.host = host_name();
  self.process = static_cast<int>(::getpid());
  std::ostringstream text;
  text << store.local_address() << ' ' << listener.port() << ' ' << self.nonce << ' '
       << self.process << ' ' << self.host;
  store.set(key_of(rank_), text.str());
}

void Mesh::look_up(Store& store, int rank, Deadline deadline, Milliseconds timeout) {
  TENON_CHECK_AS(DistStoreError,
                 store.wait_for({key_of(rank)}, Milliseconds(milliseconds_until(deadline))),
                 "[init_process_group] rank ", rank_, " waited ", timeout.count(), " ms for rank ",
                 rank, " to join the group");
  std::istringstream text(store.get(key_of(rank)));
  Peer& peer = *peers_[rank];
  text >> peer.address >> peer.port >> peer.nonce >> peer.process >> peer.host;
  TENON_CHECK_AS(DistStoreError, !text.fail() && peer.nonce.size() == kNonceSize,
                 "[init_process_group] the store has no proper address of rank ", rank);
}

void Mesh::accept_others(const Socket& listener, Deadline deadline, Milliseconds timeout) {
  struct Guest {
    Socket socket;
    std::string hello;
  };
  const size_t hello_size = kMagic.size() + kNonceSize + 4;
  const std::string expected = std::string(kMagic) + peers_[rank_]->nonce;
  std::list<Guest> guests;
  while (true) {
    std::vector<int> missing;
    for (int r = rank_ + 1; r < size_; ++r) {
      if (!peers_[r]->socket.valid()) missing.push_back(r);
    }
    if (missing.empty()) return;
    std::vector<pollfd> entries{{listener.descriptor(), POLLIN, 0}};
    for (const Guest& guest : guests) entries.push_back({guest.socket.descriptor(), POLLIN, 0});
    ::poll(entries.data(), entries.size(),
           milliseconds_until(std::min(deadline, Clock::now() + kInterruptSlice)));
    check_interrupt();
    TENON_CHECK_AS(DistStoreError, Clock::now() < deadline, "[init_process_group] rank ", rank_,
                   " waited ", timeout.count(), " ms for ", ranks_text(missing),
                   " to join the group");
    for (auto it = guests.begin(); it != guests.end();) {
      char bytes[64];
      const ssize_t n = it->socket.receive_some(bytes, hello_size - it->hello.size());
      if (n > 0) it->hello.append(bytes, static_cast<size_t>(n));
      const size_t known = std::min(it->hello.size(), expected.size());
      if (n < 0 || it->hello.compare(0, known, expected, 0, known) != 0) {
        it = guests.erase(it);  // something else that tried the port
        continue;
      }
      if (it->hello.size() == hello_size) {
        const auto r = static_cast<int>(get_u32(it->hello.data() + expected.size()));
        if (r > rank_ && r < size_ && !peers_[r]->socket.valid())
          peers_[r]->socket = std::move(it->socket);
        it = guests.erase(it);
        continue;
      }
      ++it;
    }
    Socket guest = listener.accept();
    if (guest.valid()) guests.push_back({std::move(guest), {}});
  }
}

std::string Mesh::describe(int rank) const {
  const Peer& peer = *peers_[rank];
  return concat("rank ", rank, " (process ", peer.process, " on ", peer.host, ")");
}

bool Mesh::write(Peer& peer, Kind kind, uint64_t number, const std::string& body,
                 Deadline deadline) {
  std::string head;
  put_u32(head, static_cast<uint32_t>(body.size()));
  head += static_cast<char>(kind);
  put_u32(head, static_cast<uint32_t>(number));
  put_u32(head, static_cast<uint32_t>(number >> 32));
  const bool small = body.size() <= 4096;
  if (small) head += body;
  std::unique_lock lock(peer.writing, std::defer_lock);
  // The thread that listens must not wait for one that writes something long, which shows as well
  // that this rank lives.
  const bool may_wait = kind != Kind::Ping && kind != Kind::Pong;
  if (may_wait) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return false;
  }
  bool begun = false, blocked = false;
  const auto send = [&](std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = peer.socket.send_some(bytes);
      if (n < 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
      if (n > 0) {
        begun = true;
        if (!blocked) continue;
        // What was in the way has been read.
        const std::lock_guard guard(mutex_);
        ++peer.heard;
        continue;
      }
      blocked = true;
      if (Clock::now() >= deadline || (kind != Kind::Failure && failing_)) return false;
      if (!may_wait && !begun) return false;
      pollfd entry{peer.socket.descriptor(), POLLOUT, 0};
      ::poll(&entry, 1, static_cast<int>(kSlice.count()));
    }
    return true;
  };
  // After half a frame nothing more can be said on this connection.
  if (!peer.writable) return false;
  const bool sent = send(head) && (small || send(body));
  peer.writable = sent || !begun;
  return sent;
}

void Mesh::listen() {
  std::vector<int> open;
  for (int r = 0; r < size_; ++r) {
    if (r != rank_) open.push_back(r);
  }
  const Milliseconds interval = heartbeat_ / kQuestions + Milliseconds(1);
  Deadline next = Clock::now() + interval;
  while (true) {
    std::vector<pollfd> entries{{stop_[0], POLLIN, 0}};
    for (const int r : open) entries.push_back({peers_[r]->socket.descriptor(), POLLIN, 0});
    if (::poll(entries.data(), entries.size(),
               heartbeat_.count() > 0 ? milliseconds_until(next) : -1) < 0)
      continue;
    if (entries[0].revents) return;
    std::vector<int> still_open;
    for (size_t i = 0; i < open.size(); ++i) {
      if (!entries[i + 1].revents || read(open[i])) still_open.push_back(open[i]);
    }
    open = std::move(still_open);
    if (heartbeat_.count() > 0 && Clock::now() >= next) {
      ask_watched();
      next = Clock::now() + interval;
    }
  }
}

bool Mesh::read(int rank) {
  Peer& peer = *peers_[rank];
  char buffer[1 << 16];
  ssize_t n;
  while ((n = peer.socket.receive_some(buffer, sizeof buffer)) > 0) {
    peer.in.append(buffer, static_cast<size_t>(n));
    if (static_cast<size_t>(n) < sizeof buffer) break;
  }
  if (!peer.in.empty()) {
    const std::lock_guard lock(mutex_);
    ++peer.heard;
  }
  // What came before the end counts, a goodbye above all.
  size_t at = 0;
  while (peer.in.size() - at >= kFrameHead) {
    const char* head = peer.in.data() + at;
    const uint32_t size = get_u32(head);
    if (peer.in.size() - at - kFrameHead < size) {
      peer.in.reserve(at + kFrameHead + size);
      break;
    }
    const uint64_t number = get_u32(head + 5) | (uint64_t{get_u32(head + 9)} << 32);
    take(rank, static_cast<Kind>(head[4]), number, peer.in.substr(at + kFrameHead, size));
    at += kFrameHead + size;
  }
  peer.in.erase(0, at);
  if (n >= 0) return true;
  const auto said_goodbye = [&] {
    const std::lock_guard lock(mutex_);
    return peer.gone;
  };
  if (!said_goodbye())
    spread_failure(describe(rank) +
                   " has ended without leaving the group: it was killed, or it crashed");
  const std::lock_guard lock(mutex_);
  peer.gone = true;
  changed_.notify_all();
  return false;
}

void Mesh::take(int rank, Kind kind, uint64_t number, std::string body) {
  Peer& peer = *peers_[rank];
  if (kind == Kind::Ping) {
    write(peer, Kind::Pong, 0, {}, Clock::now() + kSlice);
    return;
  }
  if (kind == Kind::Failure) {
    {
      const std::lock_guard lock(mutex_);
      peer.told_failure = true;
    }
    spread_failure(body);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (kind == Kind::Exchange) peer.exchanged[number] = std::move(body);
  if (kind == Kind::Message) peer.messages[number].push_back(std::move(body));
  if (kind == Kind::Goodbye) {
    peer.gone = true;
    peer.left = !peer.told_failure;
    peer.left_after = std::move(body);
  }
  changed_.notify_all();
}

void Mesh::spread_failure(const std::string& text) {
  if (failing_.exchange(true)) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !failure_.empty(); });
    return;
  }
  const Deadline soon = Clock::now() + std::chrono::milliseconds(500);
  for (int r = 0; r < size_; ++r) {
    if (r != rank_) write(*peers_[r], Kind::Failure, 0, text, soon);
  }
  std::function<void()> f;
  {
    const std::lock_guard lock(mutex_);
    failure_ = text;
    f = on_failure_;
    changed_.notify_all();
  }
  if (f) f();
}

void Mesh::on_failure(std::function<void()> f) {
  const std::lock_guard lock(mutex_);
  on_failure_ = std::move(f);
}

void Mesh::fail(const std::string& text) { spread_failure(describe(rank_) + ": " + text); }

bool Mesh::failed() const {
  const std::lock_guard lock(mutex_);
  return !failure_.empty();
}

void Mesh::throw_if_failed(const std::string& what) const {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) raise<DistBackendError>("[", what, "] the group has failed: ", failure_);
}

void Mesh::throw_failure(const std::string& what, const std::string& otherwise) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(500), [&] { return !failure_.empty(); });
  }
  std::string text = "[" + what + "] " + otherwise;
  if (!failed()) {
    if (const std::vector<int> silent = silent_ranks(); !silent.empty())
      text += "; " + ranks_text(silent) + " did not answer: stopped, or cut off";
  }
  fail(text);
  throw_if_failed(what);
  std::abort();  // fail() has set a failure
}

std::vector<int> Mesh::silent_ranks() {
  std::vector<uint64_t> heard;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& peer : peers_) heard.push_back(peer->heard);
  }
  const Deadline soon = Clock::now() + std::chrono::seconds(1);
  for (int r = 0; r < size_; ++r) {
    if (r != rank_) write(*peers_[r], Kind::Ping, 0, {}, soon);
  }
  std::vector<int> silent;
  std::unique_lock lock(mutex_);
  for (int r = 0; r < size_; ++r) {
    Peer& peer = *peers_[r];
    if (r == rank_ || peer.gone) continue;
    if (!changed_.wait_until(lock, soon,
                             [&] { return peer.heard != heard[r] || !failure_.empty(); }))
      silent.push_back(r);
  }
  return silent;
}

Mesh::Watch::Watch(Mesh& mesh, int peer, const std::string& what)
    : mesh_(mesh), peer_(peer), what_(what) {
  const std::lock_guard lock(mesh_.mutex_);
  mesh_.watches_.push_back(this);
}

Mesh::Watch::~Watch() {
  const std::lock_guard lock(mesh_.mutex_);
  std::erase(mesh_.watches_, this);
}

void Mesh::ask_watched() {
  std::vector<int> asked;
  std::string failure;
  {
    const std::lock_guard lock(mutex_);
    for (int r = 0; r < size_ && failure.empty(); ++r) {
      Peer& peer = *peers_[r];
      if (r == rank_ || peer.gone) continue;
      const auto watch = std::find_if(watches_.begin(), watches_.end(), [&](const Watch* w) {
        return w->peer_ < 0 || w->peer_ == r;
      });
      if (watch == watches_.end() || peer.heard != peer.heard_when_asked) peer.unanswered = 0;
      if (watch == watches_.end()) continue;
      if (peer.unanswered == kQuestions)
        failure = concat("[", (*watch)->what_, "] ", describe(r), " has not answered for ",
                         heartbeat_.count(), " ms: its process is stopped, or cut off");
      ++peer.unanswered;
      peer.heard_when_asked = peer.heard;
      asked.push_back(r);
    }
  }
  if (!failure.empty()) return fail(failure);
  for (const int r : asked) write(*peers_[r], Kind::Ping, 0, {}, Clock::now() + kSlice);
}

void Mesh::throw_left(int rank, const std::string& what) {
  // A rank that has left because another had is not the cause.
  const std::string& after = peers_[rank]->left_after;
  const std::string text = after.empty() ? describe(rank) + " has left the group" : after;
  if (first_left_.empty()) first_left_ = text;
  raise<DistBackendError>("[", what, "] ", text);
}

void Mesh::throw_incomplete(uint64_t number, const std::string& what) {
  // Who left knowing of no failure did not leave because of one; but a failure can be another
  // rank's answer to that.
  for (int r = 0; r < size_; ++r) {
    if (peers_[r]->left && !peers_[r]->exchanged.contains(number)) throw_left(r, what);
  }
  raise<DistBackendError>("[", what, "] the group has failed: ", failure_);
}

std::vector<std::string> Mesh::exchange(uint64_t number, const std::string& body, Deadline deadline,
                                        Milliseconds timeout, const std::string& what) {
  throw_if_failed(what);
  for (int r = 0; r < size_; ++r) {
    // A write that fails is explained by what is read.
    if (r != rank_) write(*peers_[r], Kind::Exchange, number, body, deadline);
  }
  std::vector<std::string> bodies(static_cast<size_t>(size_));
  bodies[rank_] = body;
  std::vector<int> missing;
  {
    std::unique_lock lock(mutex_);
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      Peer& peer = *peers_[r];
      const bool came = changed_.wait_until(lock, deadline, [&] {
        return peer.exchanged.contains(number) || peer.gone || !failure_.empty();
      });
      const auto found = peer.exchanged.find(number);
      if (found != peer.exchanged.end()) {
        bodies[r] = std::move(found->second);
        peer.exchanged.erase(found);
      } else if (!came) {
        missing.push_back(r);
      } else {
        throw_incomplete(number, what);
      }
    }
  }
  if (!missing.empty()) {
    fail(concat("[", what, "] waited ", timeout.count(), " ms for ", ranks_text(missing)));
    throw_if_failed(what);
  }
  return bodies;
}

void Mesh::send(int peer, uint64_t tag, const std::string& body, Deadline deadline,
                const std::string& what) {
  throw_if_failed(what);
  const Watch watch(*this, peer, what);
  if (write(*peers_[peer], Kind::Message, tag, body, deadline)) return;
  throw_if_failed(what);
  {
    const std::lock_guard lock(mutex_);
    if (peers_[peer]->left) throw_left(peer, what);
  }
  throw_failure(what, "could not reach " + describe(peer) + " in time");
}

std::optional<std::string> Mesh::try_receive(int& peer, uint64_t tag) {
  const std::lock_guard lock(mutex_);
  for (int r = 0; r < size_; ++r) {
    if (r == rank_ || (peer >= 0 && r != peer)) continue;
    const auto found = peers_[r]->messages.find(tag);
    if (found == peers_[r]->messages.end()) continue;
    std::string body = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) peers_[r]->messages.erase(found);
    peer = r;
    return body;
  }
  return std::nullopt;
}

std::string Mesh::receive(int& peer, uint64_t tag, Deadline deadline, Milliseconds timeout,
                          const std::string& what) {
  const Watch watch(*this, peer, what);
  while (true) {
    if (auto body = try_receive(peer, tag)) return std::move(*body);
    throw_if_failed(what);
    std::unique_lock lock(mutex_);
    bool all_gone = true;
    for (int r = 0; r < size_; ++r) {
      if (r == rank_ || (peer >= 0 && r != peer)) continue;
      if (peers_[r]->messages.contains(tag)) all_gone = false;
      if (!peers_[r]->gone) all_gone = false;
    }
    if (all_gone && peer >= 0 && failure_.empty()) throw_left(peer, what);
    if (all_gone && !failure_.empty()) continue;
    TENON_CHECK_AS(DistBackendError, !all_gone, "[", what, "] all other ranks have left the group");
    TENON_CHECK_AS(DistBackendError, Clock::now() < deadline, "[", what, "] waited ",
                   timeout.count(), " ms for a message with tag ", tag, " from ",
                   peer < 0 ? std::string("any rank") : describe(peer));
    const auto ready = [&] {
      if (!failure_.empty()) return true;
      for (int r = 0; r < size_; ++r) {
        if (r != rank_ && (peer < 0 || r == peer) &&
            (peers_[r]->gone || peers_[r]->messages.contains(tag)))
          return true;
      }
      return false;
    };
    // With any source, one that has gone must not keep this awake all the time.
    if (peer < 0) {
      changed_.wait_until(lock, std::min(deadline, Clock::now() + kInterruptSlice));
    } else {
      changed_.wait_until(lock, std::min(deadline, Clock::now() + kInterruptSlice), ready);
    }
    lock.unlock();
    check_interrupt();
  }
}

}  // namespace tenon::distributed::detail
