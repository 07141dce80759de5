module svcrelay

go 1.26.0

require (
	github.com/cavaliergopher/cpio v1.0.1
	github.com/elastic/go-seccomp-bpf v1.6.0
	github.com/spf13/pflag v1.0.10
	github.com/twitchyliquid64/golang-asm v0.15.1
	golang.org/x/arch v0.33.0
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.50.0
	golang.org/x/tools v0.52.0
)

require (
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
