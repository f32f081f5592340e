// Random correct programs give no finding and the right results; the same with one planted mistake give that finding.
#include <future>
#include <thread>

#include "tests/integration/validate/validating.hpp"
#include "tests/support/random_program.hpp"

namespace tessera {
namespace {

struct place {
  const char* name;
  int devices;
  const char* memory;
};
void PrintTo(const place& p, std::ostream* out) { *out << p.name; }

constexpr std::int64_t extent = 32;
constexpr int blocks = 30;

machine machine_at(const place& p) {
  return testing::validating(
      p.devices == 0 ? testing::host_only()
                     : testing::with_sims(p.devices, p.memory, p.devices > 1, 2, "placement = \"locality\"\n"));
}

class random_programs : public ::testing::TestWithParam<place> {};

TEST_P(random_programs, that_are_right_give_no_finding) {
  std::mt19937_64 random = testing::seeded_random();
  runtime rt(machine_at(GetParam()));
  testing::random_blocks on(rt, blocks, extent);
  const std::uint64_t tasks = 5000 / testing::slow_down;
  for (std::uint64_t k = 0; k < tasks; ++k) {
    on.run(on.any_task(random));
    if (random() % 500 == 0) {
      ASSERT_NO_FATAL_FAILURE(on.check_any(random));
    }
    if (random() % 1000 == 0) rt.fence();
  }
  {
    auto temporary = rt.make_array<double>("temporary", {extent}, {extent});
    axpy_accumulate(rt, 1.0, on.blocks()(0), temporary(0));
  }
  rt.fence();
  ASSERT_NO_FATAL_FAILURE(on.check_all());
  EXPECT_EQ(validate::to_text(rt.findings()), "");
  if (GetParam().devices > 0) {
    EXPECT_GT(rt.statistics().bytes_transferred(), 0u) << "nothing ran on the devices: the test tests nothing";
  }
}

TEST_P(random_programs, that_are_recorded_and_right_give_no_finding) {
  std::mt19937_64 random = testing::seeded_random();
  runtime rt(machine_at(GetParam()));
  testing::random_blocks on(rt, blocks, extent);
  std::vector<testing::random_task> program;
  for (int k = 0; k < 200; ++k) program.push_back(on.any_task(random));
  recording step = rt.record([&] {
    for (const auto& t : program) on.submit(t);
  });
  for (int k = 0; k < 5; ++k) {
    rt.replay(step);
    for (const auto& t : program) on.apply(t);
    on.run(on.any_task(random));
  }
  rt.fence();
  ASSERT_NO_FATAL_FAILURE(on.check_all());
  EXPECT_EQ(validate::to_text(rt.findings()), "");
}

/// Submits one mistake and returns what it must be called.
validate::fault plant(runtime& rt, array<double>& a, array<double>& spare, int kind, int x, block_of<double> stale,
                      double* kept) {
  using validate::fault;
  const int y = (x + 1) % blocks;
  switch (kind) {
    case 0:
      rt.submit(
          "planted", [](view<const double> v) { const_cast<double&>(v[5]) += 1; }, read(a(x)));
      return fault::read_changed;
    case 1:
      rt.submit(
          "planted",
          [](view<double> v) {
            for (int i = 0; i + 1 < v.size(); ++i) v[i] = i;
          },
          write(a(x)));
      return fault::not_written;
    case 2:
      rt.submit(
          "planted", [](view<double> v) { v.data()[v.size()] = 0; }, update(a(x)));
      return fault::outside;
    case 3:
      rt.submit(
          "planted",
          [](view<const double> v, view<double> room, view<double> to) {
            for (int i = 0; i < v.size(); ++i) to[i] = v[i] + room[i];
          },
          read(a(x)), scratch(spare(0)), write(a(y)));
      return fault::uninitialised;
    case 4:
      rt.submit(
          "planted",
          [](view<double> v) {
            for (double& e : v) e = 1;
          },
          update(stale));
      return fault::after_free;
    case 5:
      kept[3] = 1;
      return fault::after_end;
    default: {
      std::promise<void> submitted, over;
      std::thread other([&] {
        rt.submit(
            "planted",
            [](view<double> v) {
              for (double& e : v) e = 1;
            },
            write(a(x)));
        submitted.set_value();
        over.get_future().wait();
      });
      submitted.get_future().wait();
      rt.submit(
          "planted", [](view<const double>) {}, read(a(x)));
      over.set_value();
      other.join();
      return fault::unordered;
    }
  }
}

TEST_P(random_programs, with_a_planted_mistake_are_reported) {
  std::mt19937_64 random = testing::seeded_random();
  for (int kind = 0; kind < 7; ++kind) {
    runtime rt(machine_at(GetParam()));
    auto a = rt.make_array<double>("a", {blocks * extent}, {extent});
    auto spare = rt.make_array<double>("spare", {8 * extent}, {extent});
    for (int k = 0; k < blocks; ++k) fill(rt, a(k), double(k));
    block_of<double> stale = a(0);
    {
      auto gone = rt.make_array<double>("gone", {extent}, {extent});
      stale = gone(0);
    }
    double* kept = nullptr;
    { kept = a(1).update().data(); }
    const std::uint64_t tasks = 400 / testing::slow_down, when = random() % tasks;
    validate::fault expected{};
    for (std::uint64_t k = 0; k < tasks; ++k) {
      testing::submit(rt, a, spare, testing::random_task_on(blocks, random));
      if (k == when) expected = plant(rt, a, spare, kind, static_cast<int>(random() % blocks), stale, kept);
    }
    EXPECT_NE(testing::fence_text(rt), "") << "kind " << kind;
    const auto found = rt.findings();
    EXPECT_EQ(std::ranges::count(found, expected, &validate::finding::fault), 1) << "kind " << kind << "\n"
                                                                                 << validate::to_text(found);
    for (const auto& f : found)
      if (f.fault == expected && kind != 5) {
        EXPECT_THAT(f.here.description, ::testing::HasSubstr("planted")) << validate::to_text(f);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(machines, random_programs,
                         ::testing::Values(place{"host", 0, ""}, place{"sim_one", 1, "64 MiB"},
                                           place{"sim_two_tight", 2, "16 KiB"}),
                         [](const auto& parameters) { return std::string(parameters.param.name); });

}  // namespace
}  // namespace tessera
