# TENON_CUDA=emulated: the sources of the CUDA backend are compiled as C++ and run on the CPU, against the headers and the
# library of tests/cuda_emulation (README.md there). Nothing of it is installed.

if(NOT TENON_SANITIZE MATCHES "address" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "TENON_CUDA=emulated needs g++ and TENON_SANITIZE=address: the address sanitizer's calls for each "
                      "access are how the emulation sees what a kernel does. The preset `debug` has both.")
endif()
find_package(Boost QUIET COMPONENTS context)
if(NOT TARGET Boost::context)
  message(FATAL_ERROR "TENON_CUDA=emulated needs Boost.Context (apt-get install libboost-context-dev): "
                      "a kernel's threads are its fibers.")
endif()

set(tenon_emulation_dir "${PROJECT_SOURCE_DIR}/tests/cuda_emulation" CACHE INTERNAL "")

# The emulation itself, without sanitizers: it is what they report through.
add_library(tenon_cuda_emulation SHARED
  "${tenon_emulation_dir}/accesses.cpp"
  "${tenon_emulation_dir}/block.cpp"
  "${tenon_emulation_dir}/cublaslt.cpp"
  "${tenon_emulation_dir}/device_functions.cpp"
  "${tenon_emulation_dir}/memory.cpp"
  "${tenon_emulation_dir}/nccl.cpp"
  "${tenon_emulation_dir}/report.cpp"
  "${tenon_emulation_dir}/streams.cpp")
add_library(tenon_cuda_hooks OBJECT "${tenon_emulation_dir}/hooks.cpp")
set_target_properties(tenon_cuda_hooks PROPERTIES POSITION_INDEPENDENT_CODE ON)
foreach(target IN ITEMS tenon_cuda_emulation tenon_cuda_hooks)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -O2 -Wall -Wextra)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${tenon_emulation_dir}/include")
endforeach()
set_target_properties(tenon_cuda_emulation PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
target_link_libraries(tenon_cuda_emulation PRIVATE Boost::context ${CMAKE_DL_LIBS})

# What is linked in place of the CUDA runtime and cuBLASLt.
add_library(tenon_cuda_emulated INTERFACE)
target_link_libraries(tenon_cuda_emulated INTERFACE tenon_cuda_emulation)
target_sources(tenon_cuda_emulated INTERFACE $<TARGET_OBJECTS:tenon_cuda_hooks>)

# tenon_emulate(TARGET): compiles the target's *.cu as C++, with a call for each access that a kernel makes, and gives these and
# what lies in folders `cuda` the headers. Only these, so that all other files are compiled as without CUDA and their cached
# objects serve.
function(tenon_emulate target)
  get_target_property(sources ${target} SOURCES)
  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  set_source_files_properties(${kernels} TARGET_DIRECTORY ${target} PROPERTIES
    LANGUAGE CXX
    COMPILE_OPTIONS "--param=asan-instrumentation-with-call-threshold=0;-Wno-unknown-pragmas;${TENON_CHECKED_POINTER_OPTIONS}")
  list(FILTER sources INCLUDE REGEX "/cuda/|\\.cu$")
  set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES
    INCLUDE_DIRECTORIES "${tenon_emulation_dir}/include")
endfunction()
