// A child that was forked from a program with a runtime: an error at the first use, and an end, never a wait for
// threads that only the parent has.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <thread>

#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

/// Runs it in a child of its own. Returns how that ended: the exit code of 0, or what it returned; 1000 + the signal
/// that ended it, the one of its deadline too.
int in_child(const std::function<int()>& what) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(what());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// 0 when it throws an error of kind usage that speaks of the fork.
int refused(const std::function<void()>& what) {
  try {
    what();
    return 1;
  } catch (const error& failure) {
    if (failure.kind() != error_kind::usage) return 2;
    return failure.message().find("forked") != std::string::npos ? 0 : 3;
  } catch (...) {
    return 4;
  }
}

class forked : public ::testing::TestWithParam<unsigned> {  // workers
 protected:
  forked() {
    rt.emplace(testing::host_only(GetParam()));
    a.emplace(rt->make_array<double>("a", {4}, {1}));
    for (int k = 0; k < 4; ++k) fill(*rt, (*a)(k), 1.0);
    rt->fence();
    // Tasks that run, and wait, while it forks.
    for (int k = 0; k < 200; ++k)
      rt->submit(
          "add", [this](view<double> x) { x[0] += stop ? 1 : 2; }, update((*a)(k % 4)));
  }
  ~forked() override {
    stop = true;
    if (rt) {
      EXPECT_NO_THROW(rt->fence()) << "the parent is as it was";
    }
  }
  std::atomic<bool> stop{false};
  std::optional<runtime> rt;
  std::optional<array<double>> a;
};
INSTANTIATE_TEST_SUITE_P(workers, forked, ::testing::Values(1u, 3u));

TEST_P(forked, every_use_is_an_error) {
  const std::vector<std::pair<const char*, std::function<void()>>> uses = {
      {"fence", [&] { rt->fence(); }},
      {"submit",
       [&] {
         rt->submit(
             "add", [](view<double> x) { x[0] += 1; }, update((*a)(0)));
       }},
      {"fill", [&] { fill(*rt, (*a)(0), 2.0); }},
      {"view", [&] { (void)a->read_host((*a)(0)); }},
      {"array", [&] { (void)rt->make_array<double>("b", {4}, {1}); }},
      {"record", [&] { (void)rt->record([] {}); }},
      {"cancel", [&] { rt->cancel("no"); }},
      {"statistics", [&] { (void)rt->statistics(); }},
      {"register_memory", [&] { rt->register_memory(this, sizeof *this); }},
      {"no_waiting", [&] { const runtime::no_waiting scope(*rt); }},
  };
  for (const auto& [name, use] : uses) EXPECT_EQ(in_child([&] { return refused(use); }), 0) << name;
    // Also of another thread of the child.
#if !defined(__SANITIZE_THREAD__)  // which lets no child start threads
  EXPECT_EQ(in_child([&] {
              int code = -1;
              std::thread([&] { code = refused([&] { rt->fence(); }); }).join();
              return code;
            }),
            0);
#endif
}

TEST_P(forked, its_end_and_those_of_its_arrays_and_views_do_nothing) {
  EXPECT_EQ(in_child([&] {
              a.reset();
              rt.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(in_child([&] {
              rt.reset();
              a.reset();
              return 0;
            }),
            0);
  rt->fence();
  std::optional<host_view<double>> held(a->write_host((*a)(0)));
  EXPECT_EQ(in_child([&] {
              held.reset();
              rt->fence({.reports = false});
              return refused([&] { rt->fence(); });
            }),
            0);
  held.reset();
  EXPECT_NO_THROW(rt->fence());
}

TEST_P(forked, a_child_may_have_a_runtime_of_its_own) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer lets no child start threads";
#endif
  rt->fence();  // nothing of the process is half done
  EXPECT_EQ(in_child([&] {
              runtime own(testing::host_only(GetParam()));
              auto b = own.make_array<double>("b", {1}, {1});
              fill(own, b(0), 1.0);
              own.submit(
                  "add", [](view<double> x) { x[0] += 1; }, update(b(0)));
              own.fence();
              return b.read_host(b(0))[0] == 2 ? refused([&] { rt->fence(); }) : 10;
            }),
            0);
}

}  // namespace
}  // namespace tessera
