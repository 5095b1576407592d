package fault

// All returns the table of faults, in the order of documentation:
//
// Network and server within their contract (Kept):
//
//	delay, slow-headers, no-answer, throttle, reset, refused, cut, cut-mid-frame, cut-mid-rune, close-early,
//	stream-reset, black-hole, half-open, goaway, goaway-cut, certificate-rotation, wrong-certificate, restart,
//	410-list, 410-watch, 410-event, expired-token, too-large-version, 429, 429-retry-after, 500, 500-event, 502-html,
//	503, 504, 403-while, 401-while, 404-while, missing-bookmarks
//
// Unusable:
//
//	wrong-content-type, empty-body, truncated-list, truncated-event, corrupt-list, corrupt-event,
//	corrupt-framing, gzip-ends-early, no-end-bookmark, unknown-event, status-200
//
// Wrong:
//
//	duplicate-events, repeated-events, older-events, lost-event, swapped-events, stale-list
func All() []Fault
