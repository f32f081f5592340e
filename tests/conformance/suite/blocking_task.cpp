#include "tests/conformance/suite/blocking_task.hpp"

namespace tessera::conformance {

void blocking_task::enqueue(const device& on, tsr_stream* stream) {
  expect_ok(on.table().host_task(on.handle(), stream, &blocking_task::run, this, nullptr, 0, 0), "host_task");
}

tsr_status blocking_task::run(void* self, void* const*) {
  auto& own = *static_cast<blocking_task*>(self);
  while (!own.m_released) {
    if (std::this_thread::get_id() == own.m_maker ||
        std::chrono::steady_clock::now().time_since_epoch() > own.m_end.load()) {
      own.m_ran_out = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  own.m_done = true;
  return TSR_OK;
}

}  // namespace tessera::conformance
