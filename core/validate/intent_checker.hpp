#pragma once
// Whether a task or view does with its blocks what it has declared.
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/operation/context.hpp"
#include "core/task/record.hpp"
#include "core/validate/contents.hpp"
#include "core/validate/quarantine.hpp"

namespace tessera::validate {

/// A block while a task or view has it, in a private copy.
struct shadow_block {
  block::record* block = nullptr;
  tessera::intent intent =
      tessera::intent::read;  ///< scratch, read, write or update, for all uses of the task together
  block::version_number found = 0, makes = 0;
  bool of_part = false;  ///< it names some elements, and leaves the others as they are
  bool holes = false;    ///< some elements of version `found` were never written
  bool zeroed = false;   ///< by the runtime, for an accumulate: it does not hold what version `found` was
  element_type type = element_type::none;
  std::byte* original = nullptr;         ///< the replica on the host; for a device: what was there before, in `before`
  std::unique_ptr<guarded_memory> copy;  ///< what the task sees; for a device: what is there afterwards
  std::vector<std::byte> before;
  tsr_address on_device{};
};

struct task_note;

/// All blocks of a task or view.
struct shadow_copies {
  participant who;  ///< without `use`
  std::vector<shadow_block> blocks;
  std::shared_ptr<task_note> note;  ///< see race_detector.hpp
  block::record* first = nullptr;   ///< its first block
  bool joins = false;               ///< it adds up what others have accumulated, in whole blocks
};

/// Tasks and views on the host work on private copies: what they may read is copied in, what they may write is filled
/// with a pattern or copied in, and copied back when they are done. Thread-safe.
class intent_checker {
 public:
  intent_checker(journal& to, const pattern& with, quarantine& ended, contents& of)
      : m_journal(to), m_pattern(with), m_ended(ended), m_contents(of) {}

  /// Before a task runs or a view is given out: replaces the addresses of its operands.
  std::unique_ptr<shadow_copies> lend(task::record& t, participant who, std::span<operation::operand> operands);
  /// After it: tells what is wrong, and copies back what it wrote.
  void take_back(shadow_copies& of, bool failed);

  /// The same for a task on a device, whose blocks stay where they are: makes room for what device_watch.hpp copies.
  std::unique_ptr<shadow_copies> watch(task::record& t, participant who);
  /// Everything has been copied: tells what is wrong.
  void check_result(shadow_copies& of);

 private:
  std::unique_ptr<shadow_copies> begin(task::record& t, participant who, std::span<const operation::operand> operands);
  void check_read(const shadow_copies& of, const shadow_block& b);
  void check_written(const shadow_copies& of, const shadow_block& b);
  void check_zones(const shadow_copies& of, const shadow_block& b);
  void check_untouched_meanwhile(const shadow_copies& of, const shadow_block& b, std::span<const std::byte> elements);
  void check_origin_of_nans(const shadow_copies& of, const shadow_block& b);
  std::vector<std::byte> set_by_task(const shadow_block& b) const;
  void note_made(const shadow_copies& of, const shadow_block& b, bool known);
  std::optional<participant> maker_of(const shadow_block& b) const;

  journal& m_journal;
  const pattern& m_pattern;
  quarantine& m_ended;
  contents& m_contents;
  std::atomic<std::uint32_t> m_next{1};
};

/// "A(1,0) read, version 3".
std::string use_of(const block::record& b, intent how, block::version_number version);
/// Whether the program's last index is the fastest in memory; else the first.
bool last_is_fastest(const block::record& b) noexcept;
/// "(1,0)" in the program's order, or "3" for blocks of one dimension. @param extents  the fastest one first
/// @param position  in memory
std::string element_name(const shape& extents, std::size_t position, bool last_is_fastest = false);
/// The value of an element in words.
std::string element_text(element_type type, const std::byte* at);

}  // namespace tessera::validate
