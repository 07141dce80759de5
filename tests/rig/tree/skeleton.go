package tree

// Skeleton returns the tree every Debian root starts from: merged /usr, mount points, a root user.
func Skeleton() (*Tree, error) {
	t := New()
	for _, dir := range []string{"usr/bin", "usr/sbin", "usr/lib", "proc", "sys", "dev", "etc", "var/tmp", "run", "home"} {
		if err := t.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
	}
	t.Mkdir("root", 0o700)
	t.Mkdir("tmp", 0o1777)
	for _, dir := range []string{"bin", "sbin", "lib"} {
		if err := t.Symlink(dir, "usr/"+dir); err != nil {
			return nil, err
		}
	}
	files := map[string]string{
		"etc/passwd":   "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home:/bin/sh\n",
		"etc/group":    "root:x:0:\nuser:x:1000:\n",
		"etc/hostname": "rig\n",
		"etc/hosts":    "127.0.0.1 localhost rig\n",
	}
	for name, text := range files {
		if err := t.WriteFile(name, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return t, nil
}
