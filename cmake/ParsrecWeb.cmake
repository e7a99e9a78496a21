# The page that the server shows. PARSREC_WEB_FILES is a C file with its table of files
# (src/serve/web_files.h): made from web/ by Node, or the empty table without the page.
if(NOT PARSREC_WEB)
  set(PARSREC_WEB_FILES ${PROJECT_SOURCE_DIR}/cmake/web_files_none.c)
  return()
endif()

# A release archive has the page already made, so that a build needs neither Node nor a network.
set(made ${PROJECT_SOURCE_DIR}/web/dist/web_files.c)
if(EXISTS ${made})
  set(PARSREC_WEB_FILES ${made})
  return()
endif()

find_program(PARSREC_NODE NAMES node nodejs)
find_program(PARSREC_NPM npm)
if(NOT PARSREC_NODE OR NOT PARSREC_NPM)
  message(FATAL_ERROR "The page needs Node 18 or newer and npm, which were not found. "
    "Install them (Debian: nodejs npm), or build without the page: -DPARSREC_WEB=OFF")
endif()
execute_process(COMMAND ${PARSREC_NODE} --version OUTPUT_VARIABLE node_version
  OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^v" "" node_version "${node_version}")
if(node_version VERSION_LESS 18)
  message(FATAL_ERROR "${PARSREC_NODE} is version ${node_version}; the page needs Node 18 or newer. "
    "Install it, or build without the page: -DPARSREC_WEB=OFF")
endif()

# npm leaves this file behind when it is done; all builds share the packages.
set(web ${PROJECT_SOURCE_DIR}/web)
set(web_packages ${web}/node_modules/.package-lock.json)
add_custom_command(OUTPUT ${web_packages}
  COMMAND ${PARSREC_NPM} ci --no-audit --no-fund --ignore-scripts --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${web_packages}
  DEPENDS ${web}/package.json ${web}/package-lock.json
  WORKING_DIRECTORY ${web}
  COMMENT "Fetching the page's packages (npm ci)" VERBATIM)

file(GLOB web_sources CONFIGURE_DEPENDS ${web}/src/*.js ${web}/style/*.css)
set(PARSREC_WEB_FILES ${PROJECT_BINARY_DIR}/web_files.c)
add_custom_command(OUTPUT ${PARSREC_WEB_FILES}
  COMMAND ${PARSREC_NODE} ${web}/build.mjs ${PROJECT_BINARY_DIR}/web
  COMMAND ${PARSREC_NODE} ${web}/embed.mjs ${PROJECT_BINARY_DIR}/web ${PARSREC_WEB_FILES}
  DEPENDS ${web_packages} ${web}/build.mjs ${web}/embed.mjs ${web}/licences.mjs ${web}/index.html
    ${web}/favicon.svg ${web_sources}
  COMMENT "Building the page" VERBATIM)
