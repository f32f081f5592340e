// Deep copies in the runtime: there, used there, and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "settings.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/deepcopy/structures.hpp"

namespace tessera {
namespace {

using deepcopy_test::branch;
using deepcopy_test::link;
using test_support::error_of;
using test_support::message_of;
using testing::copy_setting;
using ::testing::HasSubstr;

/// A ring of levels with arrays.
struct ring {
  std::vector<std::vector<double>> values;
  std::vector<link> links;
  explicit ring(int count, int elements = 100) : values(std::size_t(count)), links(std::size_t(count)) {
    for (std::size_t k = 0; k < links.size(); ++k) {
      values[k].resize(std::size_t(elements));
      std::iota(values[k].begin(), values[k].end(), double(k));
      links[k] = {values[k].data(), &links[(k + 1) % links.size()], &links[0], elements, int(k)};
    }
  }
};

class deep_copies : public ::testing::TestWithParam<copy_setting> {
 protected:
  copy_target there() { return to(rt, GetParam().destination); }
  task_options at_destination() { return {.at = rt.at(GetParam().destination)}; }
  std::pair<std::uint64_t, std::uint64_t> moved() {
    front_end(rt).fence();
    std::uint64_t transfers = 0;
    const statistics s = rt.statistics();
    for (const link_statistics& l : s.links) transfers += l.transfers;
    return {transfers, s.bytes_transferred()};
  }
  runtime rt{GetParam().make()};
};

TEST_P(deep_copies, move_once_and_come_back_as_they_were) {
  ring r(5);
  const auto before = moved();
  auto copy = deep_copy(r.links[0], there(), {}, {.poison = true});
  const copy_report there_report = copy.report();
  EXPECT_EQ(there_report.objects, 5u);
  EXPECT_EQ(there_report.arrays, 5u);
  EXPECT_EQ(there_report.pointers, 15u);
  EXPECT_EQ(there_report.nominal_bytes, 5 * (32 + 800u));
  EXPECT_GE(there_report.bytes, there_report.nominal_bytes);
  const std::uint64_t transfers = GetParam().moves ? 1 : 0;
  EXPECT_EQ(there_report.transfers, transfers);
  const auto after = moved();
  EXPECT_EQ(after.first - before.first, transfers);
  EXPECT_EQ(after.second - before.second, there_report.bytes_moved);
  for (auto& v : r.values) std::fill(v.begin(), v.end(), -1.0);  // the copy has its own
  (void)copy.copy_back();
  for (std::size_t k = 0; k < 5; ++k)
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(r.values[k][i], double(k + i)) << k << ' ' << i;
  EXPECT_EQ(r.links[0].values, r.values[0].data());
  EXPECT_EQ(r.links[4].next, &r.links[0]);
}

TEST_P(deep_copies, are_used_by_tasks_of_the_host_wherever_they_are) {
  ring r(4);
  auto copy = deep_copy(r.links[0], there());
  for (int round = 0; round < 3; ++round) {
    rt.submit(
        "follow", GetParam().is_host() ? at_destination() : task_options{},
        [](object_view<link> root) {
          link* l = root.get();
          do {
            for (int i = 0; i < l->count; ++i) l->values[i] += l->number;
            l->number += l->first == root.get() ? 10 : 0;
            l = l->next;
          } while (l != root.get());
        },
        update(copy));
    rt.submit(
        "look",
        [](object_view<const link> root) {
          if (root->next->next->next->next != root.get()) throw std::runtime_error("the ring is open");
        },
        read(copy));
  }
  rt.fence();
  (void)copy.copy_back();
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(r.links[std::size_t(k)].number, k + 30);
    EXPECT_EQ(r.values[std::size_t(k)][7], k + 7 + 3 * k + 30.0) << k;  // 0 + k, 10 + k, 20 + k
  }
}

TEST_P(deep_copies, are_shown_to_the_program) {
  ring r(4);
  auto copy = deep_copy(r.links[0], there());
  const auto add = [](object_view<link> root) { root->next->values[1] += 1; };
  rt.submit("add", add, update(copy));
  {
    auto seen = copy.update_host();
    EXPECT_EQ(seen->next->next->next->next, seen.get());
    EXPECT_NE(seen->next, r.links[0].next);
    EXPECT_EQ(seen->next->values[1], r.values[1][1] + 1);
    seen->next->values[1] *= 2;
    rt.submit("add", add, update(copy));  // waits for the view
  }
  const double before = r.values[1][1];
  (void)copy.copy_back();
  EXPECT_EQ(r.values[1][1], 2 * (before + 1) + 1);
}

TEST_P(deep_copies, have_their_pointers_made_before_they_move) {
  if (!GetParam().is_host() || std::string(GetParam().name) == "validated") return;  // tasks see copies there
  ring r(3);
  auto copy = deep_copy(r.links[0], there());
  std::atomic<bool> right{false};
  rt.submit(
      "look", at_destination(),
      [&right](view<const std::uint8_t> arena) {
        std::uint64_t base = 0;
        std::memcpy(&base, arena.data(), sizeof base);
        right = base == reinterpret_cast<std::uintptr_t>(arena.data());
      },
      read(copy.block(0)));
  rt.fence();
  EXPECT_TRUE(right) << "no task has had to make them again";
}

TEST_P(deep_copies, copy_named_parts_alone) {
  ring r(6);
  const auto before = moved();
  auto copy = deep_copy(r.links[0], there(), {"next.next.values"});
  EXPECT_EQ(copy.report().arrays, 1u);
  EXPECT_EQ(copy.report().objects, 3u);
  EXPECT_EQ(copy.report().pointers, 3u);
  EXPECT_EQ(copy.report().nominal_bytes, 3 * 32 + 800u);
  EXPECT_EQ(moved().first - before.first, GetParam().moves ? 1u : 0u);
  std::atomic<bool> right{false};
  rt.submit(
      "look",
      [&right](object_view<link> root) {
        right = root->values == nullptr && root->first == nullptr && root->next->values == nullptr &&
                root->next->next->next == nullptr && root->next->next->values[3] == 5;
        root->next->next->values[3] = 55;
      },
      update(copy));
  rt.fence();
  EXPECT_TRUE(right);
  (void)copy.copy_back();
  EXPECT_EQ(r.values[2][3], 55);
  EXPECT_EQ(r.values[1][3], 4);
  EXPECT_EQ(r.links[0].first, &r.links[0]);
}

TEST_P(deep_copies, in_a_block_per_object) {
  ring r(3);
  const auto run = [&] { return deep_copy(r.links[0], there(), {}, {.form = copy_form::block_per_object}); };
  if (!GetParam().addresses) {
    const error refused = error_of([&] { (void)run(); });
    EXPECT_EQ(refused.kind(), error_kind::usage);
    EXPECT_THAT(refused.what(), HasSubstr("has no addresses"));
    EXPECT_THAT(refused.where(), HasSubstr("copies_test.cpp:"));
    rt.fence();
    return;
  }
  const auto before = moved();
  auto copy = run();
  EXPECT_EQ(copy.size(), 6u);
  EXPECT_EQ(copy.report().transfers, GetParam().moves ? 6u : 0u);
  EXPECT_EQ(moved().first - before.first, copy.report().transfers);
  if (GetParam().is_host() && std::string(GetParam().name) != "validated") {
    std::vector<block_access> uses;
    for (std::size_t k = 0; k < copy.size(); ++k) uses.push_back(update(copy.block(k)));
    rt.submit(
        "follow", at_destination(), [&copy](task_blocks blocks) { copy.open(blocks)->next->next->values[0] = 99; },
        uses);
    rt.fence();
    (void)copy.copy_back();
    EXPECT_EQ(r.values[2][0], 99);
  }
  EXPECT_THAT(message_of([&] { (void)update(copy); }, error_kind::usage), HasSubstr("a deep copy of 6 blocks as one"));
}

TEST_P(deep_copies, to_no_location_tell_where_the_program_asked_for_them) {
  ring r(2);
  const error refused = error_of([&] { (void)deep_copy(r.links[0], to(rt, "nowhere")); });
  EXPECT_EQ(refused.kind(), error_kind::usage);
  EXPECT_THAT(refused.where(), HasSubstr("copies_test.cpp:"));
}

TEST_P(deep_copies, of_random_trees_are_what_a_copy_by_hand_is) {
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::vector<branch>> nodes(40);
    std::vector<std::vector<float>> weights;
    weights.reserve(2000);
    branch root;
    std::vector<branch*> open{&root};
    for (auto& children : nodes) {  // children of a node chosen at random that has none
      branch* const at = open[random() % open.size()];
      if (at->children != nullptr) continue;
      children.resize(1 + random() % 6);
      at->children = children.data(), at->child_count = std::int64_t(children.size());
      for (branch& c : children) {
        c.parent = random() % 3 == 0 ? open[random() % open.size()] : at;
        weights.emplace_back(random() % 5);
        for (float& w : weights.back()) w = float(random() % 100);
        c.weights = weights.back().data(), c.weight_count = std::int64_t(weights.back().size());
        open.push_back(&c);
      }
    }
    auto copy = deep_copy(root, there());
    rt.submit(
        "double",
        [](object_view<branch> top) {
          std::vector<branch*> todo{top.get()};
          while (!todo.empty()) {
            branch* const b = todo.back();
            todo.pop_back();
            for (std::int64_t k = 0; k < b->weight_count; ++k) b->weights[k] *= 2;
            for (std::int64_t k = 0; k < b->child_count; ++k) {
              b->children[k].weight_count += b->children[k].parent == b ? 0 : 1000;  // seen by the check below
              todo.push_back(&b->children[k]);
              b->children[k].weight_count %= 1000;
            }
          }
        },
        update(copy));
    rt.fence();
    const auto expected = weights;
    (void)copy.copy_back();
    for (std::size_t k = 0; k < weights.size(); ++k)
      for (std::size_t i = 0; i < weights[k].size(); ++i) ASSERT_EQ(weights[k][i], 2 * expected[k][i]);
  }
}

TEST_P(deep_copies, outlive_a_failed_task) {
  ring r(2);
  auto copy = deep_copy(r.links[0], there());
  rt.submit(
      "break", [](object_view<link>) { throw std::runtime_error("broken on purpose"); }, update(copy));
  EXPECT_THAT(message_of([&] { (void)copy.copy_back(); }, error_kind::task), HasSubstr("broken on purpose"));
  EXPECT_EQ(r.values[0][1], 1) << "nothing was brought back";
  try {
    rt.fence();
  } catch (const error&) {
  }
}

TEST_P(deep_copies, have_places_for_kernels_that_take_addresses) {
  ring r(3);
  auto copy = deep_copy(r.links[0], there());
  const auto place = copy.place_of(&r.values[1][2]);
  const auto bytes = [&] {
    host_view<const std::uint8_t> seen(
        {rt, copy.block(place.block).record(), intent::read, std::source_location::current()},
        copy.block(place.block).extents());
    double value = 0;
    std::memcpy(&value, seen.data() + place.offset, sizeof value);
    return value;
  };
  EXPECT_EQ(bytes(), 3);
  EXPECT_THAT(message_of([&] { (void)copy.place_of(&rt); }, error_kind::usage), HasSubstr("no part of the deep copy"));
  EXPECT_THAT(message_of([&] { (void)copy.block(1); }, error_kind::usage), HasSubstr("has no block 1"));
}

TEST_P(deep_copies, are_refused_at_no_location_and_inside_tasks) {
  ring r(1);
  EXPECT_THAT(message_of([&] { (void)deep_copy(r.links[0], to(rt, "nowhere")); }, error_kind::usage),
              HasSubstr("nowhere"));
  rt.submit("inside", [&](task_context) { (void)deep_copy(r.links[0], there()); });
  EXPECT_THAT(message_of([&] { rt.fence(); }, error_kind::usage), HasSubstr("inside a task"));
  EXPECT_THAT(message_of([&] { (void)rt.record([&] { (void)deep_copy(r.links[0], there()); }); }, error_kind::usage),
              HasSubstr("inside a recording"));
  auto copy = deep_copy(r.links[0], there());  // nothing is left of those
  copy.copy_back();
}

INSTANTIATE_TEST_SUITE_P(memories, deep_copies, testing::copy_settings, testing::name_of);
#if defined(TESSERA_TEST_OPENCL)
INSTANTIATE_TEST_SUITE_P(opencl, deep_copies, testing::copy_settings_opencl, testing::name_of);
#endif

TEST(deep_copies_of_a_runtime, that_were_moved_from_have_nothing) {
  ring r(2);
  runtime rt(testing::host_only());
  auto copy = deep_copy(r.links[0], to(rt, "machine"));
  auto other = std::move(copy);
  const auto refused = [&](auto call) {
    EXPECT_THAT(message_of(call, error_kind::usage), HasSubstr("a deep copy that was moved from has nothing"));
  };
  // NOLINTBEGIN(bugprone-use-after-move)
  refused([&] { (void)copy.copy_back(); });
  refused([&] { (void)copy.update_host(); });
  refused([&] { (void)update(copy); });
  refused([&] { (void)copy.place_of(&r); });
  EXPECT_EQ(copy.size(), 0u);
  EXPECT_EQ(copy.report().bytes, 0u);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(other.copy_back().objects, 2u);
}

TEST(deep_copies_of_a_runtime, are_refused_when_it_has_ended) {
  ring r(2);
  auto rt = std::make_unique<runtime>(testing::machine_of("plugins = [\"host\"]\n"));
  auto copy = deep_copy(r.links[0], to(*rt, "machine"));
  rt.reset();
  EXPECT_THAT(message_of([&] { (void)copy.copy_back(); }, error_kind::usage), HasSubstr("whose runtime has ended"));
  EXPECT_THAT(message_of([&] { (void)copy.update_host(); }, error_kind::usage), HasSubstr("whose runtime has ended"));
}

TEST(deep_copies_of_a_small_memory, are_refused_when_they_can_never_be_there) {
  runtime rt(testing::with_sims(1, "1 MiB", false, 2, "placement = \"eager\"\nhistory = \"off\"\n"));
  ring large(2, 100'000);
  for (const copy_form form : {copy_form::one_arena, copy_form::block_per_object}) {
    const std::string message =
        message_of([&] { (void)deep_copy(large.links[0], to(rt, "sim0"), {}, {.form = form}); }, error_kind::memory);
    EXPECT_THAT(message, HasSubstr("a deep copy needs 1.53 MiB, and the memory of 'sim0' has 1 MiB, of which"));
    EXPECT_THAT(message, HasSubstr("copies_test.cpp:"));
    EXPECT_THAT(message, HasSubstr("copy the parts that are used there"));
  }
  auto part = deep_copy(large.links[0], to(rt, "sim0"), {"values"});  // half of it
  EXPECT_EQ(part.report().transfers, 1u);
}

// A device that holds one copy and not two: the first leaves, comes back to another address, and is right all the same.
TEST(deep_copies_of_a_full_memory, are_made_for_where_they_come_back) {
  runtime rt(
      testing::machine_of("plugins = [\"host\"]\nplacement = \"pinned\"\n[memory]\nhost_limit = \"256 KiB\"\n"
                          "slab_bytes = \"64 KiB\"\n" +
                              testing::two_hosts,
                          4));
  std::vector<std::unique_ptr<ring>> rings;
  std::vector<deep_copied<link>> copies;
  for (int k = 0; k < 6; ++k) {
    rings.push_back(std::make_unique<ring>(8, 1000));
    copies.push_back(deep_copy(rings.back()->links[0], to(rt, k % 2 == 0 ? "numa1" : "numa0")));
  }
  for (int round = 0; round < 4; ++round)
    for (std::size_t k = 0; k < copies.size(); ++k)
      rt.submit(
          "add", {.at = rt.at((k + std::size_t(round)) % 2 == 0 ? "numa1" : "numa0")},
          [](object_view<link> root) {
            link* l = root.get();
            for (int n = 0; n < 8; ++n, l = l->next) l->values[l->count - 1] += 1;
            if (l != root.get()) throw std::runtime_error("the ring is open");
          },
          update(copies[k]));
  rt.fence();
  for (std::size_t k = 0; k < copies.size(); ++k) {
    (void)copies[k].copy_back();
    for (std::size_t n = 0; n < 8; ++n) EXPECT_EQ(rings[k]->values[n].back(), double(n) + 999 + 4) << k << ' ' << n;
  }
}

}  // namespace
}  // namespace tessera
