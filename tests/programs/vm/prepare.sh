# Makes the inputs that are best made with the programs themselves; runs in the guest, without PRoot.
set -e
cd /work
git init -q --bare repo.git
git -C repo.git fast-import --quiet < inputs/history
git -C repo.git symbolic-ref HEAD refs/heads/main
mkdir pylib
cp -a /usr/lib/python3.11/[a-h]*.py /usr/lib/python3.11/json /usr/lib/python3.11/email /usr/lib/python3.11/logging pylib
rm -rf pylib/*/__pycache__
mkdir debs
for p in alpha beta gamma delta; do
	mkdir -p /tmp/build/$p/DEBIAN /tmp/build/$p/usr/share/$p/deep/er /tmp/build/$p/etc/$p
	for i in 1 2 3 4 5 6 7 8 9; do echo "$p $i" > /tmp/build/$p/usr/share/$p/file$i; done
	ln /tmp/build/$p/usr/share/$p/file1 /tmp/build/$p/usr/share/$p/deep/hard
	ln -s ../file2 /tmp/build/$p/usr/share/$p/deep/soft
	echo "setting = $p" > /tmp/build/$p/etc/$p/config
	echo /etc/$p/config > /tmp/build/$p/DEBIAN/conffiles
	printf '#!/bin/sh\nset -e\nmkdir -p /var/lib/%s\necho "$1" > /var/lib/%s/state\n' $p $p > /tmp/build/$p/DEBIAN/postinst
	chmod 755 /tmp/build/$p/DEBIAN/postinst
done
# make_deb NAME VERSION [FIELD]
make_deb() {
	printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: a package of the test\n%s' "$1" "$2" "$3" > /tmp/build/$1/DEBIAN/control
	find /tmp/build/$1 -exec touch -h -d @1000000000 {} +
	dpkg-deb --root-owner-group -Zgzip -b /tmp/build/$1 /work/debs >/dev/null
}
make_deb alpha 1.0
make_deb beta 1.0 'Depends: alpha
'
make_deb gamma 1.0
make_deb delta 1.0 'Depends: gamma (>= 1.0)
'
echo "more" >> /tmp/build/alpha/usr/share/alpha/file3; rm /tmp/build/alpha/usr/share/alpha/file4
make_deb alpha 1.1
rm -r /tmp/build
