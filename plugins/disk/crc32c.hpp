#pragma once
// CRC32C (Castagnoli), as iSCSI (RFC 3720, B.4), ext4 and NVMe use it.
#include <cstddef>
#include <cstdint>

namespace tessera::disk {

/// The checksum of `bytes` bytes. With the processor's instruction where there is one.
std::uint32_t crc32c(const void* data, std::size_t bytes) noexcept;

/// The checksums of `count` neighbouring cells of `bytes` bytes each (a multiple of 8). Several at a time: the
/// instruction takes three cycles but one can start in every cycle.
void crc32c_cells(const void* data, std::size_t bytes, std::size_t count, std::uint32_t* out) noexcept;

/// "SSE4.2" or "tables".
const char* crc32c_method() noexcept;

namespace detail {
/// By tables, on any processor.
std::uint32_t crc32c_tables(const void* data, std::size_t bytes) noexcept;
}  // namespace detail

}  // namespace tessera::disk
