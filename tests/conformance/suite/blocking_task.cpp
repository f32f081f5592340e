#include "tests/conformance/suite/blocking_task.hpp"

#include "tests/conformance/suite/host_code.hpp"

namespace tessera::conformance {

void blocking_task::enqueue(const device& on, tsr_stream* stream) {
  expect_ok(enqueue_host_code(on, stream, &blocking_task::run, this), "enqueueing a host task");
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
