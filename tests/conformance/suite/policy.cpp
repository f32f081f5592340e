// POLICY plugins: a choice is one of the candidates, depends on nothing but them, and is the same from every thread.
#include <exception>
#include <latch>
#include <limits>
#include <mutex>
#include <thread>

#include "tests/conformance/suite/check.hpp"

namespace tessera::conformance {
namespace {

using candidates = std::vector<tsr_candidate>;

constexpr std::uint32_t most = 64;

double seconds(random_source& random) { return std::uniform_real_distribution<>(0, 1e-2)(random); }

candidates random_candidates(random_source& random, std::uint32_t count) {
  candidates all;
  for (std::uint32_t i = 0; i < count; ++i)
    all.push_back({i, seconds(random), seconds(random), random() % 4 == 0 ? 0.0 : seconds(random),
                   random() % (std::uint64_t{1} << 30)});
  return all;
}

/// One opened policy.
class judge {
 public:
  explicit judge(const subject& what) : m_session(what) {}
  /// The choice, which is one of the candidates.
  std::uint32_t choice(const candidates& from, const char* how, const char* operation = "test.operation") const {
    const auto count = static_cast<std::uint32_t>(from.size());
    const std::uint32_t chosen = m_session.policy().place(m_session.handle(), operation, from.data(), count);
    expect(chosen < count, "of {} candidates ({}) the policy chooses number {}: it is 0 to {}", count, how, chosen,
           count - 1);
    return chosen;
  }

 private:
  opened_plugin m_session;
};

void index_is_in_range(const subject& what) {
  const judge policy(what);
  auto random = what.generator();
  for (int round = 0; round < 20; ++round)
    for (std::uint32_t count = 1; count <= most; ++count)
      policy.choice(random_candidates(random, count), "random ones");
}

/// Values at the ends: nothing known, nothing there, times without end, all alike.
void extreme_values(const subject& what) {
  const judge policy(what);
  constexpr double infinity = std::numeric_limits<double>::infinity(), large = std::numeric_limits<double>::max(),
                   tiny = std::numeric_limits<double>::denorm_min();
  auto random = what.generator();
  for (std::uint32_t count = 1; count <= most; ++count) {
    for (const double value : {0.0, tiny, 1.0, large, infinity})
      for (const std::uint64_t bytes : {std::uint64_t{0}, ~std::uint64_t{0}})
        policy.choice(candidates(count, {0, value, value, value, bytes}), "equal ones, of extreme values");
    if (count == 1) continue;
    candidates mixed = random_candidates(random, count);
    for (tsr_candidate& one : mixed)
      for (double* field : {&one.queue_seconds, &one.transfer_seconds, &one.execute_seconds}) switch (random() % 4) {
          case 0:
            *field = infinity;
            break;
          case 1:
            *field = 0;
            break;
          default:
            break;
        }
    policy.choice(mixed, "some without end");
  }
}

void is_a_pure_function(const subject& what) {
  const judge policy(what);
  auto random = what.generator();
  std::vector<candidates> asked;
  std::vector<std::uint32_t> answers;
  for (int i = 0; i < 100; ++i) {
    asked.push_back(random_candidates(random, 2 + static_cast<std::uint32_t>(random() % (most - 1))));
    answers.push_back(policy.choice(asked.back(), "random ones"));
  }
  for (std::size_t i = asked.size(); i-- > 0;) {  // in another order, from other memory
    const candidates copy = asked[i];
    const std::string name = "test.operation";
    expect(policy.choice(copy, "asked again", name.c_str()) == answers[i],
           "asked again for the same {} candidates the policy chooses another one: it is a pure function of them",
           copy.size());
  }
  const judge second(what);
  for (std::size_t i = 0; i < asked.size(); ++i)
    expect(second.choice(asked[i], "after another opening") == answers[i],
           "after another opening the policy chooses another of the same candidates");
}

void threads_get_equal_choices(const subject& what) {
  const judge policy(what);
  constexpr std::size_t threads = 4;
  std::vector<candidates> asked;
  std::vector<std::uint32_t> answers;
  auto random = what.generator();
  for (std::size_t t = 0; t < threads; ++t) {
    asked.push_back(random_candidates(random, most));
    answers.push_back(policy.choice(asked[t], "random ones"));
  }
  std::mutex guard;
  std::exception_ptr failure;
  std::latch together(threads);  // else one may be through before the next is there
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      together.arrive_and_wait();
      try {
        for (int i = 0; i < 20'000; ++i)  // long enough that threads meet on a busy machine
          expect(policy.choice(asked[t], "by several threads") == answers[t],
                 "the policy chooses another candidate while other threads ask it too");
      } catch (...) {
        const std::lock_guard lock(guard);
        failure = std::current_exception();
      }
    });
  for (std::thread& thread : all) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::vector<check> policy_checks() {
  constexpr kind_set policies = set_of(TSR_PLUGIN_POLICY);
  return {{"policy.index_is_in_range", index_is_in_range, policies},
          {"policy.extreme_values", extreme_values, policies},
          {"policy.is_a_pure_function", is_a_pure_function, policies},
          {"policy.threads_get_equal_choices", threads_get_equal_choices, policies}};
}

}  // namespace tessera::conformance
