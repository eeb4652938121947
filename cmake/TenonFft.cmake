# ducc0's FFT, of which a source package is fetched from Python's package index and one source is compiled, for each type. Nothing
# of it is installed but its licence, in a wheel.
#
# Sets TENON_HAS_FFT, TENON_FFT_FOLDER, the package's folder, and TENON_FFT_LICENSE, a file.
set(TENON_FFT_VERSION 0.42.0)
set(TENON_HAS_FFT 0)
set(TENON_FFT_SOURCE "" CACHE PATH "The unpacked source package of ducc0 ${TENON_FFT_VERSION}, if it is not to be fetched")
# A library of selected operators without one that needs it.
set(tenon_fft_wanted ON)
if(TENON_OPERATORS AND EXISTS "${TENON_OPERATORS}")
  file(STRINGS "${TENON_OPERATORS}" tenon_fft_wanted REGEX "fft|stft" LIMIT_COUNT 1)
endif()
if(TENON_FFT AND tenon_fft_wanted)
  set(TENON_FFT_FOLDER "${TENON_FFT_SOURCE}")
  if(NOT TENON_FFT_FOLDER)
    tenon_find_python(tenon_fft_python VENV "${PROJECT_SOURCE_DIR}/build/venv"
                      REQUIREMENTS "${PROJECT_SOURCE_DIR}/codegen/requirements.txt" PINNED)
    set(TENON_FFT_FOLDER "${PROJECT_SOURCE_DIR}/build/sources/ducc0-${TENON_FFT_VERSION}")
    execute_process(
      COMMAND "${tenon_fft_python}" "${PROJECT_SOURCE_DIR}/cmake/tools/fetch_source.py" ducc0 ${TENON_FFT_VERSION}
              4e11c59b53a43355b053aebb2a62ee16eebeed026575f7d216cf09d437ce52ef "${PROJECT_SOURCE_DIR}/build/sources"
      OUTPUT_VARIABLE tenon_fft_log ERROR_VARIABLE tenon_fft_log RESULT_VARIABLE tenon_fft_failed)
    if(tenon_fft_failed)
      message(WARNING "ducc0 could not be fetched, so that there is no FFT on the CPU:\n${tenon_fft_log}")
    endif()
  endif()
  if(EXISTS "${TENON_FFT_FOLDER}/src/ducc0/fft/fftnd_impl.h")
    set(TENON_HAS_FFT 1)
    # Of the two licences that its files offer, the 3-clause BSD: what stands before the code.
    set(TENON_FFT_LICENSE "${PROJECT_BINARY_DIR}/ducc0.txt")
    file(READ "${TENON_FFT_FOLDER}/src/ducc0/fft/fft.h" text)
    string(REGEX REPLACE "\n[*]/\n\n/[*]\n [*]  This code is free software.*" "\n*/\n" text "${text}")
    file(WRITE "${TENON_FFT_LICENSE}" "${text}")
    tenon_note("ducc0" "${TENON_FFT_VERSION}" "fast Fourier transforms")
  else()
    tenon_note("ducc0" "not found" "off: fast Fourier transforms (needs the Python package index, or TENON_FFT_SOURCE)")
  endif()
else()
  tenon_note("ducc0" "off" "fast Fourier transforms (TENON_FFT=OFF, or no such operator is among TENON_OPERATORS)")
endif()

# tenon_fft_engine(TARGET TYPE LEVEL [OPTIONS...]): adds to TARGET the transforms of TYPE, float or double, for one set of instructions.
# As a library of its own it follows TARGET's objects at the linker's, whose copies of functions in both are kept: no other part of
# TARGET gets code for instructions that a processor may lack.
function(tenon_fft_engine target type level)
  set(name tenon_fft_${type}_${level})
  add_library(${name} STATIC "${PROJECT_SOURCE_DIR}/aten/cpu/fft/ducc.cpp")
  set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON TENON_UNSANITIZED ON)
  target_compile_definitions(${name} PRIVATE TENON_FFT_TYPE=${type} TENON_FFT_LEVEL=${level} DUCC0_NAMESPACE=ducc0_${type}_${level})
  # A product of complex numbers needs no care for infinities: their transform is NaN.
  target_compile_options(${name} PRIVATE "$<$<CONFIG:Release>:-O2>" -fcx-limited-range ${ARGN})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_include_directories(${name} SYSTEM PRIVATE "${TENON_FFT_FOLDER}/src")
  target_link_libraries(${name} PRIVATE tenon_flags)
  target_link_libraries(${target} PRIVATE ${name})
endfunction()

# tenon_fft_engines(TARGET): adds them for all sets of instructions that vector kernels are compiled for.
function(tenon_fft_engines target)
  if(NOT TENON_HAS_FFT)
    return()
  endif()
  foreach(type IN ITEMS float double)
    if(NOT TENON_KERNEL_SET STREQUAL "all")
      tenon_fft_engine(${target} ${type} ${TENON_KERNEL_LEVEL} -march=${TENON_KERNEL_SET})
      continue()
    endif()
    tenon_fft_engine(${target} ${type} 0)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
      tenon_fft_engine(${target} ${type} 3 -march=x86-64-v3)
      tenon_fft_engine(${target} ${type} 4 -march=x86-64-v4)
    endif()
  endforeach()
endfunction()
