#pragma once
// Recordings made by hand, with times that can be followed on paper.
#include <bit>

#include "core/trace/summary.hpp"

namespace trace_test {

using namespace tessera::trace;

inline event submitted(std::uint64_t task, std::uint64_t time, std::uint16_t operation,
                       std::initializer_list<std::uint64_t> before = {}, std::uint32_t line = 10) {
  event e{event_kind::submitted};
  e.task = task, e.time = time, e.small = operation, e.number = line;
  e.words[0] = reinterpret_cast<std::uint64_t>("somewhere/program.cpp");
  for (const std::uint64_t b : before) e.words[1u + e.count++] = b;
  return e;
}
inline event ran(std::uint64_t task, std::uint64_t start, std::uint64_t end, std::uint16_t flags = 0) {
  event e{event_kind::ran};
  e.task = task, e.time = start, e.words[0] = end, e.small = flags;
  return e;
}
inline event enqueued(std::uint64_t task, std::uint64_t start, std::uint64_t complete, std::uint64_t point) {
  event e{event_kind::enqueued};
  e.task = task, e.time = start, e.words = {complete, point, start, 0, 0};
  return e;
}
inline event waits(std::uint64_t task, std::uint64_t point) {
  event e{event_kind::waits};
  e.task = task, e.words[0] = point, e.count = 1;
  return e;
}
inline event parked(std::uint64_t task, std::uint64_t time, std::uint16_t why) {
  event e{event_kind::parked};
  e.task = task, e.time = time, e.small = why;
  return e;
}
inline event resumed(std::uint64_t task, std::uint64_t time) {
  event e{event_kind::resumed};
  e.task = task, e.time = time;
  return e;
}
inline event copied(std::uint16_t from, std::uint32_t to, std::uint64_t issued, std::uint64_t end, std::uint64_t bytes,
                    std::uint64_t point, bool back = false) {
  event e{event_kind::transfer};
  e.small = from, e.number = to, e.time = issued, e.words = {end, bytes, point, 0, 0}, e.count = back;
  return e;
}
inline event in_use(std::uint32_t space, std::uint64_t time, std::uint64_t bytes) {
  event e{event_kind::memory};
  e.number = space, e.time = time, e.words[0] = bytes;
  return e;
}
inline event fenced(std::uint64_t begin, std::uint64_t end) {
  event e{event_kind::fence};
  e.time = begin, e.words[0] = end;
  return e;
}

inline event slab_asked(std::uint32_t space, std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
  event e{event_kind::slab};
  e.number = space, e.time = begin, e.words[0] = end, e.words[1] = bytes;
  return e;
}
/// Names are numbers of recording::block_names.
inline event stepped(std::uint64_t what, std::uint64_t file, std::uint32_t line, std::uint64_t begin,
                     std::uint64_t end) {
  event e{event_kind::step};
  e.task = what, e.number = line, e.time = begin, e.words = {end, file, std::bit_cast<std::uint64_t>(-1.0), 0, 0};
  return e;
}
inline event at_barrier(std::uint64_t begin, std::uint64_t end) {
  event e = fenced(begin, end);
  e.count = 1;
  return e;
}

/// Two host workers and nothing else; operations "a", "b", "view"; no events yet.
inline recording host() {
  recording r;
  r.threads.resize(2);
  r.threads[0] = {"worker 0", thread_role::worker, 0, {}};
  r.threads[1] = {"worker 1", thread_role::worker, 0, {}};
  r.operations = {"a", "b", "view"};
  r.places = {{"cpu:numa0", true, 2}};
  r.spaces = {{"host:numa0", ~std::uint64_t{0}}};
  return r;
}

/// The same with a device "sim0" (place 1, space 1, stream 5 computes, stream 6 copies to it).
inline recording with_device() {
  recording r = host();
  r.threads.push_back({"driver of sim0", thread_role::driver, 1, {}});
  r.places.push_back({"sim0", false, 1});
  r.spaces.push_back({"sim0:memory", 4096});
  r.streams.push_back({5, 1, "sim0 compute 0"});
  r.links.push_back({0, 1, 2e9});
  r.block_names = {"A(0,0)", "A(1,0)"};
  return r;
}

}  // namespace trace_test
