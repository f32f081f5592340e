#pragma once
// OpenBLAS, loaded when a plugin that computes with it is opened.
#include <cblas.h>

#include <cstddef>
#include <string>

namespace tessera::kit {

/// The library's entries. It is loaded and not linked, because it starts its threads while it is loaded, one per
/// processor, each of which spins for 0.1 s: loaded by a thread that may use one processor only, it starts none. Never
/// unloaded.
class openblas {
 public:
  /// Loads it at the first call. Throws std::runtime_error with the linker's words, or with what is needed where a
  /// limit of addresses leaves no room for a buffer. Thread-safe.
  static const openblas& loaded();

  /// One call at a time of one thread. Under a limit of addresses (RLIMIT_AS, RLIMIT_DATA, or a system that promises no
  /// more than it has) OpenBLAS asks for a buffer again and again for ever when there is no room for one, so there run
  /// at most as many calls at a time as buffers were had when it was loaded; further ones wait. Without a limit:
  /// nothing.
  class call {
   public:
    call() : m_bounded(loaded().m_bounded) {
      if (m_bounded) enter();
    }
    ~call() {
      if (m_bounded) leave();
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    static void enter();
    static void leave();
    bool m_bounded;
  };

  decltype(&::cblas_sgemm) sgemm;
  decltype(&::cblas_dgemm) dgemm;
  decltype(&::cblas_cgemm) cgemm;
  decltype(&::cblas_zgemm) zgemm;
  decltype(&::cblas_sgemv) sgemv;
  decltype(&::cblas_dgemv) dgemv;
  decltype(&::cblas_saxpy) saxpy;
  decltype(&::cblas_daxpy) daxpy;
  decltype(&::cblas_caxpy) caxpy;
  decltype(&::cblas_zaxpy) zaxpy;
  decltype(&::cblas_sscal) sscal;
  decltype(&::cblas_dscal) dscal;
  decltype(&::cblas_cscal) cscal;
  decltype(&::cblas_zscal) zscal;
  decltype(&::cblas_sdot) sdot;
  decltype(&::cblas_ddot) ddot;
  decltype(&::cblas_cdotc_sub) cdotc_sub;
  decltype(&::cblas_zdotc_sub) zdotc_sub;
  decltype(&::cblas_snrm2) snrm2;
  decltype(&::cblas_dnrm2) dnrm2;
  decltype(&::cblas_scnrm2) scnrm2;
  decltype(&::cblas_dznrm2) dznrm2;
  decltype(&::cblas_ssyrk) ssyrk;
  decltype(&::cblas_dsyrk) dsyrk;
  decltype(&::cblas_csyrk) csyrk;
  decltype(&::cblas_zsyrk) zsyrk;
  decltype(&::cblas_strsm) strsm;
  decltype(&::cblas_dtrsm) dtrsm;
  decltype(&::cblas_ctrsm) ctrsm;
  decltype(&::cblas_ztrsm) ztrsm;
  /// LAPACK's entries in Fortran; the last argument is the hidden length of the character.
  template <class Element>
  using potrf = void(const char*, const int*, Element*, const int*, int*, std::size_t);
  potrf<float>* spotrf;
  potrf<double>* dpotrf;
  potrf<void>*cpotrf, *zpotrf;
  decltype(&::openblas_get_config) get_config;
  decltype(&::openblas_get_corename) get_corename;
  decltype(&::openblas_get_num_procs) get_num_procs;
  decltype(&::openblas_get_num_threads) get_num_threads;

  /// Sets the threads of one call. Throws std::runtime_error when a limit of addresses leaves no room for their
  /// buffers.
  void set_num_threads(int threads) const;

 private:
  openblas();
  static void take_buffers(unsigned processors);
  void* m_library = nullptr;
  decltype(&::openblas_set_num_threads) m_set_num_threads;
  bool m_bounded = false;
};

}  // namespace tessera::kit
