package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

var errNotReady = errors.New("images cannot be labelled on this machine; the lines marked ✗ say what to do")

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check what works on this machine and how to fix what does not",
		Example: "  pipeline doctor",
		Args:    arguments,
		RunE:    command(func(ctx context.Context, a *app, _ []string) error { return a.doctor(ctx) }),
	}
	jsonFlag(cmd.Flags(), "write the result as JSON")
	return cmd
}

func (a *app) doctor(ctx context.Context) error {
	d, err := a.Diagnose(ctx)
	if err == nil && a.json != "" {
		err = a.writeJSON(d)
	}
	if !d.Ready {
		err = errors.Join(err, errNotReady)
	}
	return err
}
