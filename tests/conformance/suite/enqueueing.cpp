// What an enqueueing call does before it returns and what it leaves for later: arguments are read, nothing is waited
// for, a refused call enqueues nothing, and what was enqueued is done however the stream ends.
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <type_traits>

#include "tests/conformance/suite/held_work.hpp"
#include "tests/conformance/suite/numbers.hpp"

namespace tessera::conformance {
namespace {

constexpr std::int64_t order = 4, elements = order * order;

/// What a call is given by pointers, in memory that is overwritten as soon as it has returned.
template <class T>
struct given {
  T alpha = T(2), beta = T(3);
  std::array<tsr_address, 2> a{}, b{}, c{};
  std::array<std::int64_t, 2> extents{order, order};
  std::array<std::int32_t, 2> modes_a{0, 1}, modes_b{1, 2}, modes_c{0, 2};
  tsr_gemm gemm{};
  tsr_syrk syrk{};
  tsr_trsm trsm{};
  tsr_vector_operation vector{};
  tsr_permute permute{};
  tsr_contract contract{};
};

/// Three operands of two matrices each, and room for what tables ask as a workspace.
template <class T>
struct operands {
  operands(const queue& on)
      : stream(on),
        space(compute_space(on.owner())),
        a(on.owner(), space, bytes),
        b(on.owner(), space, bytes),
        c(on.owner(), space, bytes),
        decoy(on.owner(), space, bytes) {}
  /// Small integers, so that every order of summation gives the same bits; a has a unit triangle.
  void reset() {
    std::vector<T> values(2 * elements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = T(static_cast<typename number<T>::real>(1 + i % 5));
    for (const buffer* to : {&a, &b, &c, &decoy}) upload(stream, *to, values.data(), bytes);
  }
  std::vector<T> result() const { return downloaded<T>(stream, c, 2 * elements); }

  static constexpr std::uint64_t bytes = 2 * elements * sizeof(T), matrix = elements * sizeof(T);
  const queue& stream;
  std::uint32_t space;
  buffer a, b, c, decoy;
};

/// One operation: its name, and a call of it whose pointers are to `from`.
template <class T>
struct operation {
  const char* name;
  std::function<tsr_status(given<T>& from)> call;
};

template <class T>
void fill_gemm(const operands<T>& with, given<T>& from) {
  tsr_gemm& g = from.gemm;
  g.struct_size = sizeof g;
  g.type = number<T>::type;
  g.m = g.n = g.k = g.lda = g.ldb = g.ldc = order;
  g.alpha = &from.alpha, g.beta = &from.beta;
  g.a = with.a.at(0), g.b = with.b.at(0), g.c = with.c.at(0);
  g.batch = 2;
  g.stride_a = g.stride_b = g.stride_c = static_cast<std::int64_t>(with.matrix);
  for (std::size_t i = 0; i < 2; ++i)
    from.a[i] = with.a.at(i * with.matrix), from.b[i] = with.b.at(i * with.matrix),
    from.c[i] = with.c.at(i * with.matrix);
  g.a_array = from.a.data(), g.b_array = from.b.data(), g.c_array = from.c.data();
}

template <class T>
void add_blas(std::vector<operation<T>>& all, const operands<T>& with) {
  const device& device = with.stream.owner();
  const tsr_blas_table* const blas = device.blas();
  tsr_device* const handle = device.handle();
  tsr_stream* const stream = with.stream.handle();
  if (blas == nullptr) return;
  const auto add = [&](tsr_blas_operation op, const char* name, std::function<tsr_status(given<T>&)> call) {
    if (blas->supports(handle, op, number<T>::type)) all.push_back({name, std::move(call)});
  };
  using call_of_gemm = tsr_status (*)(tsr_device*, tsr_stream*, const tsr_gemm*);
  const auto gemm = [&with, handle, stream](call_of_gemm call) {
    return [&with, handle, stream, call](given<T>& from) {
      fill_gemm(with, from);
      return call(handle, stream, &from.gemm);
    };
  };
  add(TSR_BLAS_GEMM, "gemm", gemm(blas->gemm));
  add(TSR_BLAS_GEMM_STRIDED, "gemm_strided", gemm(blas->gemm_strided));
  add(TSR_BLAS_GEMM_BATCHED, "gemm_batched", gemm(blas->gemm_batched));
  using call_of_vector = tsr_status (*)(tsr_device*, tsr_stream*, const tsr_vector_operation*);
  const auto vector = [&with, handle, stream](call_of_vector call, bool in_place) {
    return [&with, handle, stream, call, in_place](given<T>& from) {
      tsr_vector_operation& v = from.vector;
      v.struct_size = sizeof v;
      v.type = number<T>::type;
      v.n = elements, v.incx = v.incy = 1;
      v.alpha = &from.alpha;
      v.x = in_place ? with.c.at(0) : with.a.at(0), v.y = with.c.at(0);
      return call(handle, stream, &v);
    };
  };
  add(TSR_BLAS_AXPY, "axpy", vector(blas->axpy, false));
  add(TSR_BLAS_SCAL, "scal", vector(blas->scal, true));
  add(TSR_BLAS_SYRK, "syrk", [&with, blas, handle, stream](given<T>& from) {
    tsr_syrk& s = from.syrk;
    s.struct_size = sizeof s;
    s.type = number<T>::type;
    s.n = s.k = s.lda = s.ldc = order;
    s.alpha = &from.alpha, s.beta = &from.beta;
    s.a = with.a.at(0), s.c = with.c.at(0);
    return blas->syrk(handle, stream, &s);
  });
  add(TSR_BLAS_TRSM, "trsm", [&with, blas, handle, stream](given<T>& from) {
    tsr_trsm& t = from.trsm;
    t.struct_size = sizeof t;
    t.type = number<T>::type;
    t.unit_diagonal = true;
    t.m = t.n = t.lda = t.ldb = order;
    t.alpha = &from.alpha;
    t.a = with.a.at(0), t.b = with.c.at(0);
    return blas->trsm(handle, stream, &t);
  });
}

template <class T>
void add_tensor(std::vector<operation<T>>& all, const operands<T>& with, const std::optional<buffer>& workspace) {
  const device& device = with.stream.owner();
  const tsr_tensor_table* const tensor = device.tensor();
  tsr_device* const handle = device.handle();
  tsr_stream* const stream = with.stream.handle();
  if (tensor == nullptr) return;
  const auto add = [&](tsr_tensor_operation op, bool there, const char* name,
                       std::function<tsr_status(given<T>&)> call) {
    if (there && tensor->supports(handle, op, number<T>::type)) all.push_back({name, std::move(call)});
  };
  const tsr_workspace room = workspace ? tsr_workspace{workspace->at(0), workspace->bytes()} : tsr_workspace{};
  add(TSR_TENSOR_PERMUTE, tensor->permute != nullptr, "permute", [&with, tensor, handle, stream, room](given<T>& from) {
    tsr_permute& p = from.permute;
    p.struct_size = sizeof p;
    p.type = number<T>::type;
    p.rank = 2;
    p.extents[0] = p.extents[1] = order;
    p.permutation[0] = 1, p.permutation[1] = 0;
    p.alpha = &from.alpha, p.beta = &from.beta;
    p.source = with.a.at(0), p.destination = with.c.at(0);
    p.workspace = room;
    return tensor->permute(handle, stream, &p);
  });
  add(TSR_TENSOR_REDUCE_ADD, tensor->reduce_add != nullptr, "reduce_add",
      [&with, tensor, handle, stream](given<T>& from) {
        from.a = {with.a.at(0), with.b.at(0)};
        return tensor->reduce_add(handle, stream, number<T>::type, elements, with.c.at(0), from.a.data(), 2);
      });
  add(TSR_TENSOR_FILL, tensor->fill != nullptr, "TENSOR fill", [&with, tensor, handle, stream](given<T>& from) {
    return tensor->fill(handle, stream, number<T>::type, elements, with.c.at(0), &from.alpha);
  });
  add(TSR_TENSOR_CONTRACT, tensor->contract != nullptr, "contract",
      [&with, tensor, handle, stream, room](given<T>& from) {
        return tensor->contract(handle, stream, number<T>::type, &from.alpha, &from.beta, with.a.at(0), 2,
                                from.extents.data(), from.modes_a.data(), with.b.at(0), 2, from.extents.data(),
                                from.modes_b.data(), with.c.at(0), 2, from.modes_c.data(), room);
      });
  add(TSR_TENSOR_CONTRACT, tensor->contract_batched != nullptr, "contract_batched",
      [&with, tensor, handle, stream, room](given<T>& from) {
        tsr_contract& k = from.contract;
        k.struct_size = sizeof k;
        k.type = number<T>::type;
        k.rank_a = k.rank_b = k.rank_c = 2;
        for (std::size_t d = 0; d < 2; ++d) {
          k.extents_a[d] = k.extents_b[d] = order;
          k.modes_a[d] = from.modes_a[d], k.modes_b[d] = from.modes_b[d], k.modes_c[d] = from.modes_c[d];
        }
        k.alpha = &from.alpha, k.beta = &from.beta;
        k.batch = 2;
        for (std::size_t i = 0; i < 2; ++i)
          from.a[i] = with.a.at(i * with.matrix), from.b[i] = with.b.at(i * with.matrix),
          from.c[i] = with.c.at(i * with.matrix);
        k.a_array = from.a.data(), k.b_array = from.b.data(), k.c_array = from.c.data();
        k.workspace = room;
        return tensor->contract_batched(handle, stream, &k);
      });
}

/// A sparse matrix of order x order on the device, for as long as its products are tried; none where the device makes
/// none of the type.
template <class T>
class sparse_matrix {
 public:
  explicit sparse_matrix(const operands<T>& with) : m_device(with.stream.owner()) {
    const tsr_sparse_table* const table = m_device.sparse();
    if (table == nullptr || !table->supports(m_device.handle(), TSR_SPARSE_SPMM, number<T>::type)) return;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> columns;
    std::vector<T> values;
    for (std::int64_t row = 0; row < order; ++row) {  // the diagonal, and what is right of it
      for (const std::int64_t column : {row, (row + 1) % order})
        columns.push_back(static_cast<std::int32_t>(column)), values.push_back(T(2));
      starts.push_back(static_cast<std::int64_t>(columns.size()));
    }
    m_starts.emplace(uploaded(with.stream, with.space, starts));
    m_columns.emplace(uploaded(with.stream, with.space, columns));
    m_values.emplace(uploaded(with.stream, with.space, values));
    tsr_csr csr{};
    csr.struct_size = sizeof csr;
    csr.type = number<T>::type;
    csr.rows = csr.columns = order, csr.nonzeros = static_cast<std::int64_t>(columns.size());
    csr.row_starts = m_starts->at(0), csr.column_indices = m_columns->at(0), csr.values = m_values->at(0);
    expect_ok(table->create_csr(m_device.handle(), &csr, &m_handle), "create_csr");
  }
  ~sparse_matrix() {
    if (m_handle != nullptr) m_device.sparse()->destroy(m_device.handle(), m_handle);
  }
  sparse_matrix(const sparse_matrix&) = delete;
  sparse_matrix& operator=(const sparse_matrix&) = delete;
  tsr_sparse* handle() const { return m_handle; }

 private:
  const device& m_device;
  std::optional<buffer> m_starts, m_columns, m_values;
  tsr_sparse* m_handle = nullptr;
};

template <class T>
void add_sparse(std::vector<operation<T>>& all, const operands<T>& with, const sparse_matrix<T>& matrix) {
  if (matrix.handle() == nullptr) return;
  const device& device = with.stream.owner();
  const auto add = [&](tsr_sparse_operation op, tsr_transpose transpose, const char* name) {
    if (!device.sparse()->supports(device.handle(), op, number<T>::type)) return;
    all.push_back({name, [&with, &device, transpose, handle = matrix.handle()](given<T>& from) {
                     return device.sparse()->spmm(device.handle(), with.stream.handle(), transpose, &from.alpha, handle,
                                                  with.a.at(0), order, order, &from.beta, with.c.at(0), order, {});
                   }});
  };
  add(TSR_SPARSE_SPMM, TSR_NO_TRANSPOSE, "spmm");
  add(TSR_SPARSE_SPMM_TRANSPOSED, TSR_TRANSPOSE, "spmm, transposed,");
}

/// The bytes that contractions of `order`, one or two, ask for.
template <class T>
std::optional<buffer> workspace_of(const operands<T>& with) {
  const device& device = with.stream.owner();
  const tsr_tensor_table* const tensor = device.tensor();
  if (tensor == nullptr || tensor->workspace == nullptr ||
      !tensor->supports(device.handle(), TSR_TENSOR_CONTRACT, number<T>::type))
    return std::nullopt;
  std::uint64_t most = 0;
  for (const std::int64_t batch : {1, 2}) {
    tsr_contract k{};
    k.struct_size = sizeof k;
    k.type = number<T>::type;
    k.rank_a = k.rank_b = k.rank_c = 2;
    const given<T> labels;
    for (std::size_t d = 0; d < 2; ++d) {
      k.extents_a[d] = k.extents_b[d] = order;
      k.modes_a[d] = labels.modes_a[d], k.modes_b[d] = labels.modes_b[d], k.modes_c[d] = labels.modes_c[d];
    }
    k.batch = batch;
    std::uint64_t bytes = 0;
    expect_ok(tensor->workspace(device.handle(), TSR_TENSOR_CONTRACT, &k, &bytes), "workspace");
    most = std::max(most, bytes);
  }
  return most == 0 ? std::nullopt : std::optional<buffer>(std::in_place, device, with.space, most);
}

/// Overwrites what a call was given: scalars with others, addresses with those of other memory, all else with zeros.
template <class T>
void wipe(given<T>& from, const operands<T>& with) {
  const T other = T(77);
  from = {};
  from.alpha = from.beta = other;
  from.a = from.b = from.c = {with.decoy.at(0), with.decoy.at(0)};
  from.extents = {1, 1};
  from.modes_a = from.modes_b = from.modes_c = {5, 6};
}

/// Runs `look(operation, operands, how)` for every operation of a type that each device offers; the plugin's libraries
/// have been called once before. `how` work is held back on it: devices whose work is done inside the calls are left
/// out. False: no device offers one.
template <class Look>
bool each_operation(const opened& all, Look&& look) {
  bool any = false;
  for_each_device(all, [&](const device& device) {
    const hold how = hold_of(queue(device));
    for_each_number([&](auto zero) {
      using T = decltype(zero);
      const queue stream(device);
      operands<T> with(stream);
      const std::optional<buffer> workspace = workspace_of(with);
      const sparse_matrix<T> matrix(with);
      std::vector<operation<T>> operations;
      add_blas(operations, with);
      add_tensor(operations, with, workspace);
      add_sparse(operations, with, matrix);
      any = any || !operations.empty();
      if (how == hold::nothing) return;
      for (const operation<T>& one : operations) {
        with.reset();
        const auto first = std::make_unique<given<T>>();
        expect_ok(one.call(*first), one.name);
        stream.finish();
        look(one, with, how);
      }
    });
  });
  return any;
}

void arguments_are_read_at_once(const subject& what) {
  const opened all(what);
  bool held = false;
  const bool any = each_operation(all, [&](const auto& one, auto& with, hold how) {
    using T = typename std::remove_cvref_t<decltype(with.result())>::value_type;
    const std::vector<T> wanted = with.result();
    with.reset();
    const auto passed = std::make_unique<given<T>>();
    {
      held_work before(with.stream, how);
      expect_ok(one.call(*passed), one.name);
      wipe(*passed, with);
      held = held || before.holds();
    }
    with.stream.finish();
    expect(with.result() == wanted,
           "{} of {} gives another result when its struct, scalars and lists are overwritten after the call: they are "
           "read before it returns",
           one.name, number<T>::name);
  });
  if (!any) skip("neither BLAS nor TENSOR nor SPARSE is offered");
  if (!held) skip("the work is done inside the calls");
}

void patterns_are_read_at_once(const subject& what) {
  const opened all(what);
  bool offered = false, held = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().fill == nullptr) return;
    offered = true;
    const queue stream(device);
    const hold how = hold_of(stream);
    if (how == hold::nothing) return;
    const buffer memory(device, compute_space(device), 64);
    for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u}) {
      std::vector<unsigned char> pattern(width, 0x5a);
      {
        held_work before(stream, how);
        expect_ok(
            device.table().fill(device.handle(), stream.handle(), memory.at(0), pattern.data(), width, 64 / width),
            "fill");
        std::fill(pattern.begin(), pattern.end(), static_cast<unsigned char>(0xa5));
        held = held || before.holds();
      }
      stream.finish();
      expect(downloaded<unsigned char>(stream, memory, 64) == std::vector<unsigned char>(64, 0x5a),
             "fill with {} bytes writes what stands in the pattern after the call: it is read before it returns",
             width);
    }
  });
  if (!offered) skip("fill is not offered");
  if (!held) skip("the work is done inside the call");
}

/// Whether `call` comes back while work behind which it stands, or which it has nothing to do with, still waits. Five
/// tries, behind ever longer rows where there is no gate. Empty: nothing could be held back.
std::optional<bool> returns_before(const queue& stream, hold how, const std::function<void()>& call) {
  if (how == hold::nothing) return std::nullopt;
  bool held = false;
  for (int copies = 64; copies <= 1024; copies *= 2) {
    held_work before(stream, how, copies);
    if (!before.holds()) continue;
    held = true;
    call();
    if (before.is_gate() ? !before.ran_out() : before.holds()) return true;
    if (before.is_gate()) return false;
  }
  return held ? std::optional<bool>(false) : std::nullopt;
}

void operations_do_not_wait(const subject& what) {
  const opened all(what);
  bool held = false;
  const bool any = each_operation(all, [&](const auto& one, auto& with, hold how) {
    using T = typename std::remove_cvref_t<decltype(with.result())>::value_type;
    with.reset();
    const auto passed = std::make_unique<given<T>>();
    const std::optional<bool> returned =
        returns_before(with.stream, how, [&] { expect_ok(one.call(*passed), one.name); });
    with.stream.finish();
    held = held || returned.has_value();
    expect(
        returned.value_or(true),
        "{} of {} returns only when the work before it on its stream has finished: it enqueues, and waits for nothing",
        one.name, number<T>::name);
  });
  if (!any) skip("neither BLAS nor TENSOR nor SPARSE is offered");
  if (!held) skip("the work is done inside the calls");
}

void allocation_waits_for_no_work(const subject& what) {
  const opened all(what);
  bool held = false;
  for_each_device(all, [&](const device& device) {
    const queue stream(device);
    { const buffer warm(device, compute_space(device), 4096); }
    const std::optional<bool> returned =
        returns_before(stream, hold_of(stream), [&] { const buffer memory(device, compute_space(device), 4096); });
    held = held || returned.has_value();
    expect(returned.value_or(true),
           "mem_alloc and mem_free return only when work that was enqueued before has finished");
  });
  if (!held) skip("the work is done inside the calls");
}

/// A callback comes when the work before it has finished, and not before.
void callbacks_wait_for_work(const subject& what) {
  const opened all(what);
  bool held = false;
  for_each_device(all, [&](const device& device) {
    if (device.table().stream_callback == nullptr) return;
    const queue stream(device);
    const hold how = hold_of(stream);
    if (how == hold::nothing) return;
    std::atomic<int> calls{0};
    {
      held_work work(stream, how);
      const auto count = [](void* n) { ++*static_cast<std::atomic<int>*>(n); };
      expect_ok(device.table().stream_callback(device.handle(), stream.handle(), count, &calls), "stream_callback");
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      while (work.holds() && std::chrono::steady_clock::now() < until) {
        const int seen = calls.load();
        if (!work.holds()) break;
        held = true;
        expect(seen == 0, "stream_callback calls while work that was enqueued before has not finished");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    wait_until([&] { return calls == 1; }, "the callback");
  });
  if (!held) skip("stream_callback is not offered, or the work is done inside the calls");
}

/// stream_destroy waits for the stream's work and does all of it.
void destroyed_streams_finish_their_work(const subject& what) {
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    auto random = what.generator();
    constexpr int copies = 32;
    const auto bytes = random_bytes(random, allocatable(device, copyable(device, 70000)));
    const buffer memory(device, compute_space(device), bytes.size());
    {
      const queue in(device);
      upload(in, memory, bytes.data(), bytes.size());
    }
    std::vector<std::vector<unsigned char>> back(copies, std::vector<unsigned char>(bytes.size()));
    {
      const queue stream(device);
      for (auto& to : back) {
        const tsr_copy out =
            plain_copy(host_space, host_address(to.data()), memory.where(), memory.at(0), bytes.size());
        expect_ok(device.table().copy(device.handle(), stream.handle(), &out), "copy");
      }
    }
    for (int i = 0; i < copies; ++i)
      expect(back[static_cast<std::size_t>(i)] == bytes,
             "copy {} of {} was not done when stream_destroy returned: it waits for the stream's work, and drops none",
             i + 1, copies);
  });
}

/// A batch of which one member is wrong is refused as a whole.
void refused_batches_enqueue_nothing(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    using T = double;
    const queue stream(device);
    operands<T> with(stream);
    const std::optional<buffer> workspace = workspace_of(with);
    const auto refused = [&](const char* name, const std::function<tsr_status(given<T>&)>& call) {
      tried = true;
      with.reset();
      const std::vector<T> before = with.result();
      given<T> from;
      expect_status(call(from), TSR_OUT_OF_RANGE, fmt::format("{} whose last address is beyond its allocation", name));
      stream.finish();
      expect(with.result() == before,
             "{} is refused, and part of it is done all the same: a refused call enqueues nothing", name);
    };
    const tsr_address beyond = with.c.at(with.bytes - sizeof(T));
    if (const tsr_blas_table* blas = device.blas();
        blas != nullptr && blas->supports(device.handle(), TSR_BLAS_GEMM_BATCHED, TSR_F64))
      refused("gemm_batched", [&](given<T>& from) {
        fill_gemm(with, from);
        from.c[1] = beyond;
        return blas->gemm_batched(device.handle(), stream.handle(), &from.gemm);
      });
    const tsr_tensor_table* tensor = device.tensor();
    if (tensor == nullptr) return;
    std::vector<operation<T>> operations;
    add_tensor(operations, with, workspace);
    for (const operation<T>& one : operations)
      if (std::string_view(one.name) == "contract_batched")
        refused(one.name, [&](given<T>& from) {
          one.call(from);  // fills the struct; what it does is undone below
          stream.finish();
          with.reset();
          from.c[1] = beyond;
          return tensor->contract_batched(device.handle(), stream.handle(), &from.contract);
        });
    if (tensor->reduce_add != nullptr && tensor->supports(device.handle(), TSR_TENSOR_REDUCE_ADD, TSR_F64))
      refused("reduce_add", [&](given<T>& from) {
        from.a = {with.a.at(0), with.b.at(with.bytes - sizeof(T))};
        return tensor->reduce_add(device.handle(), stream.handle(), TSR_F64, elements, with.c.at(0), from.a.data(), 2);
      });
  });
  if (!tried) skip("the plugin has no batches");
}

}  // namespace

std::vector<check> enqueueing_checks() {
  return {{"enqueueing.arguments_are_read_at_once", arguments_are_read_at_once},
          {"enqueueing.patterns_are_read_at_once", patterns_are_read_at_once},
          {"enqueueing.operations_do_not_wait", operations_do_not_wait},
          {"enqueueing.allocation_waits_for_no_work", allocation_waits_for_no_work},
          {"enqueueing.callbacks_wait_for_work", callbacks_wait_for_work},
          {"enqueueing.destroyed_streams_finish_their_work", destroyed_streams_finish_their_work},
          {"enqueueing.refused_batches_enqueue_nothing", refused_batches_enqueue_nothing}};
}

}  // namespace tessera::conformance
