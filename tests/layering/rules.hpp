#pragma once
// The layering rules of the house, as a pure function over one include line.
//
//   core       rooms in one order: base < config < plugin < location < block < memory < transfer < operation < task
//              < placement < schedule < runtime; trace is above base only, and every room above base may use it. No
//              vendor's header, no hwloc; <tessera/plugin.h> from room plugin upwards.
//   include    the public interface, which core/runtime and hierarchy implement. What tessera.hpp leads to shows plain
//              words of core alone (rules.cpp names them); machine, operation, block_group, front_end, trace and
//              validation are further doors, each opened by programs that want it. The other rooms do not know it.
//
//   Floors: core < hierarchy < libraries < languages < apps. On each of these a room has a height (rules.cpp), and
//   includes lower ones; two of one height do not know each other. None knows plugins, examples and tests.
//   hierarchy  core and the interface; of core/schedule the parts that core/runtime/program_side.hpp names. hwloc in
//              discovery alone, no other vendor.
//   cluster    beside hierarchy: core/base, core/bytes, core/config, core/plugin, <tessera/transport.h>. Nobody but the
//              floors above knows it.
//   libraries  core/base, core/runtime/program_side.hpp, tessera/*.hpp; chemistry/job core/config/toml.hpp. No command
//              line.
//   languages  the same, core/config, core/runtime/user_library.hpp, hierarchy. One language does not know another one.
//   sial/language: core/base, the
//              standard library and fmt alone.
//   apps       core/base, core/config, core/runtime, core/trace. cli, for `tessera plugins`: the registry, its
//              explanations and the conformance suite's header too.
//
//   plugins    <tessera/plugin.h>, the plugin's own folder, plugins/kit, and foreign headers; not the libraries that
//              the core is made with. cuda*, hip* and opencl: gpu_common too. sim: fault too.
//   plugins/kit, which knows no plugin: system < abi < kernels, jit; the last two do not know each other.
//   plugins/gpu_common: api (the functions of a runtime, with emulator and native) < kernels, libraries < abi.
//   plugins/transport: <tessera/transport.h> too; common < inprocess, mpi, which alone includes mpi.h.
//   examples   tessera/*.hpp, <tessera/plugin.h> and their own folder.
//   anywhere   toml++ in core/config alone; core/runtime/inside.hpp in core/runtime alone.
#include <optional>
#include <string>
#include <string_view>

namespace tessera::layering {

/// One include line of one file.
struct include_line {
  std::string file;     ///< path of the including file from the root of the repository, with '/'
  int line = 0;         ///< 1-based
  std::string target;   ///< what stands between the quotes or angle brackets
  bool quoted = false;  ///< "..." rather than <...>
};

/// The sentence that says which rule the line breaks; nothing when it is fine. Files outside the rooms named above
/// (tests, bench) are never judged.
std::optional<std::string> violation(const include_line& include);

}  // namespace tessera::layering
