#include "hierarchy/simulation/device_model.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::hierarchy {

device_model::device_model(const machine_description& description, std::vector<placement::history_cell> learnt)
    : m_description(description) {
  submit_ns = description.runtime.submit_ns;
  host_task_ns = description.runtime.host_task_ns;
  device_task_ns = description.runtime.device_task_ns;
  m_speeds.push_back(std::make_unique<duration_model>(description.host.core, std::move(learnt)));
  const auto add = [&](const std::string& name, const duration_model& speed) -> model_device& {
    auto fresh = std::make_unique<model_device>();
    fresh->world = this;
    fresh->number = static_cast<std::uint32_t>(m_devices.size());
    fresh->name = name;
    fresh->speed = &speed;
    return *m_devices.emplace_back(std::move(fresh));
  };
  model_device& host = add("host", *m_speeds.front());
  host.capacity.assign(description.host.domains, description.host.memory_bytes);
  host.host_bandwidth = description.host.bandwidth;
  for (const described_device& d : description.devices) {
    m_speeds.push_back(std::make_unique<duration_model>(d.speed));
    for (std::uint32_t k = 0; k < d.count; ++k) {
      model_device& one = add(d.count == 1 ? d.name : d.name + std::to_string(k), *m_speeds.back());
      one.capacity = {d.memory_bytes};
      one.kernels.capacity = d.kernels;
    }
  }
  for (const auto& d : m_devices) d->allocated.resize(d->capacity.size());
  // Two ports per link and device, out and in; then two for all of a link together.
  const std::size_t links = description.links.size();
  m_ports.resize(2 * links * (m_devices.size() + 1));
  for (std::size_t k = 0; k < links; ++k)
    for (std::size_t d = 0; d <= m_devices.size(); ++d)
      for (std::size_t direction = 0; direction < 2; ++direction)
        m_ports[2 * (k * (m_devices.size() + 1) + d) + direction].capacity =
            d == m_devices.size() ? description.links[k].at_once : 1;
  m_path_of.resize(m_devices.size() * m_devices.size());
}

std::uint32_t device_model::device_kind(std::uint32_t device) const noexcept {
  std::uint32_t first = 1;
  for (std::uint32_t k = 0; k < m_description.devices.size(); ++k) {
    if (device >= first && device < first + m_description.devices[k].count) return k + 1;
    first += m_description.devices[k].count;
  }
  return 0;
}

const described_link* device_model::link_between(std::uint32_t from, std::uint32_t to) const noexcept {
  const auto name = [&](std::uint32_t device) -> std::string_view {
    const std::uint32_t kind = device_kind(device);
    return kind == 0 ? std::string_view("host") : m_description.devices[kind - 1].name;
  };
  const std::string_view a = name(from), b = name(to);
  for (const described_link& l : m_description.links)
    if ((l.from == a && l.to == b) || (l.from == b && l.to == a)) return &l;
  return nullptr;
}

std::uint32_t device_model::way_index(std::uint32_t from, std::uint32_t to) {
  std::uint32_t& known = m_path_of[from * m_devices.size() + to];
  if (known != 0) return known - 1;
  path fresh;
  fresh.link = link_between(from, to);
  if (fresh.link != nullptr) {
    const auto number = static_cast<std::uint32_t>(fresh.link - m_description.links.data());
    const auto all = static_cast<std::uint32_t>(m_devices.size());
    const auto port = [&](std::uint32_t device, std::uint32_t direction) {
      return 2 * (number * (all + 1) + device) + direction;
    };
    if (from != 0) fresh.needs[fresh.count++] = port(from, 0);
    if (to != 0) fresh.needs[fresh.count++] = port(to, 1);
    fresh.needs[fresh.count++] = port(all, from == 0 || to != 0 ? 1 : 0);  // towards the devices, or towards the host
  }
  m_paths.push_back(fresh);
  m_uses.push_back({.from = from, .to = to});
  known = static_cast<std::uint32_t>(m_paths.size());
  return known - 1;
}

void device_model::forget_use() noexcept {
  for (link_use& u : m_uses) u = {.from = u.from, .to = u.to};
  for (const auto& d : m_devices) d->busy_ns = d->tasks = 0;
}

std::uint64_t device_model::make_addresses(std::uint64_t bytes) noexcept {
  const std::uint64_t begin = m_next_address;
  m_next_address += (bytes + 4095) / 4096 * 4096;
  return begin;
}

void device_model::push_kernel(model_stream& to, std::uint64_t ns, std::uint64_t overhead_ns) {
  ++to.device->tasks;
  if (to.is_inline) {
    to.device->busy_ns += ns;
    clock.charge(ns + overhead_ns);
    return;
  }
  push(to, {.kind = model_step::kind::kernel, .latency_ns = overhead_ns, .ns = ns});
}

bool device_model::push_copy(model_stream& to, std::uint32_t from_device, std::uint32_t to_device,
                             std::uint64_t bytes) {
  if (from_device == 0 && to_device == 0) {  // between memories of the host: by the thread that asks
    clock.charge(static_cast<std::uint64_t>(
        std::llround(static_cast<double>(bytes) * 1e9 / std::max(m_devices.front()->host_bandwidth, 1.0))));
    return true;
  }
  const std::uint32_t index = way_index(from_device, to_device);
  const described_link* const link = m_paths[index].link;
  if (link == nullptr) return false;
  const auto ns = static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) * 1e9 / link->bandwidth));
  link_use& use = m_uses[index];
  ++use.copies;
  use.bytes += bytes;
  push(to, {.kind = model_step::kind::copy, .link = index, .latency_ns = link->latency_ns, .ns = ns});
  return true;
}

void device_model::push(model_stream& to, model_step step) {
  if (to.is_inline) {  // what was charged is done when the call returns
    if (step.kind == model_step::kind::signal) to.completed = step.value;
    if (step.kind == model_step::kind::callback) step.call(step.argument);
    return;
  }
  to.steps.push_back(step);
  if (to.steps.size() > 1 || to.asleep) return;
  wake(to);
}

void device_model::wake(model_stream& s) {
  m_awake.push_back(&s);
  if (m_proceeding) return;
  m_proceeding = true;
  while (!m_awake.empty()) {
    model_stream* const next = m_awake.back();
    m_awake.pop_back();
    proceed(*next);
  }
  m_proceeding = false;
}

/// Lets the stream go as far as it can; those that it wakes are left in m_awake.
void device_model::proceed(model_stream& s) {
  while (!s.busy && !s.asleep && !s.steps.empty()) {
    model_step& first = s.steps.front();
    switch (first.kind) {
      case model_step::kind::wait:
        if (first.other->completed < first.value) {
          first.other->waiters.push_back({&s, first.value});
          s.asleep = true;
          return;
        }
        s.steps.pop_front();
        break;
      case model_step::kind::signal:
        s.completed = first.value;
        s.steps.pop_front();
        std::erase_if(s.waiters, [&](const model_stream::waiter& w) {
          if (w.value > s.completed) return false;
          w.stream->asleep = false;
          m_awake.push_back(w.stream);
          return true;
        });
        break;
      case model_step::kind::callback: {
        const model_step due = first;
        s.steps.pop_front();
        due.call(due.argument);
        break;
      }
      case model_step::kind::kernel:
      case model_step::kind::copy:
        begin(s);
        return;
    }
  }
}

void device_model::begin(model_stream& s) {
  s.busy = true;
  model_step& work = s.steps.front();
  if (work.latency_ns == 0) {
    take(s);
    return;
  }
  at(
      work.latency_ns,
      [](void* who, std::uint64_t) {
        auto& stream = *static_cast<model_stream*>(who);
        device_model& self = *stream.device->world;
        const schedule::virtual_clock::meter counted(self.clock);
        self.take(stream);
      },
      s);
}

void device_model::take(model_stream& s) {
  if (s.steps.front().kind == model_step::kind::copy) {
    m_copies.push_back(&s);
    start_copies();
    return;
  }
  model_device& d = *s.device;
  if (!d.kernels.free()) {
    d.waiting.push_back(&s);
    return;
  }
  ++d.kernels.in_use;
  d.busy_ns += s.steps.front().ns;
  at(
      s.steps.front().ns,
      [](void* who, std::uint64_t) {
        auto& stream = *static_cast<model_stream*>(who);
        stream.device->world->end(stream);
      },
      s);
}

void device_model::start_copies() {
  std::erase_if(m_copies, [&](model_stream* s) {
    const model_step& copy = s->steps.front();
    const path& over = m_paths[copy.link];
    for (std::uint32_t k = 0; k < over.count; ++k)
      if (!m_ports[over.needs[k]].free()) return false;
    for (std::uint32_t k = 0; k < over.count; ++k) ++m_ports[over.needs[k]].in_use;
    m_uses[copy.link].busy_ns += copy.ns;
    at(
        copy.ns,
        [](void* who, std::uint64_t) {
          auto& stream = *static_cast<model_stream*>(who);
          stream.device->world->end(stream);
        },
        *s);
    return true;
  });
}

void device_model::end(model_stream& s) {
  const schedule::virtual_clock::meter counted(clock);
  const model_step done = s.steps.front();
  s.steps.pop_front();
  s.busy = false;
  if (done.kind == model_step::kind::copy) {
    const path& over = m_paths[done.link];
    for (std::uint32_t k = 0; k < over.count; ++k) --m_ports[over.needs[k]].in_use;
    start_copies();
  } else {
    model_device& d = *s.device;
    --d.kernels.in_use;
    if (!d.waiting.empty()) {
      model_stream* const next = d.waiting.front();
      d.waiting.pop_front();
      take(*next);
    }
  }
  wake(s);
}

}  // namespace tessera::hierarchy
