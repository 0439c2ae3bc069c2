# cupel - one GNU Makefile. 'make help' lists targets, V=1 shows commands,
# B=release|debug|asan|tsan|cov chooses a build; each has its own directory.
VERSION := 0.1.0
SOMAJOR := 0
B       ?= release
CC      ?= gcc
CXX     ?= g++
O       := build/$(B)
PREFIX  ?= /usr/local
SEED    ?= 1
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif

# Libraries: what is missing is installed before anything is built, or named with its package.
REQUIRED := yaml-0.1 simdjson libseccomp sqlite3 zlib libcrypto libpcre2-8
NEEDS_LIBS := $(filter-out deps clean help layers size,$(or $(MAKECMDGOALS),all))
ifneq ($(NEEDS_LIBS),)
ifneq ($(shell scripts/deps.sh --check && echo y),y)
$(info some libraries or tools are missing: running scripts/deps.sh)
$(shell scripts/deps.sh >&2)
ifneq ($(shell scripts/deps.sh --check && echo y),y)
$(error missing packages: run 'make deps')
endif
endif
endif
LIBCFLAGS := $(shell pkg-config --cflags $(REQUIRED) 2>/dev/null)
LIBS      := $(shell pkg-config --libs $(REQUIRED) 2>/dev/null) -lstdc++ -lm -pthread
TESTLIBS  := $(shell pkg-config --libs cmocka 2>/dev/null)

# Plug-in families, folder:struct:prefix:header. The table of a family is src/FOLDER/PREFIX_*.c.
FAMILIES := task:format:format:task judge:checker:checker:checker judge:lang:lang:lang \
            reward:reward_fn:reward:reward select:select_fn:select:select \
            rollout:rollout_fn:rollout:rollout adv:adv_fn:adv:adv \
            loss:surrogate:surrogate:loss loss:agg:agg:loss loss:mask:mask:loss loss:kl:kl:loss \
            policy:policy_fn:policy:policy data:synth:synth:synth cli:cmd:cmd:cmd

WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wwrite-strings -Wvla -Wundef -Wformat=2 \
        -Wimplicit-fallthrough -Wno-missing-field-initializers
CWARN := -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wno-missing-braces
HARD := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection
CFLAGS_release := -O2 -g $(HARD)
CFLAGS_debug   := -O0 -g3
CFLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan    := -O1 -g -fsanitize=thread
CFLAGS_cov     := -O0 -g --coverage
ifeq ($(CFLAGS_$(B)),)
$(error unknown B=$(B): release debug asan tsan cov)
endif
COMMON     := -D_GNU_SOURCE -DCUPEL_VERSION='"$(VERSION)"' -DCUPEL_LIBEXEC='"$(PREFIX)/libexec/cupel"' \
              -Isrc -Iinclude -fPIC -fvisibility=hidden -ffp-contract=off $(WARN) $(LIBCFLAGS) $(CFLAGS_$(B))
ALLCFLAGS  := -std=gnu17 $(COMMON) $(CWARN) $(CFLAGS)
ALLCXXFLAGS := -std=c++17 $(COMMON) $(CXXFLAGS)
ALLLDFLAGS := $(filter -fsanitize=% --coverage,$(CFLAGS_$(B))) -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
# Kernels: one file for each vector width, chosen at run time; never -ffast-math.
# Pointer checks of UBSan are off in these unrolled loops: compiling them would take ten minutes,
# and ASan sees the same faults.
KERN_SAN := -fno-sanitize=null,alignment,pointer-overflow,object-size,bounds
FLAGS_kern_scalar := -O2 $(KERN_SAN)
FLAGS_kern_avx2   := -O3 -mavx2 -mfma $(KERN_SAN)
FLAGS_kern_avx512 := -O3 -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512 $(KERN_SAN)

FLAGS_boxd_zygote := -DZYGOTE_SO='"$(O)/zygote.so"'

Q := $(if $(V),,@)
say = @mkdir -p $(@D); printf '  %-4s %s\n' $(1) $(2)

CLISRC  := $(wildcard src/cli/*.c)
BOXDSRC := $(wildcard src/box/boxd*.c)
ZYGOTE  := $(wildcard src/box/zygote*.c)
LIBSRC  := $(filter-out $(CLISRC) $(BOXDSRC) $(ZYGOTE),$(wildcard src/*/*.c))
TABLES  := $(foreach f,$(FAMILIES),$(word 3,$(subst :, ,$f)))
LIBOBJ  := $(LIBSRC:%.c=$(O)/%.o) $(patsubst %.cc,$(O)/%.o,$(wildcard src/*/*.cc)) \
           $(patsubst %,$(O)/gen/%_table.o,$(filter-out cmd,$(TABLES)))
# Scripts are compiled in as text.
LIBOBJ  += $(patsubst src/judge/%.py,$(O)/gen/%_text.o,$(wildcard src/judge/*.py))
CLIOBJ  := $(CLISRC:%.c=$(O)/%.o) $(O)/gen/cmd_table.o \
           $(patsubst src/cli/%.py,$(O)/gen/%_text.o,$(wildcard src/cli/*.py))
BOXDOBJ := $(BOXDSRC:%.c=$(O)/%.o)
# The library that is preloaded into interpreters: its own build, never with sanitizers.
ZYGOTEOBJ := $(patsubst %.c,$(O)/zygote/%.o,$(ZYGOTE) src/box/boxd_meter.c src/box/boxd_reap.c \
             src/box/boxd_rights.c src/box/boxd_page.c \
             src/box/boxd_tree.c src/box/boxd_enclose.c src/box/boxd_clean.c src/box/box_wire.c src/base/buf.c src/base/err.c \
             src/base/io.c)
TESTS   := $(patsubst tests/unit/%.c,$(O)/tests/%,$(wildcard tests/unit/test_*.c))
FUZZ    := $(patsubst tests/fuzz/%.c,$(O)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))

all: $(O)/libcupel.a $(O)/libcupel.so.$(VERSION) $(O)/cupel $(O)/cupel-boxd ## build library and programs

# The folder is a prerequisite too, so that a deleted file leaves the table.
define family
$(O)/gen/$(3)_table.c: $$(wildcard src/$(1)/$(3)_*.c) scripts/registry.sh src/$(1)
	@mkdir -p $$(@D)
	$$(Q)scripts/registry.sh $(2) $(3) $(1)/$(4).h $$(wildcard src/$(1)/$(3)_*.c) >$$@.tmp
	$$(Q)cmp -s $$@.tmp $$@ && rm $$@.tmp || mv $$@.tmp $$@
	@touch $$@
endef
$(foreach f,$(FAMILIES),$(eval $(call family,$(word 1,$(subst :, ,$f)),$(word 2,$(subst :, ,$f)),$(word 3,$(subst :, ,$f)),$(word 4,$(subst :, ,$f)))))

$(O)/gen/%_text.c: src/cli/%.py scripts/embed.sh
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh $*_text $< >$@
$(O)/gen/%_text.c: src/judge/%.py scripts/embed.sh
	@mkdir -p $(@D)
	$(Q)scripts/embed.sh $*_text $< >$@
$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ALLCFLAGS) $(FLAGS_$(basename $(notdir $<))) -MMD -MP -c $< -o $@
$(O)/%.o: %.cc
	$(call say,CXX,$<)
	$(Q)$(CXX) $(ALLCXXFLAGS) -MMD -MP -c $< -o $@
$(O)/gen/%.o: $(O)/gen/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ALLCFLAGS) -MMD -MP -c $< -o $@
# Tests link every internal symbol; users get one object whose internals are local.
$(O)/libcupel-internal.a: $(LIBOBJ)
	$(Q)rm -f $@; ar rcsD $@ $^
$(O)/libcupel.a: $(LIBOBJ)
	$(call say,AR,$@)
	$(Q)ld -r -o $(O)/cupel-all.o $^ && objcopy --localize-hidden $(O)/cupel-all.o && rm -f $@ && ar rcsD $@ $(O)/cupel-all.o
$(O)/libcupel.so.$(VERSION): $(LIBOBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,libcupel.so.$(SOMAJOR) $(ALLLDFLAGS) $^ -o $@ $(LIBS)
$(O)/cupel: $(CLIOBJ) $(O)/libcupel-internal.a
	$(call say,LD,$@)
	$(Q)$(CC) -pie $(ALLLDFLAGS) $^ -o $@ $(LIBS)
$(O)/zygote/%.o: %.c
	$(call say,CC,"$< (zygote)")
	$(Q)$(CC) $(filter-out $(CFLAGS_$(B)),$(ALLCFLAGS)) $(CFLAGS_release) -ffunction-sections -MMD -MP -c $< -o $@
$(O)/zygote.so: $(ZYGOTEOBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,zygote.so -Wl,--gc-sections -Wl,-z,relro,-z,now,-z,noexecstack $^ -o $@
$(O)/src/box/boxd_zygote.o: $(O)/zygote.so
# Only the libraries that it uses: each mapping costs time in every fork of a box.
$(O)/cupel-boxd: $(BOXDOBJ) $(O)/libcupel-internal.a
	$(call say,LD,$@)
	$(Q)$(CC) -pie $(ALLLDFLAGS) -Wl,--as-needed $^ -o $@ $(LIBS)
$(O)/tests/test_%: tests/unit/test_%.c $(O)/libcupel-internal.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLCFLAGS) -Itests/unit -MMD -MP $(ALLLDFLAGS) $< $(O)/libcupel-internal.a -o $@ $(TESTLIBS) $(LIBS)
$(O)/tests/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c $(O)/libcupel-internal.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALLCFLAGS) -MMD -MP $(ALLLDFLAGS) $(filter %.c,$^) $(O)/libcupel-internal.a -o $@ $(LIBS)

SCRIPTS := $(wildcard tests/cli/*.sh tests/attack/*.sh tests/fuzz/*.sh tests/faults/*.sh tests/inject/*.sh)
check: all $(TESTS) $(FUZZ) ## run unit, command-line, attack and fuzz-corpus tests of this build
	$(Q)CUPEL=$(CURDIR)/$(O)/cupel BUILD=$(O) B=$(B) LOG=$(O)/check.log scripts/check.sh $(TESTS) $(SCRIPTS)
check-long: all ## references and mutants of the public sets in ../shared/data; takes long
	$(Q)CUPEL=$(CURDIR)/$(O)/cupel BUILD=$(O) B=$(B) LOG=$(O)/check-long.log LIMIT=14400 scripts/check.sh $(wildcard tests/long/*.sh)
check-vm: all $(filter $(O)/tests/test_box%,$(TESTS)) ## run tests of boxes in an emulated machine with cgroup 2
	$(Q)B=$(B) scripts/vm.sh
demo: all ## train a small model on Python tasks, in minutes (SEED=1)
	$(Q)CUPEL=$(CURDIR)/$(O)/cupel SEED=$(SEED) scripts/demo.sh
lint: ## who includes whom, banned functions, format
	$(Q)scripts/layers.sh
	$(Q)scripts/banned.sh
	$(Q)clang-format --dry-run -Werror $$(find src include tests -name '*.[ch]' -o -name '*.cc')
layers: ## check who includes whom
	$(Q)scripts/layers.sh
format: ## rewrite sources with clang-format
	$(Q)clang-format -i $$(find src include tests -name '*.[ch]' -o -name '*.cc')
size: ## report long files and functions
	$(Q)scripts/size.sh
cov: ## line coverage of the tests
	$(Q)$(MAKE) --no-print-directory B=cov check && gcovr -r . build/cov --exclude tests
deps: ## list missing libraries and install them
	$(Q)scripts/deps.sh
install: all ## install under $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/cupel $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/cupel
	install -m755 $(O)/cupel $(DESTDIR)$(PREFIX)/bin/
	install -m755 $(O)/cupel-boxd $(DESTDIR)$(PREFIX)/libexec/cupel/
	install -m644 $(O)/libcupel.a $(DESTDIR)$(PREFIX)/lib/
	install -m755 $(O)/libcupel.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/
	ln -sf libcupel.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libcupel.so.$(SOMAJOR)
	ln -sf libcupel.so.$(SOMAJOR) $(DESTDIR)$(PREFIX)/lib/libcupel.so
	install -m644 include/cupel/*.h $(DESTDIR)$(PREFIX)/include/cupel/
	install -d $(DESTDIR)$(PREFIX)/share/cupel/recipes
	install -m644 recipes/*.yaml $(DESTDIR)$(PREFIX)/share/cupel/recipes/
	printf 'prefix=%s\nName: cupel\nDescription: code judge and reward engine\nVersion: %s\nCflags: -I$${prefix}/include\nLibs: -L$${prefix}/lib -lcupel\nRequires.private: %s\nLibs.private: -lstdc++ -lm -pthread\n' \
		$(PREFIX) $(VERSION) '$(REQUIRED)' >$(DESTDIR)$(PREFIX)/lib/pkgconfig/cupel.pc
clean: ## remove every build
	rm -rf build
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile
.PHONY: all check check-vm check-long demo lint layers format size cov deps install clean help
.SECONDARY:
-include $(shell find $(O) -name '*.d' 2>/dev/null)
