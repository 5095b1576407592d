package eyes

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the snapshot as plain text: the findings first, then tables. What else is known of a row
// is below it.
func (s *Snapshot) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "looked at %s", s.Taken.Format(time.RFC3339))
	if s.Compared.IsZero() {
		b.WriteString("; nothing to compare with yet: some findings need a look ten seconds later\n\n")
	} else {
		fmt.Fprintf(&b, ", and compared with %s ago\n\n", s.Taken.Sub(s.Compared).Round(time.Second))
	}
	if len(s.Findings) == 0 {
		b.WriteString("no findings\n")
	}
	for _, f := range s.Findings {
		fmt.Fprintln(&b, clean(f.String()))
	}
	s.writeInformers(&b)
	s.writeQueues(&b)
	s.writeMembers(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Snapshot) writeInformers(b *strings.Builder) {
	if len(s.Informers) == 0 {
		return
	}
	informers := newTable("SOURCE", "INFORMER", "FORM", "STATE", "FOR", "SYNCED", "OBJECTS", "LISTS", "WATCHES",
		"LAST EVENT", "LAG 50% 99%", "FAILURES")
	handlers := newTable("SOURCE", "INFORMER", "HANDLER", "SYNCED", "BACKLOG", "DELIVERED", "BUSY", "PANICS")
	for n := range s.Informers {
		i := &s.Informers[n]
		what := i.resource()
		if i.Namespace != "" {
			what += " in " + i.Namespace
		}
		informers.row(i.Source, what, i.Form, i.State, s.age(i.Since), yesNo(i.Synced),
			known(i.Unread == "", i.Objects), known(i.Unread == "", i.Lists), known(i.Unread == "", i.Watches),
			s.age(i.LastEvent), i.Lag, known(i.Unread == "", i.Failures))
		s.writeMore(informers, i)
		for _, h := range i.Handlers {
			handlers.row(i.Source, strings.TrimPrefix(i.Name, "informer of "), h.shown(), yesNo(h.Synced),
				h.Backlog, h.Delivered, yesNo(h.Busy), h.Panics)
		}
	}
	informers.writeTo(b)
	handlers.writeTo(b)
}

// writeMore writes what else is known of an informer. What isn't as usual has lines of its own.
func (s *Snapshot) writeMore(t *table, i *Informer) {
	t.below("not known, because", i.Unread)
	t.below("failing for", s.age(i.FailingSince), "reason", i.Reason)
	t.below("last error", i.LastError, "its object", i.LastErrorKey)
	if i.ListingSince != nil {
		t.below("listing for", s.age(*i.ListingSince))
	}
	t.below("relisted because of", i.Relisted, "its object", i.RelistedKey)
	t.below("not streamed, because", i.NotStreamed)
	t.below("label selector", i.LabelSelector, "field selector", i.FieldSelector)
	took, items, mutations := "", "", ""
	switch {
	case i.Unread != "":
	case i.Mutations == nil:
		mutations = "not looked for"
	case *i.Mutations == 0:
		mutations = "none found in samples"
	default:
		t.below("modified objects", fmt.Sprint(*i.Mutations), "the last of them", i.MutatedKey)
	}
	if i.ListSeconds > 0 {
		took = fmt.Sprintf("%.3fs", i.ListSeconds)
	}
	if i.ListItems != nil {
		items = fmt.Sprint(*i.ListItems)
	}
	t.below("name", i.Name, "version", i.Version, "resource version", i.ResourceVersion,
		"since the last list", s.age(i.Listed), "it took", took, "its objects", items,
		"its bytes", known(i.ListBytes > 0, i.ListBytes), "since the last bookmark", s.age(i.LastBookmark),
		"dropped fields", strings.Join(i.Dropped, ", "), "indexes", strings.Join(i.Indexes, ", "),
		"modified objects", mutations, "lag isn't known, because", i.LagUnknown)
}

func (s *Snapshot) writeQueues(b *strings.Builder) {
	if len(s.Queues) == 0 {
		return
	}
	t := newTable("QUEUE", "READY", "IN PROCESS", "AGAIN", "PARKED", "DELAYED", "NEXT DUE", "HANDED OUT",
		"LONGEST RUNNING", "OLDEST WAITING", "FAILING")
	for _, q := range s.Queues {
		t.row(q.Source, q.Ready, q.InProcess, q.Again, q.Parked, q.Delayed, seconds(q.NextDueSeconds),
			q.HandedOut, measured(q.LongestRunningSeconds), measured(q.OldestWaitingSeconds), q.Failing)
		t.below("longest running item", q.RunningKey)
		t.below("handed out before own writes", known(q.Late > 0, q.Late), "missed by", q.LateFor,
			"the last object", q.LateKey)
	}
	t.writeTo(b)
}

func (s *Snapshot) writeMembers(b *strings.Builder) {
	if len(s.Members) == 0 {
		return
	}
	t := newTable("SOURCE", "MEMBER", "OWNED", "FOR", "GIVING", "OWNERS", "UNOWNED", "GAINED", "LOST", "RUNNING",
		"WAITING", "HUNG", "LOST MEMBERS", "LOST AGO")
	for _, m := range s.Members {
		t.row(m.Source, m.Identity, strings.Join(m.Owned, " "), s.age(m.Since), strings.Join(m.Giving, " "),
			m.Owners, strings.Join(m.Unowned, " "), m.Gained, m.Lost, m.Running, m.Waiting, m.Hung,
			strings.Join(m.LostMembers, " "), s.age(m.LostAt))
		t.below("may begin no work, because", m.Error, "its object", m.ErrorKey)
		t.below("ranges have had no owner for", s.age(m.UnownedSince),
			"objects in them, by the last count", known(m.UnownedObjects > 0, m.UnownedObjects))
	}
	t.writeTo(b)
}

// table is a table whose rows have lines below them, which its columns don't depend on.
type table struct {
	text  strings.Builder
	cells *tabwriter.Writer
	// more are the lines below each line of the text.
	more []string
}

func newTable(titles ...any) *table {
	t := &table{}
	t.cells = tabwriter.NewWriter(&t.text, 0, 0, 2, ' ', 0)
	t.row(titles...)
	return t
}

// row writes the cells of a line.
func (t *table) row(cells ...any) {
	texts := make([]string, 0, len(cells))
	for _, c := range cells {
		texts = append(texts, clean(cmp.Or(fmt.Sprint(c), "-")))
	}
	fmt.Fprintln(t.cells, strings.Join(texts, "\t"))
	t.more = append(t.more, "")
}

// below writes a line below the last row, of pairs of a title and a text. It leaves out empty texts.
func (t *table) below(pairs ...string) {
	var parts []string
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			parts = append(parts, pair[0]+": "+clean(pair[1]))
		}
	}
	if len(parts) > 0 {
		t.more[len(t.more)-1] += "  " + strings.Join(parts, "; ") + "\n"
	}
}

func (t *table) writeTo(b *strings.Builder) {
	_ = t.cells.Flush()
	b.WriteString("\n")
	n := 0
	for line := range strings.Lines(t.text.String()) {
		b.WriteString(line + t.more[n])
		n++
	}
}

// resource returns what the informer caches, its name if that is unknown.
func (i *Informer) resource() string {
	if i.Resource == "" || i.Group == "" {
		return cmp.Or(i.Resource, i.Name)
	}
	return i.Resource + "." + i.Group
}

// folders are those of import paths in the name of a handler.
var folders = regexp.MustCompile(`[\w.~-]+/`)

// shown returns the name. If the handler was added without one, it is that of a type or function: then it is
// shown without the folders of packages, and with the place where the handler was added.
func (h *Handler) shown() string {
	if h.At == "" {
		return h.Name
	}
	return folders.ReplaceAllString(h.Name, "") + " (" + h.At + ")"
}

// clean replaces what would begin a new line or cell, or control a terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// age returns how long ago a time was, empty if it never was.
func (s *Snapshot) age(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return s.Taken.Sub(t).Round(time.Second).String()
}

func seconds(n *float64) string {
	if n == nil {
		return ""
	}
	return time.Duration(*n * float64(time.Second)).Round(time.Second).String()
}

// measured is seconds for a time that only queues with metrics know.
func measured(n *float64) string { return cmp.Or(seconds(n), "no metrics") }

func known[T int | int64 | uint64](isKnown bool, n T) string {
	if !isKnown {
		return ""
	}
	return fmt.Sprint(n)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
