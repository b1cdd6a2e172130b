package organise

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/label"
)

// creator says in a sidecar who wrote it.
const creator = `xmp:CreatorTool="pipeline label"`

// maxSidecarBytes is more than any sidecar that pipeline writes.
const maxSidecarBytes = 1 << 16

// Sidecars writes photo.jpg.xmp next to photo.jpg, the name that darktable and
// digiKam use, with the class, or those of all boxes, in dc:subject. Photos that are
// rejected, set aside or empty get none, and a sidecar from an earlier run is removed.
type Sidecars struct {
	root     string
	cleaned  string                     // the last folder cleaned of temporary files
	boxes    map[string]int             // of each photo that have not come, nil for whole photos
	subjects map[string]map[string]bool // of photos of which some boxes have come
}

// NewSidecars returns a Sidecars for images below root, or for the boxes of photos unless
// that is nil. Its memory then grows by the path of each photo.
func NewSidecars(root string, boxed *dataset.BoxesFound) *Sidecars {
	s := &Sidecars{root: root, subjects: map[string]map[string]bool{}}
	if boxed != nil {
		s.boxes = make(map[string]int, len(boxed.Photos))
		for _, p := range boxed.Photos {
			s.boxes[p.Path] = p.Boxes
		}
	}
	return s
}

// Put writes or removes the sidecar of one image, or of a photo with its last box. Someone
// else's sidecar or an unwritable folder is a *label.ItemError.
func (s *Sidecars) Put(row label.Scored) error {
	photo := row.Sample.File()
	subjects := s.subjects[photo]
	if subjects == nil {
		subjects = map[string]bool{}
		s.subjects[photo] = subjects
	}
	for _, class := range row.Names() {
		subjects[class] = true
	}
	if s.boxes != nil {
		if s.boxes[photo]--; s.boxes[photo] > 0 {
			return nil
		}
		delete(s.boxes, photo)
	}
	return s.write(photo)
}

// write writes or removes the sidecar of a photo whose subjects are complete.
func (s *Sidecars) write(photo string) error {
	subjects := slices.Sorted(maps.Keys(s.subjects[photo]))
	delete(s.subjects, photo)
	file := dataset.FullPath(s.root, photo) + ".xmp"
	s.clean(filepath.Dir(file))
	old, err := ours(file)
	if err != nil {
		return &label.ItemError{Err: err}
	}
	if len(subjects) == 0 {
		if old == nil {
			return nil
		}
		return itemError(atomicfile.Remove(file))
	}
	text, err := sidecar(subjects)
	if err != nil || bytes.Equal(text, old) {
		return err
	}
	return itemError(atomicfile.WriteFile(file, text))
}

// clean removes our temporary files; if that fails they only take up space.
func (s *Sidecars) clean(dir string) {
	if dir != s.cleaned {
		s.cleaned = dir
		_, _ = atomicfile.RemoveStale(dir)
	}
}

// itemError turns an unwritable or missing folder, and a name that is too long with .xmp, into a
// *label.ItemError. Other errors, such as a full disk, end the run.
func itemError(err error) error {
	if err == nil || !(errors.Is(err, fs.ErrPermission) || refused(err) || unwritable(err)) {
		return err
	}
	return &label.ItemError{Err: fmt.Errorf("write sidecar: %w", err)}
}

// ours returns what an earlier run wrote, nil if there is no file.
func ours(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sidecar: %w", err)
	}
	foreign := fmt.Errorf("sidecar: %s was written or edited by another program and is left alone",
		filepath.Base(file))
	if !info.Mode().IsRegular() || info.Size() > maxSidecarBytes {
		return nil, foreign
	}
	text, err := regularfile.Read(file, maxSidecarBytes)
	if err != nil {
		return nil, fmt.Errorf("sidecar: %w", err)
	}
	if !written(text) {
		return nil, foreign
	}
	return text, nil
}

// written reports whether text is a sidecar as this program writes it, byte for byte: one to which another
// program or a person has added a rating, a keyword or a line belongs to them, whoever made it.
func written(text []byte) bool {
	var found struct {
		Classes []string `xml:"RDF>Description>subject>Bag>li"`
	}
	if xml.Unmarshal(text, &found) != nil {
		return false
	}
	ours, err := sidecar(found.Classes)
	return err == nil && bytes.Equal(ours, text)
}

func sidecar(classes []string) ([]byte, error) {
	var subjects bytes.Buffer
	for _, class := range classes {
		subjects.WriteString("     <rdf:li>")
		if err := xml.EscapeText(&subjects, []byte(class)); err != nil {
			return nil, err
		}
		subjects.WriteString("</rdf:li>\n")
	}
	return fmt.Appendf(nil, `<?xpacket begin="%s" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" %s>
   <dc:subject>
    <rdf:Bag>
%s    </rdf:Bag>
   </dc:subject>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>
`, "\ufeff", creator, subjects.Bytes()), nil
}

// Commit removes the sidecars of empty photos, and writes those of photos of which a box
// could not be read. All others are complete as soon as they are written.
func (s *Sidecars) Commit(embedding.Outcome) error {
	var refused label.Refused
	for _, photo := range slices.Sorted(maps.Keys(s.boxes)) {
		if s.boxes[photo] > 0 && s.subjects[photo] == nil {
			continue // nothing is known of it
		}
		var item *label.ItemError
		if err := s.write(photo); errors.As(err, &item) {
			refused = append(refused, dataset.Problem{Path: photo, Err: item})
		} else if err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return refused
	}
	return nil
}

// Abort does nothing: sidecars already written stay.
func (s *Sidecars) Abort() {}
