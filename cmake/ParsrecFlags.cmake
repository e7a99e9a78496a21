# Flags for all of our own code, gathered in one interface target.
add_library(parsrec_flags INTERFACE)
target_compile_options(parsrec_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -fvisibility=hidden -fno-math-errno)
target_compile_definitions(parsrec_flags INTERFACE _GNU_SOURCE)
if(PARSREC_WERROR)
  target_compile_options(parsrec_flags INTERFACE -Werror)
endif()
if(PARSREC_NATIVE)
  target_compile_options(parsrec_flags INTERFACE -march=native)
endif()
if(PARSREC_SANITIZE)
  target_compile_options(parsrec_flags INTERFACE
    -fsanitize=${PARSREC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(parsrec_flags INTERFACE -fsanitize=${PARSREC_SANITIZE})
endif()
if(PARSREC_COVERAGE)
  target_compile_options(parsrec_flags INTERFACE --coverage)
  target_link_options(parsrec_flags INTERFACE --coverage)
endif()
if(PARSREC_FUZZ)
  # Coverage for the fuzzer in the library too; the driver itself is linked to the targets only.
  target_compile_options(parsrec_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
# No -ffast-math: NaN checks must work. Contraction is off so that a sum does not depend on which
# loop the compiler chose to fuse.
target_compile_options(parsrec_flags INTERFACE -ffp-contract=off)
