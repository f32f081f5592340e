#pragma once
// An array whose blocks are this process's memory.
#include <array>
#include <boost/container/deque.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "languages/sial/exchange/array_generation.hpp"
#include "languages/sial/exchange/ordinal_map.hpp"

namespace tessera::sial {

/// Blocks are found in stripes, each with a lock of its own.
class local_generation final : public array_generation {
 public:
  /// `base`: what a program before has left, which this one reads where it has not written itself; or null.
  /// @param counts  blocks per dimension, for messages
  local_generation(runtime& rt, std::string name, std::vector<std::int64_t> counts,
                   std::shared_ptr<array_generation> base = nullptr);
  ~local_generation() override;

  shared_block* find(std::int64_t ordinal) override;
  shared_block& begin_store(std::int64_t ordinal, const shape& extents, store_kind how) override;
  void end_store(std::int64_t, shared_block&, store_kind, double) override {}
  shared_block& place_of(std::int64_t ordinal, shared_block& found) override;
  bool is_here() const noexcept override { return true; }
  std::shared_ptr<array_generation> kept(const std::shared_ptr<array_generation>& self) override;
  std::shared_ptr<array_generation> next() override;
  std::vector<std::int64_t> ordinals() override;

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
  std::shared_ptr<array_generation> m_base;
  std::array<stripe, 64> m_stripes;
  std::mutex m_lock;
  std::shared_ptr<local_generation> m_next;
};

}  // namespace tessera::sial
