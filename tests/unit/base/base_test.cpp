#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"

namespace tessera {
namespace {

TEST(units, sizes_as_people_write_them) {
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("64 MiB"), 64 << 20);
  EXPECT_EQ(parse_bytes(" 1.5GiB "), 3ll << 29);
  EXPECT_EQ(parse_bytes("2 GB"), 2000000000);
  EXPECT_EQ(parse_bytes("0"), 0);
  for (const char* bad : {"", "MiB", "-1", "-4 KiB", "12 MiBs", "1e30 GiB", "nan", "inf", "12 X"})
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
}

TEST(units, rates_and_durations) {
  EXPECT_DOUBLE_EQ(*parse_rate("12 GiB/s"), 12.0 * (1 << 30));
  EXPECT_DOUBLE_EQ(*parse_rate("2.5 TFLOP/s"), 2.5e12);
  EXPECT_DOUBLE_EQ(*parse_rate("1e9"), 1e9);
  EXPECT_EQ(parse_rate("fast"), std::nullopt);
  EXPECT_EQ(parse_rate("12 GiB/s", rate_of::operations), std::nullopt);
  EXPECT_EQ(parse_rate("12 GFLOP/s", rate_of::bytes), std::nullopt);
  EXPECT_DOUBLE_EQ(*parse_rate("12 GB/s", rate_of::bytes), 12e9);
  EXPECT_DOUBLE_EQ(*parse_rate("1e9", rate_of::operations), 1e9);
  EXPECT_EQ(parse_duration("5 us"), 5000);
  EXPECT_EQ(parse_duration("1.5ms"), 1500000);
  EXPECT_EQ(parse_duration("2 s"), 2000000000);
  EXPECT_EQ(parse_duration("2"), std::nullopt);  // a duration needs its unit
}

TEST(units, formatting) {
  EXPECT_EQ(format_bytes(64 << 20), "64 MiB");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
}

TEST(suggest, finds_a_typo_and_refuses_a_stranger) {
  const std::vector<std::string> names{"bandwidth", "latency", "memory"};
  EXPECT_EQ(suggest("bandwith", names), "bandwidth");
  EXPECT_EQ(suggest("latecny", names), "latency");
  EXPECT_EQ(suggest("colour", names), "");
}

TEST(error, text_has_message_place_and_hint) {
  const error e(error_kind::configuration, "unknown key 'x'", "a.toml:3:1", "did you mean 'y'?");
  EXPECT_STREQ(e.what(), "unknown key 'x'\n  at: a.toml:3:1\n  hint: did you mean 'y'?");
  EXPECT_EQ(exit_code_of(e.kind()), 3);
  EXPECT_EQ(name_of(e.kind()), "configuration");
}

TEST(error, every_kind_has_the_word_and_the_code_that_are_documented) {
  struct row {
    error_kind kind;
    std::string_view word;
    int code;
  };
  for (const row& r : {row{error_kind::usage, "usage", 2}, row{error_kind::configuration, "configuration", 3},
                       row{error_kind::input, "input", 4}, row{error_kind::plugin, "plugin", 5},
                       row{error_kind::numerical, "numerical", 6}, row{error_kind::memory, "memory", 7},
                       row{error_kind::task, "task", 8}, row{error_kind::device, "device", 9},
                       row{error_kind::validation, "validation", 10}, row{error_kind::output, "output", 11},
                       row{error_kind::internal, "internal", 70}, row{error_kind::interrupted, "interrupted", 130}}) {
    EXPECT_EQ(name_of(r.kind), r.word);
    EXPECT_EQ(exit_code_of(r.kind), r.code) << r.word;
  }
}

}  // namespace
}  // namespace tessera
