package reflector

import "sync"

// position is how far the sink has been told, and so where to go on.
type position struct {
	mu sync.Mutex
	// version is that of the last list, event or bookmark.
	version string
	// unavailable is true after the server couldn't serve version.
	unavailable bool
}

func (p *position) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version
}

func (p *position) set(version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = version
}

func (p *position) setUnavailable(unavailable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unavailable = unavailable
}

// forList is the version to list at. The first list asks for "0", anything that
// the server's watch cache has. Later ones ask for something no older than what
// was seen, so that the sink never goes back in time. Where the server can't
// serve that, "" asks for the newest, by a quorum read.
func (p *position) forList() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.unavailable:
		return ""
	case p.version == "":
		return "0"
	}
	return p.version
}

// forStreaming is the version to stream a list at. Its empty version means the
// newest as well, and is the cheap way to ask for it.
func (p *position) forStreaming() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unavailable {
		return ""
	}
	return p.version
}
