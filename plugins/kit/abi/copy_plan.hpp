#pragma once
// A checked copy of up to three dimensions between two pointers.
#include <tessera/plugin.h>

#include <cstdint>

#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// What a tsr_copy moves. Rows of 0 mean one row, as in a struct that was filled with zeros.
struct copy_plan {
  std::uint64_t bytes = 0, rows = 1, planes = 1;
  std::uint64_t destination_stride[2] = {0, 0}, source_stride[2] = {0, 0};
  std::uint64_t destination_span = 0, source_span = 0;  ///< bytes from the first to one past the last byte touched

  std::uint64_t total() const noexcept { return bytes * rows * planes; }
};

/// Checks strides and overflow. Fails: INVALID_ARGUMENT (a stride shorter than what it steps over, an unset
/// struct_size), OUT_OF_RANGE (more bytes than an address space has).
tsr_status plan_copy(const reporter& report, const tsr_copy* copy, copy_plan& out_plan);

/// Does it; the ranges may overlap only when the copy is one-dimensional.
void run_copy(const copy_plan& plan, void* destination, const void* source) noexcept;

/// Checks the arguments of a fill. Fails: INVALID_ARGUMENT (the pattern), OUT_OF_RANGE (more bytes than 64 bits count).
tsr_status check_fill(const reporter& report, const void* pattern, std::uint32_t pattern_bytes, std::uint64_t count,
                      std::uint64_t& out_bytes);

/// Whether `bytes` at the address lie inside an allocation of `allocated` bytes; else OUT_OF_RANGE, with `name`.
tsr_status check_bounds(const reporter& report, const char* name, std::uint64_t allocated, const tsr_address& address,
                        std::uint64_t bytes);

/// Writes `count` copies of a pattern of 1, 2, 4, 8 or 16 bytes.
void fill_pattern(void* destination, const void* pattern, std::uint32_t pattern_bytes, std::uint64_t count) noexcept;

}  // namespace tessera::kit
