#pragma once
// Distributed and served arrays: blocks that all workers see.
#include <array>
#include <atomic>
#include <boost/container/deque.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "languages/sial/interpreter/geometry.hpp"
#include "languages/sial/interpreter/ordinal_map.hpp"
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
  explicit shared_block(block_of<double> made) : elements(made) {}
  std::mutex lock;
  block_of<double> elements;
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

/// The contents of an array from one delete to the next. All functions from any thread.
class array_generation {
 public:
  /// `base`: what a program before has left, which this one reads where it has not written itself; or null.
  array_generation(runtime& rt, const array_geometry& of, std::shared_ptr<array_generation> base = nullptr);
  /// @param counts blocks per dimension, for messages
  array_generation(runtime& rt, std::string name, std::vector<std::int64_t> counts);
  ~array_generation();
  array_generation(const array_generation&) = delete;
  array_generation& operator=(const array_generation&) = delete;

  /// A block that was written, or null.
  shared_block* find(std::int64_t ordinal);
  /// A block to write: in the base it stays as it was. `update`: what is in the base is copied.
  shared_block& find_or_make(std::int64_t ordinal, const shape& extents, bool update);
  /// Where the uses of a block that find() gave are noted: a block of the base is used in its own place, which is made
  /// for it.
  shared_block& place_of(std::int64_t ordinal, shared_block& found);
  /// What is to be kept of it: itself, or its base when nothing was written.
  static std::shared_ptr<array_generation> kept(const std::shared_ptr<array_generation>& generation);
  block_group<double>& group() noexcept { return m_group; }
  const std::string& name() const noexcept { return m_name; }
  /// What comes after a delete; the same for all workers.
  std::shared_ptr<array_generation> next();
  /// Of the blocks that were written, ascending. Nobody makes blocks meanwhile.
  std::vector<std::int64_t> ordinals();

 private:
  struct stripe {
    std::mutex lock;
    ordinal_map<shared_block> blocks;
    boost::container::deque<shared_block, void, boost::container::deque_options_t<boost::container::block_size<64>>>
        all;  ///< those in `blocks`
  };
  /// Neighbours share one, so that who walks through an array walks through memory.
  stripe& stripe_of(std::int64_t ordinal) noexcept {
    return m_stripes[(static_cast<std::uint64_t>(ordinal) >> 6) * 0x9e3779b97f4a7c15ull >> 58];
  }

  shared_block* find_own(std::int64_t ordinal);

  runtime& m_runtime;
  std::string m_name;
  std::vector<std::int64_t> m_counts;
  std::shared_ptr<array_generation> m_base;
  block_group<double> m_group;
  std::array<stripe, 64> m_stripes;
  std::mutex m_lock;
  std::shared_ptr<array_generation> m_next;
};

/// The generations that a worker is in, by array; null for private ones.
using array_generations = std::vector<std::shared_ptr<array_generation>>;

}  // namespace tessera::sial
