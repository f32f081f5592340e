// Libraries of super instructions: loaded, refused, called; the registry's look-ups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "languages/sial/instructions/library.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/sial_call.hpp"

namespace tessera::sial {
namespace {

using test_support::block;
using test_support::call_site;
using test_support::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path libraries = SIAL_TEST_LIBRARIES;

struct sial_library : testing::Test {
  call_site call;
  std::string refused(const std::string& library, const std::string& sha256 = {}) {
    return message_of([&] { call.registry.load(library, sha256); }, error_kind::plugin);
  }
  std::string complaint(const std::string& name, const std::string& signature,
                        std::initializer_list<block*> arguments) {
    return message_of([&] { call(name, signature, arguments); }, error_kind::task);
  }
};

TEST_F(sial_library, its_instructions_run) {
  call.registry.load((libraries / "libsial_sample.so").string());
  block x("x", {3}, {1, 2, 3}), y("y", {1}, {5});
  call("sample_twice", "u", {&x});
  call("Sample_Twice", "UU", {&x, &y});
  EXPECT_THAT(x.values, ElementsAre(4, 8, 12));
  EXPECT_THAT(y.values, ElementsAre(10));
}

TEST_F(sial_library, what_a_job_answers) {
  call.registry.load((libraries / "libsial_sample.so").string());
  call.worker = 2;
  call.workers = 7;
  call.data.ints["norb"] = 11;
  call.data.scalars["conv"] = 0.25;
  call.data.segments[index_kind::moa] = {1, 4, 6};
  call.data.float_arrays["coords"] = {{3, 2}, {1, 2, 3, 4, 5, 6}};
  call.data.int_arrays["atom"] = {{4}, {1, 2, 3, 9}};
  block x("x", {14});
  call("sample_ask", "w", {&x});
  EXPECT_THAT(x.values, ElementsAre(1, 2, 7, 11, 0, 0.25, 3, 4, 0, 4, 9, 0, 1, 1));
  EXPECT_EQ(call.host.printed, "asked\n");
}

#ifdef SIAL_TEST_FORTRAN
// Every procedure of the module tessera_sial; the answers of the sample in C where both ask the same.
TEST_F(sial_library, what_a_job_answers_in_fortran) {
  call.registry.load((libraries / "libsial_sample_fortran.so").string());
  call.worker = 2;
  call.workers = 7;
  call.data.ints["norb"] = 11;
  call.data.scalars["conv"] = 0.25;
  call.data.segments[index_kind::moa] = {1, 4, 6};
  call.data.float_arrays["coords"] = {{3, 2}, {1, 2, 3, 4, 5, 6}};
  call.data.int_arrays["atom"] = {{4}, {1, 2, 3, 9}};
  block x("abc", {3, 8});
  x.at({21, 22}, {31, 32});
  x.is.kinds[1] = SIAL_MOB;
  x.is.whole = 2;
  call("fortran_ask", "w", {&x});
  EXPECT_THAT(x.values, ElementsAre(1, 2, 7, 11, 0, 0.25, 3, 4, 0, 4, 9, 0, 1, 1, 21, 32, 3, 'w', 2, 24, 3, 8, 1, 2));
  EXPECT_EQ(call.host.printed, "abc\n");
  EXPECT_THAT(complaint("fortran_complain", "", {}), HasSubstr("failed: from Fortran\n"));
}
#endif

TEST_F(sial_library, failures_have_the_librarys_words) {
  const std::string path = (libraries / "libsial_sample.so").string();
  call.registry.load(path);
  block x = block::scalar("x", 1), y = block::scalar("y", -1);
  EXPECT_THAT(complaint("sample_complain", "r", {&x}),
              AllOf(HasSubstr("super instruction 'sample_complain' failed: it is positive"), HasSubstr("at: " + path)));
  EXPECT_THAT(complaint("sample_complain", "r", {&y}), HasSubstr("failed: it returned 17"));
}

TEST_F(sial_library, a_host_that_cannot_print_fails_the_call_after_it) {
  struct : instruction_host {
    void print(std::string_view) override { throw std::runtime_error("the disk is full"); }
  } broken;
  call.registry.load((libraries / "libsial_sample.so").string());
  block x("x", {14});
  const sial_argument argument = x.argument('w');
  instruction_job job(call.data, 0, 1, broken);
  EXPECT_THAT(message_of(
                  [&] {
                    execute(call.registry.find("sample_ask", "w"), job, {&argument, 1});
                  },
                  error_kind::task),
              HasSubstr("super instruction 'sample_ask' failed: the disk is full"));  // nothing is thrown through C
  EXPECT_EQ(x.values[13], 1);                                                         // it ran to its end
}

TEST_F(sial_library, calls_that_are_not_thread_safe_are_one_at_a_time) {
  call.registry.load((libraries / "libsial_sample.so").string());
  const instruction& count = call.registry.find("sample_count", "w");
  std::vector<std::thread> threads;
  std::array<double, 4> most{};
  for (std::size_t t = 0; t < most.size(); ++t)
    threads.emplace_back([&, t] {
      test_support::recording_host host;
      instruction_job job(call.data, static_cast<std::int32_t>(t), 4, host);
      block x("x", {1});
      const sial_argument argument = x.argument('w');
      for (int k = 0; k < 200; ++k) execute(count, job, {&argument, 1});
      most[t] = x.values[0];
    });
  for (std::thread& thread : threads) thread.join();
  for (const double one : most) EXPECT_EQ(one, 1);
}

TEST_F(sial_library, names_are_looked_for_in_folders) {
  call_site other;
  other.registry = instruction_registry({"/none", libraries});
  other.registry.load("sial_sample");
  EXPECT_THAT(other.registry.libraries(), ElementsAre((libraries / "libsial_sample.so").string()));
  other.registry.load("libsial_sample.so");  // the same file: passed over
  EXPECT_EQ(other.registry.libraries().size(), 1u);
  EXPECT_THAT(message_of([&] { other.registry.load("sial_simple"); }, error_kind::plugin),
              AllOf(HasSubstr("no library of super instructions called 'sial_simple'"),
                    HasSubstr("looked in /none, " + libraries.string())));
  EXPECT_THAT(refused("sial_sample"), HasSubstr("no folders were given to look in"));
}

TEST_F(sial_library, files_that_are_refused) {
  EXPECT_THAT(refused((libraries / "libnothing.so").string()), HasSubstr("cannot be found"));
  EXPECT_THAT(refused((libraries / "libsial_sample_mute.so").string()),
              HasSubstr("does not export tessera_sial_instructions"));
  EXPECT_THAT(refused((libraries / "libsial_sample_later.so").string()),
              HasSubstr("built for version 2 of the interface of super instructions, this program offers 1"));
  EXPECT_THAT(refused((libraries / "libsial_sample.so").string(), std::string(64, '0')), HasSubstr("checksum"));
  const fs::path folder = fs::path(testing::TempDir()) / ("sial_library_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "text.so") << "text";
  EXPECT_THAT(refused((folder / "text.so").string()), HasSubstr("ELF"));
  fs::copy_file(libraries / "libsial_sample.so", folder / "open.so");
  ::chmod((folder / "open.so").c_str(), 0777);
  EXPECT_THAT(refused((folder / "open.so").string()), HasSubstr("writable by everybody"));
  fs::remove_all(folder);
  EXPECT_TRUE(call.registry.libraries().empty());
}

TEST_F(sial_library, names_that_are_taken) {
  call.registry.load((libraries / "libsial_sample.so").string());
  EXPECT_THAT(refused((libraries / "libsial_sample_twin.so").string()),
              AllOf(HasSubstr("the super instruction 'sample_twice' is there already: an instruction of "),
                    HasSubstr("libsial_sample.so"), HasSubstr("libsial_sample_twin.so")));
  EXPECT_EQ(call.registry.libraries().size(), 1u);
  const auto nothing = [](const instruction_call&) {};
  EXPECT_THAT(message_of(
                  [&] {
                    call.registry.add({{"mine", {"r"}, "", nothing}, {"eigen_calc", {"r"}, "", nothing}});
                  },
                  error_kind::plugin),
              HasSubstr("'eigen_calc' is there already: a built-in instruction"));
  EXPECT_THAT(message_of([&] { call.registry.find("mine", "r"); }, error_kind::input),
              HasSubstr("no super instruction 'mine'"));  // all or none
  EXPECT_THAT(message_of(
                  [&] {
                    call.registry.add({{"mine", {"r"}, "", nothing}, {"mine", {"w"}, "", nothing}});
                  },
                  error_kind::plugin),
              HasSubstr("'mine' is there already"));
}

TEST_F(sial_library, unknown_names_and_other_signatures) {
  call.registry.load((libraries / "libsial_sample.so").string());
  EXPECT_THAT(message_of([&] { call.registry.find("compute_dis", "u"); }, error_kind::input),
              AllOf(HasSubstr("there is no super instruction 'compute_dis'"), HasSubstr("did you mean 'compute_diis'?"),
                    HasSubstr("libsial_sample.so")));
  EXPECT_THAT(message_of([&] { call_site().registry.find("zzz", ""); }, error_kind::input),
              HasSubstr("searched: the built-in instructions, no libraries"));
  EXPECT_THAT(message_of([&] { call.registry.find("return_sval", "wr"); }, error_kind::input),
              HasSubstr("super instruction 'return_sval' takes rw or ru, not wr"));
  EXPECT_THAT(message_of([&] { call.registry.find("sample_twice", ""); }, error_kind::input),
              AllOf(HasSubstr("takes u or uu, not none"), HasSubstr("libsial_sample.so")));
  EXPECT_THAT(message_of([&] { call.registry.find("list_block_map", "r"); }, error_kind::input),
              HasSubstr("takes none, not r"));
}

std::string refused_table(const sial_table* table) {
  return message_of([&] { instructions_of(table, "my.so"); }, error_kind::plugin);
}
std::int32_t nothing(const sial_job*, std::int32_t, const sial_argument*) { return 0; }
std::int32_t throws(const sial_job*, std::int32_t, const sial_argument*) { throw std::runtime_error("out of C"); }
std::string refused_entry(sial_instruction one) {
  const sial_table table{sizeof(sial_table), SIAL_INTERFACE_VERSION, 1, &one, nullptr};
  return refused_table(&table);
}

TEST_F(sial_library, tables_that_are_refused) {
  EXPECT_THAT(refused_table(nullptr), HasSubstr("cannot serve version 1"));
  sial_table table{8, SIAL_INTERFACE_VERSION, 0, nullptr, nullptr};
  EXPECT_THAT(refused_table(&table), HasSubstr("the library's table is too short (8 bytes)"));
  table = {sizeof table, SIAL_INTERFACE_VERSION, 1, nullptr, nullptr};
  EXPECT_THAT(refused_table(&table), HasSubstr("has no instructions"));
  constexpr std::uint32_t size = sizeof(sial_instruction);
  EXPECT_THAT(refused_entry({8, 0, "a", "", nothing, nullptr}),
              HasSubstr("instruction number 0 of the library's table is too short (8 bytes)"));
  EXPECT_THAT(refused_entry({0, 0, "a", "", nothing, nullptr}), HasSubstr("too short (0 bytes)"));
  for (const char* name : {static_cast<const char*>(nullptr), "", "Upper", "1st", "a b"})
    EXPECT_THAT(refused_entry({size, 0, name, "", nothing, nullptr}), HasSubstr("has no proper name"));
  EXPECT_THAT(refused_entry({size, 0, "a", "", nullptr, nullptr}), HasSubstr("'a' has no function"));
  EXPECT_THAT(refused_entry({size, 0, "a", nullptr, nothing, nullptr}), HasSubstr("'a' has no signature"));
  EXPECT_THAT(refused_entry({size, 0, "a", "rx", nothing, nullptr}),
              HasSubstr("the signature \"rx\" of the library's instruction 'a' has a letter other than r, w, u"));
  EXPECT_THAT(refused_entry({size, 0, "a", "rrrrrrr", nothing, nullptr}), HasSubstr("is for more than 6 arguments"));
}

TEST_F(sial_library, kernels) {
  constexpr std::uint32_t size = sizeof(sial_instruction);
  sial_kernel kernel{sizeof kernel, 1, "k", "KERNEL void k() {}"};
  const sial_instruction one{size, 0, "a", "ru|uw", nothing, &kernel};
  const sial_table table{sizeof(sial_table), SIAL_INTERFACE_VERSION, 1, &one, nullptr};
  const auto taken = instructions_of(&table, "my.so");
  ASSERT_TRUE(taken.at(0).kernel.has_value());
  EXPECT_EQ(taken[0].kernel->over, 1u);
  EXPECT_EQ(taken[0].kernel->text, "KERNEL void k() {}");
  for (const int over : {-1, 2}) {
    kernel.over = over;
    EXPECT_THAT(refused_entry(one),
                HasSubstr("the kernel of the library's instruction 'a' has no argument of the number `over`"))
        << over;
  }
  kernel = {sizeof kernel, 0, "", "text"};
  EXPECT_THAT(refused_entry(one), HasSubstr("has no name"));
  kernel = {sizeof kernel, 0, "k", nullptr};
  EXPECT_THAT(refused_entry(one), HasSubstr("has no text"));
  kernel = {8, 0, "k", "text"};
  EXPECT_THAT(refused_entry(one), HasSubstr("is too short"));
}

TEST_F(sial_library, entries_of_an_earlier_version_have_no_kernel) {
  struct earlier {  // as tessera/sial.h had it before sial_kernel
    std::uint32_t struct_size, flags;
    const char *name, *signature;
    sial_function function;
  };
  const earlier two[] = {{sizeof(earlier), 0, "earlier_one", "u", nothing},
                         {sizeof(earlier), 0, "earlier_two", "r", nothing}};
  const sial_table table{sizeof(sial_table), SIAL_INTERFACE_VERSION, 2, reinterpret_cast<const sial_instruction*>(two),
                         nullptr};
  const auto taken = instructions_of(&table, "my.so");
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[1].name, "earlier_two");
  EXPECT_FALSE(taken[0].kernel.has_value());
}

TEST_F(sial_library, longer_entries_of_a_later_version_are_stepped_over) {
  struct later {
    sial_instruction known;
    double more[3];
  };
  const later two[] = {{{sizeof(later), 0, "later_one", "", nothing, nullptr}, {}},
                       {{sizeof(later), 0, "later_two", "R|", nothing, nullptr}, {}}};
  const sial_table table{sizeof(sial_table), SIAL_INTERFACE_VERSION, 2, &two[0].known, nullptr};
  const auto taken = instructions_of(&table, "my.so");
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[1].name, "later_two");
  EXPECT_THAT(taken[1].signatures, ElementsAre("r", ""));
}

TEST_F(sial_library, exceptions_are_failures) {
  const sial_instruction one{sizeof(sial_instruction), 0, "thrower", "", throws, nullptr};
  const sial_table table{sizeof(sial_table), SIAL_INTERFACE_VERSION, 1, &one, nullptr};
  call.registry.add(instructions_of(&table, "my.so"));
  EXPECT_THAT(complaint("thrower", "", {}), HasSubstr("super instruction 'thrower' failed: out of C"));
  EXPECT_THAT(complaint("thrower", "", {}), HasSubstr("out of C"));  // the lock was let go
}

TEST_F(sial_library, all_are_listed) {
  const auto all = call.registry.all();
  EXPECT_GE(all.size(), 32u);
  for (const instruction* one : all) EXPECT_FALSE(one->signatures.empty()) << one->name;
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &instruction::name));
}

}  // namespace
}  // namespace tessera::sial
