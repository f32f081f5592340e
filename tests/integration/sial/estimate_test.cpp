// What dry runs tell: figures derived by hand, and bounds that real runs must not pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>

#include "jobs.hpp"
#include "languages/sial/estimate/verdict.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using sial::array_kind;
using sial::program_estimate;

sial::init_data segments(std::vector<std::int64_t> ao) {
  sial::init_data data;
  data.segments[sial::index_kind::ao] = std::move(ao);
  return data;
}

program_estimate estimate(const std::string& text, const sial::init_data& data, unsigned workers = 1,
                          std::uint64_t steps = 5'000'000) {
  sial::kept_estimates kept;
  return sial::estimate_program(testing::program_from_text(text).all[0], data, {workers, steps}, kept);
}

const sial::kind_estimate& of(const program_estimate& e, array_kind kind) {
  return e.kinds[static_cast<std::size_t>(kind)];
}

constexpr const char* triangle =
    "sial triangle\n"
    "aoindex i = 1:3\naoindex j = 1:3\naoindex k = 1:3\n"
    "temp a[i,k]\ntemp b[k,j]\ntemp c[i,j]\ndistributed d[i,j]\n"
    "pardo i, j\n"
    "where i <= j\n"
    "  c[i,j] = 0.0\n"
    "  do k\n"
    "    a[i,k] = 1.0\n"
    "    b[k,j] = 1.0\n"
    "    c[i,j] += a[i,k] * b[k,j]\n"  // line 15
    "  enddo k\n"
    "  put d[i,j] = c[i,j]\n"
    "endpardo i, j\n"
    "endsial triangle\n";

// Segments 2, 3, 4. Pairs i <= j: 2*2 + 2*3 + 2*4 + 3*3 + 3*4 + 4*4 = 55 elements; each is multiplied and added over
// all 9 of k.
TEST(sial_estimate, counts_what_conditions_on_indices_let_through) {
  for (const unsigned workers : {1u, 3u}) {
    const program_estimate e = estimate(triangle, segments({2, 3, 4}), workers);
    ASSERT_EQ(e.contractions.size(), 1u);
    EXPECT_EQ(e.contractions[0].where.line, 15u);
    EXPECT_EQ(e.contractions[0].where.column, 5u);
    EXPECT_EQ(e.contractions[0].times, 18);
    EXPECT_EQ(e.contractions[0].flops, 2 * 55 * 9);
    EXPECT_FALSE(e.flops_are_most());
    EXPECT_EQ(e.iterations, 6);
    EXPECT_EQ(of(e, array_kind::distributed).in_all.bytes, 55 * 8);
    EXPECT_EQ(of(e, array_kind::distributed).in_all.room, 6 * 256) << "none has more than 128 bytes";
    EXPECT_EQ(of(e, array_kind::distributed).in_all.blocks, 6);
    EXPECT_EQ(e.data_statements, 6 * 2 + 18 * 3) << "two for each pair, three for each k";
    EXPECT_FALSE(of(e, array_kind::distributed).most);
    // Of each extents as many as are alive at once: 3 of 2x2, 3x3 and 4x4 (a, b, c with i = j = k); c and one of a, b
    // for 2x3, 2x4 and 3x4; one for 3x2, 4x2 and 4x3, which c never has.
    const double elements = 3 * (4 + 9 + 16) + 2 * (6 + 8 + 12) + (6 + 8 + 12);
    EXPECT_EQ(of(e, array_kind::temp).per_worker.bytes, 8 * elements);
    EXPECT_EQ(of(e, array_kind::temp).in_all.bytes, 8 * elements * workers);
    EXPECT_EQ(of(e, array_kind::temp).in_all.blocks, (3 * 3 + 2 * 3 + 3) * workers);
    EXPECT_FALSE(of(e, array_kind::temp).most);
    EXPECT_TRUE(e.notes.empty());
    ASSERT_EQ(e.largest.size(), 4u);
    EXPECT_EQ(e.largest[0].bytes, 128);
    EXPECT_EQ(e.largest[0].name, "a[3,3]");
    EXPECT_EQ(e.largest[0].extents, (std::vector<std::int64_t>{4, 4}));
  }
}

// Segments of 1, 3, 20 and 45 elements: blocks of 8 bytes to 16 KB, small ones with a power of two, large ones with
// whole pages.
TEST(sial_estimate, knows_what_blocks_of_each_size_take) {
  const std::vector<std::int64_t> lengths{1, 3, 20, 45};
  double bytes = 0, room = 0;
  for (const std::int64_t i : lengths)
    for (const std::int64_t j : lengths) {
      const auto one = static_cast<std::uint64_t>(8 * i * j);
      bytes += 2 * static_cast<double>(one);
      room += 2 * static_cast<double>(one <= 2048 ? std::max<std::uint64_t>(std::bit_ceil(one), 256)
                                                  : (one + 4095) / 4096 * 4096);
    }
  for (const std::uint64_t steps : {5'000'000u, 1u}) {  // block by block, and all at once
    const program_estimate e = estimate(
        "sial whole\naoindex i = 1:4\naoindex j = 1:4\nindex k = 1:2\ndistributed d[i,j,k]\n"
        "pardo i, j, k\nput d[i,j,k] = 1.0\nendpardo i, j, k\nendsial whole\n",
        segments(lengths), 2, steps);
    EXPECT_EQ(of(e, array_kind::distributed).most, steps == 1);
    EXPECT_EQ(of(e, array_kind::distributed).in_all.bytes, bytes);
    EXPECT_EQ(of(e, array_kind::distributed).in_all.room, room);
    EXPECT_EQ(of(e, array_kind::distributed).in_all.blocks, 32);
  }
}

// The same, when loops are given up early: everything of the largest size, and said to be a bound.
TEST(sial_estimate, loops_that_are_too_long_become_bounds) {
  const program_estimate e = estimate(triangle, segments({2, 3, 4}), 1, 0);
  EXPECT_EQ(e.iterations, 9);
  EXPECT_TRUE(e.iterations_most);
  EXPECT_EQ(e.flops(), 27 * 2 * 4 * 4 * 4);
  EXPECT_TRUE(e.flops_are_most());
  EXPECT_EQ(of(e, array_kind::distributed).in_all.bytes, 81 * 8) << "all of d";
  EXPECT_TRUE(of(e, array_kind::distributed).most);
  EXPECT_EQ(of(e, array_kind::temp).per_worker.bytes, 3 * 16 * 8);
  EXPECT_FALSE(e.notes.empty());
}

TEST(sial_estimate, every_kind_of_array) {
  const program_estimate e = estimate(
      "sial kinds\naoindex i = 1:3\naoindex j = 1:3\nindex k = 1:4\n"
      "static st[i,k]\nlocal l[i,j]\ncontiguous local c[i,j]\ntemp t[i]\ndistributed d[i]\nserved s[i,k]\n"
      "do i\n"
      "  allocate l[i,*]\n"                  // 9 elements of each row: 18, 27, 36
      "  allocate contiguous c[i:i, 1:2]\n"  // 2 + 3 = 5 times 2, 3, 4
      "  t[i] = 1.0\n"                       // one of 2, 3, 4
      "  put d[i] = t[i]\n"
      "  deallocate l[i,*]\n"
      "  deallocate contiguous c[i:i, 1:2]\n"
      "enddo i\nsip_barrier\ndelete d\n"
      "do i\ndo k\nwhere k > 2\nprepare s[i,k] = 1.0\nenddo k\nenddo i\n"
      "endsial kinds\n",
      segments({2, 3, 4}), 2);
  EXPECT_EQ(of(e, array_kind::fixed).per_worker.bytes, 9 * 4 * 8);
  EXPECT_EQ(of(e, array_kind::fixed).in_all.bytes, 2 * 9 * 4 * 8);
  // Rows one after another; freed blocks wait for others of the same extents: 2x2, 2x3, 2x4, 3x2, ... one of each.
  EXPECT_EQ(of(e, array_kind::local).per_worker.bytes, 81 * 8);
  EXPECT_EQ(of(e, array_kind::contiguous_local).per_worker.bytes, 4 * 5 * 8);
  EXPECT_EQ(of(e, array_kind::temp).per_worker.bytes, 9 * 8);
  EXPECT_EQ(of(e, array_kind::distributed).in_all.bytes, 9 * 8);
  EXPECT_EQ(of(e, array_kind::served).in_all.bytes, 2 * 9 * 8);
  EXPECT_EQ(e.shared_at_once.bytes, 2 * 9 * 8) << "d is gone when s comes";
  for (const sial::kind_estimate& k : e.kinds) EXPECT_FALSE(k.most);
}

TEST(sial_estimate, what_is_not_known_is_a_bound_and_said) {
  const program_estimate e = estimate(
      "sial unknown\naoindex i = 1:2\naoindex j = 1:2\nindex k = 1:10\ntemp a[i,j]\ntemp b[i,j]\ntemp c[i]\ntemp "
      "v[j]\nscalar x\nscalar "
      "last\n"
      "do k\n"                                                          // 11
      "  do i\ndo j\na[i,j] = 1.0\nv[j] = 1.0\nc[i] = a[i,j] * v[j]\n"  // 16
      "  x += a[i,j] * a[i,j]\nenddo j\nenddo i\n"
      "  if x < last\n"  // 20
      "    exit\n"
      "  endif\n"
      "  last = x\n"
      "enddo k\nendsial unknown\n",
      segments({5, 5}));
  ASSERT_EQ(e.contractions.size(), 1u);
  EXPECT_EQ(e.contractions[0].times, 40) << "ten times four at most";
  EXPECT_EQ(e.contractions[0].flops, 40 * 2 * 25);
  EXPECT_TRUE(e.contractions[0].most);
  ASSERT_EQ(e.notes.size(), 1u);
  EXPECT_EQ(e.notes[0].first.line, 20u);
}

/// A loop over i and j of which a condition on data lets some through: local x is allocated for its j, used, given
/// back.
std::string allocating(const std::string& inside, const std::string& after) {
  return "sial allocating\naoindex i = 1:3\naoindex j = 1:4\nlocal x[i,j]\nscalar y\ntemp t[i,j]\n"
         "do i\ndo j\nt[i,j] = 1.0\ny = t[i,j] * t[i,j]\n" +
         inside + "enddo j\nenddo i\n" + after + "endsial allocating\n";
}
constexpr double block_of_ten = 8 * 10 * 10;

double local_bytes(const std::string& text) {
  return of(estimate(text, segments({10, 10, 10, 10})), array_kind::local).per_worker.bytes;
}

TEST(sial_estimate, what_an_undecided_condition_allocates_and_gives_back_is_not_counted_on) {
  const std::string use = "allocate x[*,j]\nx[i,j] = t[i,j]\ndeallocate x[*,j]\n";
  EXPECT_EQ(local_bytes(allocating(use, "")), 3 * block_of_ten) << "one j at a time";
  EXPECT_EQ(local_bytes(allocating("if y > 0.0\n" + use + "endif\n", "")), 3 * block_of_ten);
  EXPECT_EQ(local_bytes(allocating("if y > 0.0\nif y > 2.0\n" + use + "endif\n" + use + "endif\n", "")),
            3 * block_of_ten);
}

TEST(sial_estimate, what_is_given_back_perhaps_may_still_be_there) {
  EXPECT_EQ(local_bytes(allocating("if y > 0.0\nallocate x[i,j]\nendif\n", "")), 12 * block_of_ten) << "all may be";
  // It is there before the condition, and again for the next one: both count.
  EXPECT_EQ(local_bytes("sial perhaps\naoindex i = 1:2\naoindex j = 1:4\nlocal x[i,j]\nlocal z[i,j]\nscalar y\n"
                        "temp t[i,j]\ndo i\nwhere i == 1\ndo j\nwhere j == 1\nt[i,j] = 1.0\ny = t[i,j] * t[i,j]\n"
                        "enddo j\nenddo i\nallocate x[*,*]\nif y > 0.0\ndeallocate x\nendif\n"
                        "allocate z[*,*]\nendsial perhaps\n"),
            16 * block_of_ten);
}

TEST(sial_estimate, a_loop_that_may_be_left_keeps_what_is_there_when_it_is) {
  const std::string leaving = "allocate x[i,j]\nif y > 0.0\nexit\nendif\ndeallocate x[i,j]\n";
  // Each of the three loops over j may be left with the block of its last j, or with any other: four at most each.
  EXPECT_EQ(local_bytes(allocating(leaving, "")), 12 * block_of_ten);
}

TEST(sial_estimate, blocks_of_a_loop_that_is_given_up_are_those_of_one_iteration) {
  const std::string use = "allocate x[*,j]\nx[i,j] = t[i,j]\ndeallocate x[*,j]\n";
  const program_estimate e = estimate(allocating(use, ""), segments({10, 10, 10, 10}), 1, 0);
  EXPECT_EQ(of(e, array_kind::local).per_worker.bytes, 3 * block_of_ten);
  EXPECT_TRUE(of(e, array_kind::local).most);
  const program_estimate kept = estimate(allocating("allocate x[i,j]\n", ""), segments({10, 10, 10, 10}), 1, 0);
  EXPECT_GE(of(kept, array_kind::local).per_worker.bytes, 12 * block_of_ten) << "all that the iterations leave";
  EXPECT_LE(of(kept, array_kind::local).per_worker.bytes, 13 * block_of_ten) << "and the one that was looked at";
}

TEST(sial_estimate, what_is_alive_at_once_is_less_than_what_waits) {
  const program_estimate e = estimate(
      "sial sizes\naoindex i = 1:2\ntemp a[i]\ndo i\na[i] = 1.0\nenddo i\nendsial sizes\n", segments({1000, 2000}));
  EXPECT_EQ(e.private_room(), 2 * 4096 + 4 * 4096) << "one of each size";
  EXPECT_EQ(e.private_at_once, 4 * 4096) << "of one at a time";
}

TEST(sial_estimate, conditions_on_vectors_of_the_data_are_decided) {
  sial::init_data data = segments({10, 10, 10});
  data.float_arrays["spin"] = {{3}, {1.0, -1.0, 1.0}};
  const auto blocks = [&](const std::string& last) {
    const program_estimate e = estimate(
        "sial spins\naoindex i = 1:3\naoindex j = 1:3\nindex k = 1:3\npredefined static spin[k]\nscalar y\n"
        "distributed d[i,j]\npardo i, j\nif spin[(index)i] == spin[(index)j]\nput d[i,j] = 1.0\nendif\n"
        "endpardo i, j\n" +
            last + "endsial spins\n",
        data);
    return of(e, array_kind::distributed).in_all.bytes / block_of_ten;
  };
  EXPECT_EQ(blocks(""), 5) << "1 and 3 with themselves and each other, 2 with itself";
  EXPECT_EQ(blocks("do k\nspin[k] = 1.0\nenddo k\n"), 9) << "the program changes it: it is not known";
}

TEST(sial_estimate, ints_and_scalars_are_followed) {
  sial::init_data data = segments({5, 5});
  data.ints["rounds"] = 3;
  data.scalars["threshold"] = 0.25;
  const program_estimate e = estimate(
      "sial known\npredefined int rounds\npredefined scalar threshold\naoindex i = 1:2\naoindex j = 1:2\nindex k = "
      "1:10\ntemp a[i]\ntemp "
      "b[j]\ntemp c[i,j]\nint n\nscalar x\nscalar y\n"
      "proc product\n  a[i] = 1.0\n  b[j] = 1.0\n  c[i,j] = a[i] ^ b[j]\nendproc product\n"
      "x = 4.0\n"
      "do k\n"
      "  n += 1\n"
      "  if n > rounds\n    exit\n  endif\n"
      "  if x > threshold\n    do i\n    do j\n      call product\n    enddo j\n    enddo i\n  endif\n"
      "  x = x / 4.0\n"
      "  collective y += 1.0\n"
      "enddo k\nendsial known\n",
      data);
  // x is 4, 1 and 0.25 in the three rounds: twice above the threshold, four blocks each.
  ASSERT_EQ(e.contractions.size(), 1u);
  EXPECT_EQ(e.contractions[0].times, 8);
  EXPECT_FALSE(e.contractions[0].most);
}

TEST(sial_estimate, what_programs_keep_is_counted_for_later_ones) {
  testing::sial_programs programs = testing::program_from_text(
      "sial first\naoindex i = 1:3\ndistributed d[i]\npardo i\nput d[i] = 1.0\nendpardo i\nset_persistent d "
      "\"d\"\nendsial first\n");
  programs.all.push_back(testing::program_from_text("sial second\naoindex i = 1:3\nserved s[i]\nrestore_persistent s "
                                                    "\"d\"\ndo i\nrequest s[i]\nenddo i\nendsial second\n")
                             .all[0]);
  sial::kept_estimates kept;
  const sial::init_data data = segments({2, 3, 4});
  EXPECT_EQ(sial::estimate_program(programs.all[0], data, {2}, kept).kept_before.bytes, 0);
  const program_estimate second = sial::estimate_program(programs.all[1], data, {2}, kept);
  EXPECT_EQ(second.kept_before.bytes, 9 * 8);
  EXPECT_TRUE(second.notes.empty());
  sial::kept_estimates none;
  EXPECT_EQ(sial::estimate_program(programs.all[1], data, {2}, none).notes.size(), 1u) << "nothing is under the label";
}

TEST(sial_estimate, what_will_fail_is_said) {
  const program_estimate e =
      estimate("sial fails\naoindex i = 1:2\naoindex j = 1:3\ntemp t[i]\ndo j\nt[j] = 1.0\nenddo j\nendsial fails\n",
               segments({2, 3, 4}));
  ASSERT_EQ(e.notes.size(), 1u);
  EXPECT_EQ(e.notes[0].second, "segment 3 is outside of dimension 1 of 't', which has 1:2: this will fail");
  EXPECT_EQ(test_support::error_of([] {
              estimate("sial p\naoindex i = 1:4\ntemp t[i]\ndo i\nt[i] = 1.0\nenddo i\nendsial p\n", segments({2}));
            }).kind(),
            error_kind::input);
}

// 6 x 6 blocks of 100 x 100: 80,000 bytes each, 20 pages.
constexpr const char* large =
    "sial large\naoindex i = 1:6\naoindex j = 1:6\ntemp a[i,j]\ntemp b[i,j]\nserved s[i,j]\n"
    "pardo i, j\na[i,j] = 1.0\nb[i,j] = a[i,j]\nprepare s[i,j] = b[i,j]\nendpardo i, j\nserver_barrier\n"
    "pardo i, j\nrequest s[i,j]\na[i,j] = s[i,j]\nendpardo i, j\nendsial large\n";

TEST(sial_estimate, says_what_would_make_it_fit) {
  constexpr double block = 81'920;
  const program_estimate e = estimate(large, segments(std::vector<std::int64_t>(6, 100)), 2);
  EXPECT_EQ(e.private_room(), 2 * block);
  EXPECT_EQ(e.hand_room, block);
  EXPECT_EQ(e.shared_at_once.room, 36 * block);
  const auto judged = [&](double host, double beyond) { return sial::judge(e, {host, beyond}); };
  EXPECT_EQ(judged(40 * block, 0).outcome, sial::fit::fits);
  EXPECT_EQ(judged(40 * block, 0).all, 40 * block);
  EXPECT_EQ(judged(40 * block - 1, 0).outcome, sial::fit::does_not_fit);
  EXPECT_EQ(judged(40 * block - 1, 1).outcome, sial::fit::spills);
  EXPECT_EQ(judged(6 * block, 34 * block).outcome, sial::fit::spills) << "two workers with three blocks each";
  EXPECT_EQ(judged(6 * block, 34 * block).spilled, 34 * block);
  EXPECT_EQ(judged(6 * block, 33 * block).outcome, sial::fit::does_not_fit);
  EXPECT_EQ(judged(6 * block - 1, 100 * block).outcome, sial::fit::does_not_fit);

  const sial::verdict full_disk = judged(6 * block, 10 * block);
  ASSERT_EQ(full_disk.remedies.size(), 2u) << "one worker would not fit either";
  EXPECT_EQ(full_disk.remedies[0], "--set memory.host_limit=\"3 MiB\" (or more)");     // 30 blocks: 2.3 MiB
  EXPECT_EQ(full_disk.remedies[1], "--set plugin.disk.capacity=\"3 MiB\" (or more)");  // 36 blocks: 2.8 MiB
  const sial::verdict small = judged(4 * block, 100 * block);
  ASSERT_EQ(small.remedies.size(), 3u);
  EXPECT_EQ(small.remedies[0], "--set memory.host_limit=\"480 KiB\" (or more)");  // 6 blocks
  EXPECT_EQ(small.remedies[1], "--workers 1");
  EXPECT_EQ(
      small.remedies[2],
      "segments of at most about 81 elements in the initialization data (the longest have 100)");  // 100 sqrt(4/6)
  const sial::verdict no_disk = judged(10 * block, 0);
  EXPECT_EQ(no_disk.remedies[0], "--set memory.host_limit=\"4 MiB\" (or more)");  // 40 blocks: 3.1 MiB
  EXPECT_EQ(no_disk.remedies[1],
            "a disk for what does not fit: --set 'runtime.plugins=[\"host\", \"disk\"]' --set plugin.disk.capacity=\"3 "
            "MiB\" (or more)");
}

/// Programs of the folder, each with the data that it runs with.
class sial_estimate_of : public ::testing::TestWithParam<std::string> {};

TEST_P(sial_estimate_of, bounds_what_a_run_takes) {
  const std::string folder = std::string(TESSERA_SOURCE_DIR) + "/tests/integration/sial/programs/", name = GetParam();
  const sial::init_data data = std::filesystem::exists(folder + name + ".toml")
                                   ? sial::read_init(folder + name + ".toml")
                                   : testing::common_data();
  std::vector<std::string> paths;
  for (const std::string& p : data.programs) paths.push_back(sial::find_program(p, {folder}));
  if (paths.empty()) paths.push_back(folder + name + ".sialx");
  const testing::sial_programs programs = testing::programs_from_files(paths);
  const testing::sial_outcome done = testing::run_job(programs, data, {1});
  sial::kept_estimates kept;
  double flops = 0, room = 0, iterations = 0;
  bool most = false;
  for (const sial::job_program& p : programs.all) {
    const program_estimate e = sial::estimate_program(p, data, {1}, kept);
    flops += e.flops();
    iterations += e.iterations;
    most = most || e.flops_are_most() || e.iterations_most;
    room = std::max(room, sial::judge(e, {}).all);
    for (const auto& [where, what] : e.notes)
      EXPECT_EQ(what.find("this will fail"), std::string::npos) << where.line << ": " << what;
  }
  // One adds to five blocks that it has fetched since the last barrier, and another has three written by a super
  // instruction: what was fetched stays as it was, or is a copy, and is not counted.
  const double copies = name == "pardos" ? 5 * 256 : name == "written_copies" ? 3 * 256 : 0;
  EXPECT_GE(room + copies, static_cast<double>(done.peak_bytes));
  EXPECT_GE(flops, done.counters.flops);
  EXPECT_GE(iterations, static_cast<double>(done.counters.iterations));
  if (!most) {
    EXPECT_EQ(flops, done.counters.flops);
    EXPECT_EQ(iterations, static_cast<double>(done.counters.iterations));
  }
}

std::vector<std::string> all_programs() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TESSERA_SOURCE_DIR) + "/tests/integration/sial/programs/"))
    if (entry.path().extension() == ".out") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}
INSTANTIATE_TEST_SUITE_P(all, sial_estimate_of, ::testing::ValuesIn(all_programs()),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace tessera
