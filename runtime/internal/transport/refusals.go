package transport

import (
	"net/http"
	"runtime"
	"sync"
	"weak"
)

// refusal is a host that has refused a request to leave metadata.managedFields out, and whose request that
// was. Clients of several servers may be one: [http.DefaultClient].
type refusal struct {
	client weak.Pointer[http.Client]
	host   string
}

// refusals has all refusals, until their clients are garbage. Most processes never have one. Transports can't
// remember them, because those for generated clients exist only for a request.
var refusals sync.Map

func refused(client *http.Client, host string) bool {
	_, found := refusals.Load(refusal{weak.Make(client), host})
	return found
}

func rememberRefusal(client *http.Client, host string) {
	key := refusal{weak.Make(client), host}
	if _, found := refusals.LoadOrStore(key, nil); !found {
		runtime.AddCleanup(client, func(key refusal) { refusals.Delete(key) }, key)
	}
}
