# Install rules: library (shared and static), header, pkg-config file, CMake package, program, man page.
