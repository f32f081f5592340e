#pragma once
// Runtimes that validate, and what they find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/operation/scalar.hpp"
#include "core/operation/tensor.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera::testing {

inline machine validating(machine m) {
  m.settings.validate = true;
  return m;
}

/// The whole text of the error that a fence throws; "" when it throws nothing.
inline std::string fence_text(runtime& rt) {
  try {
    rt.fence();
    return "";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::validation) << e.what();
    EXPECT_EQ(exit_code_of(e.kind()), 10);
    return e.what();
  }
}

/// An operation that fills as many elements of its first block with 7, on the device, as its argument says, whatever is
/// declared.
inline operation::definition fills_with_seven(const char* name, intent how) {
  operation::definition what;
  what.name = name;
  what.signature = {how};
  what.enqueue = [](const operation::context& c) {
    const operation::operand& to = c.operands[0];
    const operation::scalar seven(to.type, 7.0);
    c.device->check(c.device->tensor()->fill(c.device->handle(), c.stream, static_cast<tsr_type>(to.type),
                                             c.arguments_as<std::int64_t>(), to.address, seven.data()),
                    "fill");
  };
  what.available = [](const plugin::device& d, element_type) { return d.tensor() != nullptr; };
  return what;
}

/// A test whose threads are there until its end, so that the end of one orders nothing.
class with_threads : public ::testing::Test {
 protected:
  /// Runs a function on a thread of its own, and waits for it.
  template <class Function>
  void elsewhere(Function f) {
    auto done =
        std::make_shared<std::promise<void>>();  // the thread's too: it is still in set_value when we hear of it
    m_threads.emplace_back([f, done, over = m_ended] {
      f();
      done->set_value();
      over.wait();
    });
    done->get_future().wait();
  }
  void TearDown() override {
    m_over.set_value();
    for (std::thread& t : m_threads) t.join();
  }

 private:
  std::promise<void> m_over;
  std::shared_future<void> m_ended = m_over.get_future().share();
  std::vector<std::thread> m_threads;
};

/// "file.cpp:17" for a line of a test.
inline std::string at(const char* file, int line) {
  const std::string path = file;
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

}  // namespace tessera::testing
