#include "tests/conformance/suite/crew.hpp"

#include <chrono>
#include <thread>

#include "tests/conformance/suite/host_code.hpp"

namespace tessera::conformance {
namespace {

constexpr std::size_t max_streams = 3;

tsr_status sleep_a_little(void*, void* const*) {
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  return TSR_OK;
}

bool copies_inside(const device& on) {
  const tsr_space_ref here{on.handle(), compute_space(on)};
  tsr_link_desc link{};
  link.struct_size = sizeof link;
  return on.table().link(on.handle(), here, here, &link) == TSR_OK;
}

}  // namespace

crew::crew(const opened& all, random_source& random) : m_random(random) {
  for (const auto& device : all.devices)
    for (std::size_t i = 0; i < streams_of(*device, max_streams); ++i)
      m_streams.emplace_back(*device, i == 0 ? TSR_STREAM_COPY : TSR_STREAM_COMPUTE);
}

crew::~crew() {
  try {
    finish();
  } catch (const check_failed&) {
    std::this_thread::sleep_for(
        std::chrono::seconds(1));  // the check tells what it found; memory in use is not freed early
  }
}

void crew::finish() {
  for (const queue& stream : m_streams) stream.finish();
}

const queue& crew::stream_of(const device& on) {
  std::size_t skipped = m_random() % streams_of(on, max_streams);
  for (const queue& stream : m_streams)
    if (&stream.owner() == &on && skipped-- == 0) return stream;
  throw check_failed("a job has no stream on a device");
}

void crew::wait(const queue& stream, const tsr_ticket& ticket) {
  if (ticket.stream == stream.handle()) return;  // rule R9
  const device& on = stream.owner();
  if (on.table().stream_wait != nullptr) {
    expect_ok(on.table().stream_wait(on.handle(), stream.handle(), ticket), "stream_wait");
    return;
  }
  for (const queue& other : m_streams)
    if (other.handle() == ticket.stream)
      wait_until([&] { return other.reached(ticket); }, "the point of stream_signal on another stream");
}

void crew::dawdle(const queue& stream) {
  const device& on = stream.owner();
  if (!runs_host_code(on) || m_random() % 4 != 0) return;
  expect_ok(enqueue_host_code(on, stream.handle(), sleep_a_little, nullptr), "enqueueing a host task");
}

const queue& crew::begin(const device& on, const std::vector<cell*>& read, cell* written) {
  const queue& stream = stream_of(on);
  for (const cell* one : read)
    if (one->written) wait(stream, *one->written);
  if (written != nullptr) {
    if (written->written) wait(stream, *written->written);
    for (const tsr_ticket& ticket : written->read) wait(stream, ticket);
  }
  dawdle(stream);
  return stream;
}

void crew::end(const queue& stream, const std::vector<cell*>& read, cell* written) {
  const tsr_ticket point = stream.signal();
  for (cell* one : read) one->read.push_back(point);
  if (written == nullptr) return;
  written->written = point;
  written->read.clear();
}

void crew::upload(cell& to, std::uint64_t offset, std::vector<unsigned char> bytes) {
  need_copyable(*to.owner, bytes.size());
  auto& kept = m_relays.emplace_back(std::move(bytes));
  const queue& stream = begin(*to.owner, {}, &to);
  const tsr_copy in =
      plain_copy(to.memory.where(), to.memory.at(offset), host_space, host_address(kept.data()), kept.size());
  expect_ok(to.owner->table().copy(to.owner->handle(), stream.handle(), &in), "copy");
  end(stream, {}, &to);
}

const std::vector<unsigned char>& crew::download(cell& from, std::uint64_t bytes) {
  need_copyable(*from.owner, bytes);
  auto& kept = relay(bytes);
  const queue& stream = begin(*from.owner, {&from}, nullptr);
  const tsr_copy out = plain_copy(host_space, host_address(kept.data()), from.memory.where(), from.memory.at(0), bytes);
  expect_ok(from.owner->table().copy(from.owner->handle(), stream.handle(), &out), "copy");
  end(stream, {&from}, nullptr);
  return kept;
}

void crew::copy(cell& to, std::uint64_t to_offset, cell& from, std::uint64_t from_offset, std::uint64_t bytes) {
  if (to.owner == from.owner && copies_inside(*to.owner)) {
    const queue& stream = begin(*to.owner, {&from}, &to);
    const tsr_copy inside =
        plain_copy(to.memory.where(), to.memory.at(to_offset), from.memory.where(), from.memory.at(from_offset), bytes);
    expect_ok(to.owner->table().copy(to.owner->handle(), stream.handle(), &inside), "copy inside a device");
    end(stream, {&from}, &to);
    return;
  }
  auto& between = relay(bytes);
  const queue& first = begin(*from.owner, {&from}, nullptr);
  const tsr_copy out =
      plain_copy(host_space, host_address(between.data()), from.memory.where(), from.memory.at(from_offset), bytes);
  expect_ok(from.owner->table().copy(from.owner->handle(), first.handle(), &out), "copy");
  end(first, {&from}, nullptr);
  const tsr_ticket there = from.read.back();
  const queue& second = begin(*to.owner, {}, &to);
  wait(second, there);
  const tsr_copy in =
      plain_copy(to.memory.where(), to.memory.at(to_offset), host_space, host_address(between.data()), bytes);
  expect_ok(to.owner->table().copy(to.owner->handle(), second.handle(), &in), "copy");
  end(second, {}, &to);
}

bool crew::fill(cell& to, std::uint64_t offset, const std::vector<unsigned char>& pattern, std::uint64_t count) {
  const device& on = *to.owner;
  if (on.table().fill == nullptr) return false;
  const queue& stream = begin(on, {}, &to);
  expect_ok(on.table().fill(on.handle(), stream.handle(), to.memory.at(offset), pattern.data(),
                            static_cast<std::uint32_t>(pattern.size()), count),
            "fill");
  end(stream, {}, &to);
  return true;
}

void crew::compute(cell& written, std::vector<cell*> read, double flops, cell_work work) {
  const device& on = *written.owner;
  bool together = runs_host_code(on);
  for (const cell* one : read) together = together && one->owner == &on;
  if (together) {
    task& made = m_tasks.emplace_back(task{std::move(work)});
    std::vector<mapped_range> ranges{{written.memory.at(0), written.memory.bytes()}};
    for (const cell* one : read) ranges.push_back({one->memory.at(0), one->memory.bytes()});
    const queue& stream = begin(on, read, &written);
    expect_ok(enqueue_host_code(on, stream.handle(), task::run, &made, ranges, flops), "enqueueing a host task");
    end(stream, read, &written);
    return;
  }
  std::vector<cell*> all{&written};
  all.insert(all.end(), read.begin(), read.end());
  std::vector<void*> contents;
  for (cell* one : all) {
    auto& bytes = relay(one->memory.bytes());
    contents.push_back(bytes.data());
    const queue& stream = begin(*one->owner, {one}, nullptr);
    const tsr_copy out =
        plain_copy(host_space, host_address(bytes.data()), one->memory.where(), one->memory.at(0), bytes.size());
    expect_ok(one->owner->table().copy(one->owner->handle(), stream.handle(), &out), "copy");
    end(stream, {one}, nullptr);
    stream.finish();
  }
  work(contents.data());
  const queue& stream = begin(on, {}, &written);
  const tsr_copy in = plain_copy(written.memory.where(), written.memory.at(0), host_space,
                                 host_address(contents.front()), written.memory.bytes());
  expect_ok(on.table().copy(on.handle(), stream.handle(), &in), "copy");
  end(stream, {}, &written);
}

void crew::enqueue(cell& written, std::vector<cell*> read, const std::function<void(const queue&)>& call) {
  const queue& stream = begin(*written.owner, read, &written);
  call(stream);
  end(stream, read, &written);
}

const buffer& crew::scratch(const device& on, std::uint64_t bytes) {
  return m_scratch.emplace_back(on, compute_space(on), bytes);
}

}  // namespace tessera::conformance
