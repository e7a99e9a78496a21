# What we do not write ourselves (Debian packages, see docs/building.md).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)

# Of these the headers alone: the libraries are loaded when the program first needs them
# (src/base/library.c), so that it runs without them and what they depend on.
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo)
add_library(parsrec_headers INTERFACE)
target_include_directories(parsrec_headers SYSTEM INTERFACE ${LIBPQ_INCLUDE_DIRS} ${CAIRO_INCLUDE_DIRS})
target_link_libraries(parsrec_headers INTERFACE ${CMAKE_DL_LIBS})

# Matrix products: the same (src/math/blas.c).
pkg_search_module(CBLAS REQUIRED openblas cblas blas)
add_library(parsrec_cblas INTERFACE)
target_include_directories(parsrec_cblas SYSTEM INTERFACE ${CBLAS_INCLUDE_DIRS})
target_link_libraries(parsrec_cblas INTERFACE ${CMAKE_DL_LIBS})

find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxhash.h not found: install libxxhash-dev")
endif()
target_include_directories(parsrec_flags SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})

# MPI is for training on several machines alone (src/ranks).
if(PARSREC_MPI)
  find_package(MPI QUIET COMPONENTS C)
endif()
if(PARSREC_MPI AND NOT MPI_C_FOUND)
  message(STATUS "MPI not found: libparsrec-mpi.so, for training on several machines, is not built")
endif()
