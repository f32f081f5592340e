#include "tessera/detail/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/call_site.hpp"
#include "core/runtime/inside.hpp"
#include "tessera/detail/block_group.hpp"

namespace tessera::detail {

held_block::held_block(runtime& of, block::record& block, intent how, std::source_location site)
    : held_block(request(of, block, how, site)) {
  wait();
}

held_block held_block::request(runtime& of, block::record& block, intent how, std::source_location site, bool of_part) {
  if (block.owner == 0) refuse_ended_block("a view", site);  // first: the runtime may have ended, too
  require_block_of(block, of.inside().blocks.number(), "a view", site);
  schedule::scheduler& scheduler = *of.inside().scheduler;
  return {scheduler,
          scheduler.views().request(block, how, site, of_part ? block::access_of_part : std::uint8_t{0}).release()};
}

void held_block::wait() {
  std::unique_ptr<schedule::host_access> asked(std::exchange(m_held, nullptr));
  m_scheduler->views().wait_for(asked);
  m_held = asked.release();
}

void* held_block::data() const noexcept { return m_held->pointer; }

bool held_block::ended() const noexcept { return m_held->ended; }

held_block::~held_block() {
  if (m_held != nullptr) give_back();
}

void held_block::give_back() noexcept {
  const std::unique_ptr<schedule::host_access> ended(std::exchange(m_held, nullptr));
  if (!ended->ended) m_scheduler->views().end(*ended);
}

array_state::array_state(runtime& of, std::string name, element_type type, std::int64_t per_element,
                         bool last_is_fastest, std::span<const std::int64_t> extents,
                         std::span<const std::int64_t> block_extents, void* adopted, std::source_location site)
    : m_runtime(&of),
      m_alive(of.inside().scheduler->alive()),
      m_name(std::move(name)),
      m_type(type),
      m_per_element(per_element),
      m_last_is_fastest(last_is_fastest),
      m_has_blocks(true),
      m_extents(extents),
      m_block_extents(block_extents) {
  if (m_extents.rank() != m_block_extents.rank())
    throw error(error_kind::usage, "array " + m_name + " and its blocks differ in rank");
  of.inside().scheduler->require_this_process();
  make_blocks(type, site);
  try {
    runtime_inside& inside = of.inside();
    if (adopted != nullptr)  // where views are, too
      inside.coherence->adopted().adopt(m_blocks, adopted, inside.scheduler->facts().places.front()->space);
    inside.note_array(m_blocks, adopted != nullptr, site);
  } catch (...) {
    clear();
    throw;
  }
}

void array_state::make_blocks(element_type type, std::source_location site) {
  const std::size_t rank = m_extents.rank();
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < rank; ++d) {
    if (m_block_extents[d] <= 0)
      throw error(error_kind::usage,
                  fmt::format("array {} has blocks of {} elements along dimension {}", m_name, m_block_extents[d], d),
                  file_and_line(site), "a block has one element or more along each dimension");
    counts.push_back((m_extents[d] + m_block_extents[d] - 1) / m_block_extents[d]);
  }
  m_counts = shape(counts);
  const std::int64_t total = m_counts.count();
  if (total > (std::int64_t{1} << 31))
    throw error(error_kind::usage, fmt::format("array {} has {} blocks", m_name, total), {}, "choose larger blocks");
  m_blocks.reserve(static_cast<std::size_t>(total));
  block::table& table = m_runtime->inside().blocks;
  const auto stored = [&](std::size_t k) { return m_last_is_fastest ? rank - 1 - k : k; };  // the fastest first
  const block::origin* from = total > 0 ? table.make_origin(m_name, counts, m_last_is_fastest, m_per_element) : nullptr;
  try {
    std::vector<std::int64_t> at(rank, 0), size(rank == 0 && m_per_element > 1 ? 1 : rank, 1);
    for (std::int64_t k = 0; k < total; ++k) {
      for (std::size_t d = 0; d < rank; ++d)
        size[stored(d)] = std::min(m_block_extents[d], m_extents[d] - at[d] * m_block_extents[d]);
      if (!size.empty() && __builtin_mul_overflow(size[0], m_per_element, &size[0]))
        throw error(error_kind::usage, fmt::format("a block of array {} has more than 2^63 bytes", m_name));
      m_blocks.push_back(&table.create(type, shape(size), from, static_cast<std::uint32_t>(k)));
      for (std::size_t d = 0; d < rank && ++at[stored(d)] == m_counts[stored(d)]; ++d) at[stored(d)] = 0;
    }
  } catch (...) {  // a block that is too large, or no memory for records: as if nothing had been asked for
    for (block::record* b : m_blocks) table.destroy(*b);
    if (m_blocks.empty() && from != nullptr) table.forget_origin(from);
    throw;
  }
}

array_state::array_state(runtime& of, std::string name, element_type type, std::int64_t per_element,
                         const shape& extents, std::shared_ptr<hierarchy::array_storage> rows)
    : m_runtime(&of),
      m_alive(of.inside().scheduler->alive()),
      m_name(std::move(name)),
      m_type(type),
      m_per_element(per_element),
      m_last_is_fastest(true),
      m_has_blocks(false),
      m_extents(extents),
      m_rows(std::move(rows)) {
  const std::array<std::int64_t, max_rank> none{};
  m_block_extents = m_counts = shape(std::span(none).first(extents.rank()));
}

array_state::~array_state() { clear(); }

void array_state::clear() noexcept {
  if (const lifetime::visit here = enter(m_alive))
    for (block::record* b : m_blocks) m_runtime->inside().scheduler->destroy_later(*b);
  m_blocks.clear();
}

void array_state::require_alive(std::source_location site) const {
  if (m_alive->ended())
    throw error(error_kind::usage, fmt::format("the runtime of array '{}' has ended", m_name), file_and_line(site),
                "use arrays while their runtime lives: it has their elements");
}

void array_state::require_blocks(std::source_location site) const {
  require_alive(site);
  if (!m_has_blocks)
    throw error(error_kind::usage, fmt::format("array '{}' was made without blocks, and has none to name", m_name),
                file_and_line(site),
                "name rows of it, x.rows(first, last), or all of them, x; or make it with the extents of its blocks: "
                "rt.make_array<T>(name, extents, block_extents)");
}

void array_state::keep_to_this_thread(std::source_location site) {
  require_blocks(site);
  for (block::record* b : m_blocks) b->flow.is_private = true;
  m_runtime->inside().note_kept(m_blocks, site);
}

void refuse_null_memory(const std::string& name, std::size_t elements, std::source_location site) {
  throw error(error_kind::usage, fmt::format("array {} is to adopt {} elements from a null pointer on", name, elements),
              file_and_line(site), "adopt takes memory of the program; make_array has memory of its own");
}

void array_state::refuse_ordinal(std::size_t ordinal, std::source_location site) const {
  require_blocks(site);
  throw error(error_kind::usage,
              fmt::format("array {} has {} blocks, and block {} was asked for", m_name, m_blocks.size(), ordinal),
              file_and_line(site));
}

void array_state::refuse_indices(std::span<const std::int64_t> indices, std::source_location site) const {
  require_blocks(site);
  const std::size_t rank = m_extents.rank();
  if (indices.size() != rank)
    throw error(error_kind::usage,
                fmt::format("array {} has {} dimension{}, and a block was asked for by {} ind{}", m_name, rank,
                            rank == 1 ? "" : "s", indices.size(), indices.size() == 1 ? "ex" : "ices"),
                file_and_line(site), "block(k) is the k-th block of any array");
  for (std::size_t d = 0; d < rank; ++d)
    if (indices[d] < 0 || indices[d] >= m_counts[d])
      throw error(error_kind::usage,
                  fmt::format("array {} has no block with index {} in dimension {}", m_name, indices[d], d),
                  file_and_line(site), fmt::format("it has {} blocks there, counted from 0", m_counts[d]));
  throw error(error_kind::usage, fmt::format("array {} has no blocks", m_name), file_and_line(site));
}

const std::string& array_handle::name() const noexcept {
  static const std::string& none = *new std::string;  // NOLINT: handles may be looked at after main
  return m_state != nullptr ? m_state->name() : none;
}

namespace {
const shape no_extents;
}  // namespace

const shape& array_handle::extents() const noexcept { return m_state != nullptr ? m_state->extents() : no_extents; }

const shape& array_handle::block_extents() const noexcept {
  return m_state != nullptr ? m_state->block_extents() : no_extents;
}

const shape& array_handle::counts() const noexcept { return m_state != nullptr ? m_state->counts() : no_extents; }

void array_handle::refuse_moved(std::source_location site) {
  throw error(error_kind::usage, "the array was moved from", file_and_line(site), "use the array that it was moved to");
}

void refuse_rank(std::size_t rank, const shape& extents, std::source_location site) {
  throw error(
      error_kind::usage,
      fmt::format("a block of rank {} was asked for, and the group has blocks of rank {}", extents.rank(), rank),
      file_and_line(site));
}

loose_blocks::loose_blocks(runtime& of, std::string name, std::vector<std::int64_t> counts, bool last_is_fastest,
                           std::int64_t per_element)
    : m_runtime(&of),
      m_alive(of.inside().scheduler->alive()),
      m_name(std::move(name)),
      m_counts(std::move(counts)),
      m_last_is_fastest(last_is_fastest),
      m_per_element(per_element) {
  if (m_counts.size() > max_rank)
    throw error(error_kind::usage, fmt::format("block group {} has counts of {} dimensions", m_name, m_counts.size()),
                {}, "the highest rank is 8");
}

void loose_blocks::require_alive(std::source_location site) const {
  if (m_alive->ended())
    throw error(error_kind::usage, fmt::format("the runtime of block group {} has ended", m_name), file_and_line(site),
                "use blocks while their runtime lives: it has their elements");
}

void loose_blocks::require_of_this_runtime(const block::record& block, std::source_location site) const {
  require_alive(site);
  require_block_of(block, m_runtime->inside().blocks.number(), fmt::format("block group {}", m_name), site);
}

block::record& loose_blocks::make(element_type type, const shape& extents, std::uint32_t ordinal,
                                  std::source_location site) {
  require_alive(site);
  runtime_inside& inside = m_runtime->inside();
  inside.scheduler->require_this_process();
  block::record* created;
  {
    const std::lock_guard guard(m_mutex);
    if (m_live == 0) m_origin = inside.blocks.make_origin(m_name, m_counts, m_last_is_fastest, m_per_element);
    created = &inside.blocks.create(type, extents, m_origin, ordinal);
    ++m_live;
  }
  inside.note_array(std::span<block::record* const>(&created, 1), false, site);
  return *created;
}

void loose_blocks::destroy(block::record& block, std::source_location site) {
  const lifetime::visit here = enter(m_alive);  // the runtime may end in another thread
  if (!here) return;
  require_block_of(block, m_runtime->inside().blocks.number(), fmt::format("block group {}", m_name), site);
  {
    const std::lock_guard guard(m_mutex);
    --m_live;  // first: the last block takes the name with it
  }
  m_runtime->inside().scheduler->destroy_later(block);
}

void loose_blocks::keep_to_this_thread(block::record& block, std::source_location site) {
  require_of_this_runtime(block, site);
  block.flow.is_private = true;
  block::record* const kept = &block;
  m_runtime->inside().note_kept(std::span(&kept, 1), site);
}

block::space_set loose_blocks::spaces_of(block::record& block, std::source_location site) const {
  require_of_this_runtime(block, site);
  const std::lock_guard guard(block.lock);
  return block.valid_spaces;
}

}  // namespace tessera::detail
