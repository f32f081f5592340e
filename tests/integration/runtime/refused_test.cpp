// Every public call that is refused leaves the runtime as it was: nothing is submitted, no block, memory or capture
// stays behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "core/runtime/inside.hpp"
#include "machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// What a refused call must not change.
struct state {
  std::uint64_t open, used_bytes, blocks, origins, operations;
  explicit state(runtime& rt) {
    rt.fence();
    open = rt.tasks_submitted() - rt.tasks_retired();
    used_bytes = 0;
    for (const auto& s : rt.statistics().spaces) used_bytes += s.statistics.used_bytes;
    blocks = rt.inside().blocks.size();
    origins = rt.inside().blocks.origins();
    operations = rt.operations().size();
  }
  bool operator==(const state&) const = default;
};

class refused : public ::testing::Test {
 protected:
  refused()
      : a(rt.make_matrix<double>("a", {4, 4}, {2, 2})), large(rt.make_array<double>("large", {1 << 20}, {1 << 19})) {
    for (int k = 0; k < 4; ++k) fill(rt, a.block(k), 1.0 + k);
    rt.fence();
  }
  ~refused() override {
    // And everything works afterwards.
    rt.submit(
        "after", [](matrix_view<double> x) { x[0] += 10; }, update(a(0, 0)));
    EXPECT_NO_THROW(rt.fence());
    EXPECT_EQ(a(0, 0).read()[0], 11);
  }
  /// Refuses `count` times and compares.
  template <class Call>
  error same_after(Call&& call, int count = 10) {
    (void)error_of(call);  // what is made once and kept, such as the name of an operation
    const state before(rt);
    for (int k = 1; k < count; ++k) (void)error_of(call);
    const error last = error_of(call);
    EXPECT_EQ(state(rt), before);
    return last;
  }

  runtime rt{
      testing::machine_of("plugins = [\"host\"]\n[memory]\nhost_limit = \"1 MiB\"\nslab_bytes = \"64 KiB\"\n", 2)};
  tiled_matrix<double> a;
  array<double> large;
};

TEST_F(refused, submissions_give_their_captures_back) {
  const auto captured = std::make_shared<int>(1);
  const error e = same_after([&] {
    rt.submit(
        "too large", [captured](view<double>) {}, write(large(0)));
  });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), HasSubstr("too large"));
  EXPECT_EQ(captured.use_count(), 1);
}

TEST_F(refused, submissions_free_the_arrays_that_they_captured) {
  const std::size_t before = rt.inside().blocks.size();
  for (int k = 0; k < 10; ++k) {
    auto mine = std::make_shared<array<double>>(rt.make_array<double>("mine", {8}, {1}));
    fill(rt, (*mine)(0), 1.0);
    (void)error_of([&] {
      rt.submit(
          "too large", [mine](view<double>) {}, write(large(0)));
    });
  }
  rt.fence();
  EXPECT_EQ(rt.inside().blocks.size(), before);
}

/// A function that cannot be moved into the task.
struct immovable_now {
  std::shared_ptr<int> held;
  bool throws = true;
  explicit immovable_now(std::shared_ptr<int> h) : held(std::move(h)) {}
  immovable_now(const immovable_now& other) : held(other.held), throws(other.throws) {}
  immovable_now(immovable_now&& other) : held(other.held), throws(other.throws) {
    if (++moves > 1) throw std::bad_alloc();
  }
  void operator()(matrix_view<double>) const {}
  inline static int moves = 0;
};

TEST_F(refused, functions_that_throw_when_they_are_moved) {
  const auto captured = std::make_shared<int>(1);
  const auto submit = [&] {
    immovable_now::moves = 0;
    EXPECT_THROW(rt.submit("moves", immovable_now(captured), update(a(0, 0))), std::bad_alloc);
  };
  submit();
  const state before(rt);
  for (int k = 0; k < 10; ++k) submit();
  EXPECT_EQ(state(rt), before);
  EXPECT_EQ(captured.use_count(), 1);
}

TEST_F(refused, operations) {
  const block::access wrong[] = {{.block = &a(0, 0).record(), .intent = intent::read}};
  const operation::definition& strict =
      rt.define({.name = "strict", .signature = {intent::write}, .host = [](const operation::context&) {}});
  EXPECT_THAT(same_after([&] { rt.submit_operation(strict, nullptr, 0, wrong); }).what(), HasSubstr("strict"));
  const block::access too_large[] = {{.block = &large(0).record(), .intent = intent::write}};
  const operation::fill_arguments value{1.0};
  same_after([&] { rt.submit_operation(*rt.builtin().fill, &value, sizeof value, too_large); });
  same_after([&] { rt.define({.name = "gemm"}); });
}

TEST_F(refused, arrays) {
  same_after([&] { (void)rt.make_matrix<double>("x", {4, 4}, {2}); });
  same_after([&] { (void)rt.make_array<double>("x", {4}, {0}); });
  same_after([&] { (void)rt.make_array<double>("x", {-4}, {2}); });
  same_after([&] { (void)rt.make_array<double>("x", {std::int64_t{1} << 40}, {1}); });
  // The first block is as it should be, the second has more bytes than any: what was made is given back.
  same_after([&] { (void)rt.make_array<double>("x", {std::int64_t{1} << 60}, {std::int64_t{1} << 59}); });
  same_after([&] { (void)a.block(4); });
  same_after([&] { (void)a(2, 0); });
  std::vector<double> mine(16);
  same_after([&] { (void)rt.adopt("m", std::span(mine), 0); });
  const error none =
      same_after([&] { (void)rt.adopt("nowhere", std::span<double>(static_cast<double*>(nullptr), 5), 5); });
  EXPECT_THAT(none.what(), AllOf(HasSubstr("nowhere"), HasSubstr("null pointer"), HasSubstr("refused_test.cpp")));
  EXPECT_EQ(rt.adopt("empty", std::span<double>(), 5).size(), 0u);
}

TEST_F(refused, memory_that_is_none) {
  double mine[4];
  EXPECT_EQ(same_after([&] { rt.register_memory(nullptr, 5); }).kind(), error_kind::usage);
  EXPECT_EQ(same_after([&] { rt.register_memory(mine, ~std::uint64_t{0}); }).kind(), error_kind::usage);
  rt.register_memory(mine, sizeof mine);
  rt.unregister_memory(mine);
}

TEST_F(refused, arguments_that_are_too_large) {
  const operation::definition& any = rt.define({.name = "any", .host = [](const operation::context&) {}});
  const error e =
      same_after([&] { rt.submit_operation(any, &any, (std::size_t{1} << 32) + 8, std::span<const block_access>()); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("4 GiB"), HasSubstr("refused_test.cpp")));
}

TEST_F(refused, working_sets_that_only_a_disk_could_hold) {
  runtime with_disk(testing::machine_of(
      "plugins = [\"host\", \"disk\"]\n[memory]\nhost_limit = \"1 MiB\"\nslab_bytes = \"64 KiB\"\n", 2));
  auto two = with_disk.make_array<double>("two", {1 << 18}, {1 << 17});
  const error e = error_of([&] {
    with_disk.submit(
        "both", [](view<double>, view<double>) {}, write(two(0)), write(two(1)));
  });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("both"), HasSubstr("two(0) (1 MiB), two(1) (1 MiB)")));
}

TEST_F(refused, private_copies_that_find_no_room) {
  runtime own(
      testing::machine_of("plugins = [\"host\"]\n[memory]\nhost_limit = \"1 MiB\"\nslab_bytes = \"64 KiB\"\n", 2));
  auto sum = own.make_array<double>("sum", {90000}, {90000});  // 703 KiB of 1 MiB
  fill(own, sum(0), 1.0);
  own.fence();  // what adds waits for nobody: its copy could take the room before the block has any
  own.submit(
      "add", [](view<double> x) { x[0] += 1; }, accumulate(sum(0)));
  const error e = error_of([&] { own.fence(); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("add"), HasSubstr("it needs the private copy of sum(0) (703 KiB)")));
  EXPECT_THAT(e.hint(), AllOf(HasSubstr("memory.host_limit"), HasSubstr("disk")));
}

/// What a task throws that has no words.
struct wordless : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST_F(refused, failures_without_words) {
  rt.submit(
      "wordless", [](matrix_view<double>) { throw wordless(); }, update(a(0, 1)));
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::task);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("wordless"), HasSubstr("null pointer")));
}

TEST_F(refused, hints_of_errors_in_tasks_are_kept) {
  rt.submit(
      "axpy of others", [](matrix_view<double>) { throw error(error_kind::usage, "too few", {}, "take more"); },
      update(a(0, 1)));
  const error at_view = error_of([&] { (void)a(0, 1).read(); });
  EXPECT_EQ(at_view.hint(), "take more");
  rt.submit(
      "again", [](matrix_view<double>) { throw error(error_kind::usage, "too few", {}, "take more"); }, write(a(0, 1)));
  EXPECT_EQ(error_of([&] { rt.fence(); }).hint(), "take more");
}

/// A workspace of so many bytes fails the task that asks for it, wherever it would run.
template <std::uint64_t bytes>
void fails_for_workspace(runtime& rt) {
  operation::definition greedy{.name = "greedy"};
  greedy.enqueue = [](const operation::context&) {};
  greedy.workspace = [](const plugin::device&, const void*, std::span<const block::access>) { return bytes; };
  const operation::definition& what = rt.define(greedy);
  auto x = rt.make_array<double>("x", {8}, {8});
  const block::access use[] = {{.block = &x(0).record(), .intent = intent::write}};
  rt.submit_operation(what, nullptr, 0, use);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::memory) << e.what();
  EXPECT_THAT(e.what(), AllOf(HasSubstr("greedy"), HasSubstr("workspace")));
}

TEST_F(refused, workspaces_near_the_end_of_all_addresses) {
  fails_for_workspace<~std::uint64_t{0}>(rt);
  runtime with_sim(testing::with_sims(1, "1 MiB", false, 2, "placement = \"eager\"\n"));
  fails_for_workspace<~std::uint64_t{0} - 255>(with_sim);
}

TEST_F(refused, views) {
  auto never = rt.make_array<double>("never", {2}, {1});
  EXPECT_EQ(same_after([&] { (void)never(0).read(); }).kind(), error_kind::task);
  same_after([&] { (void)large(0).write(); });
  auto view = a(0, 0).read();
  EXPECT_THROW(rt.fence(), error);
}

TEST_F(refused, locations_and_devices) {
  same_after([&] { (void)rt.at("nowhere"); });
  same_after([&] { rt.detach(rt.tree().root()); });
  same_after([&] { rt.attach(rt.tree().root()); });
  same_after([&] { (void)rt.attached(rt.tree().root()); });
  same_after([&] { (void)rt.timeline("not recorded"); });
}

TEST_F(refused, recordings) {
  const auto captured = std::make_shared<int>(1);
  same_after([&] {
    (void)rt.record([&] {
      rt.submit(
          "kept", [captured](matrix_view<double> x) { x[0] += 1; }, update(a(0, 0)));
      rt.fence();
    });
  });
  same_after([&] { (void)rt.record([&] { (void)a(0, 0).read(); }); });
  same_after([&] { (void)rt.record([&] { (void)rt.record([] {}); }); });
  EXPECT_EQ(captured.use_count(), 1);
  recording r = rt.record([&] {
    rt.submit(
        "plain", [](matrix_view<double> x) { x[0] += 0; }, update(a(0, 0)));
  });
  same_after([&] { r.set_arguments(1, 1.0); });
  same_after([&] { r.set_arguments(0, std::array<double, 4>{}); });
  same_after([&] { r.substitute({{a(0, 0), large(0)}}); });
  same_after([&] { (void)rt.record([&] { rt.replay(r); }); });
}

}  // namespace
}  // namespace tessera
