#include "languages/sial/exchange/socket_exchange.hpp"

#include <unistd.h>

#include <utility>

#include "core/base/exception_text.hpp"
#include "languages/sial/exchange/failure.hpp"
#include "languages/sial/exchange/remote_generation.hpp"

namespace tessera::sial {
namespace {

/// Iterations that the hub shares out.
class remote_loop final : public loop_scheduler {
 public:
  remote_loop(socket_exchange& of, std::uint64_t sequence, std::uint32_t pardo, std::int64_t candidates,
              unsigned workers)
      : loop_scheduler(pardo, candidates, workers, false), m_of(of), m_sequence(static_cast<std::int64_t>(sequence)) {}
  std::pair<std::int64_t, std::int64_t> take(unsigned) override {
    const hub_message got = m_of.ask({.kind = hub_message::what::chunk, .words = {m_sequence, pardo(), candidates()}});
    return {got.words[0], got.words[1]};
  }

 private:
  socket_exchange& m_of;
  const std::int64_t m_sequence;
};

}  // namespace

socket_exchange::socket_exchange(runtime& of, int socket, unsigned worker, unsigned workers, bool deterministic)
    : exchange(workers, worker, 1, deterministic),
      m_runtime(of),
      m_socket(socket),
      m_link(std::make_shared<socket_exchange*>(this)) {}

socket_exchange::~socket_exchange() {
  *m_link = nullptr;
  ::close(m_socket);
}

bool socket_exchange::send(const hub_message& what) {
  const std::lock_guard one_at_a_time(m_sending);
  return send_message(m_socket, what);
}

hub_message socket_exchange::ask(const hub_message& what) {
  const std::lock_guard guard(m_asking);
  hub_message got;
  const runtime::waiting_elsewhere asleep(m_runtime);  // for who waits for room: this thread makes none meanwhile
  if (!send(what) || !receive_message(m_socket, got)) {
    m_failed = true;
    throw run_error("the hub of the run is gone", "its process has ended");
  }
  if (got.kind == hub_message::what::given_up) {
    m_failed = true;
    throw given_up();
  }
  if (got.kind == hub_message::what::refused)
    throw run_error(std::string(got.text.begin(), got.text.end()),
                    "all workers must reach the same barriers and pardos, in the same order");
  return got;
}

void socket_exchange::tell(const hub_message& what) noexcept { (void)send(what); }

void socket_exchange::fail(std::exception_ptr why) {
  hub_message told{.kind = hub_message::what::fail};
  std::string text = "an exception that says nothing";
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    text = text_of(e);
  } catch (...) {
  }
  told.text.assign(text.begin(), text.end());
  {
    const std::lock_guard guard(m_mutex);
    if (!m_failure) m_failure = std::move(why);
    m_failed = true;
  }
  tell(told);
}

std::exception_ptr socket_exchange::failure() const {
  const std::lock_guard guard(m_mutex);
  return m_failure;
}

void socket_exchange::leave() {
  const std::lock_guard guard(m_asking);
  hub_message got;
  const bool answered = send({.kind = hub_message::what::leave}) && receive_message(m_socket, got);
  if (answered && got.kind != hub_message::what::given_up) return;
  const std::lock_guard of_failure(m_mutex);
  if (m_failure != nullptr) return;
  m_failed = true;
  m_failure = std::make_exception_ptr(
      answered ? run_error("another worker has failed: " + std::string(got.text.begin(), got.text.end()))
               : run_error("the hub of the run is gone", "its process has ended"));
}

std::vector<double> socket_exchange::collect(std::uint32_t site, std::vector<double> values) {
  hub_message what{.kind = hub_message::what::collect, .words = {site}};
  what.values = std::move(values);
  std::vector<double> all = ask(what).values;
  ++m_section;
  return all;
}

void socket_exchange::barrier(std::uint32_t site, const std::function<void()>& last) {
  (void)collect(site, {});
  if (last) last();
}

double socket_exchange::sum(unsigned, std::uint32_t site, double value) {
  double sum = 0;
  for (const double v : collect(site, {value})) sum += v;
  return sum;
}

double socket_exchange::of_first(unsigned, std::uint32_t site, double value) { return collect(site, {value})[0]; }

void socket_exchange::broadcast(unsigned worker, std::uint32_t site, unsigned from, std::vector<double>& values) {
  values = collect(site, worker == from ? std::move(values) : std::vector<double>());
}

std::shared_ptr<loop_scheduler> socket_exchange::schedule(std::uint64_t sequence, std::uint32_t pardo,
                                                          std::int64_t candidates) {
  auto loop = std::make_shared<remote_loop>(*this, sequence, pardo, candidates, size());
  const std::lock_guard guard(m_mutex);
  m_latest = loop;
  return loop;
}

std::shared_ptr<const loop_scheduler> socket_exchange::latest() const {
  const std::lock_guard guard(m_mutex);
  return m_latest;
}

std::shared_ptr<array_generation> socket_exchange::make_array(const std::string& name, std::vector<std::int64_t> counts,
                                                              std::shared_ptr<array_generation> base) {
  const auto* const below = dynamic_cast<const remote_generation*>(base.get());
  if (base != nullptr && below == nullptr)
    throw run_error("array '" + name + "' was kept in the memory of one process, and the workers are several",
                    "restart this job with the workers of one process");
  const std::int64_t number = m_arrays++;
  (void)ask({.kind = hub_message::what::declare,
             .words = {number, below != nullptr ? below->number() : hub_message::no_array}});
  auto made = std::make_shared<remote_generation>(*this, m_runtime, number, name, std::move(counts));
  made->set_base(std::move(base));
  return made;
}

}  // namespace tessera::sial
