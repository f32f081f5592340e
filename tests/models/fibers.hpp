#pragma once
// Stacks of the fibers that stand for threads.
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <vector>

namespace tessera::models {

/// Stacks of the fibers, used again and again.
class stack_shelf {
 public:
  boost::context::stack_context allocate() {
    if (m_free.empty()) return boost::context::fixedsize_stack(128 * 1024).allocate();
    const boost::context::stack_context one = m_free.back();
    m_free.pop_back();
    return one;
  }
  void give_back(const boost::context::stack_context& one) { m_free.push_back(one); }
  stack_shelf() = default;
  stack_shelf(const stack_shelf&) = delete;
  stack_shelf& operator=(const stack_shelf&) = delete;
  ~stack_shelf() {
    for (boost::context::stack_context& one : m_free) boost::context::fixedsize_stack().deallocate(one);
  }

 private:
  std::vector<boost::context::stack_context> m_free;
};

inline stack_shelf& shelf() {
  static stack_shelf mine;
  return mine;
}

struct shelved_stack {
  boost::context::stack_context allocate() { return shelf().allocate(); }
  void deallocate(boost::context::stack_context& one) noexcept { shelf().give_back(one); }
};

}  // namespace tessera::models
