package move

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// finish reports a plan's changes, and writes them if that is asked for.
func (m *mover) finish(ctx context.Context, p *plan) (err error) {
	if p.untidy != nil {
		_, text, _ := strings.Cut(p.untidy.Error(), "\n")
		m.report.byHand(m.relative(m.path("go.mod")), 0, "go mod tidy fails, so go.mod may require more than it "+
			"has to: "+text)
	}
	texts := maps.Clone(p.files)
	for _, name := range []string{"go.mod", "go.sum"} {
		if texts[m.path(name)], err = p.read(name); err != nil {
			return err
		}
	}
	if len(texts[m.path("go.sum")]) == 0 {
		texts[m.path("go.sum")] = nil
	}
	if m.oldWork != nil {
		texts[m.workspace] = m.oldWork
	} else if m.workspace != "" {
		if texts[m.workspace], err = p.workText(false); err != nil {
			return err
		}
	}
	if texts, err = changedOnly(texts); err != nil {
		return err
	}
	if err := m.reportChanges(texts); err != nil {
		return err
	}
	if !m.Write || len(texts) == 0 {
		return nil
	}
	_, modChanges := texts[m.path("go.mod")]
	vendored := m.vendored() && (modChanges || len(p.files) > 0)
	if err := m.committed(ctx, texts, vendored); err != nil {
		return err
	}
	if !vendored {
		return writeAll(texts)
	}
	return m.writeVendored(ctx, p, texts)
}

// committed returns an error unless git can restore all files that a run writes: those on the disk are
// committed, or the run itself restores them.
func (m *mover) committed(ctx context.Context, texts map[string][]byte, vendored bool) error {
	found, err := m.git.uncommitted(ctx, slices.Sorted(maps.Keys(texts)))
	if err != nil {
		return err
	}
	var lost uncommittedError
	restores := false
	for _, name := range found {
		text, known := texts[name]
		if head := m.git.head(ctx, name); m.Back && known && string(head) == string(text) {
			restores = true
			continue
		}
		lost = append(lost, m.relative(name))
	}
	if vendored && !restores {
		changed, err := m.git.changed(ctx, m.path("vendor"))
		if err != nil {
			return err
		}
		lost = append(lost, changed...)
	}
	if len(lost) > 0 {
		return lost
	}
	return nil
}

// writeVendored writes files and the vendor folder that follows from them. The new folder is made first,
// because that may fail.
func (m *mover) writeVendored(ctx context.Context, p *plan, texts map[string][]byte) (err error) {
	next, err := os.MkdirTemp(m.root, ".kubewright-vendor-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(next)) }()
	folder := filepath.Join(next, "vendor")
	if err := p.vendor(ctx, folder); err != nil {
		return err
	}
	old := map[string][]byte{}
	for name := range texts {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		old[name] = text
	}
	if err := writeAll(texts); err != nil {
		return err
	}
	if err := swap(m.path("vendor"), folder); err != nil {
		return errors.Join(err, writeAll(old))
	}
	m.report.change(m.relative(m.path("vendor")), 0, "go mod vendor")
	return nil
}
