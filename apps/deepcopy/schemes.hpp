#pragma once
// How the structures get to the location where they are scaled, and back.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/deepcopy/destination.hpp"
#include "apps/deepcopy/scenario.hpp"
#include "tessera/deep_copy.hpp"
#include "tessera/front_end.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps::deepcopy {

/// Where and how a cycle runs.
struct cycle_setup {
  runtime& rt;
  const destination& to;
  bool poison = false;  ///< fills the destination with other values before the structures come
};

/// One way to do it. The steps are called in their order, once; each returns when it is done.
template <class Structure>
class scheme {
 public:
  scheme(const cycle_setup& setup, Structure& structure) : m_setup(setup), m_structure(structure) {}
  virtual ~scheme() = default;
  virtual void move_in() = 0;                           ///< the structure, or what is needed of it, is at the location
  virtual void scale() = 0;                             ///< the kernel
  virtual void move_back() = 0;                         ///< the originals have the result
  virtual std::uint64_t pointers() const { return 0; }  ///< that were made for the location

 protected:
  runtime& rt() const noexcept { return m_setup.rt; }
  const destination& to() const noexcept { return m_setup.to; }
  bool poison() const noexcept { return m_setup.poison; }
  Structure& structure() const noexcept { return m_structure; }
  task_options at_destination() const noexcept { return {.at = m_setup.to.location()}; }
  /// Waits for tasks; adopted memory stays as it is.
  void wait() const { front_end(m_setup.rt).fence(); }

 private:
  const cycle_setup m_setup;
  Structure& m_structure;
};

/// Nothing moves: cores of the host work in the program's memory.
template <class Structure>
class shared_scheme final : public scheme<Structure> {
 public:
  using scheme<Structure>::scheme;
  void move_in() override {}
  void scale() override {
    task_options where;
    if (this->to().is_host()) where = this->at_destination();
    this->rt().submit("scale", where, [all = this->structure().all(), root = &this->structure().root()] {
      Structure::scale(*root, all);
    });
    this->wait();
  }
  void move_back() override {}
};

/// The arrays that are scaled, found by chains; the structures stay.
template <class Structure>
class chain_scheme final : public scheme<Structure> {
 public:
  using scheme<Structure>::scheme;
  void move_in() override {
    for (const std::span<double> values : this->structure().scaled())
      m_arrays.push_back(this->rt().adopt("values", values, static_cast<std::int64_t>(values.size())));
    if (this->poison()) spoil();
    for (const array<double>& a : m_arrays)
      this->rt().submit_operation(arrive_operation(this->rt()), 0, {read(a(0))}, this->at_destination());
    this->wait();
  }
  void scale() override {
    for (const array<double>& a : m_arrays) {
      const scale_arguments arguments{Structure::factor, 0, a.extents()[0]};
      this->rt().submit_operation(scale_operation(this->rt()), arguments, {update(a(0))}, this->at_destination());
    }
    this->wait();
  }
  void move_back() override {
    this->rt().fence();
    m_arrays.clear();
    this->rt().fence();
  }

 private:
  /// Other values at the location, and then the originals once more.
  void spoil() {
    for (array<double>& a : m_arrays) {
      const auto now = [&] {
        const auto view = a.read_host(a(0));
        return std::vector<double>(view.begin(), view.end());
      }();
      fill(this->rt(), a(0), -1.0, this->at_destination());
      std::ranges::copy(now, a.write_host(a(0)).begin());
    }
  }
  std::vector<array<double>> m_arrays;
};

/// The whole structure, copied deeply.
template <class Structure>
class copy_scheme : public scheme<Structure> {
 public:
  copy_scheme(const cycle_setup& setup, Structure& structure, copy_form form)
      : scheme<Structure>(setup, structure), m_form(form) {}
  void move_in() override {
    try {
      m_copy = std::make_unique<deep_copied<typename Structure::root_type>>(
          deep_copy(this->structure().root(), tessera::to(this->rt(), this->to().name()), {},
                    {.form = m_form, .poison = this->poison()}));
    } catch (const error& e) {  // the user of a command has no use for a line of its source
      throw error(e.kind(), e.message(),
                  m_form == copy_form::block_per_object ? "--scheme block-by-block" : "--scheme marshalling", e.hint());
    }
    this->wait();
  }
  void move_back() override { m_copy->copy_back(); }
  std::uint64_t pointers() const override { return m_copy->report().pointers; }

 protected:
  deep_copied<typename Structure::root_type>& copy() const noexcept { return *m_copy; }
  /// Scales each array by itself, by its place in the copy.
  void scale_by_place() {
    for (const std::span<double> values : this->structure().scaled()) {
      const auto place = copy().place_of(values.data());
      const scale_arguments arguments{Structure::factor, static_cast<std::int64_t>(place.offset),
                                      static_cast<std::int64_t>(values.size())};
      this->rt().submit_operation(scale_operation(this->rt()), arguments, {update(copy().block(place.block))},
                                  this->at_destination());
    }
  }

 private:
  copy_form m_form;
  std::unique_ptr<deep_copied<typename Structure::root_type>> m_copy;
};

/// In one arena, which moves at once; the kernel follows the pointers.
template <class Structure>
class marshalling_scheme final : public copy_scheme<Structure> {
 public:
  marshalling_scheme(const cycle_setup& setup, Structure& structure)
      : copy_scheme<Structure>(setup, structure, copy_form::one_arena) {}
  void scale() override {
    const bool all = this->structure().all();
    if (this->to().is_host()) {
      this->rt().submit(
          "scale", this->at_destination(),
          [all](object_view<typename Structure::root_type> root) { Structure::scale(*root, all); },
          update(this->copy()));
    } else if (this->to().compiles()) {
      const kernel_arguments arguments{Structure::factor, this->structure().size().n, all ? 1 : 0};
      this->rt().submit_operation(kernel_operation(this->rt(), Structure::kernel_name(), Structure::kernel_text()),
                                  arguments, {update(this->copy().block(0))}, this->at_destination());
    } else {
      this->scale_by_place();
    }
    this->wait();
  }
};

/// Each object and each array by itself.
template <class Structure>
class block_scheme final : public copy_scheme<Structure> {
 public:
  block_scheme(const cycle_setup& setup, Structure& structure)
      : copy_scheme<Structure>(setup, structure, copy_form::block_per_object) {}
  void scale() override {
    if (this->to().is_host())
      scale_by_pointers();
    else
      this->scale_by_place();
    this->wait();
  }

 private:
  void scale_by_pointers() {
    auto& copy = this->copy();
    std::vector<block_access> uses;
    for (std::size_t k = 0; k < copy.size(); ++k) uses.push_back(read(copy.block(k)));
    for (const std::span<double> values : this->structure().scaled()) {
      const std::size_t k = copy.place_of(values.data()).block;
      uses[k] = update(copy.block(k));
    }
    this->rt().submit(
        "scale", this->at_destination(),
        [&copy, all = this->structure().all()](task_blocks blocks) { Structure::scale(*copy.open(blocks), all); },
        uses);
  }
};

/// By its name on the command line: "shared", "marshalling", "chain", "block-by-block".
template <class Structure>
std::unique_ptr<scheme<Structure>> make_scheme(const std::string& name, const cycle_setup& setup, Structure& of) {
  if (name == "shared") return std::make_unique<shared_scheme<Structure>>(setup, of);
  if (name == "chain") return std::make_unique<chain_scheme<Structure>>(setup, of);
  if (name == "marshalling") return std::make_unique<marshalling_scheme<Structure>>(setup, of);
  return std::make_unique<block_scheme<Structure>>(setup, of);
}

}  // namespace tessera::apps::deepcopy
