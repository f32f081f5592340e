#pragma once
// What validation mode has found, in words.
#include <cstdint>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace tessera::validate {

/// What is wrong.
enum class fault : std::uint8_t {
  unordered,      ///< two threads use a block with conflicting intents and nothing orders them
  wrong_thread,   ///< a block that was kept to one thread is used by another
  overlap,        ///< two arrays cover the same memory and use it without waiting for each other
  read_changed,   ///< a block that was declared read was written
  not_written,    ///< a block that was declared write still has elements that were not written
  outside,        ///< a task or view wrote outside of its block
  uninitialised,  ///< results were computed from elements without contents
  stray,          ///< the contents of a block changed while no task or view had it
  after_end,      ///< the elements of a task or view were used after it had ended
  after_free,     ///< a block was used after its array was destroyed
  forms_differ,   ///< the forms of a region's body do not do the same
  undeclared,     ///< a part of a region used rows that it does not declare
  outlives        ///< an array that is left when its runtime is destroyed
};

/// The word for a fault: "read block written".
std::string_view name_of(fault is) noexcept;

/// One of the two places of a finding.
struct participant {
  std::string description = {};  ///< "task 'smooth' submitted", "view taken", "array A made"
  std::string file = {};         ///< as the compiler names it; empty: not known
  std::uint32_t line = 0;
  std::string use = {};  ///< "A(1,0) read, version 3"; may be empty

  /// `what` at a place of the program.
  static participant at(std::string what, const std::source_location& site, std::string use = {}) {
    return {std::move(what), site.file_name(), site.line(), std::move(use)};
  }
};

/// One mistake of the program, with both sites.
struct finding {
  tessera::validate::fault fault = tessera::validate::fault::unordered;
  std::string text;         ///< what happened, one sentence without a full stop
  participant here, there;  ///< who was caught; the other one (`what` empty: there is none)
  std::string hint;         ///< what to do about it
  std::uint64_t times = 1;  ///< how often between the same two places
};

/// "task 'smooth' submitted at heat.cpp:41, A(1,0) read, version 3".
std::string to_text(const participant& p);
/// Several lines: fault, text, both places, hint.
std::string to_text(const finding& f);
/// A numbered list of all of them.
std::string to_text(const std::vector<finding>& all);

/// Collects findings. Thread-safe.
class journal {
 public:
  /// Findings of one kind between the same two places are counted, not listed again; at most 1000 different ones are
  /// kept.
  void add(finding f);
  /// All so far, in the order in which they were found.
  std::vector<finding> all() const;
  /// Throws tessera::error (validation) with the first finding since the last call, if there is one. `also`: what else
  /// went wrong.
  void raise(const std::string& also = {});
  /// Those since the last raise.
  std::vector<finding> unreported() const;

 private:
  mutable std::mutex m_mutex;
  std::vector<finding> m_all;
  std::vector<std::size_t> m_fresh;  // positions of those since the last raise
};

}  // namespace tessera::validate
