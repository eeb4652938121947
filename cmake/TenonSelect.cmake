# A library of selected operators: -DTENON_OPERATORS=FILE (docs/selective_build.md). The generator has
# said which hand-written sources the selected operators do not need.
if(NOT TENON_OPERATORS)
  return()
endif()
if(NOT EXISTS "${TENON_OPERATORS}")
  message(FATAL_ERROR "TENON_OPERATORS: there is no file ${TENON_OPERATORS}.")
endif()

set(TENON_SIZE_LIMIT 0 CACHE STRING "Bytes that the stripped library may have, 0 for any number")
list(TRANSFORM TENON_UNUSED_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/")
get_target_property(tenon_sources tenon SOURCES)
list(REMOVE_ITEM tenon_sources ${TENON_UNUSED_SOURCES})
set_target_properties(tenon PROPERTIES SOURCES "${tenon_sources}")
# What is not marked TENON_API is dropped where nothing calls it.
target_compile_options(tenon PRIVATE
  "$<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections;-fdata-sections;-fvisibility=hidden>")
# A source that is needed and was left out is found here, and not when a program runs.
target_link_options(tenon PRIVATE "LINKER:--gc-sections" "LINKER:-z,defs")
add_custom_command(TARGET tenon POST_BUILD
  COMMAND "${CMAKE_COMMAND}" "-DLIBRARY=$<TARGET_FILE:tenon>" "-DIR=${TENON_GEN_DIR}/ir.json"
          "-DSTRIP=${CMAKE_STRIP}" "-DLIMIT=${TENON_SIZE_LIMIT}" -P "${PROJECT_SOURCE_DIR}/cmake/tools/report_size.cmake"
  VERBATIM)
