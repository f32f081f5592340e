// What belongs to another runtime, or to one that has ended, and what a task may not name: each is an error of the
// call, with its place, and nothing happens to what is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>
#include <vector>

#include "core/location/tree.hpp"
#include "machines.hpp"
#include "tessera/detail/block_group.hpp"
#include "tessera/front_end.hpp"
#include "tessera/region.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The machines on which both runtimes run.
struct kind {
  const char* name;
  machine (*make)();
};
void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }

class owners : public ::testing::TestWithParam<kind> {
 protected:
  owners() {
    for (int k = 0; k < 2; ++k) {
      fill(a, x(k), 1.0 + k);
      fill(b, y(k), 10.0 + k);
    }
    a.fence();
    b.fence();
  }
  ~owners() override {
    EXPECT_NO_THROW(a.fence());
    EXPECT_NO_THROW(b.fence());
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(x(k).read()[0], 1.0 + k) << "what was there is there";
      EXPECT_EQ(y(k).read()[0], 10.0 + k);
    }
  }
  /// The call is refused for y(0), and nothing was submitted.
  template <class Call>
  void refuses(Call&& call) {
    const std::uint64_t before = a.tasks_submitted() + b.tasks_submitted();
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_THAT(e.message(), AllOf(HasSubstr("y(0)"), HasSubstr("of runtime ")));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
    EXPECT_EQ(a.tasks_submitted() + b.tasks_submitted(), before);
  }

  runtime a{GetParam().make()}, b{GetParam().make()};
  array<double> x = a.make_array<double>("x", {8}, {4}), y = b.make_array<double>("y", {8}, {4});
};

INSTANTIATE_TEST_SUITE_P(
    machines, owners,
    ::testing::Values(
        kind{"host", [] { return testing::host_only(2); }}, kind{"sim", [] { return testing::with_sims(1, "1 MiB"); }},
        kind{"two_hosts", [] { return testing::machine_of("plugins = [\"host\"]\n" + testing::two_hosts, 4); }},
        kind{"limited",
             [] { return testing::machine_of("plugins = [\"host\"]\n[memory]\nhost_limit = \"1 MiB\"\n", 2); }}),
    [](const auto& one) { return one.param.name; });

TEST_P(owners, a_task_names_blocks_of_its_own_runtime) {
  refuses([&] {
    a.submit(
        "foreign", [](view<double> v) { v[0] = -1; }, update(y(0)));
  });
  refuses([&] {
    a.submit(
        "foreign", [](view<const double>, view<double> v) { v[0] = -1; }, read(y(0)), update(x(0)));
  });
  refuses([&] {
    std::vector<block_access> uses{update(x(0)), update(x(1)), read(y(0))};
    a.submit(
        "list", [](task_blocks) {}, uses);
  });
  std::vector<block_access> many;
  auto wide = a.make_array<double>("wide", {100}, {1});
  for (std::size_t k = 0; k < wide.size(); ++k) many.push_back(write(wide.block(k)));
  many.push_back(read(y(0)));
  refuses([&] {
    a.submit(
        "list", [](task_blocks) {}, many);
  });
}

TEST_P(owners, so_do_operations_built_in_and_the_program_s) {
  refuses([&] { fill(a, y(0), 4.0); });
  refuses([&] { axpy(a, 1.0, y(0), x(0)); });
  refuses([&] { axpy_accumulate(a, 1.0, x(0), y(0)); });
  refuses([&] { scal(a, 2.0, y(0)); });
  operation::definition mine;
  mine.name = "mine";
  mine.host = [](const operation::context&) {};
  const operation::definition& own = a.define(mine);
  refuses([&] { a.submit_operation(own, 0, {update(y(0))}); });
}

TEST_P(owners, an_operation_is_one_of_its_own_runtime) {
  operation::definition mine;
  mine.name = "mine";
  mine.host = [](const operation::context&) {};
  const operation::definition& of_b = b.define(mine);
  for (const operation::definition* what :
       {&of_b, b.builtin().scal, static_cast<const operation::definition*>(&mine)}) {
    const error e = error_of([&] { a.submit_operation(*what, 0, {update(x(0))}); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.message(), HasSubstr("operation '" + what->name + "' is "));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
  }
}

TEST_P(owners, an_empty_access_names_nothing) {
  for (const std::size_t count : {1u, 2u, 9u}) {
    std::vector<block_access> uses(count);
    for (std::size_t k = 0; k + 1 < count; ++k) uses[k] = read(x(0));
    const error e = error_of([&] {
      a.submit(
          "list", [](task_blocks) {}, uses);
    });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.message(), HasSubstr("task 'list' was given no block as number " + std::to_string(count)));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
    EXPECT_THAT(error_of([&] { a.submit_operation(*a.builtin().scal, 0, {uses.back()}); }).message(),
                HasSubstr("was given"));
  }
}

TEST_P(owners, a_location_is_one_of_its_own_tree) {
  const auto none = static_cast<std::uint32_t>(a.tree().known());
  const error e = error_of([&] { scal(a, 2.0, x(0), {.at = none}); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.message(), HasSubstr("task 'scal' is to run at location "));
  EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
}

TEST_P(owners, a_recording_takes_and_gets_blocks_of_its_own_runtime) {
  refuses([&] { (void)a.record([&] { scal(a, 2.0, y(0)); }); });
  recording r = a.record([&] { axpy(a, 0.0, x(0), x(1)); });
  refuses([&] { r.substitute({{x(0), y(0)}}); });
  refuses([&] { r.substitute({{y(0), x(0)}}); });
  a.replay(r);
  const error e = error_of([&] { b.replay(r); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.message(), HasSubstr("to replay a recording of runtime "));
  EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
}

TEST_P(owners, a_group_has_blocks_of_its_own_runtime) {
  block_group<double> of_a(a, "g", {2});
  refuses([&] { of_a.destroy(y(0)); });
  refuses([&] { of_a.keep_to_this_thread(y(0)); });
  refuses([&] { (void)of_a.spaces_of(y(0)); });
  const block_of<double> loose = of_a.make(shape{4}, 1);
  fill(a, loose, 4.0);
  EXPECT_EQ(loose.read()[0], 4);
  of_a.destroy(loose);
}

// ---------------------------------------------------------------------------------------------------------------------

/// A place for runtimes one after the other: the second one is at the address of the first.
struct after_its_end : owners {
  std::optional<runtime> place;
  void begin() { place.emplace(GetParam().make()); }
  static void tells(const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_THAT(e.message(), HasSubstr("has ended"));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
  }
};
INSTANTIATE_TEST_SUITE_P(machines, after_its_end,
                         ::testing::Values(kind{"host", [] { return testing::host_only(2); }},
                                           kind{"sim", [] { return testing::with_sims(1, "1 MiB"); }}),
                         [](const auto& one) { return one.param.name; });

TEST_P(after_its_end, arrays_groups_and_recordings_are_errors_whatever_is_at_its_address) {
  for (const bool another : {false, true}) {
    begin();
    auto of_old = place->make_array<double>("old", {8}, {4});
    std::vector<double> memory(8, 2.0);
    auto adopted = place->adopt("adopted", std::span(memory), 4);
    block_group<double> group(*place, "group", {2});
    const block_of<double> loose = group.make(shape{4}, 0);
    fill(*place, of_old(0), 1.0);
    recording r = place->record([&] { scal(*place, 2.0, of_old(0)); });
    place->replay(r);
    place.reset();
    if (another) begin();
    tells(error_of([&] { (void)of_old(0); }));
    tells(error_of([&] { (void)of_old.block(1); }));
    tells(error_of([&] { of_old.flush(); }));
    tells(error_of([&] { of_old.keep_to_this_thread(); }));
    tells(error_of([&] { (void)adopted(0); }));
    tells(error_of([&] { (void)group.make(shape{4}, 1); }));
    tells(error_of([&] { (void)group.spaces_of(loose); }));
    EXPECT_NO_THROW(group.destroy(loose)) << "as the end of an array";
    tells(error_of([&] { r.set_arguments(0, operation::scal_arguments{}); }));
    tells(error_of([&] { r.substitute(std::span<const block_exchange>()); }));
    r.place_again();
    if (another) tells(error_of([&] { place->replay(r); }));
    tells(error_of([&] { a.replay(r); }));
    EXPECT_EQ(of_old.name(), "old");
    EXPECT_EQ(of_old.size(), 2u);
    place.reset();
  }
}

TEST_P(after_its_end, models_their_arrays_and_results_are_errors_whatever_is_at_its_address) {
  for (const bool another : {false, true}) {
    begin();
    auto model = std::make_unique<location_model>(*place);
    array<double> rows = model->make_array<double>("rows", {100});
    region_result<double> result(*place, "result");
    model->region("sum", iterate(0, 100), write(rows), sum(result), [](auto i, auto r, auto& s) { r[i] = 1, s += 1; });
    EXPECT_EQ(result.get(), 100);
    place.reset();
    if (another) begin();
    tells(error_of([&] { (void)rows.read(); }));
    tells(error_of([&] { (void)rows.rows(3, 5).update(); }));
    tells(error_of([&] { (void)rows.location(); }));
    tells(error_of([&] { rows.move("machine"); }));
    tells(error_of([&] { (void)result.get(); }));
    tells(error_of([&] { (void)model->make_array<double>("more", {10}); }));
    tells(error_of([&] { model->region("late", iterate(0, 100), update(rows), [](auto, auto) {}); }));
    tells(error_of([&] { model->fence(); }));
    tells(error_of([&] { model->detach("sim0"); }));
    tells(error_of([&] { (void)model->owner(); }));
    EXPECT_EQ(rows.name(), "rows");
    if (another) {
      location_model now(*place);
      const error e = error_of([&] { now.region("foreign", iterate(0, 100), update(rows), [](auto, auto) {}); });
      EXPECT_THAT(e.message(), HasSubstr("'rows' belongs to a runtime that has ended"));
      EXPECT_THAT(e.what(), HasSubstr("owners_test.cpp:"));
      const error f =
          error_of([&] { now.region("foreign", iterate(0, 100), sum(result), [](auto, auto& s) { s += 1; }); });
      EXPECT_THAT(f.message(), HasSubstr("'result' belongs to a runtime that has ended"));
    }
    model.reset();
    place.reset();
  }
}

TEST_P(after_its_end, models_and_results_may_end_in_a_thread_while_the_runtime_does_in_another) {
  for (int round = 0; round < 20; ++round) {
    begin();
    std::vector<double> memory(100, 1.0);
    auto model = std::make_unique<location_model>(*place);
    auto result = std::make_unique<region_result<double>>(*place, "result");
    {
      array<double> rows = model->adopt("rows", std::span<double>(memory), {100});
      model->region("twice", iterate(0, 100), update(rows), sum(*result), [](auto i, auto r, auto& s) {
        r[i] *= 2;
        s += 1;
      });
    }
    std::barrier together(2);
    std::thread other([&] {
      together.arrive_and_wait();
      result.reset();
      model.reset();
    });
    together.arrive_and_wait();
    for (int k = 0; k < round; ++k) std::this_thread::yield();
    place.reset();
    other.join();
    EXPECT_EQ(memory, std::vector(100, 2.0)) << "one of the two ends brings it home";
  }
}

TEST_P(owners, memory_of_the_program_is_an_array_of_one_runtime) {
  std::vector<double> memory(100, 1.0);
  location_model of_a(a), of_b(b);
  const auto adopt_part = [&](location_model& by) {
    return by.adopt("part", std::span<double>(memory).subspan(90), {10});
  };
  {
    array<double> rows = of_a.adopt("rows", std::span<double>(memory), {100});
    of_a.region("twice", iterate(0, 100), update(rows), [](auto i, auto r) { r[i] *= 2; });
    const error e = error_of([&] { (void)adopt_part(of_b); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.message(), HasSubstr("'part' would have memory that array 'rows' of another runtime has"));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
    const error f = error_of([&] { (void)of_b.array_over("over", std::span<double>(memory)); });
    EXPECT_THAT(f.message(), HasSubstr("'rows' of another runtime"));
  }
  a.fence();
  {
    const array<double> now = adopt_part(of_b);
    EXPECT_THROW((void)adopt_part(of_a), error);
  }
  b.fence();
  std::optional<runtime> other(GetParam().make());
  std::optional<location_model> of_other(*other);
  const array<double> kept = adopt_part(*of_other);
  of_other.reset();
  other.reset();
  EXPECT_NO_THROW((void)adopt_part(of_a)) << "a runtime that has ended has nothing";
}

/// Every way to name a block in `rt` refuses one whose array or runtime has ended. Waits for no task.
void refused_by(runtime& rt, block_of<double> kept) {
  const auto refuses = [&](auto&& call) {
    const std::uint64_t before = rt.tasks_submitted();
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_THAT(e.message(), HasSubstr("names a block of an array that has ended"));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
    EXPECT_EQ(rt.tasks_submitted(), before);
  };
  auto z = rt.make_array<double>("z", {4}, {4});
  block_group<double> group(rt, "group", {1});
  fill(rt, z(0), 1.0);
  refuses([&] {
    rt.submit(
        "late", [](view<const double>) {}, read(kept));
  });
  refuses([&] {
    std::vector<block_access> uses{update(z(0)), read(kept)};
    rt.submit(
        "late", [](task_blocks) {}, uses);
  });
  refuses([&] { scal(rt, 2.0, kept); });
  refuses([&] { axpy(rt, 1.0, kept, z(0)); });
  refuses([&] { (void)kept.read(); });
  refuses([&] { (void)kept.update(); });
  refuses([&] { group.destroy(kept); });
  refuses([&] { (void)rt.record([&] { scal(rt, 2.0, kept); }); });
  recording r = rt.record([&] { scal(rt, 2.0, z(0)); });
  refuses([&] { r.substitute({{z(0), kept}}); });
}

TEST_P(after_its_end, front_ends_are_errors_and_what_a_thread_has_declared_ends_quietly) {
  for (const bool another : {false, true}) {
    std::optional<runtime> traced;
    machine recorded = GetParam().make();
    recorded.settings.trace = true;
    traced.emplace(std::move(recorded));
    front_end front(*traced);
    step_recorder steps(*traced, "row");
    ASSERT_TRUE(steps.records());
    steps.step(steps.name("before"), steps.name("file"), 1, steps.now());
    auto no_waiting = std::make_optional<runtime::no_waiting>(*traced);
    auto elsewhere = std::make_optional<runtime::waiting_elsewhere>(*traced);
    traced.reset();
    if (another) traced.emplace(GetParam().make());
    tells(error_of([&] { front.fence(); }));
    for (const error& e :
         {error_of([&] { front.wait_for_window(); }), error_of([&] { (void)front.blocks_stay(); }),
          error_of([&] { (void)front.device_spaces(); }), error_of([&] { (void)front.choose_device({}); }),
          error_of([&] { front.learn_in_place({}, 1.0); }),
          error_of([&] { front.run_in_place(*a.builtin().scal, nullptr, 0, {}); })})
      EXPECT_THAT(e.message(), HasSubstr("the runtime of a front end has ended"));
    EXPECT_FALSE(steps.records());
    steps.step(steps.name("after"), 0, 2, steps.now());
    steps.waited(steps.now());
    no_waiting.reset();
    elsewhere->end();
    elsewhere.reset();
  }
}

TEST_P(after_its_end, operations_that_were_kept_are_errors_whatever_is_at_their_address) {
  for (int round = 0; round < 4; ++round) {
    begin();
    operation::definition mine;
    mine.name = "mine";
    mine.host = [](const operation::context&) {};
    const std::vector<const operation::definition*> kept{&place->define(mine), place->builtin().axpy};
    place.reset();
    begin();
    for (const operation::definition* what : kept) {
      const error e = error_of([&] { place->submit_operation(*what, 0, {update(x(0))}); });
      EXPECT_EQ(e.kind(), error_kind::usage);
      EXPECT_THAT(e.message(), HasSubstr(what == kept[0] ? "operation 'mine' is one of another runtime"
                                                         : "operation 'axpy' is one of another runtime"));
    }
    place.reset();
  }
}

TEST_P(after_its_end, a_block_handle_that_was_kept_is_refused) {
  std::vector<block_of<double>> kept;
  for (int k = 0; k < 3; ++k) {
    begin();
    auto many = place->make_array<double>("many", {40000}, {1});  // records in several pieces of memory
    fill(*place, many(39999), 1.0);
    kept.push_back(many(0));
    kept.push_back(many(39999));
    place.reset();
  }
  for (const block_of<double> one : kept) {
    EXPECT_EQ(one.extents().rank(), 0u);
    EXPECT_EQ(one.bytes(), 0u);
    refused_by(a, one);
  }
}

TEST_P(after_its_end, a_block_of_an_array_that_has_ended_is_refused_also_while_its_tasks_still_run) {
  std::promise<void> over;
  {
    auto gone = a.make_array<double>("gone", {4}, {4});
    const block_of<double> kept = gone(0);
    a.submit(
        "slow", [&, until = over.get_future().share()](view<double> v) { until.wait(), v[0] = 1; }, write(kept));
    { const auto ends = std::move(gone); }
    refused_by(a, kept);
    over.set_value();
    a.fence();
  }
}

TEST(moved_from, arrays_and_recordings_are_errors) {
  runtime rt(testing::host_only(1));
  auto from = rt.make_array<double>("x", {4}, {2});
  fill(rt, from(0), 1.0);
  recording first = rt.record([&] { scal(rt, 2.0, from(0)); });
  const auto to = std::move(from);
  const recording second = std::move(first);
  for (const error& e :
       {error_of([&] { (void)from(0); }), error_of([&] { (void)from.block(0); }), error_of([&] { rt.replay(first); }),
        error_of([&] { first.set_arguments(0, operation::scal_arguments{}); })}) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.message(), HasSubstr("was moved from"));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
  }
  EXPECT_EQ(first.size(), 0u);
}

// ---------------------------------------------------------------------------------------------------------------------

class named_twice : public ::testing::TestWithParam<bool> {  // whether a device is there
 protected:
  named_twice() {
    for (std::size_t k = 0; k < m.size(); ++k) fill(rt, m.block(k), 2.0);
    rt.fence();
  }
  template <class Call>
  void refuses(Call&& call, const char* text) {
    const std::uint64_t before = rt.tasks_submitted();
    const error e = error_of(call);
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_THAT(e.message(), HasSubstr(text));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
    EXPECT_EQ(rt.tasks_submitted(), before);
  }
  runtime rt{GetParam() ? testing::with_sims(1, "1 MiB") : testing::host_only(2)};
  tiled_matrix<double> m = rt.make_matrix<double>("m", {16, 16}, {4, 4});
};
INSTANTIATE_TEST_SUITE_P(machines, named_twice, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "sim" : "host"; });

TEST_P(named_twice, a_result_of_an_operation_is_none_of_its_factors) {
  const auto no = transpose::no;
  refuses([&] { gemm(rt, 1.0, m(0, 0), no, m(1, 0), no, 0.0, m(0, 0)); },
          "task 'gemm' names m(0,0) twice: read and write");
  refuses([&] { gemm(rt, 1.0, m(0, 0), no, m(1, 0), no, 1.0, m(1, 0)); },
          "task 'gemm' names m(1,0) twice: read and update");
  refuses([&] { syrk(rt, 1.0, m(0, 0), 1.0, m(0, 0)); }, "task 'syrk' names m(0,0) twice: read and update");
  refuses([&] { trsm(rt, 1.0, m(0, 0), m(0, 0)); }, "task 'trsm' names m(0,0) twice");
  refuses([&] { axpy(rt, 1.0, m(0, 0), m(0, 0)); }, "task 'axpy' names m(0,0) twice");
  const std::vector<std::uint8_t> swap{1, 0};
  refuses([&] { permute(rt, 1.0, m(0, 0), std::span(swap), 0.0, m(0, 0)); }, "task 'permute' names m(0,0) twice");
  refuses([&] { contract(rt, 1.0, m(0, 0), "ik", m(1, 0), "kj", 0.0, m(1, 0), "ij"); },
          "task 'contract' names m(1,0) twice");
  gemm(rt, 1.0, m(0, 0), no, m(0, 0), no, 0.0, m(1, 1));  // a square is one
  rt.fence();
  EXPECT_EQ(m(1, 1).read()[0], 16);
}

TEST_P(named_twice, a_block_that_a_task_writes_stands_in_it_once) {
  const auto none = [](auto...) {};
  refuses([&] { rt.submit("t", none, write(m(0, 0)), read(m(0, 0))); }, "task 't' names m(0,0) twice: write and read");
  refuses([&] { rt.submit("t", none, read(m(0, 0)), update(m(0, 0))); }, "m(0,0) twice: read and update");
  refuses([&] { rt.submit("t", none, update(m(0, 0)), update(m(0, 0))); }, "m(0,0) twice: update and update");
  refuses([&] { rt.submit("t", none, read(m(1, 0)), scratch(m(0, 0)), read(m(1, 1)), scratch(m(0, 0))); },
          "m(0,0) twice: scratch and scratch");
  for (const std::size_t count : {3u, 5u, 16u}) {  // in lists of any length, wherever they stand
    std::vector<block_access> uses;
    for (std::size_t k = 0; k < count - 1; ++k) uses.push_back(read(m.block(k)));
    uses.push_back(update(m.block(1)));
    refuses(
        [&] {
          rt.submit(
              "list", [](task_blocks) {}, uses);
        },
        "task 'list' names m(1,0) twice: read and update");
  }
  auto many = rt.make_array<double>("many", {300}, {1});
  std::vector<block_access> uses;
  for (std::size_t k = 0; k < many.size(); ++k) uses.push_back(write(many.block(k)));
  rt.submit(
      "many", [](task_blocks) {}, uses);
  uses.push_back(write(many.block(150)));
  refuses(
      [&] {
        rt.submit(
            "all of them", [](task_blocks) {}, uses);
      },
      "task 'all of them' names many(150) twice: write and write");
  operation::definition mine;
  mine.name = "mine";
  mine.host = [](const operation::context&) {};
  const operation::definition& own = rt.define(mine);
  refuses([&] { rt.submit_operation(own, 0, {read(m(0, 0)), update(m(0, 0))}); }, "task 'mine' names m(0,0) twice");
}

TEST_P(named_twice, recordings_as_well) {
  refuses([&] { (void)rt.record([&] { axpy(rt, 1.0, m(0, 0), m(0, 0)); }); }, "task 'axpy' names m(0,0) twice");
  recording r = rt.record([&] { axpy(rt, 1.0, m(0, 0), m(1, 0)); });
  refuses([&] { r.substitute({{m(0, 0), m(1, 0)}}); }, "m(1,0) would take two places");
  r.substitute({{m(0, 0), m(1, 0)}, {m(1, 0), m(0, 0)}});
  rt.replay(r);
  rt.fence();
  EXPECT_EQ(m(0, 0).read()[0], 4);
}

TEST_P(named_twice, reads_and_private_copies_may_share_a_block) {
  double seen = 0;
  rt.submit(
      "twice", [&](matrix_view<const double> p, matrix_view<const double> q) { seen = p[0] + q[0]; }, read(m(0, 0)),
      read(m(0, 0)));
  rt.fence();
  EXPECT_EQ(seen, 4);
  // It sees the block as it was before its own contribution, which counts once for each copy.
  rt.submit(
      "both",
      [](matrix_view<const double> before, matrix_view<double> one, matrix_view<double> two) {
        one[0] += before[0];
        two[0] += 10;
      },
      read(m(0, 0)), accumulate(m(0, 0)), accumulate(m(0, 0)));
  rt.submit(
      "written",
      [](matrix_view<double> x, matrix_view<double> more) {
        x[0] *= 3;
        more[0] += 1;
      },
      update(m(0, 0)), accumulate(m(0, 0)));
  rt.fence();
  EXPECT_EQ(m(0, 0).read()[0], (2 + 2 + 10) * 3 + 1);
}

// ---------------------------------------------------------------------------------------------------------------------

TEST(blocks_of_arrays, are_asked_for_by_as_many_indices_as_there_are_dimensions) {
  runtime rt(testing::host_only(1));
  const std::array<std::int64_t, 2> extents{4, 6}, of_blocks{2, 2};  // a rank that the compiler does not know
  auto m = rt.make_array<double, column_major>("m", std::span(extents), std::span(of_blocks));
  auto point = rt.make_array<double>("point", {}, {});
  const auto says = [](const error& e, const char* text) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.message(), HasSubstr(text));
    EXPECT_THAT(e.where(), HasSubstr("owners_test.cpp:"));
  };
  says(error_of([&] { (void)m(1); }), "array m has 2 dimensions, and a block was asked for by 1 index");
  says(error_of([&] { (void)m(); }), "by 0 indices");
  says(error_of([&] { (void)m(0, 1, 2); }), "by 3 indices");
  says(error_of([&] { (void)m(0, 3); }), "array m has no block with index 3 in dimension 1");
  says(error_of([&] { (void)m(-1, 0); }), "index -1 in dimension 0");
  says(error_of([&] { (void)m.block(6); }), "array m has 6 blocks, and block 6 was asked for");
  says(error_of([&] { (void)point(0); }), "array point has 0 dimensions");
  EXPECT_EQ(&m(1, 2u).record(), &m.block(5).record());
  fill(rt, point(), 7.0);
  EXPECT_EQ(point().read()[0], 7);
}

TEST(blocks_of_tasks, say_what_get_lacks) {
  runtime rt(testing::host_only(1));
  auto x = rt.make_array<double>("x", {1}, {1});
  fill(rt, x(0), 1.0);
  const auto of = [&](auto function) {
    rt.submit("get", function, std::vector<block_access>{read(x(0))});
    return error_of([&] { rt.fence(); });
  };
  EXPECT_THAT(of([](task_blocks b) { (void)b.get<double>(0); }).what(), HasSubstr("the const is missing"));
  EXPECT_THAT(of([](task_blocks b) { (void)b.get<const float>(0); }).what(),
              HasSubstr("has elements of type f64, and asked for were const f32"));
  EXPECT_THAT(of([](task_blocks b) { (void)b.get<const double>(1); }).what(),
              AllOf(HasSubstr("has 1 blocks, number 1 was asked for"), HasSubstr("owners_test.cpp:")));
}

TEST(operations, name_the_types_that_they_have) {
  for (const bool device : {false, true}) {
    runtime rt(device ? testing::with_sims(1, "1 MiB") : testing::host_only(1));
    auto x = rt.make_array<std::int64_t>("x", {8}, {4});
    fill(rt, x(0), std::int64_t{1});
    fill(rt, x(1), std::int64_t{1});
    rt.submit_operation(*rt.builtin().axpy, operation::axpy_arguments{1.0}, {read(x(0)), update(x(1))});
    const error e = error_of([&] { rt.fence(); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.message(), AllOf(HasSubstr("axpy"), HasSubstr("i64"), HasSubstr("f32, f64")));
  }
  runtime rt(testing::host_only(1));
  auto m = rt.make_matrix<double>("m", {2, 2}, {2, 2});
  fill(rt, m(0, 0), 1.0);
  const error e =
      error_of([&] { rt.submit_operation(*rt.builtin().scal, operation::scal_arguments{1.0}, {read(m(0, 0))}); });
  EXPECT_THAT(e.message(), HasSubstr("operation 'scal' takes (update) and was given (read)"));
}

}  // namespace
}  // namespace tessera
