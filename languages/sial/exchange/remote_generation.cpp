#include "languages/sial/exchange/remote_generation.hpp"

#include <algorithm>
#include <utility>

#include "languages/sial/exchange/socket_exchange.hpp"

namespace tessera::sial {

remote_generation::remote_generation(socket_exchange& of, runtime& rt, std::int64_t number, std::string name,
                                     std::vector<std::int64_t> counts)
    : array_generation(rt, std::move(name), std::move(counts)), m_link(of.link()), m_runtime(rt), m_number(number) {}

remote_generation::~remote_generation() {
  for (auto* const among : {&m_found, &m_stored})
    for (auto& [ordinal, one] : *among) group().destroy(one.block->elements);
  if (*m_link != nullptr) (*m_link)->tell({.kind = hub_message::what::release, .words = {m_number}});
}

shared_block& remote_generation::block_for(std::map<std::int64_t, copy>& among, std::int64_t ordinal,
                                           const shape& extents) {
  copy& one = among[ordinal];
  if (one.block == nullptr)
    one.block = std::make_unique<shared_block>(group().make(extents, static_cast<std::uint32_t>(ordinal)));
  return *one.block;
}

shared_block* remote_generation::find(std::int64_t ordinal) {
  socket_exchange& exchange = **m_link;
  const std::lock_guard guard(m_lock);
  if (const auto known = m_found.find(ordinal); known != m_found.end() && known->second.section == exchange.section())
    return known->second.block.get();
  const hub_message got = exchange.ask({.kind = hub_message::what::get, .words = {m_number, ordinal}});
  if (got.words[0] == 0) return nullptr;
  shared_block& block = block_for(m_found, ordinal, shape(got.more));
  const auto elements = block.elements.write();
  std::copy(got.values.begin(), got.values.end(), elements.begin());
  block.written = true;
  m_found[ordinal].section = exchange.section();
  return &block;
}

shared_block& remote_generation::begin_store(std::int64_t ordinal, const shape& extents, store_kind) {
  const std::lock_guard guard(m_lock);
  shared_block& block = block_for(m_stored, ordinal, extents);
  block.written = false;  // what is stored replaces its elements, and the hub adds them
  return block;
}

void remote_generation::end_store(std::int64_t ordinal, shared_block& block, store_kind how, double factor) {
  const shape& extents = block.elements.stored_extents();
  hub_message what{.kind = hub_message::what::store,
                   .words = {m_number, ordinal, static_cast<std::int64_t>(how), extents.count()}};
  for (std::size_t d = 0; d < extents.rank(); ++d) what.more.push_back(extents[d]);
  if (how == store_kind::multiply) {
    what.values.push_back(factor);
  } else {
    const auto elements = block.elements.read();
    what.values.assign(elements.begin(), elements.end());
  }
  (*m_link)->tell(what);
}

std::shared_ptr<array_generation> remote_generation::kept(const std::shared_ptr<array_generation>& self) {
  if (m_base == nullptr) return self;
  return (*m_link)->ask({.kind = hub_message::what::written, .words = {m_number}}).words[0] != 0 ? self
                                                                                                 : m_base->kept(m_base);
}

std::shared_ptr<array_generation> remote_generation::next() {
  const std::lock_guard guard(m_lock);
  if (m_next == nullptr) {
    socket_exchange& exchange = **m_link;
    const std::int64_t after = exchange.ask({.kind = hub_message::what::next, .words = {m_number}}).words[0];
    m_next = std::make_shared<remote_generation>(exchange, m_runtime, after, name(), counts());
  }
  return m_next;
}

std::vector<std::int64_t> remote_generation::ordinals() {
  std::vector<std::int64_t> all = (*m_link)->ask({.kind = hub_message::what::ordinals, .words = {m_number}}).more;
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace tessera::sial
