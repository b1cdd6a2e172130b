package account_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// Of three photos one was decided, one cannot be read, and one has a label by a model about which nothing is known.
func Example() {
	t := account.NewTally(calibration.Calibration{}, []string{"cat", "dog"})
	t.Decide(account.Person, "cat")
	t.Label(t.Column("dog"), 0.9, 0, false)
	t.Rest(1, 0, 0)
	for _, line := range t.Account(account.Situation{Read: 2}).Lines() {
		fmt.Println(line)
	}
	// Output:
	// 1 decided one by one, 1 unreadable, 1 labelled by the model alone
	// how many labels are right is not known, and probabilities are rough: fewer than 20 photos can be left out
}
