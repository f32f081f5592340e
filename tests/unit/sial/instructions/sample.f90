! A library of super instructions in Fortran that calls every procedure of the module; see library_test.cpp.
module sample
  use tessera_sial
  implicit none
  private
  public :: instructions
contains

  function ask(job, count, arguments) result(status) bind(c)
    type(sial_job), intent(in) :: job
    integer(c_int32_t), value :: count
    type(sial_argument), intent(in) :: arguments(count)
    integer(c_int32_t) :: status
    real(c_double), pointer :: to(:), as_matrix(:, :), values(:), one(:), other(:)
    integer(c_int64_t), pointer :: lengths(:), dims(:), whole_values(:)
    integer(c_int64_t) :: whole
    real(c_double) :: real_value
    to => sial_elements(arguments(1))
    to(1:3) = [count, job%worker, job%workers]
    if (sial_find_int(job, "NORB ", whole)) to(4) = real(whole, c_double)
    if (sial_find_int(job, "missing", whole)) to(5) = 1
    if (sial_find_scalar(job, "conv", real_value)) to(6) = real_value
    lengths => sial_segments(job, sial_moa)
    to(7) = size(lengths)
    to(8) = real(lengths(2), c_double)
    lengths => sial_segments(job, sial_la)
    if (associated(lengths)) to(9) = 1
    if (sial_find_float_array(job, "coords", dims, values)) to(10) = values(dims(1) + 1)
    if (sial_find_int_array(job, "atom", dims, whole_values)) to(11) = real(whole_values(size(whole_values)), c_double)
    if (sial_find_int_array(job, "coords", dims, whole_values)) to(12) = 1
    one => sial_scratch(job, -1_c_int64_t)
    if (.not. associated(one)) to(13) = 1
    one => sial_scratch(job, 1000_c_int64_t)
    other => sial_scratch(job, 10_c_int64_t)
    one = 1
    other = 2
    if (abs(sum(one) - 1000) < 0.5) to(14) = 1
    to(15) = real(arguments(1)%segments(1), c_double)
    to(16) = real(arguments(1)%offsets(2), c_double)
    to(17) = arguments(1)%kinds(2)
    to(18) = arguments(1)%intent
    to(19) = arguments(1)%whole
    to(20) = real(arguments(1)%elements, c_double)
    as_matrix => sial_matrix(arguments(1))
    as_matrix(3, 7) = size(as_matrix, 1)
    as_matrix(1, 8) = size(as_matrix, 2)
    to(23) = arguments(1)%rank / 2
    to(24) = arguments(1)%rank
    call sial_print(job, sial_name(arguments(1)))
    status = 0
  end function

  function complain(job, count, arguments) result(status) bind(c)
    type(sial_job), intent(in) :: job
    integer(c_int32_t), value :: count
    type(sial_argument), intent(in) :: arguments(count)
    integer(c_int32_t) :: status
    call sial_fail(job, "from Fortran")
    status = 1 + size(arguments)
  end function

  function instructions(version) result(table) bind(c, name="tessera_sial_instructions")
    integer(c_int32_t), value :: version
    type(c_ptr) :: table
    type(sial_table_builder), save, target :: mine
    table = c_null_ptr
    if (version /= sial_interface_version) return
    if (.not. mine%ready()) then
      call mine%add("fortran_ask", "w", c_funloc(ask))
      call mine%add("fortran_complain", "", c_funloc(complain), sial_thread_safe)
    end if
    table = mine%table("sample in Fortran")
  end function
end module
