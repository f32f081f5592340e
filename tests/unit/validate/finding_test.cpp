// Findings in words, and the journal that keeps them apart.
#include "core/validate/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"

namespace tessera::validate {
namespace {

using test_support::error_of;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

finding sample(std::uint32_t line = 3, fault what = fault::read_changed) {
  return {.fault = what,
          .text = "it was changed",
          .here = {"task 'a' submitted", "/src/a.cpp", line, "A(0) read"},
          .there = {"view taken", "/src/b.cpp", 9, ""},
          .hint = "do not"};
}

TEST(finding, every_fault_has_a_word_of_its_own) {
  std::set<std::string_view> words;
  for (int k = 0; k <= static_cast<int>(fault::outlives); ++k) words.insert(name_of(static_cast<fault>(k)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(fault::outlives) + 1);
  EXPECT_FALSE(words.contains("?"));
}

TEST(finding, a_participant_is_told_with_what_is_known_of_it) {
  struct told {
    participant who;
    std::string text;
  };
  for (const told& one :
       {told{{"task 'a' submitted", "/src/a.cpp", 3, "A(0) read"}, "task 'a' submitted at a.cpp:3, A(0) read"},
        told{{"view taken", "b.cpp", 9, ""}, "view taken at b.cpp:9"},
        told{{"sum of additions", "", 0, ""}, "sum of additions"},
        told{{"sum of additions", "", 0, "A update"}, "sum of additions, A update"}})
    EXPECT_EQ(to_text(one.who), one.text);
  const participant here = participant::at("this", std::source_location::current(), "B");
  EXPECT_THAT(to_text(here), HasSubstr("this at finding_test.cpp:"));
  EXPECT_THAT(to_text(here), EndsWith(", B"));
}

TEST(finding, is_told_with_both_places_its_hint_and_how_often) {
  finding f = sample();
  EXPECT_EQ(to_text(f),
            "read block written: it was changed\n  at: task 'a' submitted at a.cpp:3, A(0) read\n  and: view taken at "
            "b.cpp:9\n  hint: do not");
  f.there = {};
  f.hint.clear();
  f.times = 4;
  EXPECT_EQ(
      to_text(f),
      "read block written: it was changed\n  at: task 'a' submitted at a.cpp:3, A(0) read\n  4 times between these "
      "places");
  EXPECT_THAT(to_text(std::vector<finding>{f, f}), HasSubstr("\n2. read block written"));
  EXPECT_EQ(to_text(std::vector<finding>{}), "");
}

TEST(journal, counts_findings_of_one_kind_between_the_same_places) {
  journal j;
  for (int k = 0; k < 3; ++k) j.add(sample());
  ASSERT_EQ(j.all().size(), 1u);
  EXPECT_EQ(j.all()[0].times, 3u);
}

TEST(journal, keeps_apart_what_differs_in_its_kind_or_its_places) {
  journal j;
  j.add(sample());
  j.add(sample(4));
  j.add(sample(3, fault::stray));
  finding other = sample();
  other.there.line = 10;
  j.add(other);
  finding use = sample();
  use.here.use = "another block";  // of the same places: told once
  j.add(use);
  ASSERT_EQ(j.all().size(), 4u);
  EXPECT_EQ(j.all()[0].times, 2u);
}

TEST(journal, keeps_a_thousand_and_counts_those_further_on) {
  journal j;
  for (std::uint32_t line = 0; line < 1200; ++line) j.add(sample(line));
  EXPECT_EQ(j.all().size(), 1000u);
  j.add(sample(5));
  j.add(sample(1100));
  EXPECT_EQ(j.all().size(), 1000u);
  EXPECT_EQ(j.all()[5].times, 2u);
}

TEST(journal, raises_the_first_since_the_last_time_and_says_how_many_there_are) {
  journal j;
  EXPECT_NO_THROW(j.raise());
  j.add(sample(1));
  j.add(sample(2));
  EXPECT_EQ(j.unreported().size(), 2u);
  const error e = error_of([&] { j.raise(); });
  EXPECT_EQ(e.kind(), error_kind::validation);
  EXPECT_EQ(e.message(), "it was changed");
  EXPECT_THAT(e.where(), HasSubstr("a.cpp:1"));
  EXPECT_THAT(e.where(), HasSubstr("and: view taken at b.cpp:9"));
  EXPECT_THAT(e.what(), HasSubstr("do not; 2 findings since the last fence"));
  EXPECT_NO_THROW(j.raise()) << "they are told";
  EXPECT_THAT(j.unreported(), IsEmpty());
  EXPECT_EQ(j.all().size(), 2u) << "and kept";
  j.add(sample(2));
  EXPECT_THAT(error_of([&] { j.raise(); }).where(), HasSubstr("a.cpp:2")) << "it has happened again";
}

TEST(journal, says_what_else_went_wrong) {
  journal j;
  finding f = sample();
  f.hint.clear();
  j.add(f);
  EXPECT_THAT(error_of([&] { j.raise("a task failed"); }).what(), HasSubstr("besides: a task failed"));
  EXPECT_NO_THROW(j.raise("nothing was found")) << "that is for others to tell";
}

}  // namespace
}  // namespace tessera::validate
