// Every access that the code of a kernel makes: whether it may be made at all, and whether another
// thread's access of the same bytes is ordered with it.
#include <link.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "tests/cuda_emulation/emulator.h"

extern "C" void __asan_report_load_n(uintptr_t address, size_t size);
extern "C" void __asan_report_store_n(uintptr_t address, size_t size);
extern "C" void __asan_get_shadow_mapping(size_t* scale, size_t* offset);

namespace cuda_emulation {

Rules rules;
thread_local bool in_kernel = false;

namespace {

constexpr uint32_t kNobody = 0xffffffff, kSeveral = 0xfffffffe;

/// Who accessed a byte last, and after how many barriers.
struct Touch {
  uint32_t thread = kNobody, barriers = 0, meetings = 0;
};
struct Cell {
  uint32_t run = 0;
  bool atomic = false;  ///< the write was one
  Touch write, read;
  // The compiler reports only the first of a read and a write of the same place, as in `*p += 1`: a
  // byte that has changed since its last read was written by the thread that read it.
  Touch last;
  bool last_was_read = false;
  unsigned char seen = 0;
};

// ---- where addresses lie ----

struct Range {
  uintptr_t begin, end;
};
struct Modules {
  std::vector<Range> constant, writable;
};

/// Segments of the loaded libraries: constants, and what `static` __shared__ variables lie in.
const Modules& modules() {
  static const auto* found = [] {
    auto* result = new Modules;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* to) {
          auto& all = *static_cast<Modules*>(to);
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& segment = info->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD && segment.p_type != PT_GNU_RELRO) continue;
            const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
            const bool writable = (segment.p_flags & PF_W) && segment.p_type == PT_LOAD;
            (writable ? all.writable : all.constant).push_back({begin, begin + segment.p_memsz});
          }
          return 0;
        },
        result);
    return result;
  }();
  return *found;
}

bool in(const std::vector<Range>& ranges, uintptr_t address) {
  for (const Range& r : ranges) {
    if (address >= r.begin && address < r.end) return true;
  }
  return false;
}

// ---- cells ----

/// Cells of a device's bytes, taken from the system as they are touched.
Cell* device_cells(int device) {
  static Cell* all[kDevices] = {};
  if (!all[device]) {
    void* at = mmap(nullptr, kArenaBytes * sizeof(Cell), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) fail("no address space for the cells of device memory");
    all[device] = static_cast<Cell*>(at);
  }
  return all[device];
}

/// Cells of shared memory: a hash table by address, of the block that runs.
struct SharedCells {
  static constexpr size_t kSize = size_t{1} << 17;
  struct Entry {
    uintptr_t address = 0;
    uint32_t block_run = 0;
    Cell cell;
  };
  std::vector<Entry> entries{kSize};

  Cell& at(uintptr_t address) {
    for (size_t i = address * 0x9e3779b97f4a7c15ull >> 47;; i = (i + 1) % kSize) {
      Entry& e = entries[i];
      if (e.block_run == rules.block_run && e.address != address) continue;
      if (e.block_run != rules.block_run) e = {address, rules.block_run, Cell()};
      return e.cell;
    }
  }
};
SharedCells& shared_cells() {
  static auto* all = new SharedCells;
  return *all;
}

std::vector<unsigned char>& dynamic_buffer() {
  static auto* buffer = new std::vector<unsigned char>(256 * 1024);
  return *buffer;
}
size_t dynamic_bytes = 0;

// ---- races ----

uint32_t threads_per_block() {
  const dim3& b = blockDim;
  return b.x * b.y * b.z;
}

/// Whether the touch happened before what the running thread does now.
bool ordered(const Touch& touch) {
  if (touch.thread == rules.thread || touch.thread == kNobody) return true;
  if (touch.thread == kSeveral) return touch.barriers < rules.barriers;
  if (touch.thread / threads_per_block() != rules.block) return false;
  if (touch.barriers < rules.barriers) return true;
  const uint32_t in_block = touch.thread % threads_per_block();
  const uint32_t warp = in_block / 32;
  return warp == rules.warp && touch.meetings < rules.meetings;
}

[[noreturn]] void race(const char* what, const char* memory, const Touch& other,
                       uintptr_t address) {
  std::string text = std::string("race in ") + memory + ": " + what;
  if (other.thread < kSeveral) {
    const uint32_t n = threads_per_block();
    const uint32_t t = other.thread % n, x = blockDim.x, y = blockDim.y;
    text += ", that of thread (" + std::to_string(t % x) + ", " + std::to_string(t / x % y) + ", " +
            std::to_string(t / x / y) + ") of block " + std::to_string(other.thread / n);
  }
  char hex[32];
  std::snprintf(hex, sizeof hex, "%#zx", static_cast<size_t>(address));
  fail(text + ", at " + hex + ", with neither barrier nor atomic operation between them");
}

void track(Cell& cell, uint32_t run, Access kind, const char* memory, uintptr_t address) {
  if (cell.run != run) {
    cell = Cell();
    cell.run = run;
  }
  const Touch now{rules.thread, rules.barriers, rules.meetings};
  const auto value = *reinterpret_cast<const unsigned char*>(address);
  if (cell.last_was_read && cell.seen != value) {
    cell.write = cell.last;
    cell.atomic = false;
  }
  cell.last = now;
  cell.last_was_read = kind == Access::Read;
  cell.seen = value;
  const bool atomic = kind >= Access::Atomic;
  if (kind == Access::Read) {
    // A plain read beside atomic operations is how loops of atomicCAS begin.
    if (!cell.atomic && !ordered(cell.write))
      race("a read and another thread's write", memory, cell.write, address);
    if (cell.read.thread != kNobody && cell.read.thread != now.thread &&
        cell.read.barriers == now.barriers &&
        cell.read.thread / threads_per_block() == rules.block) {
      cell.read = {kSeveral, now.barriers, now.meetings};
    } else if (cell.read.thread != kSeveral || cell.read.barriers != now.barriers) {
      // Readers of several blocks: a writer is never ordered with all of them.
      const bool other_block =
          cell.read.thread < kSeveral && cell.read.thread / threads_per_block() != rules.block;
      cell.read = now;
      if (other_block) cell.read = {kSeveral, 0xffffffff, 0};
    }
    return;
  }
  if (!(atomic && cell.atomic) && !ordered(cell.write))
    race("two threads' writes", memory, cell.write, address);
  if (!atomic && !ordered(cell.read))
    race("a write and another thread's read", memory, cell.read, address);
  cell.write = now;
  cell.atomic = atomic;
}

// ---- the sanitizer's map of what may be accessed ----

size_t shadow_scale, shadow_offset;
[[maybe_unused]] const bool mapped = [] {
  __asan_get_shadow_mapping(&shadow_scale, &shadow_offset);
  return true;
}();

/// One access of at most 16 bytes touches two or three bytes of the shadow.
void check_shadow(uintptr_t address, size_t size, bool write) {
  const auto* first = reinterpret_cast<const int8_t*>((address >> shadow_scale) + shadow_offset);
  const uintptr_t last = address + size - 1;
  const auto* end = reinterpret_cast<const int8_t*>((last >> shadow_scale) + shadow_offset);
  bool bad = *end != 0 && static_cast<int8_t>(last & ((size_t{1} << shadow_scale) - 1)) >= *end;
  for (; first < end && !bad; ++first) bad = *first != 0;
  if (bad) (write ? __asan_report_store_n : __asan_report_load_n)(address, size);
}

}  // namespace

void* dynamic_shared() { return dynamic_buffer().data(); }

void set_dynamic_shared(size_t bytes) {
  dynamic_bytes = bytes;
  auto& buffer = dynamic_buffer();
  __asan_poison_memory_region(buffer.data(), buffer.size());
  __asan_unpoison_memory_region(buffer.data(), bytes);
}

void access(const void* data, size_t size, Access kind) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  check_shadow(address, size, kind != Access::Read);
  if (!in_kernel || (address >= rules.stack && address < rules.stack_end)) return;
  const auto base = reinterpret_cast<uintptr_t>(arena_of(rules.device));
  if (address >= base && address < base + kArenaBytes) {
    if (kind == Access::FloatAtomic) rules.float_atomics = true;
    if (!rules.tracked) return;
    Cell* cells = device_cells(rules.device) + (address - base);
    for (size_t i = 0; i < size; ++i)
      track(cells[i], rules.run, kind, "global memory", address + i);
    return;
  }
  for (const void* own :
       {static_cast<const void*>(&threadIdx), static_cast<const void*>(&blockIdx),
        static_cast<const void*>(&blockDim), static_cast<const void*>(&gridDim)}) {
    if (address - reinterpret_cast<uintptr_t>(own) < sizeof(uint3)) return;
  }
  if (address >= rules.parameters && address < rules.parameters_end) {
    if (kind != Access::Read) fail("a kernel writes to its parameters");
    return;
  }
  const auto dynamic = reinterpret_cast<uintptr_t>(dynamic_buffer().data());
  if ((address >= dynamic && address < dynamic + dynamic_buffer().size()) ||
      in(modules().writable, address)) {
    if (kind == Access::Read && in(modules().constant, address)) return;  // read-only after loading
    for (size_t i = 0; i < size; ++i) {
      Cell& cell = shared_cells().at(address + i);
      if (kind == Access::Read && cell.run != rules.block_run)
        fail("shared memory is read that no thread of the block has written");
      track(cell, rules.block_run, kind, "shared memory", address + i);
    }
    return;
  }
  if (kind == Access::Read && in(modules().constant, address)) return;
  if (device_of(data) >= 0)
    fail("memory of cuda:" + std::to_string(device_of(data)) +
         " in a kernel on cuda:" + std::to_string(rules.device));
  char hex[32];
  std::snprintf(hex, sizeof hex, "%p", data);
  fail(std::string("a kernel ") + (kind == Access::Read ? "reads" : "writes") +
       " memory of the host, at " + hex);
}

}  // namespace cuda_emulation
