#include "plugins/kit/kernels/openblas.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace tessera::kit {
namespace {

constexpr const char* library = "libopenblas.so.0";
constexpr const char* library_of_the_build =
    TESSERA_OPENBLAS_LIBRARY;  ///< where that one is in no place that the linker knows
/// What OpenBLAS takes for one running call, until the first buffer shows it.
constexpr std::uint64_t usual_buffer_bytes = std::uint64_t{32} << 22;
constexpr std::uint64_t MiB = std::uint64_t{1} << 20;

using processor_set = std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)>;

/// This thread may use one of its processors only, until the end of the scope. Where the system does not let us,
/// nothing is changed.
class one_processor {
 public:
  one_processor() {
    for (int most = 1024; most <= 1 << 18; most *= 2) {
      processor_set all(CPU_ALLOC(most), [](cpu_set_t*s) { CPU_FREE(s); }),
          one(CPU_ALLOC(most), [](cpu_set_t*s) { CPU_FREE(s); });
      const std::size_t bytes = CPU_ALLOC_SIZE(most);
      if (!all || !one || ::sched_getaffinity(0, bytes, all.get()) != 0) continue;
      m_count = static_cast<unsigned>(CPU_COUNT_S(bytes, all.get()));
      CPU_ZERO_S(bytes, one.get());
      for (std::size_t cpu = 0; cpu < 8 * bytes && CPU_COUNT_S(bytes, one.get()) == 0; ++cpu)
        if (CPU_ISSET_S(cpu, bytes, all.get())) CPU_SET_S(cpu, bytes, one.get());
      m_bytes = bytes;
      if (::sched_setaffinity(0, bytes, one.get()) == 0) m_before = std::move(all);
      return;
    }
  }
  ~one_processor() {
    if (m_before) ::sched_setaffinity(0, m_bytes, m_before.get());
  }
  one_processor(const one_processor&) = delete;
  one_processor& operator=(const one_processor&) = delete;

  unsigned count() const noexcept { return m_count; }  ///< of processors that the thread may use otherwise

 private:
  processor_set m_before{nullptr, [](cpu_set_t* s) { CPU_FREE(s); }};
  std::size_t m_bytes = 0;
  unsigned m_count = 1;
};

/// The number of this place in /proc/self/statm, as bytes: 0 all addresses, 5 those of data.
std::uint64_t bytes_in_use(int place) {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int k = 0; k <= place; ++k) file >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}
std::uint64_t addresses_in_use() { return bytes_in_use(0); }

/// What can keep a process from having memory that it does not touch.
struct bound {
  std::uint64_t limit = ~std::uint64_t{0}, left = ~std::uint64_t{0};
  std::string name;  ///< "": there is none
  std::string remedy;
};

bound min_bound() {
  bound least;
  const auto look = [&](std::uint64_t limit, int place, const char* what, const char* remedy) {
    const std::uint64_t left = limit - std::min(limit, bytes_in_use(place));
    if (least.name.empty() || left < least.left) least = {limit, left, what, remedy};
  };
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    look(limit.rlim_cur, 0, "the limit of this process", "raise the limit (ulimit -v, in KiB)");
  if (::getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    look(limit.rlim_cur, 5, "the limit of this process's data", "raise the limit (ulimit -d, in KiB)");
  std::ifstream overcommit("/proc/sys/vm/overcommit_memory");
  int mode = 0;
  if (least.name.empty() && overcommit >> mode && mode == 2)
    least = {~std::uint64_t{0}, ~std::uint64_t{0},
             "the system, which promises no more than it has (vm.overcommit_memory), ", "end other programs"};
  return least;
}

bool has_room_for(std::uint64_t bytes) {
  void* const room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, bytes);
  return true;
}

/// The buffers of OpenBLAS that are for the calls of this plugin. Each is kept taken while no call uses it, so that
/// what other plugins take are others. A call gives one back to OpenBLAS, which finds it at once, and takes one
/// afterwards: there always is one then.
class buffers {
 public:
  void find_entries(void* from) {
    m_take = reinterpret_cast<void* (*)(int)>(::dlsym(from, "blas_memory_alloc"));
    m_give = reinterpret_cast<void (*)(void*)>(::dlsym(from, "blas_memory_free"));
  }

  /// Takes one more where there is room.
  bool take() {
    if (m_take == nullptr || m_give == nullptr || !has_room_for(m_bytes + MiB)) return false;
    const std::uint64_t before = addresses_in_use();
    void* const fresh = m_take(0);
    const std::uint64_t grown = addresses_in_use() - before;
    if (grown > 0 && grown < std::uint64_t{64} << 30) m_bytes = grown;
    const std::lock_guard lock(m_mutex);
    m_kept.push_back(fresh);
    return true;
  }

  void enter() {
    std::unique_lock lock(m_mutex);
    m_returned.wait(lock, [&] { return !m_kept.empty(); });
    m_give(m_kept.back());
    m_kept.pop_back();
  }
  void leave() {
    {
      const std::lock_guard lock(m_mutex);
      m_kept.push_back(m_take(0));
    }
    m_returned.notify_one();
  }

  std::uint64_t bytes() const noexcept { return m_bytes; }

 private:
  void* (*m_take)(int) = nullptr;
  void (*m_give)(void*) = nullptr;
  std::mutex m_mutex;
  std::condition_variable m_returned;
  std::vector<void*> m_kept;
  std::uint64_t m_bytes = usual_buffer_bytes;
};

/// Never destroyed: calls of other threads may still run when the process ends.
buffers& own_buffers() {
  static buffers* const kept = std::make_unique<buffers>().release();
  return *kept;
}

[[noreturn]] void refuse(std::uint64_t count, std::uint64_t bytes) {
  const bound least = min_bound();
  const auto figure = [](std::uint64_t value, const std::string& before) {
    return value == ~std::uint64_t{0} ? std::string() : before + std::to_string(value / MiB) + " MiB";
  };
  throw std::runtime_error("OpenBLAS needs " + std::to_string(count * bytes / MiB) + " MiB of addresses for " +
                           (count == 1 ? std::string("a buffer") : std::to_string(count) + " buffers") + ", and " +
                           least.name + figure(least.limit, ", ") +
                           (least.left == ~std::uint64_t{0} ? "has none" : figure(least.left, ", leaves ")) + "; " +
                           least.remedy);
}

}  // namespace

const openblas& openblas::loaded() {
  static const openblas* const kept = std::unique_ptr<openblas>(new openblas()).release();
  return *kept;
}

openblas::openblas() {
  const one_processor alone;
  m_library = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (m_library == nullptr) {
    const char* const why = ::dlerror();
    const std::string said = why != nullptr ? why : library;
    m_library = ::dlopen(library_of_the_build, RTLD_NOW | RTLD_LOCAL);
    if (m_library == nullptr) throw std::runtime_error("OpenBLAS cannot be loaded: " + said);
  }
  const auto find = [&](const char* name, auto& entry) {
    void* const found = ::dlsym(m_library, name);
    if (found == nullptr)
      throw std::runtime_error(std::string(library) + " has no " + name + "; it must be OpenBLAS with LAPACK");
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(found);
  };
  find("cblas_sgemm", sgemm);
  find("cblas_dgemm", dgemm);
  find("cblas_cgemm", cgemm);
  find("cblas_zgemm", zgemm);
  find("cblas_sgemv", sgemv);
  find("cblas_dgemv", dgemv);
  find("cblas_saxpy", saxpy);
  find("cblas_daxpy", daxpy);
  find("cblas_caxpy", caxpy);
  find("cblas_zaxpy", zaxpy);
  find("cblas_sscal", sscal);
  find("cblas_dscal", dscal);
  find("cblas_cscal", cscal);
  find("cblas_zscal", zscal);
  find("cblas_sdot", sdot);
  find("cblas_ddot", ddot);
  find("cblas_cdotc_sub", cdotc_sub);
  find("cblas_zdotc_sub", zdotc_sub);
  find("cblas_snrm2", snrm2);
  find("cblas_dnrm2", dnrm2);
  find("cblas_scnrm2", scnrm2);
  find("cblas_dznrm2", dznrm2);
  find("cblas_ssyrk", ssyrk);
  find("cblas_dsyrk", dsyrk);
  find("cblas_csyrk", csyrk);
  find("cblas_zsyrk", zsyrk);
  find("cblas_strsm", strsm);
  find("cblas_dtrsm", dtrsm);
  find("cblas_ctrsm", ctrsm);
  find("cblas_ztrsm", ztrsm);
  find("spotrf_", spotrf);
  find("dpotrf_", dpotrf);
  find("cpotrf_", cpotrf);
  find("zpotrf_", zpotrf);
  find("openblas_get_config", get_config);
  find("openblas_get_corename", get_corename);
  find("openblas_get_num_procs", get_num_procs);
  find("openblas_get_num_threads", get_num_threads);
  find("openblas_set_num_threads", m_set_num_threads);
  if (min_bound().name.empty()) return;
  own_buffers().find_entries(m_library);
  take_buffers(alone.count());
  m_bounded = true;
}

/// One buffer per processor, in at most a quarter of the addresses that are left; at least one.
void openblas::take_buffers(unsigned processors) {
  if (!own_buffers().take()) refuse(1, own_buffers().bytes());
  const std::uint64_t most = min_bound().left / 4;
  for (std::uint64_t taken = own_buffers().bytes(); --processors > 0 && taken + own_buffers().bytes() <= most;
       taken += own_buffers().bytes())
    if (!own_buffers().take()) return;
}

void openblas::set_num_threads(int threads) const {
  // Each thread that it starts takes a buffer, for ever if there is no room.
  const auto fresh = static_cast<std::uint64_t>(std::max(threads - get_num_threads(), 0));
  if (m_bounded && fresh > 0 && !has_room_for((fresh + 1) * own_buffers().bytes()))
    refuse(fresh, own_buffers().bytes());
  m_set_num_threads(threads);
}

void openblas::call::enter() { own_buffers().enter(); }
void openblas::call::leave() { own_buffers().leave(); }

}  // namespace tessera::kit
