! A super instruction in Fortran: `special my_normalize uw`. Columns of a matrix get length 1; the scalar, how many there were
! that are not zero.
module normalize
  use tessera_sial
  implicit none
  private
  public :: instructions
contains

  function my_normalize(job, count, arguments) result(status) bind(c)
    type(sial_job), intent(in) :: job
    integer(c_int32_t), value :: count
    type(sial_argument), intent(in) :: arguments(count)
    integer(c_int32_t) :: status
    real(c_double), pointer :: x(:, :), found(:)
    real(c_double) :: length, min_length
    integer :: j
    if (arguments(1)%rank /= 2) then
      call sial_fail(job, sial_name(arguments(1)) // " is no matrix")
      status = 1
      return
    end if
    x => sial_matrix(arguments(1))
    found => sial_elements(arguments(2))
    found = 0
    min_length = 0
    if (.not. sial_find_scalar(job, "min_length", min_length)) call sial_print(job, "my_normalize: no min_length, 0 is used")
    do j = 1, size(x, 2)
      length = norm2(x(:, j))
      if (length <= min_length) cycle
      x(:, j) = x(:, j) / length
      found = found + 1
    end do
    status = 0
  end function

  function instructions(version) result(table) bind(c, name="tessera_sial_instructions")
    integer(c_int32_t), value :: version
    type(c_ptr) :: table
    type(sial_table_builder), save, target :: mine
    table = c_null_ptr
    if (version /= sial_interface_version) return
    if (.not. mine%ready()) call mine%add("my_normalize", "uw", c_funloc(my_normalize), sial_thread_safe)
    table = mine%table("normalize 1.0")
  end function
end module
