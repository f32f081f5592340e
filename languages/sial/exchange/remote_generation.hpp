#pragma once
// An array whose blocks are at the hub.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "languages/sial/exchange/array_generation.hpp"

namespace tessera::sial {

class socket_exchange;

/// What is found is a copy in this process's memory until the next barrier; what is stored is sent when it is complete.
class remote_generation final : public array_generation {
 public:
  /// `number`: what the hub knows it by. The exchange outlives it, or has ended for it (socket_exchange::link).
  remote_generation(socket_exchange& of, runtime& rt, std::int64_t number, std::string name,
                    std::vector<std::int64_t> counts);
  ~remote_generation() override;

  shared_block* find(std::int64_t ordinal) override;
  shared_block& begin_store(std::int64_t ordinal, const shape& extents, store_kind how) override;
  void end_store(std::int64_t ordinal, shared_block& block, store_kind how, double factor) override;
  shared_block& place_of(std::int64_t, shared_block& found) override { return found; }
  bool is_here() const noexcept override { return false; }
  std::shared_ptr<array_generation> kept(const std::shared_ptr<array_generation>& self) override;
  std::shared_ptr<array_generation> next() override;
  std::vector<std::int64_t> ordinals() override;

  std::int64_t number() const noexcept { return m_number; }
  /// The array that it reads where nothing was written.
  void set_base(std::shared_ptr<array_generation> base) { m_base = std::move(base); }

 private:
  struct copy {
    std::unique_ptr<shared_block> block;
    std::uint64_t section = 0;  // in which it was found
  };
  shared_block& block_for(std::map<std::int64_t, copy>& among, std::int64_t ordinal, const shape& extents);

  const std::shared_ptr<socket_exchange*> m_link;
  runtime& m_runtime;
  const std::int64_t m_number;
  std::shared_ptr<array_generation> m_base;
  std::mutex m_lock;
  std::map<std::int64_t, copy> m_found, m_stored;
  std::shared_ptr<array_generation> m_next;
};

}  // namespace tessera::sial
