// Memory of one device of a plugin is none of another's.
#include <functional>
#include <string>

#include "tests/conformance/suite/numbers.hpp"
#include "tests/conformance/suite/watch.hpp"

namespace tessera::conformance {
namespace {

constexpr std::uint64_t bytes = 256;

/// Calls of device `on` that are given memory of another one.
class stranger {
 public:
  stranger(const device& on, const device& owner, const buffer& memory)
      : m_on(on),
        m_words(fmt::format("of device {} with memory of device {}", on.name(), owner.name())),
        m_memory(memory),
        m_stream(on),
        m_own(on, compute_space(on), bytes) {}

  void copies() {
    std::vector<unsigned char> host(bytes, 0xee);
    const tsr_space_ref said = m_own.where();  // the copy says that the memory is the device's own
    for (const tsr_copy& copy : {plain_copy(said, m_memory.at(0), host_space, host_address(host.data()), bytes),
                                 plain_copy(host_space, host_address(host.data()), said, m_memory.at(0), bytes)})
      refused("copy", TSR_INVALID_ARGUMENT, [&] { return m_on.table().copy(m_on.handle(), m_stream.handle(), &copy); });
  }
  void fills() {
    const unsigned char pattern = 0xee;
    if (m_on.table().fill == nullptr) return;
    refused("fill", TSR_INVALID_ARGUMENT,
            [&] { return m_on.table().fill(m_on.handle(), m_stream.handle(), m_memory.at(0), &pattern, 1, bytes); });
  }
  template <class T>
  void vectors() {
    const tsr_blas_table* const blas = m_on.blas();
    if (blas == nullptr) return;
    const T one(1);
    tsr_vector_operation v{};
    v.struct_size = sizeof v;
    v.type = number<T>::type;
    v.n = 4, v.incx = v.incy = 1;
    v.alpha = &one;
    v.x = m_own.at(0), v.y = m_memory.at(0);
    if (blas->supports(m_on.handle(), TSR_BLAS_AXPY, v.type))
      refused("axpy", TSR_INVALID_ARGUMENT, [&] { return blas->axpy(m_on.handle(), m_stream.handle(), &v); });
    v.x = m_memory.at(0);
    if (blas->supports(m_on.handle(), TSR_BLAS_SCAL, v.type))
      refused("scal", TSR_INVALID_ARGUMENT, [&] { return blas->scal(m_on.handle(), m_stream.handle(), &v); });
  }
  template <class T>
  void products() {
    const tsr_blas_table* const blas = m_on.blas();
    if (blas == nullptr || !blas->supports(m_on.handle(), TSR_BLAS_GEMM, number<T>::type)) return;
    const T one(1);
    tsr_gemm g{};
    g.struct_size = sizeof g;
    g.type = number<T>::type;
    g.m = g.n = g.k = g.lda = g.ldb = g.ldc = 2;
    g.alpha = g.beta = &one;
    g.a = m_own.at(0), g.b = m_own.at(64), g.c = m_memory.at(0);
    g.batch = 1;
    refused("gemm", TSR_INVALID_ARGUMENT, [&] { return blas->gemm(m_on.handle(), m_stream.handle(), &g); });
  }
  void frees() {
    refused("mem_free", TSR_INVALID_ARGUMENT, [&] { return m_on.table().mem_free(m_on.handle(), m_memory.memory()); });
  }

 private:
  void refused(const char* entry, tsr_status wanted, const std::function<tsr_status()>& call) {
    const std::string words = fmt::format("{} {}", entry, m_words);
    now_trying(words.c_str());
    plugin::take_error_details();
    const tsr_status got = call();
    m_stream.finish();
    now_trying("");
    expect_status(got, wanted, words);
  }

  const device& m_on;
  const std::string m_words;
  const buffer& m_memory;
  queue m_stream;
  buffer m_own;
};

void memory_of_another_device(const subject& what) {
  const opened all(what);
  if (all.devices.size() < 2) skip("the plugin has one device: where it can have two, an --option asks for them");
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    const device &on = *all.devices[i], &owner = *all.devices[(i + 1) % all.devices.size()];
    if (allocatable(on, bytes) < bytes || allocatable(owner, bytes) < bytes || copyable(on, bytes) < bytes)
      throw beyond_limits(fmt::format("it takes allocations and copies of {} bytes", bytes));
    const std::vector<unsigned char> given(bytes, 0x11);
    const buffer memory = uploaded(queue(owner), compute_space(owner), given);
    {
      stranger asks(on, owner, memory);
      asks.copies();
      asks.fills();
      asks.vectors<double>();
      asks.vectors<float>();
      asks.products<double>();
      asks.products<float>();
      asks.frees();  // last: where it is done, nothing of the memory may be used
    }
    expect(downloaded<unsigned char>(queue(owner), memory, bytes) == given,
           "calls of device {} with memory of device {} are refused, and change it all the same", on.name(),
           owner.name());
  }
}

}  // namespace

std::vector<check> foreign_memory_checks() { return {{"failure.memory_of_another_device", memory_of_another_device}}; }

}  // namespace tessera::conformance
