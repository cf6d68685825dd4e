package scripts

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// download is what a manifest says of a file of the release: where it is, its SHA-256, and what it must contain.
type download struct {
	url, sum string
	contains []string
}

// A manifest is a file with which a package manager finds and installs a release.
type manifest struct {
	pattern string // of the files in the release's directory
	count   int    // how many there are
	systems int    // how many downloads one names; 0 if none
	parse   func(text string) ([]download, error)
}

// manifests lists those of a release.
var manifests = []manifest{
	{"homebrew/Casks/*.rb", 1, 4, caskDownloads},
	{"scoop/*.json", 1, 2, scoopDownloads},
	{"winget/manifests/*/*/*/*/*.installer.yaml", 1, 2, wingetInstallers},
	{"winget/manifests/*/*/*/*/*.locale.en-US.yaml", 1, 0, wingetKeys("defaultLocale", "PackageLocale", "Publisher", "PackageName", "License", "ShortDescription")},
	{"winget/manifests/*/*/*/*/*.kir.yaml", 1, 0, wingetKeys("version", "DefaultLocale")},
	{"conda/recipe.yaml", 1, 6, condaDownloads},
}

var (
	caskVersion = regexp.MustCompile(`version "([^"]+)"`)
	caskFile    = regexp.MustCompile(`url "([^"]+)"[^"]*sha256 "([^"]+)"`)
	caskContent = regexp.MustCompile(`(?:binary|manpage|\w+_completion) "([^"]+)"`)
)

// caskDownloads reads a cask of Homebrew.
func caskDownloads(text string) ([]download, error) {
	version := caskVersion.FindStringSubmatch(text)
	if version == nil {
		return nil, errors.New("no version")
	}
	var contains []string
	for _, m := range caskContent.FindAllStringSubmatch(text, -1) {
		contains = append(contains, m[1])
	}
	if !slices.Contains(contains, "kir") {
		return nil, fmt.Errorf("no program kir in %q", contains)
	}
	var files []download
	for _, m := range caskFile.FindAllStringSubmatch(text, -1) {
		files = append(files, download{strings.ReplaceAll(m[1], "#{version}", version[1]), m[2], contains})
	}
	return files, nil
}

// scoopDownloads reads a manifest of Scoop.
func scoopDownloads(text string) ([]download, error) {
	var app struct {
		Version, Description, Homepage, License string
		Architecture                            map[string]struct {
			URL, Hash string
			Bin       []string
		}
	}
	if err := json.Unmarshal([]byte(text), &app); err != nil {
		return nil, err
	}
	if app.Version == "" || app.Description == "" || app.Homepage == "" || app.License == "" {
		return nil, errors.New("version, description, homepage or license is missing")
	}
	var files []download
	for _, system := range []string{"64bit", "arm64"} {
		a := app.Architecture[system]
		if !slices.Contains(a.Bin, "kir.exe") {
			return nil, fmt.Errorf("no kir.exe in %q of %s", a.Bin, system)
		}
		files = append(files, download{a.URL, a.Hash, a.Bin})
	}
	return files, nil
}

// Keys that the schemas of winget's manifests require in each of them, and those of an installer that is a program in
// a .zip archive.
var (
	wingetRequired  = []string{"PackageIdentifier", "PackageVersion", "ManifestType", "ManifestVersion"}
	wingetInstaller = []string{"Architecture", "InstallerUrl", "InstallerSha256", "NestedInstallerType", "NestedInstallerFiles"}
	wingetID        = regexp.MustCompile(`^[^.\s\\/:*?"<>|]{1,32}(\.[^.\s\\/:*?"<>|]{1,32}){1,7}$`)
)

// wingetKeys reads a manifest of winget that names no files, and which has some keys.
func wingetKeys(kind string, keys ...string) func(string) ([]download, error) {
	return func(text string) ([]download, error) {
		var all map[string]any
		if err := yaml.Unmarshal([]byte(text), &all); err != nil {
			return nil, err
		}
		for _, key := range append(slices.Clone(wingetRequired), keys...) {
			if value, has := all[key]; !has || value == "" {
				return nil, fmt.Errorf("no %s", key)
			}
		}
		if all["ManifestType"] != kind {
			return nil, fmt.Errorf("ManifestType %v, want %s", all["ManifestType"], kind)
		}
		if id, _ := all["PackageIdentifier"].(string); !wingetID.MatchString(id) {
			return nil, fmt.Errorf("PackageIdentifier %q", id)
		}
		return nil, nil
	}
}

// wingetInstallers reads the manifest of winget that names files.
func wingetInstallers(text string) ([]download, error) {
	if _, err := wingetKeys("installer", "Installers", "InstallerType")(text); err != nil {
		return nil, err
	}
	var all struct {
		InstallerType string           `yaml:"InstallerType"`
		Installers    []map[string]any `yaml:"Installers"`
	}
	if err := yaml.Unmarshal([]byte(text), &all); err != nil {
		return nil, err
	}
	var files []download
	for _, installer := range all.Installers {
		for _, key := range wingetInstaller {
			if installer[key] == nil {
				return nil, fmt.Errorf("an installer has no %s", key)
			}
		}
		if all.InstallerType != "zip" || installer["NestedInstallerType"] != "portable" {
			return nil, fmt.Errorf("a %s of a %v, want a zip of a portable program", all.InstallerType, installer["NestedInstallerType"])
		}
		file := download{url: fmt.Sprint(installer["InstallerUrl"]), sum: strings.ToLower(fmt.Sprint(installer["InstallerSha256"]))}
		nested, _ := installer["NestedInstallerFiles"].([]any)
		for _, n := range nested {
			if of, _ := n.(map[string]any); of["PortableCommandAlias"] == "kir" {
				file.contains = append(file.contains, fmt.Sprint(of["RelativeFilePath"]))
			}
		}
		if len(file.contains) != 1 {
			return nil, fmt.Errorf("%v is not one command kir", nested)
		}
		files = append(files, file)
	}
	return files, nil
}

// condaDownloads reads a recipe of rattler-build.
func condaDownloads(text string) ([]download, error) {
	var recipe struct {
		Source []struct {
			If   string
			Then struct {
				URL    string `yaml:"url"`
				SHA256 string `yaml:"sha256"`
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &recipe); err != nil {
		return nil, err
	}
	var files []download
	for _, source := range recipe.Source {
		program := "kir"
		if strings.HasPrefix(source.If, "win") {
			program = "kir.exe"
		}
		files = append(files, download{source.Then.URL, source.Then.SHA256, []string{program, "LICENSE", "THIRD-PARTY"}})
	}
	return files, nil
}

// packed returns the names of the files in an archive.
func packed(name string, data []byte) ([]string, error) {
	var names []string
	if strings.HasSuffix(name, ".zip") {
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, err
		}
		for _, f := range archive.File {
			names = append(names, f.Name)
		}
		return names, nil
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(unzipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names, nil
		} else if err != nil {
			return nil, err
		}
		names = append(names, header.Name)
	}
}

// problems returns what is wrong with a manifest's text, given the files of a release and what is in each.
func problems(m manifest, text string, sums map[string]string, contents map[string][]string) []string {
	files, err := m.parse(text)
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	named := map[string]bool{}
	for _, file := range files {
		name := path.Base(file.url)
		named[name] = true
		if !strings.HasPrefix(file.url, "https://") {
			wrong = append(wrong, file.url+" is not an address")
		}
		if sum, has := sums[name]; !has {
			wrong = append(wrong, name+" is not in the release")
		} else if sum != file.sum {
			wrong = append(wrong, fmt.Sprintf("%s has the sum %s, not %s", name, sum, file.sum))
		}
		for _, content := range file.contains {
			if !slices.Contains(contents[name], content) {
				wrong = append(wrong, name+" has no "+content)
			}
		}
	}
	if len(named) != m.systems {
		wrong = append(wrong, fmt.Sprintf("names %d files, want %d: %v", len(named), m.systems, slices.Sorted(maps.Keys(named))))
	}
	return wrong
}

// TestManifests compares the manifests for package managers with a release, in the directory that KIR_RELEASE names, with its
// files: their names, sums and contents. A manifest with another sum or program is refused.
func TestManifests(t *testing.T) {
	dir := os.Getenv("KIR_RELEASE")
	if dir == "" {
		t.Skip("KIR_RELEASE names no release: .ci/package makes one")
	}
	sums, contents := map[string]string{}, map[string][]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		sums[e.Name()] = hex.EncodeToString(sum[:])
		if strings.HasSuffix(e.Name(), ".zip") || strings.HasSuffix(e.Name(), ".tar.gz") {
			if contents[e.Name()], err = packed(e.Name(), data); err != nil {
				t.Errorf("%s: %v", e.Name(), err)
			}
		}
	}
	list, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = true
		if has, ok := sums[name]; ok && has != sum { // the site's files are in another directory
			t.Errorf("checksums.txt: %s has the sum %s, not %s", name, has, sum)
		}
	}
	for name := range sums {
		if released := regexp.MustCompile(`^kir.*\.(tar\.gz|zip|deb|rpm|apk|whl|tar|sbom\.json)$`); released.MatchString(name) && !listed[name] {
			t.Errorf("checksums.txt: %s is missing", name)
		}
	}
	for _, m := range manifests {
		found, err := filepath.Glob(filepath.Join(dir, m.pattern))
		if err != nil || len(found) != m.count {
			t.Errorf("%s: %d files (%v), want %d: %q", m.pattern, len(found), err, m.count, found)
		}
		for _, file := range found {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			for _, wrong := range problems(m, text, sums, contents) {
				t.Errorf("%s: %s", file, wrong)
			}
			if m.systems == 0 {
				continue
			}
			files, err := m.parse(text)
			if err != nil {
				continue
			}
			faults := map[string]string{
				"sum":     strings.ReplaceAll(strings.ToLower(text), files[0].sum, strings.Repeat("0", 64)),
				"file":    strings.ReplaceAll(text, "amd64", "amd65"),
				"program": regexp.MustCompile(`("|: )kir(\.exe)?("|\n)`).ReplaceAllString(text, "${1}other${2}${3}"),
			}
			for fault, changed := range faults {
				if fault == "program" && strings.HasPrefix(m.pattern, "conda") {
					continue // a recipe copies it: building it says so
				}
				if len(problems(m, changed, sums, contents)) == 0 {
					t.Errorf("%s with another %s is not refused", file, fault)
				}
			}
		}
	}
}
