# tenon_library(NAME [LINK arguments of target_link_libraries...])
#   A library of the package: the target tenon_NAME, which is Tenon::NAME to whoever uses it (`tenon` itself has no
#   prefix). Its sources come from tenon_target_sources. TENON_LIBRARIES names all.
set(TENON_LIBRARIES "" CACHE INTERNAL "")

function(tenon_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  set(target tenon_${name})
  if(name STREQUAL "tenon")
    set(target tenon)
  endif()
  add_library(${target} SHARED)
  add_library(Tenon::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
    VERSION ${TENON_LIBRARY_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    CUDA_RUNTIME_LIBRARY Shared)
  # A package, with kernels for all instruction sets, serves systems with an older glibc too.
  if(TENON_CAN_PACK_RELOCATIONS AND NOT TENON_SANITIZE AND NOT TENON_KERNEL_SET STREQUAL "all")
    set_target_properties(${target} PROPERTIES TENON_PACKED_RELOCATIONS ON)
    target_link_options(${target} PRIVATE "LINKER:-z,pack-relative-relocs")
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE ${TENON_LIBRARY_OPTIONS})
  set(exported "${PROJECT_SOURCE_DIR}/cmake/exported_symbols.map")
  target_link_options(${target} PRIVATE "LINKER:-Bsymbolic-functions" "LINKER:--as-needed" "LINKER:--version-script=${exported}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exported}")
  target_link_libraries(${target} PRIVATE tenon_flags)
  if(arg_LINK)
    target_link_libraries(${target} ${arg_LINK})
  endif()
  set(TENON_LIBRARIES ${TENON_LIBRARIES} ${target} CACHE INTERNAL "")
endfunction()

# tenon_backend_library(NAME [LINK libraries...])
#   A backend of collectives that is loaded by its name: the target tenon_distributed_NAME, beside Tenon::distributed.
#   TENON_BACKEND_LIBRARIES names all.
set(TENON_BACKEND_LIBRARIES "" CACHE INTERNAL "")

function(tenon_backend_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  set(target tenon_distributed_${name})
  add_library(${target} MODULE)
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" CUDA_RUNTIME_LIBRARY Shared)
  target_compile_options(${target} PRIVATE ${TENON_LIBRARY_OPTIONS})
  target_link_options(${target} PRIVATE "LINKER:-Bsymbolic-functions" "LINKER:--as-needed")
  target_link_libraries(${target} PRIVATE Tenon::distributed ${arg_LINK} tenon_flags)
  set(TENON_BACKEND_LIBRARIES ${TENON_BACKEND_LIBRARIES} ${target} CACHE INTERNAL "")
endfunction()

# tenon_join_libraries(): joins the hand-written sources of all libraries, once they have them.
function(tenon_join_libraries)
  foreach(target IN LISTS TENON_LIBRARIES)
    tenon_vector_sources(${target})
    tenon_join_sources(${target} 10 REGEX "^${PROJECT_SOURCE_DIR}/(aten|autograd|runtime)/")
  endforeach()
endfunction()
