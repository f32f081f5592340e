#pragma once
/// @file
/// Everything a program needs: the runtime, arrays, built-in operations, and the start from a configuration.
/// @code
/// tessera::runtime rt(tessera::machine_from("laptop.toml"));
/// auto x = rt.make_array<double>("x", {1000}, {100});
/// for (std::size_t k = 0; k < x.size(); ++k) tessera::fill(rt, x.block(k), 1.0);
/// rt.fence();
/// @endcode
#include <filesystem>

#include "core/config/document.hpp"
#include "core/runtime/array.hpp"
#include "core/runtime/block_group.hpp"
#include "core/runtime/linear_algebra.hpp"
#include "core/runtime/runtime.hpp"
#include "hierarchy/machine/assemble.hpp"

namespace tessera {

/// A machine as a TOML file (and the environment) describes it. Throws tessera::error (configuration, plugin).
inline machine machine_from(const std::filesystem::path& file) {
  config::sources from;
  from.files.push_back(file);
  return hierarchy::assemble(config::document::load(from));
}

/// The machine that is found, with the host plugin alone unless the environment says otherwise.
inline machine default_machine() { return hierarchy::assemble(config::document::load({})); }

}  // namespace tessera
