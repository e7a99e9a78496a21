# The page that needs no server: the recommend path compiled to WebAssembly, one HTML file with a small
# model inside (web/README.md). Built where clang, wasm-ld and wasi-libc are found:
#   cmake --build --preset release --target alone     ->  build/release/parsrec.html
# The sources are those rooms that an answer passes through. What a browser has no system for (files,
# threads, libraries, Jansson) is in web/wasm; the linker drops what no call reaches.
find_program(PARSREC_CLANG NAMES clang clang-14 clang-15 clang-16)
find_program(PARSREC_WASM_LD NAMES wasm-ld wasm-ld-14 wasm-ld-15 wasm-ld-16)
find_path(PARSREC_WASI_INCLUDE wasi/api.h PATH_SUFFIXES wasm32-wasi)
if(NOT PARSREC_WEB OR NOT PARSREC_NODE OR NOT PARSREC_NPM OR PARSREC_SANITIZE OR PARSREC_COVERAGE
   OR NOT PARSREC_CLANG OR NOT PARSREC_WASM_LD OR NOT PARSREC_WASI_INCLUDE)
  return()
endif()
execute_process(COMMAND ${PARSREC_CLANG} --target=wasm32-wasi -print-libgcc-file-name
  OUTPUT_VARIABLE alone_builtins OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS "${alone_builtins}")
  return()
endif()

set(src ${PROJECT_SOURCE_DIR}/src)
set(wasm ${PROJECT_SOURCE_DIR}/web/wasm)
file(GLOB_RECURSE alone_sources CONFIGURE_DEPENDS
  ${src}/base/*.c ${src}/math/*.c ${src}/data/*.c ${src}/model/*.c ${src}/recommend/*.c ${wasm}/*.c)
list(APPEND alone_sources ${src}/synth/choice.c ${src}/synth/matrices.c)
foreach(file base/address base/cairo base/duckdb base/files base/library base/pager base/pq base/queue base/threads
        recommend/recommend_many recommend/score_speed)
  list(REMOVE_ITEM alone_sources ${src}/${file}.c)
endforeach()

set(alone_flags --target=wasm32-wasi -Os -std=c11 -D_GNU_SOURCE -DNDEBUG -fvisibility=hidden
  -fno-math-errno -ffp-contract=off "-DPARSREC_VERSION_TEXT=\"${PROJECT_VERSION}\""
  -isystem ${wasm}/include -isystem ${wasm}/include/json -I${src} -I${PROJECT_SOURCE_DIR}/include -I${wasm}
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
set(alone_objects)
foreach(source ${alone_sources})
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
  set(object ${PROJECT_BINARY_DIR}/alone/${name}.o)
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${PARSREC_CLANG} ${alone_flags} -MD -MF ${object}.d -MT ${object}
            -c ${source} -o ${object}
    COMMENT "WebAssembly: ${name}" VERBATIM)
  list(APPEND alone_objects ${object})
endforeach()

# A stack that overflows runs into the start of the memory, which is an error, and not into data.
set(library ${PROJECT_BINARY_DIR}/alone/parsrec.wasm)
add_custom_command(OUTPUT ${library} DEPENDS ${alone_objects}
  COMMAND ${PARSREC_CLANG} --target=wasm32-wasi -mexec-model=reactor -Os ${alone_objects} -o ${library}
          -Wl,--gc-sections -Wl,--strip-all -Wl,-z,stack-size=1048576 -Wl,--stack-first
  COMMENT "WebAssembly: linking" VERBATIM)

# The example shop, small.
set(model ${PROJECT_BINARY_DIR}/alone/shop.model)
add_custom_command(OUTPUT ${model}
  DEPENDS parsrec ${web}/alone/train.sh ${PROJECT_SOURCE_DIR}/examples/corner_shop.csv
    ${PROJECT_SOURCE_DIR}/examples/corner_shop_items.csv
  COMMAND sh ${web}/alone/train.sh $<TARGET_FILE:parsrec> ${PROJECT_SOURCE_DIR}/examples ${model}
  COMMENT "Training the example of the page without a server" VERBATIM)

file(GLOB alone_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/alone/*)
set(PARSREC_ALONE ${PROJECT_BINARY_DIR}/parsrec.html)
add_custom_command(OUTPUT ${PARSREC_ALONE}
  DEPENDS ${library} ${model} ${web_packages} ${web_sources} ${alone_scripts}
    ${web}/build_alone.mjs ${web}/index.html ${web}/favicon.svg
  COMMAND ${PARSREC_NODE} ${web}/build_alone.mjs ${library} ${model} ${PARSREC_ALONE}
  COMMENT "Building the page without a server" VERBATIM)
if(PARSREC_TESTS)
  add_custom_target(alone ALL DEPENDS ${PARSREC_ALONE})
else()
  add_custom_target(alone DEPENDS ${PARSREC_ALONE})
endif()
