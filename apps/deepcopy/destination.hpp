#pragma once
// The memory that the structures are copied to.
#include <cstdint>
#include <string>

#include "tessera/operation.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps::deepcopy {

/// A location with a memory, and what runs there.
class destination {
 public:
  /// @param at  name of a location; "": the first device, else the last of several memories of the host, else the host.
  /// Throws tessera::error (usage): no such location, or nothing runs there.
  destination(runtime& rt, const std::string& at);

  const std::string& name() const noexcept { return m_name; }
  std::uint32_t location() const noexcept { return m_location; }
  bool is_host() const noexcept { return m_is_host; }         ///< its cores run the kernel
  bool compiles() const noexcept { return m_compiles; }       ///< a device that compiles kernels from text
  bool is_only_memory() const noexcept { return m_is_only; }  ///< nothing moves on its way there

 private:
  std::string m_name;
  std::uint32_t m_location = 0;
  bool m_is_host = true, m_compiles = false, m_is_only = false;
};

/// Arguments of the operation that scales numbers of a block: those from `offset` on, in bytes.
struct scale_arguments {
  double factor;
  std::int64_t offset, count;
};
/// The operation; takes one block of any type. On devices by their BLAS.
const operation::definition& scale_operation(runtime& rt);
/// Brings a block that it reads to where it runs.
const operation::definition& arrive_operation(runtime& rt);
/// Arguments of the kernels of the structures.
struct kernel_arguments {
  double factor;
  std::int64_t threads;
  std::int64_t all;
};
/// A structure's kernel as an operation; its block is the arena.
const operation::definition& kernel_operation(runtime& rt, const char* name, const char* text);

}  // namespace tessera::apps::deepcopy
