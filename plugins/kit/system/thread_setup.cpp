#include "plugins/kit/system/thread_setup.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>

namespace tessera::kit {

void set_up_thread(const std::string& name, const tsr_host* host) {
  ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
  ::prctl(PR_SET_TIMERSLACK, 1000ul);  // modelled transfer times are microseconds; the default slack is 50 of them
  if (host == nullptr || host->cpu_mask == nullptr || host->cpu_words == 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  const auto bits = std::min<std::uint32_t>(host->cpu_words * 64, CPU_SETSIZE);
  for (std::uint32_t cpu = 0; cpu < bits; ++cpu)
    if ((host->cpu_mask[cpu / 64] >> (cpu % 64)) & 1) CPU_SET(cpu, &set);
  if (CPU_COUNT(&set) > 0) ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

}  // namespace tessera::kit
