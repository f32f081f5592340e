#include "hierarchy/deepcopy/arena.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "core/base/allocated_size.hpp"
#include "core/base/error.hpp"
#include "core/bytes/copy.hpp"

namespace tessera::hierarchy {
namespace {

constexpr std::uint64_t min_alignment = 16;

/// The first place from `begin` on that is as far from a multiple of the alignment as the original: objects inside a
/// pool of bytes are aligned in the copy as they are there.
std::uint64_t place_behind(std::uint64_t begin, const graph_piece& piece) noexcept {
  const std::uint64_t alignment = std::max(min_alignment, piece.alignment);
  const std::uint64_t beside = reinterpret_cast<std::uintptr_t>(piece.at) % piece.alignment;
  return begin + (beside + alignment - begin % alignment) % alignment;
}

struct known_arenas {
  std::mutex mutex;
  std::uint64_t last = 0;
  std::map<std::uint64_t, std::shared_ptr<const std::vector<std::uint64_t>>> pointers;
};
known_arenas& all_arenas() {
  static known_arenas all;
  return all;
}

}  // namespace

arena_layout::arena_layout(const object_graph& graph, copy_form form) {
  const auto& pieces = graph.pieces();
  m_pieces.resize(pieces.size());
  const auto add = [&](std::size_t piece, std::size_t block) {
    const std::uint64_t offset = place_behind(m_bytes[block], pieces[piece]);
    m_pieces[piece] = {block, offset};
    m_bytes[block] = offset + pieces[piece].bytes;
    m_members[block].push_back(piece);
  };
  const auto begin_block = [&](std::uint64_t bytes) {
    m_bytes.push_back(bytes);
    m_members.emplace_back();
    return m_bytes.size() - 1;
  };
  const std::size_t root = graph.root().piece;
  begin_block(sizeof(arena_header));
  add(root, 0);
  for (std::size_t k = 0; k < pieces.size(); ++k)
    if (k != root) add(k, form == copy_form::one_arena ? 0 : begin_block(0));
  m_scalars.resize(m_bytes.size());
  for (std::size_t k = 0; k < graph.scalars().size(); ++k)
    m_scalars[place_of(graph.scalars()[k].where).block].push_back(k);
  m_pointers = static_cast<std::uint64_t>(
      std::ranges::count_if(graph.pointers(), [](const graph_pointer& p) { return p.target.has_value(); }));
}

void arena_layout::write(const object_graph& graph, std::span<std::byte* const> to,
                         std::span<const std::uint64_t> bases, std::uint64_t number) const {
  for (std::size_t block = 0; block < blocks(); ++block) {
    std::uint64_t written = block == 0 ? sizeof(arena_header) : 0;
    for (const std::size_t k : m_members[block]) {
      const graph_piece& piece = graph.pieces()[k];
      const std::uint64_t begin = m_pieces[k].offset;
      std::memset(to[block] + written, 0, begin - written);  // gaps that alignment makes
      copy_bytes(to[block] + begin, piece.at, piece.bytes);
      written = begin + piece.bytes;
    }
  }
  for (const graph_pointer& p : graph.pointers()) {
    std::uint64_t address = 0;
    if (p.target) {
      const detail::copy_place target = place_of(*p.target);
      address = bases[target.block] + target.offset;
    }
    const detail::copy_place where = place_of(p.where);
    std::memcpy(to[where.block] + where.offset, &address, sizeof address);
  }
  const arena_header header{bases[0], m_bytes[0], place_of(graph.root()).offset, number, {}};
  std::memcpy(to[0], &header, sizeof header);
}

void arena_layout::bring_back(const object_graph& graph, std::size_t block, const std::byte* from) const {
  for (const std::size_t k : m_members[block]) {
    const graph_piece& piece = graph.pieces()[k];
    if (!piece.objects && !piece.constant) copy_bytes(piece.at, from + m_pieces[k].offset, piece.bytes);
  }
  for (const std::size_t k : m_scalars[block]) {
    const graph_scalar& scalar = graph.scalars()[k];
    const graph_piece& piece = graph.pieces()[scalar.where.piece];
    if (!piece.constant)
      std::memcpy(piece.at + scalar.where.offset, from + place_of(scalar.where).offset, scalar.bytes);
  }
}

void rebase(std::byte* arena, std::uint64_t to, std::span<const std::uint64_t> pointers) {
  arena_header header;
  std::memcpy(&header, arena, sizeof header);
  for (const std::uint64_t offset : pointers) {
    std::uint64_t pointer = 0;
    std::memcpy(&pointer, arena + offset, sizeof pointer);
    const std::uint64_t target = pointer - header.base;
    if (pointer == 0 || target >= header.bytes) continue;
    pointer = to + target;
    std::memcpy(arena + offset, &pointer, sizeof pointer);
  }
  std::memcpy(arena + offsetof(arena_header, base), &to, sizeof to);
}

std::uint64_t arena_numbers::add(std::vector<std::uint64_t> pointers) {
  known_arenas& all = all_arenas();
  auto kept = std::make_shared<const std::vector<std::uint64_t>>(std::move(pointers));
  const std::lock_guard guard(all.mutex);
  all.pointers.emplace(++all.last, std::move(kept));
  return all.last;
}

void arena_numbers::remove(std::uint64_t number) noexcept {
  known_arenas& all = all_arenas();
  const std::lock_guard guard(all.mutex);
  all.pointers.erase(number);
}

std::shared_ptr<const std::vector<std::uint64_t>> arena_numbers::find(std::uint64_t number) {
  known_arenas& all = all_arenas();
  const std::lock_guard guard(all.mutex);
  const auto found = all.pointers.find(number);
  return found == all.pointers.end() ? nullptr : found->second;
}

}  // namespace tessera::hierarchy

namespace tessera::detail {

void* open_arena(std::byte* data, std::uint64_t bytes, bool may_write, std::vector<std::uint64_t>& scratch) {
  hierarchy::arena_header header;
  std::memcpy(&header, data, sizeof header);
  const auto address_of = [](const std::byte* at) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(at));
  };
  if (header.base == address_of(data)) return data + header.root;
  const auto pointers = hierarchy::arena_numbers::find(header.number);
  if (pointers == nullptr || header.bytes != bytes)
    throw error(error_kind::usage, "a task uses a deep copy that has ended", {},
                "keep what deep_copy returned until the tasks that use it are done");
  if (!may_write) {
    scratch.resize((bytes + block_granule) / sizeof(std::uint64_t) + 1);
    const std::uint64_t beside = address_of(reinterpret_cast<std::byte*>(scratch.data())) % block_granule;
    auto* const moved = reinterpret_cast<std::byte*>(scratch.data()) + (block_granule - beside);
    copy_bytes(moved, data, bytes);
    data = moved;
  }
  hierarchy::rebase(data, address_of(data), *pointers);
  return data + header.root;
}

}  // namespace tessera::detail
