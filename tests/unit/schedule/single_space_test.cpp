// The fast path of one memory: which blocks it accepts, and what it writes down.
#include "core/schedule/single_space.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

/// A host alone, and accesses to one block of it.
struct alone {
  alone() : b(machine.make()) {}
  ~alone() {
    if (b.poison != nullptr) b.clear_poison();
    machine.end();
  }
  std::vector<block::access> with(intent how) { return {transfer::rig::use(b, how)}; }
  transfer::rig machine{std::vector<std::string>{}};
  block::record& b;
};

TEST(resident, needs_memory_and_where_it_is_read_contents) {
  alone a;
  for (const intent how : {intent::read, intent::update, intent::write}) {
    auto touched = a.with(how);
    EXPECT_FALSE(resident(touched)) << "it has no memory yet";
  }
  a.machine.put(a.b, 0, 3);
  for (const intent how : {intent::read, intent::update, intent::write}) {
    auto touched = a.with(how);
    touched[0].space = 9;
    EXPECT_TRUE(resident(touched));
    EXPECT_EQ(touched[0].space, host_space);
  }
  a.b.committed = 0;  // memory without contents
  auto reads = a.with(intent::read), writes = a.with(intent::write);
  EXPECT_FALSE(resident(reads));
  EXPECT_TRUE(resident(writes));
}

TEST(resident, refuses_blocks_that_a_failure_has_spoiled) {
  alone a;
  a.machine.put(a.b, 0, 3);
  auto touched = a.with(intent::update);
  ASSERT_TRUE(resident(touched));
  a.machine.is->poison(touched, std::make_shared<const block::failure>(block::failure{"bad", "", error_kind::task}));
  EXPECT_FALSE(resident(touched));
  auto writes = a.with(intent::write);
  EXPECT_FALSE(resident(writes)) << "the general path heals it";
}

TEST(commit_in_place, makes_a_version_of_what_was_written_and_none_of_what_was_read) {
  alone a;
  a.machine.put(a.b, 0, 3);
  const block::version_number before = a.b.committed;
  auto reads = a.with(intent::read);
  EXPECT_EQ(commit_in_place(reads), 0u);
  EXPECT_EQ(a.b.committed, before);
  auto updates = a.with(intent::update);
  EXPECT_EQ(commit_in_place(updates), 1u);
  EXPECT_EQ(a.b.committed, updates[0].version);
  EXPECT_EQ(a.b.replicas[0].version, updates[0].version);
  EXPECT_TRUE(a.b.valid_spaces.has(0));
}

TEST(commit_in_place, of_scratch_leaves_no_contents) {
  alone a;
  a.machine.put(a.b, 0, 3);
  auto touched = a.with(intent::scratch);
  EXPECT_EQ(commit_in_place(touched), 0u);
  EXPECT_EQ(a.b.committed, 0u);
  EXPECT_FALSE(a.b.valid_spaces.has(0));
  auto reads = a.with(intent::read);
  EXPECT_FALSE(resident(reads));
}

TEST(commit_in_place, what_is_written_anew_is_no_longer_spoiled) {
  alone a;
  a.machine.put(a.b, 0, 3);
  auto touched = a.with(intent::write);
  a.machine.is->poison(touched, std::make_shared<const block::failure>(block::failure{"bad", "", error_kind::task}));
  ASSERT_NE(a.b.poison, nullptr);
  EXPECT_EQ(commit_in_place(touched), 1u);
  EXPECT_EQ(a.b.poison, nullptr);
}

}  // namespace
}  // namespace tessera::schedule
