// Every run-time error says what is wrong and in which line, with any number of workers, and nobody hangs.
#include <gtest/gtest.h>

#include <algorithm>

#include "jobs.hpp"
#include "languages/sial/job/checkpoint.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using testing::common_data;
using testing::run_text;

/// A program that fails. The line that is named has a '#!' in it; with none, no line is.
struct failing {
  const char* name;
  const char* declarations;
  const char* statements;
  const char* message;  ///< a part of it
  error_kind kind = error_kind::task;
  unsigned from_workers = 1;  ///< what one worker alone cannot get wrong
};

void PrintTo(const failing& f, std::ostream* out) { *out << f.name; }

std::string text_of(const failing& f) {
  return std::string("sial failing\n") +
         "aoindex a = 1:2\nmoindex i = 1:3\nmoindex j = 1:3\nmoindex narrow = 1:2\nindex k = 1:4\nindex l = 1:4\nindex "
         "one = 1:1\nindex two = 2:2\n"
         "temp t[i, j]\nlocal m[i, j]\ndistributed d[i, j]\nserved s[k]\nstatic w[narrow]\ncontiguous local c[i, "
         "j]\nscalar x\nint n\n" +
         f.declarations + "\n" + f.statements + "\nendsial failing\n";
}

std::string line_of(const std::string& text) {
  const std::size_t mark = text.find("#!");
  return mark == std::string::npos
             ? ""
             : "test.sialx:" +
                   std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n'));
}

class sial_error : public ::testing::TestWithParam<failing> {};

TEST_P(sial_error, is_told_with_its_line) {
  const failing& f = GetParam();
  const std::string text = text_of(f), line = line_of(text);
  for (unsigned workers = f.from_workers; workers <= 4; ++workers) {
    const error e = error_of([&] { run_text(text, common_data(), workers); });
    EXPECT_EQ(e.kind(), f.kind) << e.what();
    EXPECT_NE(e.message().find(f.message), std::string::npos) << workers << " workers: " << e.what();
    if (!line.empty()) {
      EXPECT_NE((e.where() + "\n").find(line + "\n"), std::string::npos)
          << workers << " workers: expected " << line << ": " << e.what() << "\n"
          << text;
    }
  }
}

const failing programs_that_fail[] = {
    {"temp_is_read_before_it_is_written", "", "do i\ndo j\nx = t[i,j] * t[i,j]  #!\nenddo j\nenddo i",
     "block t[1,1] is read and does not exist"},
    {"temp_is_added_to_before_it_is_written", "", "do i\ndo j\nt[i,j] += 1.0  #!\nenddo j\nenddo i",
     "block t[1,1] is changed and does not exist"},
    {"scaled_block_is_taken_from_one_before_it_is_written", "temp u[i, j]",
     "do i\ndo j\nt[i,j] = 1.0\nu[i,j] = 2.0 * t[i,j]\nm[i,j] -= u[i,j]  #!\nenddo j\nenddo i",
     "block m[1,1] is changed and does not exist"},
    {"temp_is_gone_behind_the_inner_loop", "",
     "do i\ndo j\nwhere j == 2\ndo k\nt[i,j] = 1.0\nenddo k\nx = t[i,j] * t[i,j]  #!\nenddo j\nenddo i",
     "block t[1,2] is read and does not exist"},
    {"temp_is_gone_in_the_next_iteration", "temp u[one]",
     "do k\nif k == 2\nx = u[(index)1]  #!\nendif\nu[(index)1] = 1.0\nenddo k",
     "block u[1] is read and does not exist"},
    {"temp_is_gone_in_the_next_parallel_iteration", "temp u[one]",
     "pardo k, l\nif k * l > 0\nn += 1\nendif\nif n > 1\nx = u[(index)1]  #!\nendif\nu[(index)1] = 1.0\nendpardo k, l",
     "block u[1] is read and does not exist"},
    {"local_is_read_and_not_allocated", "", "do i\ndo j\nx = m[i,j] * m[i,j]  #!\nenddo j\nenddo i",
     "block m[1,1] is read and does not exist"},
    {"distributed_is_read_and_not_fetched", "",
     "pardo i, j\nput d[i,j] = 1.0\nendpardo i, j\nsip_barrier\ndo i\ndo j\nt[i,j] = d[i,j]  #!\nenddo j\nenddo i",
     "block d[1,1] is read and was not fetched"},
    {"fetched_is_gone_behind_a_barrier", "",
     "pardo i, j\nput d[i,j] = 1.0\nendpardo i, j\nsip_barrier\ndo i\ndo j\nget d[i,j]\nenddo j\nenddo "
     "i\nsip_barrier\ndo i\ndo j\nx = d[i,j] * d[i,j]  #!\nenddo j\nenddo i",
     "block d[1,1] is read and was not fetched"},
    {"get_of_what_was_never_written", "", "do i\ndo j\nget d[i,j]  #!\nenddo j\nenddo i",
     "block d[1,1] is fetched and was never written"},
    {"request_of_what_was_never_written", "", "do k\nrequest s[k]  #!\nenddo k",
     "block s[1] is fetched and was never written"},
    {"get_of_what_was_deleted", "",
     "pardo i, j\nput d[i,j] = 1.0\nendpardo i, j\nsip_barrier\ndelete d\ndo i\ndo j\nget d[i,j]  #!\nenddo j\nenddo i",
     "block d[1,1] is fetched and was never written"},
    {"local_is_allocated_twice", "", "do i\nallocate m[i,*]\nallocate m[i,*]  #!\nenddo i",
     "block m[1,1] is allocated and exists already"},
    {"local_is_deallocated_and_not_there", "", "do i\nwhere i == 2\ndo j\ndeallocate m[i,j]  #!\nenddo j\nenddo i",
     "block m[2,1] is deallocated and does not exist"},
    {"regions_overlap", "", "allocate contiguous c[1:2, 1:3]\nallocate contiguous c[2:3, 3:3]  #!",
     "region c[2:3,3] overlaps"},
    {"region_is_missing", "", "allocate contiguous c[1:2, 1:2]\nc[2:3, 1:2] = 1.0  #!",
     "c[2:3,1:2] lies in no allocated region"},
    {"region_spans_two", "", "allocate contiguous c[1:1, 1:2]\nallocate contiguous c[2:2, 1:2]\nprint c[1:2, 1:2]  #!",
     "c[1:2,1:2] lies in no allocated region"},
    {"region_is_deallocated_in_part", "", "allocate contiguous c[1:2, 1:2]\ndeallocate contiguous c[1:1, 1:2]  #!",
     "region c[1,1:2] is deallocated and was not allocated"},
    {"region_is_outside", "", "n = 4\nallocate contiguous c[1:n, 1:2]  #!", "outside"},
    {"region_is_backwards", "", "n = 1\nallocate contiguous c[2:n, 1:2]  #!", "c[2:1,1:2]"},
    {"nested_loop_through_a_procedure", "proc p\ndo i  #!\nn += 1\nenddo i\nendproc p", "do i\ncall p\nenddo i",
     "index 'i' has a value already"},
    {"parallel_loop_over_a_bound_index", "proc p\npardo i, j  #!\nn += 1\nendpardo i, j\nendproc p",
     "do j\ncall p\nenddo j", "index 'j' has a value already"},
    {"unbound_index_in_a_procedure", "proc p\nt[i,j] = 1.0  #!\nendproc p", "do i\ncall p\nenddo i",
     "index 'j' has no value here"},
    {"unbound_index_in_an_expression", "proc p\nn = i + 1  #!\nendproc p", "call p", "index 'i' has no value here"},
    {"segment_is_outside_of_the_array", "", "do i\nw[i] = 1.0  #!\nenddo i",
     "segment 3 is outside of dimension 1 of 'w', which has 1:2"},
    {"simple_segment_is_outside", "", "n = 5\nprepare s[(index)n] = 1.0  #!",
     "segment 5 is outside of dimension 1 of 's', which has 1:4"},
    {"simple_segment_is_below", "", "x = 1.0\nprepare s[(index)(n - 1)] = x  #!",
     "segment -1 is outside of dimension 1 of 's', which has 1:4"},
    {"super_instruction_is_unknown", "special no_such_thing", "execute no_such_thing  #!", "no_such_thing",
     error_kind::input},
    {"scalars_differ", "", "pardo one\nx = 1.0\nendpardo one\nassert_same x  #!", "scalar 'x' is", error_kind::task, 2},
    {"label_is_missing", "", "restore_persistent x \"no label\"  #!", "no program has kept anything under this label"},
    {"int_is_divided_by_zero", "", "x = 1.0\nn = 4 / n  #!", "an int is divided by zero"},
    {"int_sum_beyond_64_bits", "int big = 9223372036854775807", "big += 1  #!", "9223372036854775807 + 1 is beyond"},
    {"int_product_beyond_64_bits", "int big = 3037000500", "n = big * big  #!", "is beyond the 64 bits of an int"},
    {"int_beyond_64_bits_in_a_pardo", "int big = 9223372036854775807", "pardo k\nn = big + k  #!\nendpardo k",
     "is beyond the 64 bits of an int"},
    {"scalar_is_divided_by_zero", "", "x = 4.0 / x  #!", "a scalar is divided by zero"},
    {"root_of_a_negative_number", "", "x = 0.0 - 4.0\nx = sqrt x  #!", "square root of -4"},
    {"power_of_a_negative_number", "", "x = 0.0 - 4.0\nx = x ** 0.5  #!", "the result of **"},
    {"scalar_is_too_large_for_an_int", "", "x = 10.0 ** 30.0\nn = (int)x  #!", "is no int"},
    {"stop", "", "if n == 0\nstop  #!\nendif", "the program stops here"},
    {"stop_in_a_procedure_in_a_pardo", "proc p\nif i * j == 9\nstop  #!\nendif\nendproc p",
     "pardo i, j\ncall p\nendpardo i, j\nsip_barrier", "the program stops here"},
    {"endless_recursion", "proc p\nn += 1\ncall p  #!\nendproc p", "call p", "procedures have called each other"},
    {"worker_of_a_broadcast_is_missing", "", "n = 4\nbroadcast_from n w  #!", "there is no worker 4"},
    {"worker_of_a_broadcast_is_negative", "", "broadcast_from n - 1 w  #!", "there is no worker -1"},
    {"put_outside_of_the_array", "distributed e[narrow, j]",
     "do i\ndo j\nwhere i == 3\nt[i,j] = 1.0\nput e[i,j] = t[i,j]  #!\nenddo j\nenddo i", "segment 3 is outside"},
    {"constant_is_missing", "predefined int n_tow  #!", "n = n_tow", "the initialization data have no int 'n_tow'",
     error_kind::input},
    {"scalar_constant_is_missing", "predefined scalar hafl  #!", "x = hafl",
     "the initialization data have no scalar 'hafl'", error_kind::input},
    {"range_is_beyond_the_segments", "mobindex far = 1:4  #!\ntemp f[far]", "do far\nf[far] = 1.0\nenddo far",
     "there are 3 mob segments", error_kind::input},
    {"range_of_a_constant_is_empty", "predefined int n_zero\nmobindex far = 1:n_zero  #!\ntemp f[far]",
     "do far\nf[far] = 1.0\nenddo far", "range 1:0", error_kind::input},
    {"predefined_array_has_other_extents", "aoindex b = 1:1\npredefined static square[b, b]", "print square",
     "array 'square' has 9 elements here, and static array square has 4", error_kind::input},
    {"barriers_differ", "", "pardo one\nn = 1\nendpardo one\nif n == 1\nsip_barrier\nelse\nserver_barrier\nendif",
     "other workers", error_kind::task, 2},
    {"some_end_while_others_wait", "", "pardo one\nn = 1\nendpardo one\nif n == 1\nsip_barrier\nendif", "other workers",
     error_kind::task, 2},
    {"a_sum_that_not_all_reach", "",
     "pardo one\nn = 1\nendpardo one\nif n == 1\ncollective x += 1.0\nendif\nsip_barrier", "other workers",
     error_kind::task, 2},
};

INSTANTIATE_TEST_SUITE_P(all, sial_error, ::testing::ValuesIn(programs_that_fail),
                         [](const auto& of) { return std::string(of.param.name); });

/// Programs in which two workers use block c[1] between two barriers; every worker runs one iteration, with a
/// collective sum in it so that no worker runs two.
struct conflict {
  const char* name;
  const char* first;   ///< what one worker does
  const char* second;  ///< what the others do afterwards
  bool is_race;
};

void PrintTo(const conflict& c, std::ostream* out) { *out << c.name; }

class sial_race : public ::testing::TestWithParam<conflict> {};

TEST_P(sial_race, is_found_exactly_when_there_is_one) {
  // A worker that runs the only iteration of the first pardo does the one thing; after a collective sum, which orders
  // nothing, the others do the other.
  const conflict& c = GetParam();
  const std::string begin =
      "sial racing\nindex k = 1:1\nindex one = 1:1\ndistributed c[k]\ndistributed e[k]\nscalar x\nscalar sum\nint "
      "mine\n";
  const std::string write = "pardo one\nput c[(index)1] = 1.0\nput e[(index)1] = 1.0\nendpardo one\nsip_barrier\n",
                    end = "\nendsial racing\n";
  const std::string use = "pardo one\nmine = 1\nendpardo one\nif mine == 1\n" + std::string(c.first) +
                          "\nendif\ncollective sum += 1.0\nif mine == 0\n" + c.second + "\nendif";
  // The blocks may also be those of a program before.
  const std::string keep = "set_persistent c \"c\"\nset_persistent e \"e\"",
                    restore = "restore_persistent c \"c\"\nrestore_persistent e \"e\"\n";
  testing::sial_programs inherited = testing::program_from_text(begin + write + keep + end);
  inherited.all.push_back(testing::program_from_text(begin + restore + use + end).all[0]);
  const std::string text = begin + write + use + end;
  const testing::sial_programs programs[] = {testing::program_from_text(text), inherited};
  for (const unsigned workers : {2u, 3u, 4u})
    for (int repeat = 0; repeat < 6; ++repeat) {
      const testing::sial_programs& run = programs[repeat % 2];
      if (!c.is_race) {
        EXPECT_NO_THROW(testing::run_job(run, common_data(), {workers})) << text;
        continue;
      }
      const error e = error_of([&] { testing::run_job(run, common_data(), {workers}); });
      EXPECT_EQ(e.kind(), error_kind::task);
      EXPECT_NE(e.message().find("block c[1]"), std::string::npos) << e.what();
      EXPECT_NE(e.message().find("no barrier is between"), std::string::npos) << e.what();
      EXPECT_NE(e.hint().find("sip_barrier"), std::string::npos) << e.what();
      EXPECT_NE(e.where().find("test.sialx:"), std::string::npos) << e.what();
    }
}

const char* const get = "get c[(index)1]";
const char* const replace = "put c[(index)1] = 2.0";
const char* const add = "put c[(index)1] += 2.0";
const char* const scale = "put c[(index)1] *= 2.0";
const char* const other_block = "put e[(index)1] += 2.0";

INSTANTIATE_TEST_SUITE_P(
    all, sial_race,
    ::testing::Values(
        conflict{"two_replace", replace, replace, true}, conflict{"replace_and_add", replace, add, true},
        conflict{"add_and_replace", add, replace, true}, conflict{"replace_and_get", replace, get, true},
        conflict{"get_and_replace", get, replace, true}, conflict{"get_and_add", get, add, true},
        conflict{"add_and_get", add, get, true}, conflict{"scale_and_add", scale, add, true},
        conflict{"get_and_scale", get, scale, true}, conflict{"all_get", get, get, false},
        conflict{"all_add", add, add, false}, conflict{"other_blocks", replace, other_block, false},
        conflict{
            "one_alone_does_all",
            "get c[(index)1]\nput c[(index)1] += 1.0\nput c[(index)1] = 3.0\nput c[(index)1] *= 2.0\nget c[(index)1]",
            "x = 1.0", false}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(sial_errors, restoring_into_another_shape) {
  const std::string first =
      "sial first\nmoindex i = 1:3\nindex k = 1:2\nstatic s[i]\ndistributed d[i]\nscalar x\ndo i\ns[i] = 1.0\nenddo "
      "i\npardo i\nput d[i] = 1.0\nendpardo i\n"
      "set_persistent s \"s\"\nset_persistent d \"d\"\nset_persistent x \"x\"\nendsial first\n";
  const auto second = [](const std::string& declaration, const std::string& what) {
    return "sial second\nmoindex i = 1:3\nmoindex narrow = 1:2\nmoindex inner = 2:3\nmoaindex other = 1:3\n" +
           declaration + "\nrestore_persistent " + what + "\nendsial second\n";
  };
  const struct {
    const char *declaration, *what, *message;
  } cases[] = {{"static s[narrow]", "s \"s\"", "its dimensions are others"},
               {"static s[other]", "s \"s\"", "its dimensions are others"},
               {"static s[i, i]", "s \"s\"", "its dimensions are others"},
               {"distributed d[inner]", "d \"d\"", "its dimensions are others"},
               {"served d[i, i]", "d \"d\"", "its dimensions are others"},
               {"distributed d[i]", "d \"s\"", "it is no distributed or served array"},
               {"static s[i]", "s \"d\"", "it is no static array"},
               {"static s[i]", "s \"x\"", "it is no static array"},
               {"scalar x", "x \"s\"", "it is no scalar"},
               {"scalar x", "x \"S\"", "no program has kept anything under this label"}};
  for (const auto& c : cases)
    for (const unsigned workers : {1u, 2u, 4u}) {
      testing::sial_programs programs = testing::program_from_text(first);
      programs.all.push_back(testing::program_from_text(second(c.declaration, c.what)).all[0]);
      const error e = error_of([&] { testing::run_job(programs, common_data(), {workers}); });
      EXPECT_EQ(e.kind(), error_kind::task);
      EXPECT_NE(e.message().find(c.message), std::string::npos) << e.what();
      EXPECT_NE(e.where().find("test.sialx:7"), std::string::npos) << e.what();
    }
}

TEST(sial_errors, scalars_and_statics_are_restored_once) {
  testing::sial_programs programs =
      testing::program_from_text("sial first\nscalar x\nset_persistent x \"x\"\nendsial first\n");
  const std::string again = "sial second\nscalar x\nrestore_persistent x \"x\"\nendsial second\n";
  for (int k = 0; k < 2; ++k) programs.all.push_back(testing::program_from_text(again).all[0]);
  const error e = error_of([&] { testing::run_job(programs, common_data(), {2}); });
  EXPECT_NE(e.message().find("no program has kept anything under this label"), std::string::npos) << e.what();
}

/// What the initialization data have for a static array is told with its place there.
TEST(sial_errors, contents_of_static_arrays_that_do_not_fit) {
  const auto refused = [](const std::string& arrays) {
    const sial::init_data data = sial::from_toml("[segments]\nmo = [2, 1]\n" + arrays, "i.toml");
    return error_of(
        [&] { run_text("sial one\nmoindex i = 1:2\npredefined static c[i]\nprint c\nendsial one\n", data, 1); });
  };
  const struct {
    const char *arrays, *message;
  } cases[] = {{"[int_arrays]\nc = [1, 2, 3]\n", "'c' is an int array here"},
               {"[float_arrays]\nc = [1.0, 2.0]\n", "array 'c' has 2 elements here, and static array c has 3"},
               {"[float_arrays]\nc = {dims = [3, 1], data = [1.0, 2.0, 3.0]}\n",
                "array 'c' has the dims [3, 1] here, and static array c has [3]"}};
  for (const auto& c : cases) {
    const error e = refused(c.arrays);
    EXPECT_EQ(e.kind(), error_kind::input) << e.what();
    EXPECT_NE(e.message().find(c.message), std::string::npos) << e.what();
    EXPECT_EQ(e.where(), "i.toml:4:1");
  }
}

/// Of ints that the binary form has no room for, too.
TEST(sial_errors, data_are_told_apart) {
  const auto of = [](std::int64_t n) {
    sial::init_data data;
    data.ints["n"] = n;
    return sial::identity_of({"one"}, data).data;
  };
  EXPECT_EQ(of(3'000'000'000), of(3'000'000'000));
  EXPECT_NE(of(3'000'000'000), of(3'000'000'001));
  EXPECT_NE(of(3), of(4));
}

}  // namespace
}  // namespace tessera
