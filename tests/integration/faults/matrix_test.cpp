// Every kind of fault on every machine, at several moments: the right result, or an error that names what broke.
#include <gmock/gmock.h>

#include "tests/integration/faults/faulty.hpp"

namespace tessera {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::place;

enum class ending : std::uint8_t {
  right,
  either
};

struct fault {
  const char* name;
  const char* rule;      ///< without its moment
  ending transient;      ///< when it strikes once
  ending lasting;        ///< when it strikes at each call from the start
  const char* words[3];  ///< one of them is in the error
};

constexpr fault faults[] = {
    {"alloc_fails",
     "kind = \"alloc_fails\"\n",
     ending::right,
     ending::either,
     {"RESOURCE_EXHAUSTED", "is full", "no room"}},
    {"copy_refused",
     "kind = \"copy_refused\"\n",
     ending::right,
     ending::either,
     {"the copy of a(", "the copy of spare(", "the copy of block"}},
    {"copy_fails",
     "kind = \"copy_fails\"\n",
     ending::right,
     ending::either,
     {"the copy of", "is full", "did not come"}},
    {"wrong_checksum",
     "kind = \"copy_fails\"\nstatus = \"data_loss\"\n",
     ending::right,
     ending::either,
     {"the copy of", "is full", "did not come"}},
    {"kernel_refused",
     "kind = \"kernel_refused\"\n",
     ending::either,
     ending::either,
     {"(injected", "injected into device", "INTERNAL"}},
    {"kernel_fails",
     "kind = \"kernel_fails\"\n",
     ending::either,
     ending::either,
     {"INTERNAL", "injected into device", "failed"}},
    {"signal_refused",
     "kind = \"signal_refused\"\n",
     ending::right,
     ending::either,
     {"signal of a stream", "did not come", "lost"}},
    {"slow", "kind = \"slow\"\nlatency = \"20 us\"\n", ending::right, ending::right, {"", "", ""}},
};
constexpr fault losses[] = {
    {"lost_at_a_copy",
     "kind = \"lost\"\non = \"copy\"\n",
     ending::either,
     ending::either,
     {"lost", "did not come", "UNAVAILABLE"}},
    {"lost_at_a_kernel",
     "kind = \"lost\"\non = \"kernel\"\n",
     ending::either,
     ending::either,
     {"lost", "did not come", "UNAVAILABLE"}},
};

struct moment {
  const char* name;
  const char* rule;
  bool transient;
};
constexpr moment moments[] = {{"first", "at = 1\n", true},
                              {"later", "at = 15\n", true},
                              {"chance", "probability = 0.02\n", true},
                              {"always", "", false}};

using parameters = std::tuple<std::size_t, fault, moment, bool>;
class matrix : public ::testing::TestWithParam<parameters> {};

std::string name_of(const ::testing::TestParamInfo<parameters>& p) {
  return std::string(testing::places()[std::get<0>(p.param)].name) + "_" + std::get<1>(p.param).name + "_" +
         std::get<2>(p.param).name + (std::get<3>(p.param) ? "_checked" : "");
}

TEST_P(matrix, ends_right_or_with_an_error_that_says_what_broke) {
  const auto& [where, what, when, checked] = GetParam();
  const place& at = testing::places()[where];
  const std::uint64_t seed = testing::number_from("TESSERA_SEED", std::random_device{}());
  const testing::deadline limit(at.name + std::string(" ") + what.name + " " + when.name +
                                ", TESSERA_SEED=" + std::to_string(seed));
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  const std::string more = checked ? "" : "checked_copies = false\n";
  std::string text;
  int wrong = 0;
  std::map<int, std::string> unreadable;
  try {
    runtime rt(testing::faulty_machine(at, std::string(what.rule) + when.rule, more));
    testing::random_blocks program(rt, testing::blocks_on(at), 512);
    testing::run_random(program, seed, 300);
    try {
      rt.fence();
    } catch (const error& e) {
      text = e.what();
    }
    if (text.empty()) wrong = program.wrong(unreadable);
    if (!unreadable.empty()) text = unreadable.begin()->second;
    try {  // what is left of the runtime works: written anew, blocks are as good as new ones
      program.fill_all();
      try {
        rt.fence();  // sums whose addends had failed are told once more
      } catch (const error&) {
      }
      program.fill_all();
      rt.fence();
      std::map<int, std::string> again;
      EXPECT_EQ(program.wrong(again), 0) << "after " << text;
      if (when.transient && std::string(when.name) != "chance") {
        EXPECT_THAT(again, ::testing::IsEmpty());
      }
    } catch (const error& e) {
      EXPECT_TRUE(!when.transient || std::string(when.name) == "chance") << e.what();
    }
  } catch (const error& e) {  // no room for a staging ring, say
    text = e.what();
  }
  EXPECT_EQ(wrong, 0) << "blocks are wrong and nobody has said so";
  const bool sure = !text.empty() && std::string(what.name).find("copy_f") == std::string::npos &&
                    std::string(what.name) != "wrong_checksum";
  const bool twice = std::string(what.name) == "wrong_checksum" &&
                     std::string(when.name) == "chance";  // may strike the second attempt too
  if (when.transient && what.transient == ending::right && (checked || sure) && !twice) {
    EXPECT_EQ(text, "");
  }
  if (!text.empty()) {
    EXPECT_THAT(text, AnyOf(HasSubstr(what.words[0]), HasSubstr(what.words[1]), HasSubstr(what.words[2])));
  }
}

INSTANTIATE_TEST_SUITE_P(faults, matrix,
                         ::testing::Combine(::testing::Range(std::size_t{0}, testing::places().size()),
                                            ::testing::ValuesIn(faults), ::testing::ValuesIn(moments),
                                            ::testing::Values(false)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(devices, matrix,  // not the host, without which nothing goes on
                         ::testing::Combine(::testing::Range(std::size_t{0}, std::size_t{5}),
                                            ::testing::ValuesIn(losses), ::testing::ValuesIn(moments),
                                            ::testing::Values(false)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(copies_that_are_checked, matrix,
                         ::testing::Combine(::testing::Range(std::size_t{0}, testing::places().size()),
                                            ::testing::Values(faults[2], faults[3]), ::testing::ValuesIn(moments),
                                            ::testing::Values(true)),
                         name_of);

}  // namespace
}  // namespace tessera
