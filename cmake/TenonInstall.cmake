# A relocatable package: lib/, bin/{tenonc,tenon-ckpt,tenon-run}, include/tenon/ (so that "aten/core/..." and "tenon/ops/..."
# resolve from one folder), share/tenon/ (what the generator reads), lib/cmake/Tenon/.
include(CMakePackageConfigHelpers)

set(TENON_INSTALL_SHARE "${CMAKE_INSTALL_DATADIR}/tenon")
set(TENON_INSTALL_CMAKE "${CMAKE_INSTALL_LIBDIR}/cmake/Tenon")
set(TENON_INSTALL_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}/tenon")

# Everything that an installation holds and that is built.
add_custom_target(tenon_package DEPENDS ${TENON_LIBRARIES} ${TENON_BACKEND_LIBRARIES} tenonc tenon-ckpt tenon-run tenon_schemas)

# Each library is a component, so that an installation may hold some of them: `tenon` is the operators with all that does not name a
# component (headers, generator, CMake files), `nn` the library of modules, and so on; `tools` are the programs besides the generator.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME tenon)
foreach(target IN LISTS TENON_LIBRARIES)
  get_target_property(name ${target} EXPORT_NAME)
  install(TARGETS ${target} EXPORT Tenon_${name}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${name} ${TENON_NAMELINKS})
  install(EXPORT Tenon_${name} NAMESPACE Tenon:: FILE Tenon_${name}.cmake DESTINATION "${TENON_INSTALL_CMAKE}" COMPONENT ${name})
endforeach()
if(TENON_BACKEND_LIBRARIES)
  install(TARGETS ${TENON_BACKEND_LIBRARIES} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT distributed)
endif()
install(TARGETS tenon-ckpt tenon-run RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
if(TENON_GENERATOR)
  install(PROGRAMS "${TENON_GENERATOR}" DESTINATION "${CMAKE_INSTALL_BINDIR}")
else()
  install(TARGETS tenonc RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

include(cmake/TenonPublicHeaders.cmake)
foreach(header IN LISTS TENON_PUBLIC_HEADERS)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${header}" DESTINATION "${TENON_INSTALL_INCLUDE}/${folder}")
endforeach()
install(DIRECTORY "${TENON_GEN_DIR}/" "${TENON_MODULE_DIR}/" "${TENON_CONFIG_DIR}/" DESTINATION "${TENON_INSTALL_INCLUDE}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")

install(FILES modules.yaml native_functions.yaml derivatives.yaml tags.yaml codegen/render.py codegen/requirements.txt
        DESTINATION "${TENON_INSTALL_SHARE}")
install(DIRECTORY codegen/module_templates codegen/templates DESTINATION "${TENON_INSTALL_SHARE}")
install(DIRECTORY codegen/pages DESTINATION "${TENON_INSTALL_SHARE}" FILES_MATCHING PATTERN "*.py")
install(FILES ${TENON_SCHEMAS} DESTINATION "${TENON_INSTALL_SHARE}/schemas")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/tenon")

if(TENON_WHEEL)
  tenon_bundle_libraries(${TENON_PYTHON_MODULES} ${TENON_LIBRARIES} tenonc tenon-ckpt tenon-run)
endif()

set(TENON_EXPORTS)
foreach(target IN LISTS TENON_LIBRARIES)
  get_target_property(name ${target} EXPORT_NAME)
  string(APPEND TENON_EXPORTS "${name} ")
endforeach()
configure_package_config_file(cmake/TenonConfig.cmake.in TenonConfig.cmake
  INSTALL_DESTINATION "${TENON_INSTALL_CMAKE}"
  PATH_VARS TENON_INSTALL_SHARE TENON_INSTALL_INCLUDE CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(TenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TenonConfig.cmake" "${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake"
              cmake/TenonCudaStandard.cmake cmake/TenonInstructionSets.cmake cmake/TenonModules.cmake cmake/TenonOperators.cmake
              cmake/TenonPython.cmake cmake/TenonStable.cmake cmake/TenonTorch.cmake
        DESTINATION "${TENON_INSTALL_CMAKE}")
install(FILES cmake/tools/compile_note.sh DESTINATION "${TENON_INSTALL_CMAKE}/tools")
