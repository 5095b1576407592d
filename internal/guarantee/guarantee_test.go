package guarantee

import "testing"

func TestTable(t *testing.T) {
	rows := Table()
	if first := rows[0]; first.Guarantee != Complete || first.Of != "informers" {
		t.Errorf("the first row is %+v", first)
	}
	if last := rows[len(rows)-1]; last.Guarantee != NoneUnowned || last.Of != "ranges" {
		t.Errorf("the last row is %+v", last)
	}
	seen := map[Guarantee]bool{}
	for _, row := range rows {
		if row.Means == "" || seen[row.Guarantee] {
			t.Errorf("%+v has no meaning, or comes twice", row)
		}
		seen[row.Guarantee] = true
	}
}
