# What is different in an installation that is Python's package (TENON_WHEEL, which pyproject.toml turns on): everything is
# in one folder that may lie anywhere, on machines that have none of the libraries Tenon is built on.
#
# Sets TENON_PYTHON_INSTALL_DIR, where the component `python` of an installation puts the package `tenon`.
set(TENON_LIBRARY_VERSION "${PROJECT_VERSION}")
set(TENON_NAMELINKS)
# A tree may become a wheel's, and cease to be one: what is linked in there and shared elsewhere is looked for again.
if(NOT "${TENON_WHEEL}" STREQUAL "${TENON_WHEEL_BEFORE}")
  unset(OPENSSL_CRYPTO_LIBRARY CACHE)
  unset(OPENSSL_SSL_LIBRARY CACHE)
  set(TENON_WHEEL_BEFORE "${TENON_WHEEL}" CACHE INTERNAL "")
endif()
if(NOT TENON_WHEEL)
  set(TENON_PYTHON_INSTALL_DIR "${CMAKE_INSTALL_LIBDIR}/python/tenon" CACHE STRING
      "Where `cmake --install --component python` puts the package tenon, relative to the prefix")
  return()
endif()

set(CMAKE_INSTALL_LIBDIR lib)
set(TENON_PYTHON_INSTALL_DIR ".")
# A wheel keeps no links: a link would be one more copy.
set(TENON_LIBRARY_VERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(TENON_NAMELINKS NAMELINK_SKIP)
# The interpreter that the wheel is for, and that runs its build.
set(TENON_PYTHON "${Python_EXECUTABLE}")
# Other than RUNPATH, RPATH also serves the libraries that are bundled, which have no run path of their own.
add_link_options("LINKER:--disable-new-dtags")
# Linked in, as Python's own ssl module must find no other libcrypto than its own; the hub's downloads go through Python.
set(OPENSSL_USE_STATIC_LIBS ON)
add_link_options("LINKER:--exclude-libs,libcrypto.a")
set(TENON_CURL OFF)
# A cluster's MPI is its own, and no other can be brought along.
set(TENON_MPI OFF)

# tenon_bundle_libraries(TARGET...): installs the libraries that the targets need and Linux may not have, and the licences of these and
# of what is compiled in.
function(tenon_bundle_libraries)
  set(compiled_in)
  foreach(header hwy/highway.h nlohmann/json.hpp openssl/crypto.h gloo/context.h)
    string(MAKE_C_IDENTIFIER "TENON_FOUND_${header}" found)
    find_path(${found} "${header}")
    mark_as_advanced(${found})
    if(${found})
      list(APPEND compiled_in "${${found}}/${header}")
    endif()
  endforeach()
  set(files)
  foreach(target IN LISTS ARGN)
    list(APPEND files "$<TARGET_FILE:${target}>")
  endforeach()
  list(JOIN files "\n  " files)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/bundle.cmake" CONTENT "\
file(GET_RUNTIME_DEPENDENCIES LIBRARIES\n  ${files}
  RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES \"^ld-linux\" \"^lib(c|m|dl|rt|pthread|util|stdc[+][+]|gcc_s|z)[.]so\" \"^libtenon\")
if(missing)
  message(FATAL_ERROR \"these libraries, which Tenon needs, were not found: \${missing}\")
endif()
foreach(library IN LISTS libraries)
  get_filename_component(name \"\${library}\" NAME)
  get_filename_component(real \"\${library}\" REALPATH)
  file(INSTALL \"\${real}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\" RENAME \"\${name}\")
endforeach()
include(\"${PROJECT_SOURCE_DIR}/cmake/tools/install_licenses.cmake\")
tenon_install_licenses(\"\${CMAKE_INSTALL_PREFIX}/licenses\" \${libraries} ${compiled_in})
file(GLOB nanobind \"${nanobind_DIR}/../../nanobind-*.dist-info/licenses/LICENSE\")
if(EXISTS \"${TENON_FFT_LICENSE}\")
  file(INSTALL \"${TENON_FFT_LICENSE}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/licenses\")
endif()
if(nanobind)
  file(INSTALL \${nanobind} DESTINATION \"\${CMAKE_INSTALL_PREFIX}/licenses\" RENAME nanobind.txt)
endif()
")
  install(SCRIPT "${PROJECT_BINARY_DIR}/bundle.cmake")
  # What the kernels of load_operators() include.
  get_target_property(highway hwy::hwy INTERFACE_INCLUDE_DIRECTORIES)
  find_path(TENON_HIGHWAY_HEADERS hwy/highway.h HINTS ${highway} REQUIRED)
  install(DIRECTORY "${TENON_HIGHWAY_HEADERS}/hwy" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tenon" FILES_MATCHING PATTERN "*.h")
endfunction()
