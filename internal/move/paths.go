package move

const (
	// own is the path of our main module. The modules beside it have their folders' names after it.
	own = "github.com/kubewright/kubewright"

	ownManagers = own + "/contrib/controller-runtime"
	ownMetrics  = own + "/contrib/prometheus"

	clientGo    = "k8s.io/client-go"
	managers    = "sigs.k8s.io/controller-runtime/pkg/manager"
	controllers = "sigs.k8s.io/controller-runtime"
)

// move is an import path that changes.
type move struct{ from, to string }

// moves are the packages of client-go that ours replace. Each of ours has all names of client-go's.
var moves = []move{
	{clientGo + "/informers", own + "/informers"},
	{clientGo + "/tools/cache", own + "/runtime/cache"},
	{clientGo + "/util/workqueue", own + "/runtime/workqueue"},
	{clientGo + "/dynamic/dynamicinformer", own + "/informers/dynamicinformer"},
	{clientGo + "/metadata/metadatainformer", own + "/informers/metadatainformer"},
}

// movesOf are the moves in a direction: those above, or the reverse.
func movesOf(back bool) map[string]string {
	paths := map[string]string{}
	for _, m := range moves {
		if back {
			m.from, m.to = m.to, m.from
		}
		paths[m.from] = m.to
	}
	return paths
}
