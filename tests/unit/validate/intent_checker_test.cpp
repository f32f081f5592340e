// Whether a task does with its blocks what it has declared: each mistake by itself, and what is none.
#include "core/validate/intent_checker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/block/table.hpp"
#include "core/task/flow.hpp"
#include "core/validate/device_checks.hpp"

namespace tessera::validate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Blocks of four numbers in the memory of a host, and a checker of what tasks do with them.
struct checked {
  explicit checked(std::size_t blocks = 2) {
    const block::origin* const from = table.make_origin("A", {static_cast<std::int64_t>(blocks)});
    for (std::size_t k = 0; k < blocks; ++k) {
      memory.push_back({1, 2, 3, 4});
      all.push_back(&table.create(element_type::f64, shape{2, 2}, from, static_cast<std::uint32_t>(k)));
      all[k]->committed = 1;
    }
    work.name = "work";
  }
  ~checked() {
    for (block::record* b : all) table.destroy(*b);
  }
  struct use {
    std::size_t block;
    intent how;
  };
  /// The copies that a task gets.
  std::unique_ptr<shadow_copies> lend(const std::vector<use>& uses) {
    prepare(uses);
    return is.lend(t, {.description = "task 'work' submitted", .file = "a.cpp", .line = ++line}, operands);
  }
  /// A whole task: body is called with a pointer per access.
  void run(const std::vector<use>& uses, const std::function<void(std::vector<double*>)>& body, bool failed = false) {
    const auto copies = lend(uses);
    std::vector<double*> at;
    for (const operation::operand& o : operands) at.push_back(static_cast<double*>(o.host));
    body(at);
    is.take_back(*copies, failed);
    for (const use& u : uses)
      if (makes_version(u.how)) all[u.block]->committed = version;
  }
  void prepare(const std::vector<use>& uses) {
    task::renew(t);
    t.operation = &work;
    t.access_count = static_cast<std::uint8_t>(uses.size());
    ++version;
    operands.clear();
    for (std::size_t k = 0; k < uses.size(); ++k) {
      t.accesses[k] = {.block = all[uses[k].block],
                       .version = makes_version(uses[k].how) ? version : 0,
                       .intent = uses[k].how,
                       .flags = 0,
                       .space = 0};
      operands.push_back({.host = memory[uses[k].block].data(), .type = element_type::f64, .intent = uses[k].how});
    }
  }
  /// The only finding.
  finding found() {
    const auto list = findings.all();
    EXPECT_EQ(list.size(), 1u) << to_text(list);
    return list.empty() ? finding{} : list.front();
  }

  block::table table;
  std::vector<block::record*> all;
  std::vector<std::vector<double>> memory;
  operation::definition work;
  task::record t;
  std::vector<operation::operand> operands;
  std::uint32_t line = 0;
  block::version_number version = 1;
  pattern p{23};
  journal findings;
  contents known;
  quarantine ended{p, findings, 1 << 20};
  intent_checker is{findings, p, ended, known};
};

TEST(intent_checker, a_task_that_keeps_its_word_has_no_findings_and_its_results_arrive) {
  checked c;
  c.run({{0, intent::read}, {1, intent::write}}, [](auto at) {
    for (int k = 0; k < 4; ++k) at[1][k] = 10 * at[0][k];
  });
  c.run({{1, intent::update}}, [](auto at) { at[0][0] += 1; });
  EXPECT_THAT(c.findings.all(), IsEmpty());
  EXPECT_EQ(c.memory[1], (std::vector<double>{11, 20, 30, 40}));
  EXPECT_EQ(c.memory[0], (std::vector<double>{1, 2, 3, 4}));
}

TEST(intent_checker, works_on_copies) {
  checked c;
  const auto copies = c.lend({{0, intent::update}});
  ASSERT_EQ(c.operands.size(), 1u);
  EXPECT_NE(c.operands[0].host, c.memory[0].data());
  EXPECT_EQ(c.operands[0].address.offset, reinterpret_cast<std::uintptr_t>(c.operands[0].host));
  EXPECT_EQ(static_cast<double*>(c.operands[0].host)[2], 3) << "what it may read is there";
  static_cast<double*>(c.operands[0].host)[2] = 30;
  EXPECT_EQ(c.memory[0][2], 3) << "and comes back when the task is over";
  c.is.take_back(*copies, false);
  EXPECT_EQ(c.memory[0][2], 30);
}

TEST(intent_checker, a_block_that_is_used_twice_has_one_copy) {
  checked c;
  c.run({{0, intent::read}, {0, intent::write}}, [](auto at) {
    EXPECT_EQ(at[0], at[1]);
    EXPECT_EQ(at[0][3], 4) << "one of the uses needs what was there";
    at[1][3] = 5;
  });
  EXPECT_THAT(c.findings.all(), IsEmpty()) << "together they update it";
  EXPECT_EQ(c.memory[0][3], 5);
}

TEST(intent_checker, a_change_of_what_was_declared_read_is_told_and_not_kept) {
  checked c;
  c.run({{0, intent::write}}, [](auto at) { std::fill_n(at[0], 4, 7); });
  c.run({{0, intent::read}}, [](auto at) { at[0][1] = at[0][3] = 8; });
  const finding f = c.found();
  EXPECT_EQ(f.fault, fault::read_changed);
  EXPECT_EQ(
      f.text,
      "task 'work' changed 2 of 4 elements of A(0), which it has declared read: element (1,0) was 7 and became 8");
  EXPECT_EQ(f.here.line, 2u);
  EXPECT_EQ(f.there.line, 1u) << "who made the contents";
  EXPECT_EQ(c.memory[0][1], 7);
}

TEST(intent_checker, write_means_every_element) {
  checked c;
  c.run({{0, intent::write}}, [](auto at) { at[0][0] = at[0][2] = 1; });
  const finding f = c.found();
  EXPECT_EQ(f.fault, fault::not_written);
  EXPECT_THAT(f.text, HasSubstr("declared A(0) write and left 2 of 4 elements unwritten"));
}

TEST(intent_checker, of_a_task_that_failed_nothing_is_asked_but_that_it_stays_within_its_blocks) {
  checked c;
  c.run(
      {{0, intent::write}}, [](auto) {}, true);
  EXPECT_THAT(c.findings.all(), IsEmpty());
  c.run(
      {{1, intent::write}}, [](auto at) { at[0][4] = 1; }, true);
  EXPECT_EQ(c.found().fault, fault::outside);
}

TEST(intent_checker, writes_around_a_block_are_told_with_their_place) {
  struct outside {
    std::ptrdiff_t at;
    std::string text;
  };
  for (const outside& one :
       {outside{4, "0 bytes behind its last element"}, outside{6, "16 bytes behind its last element"},
        outside{-1, "8 bytes before its first element"}}) {
    checked c;
    c.run({{0, intent::update}}, [&](auto at) { at[0][one.at] = 0.5; });
    const finding f = c.found();
    EXPECT_EQ(f.fault, fault::outside);
    EXPECT_THAT(f.text, HasSubstr("outside of A(0), the first one " + one.text));
  }
}

TEST(intent_checker, results_that_come_from_nothing_are_told_with_where_that_was) {
  checked c;
  c.run({{0, intent::scratch}, {1, intent::write}}, [](auto at) {
    for (int k = 0; k < 4; ++k) at[1][k] = k == 2 ? at[0][k] + 1 : 0;
  });
  const finding f = c.found();
  EXPECT_EQ(f.fault, fault::uninitialised);
  EXPECT_THAT(f.text,
              HasSubstr("computed 1 of 4 elements of A(1) from elements that nobody had written, the first one (0,1)"));
  EXPECT_THAT(f.there.use, HasSubstr("A(0) scratch"));
}

TEST(intent_checker, what_came_in_with_the_inputs_is_not_told_again) {
  checked c;
  c.run({{0, intent::scratch}, {1, intent::write}}, [](auto at) {
    for (int k = 0; k < 4; ++k) at[1][k] = at[0][k] + 1;
  });
  c.run({{1, intent::update}}, [](auto at) { at[0][0] *= 2; });
  EXPECT_EQ(c.findings.all().size(), 1u) << "its maker is the culprit";
}

TEST(intent_checker, ordinary_nans_are_nobodys_fault) {
  checked c;
  c.run({{0, intent::write}}, [](auto at) {
    at[0][0] = std::numeric_limits<double>::quiet_NaN();
    at[0][1] = std::numeric_limits<double>::infinity();
    at[0][2] = std::nan("7");
    at[0][3] = -at[0][0];
  });
  EXPECT_THAT(c.findings.all(), IsEmpty());
}

TEST(intent_checker, elements_of_a_task_that_is_over_are_recognised_in_results) {
  checked c;
  const double* kept = nullptr;
  c.run({{0, intent::read}}, [&](auto at) { kept = at[0]; });
  c.run({{1, intent::update}}, [&](auto at) { at[0][0] = kept[0] + 1; });
  const finding f = c.found();
  EXPECT_EQ(f.fault, fault::after_end);
  EXPECT_EQ(f.here.line, 2u);
  EXPECT_EQ(f.there.line, 1u) << "whose elements they were";
}

TEST(intent_checker, contents_that_change_behind_the_runtime_are_told_once) {
  checked c;
  c.run({{0, intent::write}}, [](auto at) { std::fill_n(at[0], 4, 7); });
  c.memory[0][2] = 9;  // a write that nothing was told of
  for (int k = 0; k < 2; ++k) c.run({{0, intent::read}}, [](auto) {});
  const finding f = c.found();
  EXPECT_EQ(f.fault, fault::stray);
  EXPECT_EQ(f.times, 1u);
  EXPECT_THAT(f.text, HasSubstr("the contents of A(0) are not those that its version"));
  EXPECT_EQ(f.there.line, 1u);
}

TEST(intent_checker, after_scratch_nothing_is_known_of_the_contents) {
  checked c;
  c.run({{0, intent::write}}, [](auto at) { std::fill_n(at[0], 4, 7); });
  c.run({{0, intent::scratch}}, [](auto at) { at[0][0] = 1; });
  c.memory[0][2] = 9;
  c.run({{0, intent::read}}, [](auto) {});
  EXPECT_THAT(c.findings.all(), IsEmpty());
}

TEST(intent_checker, results_of_a_device_are_looked_at_in_copies_from_before_and_after) {
  checked c;
  c.prepare({{0, intent::read}, {1, intent::write}});
  const auto copies = c.is.watch(c.t, {.description = "task 'work' submitted"});
  ASSERT_EQ(copies->blocks.size(), 2u);
  ASSERT_EQ(copies->blocks[0].before.size(), 4 * sizeof(double));
  const auto come = [](std::span<std::byte> to, std::vector<double> values) {
    std::memcpy(to.data(), values.data(), to.size());
  };
  come(copies->blocks[0].before, {1, 2, 3, 4});
  come(copies->blocks[0].copy->elements(), {1, 2, 3, 5});  // the device has changed it
  come(copies->blocks[1].copy->elements(), {0, 0, 0, 0});
  c.is.check_result(*copies);
  const finding f = c.found();
  EXPECT_EQ(f.fault, fault::read_changed);
  EXPECT_EQ(f.hint, "declare the block update") << "on a device the change was kept";
  EXPECT_TRUE(c.known.find(*c.all[1], c.version).has_value()) << "the version that it made is known";
}

int checks = 0;  // by a check, which captures nothing

TEST(device_checks, see_what_the_device_found_and_what_it_left) {
  checked c;
  device_checks all(c.p);
  c.prepare({{0, intent::update}, {1, intent::write}});
  const auto copies = c.is.watch(c.t, {.description = "task 'work' submitted"});
  const std::vector<double> before{1, 2, 3, 4}, after{5, 6, 7, 8};
  std::memcpy(copies->blocks[0].before.data(), before.data(), 32);
  for (shadow_block& b : copies->blocks) std::memcpy(b.copy->elements().data(), after.data(), 32);
  const plugin::device device("dev0", "dev", 0, nullptr, tsr_device_desc{}, tsr_device_table{}, {}, nullptr, nullptr);
  checks = 0;
  all.run(c.t, *copies, device);
  EXPECT_EQ(checks, 0) << "the operation has none";
  all.add(c.work, [](const operation::context& found, std::span<const operation::operand> left) {
    ++checks;
    EXPECT_EQ(found.task_name, "work");
    ASSERT_EQ(found.operands.size(), 2u);
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(static_cast<double*>(found.operands[0].host)[1], 2);
    EXPECT_EQ(static_cast<double*>(left[0].host)[1], 6);
    EXPECT_TRUE(std::isnan(static_cast<double*>(found.operands[1].host)[0])) << "memory that nobody has written";
    EXPECT_EQ(static_cast<double*>(left[1].host)[3], 8);
    static_cast<double*>(found.operands[0].host)[1] = 100;  // the host computes in private copies
  });
  all.run(c.t, *copies, device);
  EXPECT_EQ(checks, 1);
  double kept = 0;
  std::memcpy(&kept, copies->blocks[0].before.data() + 8, 8);
  EXPECT_EQ(kept, 2) << "of which the next check gets fresh ones";
}

TEST(use_of, names_block_intent_and_version) {
  checked c;
  EXPECT_EQ(use_of(*c.all[1], intent::read, 3), "A(1) read, version 3");
  EXPECT_EQ(use_of(*c.all[0], intent::scratch, 0), "A(0) scratch");
}

TEST(element_name, counts_as_the_memory_lies) {
  EXPECT_EQ(element_name(shape{10}, 7), "7");
  EXPECT_EQ(element_name(shape{3, 4}, 7), "(1,2)");
  EXPECT_EQ(element_name(shape{2, 3, 4}, 23), "(1,2,3)");
  EXPECT_EQ(element_name(shape{4, 3}, 7, true), "(1,3)") << "the fastest is the program's last";
  EXPECT_EQ(element_name(shape{0, 4}, 1), "(0,1)") << "no element is divided by nothing";
}

template <class T>
std::string text_of(element_type type, T value) {
  return element_text(type, reinterpret_cast<const std::byte*>(&value));
}

TEST(element_text, has_the_value_in_its_own_type) {
  EXPECT_EQ(text_of(element_type::f64, -0.5), "-0.5");
  EXPECT_EQ(text_of(element_type::f32, 1.25f), "1.25");
  EXPECT_EQ(text_of(element_type::i64, std::int64_t{-7}), "-7");
  EXPECT_EQ(text_of(element_type::i32, std::int32_t{7}), "7");
  EXPECT_EQ(text_of(element_type::u8, std::uint8_t{200}), "200");
  EXPECT_EQ(text_of(element_type::c128, std::complex<double>(1, -2)), "1-2i");
  EXPECT_EQ(text_of(element_type::c64, std::complex<float>(0, 2)), "0+2i");
  EXPECT_EQ(text_of(element_type::f16, std::uint16_t{0x3c00}), "0x3c00");
}

}  // namespace
}  // namespace tessera::validate
