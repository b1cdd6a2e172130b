package report

import (
	"bufio"
	"embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed assets
var assets embed.FS

// Write writes the page to w. On error the output is incomplete, so write to a
// temporary file.
func Write(w io.Writer, p Page) error {
	if err := p.Validate(); err != nil {
		return err
	}
	v, err := newView(p)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	t, err := template.New("page.html").Funcs(template.FuncMap{"count": count, "plural": plural, "show": showName}).ParseFS(assets, "assets/*.html")
	if err != nil {
		return fmt.Errorf("report: parse template: %w", err)
	}
	out := bufio.NewWriter(w)
	if err = t.Execute(out, v); err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("report: write page: %w", err)
	}
	return nil
}
