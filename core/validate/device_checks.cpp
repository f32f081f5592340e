#include "core/validate/device_checks.hpp"

#include <algorithm>
#include <vector>

namespace tessera::validate {
namespace {

operation::operand operand_at(std::byte* memory, const shadow_block& b, intent how) {
  return {.address = {nullptr, reinterpret_cast<std::uintptr_t>(memory)},
          .host = memory,
          .type = b.type,
          .intent = how,
          .extents = b.block->extents,
          .bytes = b.block->bytes};
}

}  // namespace

void device_checks::add(const operation::definition& of, device_check check) {
  const std::lock_guard guard(m_mutex);
  m_all[&of] = check;
}

device_check device_checks::check_of(const operation::definition& of) const {
  const std::lock_guard guard(m_mutex);
  const auto found = m_all.find(&of);
  return found != m_all.end() ? found->second : nullptr;
}

void device_checks::run(task::record& t, const shadow_copies& seen, const plugin::device& on) const {
  const device_check check = check_of(*t.operation);
  if (check == nullptr) return;
  std::vector<std::vector<std::byte>> found(seen.blocks.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    const shadow_block& b = seen.blocks[k];
    found[k] = b.before;
    if (needs_contents(b.intent)) continue;
    found[k].resize(b.block->bytes);
    m_pattern.fill(found[k], b.type, pattern::meaning::never_written);
  }
  std::vector<operation::operand> before, after;
  for (const block::access& a : t.all_accesses()) {
    const auto k =
        static_cast<std::size_t>(std::ranges::find(seen.blocks, a.block, &shadow_block::block) - seen.blocks.begin());
    before.push_back(operand_at(found[k].data(), seen.blocks[k], a.intent));
    after.push_back(operand_at(seen.blocks[k].copy->elements().data(), seen.blocks[k], a.intent));
  }
  operation::context c;
  c.operands = before;
  c.arguments = t.argument_bytes();
  c.argument_bytes = t.argument_size;
  c.data = t.operation->data.get();
  c.device = &on;
  c.task_name = t.operation->name;
  check(c, after);
}

}  // namespace tessera::validate
