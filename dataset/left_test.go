package dataset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Heads of files, each enough to know the format.
const (
	headJPEG = "\xff\xd8\xff\xe1...................."
	headHEIF = "\x00\x00\x00\x1cftypMiHB\x00\x00\x00\x00mif1heixMiHB...."
	headCR3  = "\x00\x00\x00\x18ftypcrx \x00\x00\x00\x01crx isom...."
	headMP4  = "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom...."
)

func TestScanKnowsPhotosByContentWhereTheSuffixSaysNothing(t *testing.T) {
	photos := map[string]string{
		"a/DSC01.HIF": "", "a/3d.mpo": "", "a/old.dib": "", "a/x.jpg_large": "", "a/moving.apng": "",
		"a/get.php": headJPEG, "a/photo.jpg?w=640": headJPEG, "a/wget.jpg.1": headJPEG, "a/IMG.2024.06.01": headJPEG,
		"a/camera.hxf": headHEIF, "a/none": headHEIF, "a/shot.3fr": "II*\x00", "a/new.cr9": headCR3,
	}
	others := map[string]string{
		"a/edited.jpg_original": headJPEG, "a/edited.jpg~": headJPEG, "a/old.jpg.bak": headJPEG,
		"a/chrome.jpg.crdownload": headJPEG, "a/firefox.jpg.part": headJPEG, "a/Icon\r": "",
		"a/film.mp9": headMP4, "a/notes.docx": "PK\x03\x04............",
	}
	root := tree(t, maps.Collect(func(yield func(string, string) bool) {
		for _, files := range []map[string]string{photos, others} {
			for name, content := range files {
				yield(name, content)
			}
		}
	}))
	var got []string
	for _, s := range mustScan(t, root, ScanOptions{}).Samples {
		got = append(got, s.Path)
	}
	wantEqual(t, "photos", got, slices.Sorted(maps.Keys(photos)))
}

func TestScanCountsWhatIsNoPhotoBySuffix(t *testing.T) {
	root := tree(t, map[string]string{
		"a/1.jpg": "", "a/1.jpg.xmp": "", "a/1.MOV": "", "a/2.mov": "", "a/1.NEF": "", "a/x": "text", "a/.hidden": "",
	})
	for name, l := range map[string]Listing{
		"scan": mustScan(t, root, ScanOptions{}), "walk": walked(t, root, ScanOptions{}),
	} {
		if got, want := l.LeftOut.BySuffix(), "2 .mov, 1 without suffix, 1 .nef"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if l.LeftOut.Raw != 1 || l.LeftOut.Files() != 4 {
			t.Errorf("%s: %+v", name, l.LeftOut)
		}
	}
}

func TestScanBoundsTheSuffixesItCounts(t *testing.T) {
	files := map[string]string{"a.jpg": ""}
	for i := range 2 * mostSuffixes {
		files[fmt.Sprintf("log.%d", i)] = "text"
	}
	l := mustScan(t, tree(t, files), ScanOptions{})
	if n := len(l.LeftOut.Suffixes); n != mostSuffixes+1 || l.LeftOut.Files() != 2*mostSuffixes {
		t.Errorf("%d suffixes of %d files", n, l.LeftOut.Files())
	}
}

func TestScanDoesNotEnterSystemFolders(t *testing.T) {
	system := []string{
		".git", ".Trash-1000", ".thumbnails", ".stversions", "@eaDir", "__MACOSX", "#recycle", "@Recycle",
		"$RECYCLE.BIN",
		"RECYCLER", "System Volume Information", "lost+found", "Network Trash Folder", "Thumbnails", "_thumbs", "CVS",
		"_svn", "Catalog Previews.lrdata", "Photos.photoslibrary", "found.012", "_gsdata_",
		"panda (Anna's conflicted copy 2024-05-01)", "panda (Case Conflict)",
		"panda.sync-conflict-20240501-101112-ABCDEFG", "panda_conflict-20240501-101112",
		"panda (SFConflict anna@x 2024-05-01-10-11-12)", "[Originals]",
	}
	files := map[string]string{"@home/a.jpg": "", "panda/a.jpg": "", "recycled/a.jpg": "",
		"thumb/a.jpg": "", "trash/a.jpg": ""}
	want := slices.Sorted(maps.Keys(files))
	for _, name := range system {
		files[name+"/a.jpg"], files["panda/"+name+"/b.jpg"] = "", ""
	}
	l := mustScan(t, tree(t, files), ScanOptions{})
	var got []string
	for _, s := range l.Samples {
		got = append(got, s.Path)
	}
	wantEqual(t, "photos", got, want)
	if n := l.LeftOut.System.N; n != 2*len(system) {
		t.Errorf("%d system folders are told, want %d", n, 2*len(system))
	}
}

func TestScanTellsFoldersWithoutPhotos(t *testing.T) {
	root := tree(t, map[string]string{
		"panda/a.jpg": "", "deep/er/est/a.jpg": "", "notes/a.txt": "", "films/2024/a.mov": "",
		"only.git/.git/a.jpg": "",
		"linked/in":           "->../panda", "excluded/a.png": "", "broken/a.jpg": "->gone.jpg",
	})
	filter := Filter{Exclude: []string{"*.png"}}
	source := must.Get(Walk(context.Background(), root, ScanOptions{Filter: filter}))(t)
	found, _ := source.Outcome()
	if got := found.LeftOut.Empty; strings.Join(got.First, " ") != "films linked notes" || got.N != 4 {
		t.Errorf("folders without photos: %+v", got)
	}
	if got, want := found.LeftOut.Empty.Names(), "films, linked, notes, …"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
