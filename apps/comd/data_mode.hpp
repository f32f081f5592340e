#pragma once
// How loops get at arrays that lie in a nested structure of the program: three ways to do the same.
#include <memory>
#include <optional>
#include <string>

#include "apps/comd/atom_arrays.hpp"
#include "tessera/front_end.hpp"

namespace tessera::apps::comd {

/// The ways.
enum class data_choice : std::uint8_t {
  deepcopy,  ///< a stretch of steps works on a deep copy of the whole structure, which is then copied back
  shared,    ///< the arrays are adopted once, and the runtime moves what a loop needs
  chain      ///< chains of pointers name the arrays, which are the loops' until a fence
};
/// By its name. Throws tessera::error (usage) for another one.
data_choice data_choice_of(std::string_view name);

/// What moving the structure has taken, beside what the runtime moves for loops.
struct data_traffic {
  std::uint64_t copies = 0;  ///< of the whole structure, each there and back
  std::uint64_t bytes = 0;   ///< of one
};

/// The loops work in stretches of some steps. In between the structure belongs to the program.
/// @tparam T  double or float
template <class T>
class data_mode {
 public:
  /// What all ways need. Both must outlive this.
  struct setting {
    location_model& model;
    region_options how;
    cell_grid grid;
    simulation_data<T>& root;
  };
  explicit data_mode(const setting& of) : m_of(of) {}
  /// Waits for loops of a stretch that did not end.
  virtual ~data_mode() = default;
  data_mode(const data_mode&) = delete;
  data_mode& operator=(const data_mode&) = delete;

  /// A stretch begins: makes the arrays, where there are none.
  virtual void begin(std::unique_ptr<loop_arrays<T>>& arrays) = 0;
  /// It ends: waits for the loops. From now on the program may read the structure after a fence.
  virtual void end(std::unique_ptr<loop_arrays<T>>& arrays) = 0;
  virtual data_traffic traffic() const { return {}; }

 protected:
  location_model& model() const noexcept { return m_of.model; }
  simulation_data<T>& root() const noexcept { return m_of.root; }
  const region_options& how() const noexcept { return m_of.how; }
  /// The arrays of a structure, as memory of the program that the runtime may move.
  std::unique_ptr<loop_arrays<T>> adopted(simulation_data<T>& from) const {
    return arrays_of(from, m_of.grid, [this](const std::string& name, const auto& elements) {
      return m_of.model.adopt(name, elements.elements(), elements.extents(), {.at = m_of.how.at});
    });
  }
  /// The same until the next fence, as regions take chains.
  std::unique_ptr<loop_arrays<T>> chained(simulation_data<T>& from) const {
    return arrays_of(from, m_of.grid, [this](const std::string& name, const auto& elements) {
      return m_of.model.array_over(name, elements.elements(), elements.extents());
    });
  }
  /// Waits, also for loops that fail, whose results nobody gets.
  void settle() const noexcept {
    try {
      m_of.model.fence();
    } catch (const std::exception&) {
    }
  }

 private:
  setting m_of;
};

/// data_choice::shared.
template <class T>
class shared_data final : public data_mode<T> {
 public:
  using data_mode<T>::data_mode;
  ~shared_data() override { this->settle(); }
  void begin(std::unique_ptr<loop_arrays<T>>& arrays) override {
    if (arrays == nullptr) arrays = this->adopted(this->root());
  }
  void end(std::unique_ptr<loop_arrays<T>>&) override { this->model().fence(); }
};

/// data_choice::chain.
template <class T>
class chained_data final : public data_mode<T> {
 public:
  using data_mode<T>::data_mode;
  ~chained_data() override { this->settle(); }
  void begin(std::unique_ptr<loop_arrays<T>>& arrays) override { arrays = this->chained(this->root()); }
  void end(std::unique_ptr<loop_arrays<T>>& arrays) override {
    arrays.reset();
    this->model().fence();
  }
};

/// The name of the memory of the host that is at or above a location, or the first one where that is another memory.
std::string host_memory_at(const runtime& rt, std::string_view location);

/// data_choice::deepcopy.
template <class T>
class copied_data final : public data_mode<T> {
 public:
  using data_mode<T>::data_mode;
  ~copied_data() override {
    if (!m_opened) return;
    try {
      close();
    } catch (const std::exception&) {  // of loops whose results nobody gets
    }
  }
  void begin(std::unique_ptr<loop_arrays<T>>& arrays) override {
    runtime& rt = this->model().owner();
    m_copy.emplace(deep_copy(this->root(), to(rt, host_memory_at(rt, this->how().at))));
    m_opened.emplace(m_copy->update_host());
    arrays = this->adopted(**m_opened);
    ++m_traffic.copies, m_traffic.bytes = m_copy->report().bytes;
  }
  void end(std::unique_ptr<loop_arrays<T>>& arrays) override {
    bring_home(*arrays);
    arrays.reset();
    close();
    m_copy->copy_back();
    m_copy.reset();
  }
  data_traffic traffic() const override { return m_traffic; }

 private:
  /// What devices have made of the arrays is in the copy's memory then.
  static void bring_home(const loop_arrays<T>& arrays) {
    const auto home = [](const auto&... all) { ((void)all.read_host(), ...); };
    for (const atom_arrays<T>* a : {&arrays.atoms, &arrays.sorted}) home(a->counts, a->ids, a->positions, a->momenta);
    home(arrays.forces.forces, arrays.forces.energies);
  }
  /// The copy is a block of the runtime again, once nothing uses its memory as arrays.
  void close() {
    front_end(this->model().owner()).fence();
    m_opened.reset();
    this->model().fence();
  }
  std::optional<deep_copied<simulation_data<T>>> m_copy;
  std::optional<host_object_view<simulation_data<T>>> m_opened;
  data_traffic m_traffic;
};

template <class T>
std::unique_ptr<data_mode<T>> make_data_mode(data_choice way, const typename data_mode<T>::setting& of) {
  switch (way) {
    case data_choice::deepcopy:
      return std::make_unique<copied_data<T>>(of);
    case data_choice::chain:
      return std::make_unique<chained_data<T>>(of);
    default:
      return std::make_unique<shared_data<T>>(of);
  }
}

}  // namespace tessera::apps::comd
