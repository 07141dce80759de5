// Package programs runs what people run under PRoot, with and without svcrelay, and compares: outputs, exit statuses and
// the files that are left must be the same, and nearly all system calls that have a path must have been answered without
// PRoot. See docs/programs.md for what is counted.
package programs

// Program is one of them: a line of shell that works in Work/Name of the guest.
type Program struct {
	Name    string
	Options []string // PRoot's
	Script  string
}

// Places in the guest. What programs get to work on lies below Work; each has a directory of its own there.
const (
	Work = "/srv"
	Tree = Work + "/tree" // many files of all kinds
	Debs = Work + "/debs"
)

var fakeRoot = []string{"-0", "--link2symlink"}

// distro is what proot-distro starts a PRoot with, as far as 5.4.0 knows it, apart from Android's directories.
var distro = []string{"--kill-on-exit", "--link2symlink", `--kernel-release=\Linux\localhost\6.17.0-PRoot-Distro\#1 SMP PREEMPT_DYNAMIC\aarch64\localdomain\-1\`,
	"--change-id=0:0", "-b", "/sys", "-b", "/dev/urandom:/dev/random", "-b", "/proc/self/fd:/dev/fd", "-b", "/proc/self/fd/0:/dev/stdin",
	"-b", "/proc/self/fd/1:/dev/stdout", "-b", "/proc/self/fd/2:/dev/stderr", "-b", "/etc/hostname:/proc/version"}

// All are the programs, in the order in which they run on one guest.
var All = []Program{
	{Name: "find", Script: `
find /srv/tree /usr/share/perl5 /usr/lib/apt -printf '%y %m %n %U %s %l %p\n' | sort
find /srv/tree -name '*.txt' -newer /srv/tree/first -exec cat {} + | cksum`},
	{Name: "ls", Script: `ls -lR --time-style=full-iso /srv/tree /usr/lib/python3.11/json /etc/apt`},
	{Name: "cp", Script: `
cp -a /srv/tree copy
cp -al copy links
diff -r --no-dereference /srv/tree links`},
	{Name: "rsync", Script: `
rsync -ai /srv/tree/ there/
rm -r there/d1; echo changed > there/first
rsync -aic --delete /srv/tree/ there/`},
	{Name: "tar", Script: `
tar --sort=name -C /srv -cf tree.tar tree
mkdir out; tar -C out -xpf tree.tar
tar -C out -df tree.tar
tar --sort=name -C out -czf again.tar.gz tree; tar -tvzf again.tar.gz | cksum`},
	{Name: "git", Script: `
git clone -q file:///srv/repo.git clone
cd clone
git status
for i in 1 2 3; do echo line $i >> d1/f1.txt; echo new $i > new$i; git add -A; git commit -qm "change $i"; done
git status --short; git log --oneline | head -20; git diff --stat HEAD~2
git -c pack.threads=1 gc -q
git fsck; git ls-files -s | cksum; git checkout -q HEAD~5; ls | cksum`},
	{Name: "dpkg", Options: fakeRoot, Script: `
dpkg -i /srv/debs/alpha_1.0_all.deb /srv/debs/beta_1.0_all.deb
dpkg -l alpha beta; dpkg -L beta; ls -lR --time-style=+ /usr/share/alpha
dpkg -i /srv/debs/alpha_1.1_all.deb
dpkg -P beta`},
	{Name: "apt", Options: fakeRoot, Script: `
apt-get install -y -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= /srv/debs/gamma_1.0_all.deb /srv/debs/delta_1.0_all.deb
dpkg -s gamma delta; ls -lR --time-style=+ /usr/share/gamma`},
	{Name: "distro-files", Options: distro, Script: `
tar -C /usr/share --sort=name -cf perl.tar perl5; mkdir out; tar -C out -xpf perl.tar
find out -printf '%y %m %n %U %s %l %p\n' | sort | cksum
cp -r out/perl5 copy; mv copy moved; diff -r out/perl5 moved; rm -r out moved
cat /proc/version; uname -r; id`},
	{Name: "distro-git", Options: distro, Script: `
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.createObject GIT_CONFIG_VALUE_0=rename # PRoot 5.4.0 makes bad links
git clone -q --no-hardlinks file:///srv/repo.git clone
cd clone; git status; echo line >> d1/f1.txt; git add -A; git commit -qm change; git log --oneline | head -3; git -c pack.threads=1 gc -q; git fsck`},
	{Name: "python", Script: `
export PYTHONHASHSEED=0
mkdir lib; cp /usr/lib/python3.11/[a-b]*.py lib; cp -r /usr/lib/python3.11/json lib; rm -rf lib/*/__pycache__
python3 -m compileall -q lib
python3 -m venv --without-pip venv
venv/bin/python -c 'import sys, json, email.message; print(sys.prefix, json.dumps({"a": [1, 2]}))'`},
	{Name: "perl", Script: `perl /srv/inputs/walk.pl /srv/tree /usr/share/perl5`},
	{Name: "node", Script: `node /srv/modules/main.js`},
	{Name: "gcc", Script: `
cp -a /srv/project/. .
make -s
./calculate 6 7
touch sum.c; make; make -s clean; ls`},
	{Name: "sqlite3", Script: `sqlite3 numbers.db < /srv/inputs/numbers.sql; sqlite3 numbers.db 'select count(*), sum(n), max(t) from numbers; pragma integrity_check'`},
}

// Request is what the program in the VM is asked to do.
type Request struct {
	Programs []Program
	Native   bool // run them without PRoot, too
	Log      bool // have every call that is left to PRoot written to the guest's /tmp/left
	Seconds  int  // begin no more programs after so long
}

// Run is one program, run once.
type Run struct {
	Status  string
	Seconds float64
	Stops   int // voluntary context switches of PRoot: it waits once between two stops
	Stats   *Stats
}

// Result is what became of one program.
type Result struct {
	Name                string
	Alone, With, Native Run
	Differences         []string // between Alone and With
	Output              string   // the end of what it said with svcrelay
}

// Reply is what comes back.
type Reply struct {
	Results []Result
	Left    []string // programs for which there was no time
	Changed []string // outside the programs' directories and those of the system's state: there should be nothing
	Files   int      // compared, all programs together
	Seconds map[string]float64
}
