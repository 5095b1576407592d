package eyes

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the snapshot as plain text: the findings first, then tables.
func (s *Snapshot) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "looked at %s", s.Taken.Format(time.RFC3339))
	if s.Compared.IsZero() {
		b.WriteString(" for the first time: some findings need another look, ten seconds later or more\n\n")
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
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	row(t, "SOURCE", "INFORMER", "FORM", "STATE", "FOR", "SYNCED", "OBJECTS", "LISTS", "WATCHES", "LAST EVENT",
		"LAG 50% 99%", "FAILURES")
	for _, i := range s.Informers {
		what := i.resource()
		if i.Namespace != "" {
			what += " in " + i.Namespace
		}
		row(t, i.Source, what, i.Form, i.State, s.age(i.Since), yesNo(i.Synced),
			known(i.Unread == "", i.Objects), known(i.Unread == "", i.Lists), known(i.Unread == "", i.Watches),
			s.age(i.LastEvent), i.Lag, known(i.Unread == "", i.Failures))
	}
	_ = t.Flush()
	b.WriteString("\n")
	row(t, "SOURCE", "INFORMER", "HANDLER", "SYNCED", "BACKLOG", "DELIVERED", "BUSY", "PANICS")
	for _, i := range s.Informers {
		for _, h := range i.Handlers {
			row(t, i.Source, i.resource(), h.shown(), yesNo(h.Synced), h.Backlog, h.Delivered,
				yesNo(h.Busy), h.Panics)
		}
	}
	_ = t.Flush()
}

func (s *Snapshot) writeQueues(b *strings.Builder) {
	if len(s.Queues) == 0 {
		return
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	row(t, "QUEUE", "READY", "IN PROCESS", "AGAIN", "PARKED", "DELAYED", "NEXT DUE", "HANDED OUT",
		"LONGEST RUNNING", "OLDEST WAITING", "FAILING")
	for _, q := range s.Queues {
		row(t, q.Source, q.Ready, q.InProcess, q.Again, q.Parked, q.Delayed, seconds(q.NextDueSeconds),
			q.HandedOut, measured(q.LongestRunningSeconds), measured(q.OldestWaitingSeconds), q.Failing)
	}
	_ = t.Flush()
}

func (s *Snapshot) writeMembers(b *strings.Builder) {
	if len(s.Members) == 0 {
		return
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	row(t, "SOURCE", "MEMBER", "OWNED", "FOR", "GIVING", "OWNERS", "UNOWNED", "GAINED", "LOST", "RUNNING",
		"WAITING", "HUNG", "LOST MEMBERS", "LOST AGO")
	for _, m := range s.Members {
		row(t, m.Source, m.Identity, strings.Join(m.Owned, " "), s.age(m.Since), strings.Join(m.Giving, " "),
			m.Owners, strings.Join(m.Unowned, " "), m.Gained, m.Lost, m.Running, m.Waiting, m.Hung,
			strings.Join(m.LostMembers, " "), s.age(m.LostAt))
	}
	_ = t.Flush()
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

// row writes the cells of a line.
func row(w io.Writer, cells ...any) {
	texts := make([]string, 0, len(cells))
	for _, c := range cells {
		texts = append(texts, clean(cmp.Or(fmt.Sprint(c), "-")))
	}
	fmt.Fprintln(w, strings.Join(texts, "\t"))
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

// age returns how long ago a time was, "-" if it never was.
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

func known(isKnown bool, n int) string {
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
