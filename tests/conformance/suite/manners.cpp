// What a plugin does to the process around it: it prints nothing (rule R4), keeps its threads inside the mask, and what
// an opening took is given back at its end.
#include <dirent.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "tests/conformance/suite/host_code.hpp"
#include "tests/conformance/suite/rig.hpp"
#include "tests/conformance/suite/watch.hpp"

namespace tessera::conformance {
namespace {

/// Some of all that a device does, on each of two streams, and a call that it refuses.
void use(const device& on) {
  const std::vector<unsigned char> given(copyable(on, 4096), 1);
  const auto bytes = static_cast<std::size_t>(allocatable(on, given.size()));
  for (std::size_t s = 0; s < streams_of(on, 2); ++s) {
    const queue stream(on);
    const buffer memory(on, compute_space(on), bytes);
    upload(stream, memory, given.data(), bytes);
    if (runs_host_code(on))
      need_ok(enqueue_host_code(
                  on, stream.handle(), [](void*, void* const*) { return tsr_status{TSR_OK}; }, nullptr),
              "enqueueing a host task");
    stream.finish();
  }
  tsr_memory* none = nullptr;
  on.table().mem_alloc(on.handle(), 0, 0, &none);
  plugin::take_error_details();
}

/// Whatever kind it is of.
void open_and_use(const subject& what) {
  if ((devices & set_of(what.plugin.header.kind)) == 0) {
    const opened_plugin opened(what);
    return;
  }
  const opened all(what);
  for_each_device(all, use);
}

/// Standard output and standard error go to a file of no name until the scope ends.
class silence {
 public:
  silence() : m_file(memfd_create("printed", MFD_CLOEXEC)), m_out(dup(STDOUT_FILENO)), m_error(dup(STDERR_FILENO)) {
    if (m_file < 0 || m_out < 0 || m_error < 0) return;
    std::fflush(nullptr);
    tell_crashes_at(m_error);
    dup2(m_file, STDOUT_FILENO);
    dup2(m_file, STDERR_FILENO);
    m_stands = true;
  }
  ~silence() {
    end();
    for (const int one : {m_file, m_out, m_error})
      if (one >= 0) close(one);
  }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;

  /// False: the process has no such outputs, or too many files.
  bool stands() const { return m_stands; }
  /// Ends it; what has been printed meanwhile, at most 200 bytes of it.
  std::string end() {
    if (!m_stands) return {};
    m_stands = false;
    std::fflush(nullptr);
    dup2(m_out, STDOUT_FILENO);
    dup2(m_error, STDERR_FILENO);
    tell_crashes_at(STDERR_FILENO);
    std::string printed(200, '\0');
    const ssize_t length = pread(m_file, printed.data(), printed.size(), 0);
    printed.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    return printed;
  }

 private:
  int m_file, m_out, m_error;
  bool m_stands = false;
};

void prints_nothing(const subject& what) {
  silence here;
  if (!here.stands()) skip("standard output and standard error are closed");
  open_and_use(what);
  const std::string printed = here.end();
  expect(printed.empty(), "the plugin prints to standard output or standard error (rule R4): \"{}\"", printed);
}

std::set<pid_t> threads() {
  std::set<pid_t> found;
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) skip("/proc is not mounted, so threads cannot be counted");
  while (const dirent* const entry = readdir(folder))
    if (entry->d_name[0] != '.') found.insert(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
  closedir(folder);
  return found;
}

/// The CPUs that a thread may use, as words of a mask.
std::vector<std::uint64_t> cpus_of(pid_t thread) {
  std::vector<std::uint64_t> mask(1024, 0);  // 65,536 CPUs
  auto* const set = reinterpret_cast<cpu_set_t*>(mask.data());
  if (sched_getaffinity(thread, mask.size() * sizeof mask[0], set) != 0) mask.clear();  // it has ended
  return mask;
}

/// A mask with the last CPU of this thread alone; empty where it has no other.
std::vector<std::uint64_t> narrow_mask() {
  std::vector<std::uint64_t> mask = cpus_of(0);
  std::size_t count = 0, last = 0;
  for (std::size_t cpu = 0; cpu < mask.size() * 64; ++cpu)
    if ((mask[cpu / 64] >> (cpu % 64) & 1) != 0) ++count, last = cpu;
  if (count < 2) return {};
  mask.assign(last / 64 + 1, 0);
  mask[last / 64] = std::uint64_t{1} << (last % 64);
  return mask;
}

bool is_inside(const std::vector<std::uint64_t>& inner, const std::vector<std::uint64_t>& outer) {
  for (std::size_t k = 0; k < inner.size(); ++k)
    if ((inner[k] & ~(k < outer.size() ? outer[k] : 0)) != 0) return false;
  return true;
}

/// Whether a thread runs inside a mask, where it has bound itself: one that was just made may not have begun yet.
bool gets_inside(pid_t thread, const std::vector<std::uint64_t>& mask) {
  const auto end =
      std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(patience, std::chrono::seconds(5));
  while (!is_inside(cpus_of(thread), mask)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void threads_stay_inside_the_mask(const subject& what) {
  const std::vector<std::uint64_t> mask = narrow_mask();
  if (mask.empty()) skip("this process may use one CPU alone, so all threads are inside of any mask");
  plugin::host host(mask, {});
  const subject narrow{what.plugin, what.options, host, what.seed, what.asked};
  const std::set<pid_t> at_first = threads();
  const opened all(narrow);
  const bool claimed =
      std::ranges::any_of(all.devices, [](const auto& one) { return one->has(TSR_DEVICE_OWN_THREADS); });
  if (!claimed) skip("no device claims TSR_DEVICE_OWN_THREADS: threads of a vendor's library are its own affair");
  for_each_device(all, [&](const device& on) {
    std::vector<queue> streams;
    for (std::size_t s = 0; s < streams_of(on, 2); ++s) {
      streams.emplace_back(on);
      streams.back().finish();
    }
    for (const pid_t one : threads())
      if (!at_first.contains(one))
        expect(
            gets_inside(one, mask),
            "a thread of the plugin may run on CPUs outside of host->cpu_mask: TSR_DEVICE_OWN_THREADS is claimed, so "
            "its threads are bound inside");
  });
}

/// What is left by every opening, and not by the first alone, is found after several.
constexpr int warm_up = 3, openings = 10;

void openings_leave_no_threads(const subject& what) {
  const auto round = [&] {
    const opened all(what);
    for_each_device(all, use);
  };
  for (int i = 0; i < warm_up; ++i) round();
  const std::size_t at_first = threads().size();
  for (int i = 0; i < openings; ++i) round();
  const auto end = std::chrono::steady_clock::now() + patience;
  std::size_t after = threads().size();
  while (after >= at_first + openings && std::chrono::steady_clock::now() < end) {  // one that was joined may still go
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    after = threads().size();
  }
  expect(after < at_first + openings,
         "{} openings leave {} threads behind: shutdown joins the plugin's threads, and device_close ends those of the "
         "device",
         openings, after - at_first);
}

/// What the C library keeps of freed memory is given back first.
std::uint64_t resident_bytes() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  if (!(file >> all >> resident)) skip("/proc is not mounted, so memory cannot be counted");
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Memory that nobody frees is device_close's to free. What is looked at is the process, so what leaks on a card is not
/// found.
void openings_leave_no_memory(const subject& what) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("a sanitizer keeps what is freed");
#endif
  constexpr std::uint64_t wanted = std::uint64_t{8} << 20;
  std::uint64_t taken = 0;
  const auto round = [&] {
    const opened all(what);
    taken = 0;
    for_each_device(all, [&](const device& on) {
      const std::uint64_t room = on.spaces()[compute_space(on)].description.bytes;
      const std::uint64_t bytes =
          allocatable(on, copyable(on, room == 0 ? wanted : std::min<std::uint64_t>(wanted, room / 4)));
      const std::vector<unsigned char> given(bytes, 1);
      tsr_memory* memory = nullptr;
      need_ok(on.table().mem_alloc(on.handle(), compute_space(on), bytes, &memory), "mem_alloc");
      const queue stream(on);
      const tsr_copy in =
          plain_copy({on.handle(), compute_space(on)}, {memory, 0}, host_space, host_address(given.data()), bytes);
      need_ok(on.table().copy(on.handle(), stream.handle(), &in), "copy");
      stream.finish();
      taken += bytes;
    });
  };
  for (int i = 0; i < warm_up; ++i) round();
  if (taken < std::uint64_t{1} << 20) skip("its devices are too small for a loss of their memory to be seen");
  std::uint64_t grown = 0;
  for (int batch = 0; batch < 3; ++batch) {  // what an allocator keeps does not grow in every batch; what leaks does
    const std::uint64_t at_first = resident_bytes();
    for (int i = 0; i < openings; ++i) round();
    const std::uint64_t after = resident_bytes();
    grown = after > at_first ? after - at_first : 0;
    if (grown < taken * openings / 2) break;
  }
  expect(grown < taken * openings / 2,
         "after {} openings in each of which {} bytes were allocated and not freed, the process has {} bytes more: "
         "device_close destroys what is left",
         openings, taken, grown);
}

}  // namespace

std::vector<check> manners_checks() {
  return {{"manners.prints_nothing", prints_nothing, every_sound_kind},
          {"manners.threads_stay_inside_the_mask", threads_stay_inside_the_mask},
          {"manners.openings_leave_no_threads", openings_leave_no_threads},
          {"manners.openings_leave_no_memory", openings_leave_no_memory}};
}

}  // namespace tessera::conformance
