// OPERATIONS plugins: their names, and host functions called with blocks of every size, with arguments that are none of
// theirs, and by several threads at once. What an operation takes for arguments only it knows, so that some calls that
// are usual are tried; those that it accepts are looked at more closely.
#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {
namespace {

using extents = std::vector<std::int64_t>;

/// One call of a host function.
struct call {
  tsr_type type;
  extents shape;  ///< of every block
  std::vector<unsigned char> arguments;

  std::string text() const {
    std::string words = "blocks of";
    for (const std::int64_t extent : shape) words += fmt::format(" {}", extent);
    return words + fmt::format(" elements of type {} and {} bytes of arguments", type, arguments.size());
  }
};

std::size_t bytes_of(tsr_type type) {
  constexpr std::array<std::size_t, 10> sizes{1, 4, 8, 8, 16, 4, 8, 1, 2, 2};
  return sizes.at(type);
}

/// The blocks of a call, with guards around their contents, which are small numbers.
class operands {
 public:
  static constexpr std::size_t guard = 64;
  static constexpr unsigned char mark = 0xa5;

  operands(const tsr_operation& operation, const call& how, std::uint64_t seed) {
    std::size_t count = 1;
    for (const std::int64_t extent : how.shape) count *= static_cast<std::size_t>(extent);
    const std::size_t size = count * bytes_of(how.type);
    random_source random(seed);
    for (std::uint32_t b = 0; b < operation.intent_count; ++b) {
      auto& bytes = m_bytes.emplace_back(guard + size + guard, mark);
      for (std::size_t i = 0; i < count; ++i)
        put(bytes.data() + guard + i * bytes_of(how.type), how.type, 1 + static_cast<int>(random() % 7));
    }
    m_before = m_bytes;
    for (auto& bytes : m_bytes) {
      tsr_block_view view{};
      view.struct_size = sizeof view;
      view.type = how.type;
      view.rank = static_cast<std::uint32_t>(how.shape.size());
      std::copy(how.shape.begin(), how.shape.end(), view.extents);
      view.data = bytes.data() + guard;
      m_views.push_back(view);
    }
  }

  tsr_status run(const subject& what, const tsr_operation& operation, const call& how) {
    return operation.host(what.host.table(), m_views.data(), static_cast<std::uint32_t>(m_views.size()),
                          how.arguments.empty() ? nullptr : how.arguments.data(), how.arguments.size());
  }

  /// Nothing was written around the blocks, nor into those that are read alone.
  void look(const tsr_operation& operation, const call& how) const {
    for (std::size_t b = 0; b < m_bytes.size(); ++b) {
      const auto& bytes = m_bytes[b];
      const auto end = bytes.size() - guard;
      for (std::size_t i = 0; i < bytes.size(); ++i)
        expect((i >= guard && i < end) || bytes[i] == mark, "{} with {} writes outside of block {}, {} byte {}",
               operation.name, how.text(), b, i < guard ? "before its" : "behind its", i < guard ? guard - i : i - end);
      if (operation.intents[b] == TSR_READ)
        expect(bytes == m_before[b], "{} with {} writes into block {}, which it says that it reads", operation.name,
               how.text(), b);
    }
  }

  /// The contents of what the operation says that it leaves behind.
  std::vector<std::vector<unsigned char>> results(const tsr_operation& operation) const {
    std::vector<std::vector<unsigned char>> all;
    for (std::size_t b = 0; b < m_bytes.size(); ++b)
      if (operation.intents[b] != TSR_SCRATCH) all.push_back(m_bytes[b]);
    return all;
  }

 private:
  template <class T>
  static void store(unsigned char* to, T value) {
    std::memcpy(to, &value, sizeof value);
  }
  static void put(unsigned char* to, tsr_type type, int value) {
    switch (type) {
      case TSR_F32:
        return store(to, static_cast<float>(value));
      case TSR_F64:
        return store(to, static_cast<double>(value));
      case TSR_C64:
        return store(to, std::complex<float>(static_cast<float>(value), 1));
      case TSR_C128:
        return store(to, std::complex<double>(value, 1));
      case TSR_I32:
        return store(to, static_cast<std::int32_t>(value));
      case TSR_I64:
        return store(to, static_cast<std::int64_t>(value));
      case TSR_F16:
      case TSR_BF16:
        return store(to, static_cast<std::uint16_t>(0x3c00 + value));
      default:
        *to = static_cast<unsigned char>(value);
    }
  }
  std::vector<std::vector<unsigned char>> m_bytes, m_before;
  std::vector<tsr_block_view> m_views;
};

/// `count` copies of a value.
template <class T>
std::vector<unsigned char> repeated(T value, std::size_t count) {
  std::array<unsigned char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  std::vector<unsigned char> all;
  for (std::size_t i = 0; i < count; ++i)
    for (const unsigned char byte : bytes) all.push_back(byte);
  return all;
}

/// Argument bytes: none, and one to three numbers of 4 or 8 bytes, zeros or one and a half.
std::vector<std::vector<unsigned char>> usual_arguments() {
  std::vector<std::vector<unsigned char>> all{{}};
  for (std::size_t count = 1; count <= 3; ++count)
    for (auto& bytes : {repeated(0.0, count), repeated(0.0f, count), repeated(1.5, count), repeated(1.5f, count)})
      all.push_back(bytes);
  return all;
}

/// Calls with the usual arguments, or, where the request names some for the operation, with these.
std::vector<call> usual_calls(const subject& what, const tsr_operation& operation) {
  std::vector<call> all;
  std::vector<std::vector<unsigned char>> named;
  for (const auto& [name, bytes] : what.asked.arguments)
    if (name == operation.name) named.push_back(bytes);
  for (const tsr_type type :
       {TSR_F64, TSR_F32, TSR_C128, TSR_C64, TSR_I64, TSR_I32, TSR_U8, TSR_F16, TSR_BF16, TSR_TYPE_NONE})
    for (const extents& shape : {extents{4}, extents{4, 4}, extents{4, 4, 4}, extents{}})
      for (auto& arguments : named.empty() ? usual_arguments() : named)
        all.push_back({type, shape, std::move(arguments)});
  return all;
}

tsr_status answer(const subject& what, const tsr_operation& operation, const call& how) {
  operands blocks(operation, how, what.seed);
  plugin::take_error_details();
  const tsr_status status = blocks.run(what, operation, how);
  blocks.look(operation, how);
  if (status != TSR_OK)
    expect(!plugin::take_error_details().empty(),
           "{} with {} answers {} and leaves no details with host->error (rule R3)", operation.name, how.text(),
           plugin::name_of(status));
  return status;
}

std::vector<call> accepted_calls(const subject& what, const tsr_operation& operation) {
  std::vector<call> all = usual_calls(what, operation);
  std::erase_if(all, [&](const call& how) {
    operands blocks(operation, how, what.seed);
    return blocks.run(what, operation, how) != TSR_OK;
  });
  return all;
}

/// Runs `look(operation, calls)` on every operation that accepts one of the usual calls.
template <class Look>
void each_accepting(const subject& what, Look&& look) {
  const opened_plugin opened(what);
  for (const auto& named : what.asked.arguments)
    need(std::any_of(opened.operations().begin(), opened.operations().end(),
                     [&](const tsr_operation& one) { return named.first == one.name; }),
         "arguments are named for operation \"{}\", and the plugin has no such operation", named.first);
  if (opened.operations().empty()) skip("the plugin has no operations");
  std::string others;
  bool any = false;
  for (const tsr_operation& operation : opened.operations()) {
    const auto calls = accepted_calls(what, operation);
    if (calls.empty()) {
      others += (others.empty() ? "" : ", ") + std::string(operation.name);
      continue;
    }
    any = true;
    look(operation, calls);
  }
  if (!any) skip(others + ": none of the usual calls is accepted; --arguments names the bytes that an operation takes");
}

bool is_good_name(const std::string& name) {
  const auto is_word = [](std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(),
                                        [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  };
  const auto dot = name.find('.');
  if (dot == std::string::npos || !is_word(name.substr(0, dot))) return false;
  for (std::size_t at = dot; at != std::string::npos;) {
    const std::size_t next = name.find('.', at + 1);
    if (!is_word(name.substr(at + 1, next == std::string::npos ? next : next - at - 1))) return false;
    at = next;
  }
  return true;
}

void names(const subject& what) {
  const opened_plugin opened(what);
  std::set<std::string> seen;
  for (const tsr_operation& operation : opened.operations()) {
    expect(is_good_name(operation.name), "operation \"{}\" is to be called \"vendor.operation\"", operation.name);
    expect(seen.insert(operation.name).second, "two operations are called \"{}\"", operation.name);
    expect(operation.intent_count <= 64, "operation \"{}\" has {} blocks", operation.name, operation.intent_count);
    for (std::uint32_t b = 0; b < operation.intent_count; ++b)
      expect(operation.intents[b] <= TSR_SCRATCH, "operation \"{}\" has intent {} for block {}", operation.name,
             operation.intents[b], b);
  }
}

void any_arguments_are_answered(const subject& what) {
  const opened_plugin opened(what);
  auto random = what.generator();
  for (const tsr_operation& operation : opened.operations()) {
    for (const call& how : usual_calls(what, operation)) answer(what, operation, how);
    for (std::size_t size = 0; size <= 40; ++size)  // sizes that no struct has; contents that a size check need not see
      for (const tsr_type type : {TSR_F64, TSR_F32, TSR_U8})
        if (size % 4 != 0) {
          call how{type, {3}, std::vector<unsigned char>(size)};
          for (unsigned char& byte : how.arguments) byte = static_cast<unsigned char>(random());
          answer(what, operation, how);
        }
  }
}

void blocks_of_every_size(const subject& what) {
  each_accepting(what, [&](const tsr_operation& operation, const std::vector<call>& calls) {
    for (const call& accepted : calls)
      for (const std::int64_t extent : {0, 1, 2, 3, 5, 7, 15, 17, 31, 33}) {
        call how = accepted;
        for (std::size_t d = 0; d < how.shape.size(); ++d)
          how.shape[d] = how.shape.size() == 3 ? std::min<std::int64_t>(extent, 7) : extent;
        answer(what, operation, how);
      }
  });
}

void threads_get_equal_results(const subject& what) {
  each_accepting(what, [&](const tsr_operation& operation, const std::vector<call>& calls) {
    constexpr std::size_t threads = 4;
    constexpr int rounds = 200;
    std::vector<call> given;
    std::vector<std::vector<std::vector<unsigned char>>> wanted;
    for (std::size_t t = 0; t < threads; ++t) {
      given.push_back(calls[t % calls.size()]);
      operands alone(operation, given[t], what.seed + t);
      alone.run(what, operation, given[t]);
      wanted.push_back(alone.results(operation));
    }
    std::mutex guard;
    std::exception_ptr failure;
    std::latch together(threads);  // else one may be through before the next is there
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        together.arrive_and_wait();
        try {
          for (int i = 0; i < rounds; ++i) {
            operands own(operation, given[t], what.seed + t);
            expect_ok(own.run(what, operation, given[t]), operation.name);
            expect(own.results(operation) == wanted[t],
                   "{} with {} gives another result while other threads call it too", operation.name, given[t].text());
          }
        } catch (...) {
          const std::lock_guard lock(guard);
          failure = std::current_exception();
        }
      });
    for (std::thread& thread : all) thread.join();
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace

std::vector<check> operations_checks() {
  constexpr kind_set operations = set_of(TSR_PLUGIN_OPERATIONS);
  return {{"operations.names", names, operations},
          {"operations.any_arguments_are_answered", any_arguments_are_answered, operations},
          {"operations.blocks_of_every_size", blocks_of_every_size, operations},
          {"operations.threads_get_equal_results", threads_get_equal_results, operations}};
}

}  // namespace tessera::conformance
