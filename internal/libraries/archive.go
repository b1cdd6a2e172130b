package libraries

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"
)

// content reads a library, or a tar that is compressed by xz, from a stream.
func (s *search) content(name string, size int64, b *bufio.Reader) error {
	if magic, _ := b.Peek(6); string(magic) != "\xfd7zXZ\x00" {
		return s.offer(name, size, b)
	}
	unpacked, err := xz.NewReader(b)
	if err != nil {
		return fmt.Errorf("not a complete archive: %w", err)
	}
	for archive := tar.NewReader(unpacked); ; {
		entry, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errCut
		case err != nil:
			return fmt.Errorf("the archive cannot be read: %w", err)
		case entry.Typeflag != tar.TypeReg:
			continue
		}
		if err := cmp.Or(s.offer(entry.Name, entry.Size, archive), s.done()); err != nil {
			return err
		}
	}
}

func isZip(b *bufio.Reader) bool {
	magic, _ := b.Peek(4)
	return string(magic) == "PK\x03\x04"
}

// zip reads a wheel or another zip. The files in it are of any size, but no more than an entry
// says is read.
func (s *search) zip(file io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return errCut // the list of its contents is at its end
	}
	for _, entry := range archive.File {
		if err := cmp.Or(s.ctx.Err(), s.done()); err != nil {
			return err
		}
		if !entry.Mode().IsRegular() {
			continue
		}
		if err := s.entry(entry); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) entry(entry *zip.File) error {
	content, err := entry.Open()
	if err != nil {
		return fmt.Errorf("the archive cannot be read: %w", err)
	}
	defer content.Close()
	size := int64(entry.UncompressedSize64)
	err = s.offer(entry.Name, size, &counted{ctx: s.ctx, from: io.LimitReader(content, size)})
	if errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) {
		return fmt.Errorf("%s is damaged: copy or download it again", entry.Name)
	}
	return err
}
