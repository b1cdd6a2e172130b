package pipeline

import (
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// TestCardConfusions: the card names the classes that the account says are taken for others.
func TestCardConfusions(t *testing.T) {
	shown := must.Get(embedding.Collect(t.Context(), &countedRows{items: photosOf(1, 3)}))(t)
	m, _ := must.Get2(model.Train(t.Context(), model.Settings{Method: "plda"}, model.NewBatch(shown)))(t)
	as := "owl|1"
	i := &Inspected{Model: m, file: "a.model", Account: account.Account{Classes: []account.Class{
		{Class: "bat", TakenFor: &as, Times: 2, Of: 3, Low: 0.21, High: 0.94}, {Class: "cat"},
	}}}
	var card strings.Builder
	must.Do(t, i.WriteCard(&card))
	const want = "- bat, for owl\\|1: 2 of 3 (21 % to 94 % of all)\n"
	if !strings.Contains(card.String(), want) || strings.Contains(card.String(), "- cat") {
		t.Errorf("want %q in\n%s", want, card.String())
	}
}
