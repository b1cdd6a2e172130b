package serve

// Windows does not let a file be replaced that is open, so the list of recent projects is read and
// written by one at a time.

func (d *Desk) listed() ([]string, error) {
	d.recent.Lock()
	defer d.recent.Unlock()
	return d.Recent.List()
}

func (d *Desk) list(dir string) error {
	d.recent.Lock()
	defer d.recent.Unlock()
	return d.Recent.Add(dir)
}

func (d *Desk) unlisted(dir string) error {
	d.recent.Lock()
	defer d.recent.Unlock()
	return d.Recent.Remove(dir)
}
