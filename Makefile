# A thin face over the CMake presets: `make && make test` works as people expect.
PRESET ?= release

all:
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET)

test:
	cmake --workflow --preset dev

install: all
	cmake --install build/$(PRESET)

clean:
	rm -rf build

.PHONY: all test install clean
