#pragma once
// Blocked dense arrays and host views of their blocks.
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/runtime.hpp"

namespace tessera {

/// A block in the hands of the program, on the host. Later tasks that conflict with it wait until it is gone.
/// @tparam T  const for read views. Move-only; release it on the thread that made it.
template <class T>
class host_view : public view<T> {
 public:
  /// Made by array::read_host, write_host and update_host; takes over what the scheduler holds.
  host_view(schedule::scheduler& scheduler, std::unique_ptr<schedule::host_hold> held, const shape& extents)
      : view<T>(static_cast<T*>(held->pointer), extents), m_scheduler(&scheduler), m_held(std::move(held)) {}
  /// The new view holds the block; the old one must not be used any more.
  host_view(host_view&&) noexcept = default;
  host_view& operator=(host_view&&) = delete;
  /// Gives the block back: what was written becomes its current version, and tasks that waited for it may start. A view
  /// that outlives its runtime was given back when that ended, and must not be read or written any more.
  ~host_view() {
    if (m_held && !m_held->ended) m_scheduler->release(*m_held);
  }

 private:
  schedule::scheduler* m_scheduler;
  std::unique_ptr<schedule::host_hold> m_held;
};

/// A dense array in blocks; owns its blocks (not the data: the runtime decides where they are). Move-only. Destroying
/// it frees each block when the tasks submitted before are done with it, and returns at once. Must not be used when the
/// runtime is gone; destroying it then does nothing.
/// @tparam T  float, double, std::complex of them, std::int32_t, std::int64_t, std::uint8_t
template <class T>
class array {
 public:
  /// The new array owns the blocks; the old one may only be destroyed or assigned to.
  array(array&& other) noexcept
      : m_runtime(std::exchange(other.m_runtime, nullptr)),
        m_alive(std::move(other.m_alive)),
        m_name(std::move(other.m_name)),
        m_extents(other.m_extents),
        m_block_extents(other.m_block_extents),
        m_counts(other.m_counts),
        m_blocks(std::move(other.m_blocks)) {}
  /// Lets go of the blocks owned so far, as the destructor does, and takes over the others.
  array& operator=(array&& other) noexcept {
    if (this != &other) {
      clear();
      m_runtime = std::exchange(other.m_runtime, nullptr);
      m_alive = std::move(other.m_alive);
      m_name = std::move(other.m_name);
      m_extents = other.m_extents, m_block_extents = other.m_block_extents, m_counts = other.m_counts;
      m_blocks = std::move(other.m_blocks);
    }
    return *this;
  }
  /// Each block is freed when the tasks submitted before are done with it; returns at once.
  ~array() { clear(); }

  const std::string& name() const noexcept { return m_name; }              ///< as given when it was made; for messages
  std::size_t rank() const noexcept { return m_extents.rank(); }           ///< number of dimensions, 0 to 8
  const shape& extents() const noexcept { return m_extents; }              ///< elements per dimension
  const shape& block_extents() const noexcept { return m_block_extents; }  ///< elements per dimension of a full block
  const shape& counts() const noexcept { return m_counts; }                ///< blocks per dimension
  std::size_t size() const noexcept { return m_blocks.size(); }            ///< blocks

  /// Block by ordinal, first dimension fastest. Throws tessera::error (usage) beyond the end.
  block_of<T> block(std::size_t ordinal) const {
    if (ordinal >= m_blocks.size())
      throw error(error_kind::usage, "array " + m_name + " has " + std::to_string(m_blocks.size()) + " blocks", {},
                  "block " + std::to_string(ordinal) + " was asked for");
    return block_of<T>(*m_blocks[ordinal]);
  }
  /// Block by block indices, 0-based, as many as the rank. Throws tessera::error (usage) for an index that does not
  /// exist.
  template <class... Index>
  block_of<T> operator()(Index... index) const {
    const std::int64_t at[] = {static_cast<std::int64_t>(index)...};
    std::int64_t ordinal = 0;
    for (std::size_t d = sizeof...(Index); d-- > 0;) {
      if (d >= rank() || at[d] < 0 || at[d] >= m_counts[d])
        throw error(error_kind::usage, "array " + m_name + " has no block with index " + std::to_string(at[d]) +
                                           " in dimension " + std::to_string(d));
      ordinal = ordinal * m_counts[d] + at[d];
    }
    return block_of<T>(*m_blocks[static_cast<std::size_t>(ordinal)]);
  }

  /// Waits for the tasks that make the block's current version and returns it on the host. Meanwhile the calling thread
  /// runs tasks. Throws the failure of the task that should have made it, and tessera::error (task) for a block that
  /// was never written. Release the view before fence. @param site for messages
  host_view<const T> read_host(block_of<T> b, std::source_location site = std::source_location::current()) const {
    return {m_runtime->scheduler(), m_runtime->scheduler().hold(b.record(), intent::read, site), b.extents()};
  }
  /// The same for overwriting all elements: nothing is fetched, and what the view shows at first is unspecified. Waits
  /// for the tasks that use the block.
  host_view<T> write_host(block_of<T> b, std::source_location site = std::source_location::current()) {
    return {m_runtime->scheduler(), m_runtime->scheduler().hold(b.record(), intent::write, site), b.extents()};
  }
  /// The same for changing some elements: the current version is fetched first. Waits for the tasks that use the block.
  host_view<T> update_host(block_of<T> b, std::source_location site = std::source_location::current()) {
    return {m_runtime->scheduler(), m_runtime->scheduler().hold(b.record(), intent::update, site), b.extents()};
  }

  /// Declares that from now on only the calling thread submits tasks and takes views that use this array: linking then
  /// takes no lock. Submitting from another thread nevertheless is a data race. For the temporaries of a front end with
  /// several submitting threads. Of an adopted array the program's memory has the last versions after flush, and after
  /// the array's end and a fence: fences alone leave it as it is.
  void keep_to_this_thread(std::source_location site = std::source_location::current()) {
    for (block::record* b : m_blocks) b->flow.is_private = true;
    m_runtime->note_kept(m_blocks, site);
  }

  /// Brings the current version of every block to the host (into adopted memory). Waits for the tasks that make it, and
  /// for no others: a fence does the same for all adopted arrays. Throws as read_host does.
  void flush() {
    for (std::size_t k = 0; k < size(); ++k) (void)read_host(block(k));
  }

 private:
  friend class runtime;
  array(runtime& owner, std::string name, const shape& extents, const shape& block_extents)
      : m_runtime(&owner),
        m_alive(owner.scheduler().alive()),
        m_name(std::move(name)),
        m_extents(extents),
        m_block_extents(block_extents) {
    if (extents.rank() != block_extents.rank())
      throw error(error_kind::usage, "array " + m_name + " and its blocks differ in rank");
    std::vector<std::int64_t> counts;
    for (std::size_t d = 0; d < extents.rank(); ++d) {
      if (block_extents[d] <= 0) throw error(error_kind::usage, "array " + m_name + " has blocks of no elements");
      counts.push_back((extents[d] + block_extents[d] - 1) / block_extents[d]);
    }
    m_counts = shape(counts);
    const std::int64_t total = m_counts.count();
    if (total > (std::int64_t{1} << 31))
      throw error(error_kind::usage, "array " + m_name + " has " + std::to_string(total) + " blocks", {},
                  "choose larger blocks");
    m_blocks.reserve(static_cast<std::size_t>(total));
    const block::origin* from = total > 0 ? owner.blocks().make_origin(m_name, counts) : nullptr;
    try {
      std::vector<std::int64_t> at(extents.rank(), 0), size(extents.rank());
      for (std::int64_t k = 0; k < total; ++k) {
        for (std::size_t d = 0; d < size.size(); ++d)
          size[d] = std::min(block_extents[d], extents[d] - at[d] * block_extents[d]);
        m_blocks.push_back(
            &owner.blocks().create(element_type_of<T>(), shape(size), from, static_cast<std::uint32_t>(k)));
        for (std::size_t d = 0; d < at.size() && ++at[d] == m_counts[d]; ++d) at[d] = 0;
      }
    } catch (...) {  // a block that is too large, or no memory for records: as if nothing had been asked for
      for (block::record* b : m_blocks) owner.blocks().destroy(*b);
      if (m_blocks.empty() && from != nullptr) owner.blocks().forget_origin(from);
      throw;
    }
  }
  void clear() {
    if (m_runtime == nullptr) return;
    if (const lifetime::visit here = enter(m_alive))
      for (block::record* b : m_blocks) m_runtime->scheduler().destroy_later(*b);
    m_blocks.clear();
    m_runtime = nullptr;
  }

  runtime* m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::string m_name;
  shape m_extents, m_block_extents, m_counts;
  std::vector<block::record*> m_blocks;
};

template <class T>
array<T> runtime::make_array(std::string name, std::span<const std::int64_t> extents,
                             std::span<const std::int64_t> block_extents, std::source_location site) {
  array<T> a(*this, std::move(name), shape(extents), shape(block_extents));
  note_array(a.m_blocks, false, site);
  return a;
}

template <class T>
array<T> runtime::adopt(std::string name, std::span<T> memory, std::int64_t block_elements, std::source_location site) {
  array<T> a(*this, std::move(name), shape{static_cast<std::int64_t>(memory.size())}, shape{block_elements});
  adopt_blocks(a.m_blocks, memory.data());
  note_array(a.m_blocks, true, site);
  return a;
}

}  // namespace tessera
