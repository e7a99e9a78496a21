# An installed parsrec is usable from pkg-config, shared and static, and from CMake.
ok cmake --install "$PARSREC_BUILD" --prefix "$folder/usr"
libdir=$(dirname "$(find "$folder/usr" -name parsrec.pc)")/..
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
ok "$folder/usr/bin/parsrec" import -o shop.st "$PARSREC_SOURCE/examples/corner_shop.csv"
ok "$folder/usr/bin/parsrec" --version
version=$(sed 's/parsrec //' stdout)
same "$(pkg-config --modversion parsrec)" "$version" "pkg-config version"
ok test -f "$folder/usr/share/man/man1/parsrec.1"
ok test -f "$folder/usr/share/bash-completion/completions/parsrec"
ok test -f "$folder/usr/share/zsh/site-functions/_parsrec"
ok test -f "$folder/usr/share/fish/vendor_completions.d/parsrec.fish"

example=$PARSREC_SOURCE/examples/statistics.c
# shellcheck disable=SC2046 # words
ok cc "$example" $(pkg-config --cflags --libs parsrec) -o shared
ok env LD_LIBRARY_PATH="$libdir" ./shared shop.st
says "users"
# Our archive with everybody else's shared libraries, on a machine where pkg-config knows no other
# module; a wholly static program would need archives that Debian does not ship (libpq's).
alone() { PKG_CONFIG_LIBDIR=$libdir/pkgconfig pkg-config "$@" parsrec; }
ok alone --cflags --libs
ok alone --static --libs
# shellcheck disable=SC2046
ok cc "$example" $(alone --cflags) "$libdir/libparsrec.a" \
    $(alone --static --libs | sed 's/-lparsrec//') -o static
ok ./static shop.st
says "users"

mkdir consumer
cat >consumer/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(parsrec $version REQUIRED)
add_executable(with_shared $example)
target_link_libraries(with_shared parsrec::shared)
add_executable(with_static $example)
target_link_libraries(with_static parsrec::static)
END
ok cmake -G Ninja -S consumer -B consumer/build -DCMAKE_PREFIX_PATH="$folder/usr"
ok cmake --build consumer/build
ok consumer/build/with_shared shop.st
ok consumer/build/with_static shop.st
fails 1 "No such file" ./static nothing.st
