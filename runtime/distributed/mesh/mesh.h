#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/distributed/socket.h"
#include "runtime/distributed/stores/store.h"

namespace tenon::distributed::detail {

/// A connection between every two ranks of a group, for small data that must not be late: the
/// header of each collective, messages between two ranks, and failures. The operating system closes
/// the connections of a process that ends, however it ends, and a thread of each rank listens all
/// the time. So the others know at once which rank has failed.
///
///     store   mesh/0, mesh/1, mesh/2 = address, port, nonce, process, host of the rank
///               ^ publish   | look_up
///               |           v
///             rank 0 <--- rank 1 <--- rank 2    A rank connects to every lower one and accepts
///               ^                       |       every higher one. It says hello first:
///               +-----------------------+       "tenon-mesh-1", nonce of the other, own rank.
///
///     frame   | bytes of the body, u32 | kind, u8 | number, u64 | body |
///
///     rank 0, any thread         kind, number       rank 1, the thread that runs listen()
///     exchange(n, body)     --- Exchange, n --->    peers_[0]: exchanged[n],    for exchange(n)
///     send(1, tag, body)    --- Message, tag -->    peers_[0]: messages[tag],   for receive(0,
///     tag) fail(text)            --- Failure ------->    tells all ranks as well, then
///     on_failure() ~Mesh()               --- Goodbye ------->    peers_[0]: gone, left Watch, in
///     listen()    --- Ping ---------->    answers with Pong, whatever rank 1 computes (killed) ---
///     end of file --->    no Goodbye before it: fails the group
class Mesh {
 public:
  /// Returns when all are connected. DistStoreError or DistNetworkError after the timeout.
  Mesh(Store& store, int rank, int size, Milliseconds timeout);
  /// Says goodbye: others may go on without this rank.
  ~Mesh();

  /// Called once, when the group has failed, on the thread that found out.
  void on_failure(std::function<void()> f);

  /// While it lives, the rank `peer`, or with -1 every other, is asked whether it lives. A process
  /// that does not answer for the seconds of TENON_HEARTBEAT_TIMEOUT (60; 0: never asked) is
  /// stopped or cut off, and fails the group; `what` names the operation that waits. A thread of
  /// its own answers, whatever the rank computes.
  class Watch {
   public:
    Watch(Mesh& mesh, int peer, const std::string& what);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    friend class Mesh;
    Mesh& mesh_;
    const int peer_;
    const std::string what_;
  };

  /// Sends `body` to all under the number and gives theirs, by rank. DistBackendError if the group
  /// fails, a rank has left, or some do not come in time, which fails the group; `what` names the
  /// operation.
  std::vector<std::string> exchange(uint64_t number, const std::string& body, Deadline deadline,
                                    Milliseconds timeout, const std::string& what);
  void send(int peer, uint64_t tag, const std::string& body, Deadline deadline,
            const std::string& what);
  /// The next message of the tag, from `peer` or, with -1, from any; sets `peer`.
  std::string receive(int& peer, uint64_t tag, Deadline deadline, Milliseconds timeout,
                      const std::string& what);
  /// The same if there is one already.
  std::optional<std::string> try_receive(int& peer, uint64_t tag);

  /// Fails the group, here and on all ranks: "rank 1: <text>".
  void fail(const std::string& text);
  bool failed() const;
  /// Throws DistBackendError if the group has failed.
  void throw_if_failed(const std::string& what) const;
  /// Waits a moment for news of what has broken a transfer, then asks all ranks whether they live,
  /// and throws.
  [[noreturn]] void throw_failure(const std::string& what, const std::string& otherwise);
  /// "rank 1 (process 4711 on host)".
  std::string describe(int rank) const;

 private:
  enum class Kind : uint8_t {
    Exchange = 1,
    Message = 2,
    Failure = 3,
    Goodbye = 4,
    Ping = 5,
    Pong = 6
  };
  struct Peer {
    Socket socket;
    std::string address, host, nonce;
    int port = 0;
    int process = 0;
    std::mutex writing;
    bool writable = true;
    std::string in;
    // Under mutex_:
    bool gone = false;          // nothing more will come
    bool told_failure = false;  // it knew that the group had failed
    bool left = false;          // it said goodbye, knowing of no failure
    std::string left_after;     // whose leaving it had met before, if any
    uint64_t heard = 0;         // how often something came from it
    uint64_t heard_when_asked = 0;
    int unanswered = 0;  // questions
    std::map<uint64_t, std::string> exchanged;
    std::map<uint64_t, std::deque<std::string>> messages;
  };

  void publish(Store& store, const Socket& listener);
  void look_up(Store& store, int rank, Deadline deadline, Milliseconds timeout);
  void accept_others(const Socket& listener, Deadline deadline, Milliseconds timeout);
  bool write(Peer& peer, Kind kind, uint64_t number, const std::string& body, Deadline deadline);
  void listen();
  /// False when nothing more will come.
  bool read(int rank);
  void take(int rank, Kind kind, uint64_t number, std::string body);
  /// Tells all ranks, and then this one: when anybody here can react to it, by leaving or ending,
  /// all others have heard the cause from this rank before they can see that. Only the first
  /// failure counts; returns when it is known.
  void spread_failure(const std::string& text);
  /// Asks those that are watched whether they live.
  void ask_watched();
  /// Those that are there and do not answer, as a stopped process.
  std::vector<int> silent_ranks();
  // With mutex_ locked:
  [[noreturn]] void throw_left(int rank, const std::string& what);
  [[noreturn]] void throw_incomplete(uint64_t number, const std::string& what);

  const int rank_;
  const int size_;
  const Milliseconds heartbeat_;  // 0: none
  std::vector<std::unique_ptr<Peer>> peers_;
  int stop_[2] = {-1, -1};
  std::atomic<bool> failing_{false};  // set before anybody is told: who writes gives up
  std::thread thread_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;
  std::string first_left_;  // the first leaving that made something fail here
  std::vector<const Watch*> watches_;
  std::function<void()> on_failure_;
};

}  // namespace tenon::distributed::detail
