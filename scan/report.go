package scan

// Report is what is found in one library. Its JSON form is a stable interface.
type Report struct {
	File    string `json:"file"`
	BuildID string `json:"buildid"`
	// Version is what the library says of itself; empty where it says nothing that is known.
	Version string `json:"version"`
	// SVC is the number of svc #0 instructions in its functions.
	SVC int `json:"svc"`
	// Path counts the sites that make a call which names a file.
	Path Share `json:"path"`
	// Dispatchers are the sites that make whatever call they are asked for.
	Dispatchers Dispatchers `json:"dispatchers"`
	// Calls counts the sites by call, patched or not.
	Calls map[string]Share `json:"calls"`
	// Patched are the sites that become branches.
	Patched []Site `json:"patched"`
	// Unpatched are the others.
	Unpatched []Site `json:"unpatched"`
}

// Share is a number of sites, and how many of them are patched.
type Share struct {
	Total   int `json:"total"`
	Patched int `json:"patched"`
}

// count adds a site.
func (s *Share) count(patched bool) {
	s.Total++
	if patched {
		s.Patched++
	}
}

// Dispatchers are the sites that make whatever call they are asked for.
type Dispatchers struct {
	Share
	List []Dispatcher `json:"list"`
}

// Dispatcher is one of them.
type Dispatcher struct {
	// Name is its function's: libraries are stripped, and where the name is gone it is known by what it does.
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	// How says how it is handled.
	How string `json:"how"`
}

// Site is one svc instruction, or a call of the function that makes one.
type Site struct {
	// Offset is its virtual address in the file.
	Offset uint64 `json:"offset"`
	// Symbol is the function that it is in, with the distance from its start; empty where no symbol is near.
	Symbol string `json:"symbol"`
	// Syscall is the name of the call, "any" for a dispatcher, "unknown" where the number was not found.
	Syscall string `json:"syscall"`
	// As says what a patched site is redirected as.
	As string `json:"as,omitempty"`
	// Why says why the site stays as it is; empty for a patched one.
	Why string `json:"why,omitempty"`
}
