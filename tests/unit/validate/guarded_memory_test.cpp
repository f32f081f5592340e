// Private copies with zones around them, and what is kept of them when their tasks are over.
#include "core/validate/guarded_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/validate/contents.hpp"
#include "core/validate/quarantine.hpp"

namespace tessera::validate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t around = guarded_memory::zone;

TEST(guarded_memory, has_aligned_elements_and_no_damage_at_first) {
  const pattern p(5);
  for (const std::size_t bytes : {0u, 1u, 8u, 255u, 4096u, 100'001u}) {
    guarded_memory m(bytes, p, 7);
    EXPECT_EQ(m.elements().size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.elements().data()) % 256, 0u) << bytes;
    EXPECT_FALSE(m.find_damage(p).has_value()) << bytes;
    std::memset(m.elements().data(), 0x5a, bytes);
    EXPECT_FALSE(m.find_damage(p).has_value()) << "elements are there to be written";
  }
}

TEST(guarded_memory, its_number_has_24_bits) {
  const pattern p(5);
  EXPECT_EQ(guarded_memory(8, p, 0x12345678).number(), 0x345678u);
}

TEST(guarded_memory, finds_what_was_written_around_the_elements_and_where_first) {
  const pattern p(5);
  constexpr std::size_t bytes = 100;
  struct damaged {
    std::vector<std::int64_t> at;  // bytes from the first element
    std::int64_t first;            // as damage::first
  };
  for (const damaged& one :
       {damaged{{-1}, -1}, damaged{{-static_cast<std::int64_t>(around)}, -static_cast<std::int64_t>(around)},
        damaged{{bytes}, 0}, damaged{{bytes + around - 1}, around - 1}, damaged{{bytes + 3, bytes + 4}, 3},
        damaged{{-8, bytes + 1}, -8}}) {
    guarded_memory m(bytes, p, 1);
    for (const std::int64_t at : one.at) m.elements().data()[at] ^= std::byte{0xff};
    const auto found = m.find_damage(p);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->bytes, one.at.size());
    EXPECT_EQ(found->first, one.first);
    m.mend(p);
    EXPECT_FALSE(m.find_damage(p).has_value());
  }
}

/// A quarantine of so many bytes.
struct quarantined {
  explicit quarantined(std::uint64_t bytes) : is(p, found, bytes) {}
  /// Elements of a task that is over.
  std::span<double> keep(std::uint32_t number, std::size_t elements, const std::string& whose = "task 'a' submitted") {
    auto memory = std::make_unique<guarded_memory>(elements * sizeof(double), p, number);
    const std::span<double> there(reinterpret_cast<double*>(memory->elements().data()), elements);
    is.keep(std::move(memory), element_type::f64, {.description = whose, .line = number});
    return there;
  }
  std::vector<finding> look() {
    is.look();
    return found.all();
  }
  pattern p{17};
  journal found;
  quarantine is;
};

TEST(quarantine, tells_of_nobody_who_stays_away) {
  quarantined q(1 << 20);
  q.keep(1, 10);
  q.keep(2, 10);
  EXPECT_THAT(q.look(), IsEmpty());
}

TEST(quarantine, what_is_read_from_it_shows_whose_it_was) {
  quarantined q(1 << 20);
  const double stale = q.keep(77, 10)[3];
  const pattern::taint taint =
      q.p.tainted(std::as_bytes(std::span(&stale, 1)), element_type::f64, pattern::meaning::ended);
  EXPECT_EQ(taint.elements, 1u);
  const auto whose = q.is.whose(taint.id);
  ASSERT_TRUE(whose.has_value());
  EXPECT_EQ(whose->line, 77u);
  EXPECT_FALSE(q.is.whose(78).has_value());
}

TEST(quarantine, tells_of_an_element_that_was_written_since_once) {
  quarantined q(1 << 20);
  q.keep(1, 10)[4] = 1.5;
  const auto first = q.look();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].fault, fault::after_end);
  EXPECT_THAT(first[0].text, HasSubstr("the elements of a task were written after it had ended: element 4 of 10"));
  EXPECT_EQ(q.look()[0].times, 1u) << "it is as it was before that write";
}

TEST(quarantine, tells_of_writes_around_the_elements_of_a_view) {
  quarantined q(1 << 20);
  *(q.keep(1, 10, "view taken").data() + 10) = 1.5;
  const auto found = q.look();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].text, HasSubstr("the elements of a view were written after it had ended, outside of the block"));
}

TEST(quarantine, keeps_the_youngest_and_looks_at_what_leaves) {
  quarantined q(2 * 10 * sizeof(double));
  q.keep(1, 10)[0] = 2;
  q.keep(2, 10);
  EXPECT_THAT(q.found.all(), IsEmpty()) << "both have room";
  q.keep(3, 10);
  ASSERT_EQ(q.found.all().size(), 1u) << "the first was looked at for the last time";
  EXPECT_EQ(q.found.all()[0].here.line, 1u);
  EXPECT_FALSE(q.is.whose(1).has_value());
  EXPECT_TRUE(q.is.whose(2).has_value());
  q.keep(4, 1000);
  EXPECT_FALSE(q.is.whose(3).has_value());
  EXPECT_TRUE(q.is.whose(4).has_value()) << "the youngest stays, however large";
}

TEST(quarantine, covers_the_elements_that_it_keeps_and_not_a_byte_more) {
  quarantined q(1 << 20);
  const std::span<double> there = q.keep(1, 4);
  const auto* const first = reinterpret_cast<const std::byte*>(there.data());
  const std::size_t bytes = there.size_bytes();
  struct range {
    std::ptrdiff_t at;
    std::uint64_t size;
    bool covered;
  };
  for (const range& one :
       {range{0, 1, true}, range{static_cast<std::ptrdiff_t>(bytes) - 1, 10, true}, range{-8, 9, true},
        range{-8, 8, false}, range{static_cast<std::ptrdiff_t>(bytes), 8, false}, range{-100, 1000, true}}) {
    participant whose;
    EXPECT_EQ(q.is.covers(first + one.at, one.size, whose), one.covered) << one.at << " " << one.size;
    EXPECT_EQ(whose.line, one.covered ? 1u : 0u);
  }
}

TEST(checksum, differs_when_any_byte_or_the_length_does) {
  std::vector<std::byte> bytes(41);
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(k * 7);
  const std::uint64_t before = checksum(bytes);
  EXPECT_EQ(checksum(bytes), before);
  for (std::byte& one : bytes) {
    one ^= std::byte{1};
    EXPECT_NE(checksum(bytes), before);
    one ^= std::byte{1};
  }
  std::vector<std::byte> zeros(64);
  for (std::size_t size = 1; size <= zeros.size(); ++size)
    EXPECT_NE(checksum(std::span(zeros).first(size)), checksum(std::span(zeros).first(size - 1))) << size;
}

TEST(contents, of_a_block_are_known_for_its_last_version_alone) {
  block::record a, b;
  contents known;
  EXPECT_FALSE(known.find(a, 1).has_value());
  known.made(a, {.version = 1, .sum = 5, .known = true, .maker = {.description = "first"}});
  known.made(b, {.version = 1, .sum = 6, .known = true, .maker = {.description = "other"}});
  ASSERT_TRUE(known.find(a, 1).has_value());
  EXPECT_EQ(known.find(a, 1)->maker.description, "first");
  EXPECT_FALSE(known.find(a, 2).has_value());
  known.made(a, {.version = 2, .sum = 7, .known = true, .maker = {.description = "second"}});
  EXPECT_FALSE(known.find(a, 1).has_value());
  EXPECT_EQ(known.find(a, 2)->sum, 7u);
  known.forget(a);
  EXPECT_FALSE(known.find(a, 2).has_value());
  EXPECT_EQ(known.find(b, 1)->sum, 6u);
}

}  // namespace
}  // namespace tessera::validate
