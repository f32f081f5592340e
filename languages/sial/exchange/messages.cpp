#include "languages/sial/exchange/messages.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>

namespace tessera::sial {
namespace {

struct header {
  std::uint32_t kind = 0;
  std::array<std::int64_t, 4> words{};
  std::uint64_t values = 0, more = 0, text = 0;  // elements
};

bool send_all(int socket, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* into, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(into);
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

bool send_message(int socket, const hub_message& what) {
  const header head{static_cast<std::uint32_t>(what.kind), what.words, what.values.size(), what.more.size(),
                    what.text.size()};
  return send_all(socket, &head, sizeof head) &&
         send_all(socket, what.values.data(), what.values.size() * sizeof(double)) &&
         send_all(socket, what.more.data(), what.more.size() * sizeof(std::int64_t)) &&
         send_all(socket, what.text.data(), what.text.size());
}

bool receive_message(int socket, hub_message& into) {
  header head;
  if (!receive_all(socket, &head, sizeof head)) return false;
  into.kind = static_cast<hub_message::what>(head.kind);
  into.words = head.words;
  into.values.resize(head.values);
  into.more.resize(head.more);
  into.text.resize(head.text);
  return receive_all(socket, into.values.data(), into.values.size() * sizeof(double)) &&
         receive_all(socket, into.more.data(), into.more.size() * sizeof(std::int64_t)) &&
         receive_all(socket, into.text.data(), into.text.size());
}

}  // namespace tessera::sial
