#pragma once
// What a process and the hub of its run say to each other, over a stream socket.
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::sial {

/// A request, or the answer to one. Both ends are the same program on the same kind of machine.
struct hub_message {
  enum class what : std::uint32_t {
    get,       ///< words: array, ordinal -> words[0]: whether it is there; values, extents in `more`
    store,     ///< words: array, ordinal, store_kind, elements; values, or for multiply the factor; more: extents
    declare,   ///< words: array, its base or no_array
    next,      ///< words: array -> words[0]: what comes after its delete
    ordinals,  ///< words: array -> more
    written,   ///< words: array -> words[0]: whether something was written to itself
    release,   ///< words: array
    collect,   ///< words: site; values -> all values, by worker; a barrier
    chunk,     ///< words: sequence, pardo, candidates -> words: begin, end
    fail,      ///< text
    leave,     ///< -> answer, or given_up with text: what has failed in the program that ends
    answer,    ///< all is well
    refused,   ///< text: a mistake of the program's order
    given_up   ///< another worker has failed
  };
  static constexpr std::int64_t no_array = -1;

  what kind = what::answer;
  std::array<std::int64_t, 4> words{};
  std::vector<double> values{};
  std::vector<std::int64_t> more{};
  std::vector<char> text{};
};

/// Sends all of it. False: the other end is gone.
bool send_message(int socket, const hub_message& what);
/// Waits for all of one. False: the other end is gone.
bool receive_message(int socket, hub_message& into);

}  // namespace tessera::sial
