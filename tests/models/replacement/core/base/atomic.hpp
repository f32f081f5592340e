#pragma once
// Takes the place of core/base/atomic.hpp where headers of the core are compiled for the explorer.
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "tests/models/explorer.hpp"

namespace tessera {

/// What the core uses of std::atomic, and of its size; every operation goes through the explorer.
template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  using place = std::source_location;
  using order = std::memory_order;
  static constexpr order strongest = std::memory_order_seq_cst;

 public:
  atomic() noexcept : atomic(T()) {}
  atomic(T value) noexcept : m_initial(value) { models::forget(this); }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order o = strongest, place at = place::current()) const noexcept {
    return from_bits(models::perform_load(operation(models::action::load, o, at)));
  }
  void store(T value, order o = strongest, place at = place::current()) noexcept {
    models::perform_store(operation(models::action::store, o, at), to_bits(value));
  }
  T exchange(T value, order o = strongest, place at = place::current()) noexcept {
    return modify([&](T) { return value; }, o, at);
  }
  T fetch_add(T value, order o = strongest, place at = place::current()) noexcept {
    return modify([&](T old) { return static_cast<T>(old + value); }, o, at);
  }
  T fetch_sub(T value, order o = strongest, place at = place::current()) noexcept {
    return modify([&](T old) { return static_cast<T>(old - value); }, o, at);
  }
  bool compare_exchange_strong(T& expected, T value, order success, order failure,
                               place at = place::current()) noexcept {
    const std::uint64_t wanted = to_bits(expected);
    const std::uint64_t old = models::perform_exchange(
        operation(models::action::exchange, success, at), [&](std::uint64_t) { return to_bits(value); }, &wanted,
        failure);
    expected = from_bits(old);
    return old == wanted;
  }
  /// Never fails without a reason: the core's loops around it would only go round once more.
  bool compare_exchange_weak(T& expected, T value, order success, order failure, place at = place::current()) noexcept {
    return compare_exchange_strong(expected, value, success, failure, at);
  }
  void wait(T old, order o = strongest, place at = place::current()) const noexcept {
    models::perform_wait(operation(models::action::wait, o, at), to_bits(old));
  }
  void notify_one(place at = place::current()) noexcept {
    models::perform_notify(operation(models::action::notify, strongest, at), false);
  }
  void notify_all(place at = place::current()) noexcept {
    models::perform_notify(operation(models::action::notify, strongest, at), true);
  }

 private:
  static std::uint64_t to_bits(T value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
  }
  static T from_bits(std::uint64_t bits) noexcept {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  models::operation operation(models::action what, order o, place at) const noexcept {
    return {what, this, to_bits(m_initial), o, at};
  }
  template <class Change>
  T modify(Change&& change, order o, place at) noexcept {
    return from_bits(models::perform_exchange(operation(models::action::exchange, o, at),
                                              [&](std::uint64_t old) { return to_bits(change(from_bits(old))); }));
  }

  T m_initial;
};

}  // namespace tessera
