#include "languages/sial/instructions/instruction_job.hpp"

#include <cstddef>
#include <limits>
#include <new>

#include "languages/sial/data/init_file.hpp"

namespace tessera::sial {

/// The entries of sial_job. Nothing is thrown through them.
struct job_functions {
  static instruction_job& of(const sial_job* job) { return *static_cast<instruction_job*>(job->context); }

  template <typename members>
  static const typename members::mapped_type* find(const members& all, const char* name) {
    if (name == nullptr) return nullptr;
    const auto found = all.find(in_lower_case(name));
    return found == all.end() ? nullptr : &found->second;
  }

  static std::int32_t find_int(const sial_job* job, const char* name, std::int64_t* out_value) try {
    const auto* const found = find(of(job).data().ints, name);
    if (found != nullptr && out_value != nullptr) *out_value = *found;
    return found != nullptr;
  } catch (...) {
    return 0;
  }

  static std::int32_t find_scalar(const sial_job* job, const char* name, double* out_value) try {
    const auto* const found = find(of(job).data().scalars, name);
    if (found != nullptr && out_value != nullptr) *out_value = *found;
    return found != nullptr;
  } catch (...) {
    return 0;
  }

  static std::int64_t segments(const sial_job* job, std::int32_t kind, const std::int64_t** out_lengths) {
    const bool known = kind >= SIAL_AO && kind <= SIAL_SUB;
    const auto& lengths = of(job).data().segments_of(known ? static_cast<index_kind>(kind) : index_kind::simple);
    if (!known || lengths.empty()) return 0;
    if (out_lengths != nullptr) *out_lengths = lengths.data();
    return static_cast<std::int64_t>(lengths.size());
  }

  template <typename members, typename view>
  static std::int32_t find_array(const members& all, const char* name, view* out_array) {
    const auto* const found = find(all, name);
    if (found != nullptr && out_array != nullptr)
      *out_array = {static_cast<std::int32_t>(found->dims.size()), found->dims.data(),
                    static_cast<std::int64_t>(found->values.size()), found->values.data()};
    return found != nullptr;
  }
  static std::int32_t find_float_array(const sial_job* job, const char* name, sial_float_array* out_array) try {
    return find_array(of(job).data().float_arrays, name, out_array);
  } catch (...) {
    return 0;
  }
  static std::int32_t find_int_array(const sial_job* job, const char* name, sial_int_array* out_array) try {
    return find_array(of(job).data().int_arrays, name, out_array);
  } catch (...) {
    return 0;
  }

  /// What the host throws goes on when the C function has returned.
  static void print(const sial_job* job, const char* text) try {
    if (text != nullptr) of(job).host().print(text);
  } catch (...) {
    of(job).m_thrown = std::current_exception();
  }

  static double* scratch(const sial_job* job, std::int64_t elements) { return of(job).scratch(elements); }

  static void fail(const sial_job* job, const char* message) noexcept try {
    of(job).m_failure = message == nullptr ? "" : message;
  } catch (...) {
    of(job).m_failure.clear();
  }
};

static_assert(SIAL_AO == static_cast<int>(index_kind::ao) && SIAL_MO == static_cast<int>(index_kind::mo) &&
              SIAL_MOA == static_cast<int>(index_kind::moa) && SIAL_MOB == static_cast<int>(index_kind::mob) &&
              SIAL_SIMPLE == static_cast<int>(index_kind::simple) && SIAL_LA == static_cast<int>(index_kind::la) &&
              SIAL_SUB == static_cast<int>(index_kind::sub) && SIAL_MAX_RANK == max_array_rank);

instruction_job::instruction_job(const init_data& data, std::int32_t worker, std::int32_t workers,
                                 instruction_host& host)
    : m_data(data), m_host(host) {
  using f = job_functions;
  m_table = {sizeof(sial_job),
             SIAL_INTERFACE_VERSION,
             this,
             worker,
             workers,
             f::find_int,
             f::find_scalar,
             f::segments,
             f::find_float_array,
             f::find_int_array,
             f::print,
             f::scratch,
             f::fail};
}

void instruction_job::rethrow() {
  if (m_thrown) std::rethrow_exception(std::exchange(m_thrown, nullptr));
}

double* instruction_job::scratch(std::int64_t elements) noexcept try {
  constexpr std::int64_t most = std::numeric_limits<std::ptrdiff_t>::max() / static_cast<std::int64_t>(sizeof(double));
  if (elements < 0 || elements > most) return nullptr;
  m_scratch.emplace_back(new double[static_cast<std::size_t>(elements == 0 ? 1 : elements)]);
  return m_scratch.back().get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace tessera::sial
