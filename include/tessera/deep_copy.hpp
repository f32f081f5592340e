#pragma once
/// @file
/// Copies of nested structures at a location, with their pointers made for it (docs/deep_copy.md).
/// @code
/// struct level { double* values; level* next; int count; };
/// void describe(level& l, tessera::description& d) {
///   d.array("values", l.values, l.count), d.pointer("next", l.next), d.scalar("count", l.count);
/// }
/// auto copy = tessera::deep_copy(head, tessera::to(rt, "numa1"));
/// rt.submit("scale", [](tessera::object_view<level> l) { l->next->values[0] *= 2; }, update(copy));
/// copy.copy_back();
/// @endcode
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "tessera/detail/array.hpp"
#include "tessera/detail/chain.hpp"
#include "tessera/detail/runtime.hpp"

namespace tessera {

class description;

/// A type with a function `void describe(T&, tessera::description&)` beside it, which argument-dependent lookup finds.
template <class T>
concept described_object = requires(std::remove_const_t<T>& object, description& to) {
  describe(object, to);
};

namespace detail {

/// What a copy needs to know of a type.
struct described_type {
  std::size_t bytes;
  std::size_t alignment;
  const std::type_info* type;
  void (*describe)(void* object, description& to);  ///< null: elements without pointers
};

template <class T>
void describe_object(void* object, description& to) {
  describe(*static_cast<T*>(object), to);
}
template <class T>
const described_type& type_of() {
  using plain = std::remove_cv_t<T>;
  static_assert(std::is_trivially_copyable_v<plain>,
                "what is copied deeply is copied as bytes: plain members, pointers and arrays; no std::string, no "
                "std::vector, no virtual functions");
  static_assert(alignof(plain) <= 256, "what is copied deeply is aligned to 256 bytes at most, as blocks are");
  static_assert(!std::is_pointer_v<plain>,
                "an array of pointers: describe a struct with the pointer as its only member, and an array of those");
  if constexpr (described_object<plain>) {
    static constexpr described_type type{sizeof(plain), alignof(plain), &typeid(plain), &describe_object<plain>};
    return type;
  } else {
    static constexpr described_type type{sizeof(plain), alignof(plain), &typeid(plain), nullptr};
    return type;
  }
}

/// One member, as it was described.
struct described_member {
  std::string_view name;
  std::uint64_t offset;        ///< in its object
  std::uint64_t bytes;         ///< of the member itself
  void* target;                ///< what a pointer leads to
  std::int64_t count;          ///< of those
  const described_type* type;  ///< of one; null: the member is no pointer
  bool constant;               ///< nothing is brought back to the target
};

}  // namespace detail

/// What `describe` fills in: a line per member. Members that are left out are copied as bytes with their object and not
/// brought back; pointers among them lead to the program's memory also in the copy.
class description {
 public:
  /// Of an object of so many bytes; for the runtime.
  description(void* object, const detail::described_type& type) noexcept
      : m_object(static_cast<std::byte*>(object)), m_type(&type) {}

  // Names are literals: paths name members by them, and messages.

  /// A number, an enumeration or a struct without pointers: goes with its object, and is brought back with it.
  template <class T>
  requires std::is_trivially_copyable_v<T> &&(!std::is_pointer_v<T>)void scalar(std::string_view name, T& member) {
    add({name, 0, sizeof member, nullptr, 0, nullptr, std::is_const_v<T>}, &member);
  }
  /// A pointer to `count` elements, which are numbers, structs without pointers, or described objects. Null: there are
  /// none. Throws tessera::error (usage) for a count below 0.
  template <class T, std::integral Count>
  void array(std::string_view name, T*& elements, Count count) {
    add({name, 0, sizeof elements, const_cast<std::remove_cv_t<T>*>(elements), static_cast<std::int64_t>(count),
         &detail::type_of<T>(), std::is_const_v<T>},
        &elements);
  }
  /// A pointer to one object, or null. Several may lead to the same one, also in a circle: it is copied once.
  template <class T>
  void pointer(std::string_view name, T*& target) {
    array(name, target, 1);
  }

  std::span<const detail::described_member> members() const noexcept { return m_members; }  ///< for the runtime

 private:
  void add(detail::described_member member, const void* at);
  std::byte* m_object;
  const detail::described_type* m_type;
  std::vector<detail::described_member> m_members;
};

/// Where a copy goes: a runtime, and a location of its tree.
struct copy_target {
  runtime* rt;           ///< the runtime
  std::string location;  ///< "numa1", "cuda0"; any that has a memory, or is below one
};
/// A location by its name, for deep_copy.
inline copy_target to(runtime& rt, std::string_view location) { return {&rt, std::string(location)}; }

/// Which parts of a structure are copied: names of members from the root on, "atoms.positions", "children[3].values",
/// "children[*].values"; an array of objects without an index means all. A path that ends at an object means all below
/// it too. What leads to a part is copied; pointers that no path follows are null in the copy.
struct paths {
  /// All of the structure.
  paths() = default;
  /// Some of it.
  paths(std::initializer_list<std::string_view> some) : names(some.begin(), some.end()), all(false) {}
  /// The same from a list made at run time.
  explicit paths(std::vector<std::string> some) : names(std::move(some)), all(false) {}
  std::vector<std::string> names = {};  ///< the paths
  bool all = true;                      ///< no paths: everything
};

/// How a copy is stored.
enum class copy_form : std::uint8_t {
  one_arena,         ///< all objects and arrays in one piece of memory, which is moved at once
  block_per_object,  ///< each object and each array by itself: what is used alone moves alone
};

/// How a structure is copied.
struct copy_options {
  copy_form form = copy_form::one_arena;  ///< how it is stored
  bool poison = false;  ///< fills the memory at the location with 0xff bytes first: for finding what was not moved
};

/// What copying took.
struct copy_report {
  std::uint64_t bytes = 0;          ///< of the copy, with the header and the gaps that alignment makes
  std::uint64_t nominal_bytes = 0;  ///< of the described members and the elements of arrays alone
  std::uint64_t objects = 0;        ///< described ones
  std::uint64_t arrays = 0;         ///< pieces of memory without pointers
  std::uint64_t pointers = 0;       ///< that were made for the other memory; null ones do not count
  std::uint64_t transfers = 0;      ///< pieces that moved between memories
  std::uint64_t bytes_moved = 0;    ///< of those
};

namespace detail {

class deep_copy_state;

/// Where something lies in a copy.
struct copy_place {
  std::size_t block;
  std::uint64_t offset;
};

/// Copies of all types.
class deep_copy_handle {
 public:
  deep_copy_handle(void* root, const described_type& type, const copy_target& target, const paths& parts,
                   const copy_options& options, std::source_location site);
  deep_copy_handle(deep_copy_handle&&) noexcept;
  deep_copy_handle& operator=(deep_copy_handle&&) noexcept;
  ~deep_copy_handle();
  const copy_report& report() const noexcept;
  copy_report copy_back(std::source_location site);
  std::size_t size() const noexcept;
  block::record& block(std::size_t k) const;
  block::record& only_block() const;
  runtime& owner() const;
  copy_place place_of(const void* original) const;
  void* open(const task_blocks& blocks, std::size_t first) const;
  held_block hold(std::source_location site) const;

 private:
  std::unique_ptr<deep_copy_state> m_state;
};

/// The root in the arena at `data`, whose pointers are made for this address first if they are for another one. With
/// `may_write` false that is done in `scratch`.
void* open_arena(std::byte* data, std::uint64_t bytes, bool may_write, std::vector<std::uint64_t>& scratch);

}  // namespace detail

/// The root of a copy in the hands of a task: its pointers lead to the copy's objects and arrays, in the memory where
/// the task runs. Valid while the task runs.
/// @tparam T  type of the root; const where the task reads
template <class T>
class object_view {
  using byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;

 public:
  /// Made by the runtime. Throws tessera::error (usage) when the copy has ended.
  object_view(byte* data, const shape& extents)
      : m_data(data),
        m_root(static_cast<T*>(detail::open_arena(
            const_cast<std::byte*>(data), static_cast<std::uint64_t>(extents.count()), !std::is_const_v<T>, m_moved))) {
  }
  object_view(object_view&&) noexcept = default;  ///< moved from, it shows nothing
  object_view& operator=(object_view&&) = delete;
  byte* data() const noexcept { return m_data; }     ///< the arena
  T& operator*() const noexcept { return *m_root; }  ///< the root
  T* operator->() const noexcept { return m_root; }  ///< its members
  T* get() const noexcept { return m_root; }         ///< its address

 private:
  byte* m_data;
  std::vector<std::uint64_t> m_moved;  // a copy of the arena for this address, where it could not be changed
  T* m_root;
};

/// The root of a copy in the hands of the program, in host memory. Tasks that use the copy wait until it is gone. It
/// must not outlive the copy. @tparam T  type of the root
template <class T>
class host_object_view {
 public:
  /// Made by deep_copied::update.
  host_object_view(detail::held_block held, const shape& extents)
      : m_held(std::move(held)), m_object(static_cast<std::byte*>(m_held.data()), extents) {}
  T& operator*() const noexcept { return *m_object; }        ///< the root
  T* operator->() const noexcept { return m_object.get(); }  ///< its members
  T* get() const noexcept { return m_object.get(); }         ///< its address

 private:
  detail::held_block m_held;
  object_view<T> m_object;
};

/// What read(copy) and update(copy) make.
template <class T, intent How>
struct object_use {
  using element = std::conditional_t<How == intent::read, const T, T>;  ///< const where the task may only read
  using view_type = object_view<element>;                               ///< what the task's function gets for it
  static constexpr intent how = How;                                    ///< known when the program is compiled
  block::record* block;                                                 ///< not owned
  /// For submissions that take a list.
  operator block_access() const noexcept {
    return {.block = block, .version = 0, .intent = How, .flags = 0, .space = 0};
  }
};

/// A copy of a structure at a location. It stays there between tasks, like any block, and moves when a task uses it
/// elsewhere. The original stays as it is until copy_back; originals and this must outlive the tasks that use the copy.
/// Move-only; moved from, it has nothing, and calls of it throw tessera::error (usage). One thread at a time.
/// @tparam T  type of the root
template <class T>
class deep_copied {
 public:
  /// Made by deep_copy.
  explicit deep_copied(detail::deep_copy_handle handle) noexcept : m_handle(std::move(handle)) {}

  /// What the way to the location took.
  const copy_report& report() const noexcept { return m_handle.report(); }
  /// Waits for the tasks that use the copy, and writes what it holds into the originals: described numbers and the
  /// elements of arrays that are not const. Pointers of the originals stay as they are. Throws the failure of the task
  /// that should have made it; usage inside a task, or when the runtime has ended. @param site  for messages
  copy_report copy_back(std::source_location site = std::source_location::current()) {
    return m_handle.copy_back(site);
  }

  /// The root in the hands of the program, which may follow its pointers, read and change what they lead to, and adopt
  /// its arrays (runtime::adopt, location_model::adopt) as long as the view is there. Waits for the tasks that use the
  /// copy, and brings it to host memory. Throws as block_of::update, and usage when the copy has several blocks.
  host_object_view<T> update(std::source_location site = std::source_location::current()) {
    return {m_handle.hold(site), detail::stored_extents_of(m_handle.block(0))};
  }

  /// Blocks that it has: 1, or with copy_form::block_per_object as many as objects and arrays.
  std::size_t size() const noexcept { return m_handle.size(); }
  /// The k-th one, as bytes. Throws tessera::error (usage) beyond the end.
  block_of<std::uint8_t> block(std::size_t k) const { return {m_handle.owner(), m_handle.block(k)}; }
  /// For kernels that take plain addresses: the block and the offset in it, in bytes, where the copy of something
  /// lies. Throws tessera::error (usage) for what is no part of the copy. @param original  where it lies in the program
  detail::copy_place place_of(const void* original) const { return m_handle.place_of(original); }
  /// The root in a task that names all blocks, in their order, from the task's block `first` on; for
  /// copy_form::block_per_object. Throws tessera::error (memory) when a block has left the memory that the pointers
  /// were made for.
  T* open(const task_blocks& blocks, std::size_t first = 0) const {
    return static_cast<T*>(m_handle.open(blocks, first));
  }
  const detail::deep_copy_handle& handle() const noexcept { return m_handle; }  ///< for read and update

 private:
  detail::deep_copy_handle m_handle;
};

/// The task reads the copy. Throws tessera::error (usage) when it has several blocks.
template <class T>
object_use<T, intent::read> read(const deep_copied<T>& copy) {
  return {&copy.handle().only_block()};
}
/// The task reads and writes the copy. Throws the same.
template <class T>
object_use<T, intent::update> update(const deep_copied<T>& copy) {
  return {&copy.handle().only_block()};
}

/// Copies an object and all that its pointers lead to, or the parts that the paths name. The pointers are made for the
/// memory of the location before anything moves; then everything moves at once. Returns when the transfer is under way;
/// the originals are not looked at any more. Where the memory has no addresses that kernels could store (OpenCL 1.2,
/// simulated devices), pointers are offsets from the begin of the arena (docs/deep_copy.md). Throws tessera::error:
/// usage (a path that leads nowhere, a description that does not fit, pieces of memory that overlap in part, no such
/// location, inside a task, block_per_object where the memory has no addresses), memory (also where the copy is larger
/// than that of the location).
template <described_object T>
deep_copied<T> deep_copy(T& root, const copy_target& target, const paths& parts = {}, const copy_options& options = {},
                         std::source_location site = std::source_location::current()) {
  static_assert(!std::is_const_v<T>, "a const root cannot be brought back: copy it first");
  return deep_copied<T>(detail::deep_copy_handle(&root, detail::type_of<T>(), target, parts, options, site));
}

}  // namespace tessera
