# Runs in a guest: damages the site cache in every way and says, for each, what a program that is started then searches.
# Lines of output: NAME|SEARCHED|SITES, where SEARCHED is the libraries searched, of how many.
dir=/tmp/svcrelay-$(/usr/bin/id -u)
expect=/opt/sitecache

# x runs a command with a library that does nothing, so that it does not mend the cache.
x() { PROOT_FP_OFF=1 "$@"; }

# say starts a program and says what it has searched.
say() {
	name=$1
	shift
	env "$@" /bin/true 2>&1 >/dev/null | {
		all=
		while read -r line; do all="$all$line"; done
		sites=${all#* libc=}
		searched=${all#* scanned=}
		echo "$name|${searched%% *}|${sites%% scanned*}"
	}
}

# env starts the program right away: the program of that name would mend the cache first.
env() { (
	while case $1 in *=*) : ;; *) false ;; esac; do export "$1"; shift; done
	exec "$@"
); }

# file is the only file of the cache.
file() {
	set -- "$dir"/*
	[ $# = 1 ] || echo "files: $*"
	f=$1
}

# case NAME COMMAND...: damage, then two starts.
damaged() {
	name=$1
	shift
	/bin/true 2>/dev/null # there is a good one
	file
	"$@"
	say "$name"
	say "$name again"
	x rm -rf "$dir" /tmp/aside /tmp/good /tmp/hard
}

symlink() { x mv "$f" /tmp/good && x ln -s /tmp/good "$f"; }
fifo() { x rm "$f" && x mkfifo "$f"; }
directory() { x rm "$f" && x mkdir "$f"; }
dirlink() { x mv "$dir" /tmp/aside && x ln -s aside "$dir"; }
dirfile() { x mv "$dir" /tmp/aside && x touch "$dir"; }
bytes() { printf '\377\376\375' | x dd of="$f" bs=1 seek="$1" conv=notrunc status=none; }

kinds() {
	say "warm"
	file
	damaged "missing" x rm "$f"
	damaged "directory missing" x rm -rf "$dir"
	damaged "empty" x truncate -s 0 "$f"
	damaged "short" x truncate -s -1 "$f"
	damaged "a site short" x truncate -s -8 "$f"
	damaged "long" x truncate -s +8 "$f"
	damaged "checksum" bytes 5
	damaged "build-id" bytes 60
	damaged "offset" bytes 300
	damaged "foreign" x chown 1000 "$f"
	damaged "group may write" x chmod 620 "$f"
	damaged "all may write" x chmod 602 "$f"
	damaged "hard link" x ln "$f" /tmp/hard
	damaged "symlink" symlink
	damaged "dangling symlink" x ln -sf nowhere "$f"
	damaged "FIFO" fifo
	damaged "lasting: a directory" directory
	damaged "lasting: foreign directory" x chown 1000 "$dir"
	damaged "lasting: directory of the group" x chmod 770 "$dir"
	damaged "lasting: directory a symlink" dirlink
	damaged "lasting: directory a file" dirfile
}

# others are settings that the program makes, not the file.
others() {
	x rm -rf "$dir"
	say "off" PROOT_FP_SVC_CACHE=0
	[ ! -e "$dir" ] || echo "switched off, it has made $dir"
	x mkdir -p /tmp/other
	say "TMPDIR" TMPDIR=/tmp/other
	say "TMPDIR again" TMPDIR=/tmp/other
	x rmdir /tmp/other || echo "there is something in /tmp/other"
	x rm /tmp/svcrelay-*/*
	say "no file"
	say "no file again"
	x rm /tmp/svcrelay-*/*
	say "no build-id" LD_LIBRARY_PATH=$expect/unnamed
	say "lasting: no build-id again" LD_LIBRARY_PATH=$expect/unnamed
	x rm -rf "$dir"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do /bin/true 2>/dev/null & done
	wait
	say "warm after twelve at once"
	file
}

# cost times starts. What comes before the program does nothing, and so leaves the cache as it is.
cost() {
	t() { name=$1; shift; echo "cost $name|$(x /opt/sitecache/timed /dev/null /dev/null /usr/bin/env "$@" /bin/true)"; }
	for i in 1 2 3; do
		x rm -rf "$dir"
		t cold -u PROOT_FP_OFF
		t warm -u PROOT_FP_OFF
		t none -u PROOT_FP_OFF PROOT_FP_SVC_CACHE=0
		t inert PROOT_FP_OFF=1
	done
}

for part; do
	case $part in
	twice) say "$part"; say "$part again" ;;
	*) $part ;;
	esac
done
