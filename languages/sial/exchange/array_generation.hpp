#pragma once
// Distributed and served arrays: blocks that all workers see, and what they may do with them.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "languages/sial/exchange/element_block.hpp"
#include "tessera/front_end.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// How a worker uses a block between two barriers.
enum class block_use : std::uint8_t {
  get,
  replace,
  accumulate
};

/// One block. The elements are the runtime's; what stands here is guarded by `lock`.
struct shared_block {
  explicit shared_block(element_block made) : elements(made) {}
  std::mutex lock;
  element_block elements;
  std::atomic<bool> written{false};

  /// Who used it how in a section: a worker's number, no_worker or several; and in which line.
  struct user {
    std::int32_t worker = no_worker;
    std::uint32_t site = 0;
  };
  static constexpr std::int32_t no_worker = -1, several = -2;
  std::uint64_t section = 0;
  std::array<user, 3> used;
};

/// Found by shared_block's uses: two workers that no barrier orders.
struct race {
  block_use earlier;
  std::int32_t worker;
  std::uint32_t site;
};

/// Notes a use; the earlier one that it conflicts with, if any. Call with the block's lock held.
std::optional<race> note_use(shared_block& b, std::uint64_t section, block_use how, std::int32_t worker,
                             std::uint32_t site);

/// How a block is stored.
enum class store_kind : std::uint8_t {
  replace,
  add,
  multiply
};

/// The contents of an array from one delete to the next. All functions from any worker's thread.
class array_generation {
 public:
  array_generation(runtime& rt, std::string name, std::vector<std::int64_t> counts)
      : m_name(std::move(name)), m_counts(std::move(counts)), m_group(rt, m_name, m_counts) {}
  virtual ~array_generation() = default;
  array_generation(const array_generation&) = delete;
  array_generation& operator=(const array_generation&) = delete;

  /// A block that was written, or null. Its elements are what they were at some moment since the last barrier.
  virtual shared_block* find(std::int64_t ordinal) = 0;
  /// A block to store into, with its lock free: `written` says whether its elements are those so far, which they are
  /// not for replace. end_store follows.
  virtual shared_block& begin_store(std::int64_t ordinal, const shape& extents, store_kind how) = 0;
  /// Its elements have been stored, with its lock held: replaced, or added to what was there where that was `written`,
  /// or multiplied by `factor`. All workers find them behind the next barrier.
  virtual void end_store(std::int64_t ordinal, shared_block& block, store_kind how, double factor) = 0;
  /// Where the uses of a block that find() gave are noted: a block of the base is used in its own place, which is made
  /// for it.
  virtual shared_block& place_of(std::int64_t ordinal, shared_block& found) = 0;
  /// Whether what is stored is in memory of this process, so that tasks may store it.
  virtual bool is_here() const noexcept = 0;
  /// What is to be kept of it: itself, or its base when nothing was written. @param self  this one
  virtual std::shared_ptr<array_generation> kept(const std::shared_ptr<array_generation>& self) = 0;
  /// What comes after a delete; the same for all workers.
  virtual std::shared_ptr<array_generation> next() = 0;
  /// Of the blocks that were written, ascending. Nobody makes blocks meanwhile.
  virtual std::vector<std::int64_t> ordinals() = 0;

  element_block_group& group() noexcept { return m_group; }
  const std::string& name() const noexcept { return m_name; }
  const std::vector<std::int64_t>& counts() const noexcept { return m_counts; }

 private:
  std::string m_name;
  std::vector<std::int64_t> m_counts;
  element_block_group m_group;
};

/// The generations that a worker is in, by array; null for private ones.
using array_generations = std::vector<std::shared_ptr<array_generation>>;

}  // namespace tessera::sial
