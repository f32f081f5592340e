// Which threads a device knows of: each that uses it, once, from its first use to its end.
#include "core/plugin/attachments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tessera::plugin;
using testing::ElementsAre;
using testing::HasSubstr;

/// What a device was told; the table has no room for a context.
std::atomic<int> attached{0}, detached{0};
std::atomic<tsr_status> answer{TSR_OK};

struct attached_threads {
  explicit attached_threads(tsr_status answers = TSR_OK, bool detaches = true) {
    attached = detached = 0;
    answer = answers;
    tsr_device_table table{};
    table.thread_attach = [](tsr_device*) -> tsr_status {
      ++attached;
      return answer;
    };
    if (detaches)
      table.thread_detach = [](tsr_device*) -> tsr_status {
        ++detached;
        return TSR_OK;
      };
    is = std::make_shared<attachments>(nullptr, table, "dev0", [this](int level, const std::string& line) {
      log.push_back(std::to_string(level) + line);
    });
  }
  /// A thread that uses the device so many times, and ends.
  void use(int times = 1) {
    std::thread([&] {
      for (int k = 0; k < times; ++k) is->attach_this_thread();
    }).join();
  }
  std::vector<std::string> log;
  std::shared_ptr<attachments> is;
};

TEST(attachments, a_thread_is_attached_once_and_detached_when_it_ends) {
  attached_threads a;
  a.use(3);
  EXPECT_EQ(attached, 1);
  EXPECT_EQ(detached, 1);
  a.use();
  EXPECT_EQ(attached, 2) << "another thread";
  EXPECT_EQ(detached, 2);
  EXPECT_TRUE(a.log.empty());
}

TEST(attachments, a_thread_that_was_refused_is_told_of_once_and_not_detached) {
  attached_threads a(TSR_RESOURCE_EXHAUSTED);
  a.use(2);
  a.use();
  EXPECT_EQ(attached, 2) << "each thread is asked for once";
  EXPECT_EQ(detached, 0);
  ASSERT_EQ(a.log.size(), 1u);
  EXPECT_THAT(a.log[0], HasSubstr("2device \"dev0\" refuses a thread: thread_attach answered RESOURCE_EXHAUSTED"));
}

TEST(attachments, of_a_lost_device_nothing_is_told) {
  attached_threads a(TSR_DEVICE_LOST);
  a.use();
  EXPECT_TRUE(a.log.empty()) << "the loss is told elsewhere";
}

TEST(attachments, a_device_that_is_closed_or_hangs_is_not_called_any_more) {
  for (const bool hangs : {false, true}) {
    attached_threads a;
    std::thread([&] {
      a.is->attach_this_thread();
      hangs ? a.is->give_up() : a.is->end();
    }).join();
    EXPECT_EQ(attached, 1);
    EXPECT_EQ(detached, 0) << hangs;
    if (hangs) a.use();
    EXPECT_EQ(attached, 1);
  }
}

TEST(attachments, may_end_before_the_thread_does) {
  attached_threads a;
  std::thread([&] {
    a.is->attach_this_thread();
    a.is->end();
    a.is.reset();
  }).join();
  EXPECT_EQ(detached, 0);
}

TEST(attachments, a_plugin_without_these_entries_is_not_asked) {
  attached_threads without_detach(TSR_OK, false);
  without_detach.use();
  EXPECT_EQ(attached, 1);
  EXPECT_EQ(detached, 0);
  const auto none = std::make_shared<attachments>(nullptr, tsr_device_table{}, "dev1", nullptr);
  std::thread([&] { none->attach_this_thread(); }).join();
  EXPECT_EQ(attached, 1);
}

TEST(attachments, two_devices_are_attached_to_by_themselves) {
  attached_threads first;
  tsr_device_table table{};
  table.thread_attach = [](tsr_device*) -> tsr_status { return ++attached, tsr_status{TSR_OK}; };
  const auto second = std::make_shared<attachments>(nullptr, table, "dev1", nullptr);
  std::thread([&] {
    for (int k = 0; k < 2; ++k) {
      first.is->attach_this_thread();
      second->attach_this_thread();
    }
  }).join();
  EXPECT_EQ(attached, 2);
  EXPECT_EQ(detached, 1) << "the second has no entry for it";
}

TEST(attachments, many_threads_at_once_are_each_attached_and_detached) {
  attached_threads a;
  std::vector<std::thread> all;
  for (int k = 0; k < 8; ++k)
    all.emplace_back([&] {
      for (int n = 0; n < 100; ++n) a.is->attach_this_thread();
    });
  for (std::thread& one : all) one.join();
  EXPECT_EQ(attached, 8);
  EXPECT_EQ(detached, 8);
}

}  // namespace
