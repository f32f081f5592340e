#include "core/schedule/device/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/units.hpp"

namespace tessera::schedule {

hang_guard::hang_guard(setup with) : m_setup(std::move(with)) {}

void hang_guard::begin() {
  for (const auto& s : m_setup.coherence->streams().all())
    if (!s->device().has(TSR_DEVICE_INLINE)) m_watched.push_back(s.get());
  if (m_setup.limit.count() == 0 || m_watched.empty()) return;
  m_watchdog = std::make_unique<watchdog>(m_setup.limit, m_watched, m_setup.coherence->streams(),
                                          [this](const hang_detector::finding& one) { found(one); });
}

void hang_guard::found(const hang_detector::finding& what) {
  const transfer::stream& hanging = *what.which;
  const std::string text =
      fmt::format("device {} hangs: stream {} has not come further for {}, doing {}", hanging.device().name(),
                  hanging.number(), format_seconds(std::chrono::duration<double>(m_setup.limit).count()),
                  what.doing.description.empty() ? "something that nobody waits for" : what.doing.description);
  m_setup.failures->note({.text = text, .where = {}, .kind = error_kind::device});
  m_setup.cancel(text);
  m_setup.failures->note_hung();
  give_up(hanging, text);
  m_setup.drivers->wake();
  m_setup.wake();
}

void hang_guard::give_up(const transfer::stream& hanging, const std::string& text) {
  const plugin::device& device = hanging.device();
  device.give_up_threads();
  for (transfer::stream* s : m_watched)
    if (&s->device() == &device) s->abandon(TSR_DEADLINE_EXCEEDED, text);
  // What other devices have begun may end; what then still waits for this one never will.
  const auto until =
      std::chrono::steady_clock::now() + std::min<std::chrono::nanoseconds>(m_setup.limit, std::chrono::seconds(2));
  for (transfer::stream* s : m_watched)
    while (s->busy() && std::chrono::steady_clock::now() < until) s->wait_until_idle(1'000'000);
  for (transfer::stream* s : m_watched)
    if (s->busy()) {
      s->device().give_up_threads();
      s->abandon(TSR_DEADLINE_EXCEEDED, text);
    }
}

}  // namespace tessera::schedule
