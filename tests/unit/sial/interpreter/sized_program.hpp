#pragma once
// The program of tests/unit/sial/language/programs.hpp with sizes.
#include <stdexcept>
#include <string>
#include <utility>

#include "languages/sial/interpreter/registers.hpp"
#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {

/// A program of the usual declarations and these statements; ao segments have 2, 3 and 1 elements.
struct sized_program {
  explicit sized_program(const std::string& statements = "", init_data with = {})
      : program(code_of(statements)), data(completed(std::move(with))), sizes(program, data) {}

  std::uint32_t array(const std::string& name) const {
    for (std::uint32_t k = 0; k < program.arrays.size(); ++k)
      if (program.arrays[k].name == name) return k;
    throw std::invalid_argument(name);
  }
  /// The register of an index, by its number among the declarations: i, j, k, l are 0 to 3.
  std::uint32_t index(std::uint32_t number) const { return program.first_index + number; }
  /// A region of a two-dimensional array whose bounds are in the registers of i and j (low), k and l (high).
  region region_of(const std::string& name) const {
    region r;
    r.array = array(name);
    r.rank = 2;
    r.low = {index(0), index(1)};
    r.high = {index(2), index(3)};
    return r;
  }

  code program;
  init_data data;
  geometry sizes;

 private:
  static code code_of(const std::string& statements) {
    const compiled c = compile_text(declarations + statements + "endsial t\n");
    if (!c.result) throw std::runtime_error(to_text(c.messages, c.sources));
    return lower(*c.result);
  }
  static init_data completed(init_data data) {
    data.ints = {{"norb", 3}, {"nocc", 1}};
    data.scalars = {{"ps", 1.5}};
    data.segments = {{index_kind::ao, {2, 3, 1}}, {index_kind::mo, {2}}};
    return data;
  }
};

/// What a function's run_error says; empty when it throws none.
template <class Function>
std::string failure_of(Function&& function) {
  try {
    function();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace tessera::sial::test
