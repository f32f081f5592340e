#pragma once
// Functions that an operation keeps: they capture nothing.
#include <type_traits>

namespace tessera::operation {

struct context;

/// A function of the program, or a lambda without captures, that takes a context and what else is named here: an
/// operation lives as long as its catalog, and what it needs is in definition::data or comes with each task.
template <class... Others>
class plain_function {
 public:
  using pointer = void (*)(const context&, Others...);  ///< what it is made of
  /// From a function; null: there is none.
  constexpr plain_function(pointer function = nullptr) noexcept : m_function(function) {}
  /// From a lambda. One that captures, or takes something else, gets a sentence from the compiler.
  template <class Function>
  requires std::is_class_v<Function>
  constexpr plain_function(Function function) noexcept : m_function(as_pointer(function)) {}
  /// To be compared and called as the function that it is.
  constexpr operator pointer() const noexcept { return m_function; }

 private:
  template <class Function>
  static constexpr pointer as_pointer(const Function& function) noexcept {
    if constexpr (std::is_convertible_v<const Function&, pointer>) {
      return function;
    } else {
      static_assert(!std::is_invocable_v<const Function&, const context&, Others...>,
                    "the function of an operation captures nothing: put what it needs into definition::data, or into "
                    "the arguments of its tasks");
      static_assert(std::is_invocable_v<const Function&, const context&, Others...>,
                    "the function of an operation takes a const tessera::operation::context&, and behind it what the "
                    "member of kernel_form or native_form says");
      return nullptr;
    }
  }
  pointer m_function = nullptr;
};

}  // namespace tessera::operation
