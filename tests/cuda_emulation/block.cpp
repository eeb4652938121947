// Runs a kernel: its blocks one after another, the threads of a block as fibers that change places
// where one waits for others.
#include <boost/context/detail/fcontext.hpp>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <sstream>

#include "tests/cuda_emulation/emulator.h"

namespace cuda_emulation {
namespace {

namespace context = boost::context::detail;

constexpr size_t kStack = size_t{128} << 10;
constexpr int kWarp = 32;

struct Trap {};

struct Fiber {
  context::fcontext_t at = nullptr;
  char* stack = nullptr;  // its lowest page is closed
};

enum class State : uint8_t { New, Running, AtBarrier, AtMeeting, Done };

struct Thread {
  State state = State::New;
  Fiber* fiber = nullptr;
  const void* site = nullptr;  ///< of the barrier
  unsigned mask = 0;           ///< of the meeting
  size_t size = 0;
  uint32_t barriers = 0, meetings = 0;
  alignas(16) unsigned char value[16];
  alignas(16) unsigned char received[kWarp * 16];
};

struct Run {
  const Launch* launch = nullptr;
  Schedule schedule = Schedule::Forward;
  int device = 0;
  std::vector<Thread> threads;
  std::vector<int> order;  ///< in which threads start
  size_t started = 0;
  int current = -1;
  uint32_t block = 0;
  bool trapped = false;
  context::fcontext_t scheduler = nullptr;
  const void* scheduler_stack = nullptr;
  size_t scheduler_bytes = 0;
};

Run run;
std::vector<Fiber*>& idle = *new std::vector<Fiber*>;
std::vector<Fiber*>& fibers = *new std::vector<Fiber*>;  // all, those that a trap left behind too
thread_local bool launching = false;

uint3 index_of(uint32_t i, const dim3& size) {
  return {i % size.x, i / size.x % size.y, i / size.x / size.y};
}
std::string text(const uint3& at) {
  return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) +
         ")";
}
std::string text(const dim3& at) { return text(uint3{at.x, at.y, at.z}); }

void enter(int thread) {
  run.current = thread;
  Thread& t = run.threads[static_cast<size_t>(thread)];
  t.state = State::Running;
  threadIdx = index_of(static_cast<uint32_t>(thread), run.launch->block);
  rules.thread =
      run.block * static_cast<uint32_t>(run.threads.size()) + static_cast<uint32_t>(thread);
  rules.warp = static_cast<uint32_t>(thread) / kWarp;
  rules.barriers = t.barriers;
  rules.meetings = t.meetings;
  rules.stack = reinterpret_cast<uintptr_t>(t.fiber->stack);
  rules.stack_end = rules.stack + kStack;
  in_kernel = true;
}

void finish_switch_to_fiber(void* fake) {
  __sanitizer_finish_switch_fiber(fake, &run.scheduler_stack, &run.scheduler_bytes);
}

/// From a fiber to the scheduler, until it comes back.
void to_scheduler() {
  in_kernel = false;
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, run.scheduler_stack, run.scheduler_bytes);
  run.scheduler = context::jump_fcontext(run.scheduler, nullptr).fctx;
  finish_switch_to_fiber(fake);
}

[[gnu::noinline]] bool call_kernel() {
  try {
    run.launch->call(run.launch->kernel, run.launch->parameters);
    return true;
  } catch (const Trap&) {
    return false;
  }
}

void fiber_main(context::transfer_t from) {
  run.scheduler = from.fctx;
  finish_switch_to_fiber(nullptr);
  auto* self = static_cast<Fiber*>(from.data);
  for (;;) {
    // Threads that wait for nobody follow each other on one fiber.
    while (run.started < run.order.size() && !run.trapped) {
      const int thread = run.order[run.started++];
      run.threads[static_cast<size_t>(thread)].fiber = self;
      enter(thread);
      if (!call_kernel()) run.trapped = true;
      in_kernel = false;
      run.threads[static_cast<size_t>(run.current)].state = State::Done;
    }
    idle.push_back(self);
    to_scheduler();
  }
}

Fiber* free_fiber() {
  if (!idle.empty()) {
    Fiber* fiber = idle.back();
    idle.pop_back();
    return fiber;
  }
  const size_t page = 4096;
  void* at =
      mmap(nullptr, kStack + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) fail("no memory for a thread's stack");
  mprotect(at, page, PROT_NONE);
  auto* fiber = fibers.emplace_back(new Fiber);
  fiber->stack = static_cast<char*>(at) + page;
  fiber->at = context::make_fcontext(fiber->stack + kStack, kStack, fiber_main);
  return fiber;
}

void switch_to(Fiber* fiber) {
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, fiber->stack, kStack);
  fiber->at = context::jump_fcontext(fiber->at, fiber).fctx;
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}

void shuffle(std::vector<int>& order) {
  if (run.schedule == Schedule::Backward) std::reverse(order.begin(), order.end());
  if (run.schedule != Schedule::Random) return;
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

std::string thread_text(size_t i) {
  return text(index_of(static_cast<uint32_t>(i), run.launch->block));
}

/// The threads that can go on, since all they wait for are there.
std::vector<int> released() {
  std::vector<int> ready;
  size_t at_barrier = 0, done = 0;
  const Thread *first_waiting = nullptr, *other_site = nullptr;
  for (const Thread& t : run.threads) {
    done += t.state == State::Done;
    if (t.state != State::AtBarrier) continue;
    ++at_barrier;
    if (!first_waiting) first_waiting = &t;
    if (t.site != first_waiting->site) other_site = &t;
  }
  const auto number = [](const Thread* t) { return static_cast<size_t>(t - run.threads.data()); };
  if (at_barrier + done == run.threads.size()) {
    if (done > 0) {
      size_t gone = 0;
      while (run.threads[gone].state != State::Done) ++gone;
      fail(std::to_string(at_barrier) + " threads of a block, the first of them thread " +
           thread_text(number(first_waiting)) + ", wait at a barrier that " + std::to_string(done) +
           " threads, the first of them thread " + thread_text(gone) + ", never reach");
    }
    if (other_site)
      fail("thread " + thread_text(number(first_waiting)) + " and thread " +
           thread_text(number(other_site)) + " of a block wait at different barriers");
    for (size_t i = 0; i < run.threads.size(); ++i) {
      ++run.threads[i].barriers;
      ++run.threads[i].meetings;
      ready.push_back(static_cast<int>(i));
    }
    return ready;
  }
  for (size_t warp = 0; warp < run.threads.size(); warp += kWarp) {
    unsigned settled = 0;
    for (size_t lane = 0; lane < kWarp && warp + lane < run.threads.size(); ++lane) {
      const Thread& first = run.threads[warp + lane];
      if ((settled >> lane & 1) || first.state != State::AtMeeting) continue;
      bool complete = true;
      for (size_t l = 0; l < kWarp && complete; ++l) {
        if (!(first.mask >> l & 1)) continue;
        const Thread* other = warp + l < run.threads.size() ? &run.threads[warp + l] : nullptr;
        if (!other || other->state == State::Done)
          fail("thread " + thread_text(warp + lane) + " waits for lane " + std::to_string(l) +
               " of its warp, which the mask names and which never comes");
        complete = other->state == State::AtMeeting && other->mask == first.mask &&
                   other->size == first.size;
      }
      if (!complete) continue;
      settled |= first.mask;
      for (size_t l = 0; l < kWarp; ++l) {
        if (!(first.mask >> l & 1)) continue;
        Thread& to = run.threads[warp + l];
        for (size_t k = 0; k < kWarp; ++k) {
          if (first.mask >> k & 1)
            std::memcpy(to.received + 16 * k, run.threads[warp + k].value, 16);
        }
        ++to.meetings;
        ready.push_back(static_cast<int>(warp + l));
      }
    }
  }
  if (ready.empty()) {
    std::string all = "threads of a block wait for each other for ever:";
    for (size_t i = 0; i < run.threads.size(); ++i) {
      const State state = run.threads[i].state;
      if (state == State::AtMeeting) {
        all += " thread " + thread_text(i) + " for lanes of its warp";
        break;
      }
    }
    fail(all + ", " + std::to_string(at_barrier) + " at a barrier");
  }
  return ready;
}

void run_block() {
  const Launch& l = *run.launch;
  for (Thread& t : run.threads) t.state = State::New, t.barriers = t.meetings = 0;
  run.order.resize(run.threads.size());
  std::iota(run.order.begin(), run.order.end(), 0);
  shuffle(run.order);
  run.started = 0;
  static uint32_t block_runs = 0;
  rules.block_run = ++block_runs;
  rules.block = run.block;
  set_dynamic_shared(l.shared_bytes);
  while (run.started < run.order.size() && !run.trapped) switch_to(free_fiber());
  const auto unfinished = [](const Thread& t) { return t.state != State::Done; };
  while (!run.trapped && std::any_of(run.threads.begin(), run.threads.end(), unfinished)) {
    std::vector<int> ready = released();
    shuffle(ready);
    for (int thread : ready) {
      if (run.trapped) break;
      Thread& t = run.threads[static_cast<size_t>(thread)];
      enter(thread);
      switch_to(t.fiber);
    }
  }
}

/// False if a thread trapped.
bool run_grid(const Launch& l, Schedule schedule) {
  run.launch = &l;
  run.schedule = schedule;
  run.trapped = false;
  run.threads.resize(size_t{l.block.x} * l.block.y * l.block.z);
  blockDim = l.block;
  gridDim = l.grid;
  static uint32_t runs = 0;
  rules.run = ++runs;
  const uint64_t blocks = uint64_t{l.grid.x} * l.grid.y * l.grid.z;
  std::vector<int> order(blocks);
  std::iota(order.begin(), order.end(), 0);
  shuffle(order);
  for (int block : order) {
    run.block = static_cast<uint32_t>(block);
    blockIdx = index_of(run.block, l.grid);
    run_block();
    if (run.trapped) break;
  }
  run.launch = nullptr;
  return !run.trapped;
}

std::string kernel_name(const void* kernel) {
  char name[1024] = "?";
  // One on: it is taken for the address that a call returns to.
  __sanitizer_symbolize_pc(const_cast<char*>(static_cast<const char*>(kernel)) + 1, "%f", name,
                           sizeof name);
  return name;
}

/// How often a kernel has been run under all schedules with a configuration.
int& repetitions(const Launch& l) {
  static auto* all = new std::map<std::vector<uint64_t>, int>;
  return (*all)[{reinterpret_cast<uintptr_t>(l.kernel), l.grid.x, l.grid.y, l.grid.z, l.block.x,
                 l.block.y, l.block.z}];
}

const char* name_of(Schedule s) {
  return s == Schedule::Forward ? "forward" : s == Schedule::Backward ? "backward" : "random";
}

}  // namespace

std::string where() {
  if (!launching || !run.launch) return "";
  std::ostringstream out;
  out << "  in kernel " << kernel_name(run.launch->kernel) << "\n  block " << text(blockIdx)
      << " of " << text(gridDim);
  if (run.current >= 0) out << ", thread " << text(threadIdx) << " of " << text(blockDim);
  out << ", schedule " << name_of(run.schedule) << ", TENON_EMULATION_SEED=" << seed() << "\n";
  return out.str();
}

bool run_kernel(const Launch& l, int device) {
  const Unprotected scope;
  run.device = device;
  rules.device = device;
  rules.float_atomics = false;
  rules.parameters = reinterpret_cast<uintptr_t>(l.parameters);
  rules.parameters_end = rules.parameters + l.parameter_bytes;
  rules.tracked = bytes_in_use(device) <= kTrackedBytes;
  launching = true;
  bool good = true;
  if (!rules.tracked || repetitions(l)++ >= 2) {
    good = run_grid(l, static_cast<Schedule>(random() % 3));
  } else {
    const Snapshot before = save(device);
    good = run_grid(l, Schedule::Forward);
    for (Schedule schedule : {Schedule::Backward, Schedule::Random}) {
      if (!good) break;
      const Snapshot after = save(device);
      restore(before);
      good = run_grid(l, schedule);
      // Sums of floats depend on their order; what else atomic operations make does not.
      const char* different = good && !rules.float_atomics ? first_difference(after) : nullptr;
      if (different) {
        char hex[32];
        std::snprintf(hex, sizeof hex, "%p", static_cast<const void*>(different));
        fail("kernel " + kernel_name(l.kernel) + ": the schedule " + name_of(schedule) +
             " gives another result than forward, at " + hex);
      }
    }
  }
  launching = false;
  run.current = -1;
  return good;
}

void barrier() {
  if (!in_kernel) fail("__syncthreads outside a kernel");
  Thread& t = run.threads[static_cast<size_t>(run.current)];
  t.state = State::AtBarrier;
  t.site = __builtin_return_address(0);
  to_scheduler();
}

namespace {

/// What the lanes of the mask have brought, 16 bytes each.
const unsigned char* meet(unsigned mask, const void* value, size_t size) {
  if (!in_kernel) fail("an operation of a warp outside a kernel");
  Thread& t = run.threads[static_cast<size_t>(run.current)];
  if (!(mask >> lane() & 1))
    fail("a lane calls an operation of a warp whose mask does not name it");
  std::memcpy(t.value, value, size);
  t.mask = mask;
  t.size = size;
  t.state = State::AtMeeting;
  to_scheduler();
  return t.received;
}

}  // namespace

void exchange(unsigned mask, const void* value, size_t size, int from, void* result) {
  const unsigned char* all = meet(mask, value, size);
  if (from < 0 || from >= kWarp || !(mask >> from & 1))
    fail("a lane reads the value of lane " + std::to_string(from) +
         ", which the mask does not name");
  std::memcpy(result, all + 16 * from, size);
}

unsigned ballot(unsigned mask, bool predicate) {
  const unsigned char mine = predicate;
  const unsigned char* all = meet(mask, &mine, 1);
  unsigned votes = 0;
  for (int l = 0; l < kWarp; ++l) {
    if ((mask >> l & 1) && all[16 * l]) votes |= 1u << l;
  }
  return votes;
}

int lane() { return run.current % kWarp; }

void trap() {
  in_kernel = false;
  throw Trap();
}

}  // namespace cuda_emulation
