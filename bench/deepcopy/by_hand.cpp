// What a programmer writes without a runtime: the structures of `tessera deepcopy`, marshalled by code that knows them,
// into a buffer whose pointers are made for the other memory, which is filled by one memcpy. The structures are those
// of apps/deepcopy/scenario.hpp; nothing else of Tessera is used.
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "apps/deepcopy/scenario.hpp"
#include "bench/common/measure.hpp"

using namespace bench;
using namespace tessera::apps::deepcopy;

namespace {

/// A buffer that grows from its begin, and where it will lie.
class buffer {
 public:
  explicit buffer(std::size_t bytes)
      : m_here(std::make_unique_for_overwrite<std::byte[]>(bytes)),
        m_there(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}
  template <class T>
  std::size_t add(const T* from, std::size_t count) {
    const std::size_t at = m_used;
    std::memcpy(m_here.get() + at, from, count * sizeof(T));
    m_used += (count * sizeof(T) + 15) / 16 * 16;
    return at;
  }
  template <class T>
  T* here(std::size_t at) {
    return reinterpret_cast<T*>(m_here.get() + at);
  }
  template <class T>
  T* there(std::size_t at) {
    return reinterpret_cast<T*>(m_there.get() + at);
  }
  void move_in() { std::memcpy(m_there.get(), m_here.get(), m_used); }
  void move_back() { std::memcpy(m_here.get(), m_there.get(), m_used); }

 private:
  std::unique_ptr<std::byte[]> m_here, m_there;
  std::size_t m_used = 0;
};

struct list_by_hand {
  buffer memory;
  std::vector<std::pair<double*, std::size_t>> arrays;
  std::vector<std::int32_t> counts;
  std::size_t root = 0;

  explicit list_by_hand(const list_size& size) : memory(static_cast<std::size_t>(size.nominal_bytes() + 64 * size.k)) {}
  level* pack(level& l) {
    const std::size_t at = memory.add(&l, 1);
    level* next = l.next == nullptr ? nullptr : pack(*l.next);
    double* values = nullptr;
    if (l.values != nullptr) {
      const std::size_t place = memory.add(l.values, static_cast<std::size_t>(l.count));
      arrays.emplace_back(l.values, place);
      counts.push_back(l.count);
      values = memory.there<double>(place);
    }
    memory.here<level>(at)->values = values;
    memory.here<level>(at)->next = next;
    return memory.there<level>(at);
  }
};

struct tree_by_hand {
  buffer memory;
  std::vector<std::pair<double*, std::size_t>> arrays;
  std::vector<std::int32_t> counts;

  explicit tree_by_hand(const tree_size& size) : memory(static_cast<std::size_t>(2 * size.nominal_bytes() + 4096)) {}
  node<3>* pack(node<3>& root) {
    const std::size_t at = memory.add(&root, 1);
    fill(root, at);
    return memory.there<node<3>>(at);
  }
  template <int Height>
  void fill(node<Height>& from, std::size_t at) {
    const std::size_t place = memory.add(from.values, static_cast<std::size_t>(from.count));
    arrays.emplace_back(from.values, place);
    counts.push_back(from.count);
    memory.here<node<Height>>(at)->values = memory.there<double>(place);
    if constexpr (Height > 0) {
      const std::size_t children = memory.add(from.children, static_cast<std::size_t>(from.child_count));
      memory.here<node<Height>>(at)->children = memory.there<node<Height - 1>>(children);
      for (std::int32_t k = 0; k < from.child_count; ++k)
        fill(from.children[k], children + static_cast<std::size_t>(k) * sizeof(node<Height - 1>));
    }
  }
};

template <class Structure, class ByHand>
void cycles(const std::string& kase, const typename Structure::size_type& size, int reps) {
  std::vector<double> whole, moving;
  for (int rep = 0; rep <= reps; ++rep) {
    const double began = now();
    auto made = std::make_unique<Structure>(size);
    made->initialise();
    const double moved = now();
    {
      ByHand packed(size);
      auto* const root = packed.pack(made->root());
      packed.memory.move_in();
      Structure::scale(*root, made->all());
      packed.memory.move_back();
      for (std::size_t k = 0; k < packed.arrays.size(); ++k)
        std::memcpy(packed.arrays[k].first, packed.memory.template here<double>(packed.arrays[k].second),
                    static_cast<std::size_t>(packed.counts[k]) * sizeof(double));
    }
    const double done = now();
    if (rep == 0 && made->wrong() != 0) fail(kase + ": wrong result");
    const double ends = now();
    made.reset();
    if (rep == 0) continue;
    whole.push_back((done - began + now() - ends) * 1e6);
    moving.push_back((done - moved) * 1e6);
  }
  row("deepcopy", "by hand", kase + "_marshalling", 2, "us_per_cycle", median(whole));
  row("deepcopy", "by hand", kase + "_marshalling", 2, "us_moving", median(moving));
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"k", "n", "q", "leaf", "reps"});
  const int reps = static_cast<int>(args.number("reps", 21));
  const std::int64_t k = args.number("k", 10), n = args.number("n", 100'000), q = args.number("q", 8),
                     leaf = args.number("leaf", 1000);
  const std::string numbers = "_n" + std::to_string(n);
  cycles<linear, list_by_hand>("linear_allinit_allused" + numbers, {k, n, list_layout::all_all}, reps);
  cycles<linear, list_by_hand>("linear_allinit_llused" + numbers, {k, n, list_layout::all_last}, reps);
  cycles<linear, list_by_hand>("linear_llinit_llused" + numbers, {k, n, list_layout::last_last}, reps);
  cycles<dense, tree_by_hand>("dense_n" + std::to_string(leaf), {q, leaf}, reps);
}
