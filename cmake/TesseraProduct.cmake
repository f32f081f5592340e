# What a user runs: the target `product` builds the libraries, the programs of apps/ and all plugins, without tests and benchmarks. It
# is what can be installed; tests/consumer holds it to that.

# tessera_targets_below(DIRECTORY OUT): every target defined in a directory and below.
function(tessera_targets_below directory out)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    tessera_targets_below(${folder} below)
    list(APPEND targets ${below})
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# tessera_executables_below(DIRECTORY OUT): those that are programs.
function(tessera_executables_below directory out)
  tessera_targets_below(${directory} targets)
  set(programs "")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      list(APPEND programs ${target})
    endif()
  endforeach()
  set(${out} ${programs} PARENT_SCOPE)
endfunction()

tessera_executables_below(${PROJECT_SOURCE_DIR}/apps _programs)
tessera_targets_below(${PROJECT_SOURCE_DIR}/plugins _plugins)
add_custom_target(product DEPENDS tessera tessera_sparse $<TARGET_NAME_IF_EXISTS:tessera_integrals> ${_programs} ${_plugins})
