#pragma once
// The operands of a task whose blocks are acquired.
#include <cstdint>
#include <span>
#include <vector>

#include "core/block/record.hpp"
#include "core/operation/context.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

inline operation::operand operand_of(const block::access& a, tsr_address address, void* host) {
  operation::operand o;
  o.host = host;
  o.address = host != nullptr ? tsr_address{nullptr, reinterpret_cast<std::uintptr_t>(host)} : address;
  o.type = a.block->type;
  o.intent = a.intent;
  o.extents = a.block->extents;
  o.bytes = a.block->bytes;
  return o;
}

/// Appends one operand per access.
inline void add_operands(const transfer::coherence& coherence, std::span<const block::access> accesses,
                         std::vector<operation::operand>& out) {
  for (const block::access& a : accesses) {
    void* host = nullptr;
    const tsr_address address = coherence.address_of(a, &host);
    out.push_back(operand_of(a, address, host));
  }
}

}  // namespace tessera::schedule
