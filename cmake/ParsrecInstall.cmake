# Install rules: library (shared and static), header, pkg-config file, CMake package, program, man
# page, completions. Consumers write find_package(parsrec) and link parsrec::shared or parsrec::static, or ask
# pkg-config for parsrec.
include(CMakePackageConfigHelpers)

install(TARGETS parsrec_shared parsrec_static EXPORT parsrec-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS parsrec RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET parsrec_mpi)
  install(TARGETS parsrec_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES include/parsrec.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES docs/man/parsrec.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES contrib/completions/parsrec.bash RENAME parsrec
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES contrib/completions/_parsrec DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES contrib/completions/parsrec.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(PARSREC_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/parsrec)
install(EXPORT parsrec-targets NAMESPACE parsrec:: DESTINATION ${PARSREC_CMAKE_DIR})
configure_package_config_file(cmake/parsrec-config.cmake.in
  ${PROJECT_BINARY_DIR}/parsrec-config.cmake INSTALL_DESTINATION ${PARSREC_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/parsrec-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/parsrec-config.cmake
              ${PROJECT_BINARY_DIR}/parsrec-config-version.cmake
        DESTINATION ${PARSREC_CMAKE_DIR})

# Relative to the .pc file itself, so that an installed tree can be moved.
file(RELATIVE_PATH PARSREC_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/parsrec.pc.in ${PROJECT_BINARY_DIR}/parsrec.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/parsrec.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
