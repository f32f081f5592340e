// The user's options against a plugin's schema.
#include "core/plugin/option.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <variant>

#include "core/base/error.hpp"
#include "core/plugin/explain.hpp"
#include "core/plugin/option_value.hpp"

namespace {

using namespace tessera;
using namespace tessera::plugin;
using testing::HasSubstr;

std::vector<option_schema> sim_schema() {
  return {{"clock", TSR_OPTION_STRING, "real", 0, 0, {"real", "virtual"}, "Which clock runs."},
          {"threads", TSR_OPTION_INT, "2", 1, 64, {}, "Threads."},
          {"device[].memory", TSR_OPTION_BYTES, "64 MiB", 4096, 1099511627776.0, {}, "Capacity."},
          {"device[].rate", TSR_OPTION_RATE, "2 TFLOP/s", 0, 0, {}, "Speed."},
          {"device[].delay", TSR_OPTION_DURATION, std::nullopt, 0, 1e9, {}, "Latency."},
          {"device[].link[].to", TSR_OPTION_INT, "0", 0, 0, {}, "Peer."},
          {"device[].link[].duplex", TSR_OPTION_BOOL, "true", 0, 0, {}, "Both ways."},
          {"scale", TSR_OPTION_FLOAT, "1.5", -2, 2, {}, "A factor."}};
}

const option_value* find(const std::vector<option_value>& values, const std::string& name) {
  for (const option_value& value : values)
    if (value.name == name) return &value;
  return nullptr;
}

error failure_of(const std::vector<raw_option>& values) {
  try {
    check_options("sim", sim_schema(), values);
  } catch (const error& failure) {
    return failure;
  }
  return error(error_kind::internal, "nothing was thrown");
}

TEST(options, defaults_outside_arrays_only) {
  const auto values = check_options("sim", sim_schema(), {});
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(find(values, "clock")->text, "real");
  EXPECT_EQ(find(values, "threads")->integer, 2);
  EXPECT_DOUBLE_EQ(find(values, "scale")->number, 1.5);
}

TEST(options, each_table_gets_its_defaults) {
  const auto values = check_options("sim", sim_schema(),
                                    {{"device[0].memory", std::string("1 GiB"), ""},
                                     {"device[1].delay", std::string("5 us"), ""},
                                     {"device[1].link[0].to", std::int64_t{3}, ""},
                                     {"device[2]", true, ""}});
  EXPECT_EQ(find(values, "device[0].memory")->integer, 1 << 30);
  EXPECT_EQ(find(values, "device[1].memory")->integer, 64 << 20);
  EXPECT_EQ(find(values, "device[2].memory")->integer, 64 << 20) << "a table without keys exists too";
  EXPECT_DOUBLE_EQ(find(values, "device[1].rate")->number, 2e12);
  EXPECT_EQ(find(values, "device[1].delay")->integer, 5000);
  EXPECT_EQ(find(values, "device[0].delay"), nullptr) << "no default, not given";
  EXPECT_EQ(find(values, "device[1].link[0].to")->integer, 3);
  EXPECT_EQ(find(values, "device[1].link[0].duplex")->integer, 1);
  EXPECT_EQ(find(values, "device[0].link[0].to"), nullptr);
}

TEST(options, unknown_key_names_the_nearest_and_the_place) {
  const error failure = failure_of({{"device[1].memroy", std::int64_t{1}, "laptop.toml:12:3"}});
  EXPECT_EQ(failure.kind(), error_kind::configuration);
  EXPECT_EQ(failure.where(), "laptop.toml:12:3");
  EXPECT_THAT(failure.message(), HasSubstr("device[1].memroy"));
  EXPECT_EQ(failure.hint(), "did you mean \"device[1].memory\"?");
  EXPECT_THAT(failure_of({{"memory", std::int64_t{1}, ""}}).hint(), HasSubstr("device[].memory"));
  EXPECT_THAT(failure_of({{"zzz", std::int64_t{1}, ""}}).hint(), HasSubstr("tessera plugins explain sim"));
  EXPECT_EQ(failure_of({{"device[x].memory", std::int64_t{1}, ""}}).kind(), error_kind::configuration);
}

TEST(options, wrong_types_ranges_and_choices) {
  EXPECT_THAT(failure_of({{"threads", 2.5, ""}}).message(), HasSubstr("whole number"));
  EXPECT_THAT(failure_of({{"threads", std::string("many"), ""}}).message(), HasSubstr("whole number"));
  EXPECT_THAT(failure_of({{"threads", true, ""}}).message(), HasSubstr("whole number"));
  EXPECT_THAT(failure_of({{"threads", std::int64_t{65}, ""}}).message(), HasSubstr("outside 1 .. 64"));
  EXPECT_THAT(failure_of({{"clock", std::int64_t{1}, ""}}).message(), HasSubstr("text in quotes"));
  EXPECT_THAT(failure_of({{"clock", std::string("virtaul"), ""}}).hint(), HasSubstr("\"virtual\""));
  EXPECT_THAT(failure_of({{"device[0].memory", std::string("64 XB"), ""}}).message(), HasSubstr("size such as"));
  EXPECT_THAT(failure_of({{"device[0].memory", std::string("99999999 TiB"), ""}}).message(),
              HasSubstr("\"99999999 TiB\", which is out of range: sizes are below 8 EiB"));
  EXPECT_THAT(failure_of({{"device[0].memory", std::string("9 TiB/s"), ""}}).message(), HasSubstr("size such as"));
  EXPECT_THAT(failure_of({{"device[0].memory", std::int64_t{-1}, ""}}).message(), HasSubstr("outside 4 KiB .. 1 TiB"));
  EXPECT_THAT(failure_of({{"device[0].delay", std::string("2 s"), ""}}).message(), HasSubstr("outside"));
  EXPECT_THAT(failure_of({{"scale", -2.5, ""}}).message(), HasSubstr("outside -2 .. 2"));
  EXPECT_THAT(failure_of({{"scale", std::numeric_limits<double>::quiet_NaN(), ""}}).message(), HasSubstr("a number"));
}

TEST(options, texts_serve_every_type) {
  const auto values = check_options("sim", sim_schema(),
                                    {{"threads", std::string("8"), "environment"},
                                     {"scale", std::string("-0.5"), "environment"},
                                     {"device[0].link[0].duplex", std::string("off"), "environment"}});
  EXPECT_EQ(find(values, "threads")->integer, 8);
  EXPECT_DOUBLE_EQ(find(values, "scale")->number, -0.5);
  EXPECT_EQ(find(values, "device[0].link[0].duplex")->integer, 0);
}

TEST(options, are_listed_with_values_defaults_and_places) {
  const auto all = explain_options(
      "sim", sim_schema(),
      {{"device[1].memory", std::string("1 GiB"), "a.toml:3:1"}, {"threads", std::int64_t{4}, "command line"}});
  const auto row = [&](const std::string& name) {
    for (const explained_option& o : all)
      if (o.name == name) return o.value + (o.is_default ? " default " : " given ") + o.where;
    return std::string();
  };
  EXPECT_EQ(row("clock"), "\"real\" default default");
  EXPECT_EQ(row("threads"), "4 given command line");
  EXPECT_EQ(row("device[1].memory"), "\"1 GiB\" given a.toml:3:1");
  EXPECT_EQ(row("device[1].rate"), "\"2 TFLOP/s\" default default");
  EXPECT_EQ(row("device[1].delay"), "(none) default default");
  EXPECT_EQ(row("device[0].rate"), "") << "a table that does not exist";
  EXPECT_EQ(row("device[1].link[0].to"), "");
  EXPECT_THROW(explain_options("sim", sim_schema(), {{"treads", std::int64_t{4}, ""}}), error);
}

TEST(options, explain_shows_type_default_range_and_sentence) {
  const std::string text = explain(sim_schema());
  EXPECT_THAT(text, HasSubstr("device[].memory"));
  EXPECT_THAT(text, HasSubstr("64 MiB"));
  EXPECT_THAT(text, HasSubstr("4 KiB .. 1 TiB"));
  EXPECT_THAT(text, HasSubstr("real | virtual"));
  EXPECT_THAT(text, HasSubstr("Threads."));
  EXPECT_THAT(text, HasSubstr("duration"));
}

TEST(options, of_one_type_are_read_from_what_may_stand_for_it_and_from_nothing_else) {
  using value = std::variant<bool, std::int64_t, double, std::string>;
  struct reading {
    tsr_option_type type;
    value given;
    std::optional<double> number;  // none: refused
  };
  for (const reading& one : {
           reading{TSR_OPTION_BOOL, true, 1},
           reading{TSR_OPTION_BOOL, std::string("off"), 0},
           reading{TSR_OPTION_BOOL, std::string("perhaps"), std::nullopt},
           reading{TSR_OPTION_BOOL, std::int64_t{1}, std::nullopt},
           reading{TSR_OPTION_INT, std::int64_t{-3}, -3},
           reading{TSR_OPTION_INT, std::string("12"), 12},
           reading{TSR_OPTION_INT, std::string("12x"), std::nullopt},
           reading{TSR_OPTION_INT, std::string(""), std::nullopt},
           reading{TSR_OPTION_INT, 1.0, std::nullopt},
           reading{TSR_OPTION_INT, std::string("99999999999999999999"), std::nullopt},
           reading{TSR_OPTION_FLOAT, std::int64_t{2}, 2},
           reading{TSR_OPTION_FLOAT, std::string("-2.5e1"), -25},
           reading{TSR_OPTION_FLOAT, std::string("inf"), std::nullopt},
           reading{TSR_OPTION_FLOAT, std::numeric_limits<double>::quiet_NaN(), std::nullopt},
           reading{TSR_OPTION_BYTES, std::string("2 KiB"), 2048},
           reading{TSR_OPTION_BYTES, std::int64_t{7}, 7},
           reading{TSR_OPTION_BYTES, std::string("-1"), std::nullopt},
           reading{TSR_OPTION_BYTES, std::int64_t{-1}, std::nullopt},
           reading{TSR_OPTION_BYTES, std::string("9 EiB"), std::nullopt},
           reading{TSR_OPTION_BYTES, true, std::nullopt},
           reading{TSR_OPTION_RATE, std::string("2 GFLOP/s"), 2e9},
           reading{TSR_OPTION_RATE, 1.5, 1.5},
           reading{TSR_OPTION_RATE, -1.5, std::nullopt},
           reading{TSR_OPTION_RATE, std::int64_t{-1}, std::nullopt},
           reading{TSR_OPTION_DURATION, std::string("3 us"), 3000},
           reading{TSR_OPTION_DURATION, std::string("3"), 3},
           reading{TSR_OPTION_DURATION, std::string("-3"), std::nullopt},
           reading{TSR_OPTION_DURATION, std::int64_t{-3}, std::nullopt},
           reading{TSR_OPTION_DURATION, std::string("3 parsecs"), std::nullopt},
           reading{TSR_OPTION_STRING, std::int64_t{3}, std::nullopt},
           reading{static_cast<tsr_option_type>(99), std::int64_t{3}, std::nullopt},
       }) {
    const option_schema schema{"x", one.type, std::nullopt, 0, 0, {}, "What it is."};
    const raw_option given{"x", one.given, "here.toml:1:1"};
    const std::string what = std::to_string(one.type) + ", value " + std::to_string(one.given.index());
    try {
      const option_value read = check_value("sim", schema, given);
      ASSERT_TRUE(one.number.has_value()) << what;
      const bool real = one.type == TSR_OPTION_FLOAT || one.type == TSR_OPTION_RATE;
      EXPECT_EQ(real ? read.number : static_cast<double>(read.integer), *one.number) << what;
    } catch (const error& refused) {
      EXPECT_FALSE(one.number.has_value()) << what << ": " << refused.what();
      EXPECT_EQ(refused.kind(), error_kind::configuration);
      EXPECT_EQ(refused.where(), "here.toml:1:1");
    }
  }
}

TEST(options, a_range_is_said_in_the_units_of_the_option) {
  struct range {
    tsr_option_type type;
    double low, high;
    std::string text;
  };
  for (const range& one :
       {range{TSR_OPTION_INT, 0, 0, ""}, range{TSR_OPTION_INT, 1, 64, "1 .. 64"},
        range{TSR_OPTION_INT, 1, 0x1p62, "at least 1"}, range{TSR_OPTION_BYTES, 4096, 1 << 20, "4 KiB .. 1 MiB"},
        range{TSR_OPTION_RATE, 1024, 0x1p63, "at least 1 KiB/s"}, range{TSR_OPTION_DURATION, 0, 1e9, "0 .. 1 s"},
        range{TSR_OPTION_FLOAT, -2, 2, "-2 .. 2"}})
    EXPECT_EQ(range_text({"x", one.type, std::nullopt, one.low, one.high, {}, ""}), one.text);
}

}  // namespace
