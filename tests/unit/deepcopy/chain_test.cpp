// Chains of pointers: what they reach, and what they refuse.
#include "tessera/detail/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/error_of.hpp"

namespace {

using tessera::chain;
using tessera::error_kind;
using tessera::test_support::message_of;
using testing::HasSubstr;

struct traits {
  double* positions = nullptr;
  float box[3] = {1, 2, 3};
  std::vector<std::int32_t> counts{4, 5};
  const double* table = nullptr;
};
struct atoms {
  traits* all = nullptr;
  traits inside;
  std::unique_ptr<traits> owned = std::make_unique<traits>();
  std::unique_ptr<double[]> energies = std::make_unique<double[]>(7);
  std::shared_ptr<traits> shared;
};
struct simulation {
  atoms* data = nullptr;
  double step = 0.5;
};
struct derived : simulation {};

TEST(chain, reaches_through_pointers_objects_and_smart_pointers) {
  double positions[6] = {};
  traits t;
  t.positions = positions;
  atoms a;
  a.all = &t;
  a.shared = std::make_shared<traits>(t);
  simulation sim{&a};
  const auto found = chain(sim, &simulation::data, &atoms::all, &traits::positions)[6];
  static_assert(std::is_same_v<decltype(found), const tessera::chained_elements<double>>);
  EXPECT_EQ(found.data(), positions);
  EXPECT_EQ(found.size(), 6);
  EXPECT_EQ(found.name(), "double behind 3 links");
  EXPECT_EQ(chain(a, &atoms::shared, &traits::positions)[1].data(), positions);
  EXPECT_EQ(chain(a, &atoms::owned, &traits::box)[3].data(), a.owned->box);
  EXPECT_EQ(chain(a, &atoms::inside, &traits::counts)[2].data(), a.inside.counts.data());
  EXPECT_EQ(chain(a, &atoms::energies)[7].data(), a.energies.get());
  EXPECT_EQ(&chain(sim, &simulation::data).get(), &a);
  EXPECT_EQ(chain(&sim, &simulation::data, &atoms::all).then(&traits::positions)[6].data(), positions);
  derived more;
  more.data = &a;
  EXPECT_EQ(chain(more, &simulation::data, &atoms::all, &traits::positions)[6].data(), positions);
}

TEST(chain, is_evaluated_once) {
  double before[2] = {}, after[2] = {};
  traits t;
  t.positions = before;
  const auto found = chain(t, &traits::positions)[2];
  t.positions = after;
  EXPECT_EQ(found.data(), before);
}

TEST(chain, keeps_constants_constant) {
  const traits fixed;
  static_assert(std::is_same_v<decltype(chain(fixed, &traits::box)[3]), tessera::chained_elements<const float>>);
  static_assert(std::is_same_v<decltype(chain(fixed, &traits::table)[0]), tessera::chained_elements<const double>>);
  EXPECT_EQ(chain(fixed, &traits::box)[3].data(), fixed.box);
}

TEST(chain, takes_one_of_several_objects) {
  traits several[3];
  double positions[1];
  several[2].positions = positions;
  atoms a;
  a.all = several;
  EXPECT_EQ(chain(a, &atoms::all).element(2).then(&traits::positions)[1].data(), positions);
}

TEST(chain, goes_on_behind_an_element_that_leads_somewhere) {
  struct table {
    traits* raw[2] = {};
    std::vector<std::unique_ptr<traits>> owned;
    std::vector<std::vector<double>> rows{{1}, {2, 3}};
  };
  traits t;
  double positions[5];
  t.positions = positions;
  table many;
  many.raw[1] = &t;
  many.owned.push_back(std::make_unique<traits>(t));
  EXPECT_EQ(chain(many, &table::raw).element(1).then(&traits::positions)[5].data(), positions);
  EXPECT_EQ(chain(many, &table::owned).element(0).then(&traits::positions)[5].data(), positions);
  EXPECT_EQ(chain(many, &table::rows).element(1)[2].data(), many.rows[1].data());
  EXPECT_THAT(message_of([&] { (void)chain(many, &table::rows).element(1)[3]; }, error_kind::usage),
              HasSubstr("holds 2 of double"));
  EXPECT_THAT(message_of([&] { (void)chain(many, &table::raw).element(0).then(&traits::box); }, error_kind::usage),
              HasSubstr("is null"));
}

TEST(chain, has_rows) {
  traits t;
  const auto rows = chain(t, &traits::box)[{1, 3}];
  EXPECT_THAT(rows.extents(), ::testing::ElementsAre(1, 3));
  EXPECT_EQ(rows.size(), 3);
  EXPECT_THAT(message_of(
                  [&] {
                    (void)chain(t, &traits::box)[{2, 3}];
                  },
                  error_kind::usage),
              HasSubstr("the count of a chain is 6, but link 1 holds 3 of float"));
}

TEST(chain, of_no_elements_may_end_nowhere) {
  traits t;
  EXPECT_EQ(chain(t, &traits::positions)[0].size(), 0);
}

TEST(chain_refused, names_the_link_that_is_null) {
  simulation sim;
  EXPECT_THAT(
      message_of([&] { (void)chain(sim, &simulation::data, &atoms::all, &traits::positions); }, error_kind::usage),
      HasSubstr("link 1 of a chain, the pointer to atoms in simulation, is null"));
  atoms a;
  sim.data = &a;
  EXPECT_THAT(
      message_of([&] { (void)chain(sim, &simulation::data, &atoms::all, &traits::positions); }, error_kind::usage),
      HasSubstr("link 2 of a chain, the pointer to traits in atoms, is null"));
  traits t;
  a.all = &t;
  EXPECT_THAT(
      message_of([&] { (void)chain(sim, &simulation::data, &atoms::all, &traits::positions)[1]; }, error_kind::usage),
      HasSubstr("link 3 of a chain, the pointer to double in traits, is null"));
  EXPECT_THAT(message_of([&] { (void)chain(a, &atoms::shared, &traits::box); }, error_kind::usage),
              HasSubstr("link 1 of a chain"));
}

TEST(chain_refused, a_null_root) {
  simulation* none = nullptr;
  EXPECT_THAT(message_of([&] { (void)chain(none, &simulation::data); }, error_kind::usage),
              HasSubstr("the root of a chain, a pointer to simulation, is null"));
}

TEST(chain_refused, counts_that_do_not_fit) {
  traits t;
  double positions[1];
  t.positions = positions;
  EXPECT_THAT(message_of([&] { (void)chain(t, &traits::positions)[-1]; }, error_kind::usage),
              HasSubstr("the count of a chain is -1"));
  EXPECT_THAT(message_of([&] { (void)chain(t, &traits::box)[4]; }, error_kind::usage),
              HasSubstr("the count of a chain is 4, but link 1 holds 3 of float"));
  EXPECT_THAT(message_of([&] { (void)chain(t, &traits::counts)[3]; }, error_kind::usage), HasSubstr("holds 2 of int"));
  EXPECT_THAT(message_of([&] { (void)chain(t, &traits::box).element(3); }, error_kind::usage),
              HasSubstr("the element of a chain is 3"));
}

TEST(scalar, is_found_by_a_chain_too) {
  simulation sim;
  EXPECT_EQ(tessera::scalar(sim.step).data(), &sim.step);
  EXPECT_EQ(tessera::scalar(sim, &simulation::step).data(), &sim.step);
  EXPECT_THAT(message_of([&] { (void)tessera::scalar(sim, &simulation::data, &atoms::inside, &traits::positions); },
                         error_kind::usage),
              HasSubstr("link 1"));
}

}  // namespace
