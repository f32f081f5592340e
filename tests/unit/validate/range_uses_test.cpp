// Uses of ranges beside what they are position by position.
#include "core/validate/range_uses.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

namespace tessera::validate {
namespace {

/// What is kept of one position, the plain way.
struct position {
  std::set<event_number> writes;
  std::map<std::tuple<intent, actor_number, block::combination_number>, event_number> others;
};

TEST(range_uses, conflicts_are_those_of_each_position) {
  constexpr std::int64_t positions = 40;
  std::mt19937 draw(7);
  const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 50; ++round) {
    range_uses uses("x");
    std::vector<position> plain(positions);
    for (event_number event = 1; event <= 60; ++event) {
      const std::int64_t begin = below(positions), end = begin + below(static_cast<int>(positions - begin) + 1);
      const auto how = static_cast<intent>(below(6));
      const auto author = static_cast<actor_number>(1 + below(3));
      const range_use now{begin, end, how,
                          static_cast<block::combination_number>(how == intent::accumulate ? below(2) : 0)};
      std::set<event_number> found, expected;
      uses.for_conflicts(now, [&](std::int64_t from, const range_uses::entry& e) {
        EXPECT_LT(std::max(from, begin), std::min(e.end, end)) << "they have a position in common";
        found.insert(e.event);
      });
      const bool any_order = how != intent::write && how != intent::update;
      for (std::int64_t p = begin; p < end; ++p) {
        position& here = plain[static_cast<std::size_t>(p)];
        expected.insert(here.writes.begin(), here.writes.end());
        for (const auto& [key, earlier] : here.others)
          if (!any_order || std::get<0>(key) != how || std::get<2>(key) != now.combination) expected.insert(earlier);
        if (!any_order) {
          here.writes = {event};
          here.others.clear();
        } else {
          here.others[{how, author, now.combination}] = event;
        }
      }
      EXPECT_EQ(found, expected) << "round " << round << ", event " << event;
      uses.add(now, {.author = author, .event = event});
    }
  }
}

}  // namespace
}  // namespace tessera::validate
