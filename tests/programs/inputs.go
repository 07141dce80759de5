package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Modules is the number of node's modules: as many as a large application loads.
const Modules = 2800

// Inputs returns what the programs work on, by path in the guest: texts, and links where the text begins with linkTo.
// The packages are built below dir.
func Inputs(ctx context.Context, dir string) (map[string]string, error) {
	w := writer{}
	w.tree(Tree)
	w.modules(Work + "/modules")
	w.project(Work + "/project")
	w[Work+"/inputs/history"] = history()
	w[Work+"/inputs/numbers.sql"] = numbers()
	w[Work+"/inputs/walk.pl"] = walk
	for _, f := range []string{"/var/lib/dpkg/status", "/var/lib/dpkg/available", "/etc/apt/sources.list"} {
		w[f] = ""
	}
	return w, w.packages(ctx, dir)
}

// linkTo begins the text of what is a link.
const linkTo = "\x00link:"

// LinkOf gives the text of the link that an input is, if it is one.
func LinkOf(text string) (string, bool) { return strings.CutPrefix(text, linkTo) }

type writer map[string]string

func (w writer) file(p, text string) { w[p] = text }
func (w writer) link(text, p string) { w[p] = linkTo + text }

// Packages are those that dpkg and apt install.
var Packages = []string{"alpha", "beta", "gamma", "delta"}

// packages builds packages for dpkg and apt, with links, a file to configure and a script in each. None has hard links:
// PRoot's --link2symlink by itself fails to unpack them.
func (w writer) packages(ctx context.Context, dir string) error {
	build := func(name, version, field string, without int) error {
		top := filepath.Join(dir, name)
		files := map[string]string{
			"DEBIAN/control": fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\n"+
				"Description: a package of the test\n%s", name, version, field),
			"DEBIAN/conffiles":        "/etc/" + name + "/config\n",
			"DEBIAN/postinst":         fmt.Sprintf("#!/bin/sh\nset -e\nmkdir -p /var/lib/%s\necho \"$1\" > /var/lib/%s/state\n", name, name),
			"etc/" + name + "/config": "setting = " + version + "\n",
		}
		share := "usr/share/" + name
		for i := range 30 {
			if i != without {
				files[fmt.Sprintf("%s/d%d/file%d", share, i%5, i)] = strings.Repeat(fmt.Sprintf("%s %s %d\n", name, version, i), 1+i)
			}
		}
		for p, text := range files {
			p = filepath.Join(top, p)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
				return err
			}
		}
		if err := os.Symlink("../d1/file1", filepath.Join(top, share, "d2/soft")); err != nil {
			return err
		}
		deb := filepath.Join(dir, fmt.Sprintf("%s_%s_all.deb", name, version))
		cmd := exec.CommandContext(ctx, "dpkg-deb", "--root-owner-group", "-Zgzip", "-b", top, deb)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1000000000")
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("dpkg-deb -b %s: %w: %s", top, err, said)
		}
		text, err := os.ReadFile(deb)
		w[Debs+"/"+filepath.Base(deb)] = string(text)
		return err
	}
	for _, p := range []struct {
		name, version, field string
		without              int
	}{{"alpha", "1.0", "", -1}, {"beta", "1.0", "Depends: alpha\n", 3}, {"gamma", "1.0", "", 4}, {"delta", "1.0", "Depends: gamma (>= 1.0)\n", 5}} {
		if err := build(p.name, p.version, p.field, p.without); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "alpha")); err != nil {
		return err
	}
	return build("alpha", "1.1", "", 7)
}

// TreeDirs is the number of directories at the top of the tree.
const TreeDirs = 6

// tree makes some 100 files in directories that are not deep, with links among them.
func (w writer) tree(top string) {
	w.file(top+"/first", "first\n")
	for d := range TreeDirs {
		dir := fmt.Sprintf("%s/d%d", top, d)
		for f := range 12 {
			w.file(fmt.Sprintf("%s/f%d.txt", dir, f), strings.Repeat(fmt.Sprintf("line of file %d in %d\n", f, d), f*d%40))
		}
		w.file(dir+"/sub/deep/er/file.c", "int x;\n")
		w.link("f1.txt", dir+"/soft")
		w.link("../d0", dir+"/up")
		w.link("/srv/tree/first", dir+"/absolute")
		w.link("nowhere", dir+"/dangling")
	}
}

// modules writes modules that load each other by relative path, by name from node_modules, and as directories.
func (w writer) modules(top string) {
	const packages = 70
	var main strings.Builder
	main.WriteString("let sum = 0;\n")
	for p := range packages {
		dir := fmt.Sprintf("%s/node_modules/p%d", top, p)
		w.file(dir+"/package.json", fmt.Sprintf(`{"name": "p%d", "version": "1.0.0", "main": "./lib/index.js"}`, p))
		var index strings.Builder
		index.WriteString("let sum = 0;\n")
		for m := range Modules/packages - 1 {
			name := fmt.Sprintf("./m%d", m)
			if m%5 == 0 {
				w.file(fmt.Sprintf("%s/lib/m%d/index.js", dir, m), fmt.Sprintf("module.exports = %d;\n", p+m))
			} else {
				w.file(fmt.Sprintf("%s/lib/m%d.js", dir, m), fmt.Sprintf("module.exports = %d;\n", p+m))
			}
			fmt.Fprintf(&index, "sum += require('%s');\n", name)
		}
		if p > 0 {
			fmt.Fprintf(&index, "sum += require('p%d') %% 1000;\n", p-1)
		}
		index.WriteString("module.exports = sum;\n")
		w.file(dir+"/lib/index.js", index.String())
		fmt.Fprintf(&main, "sum += require('p%d');\n", p)
	}
	main.WriteString("console.log(sum, Object.keys(require.cache).length);\n")
	w.file(top+"/main.js", main.String())
}

// project writes a small C program with a makefile.
func (w writer) project(dir string) {
	w.file(dir+"/calculate.h", "int sum(int, int);\nint product(int, int);\nvoid show(const char *, int);\n")
	w.file(dir+"/sum.c", "#include \"calculate.h\"\nint sum(int a, int b) { return a + b; }\n")
	w.file(dir+"/product.c", "#include \"calculate.h\"\nint product(int a, int b) { int r = 0; while (b-- > 0) r = sum(r, a); return r; }\n")
	w.file(dir+"/show.c", "#include <stdio.h>\n#include <string.h>\n#include \"calculate.h\"\nvoid show(const char *what, int v) { printf(\"%zu %s %d\\n\", strlen(what), what, v); }\n")
	w.file(dir+"/main.c", "#include <stdlib.h>\n#include \"calculate.h\"\nint main(int argc, char **argv) {\n\tif (argc != 3) return 2;\n"+
		"\tshow(\"sum\", sum(atoi(argv[1]), atoi(argv[2])));\n\tshow(\"product\", product(atoi(argv[1]), atoi(argv[2])));\n\treturn 0;\n}\n")
	w.file(dir+"/Makefile", "CFLAGS = -O1 -Wall\nOBJECTS = main.o sum.o product.o show.o\ncalculate: $(OBJECTS)\n\tgcc -o $@ $(OBJECTS)\n"+
		"%.o: %.c calculate.h\n\tgcc $(CFLAGS) -c -o $@ $<\nclean:\n\trm -f calculate $(OBJECTS)\n")
}

// history is a stream for git fast-import: a few hundred files and 15 commits.
func history() string {
	var b strings.Builder
	blob := func(path, text string) { fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text) }
	for c := range 8 {
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter A Person <person@example.org> %d +0000\ndata %d\ncommit %d\n", 1000000000+c*1000, len(fmt.Sprintf("commit %d", c)), c)
		for d := range 5 {
			for f := range 12 {
				if c == 0 || (d*12+f)%8 == c {
					blob(fmt.Sprintf("d%d/f%d.txt", d, f), strings.Repeat(fmt.Sprintf("text %d of %d in %d\n", c, f, d), 3+f))
				}
			}
		}
	}
	return b.String()
}

// numbers is a script for sqlite3.
func numbers() string {
	var b strings.Builder
	b.WriteString("create table numbers(n integer primary key, t text);\n")
	for i := range 60 {
		fmt.Fprintf(&b, "insert into numbers values(%d, 'number %d');\n", i, i)
	}
	b.WriteString("begin;\n")
	for i := range 600 {
		fmt.Fprintf(&b, "insert into numbers values(%d, 'number %d');\n", 1000+i, i)
	}
	b.WriteString("commit;\ncreate index texts on numbers(t);\nattach 'other.db' as other;\ncreate table other.copy as select * from numbers;\n" +
		"delete from numbers where n % 7 = 0;\nvacuum;\nselect count(*) from other.copy;\n")
	return b.String()
}

// walk is a program for perl.
const walk = `use strict; use warnings;
use File::Find; use File::Path qw(make_path remove_tree); use File::Copy qw(copy move); use File::Temp qw(tempfile);
use File::Spec; use Cwd qw(getcwd abs_path); use Digest::MD5; use Data::Dumper; use POSIX qw(strftime); use IO::File; use List::Util qw(sum);
my %seen; my $bytes = 0;
find({ no_chdir => 0, wanted => sub {
	my @s = lstat($_); my $t = -l _ ? readlink($_) : ''; $seen{$File::Find::name} = "$s[2] $s[7] $t"; $bytes += -s _ if -f _;
	if (-f $_ && !-l $_) { open(my $f, '<', $_) or die; my $d = Digest::MD5->new; $d->addfile($f); $seen{$File::Find::name} .= $d->hexdigest }
} }, $ARGV[0]);
print "$_ $seen{$_}\n" for sort keys %seen;
print "$bytes bytes, ", scalar(keys %seen), " names\n";
make_path('made/a/b/c'); chdir 'made/a' or die; print getcwd(), ' ', abs_path('..'), ' ', abs_path('/srv/tree/d1/up'), "\n";
for my $n (1 .. 12) { open(my $o, '>', "b/x$n") or die; print $o "text $n\n"; close $o; copy("b/x$n", "b/y$n"); move("b/y$n", "b/c/z$n"); chmod 0600, "b/c/z$n"; utime 1, $n, "b/c/z$n" }
symlink 'b', 'link'; opendir(my $d, 'link/c') or die; print join(' ', sort readdir $d), "\n";
my %lines; find({ no_chdir => 1, wanted => sub {
	return unless -f $_ && -r _ && /\.p[ml]$/;
	open(my $f, '<', $_) or die; while (<$f>) { $lines{$File::Find::name}++ if /^\s*sub\s/ }
} }, $ARGV[1]);
print scalar(keys %lines), " modules, ", sum(values %lines), " functions\n";
unlink glob 'b/x1*'; rename 'b/c', 'moved'; remove_tree('b'); print join(' ', sort glob('*/*')), "\n";
`
