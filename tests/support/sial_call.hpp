#pragma once
// Calls of super instructions without an interpreter.
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "languages/sial/instructions/instruction_job.hpp"
#include "languages/sial/instructions/registry.hpp"

namespace tessera::test_support {

/// An argument that owns its name and elements.
struct block {
  std::string name;
  std::vector<double> values;
  sial_argument is{};

  /// Segments 1, offsets 0, kind ao; `extents` empty: a scalar.
  block(std::string called, const std::vector<std::int64_t>& extents, std::vector<double> filled = {})
      : name(std::move(called)), values(std::move(filled)) {
    is.struct_size = sizeof is;
    is.rank = static_cast<std::int32_t>(extents.size());
    is.elements = 1;
    for (std::size_t d = 0; d < SIAL_MAX_RANK; ++d) {
      is.extents[d] = d < extents.size() ? extents[d] : 1;
      is.segments[d] = d < extents.size() ? 1 : 0;
      is.elements *= is.extents[d];
    }
    values.resize(static_cast<std::size_t>(is.elements));
  }
  static block scalar(std::string called, double value) { return {std::move(called), {}, {value}}; }

  block& at(const std::vector<std::int64_t>& segments, const std::vector<std::int64_t>& offsets) {
    std::copy(segments.begin(), segments.end(), is.segments);
    std::copy(offsets.begin(), offsets.end(), is.offsets);
    return *this;
  }
  const sial_argument& argument(char intent) {
    is.name = name.c_str();
    is.data = values.data();
    is.intent = intent;
    return is;
  }
};

/// Keeps what instructions print.
struct recording_host : sial::instruction_host {
  void print(std::string_view text) override { printed += text; }
  void print_on_all_workers(bool on) override { all_print = on; }
  void print_for_debugging(bool on) override { debug = on; }
  std::string list_blocks() override { return blocks; }
  std::string printed, blocks;
  bool all_print = false, debug = false;
};

/// A worker, its data, and all built-in instructions.
struct call_site {
  sial::init_data data;
  recording_host host;
  sial::instruction_registry registry;
  std::int32_t worker = 0, workers = 1;

  void operator()(const std::string& name, const std::string& signature, std::initializer_list<block*> arguments) {
    const sial::instruction& what = registry.find(name, signature);
    std::vector<sial_argument> all;
    std::size_t k = 0;
    for (block* const one : arguments) all.push_back(one->argument(signature.at(k++)));
    sial::instruction_job job(data, worker, workers, host);
    sial::execute(what, job, all);
  }
};

}  // namespace tessera::test_support
