package apiserver

import (
	"context"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// LeaseSeconds returns the times to live of etcd's leases, as they were requested.
func (s *Server) LeaseSeconds(ctx context.Context) (seconds []int64, err error) {
	list, err := s.etcd.Server.LeaseLeases(ctx, &etcdserverpb.LeaseLeasesRequest{})
	if err != nil {
		return nil, err
	}
	for _, lease := range list.Leases {
		one, err := s.etcd.Server.LeaseTimeToLive(ctx, &etcdserverpb.LeaseTimeToLiveRequest{ID: lease.ID})
		if err != nil {
			return nil, err
		}
		seconds = append(seconds, one.GrantedTTL)
	}
	return seconds, nil
}
