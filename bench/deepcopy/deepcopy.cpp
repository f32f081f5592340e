// Cycles of `tessera deepcopy`: a structure moved to another memory of the host, scaled there, and brought back. The
// peer is by_hand.cpp, which marshals the same structures with plain C++.
#include <array>

#include "apps/deepcopy/cycle.hpp"
#include "bench/common/measure.hpp"

using namespace bench;
using namespace tessera;
using namespace tessera::apps::deepcopy;

namespace {

constexpr const char* two_memories = R"(
[runtime]
plugins = ["host"]
[topology]
synthetic = "numa:2 core:1 pu:1"
[plugin.host]
domains = 2
)";

struct measurement {
  runtime rt{{.text = two_memories, .workers = 2}};
  destination where{rt, ""};
  int reps;

  template <class Structure>
  void cycles(const std::string& kase, const typename Structure::size_type& size) {
    struct times {
      std::vector<double> whole, moving;
    };
    const std::array<std::string, 4> schemes{"shared", "marshalling", "chain", "block-by-block"};
    std::array<times, schemes.size()> seen;
    for (int rep = 0; rep <= reps; ++rep)  // in turns; the first time is checked and does not count
      for (std::size_t k = 0; k < schemes.size(); ++k) {
        const cycle_result r = run_cycle<Structure>({rt, where}, schemes[k], size, rep == 0);
        if (r.wrong != 0) fail(kase + ": wrong result");
        if (rep == 0) continue;
        seen[k].whole.push_back(r.whole * 1e6);
        seen[k].moving.push_back((r.in + r.kernel + r.back) * 1e6);
      }
    for (std::size_t k = 0; k < schemes.size(); ++k) {
      const std::string name = kase + "_" + schemes[k];
      row("deepcopy", "Tessera", name, 2, "us_per_cycle", median(seen[k].whole));
      row("deepcopy", "Tessera", name, 2, "us_moving", median(seen[k].moving));
      row("deepcopy", "Tessera", name, 2, "times_shared", median(seen[k].whole) / median(seen[0].whole));
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"k", "n", "q", "leaf", "reps"});
  measurement m{.reps = static_cast<int>(args.number("reps", 21))};
  const std::int64_t k = args.number("k", 10), n = args.number("n", 100'000), q = args.number("q", 8),
                     leaf = args.number("leaf", 1000);
  const std::string numbers = "_n" + std::to_string(n);
  m.cycles<linear>("linear_allinit_allused" + numbers, {k, n, list_layout::all_all});
  m.cycles<linear>("linear_allinit_llused" + numbers, {k, n, list_layout::all_last});
  m.cycles<linear>("linear_llinit_llused" + numbers, {k, n, list_layout::last_last});
  m.cycles<dense>("dense_n" + std::to_string(leaf), {q, leaf});
}
