package command

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A once is the value of a flag that has one. A second one is an error: it would
// replace the first in silence.
type once struct {
	pflag.Value
	given *string
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.given != nil && *o.given != text {
		return fmt.Errorf("it is given twice, first as %q, and has one value", *o.given)
	}
	o.given = &text
	return o.Value.Set(text)
}

// giveOnce makes a once of every flag of a command, and of those below it, that does
// not collect its values in a list.
func giveOnce(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			_, list := f.Value.(pflag.SliceValue)
			if _, done := f.Value.(*once); !list && !done {
				f.Value = &once{Value: f.Value}
			}
		})
	}
	for _, sub := range cmd.Commands() {
		giveOnce(sub)
	}
}
