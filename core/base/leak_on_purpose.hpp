#pragma once
// Objects that are never destroyed, on purpose.
#include <atomic>
#include <memory>

namespace tessera {

/// Keeps an object until the process ends: a device that hangs may still use it. It stays reachable, so that leak
/// checkers tell it from what was forgotten. Thread-safe.
template <class T>
void leak_on_purpose(std::unique_ptr<T> object) {
  struct node {
    std::unique_ptr<T> object;
    node* next;
  };
  static std::atomic<node*> kept{nullptr};
  auto fresh = std::make_unique<node>(node{std::move(object), kept.load(std::memory_order_relaxed)});
  while (!kept.compare_exchange_weak(fresh->next, fresh.get(), std::memory_order_release, std::memory_order_relaxed))
    continue;
  static_cast<void>(fresh.release());
}

}  // namespace tessera
