package imagehash

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/patternmatcher"
)

func TestSecrets(t *testing.T) {
	files := []string{
		".env", ".env.example", ".envrc", "a.go", "config/.env.local", "config/.gcloud/", "config/dev.pem", "config/prod.pem", "config/x.yaml",
		"home/.aws/config", "home/.aws/credentials", "home/.config/gcloud/a/key", "home/.config/gcloud/b", "home/.config/other", "home/.ssh/config",
		"home/.ssh/id_ed25519", "home/id_rsa", "home/id_rsa.pub", "ID_RSA", "Server.KEY",
	}
	plain := []string{
		"a.go", "config/", "config/.gcloud/", "config/x.yaml", "home/", "home/.aws/", "home/.aws/config", "home/.config/", "home/.config/other",
		"home/id_rsa.pub",
	}
	withheld := []string{
		".env", ".env.example", ".envrc", "ID_RSA", "Server.KEY", "config/.env.local", "config/dev.pem", "config/prod.pem", "home/.aws/credentials",
		"home/.config/gcloud", "home/.ssh", "home/id_rsa",
	}
	without := func(list []string, gone ...string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(gone, s) })
	}
	with := func(list []string, more ...string) []string {
		return slices.Sorted(slices.Values(slices.Concat(list, more)))
	}
	tests := []struct {
		name, ignore   string
		kept, withheld []string
	}{
		{"by default", "", plain, withheld},
		{"asked for by name", "!.env.example", with(plain, ".env.example"), without(withheld, ".env.example")},
		{"asked for at any depth", "!**/.env*", with(plain, ".env", ".env.example", ".envrc", "config/.env.local"), without(withheld, ".env", ".env.example", ".envrc", "config/.env.local")},
		{"one of two", "!config/dev.pem", with(plain, "config/dev.pem"), without(withheld, "config/dev.pem")},
		{"by a wildcard with a name in it", "!config/*.pem", with(plain, "config/dev.pem", "config/prod.pem"), without(withheld, "config/dev.pem", "config/prod.pem")},
		{"a directory does not ask for what is in it", "*\n!config", []string{"config/", "config/.gcloud/", "config/x.yaml"}, []string{"config/.env.local", "config/dev.pem", "config/prod.pem"}},
		{"nor do wildcards", "*\n!config/**\n!**/.*\n!*.*", without(plain, "home/id_rsa.pub"), nil},
		{"last match wins", "!.env\n.env", plain, without(withheld, ".env")},
		{"asked for again", "*.pem\n**/*.pem\n!config/dev.pem", with(plain, "config/dev.pem"), without(withheld, "config/dev.pem", "config/prod.pem")},
		{"excluded by the file as well", "**/.env*\nhome\n**/*.pem\n*RSA\n*KEY", []string{"a.go", "config/", "config/.gcloud/", "config/x.yaml"}, nil},
		{"a secret directory", "!home/.config/gcloud", with(plain, "home/.config/gcloud/", "home/.config/gcloud/a/", "home/.config/gcloud/a/key", "home/.config/gcloud/b"), without(withheld, "home/.config/gcloud")},
		{"part of a secret directory", "!home/.config/gcloud/a", with(plain, "home/.config/gcloud/", "home/.config/gcloud/a/", "home/.config/gcloud/a/key"), withheld},
		{"secrets in one that is asked for", "!**/.ssh", with(plain, "home/.ssh/", "home/.ssh/config", "home/.ssh/id_ed25519"), without(withheld, "home/.ssh")},
		{"a secret in an excluded directory", "home\n!home/.ssh/config", with(without(plain, "home/.aws/", "home/.aws/config", "home/.config/", "home/.config/other", "home/id_rsa.pub"), "home/.ssh/", "home/.ssh/config"), without(withheld, "home/.aws/credentials", "home/.config/gcloud", "home/.ssh", "home/id_rsa")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := lay(t, files...)
			write(t, root, ignoreName, test.ignore)
			tree := mustWalk(t, root, Options{})
			if diff := cmp.Diff(slices.Sorted(slices.Values(test.kept)), paths(tree)); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if test.withheld != nil {
				if diff := cmp.Diff(test.withheld, tree.Withheld()); diff != "" {
					t.Errorf("Withheld() (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestWithheldIsSortedByPath(t *testing.T) {
	tree := mustWalk(t, lay(t, "a/.env", "a.b/.env", "z.pem"), Options{})
	if diff := cmp.Diff([]string{"a.b/.env", "a/.env", "z.pem"}, tree.Withheld()); diff != "" {
		t.Errorf("Withheld() (-want +got):\n%s", diff)
	}
}

// The published list is what happens: its patterns, matched by Docker's matcher, and the table made of them agree.
func TestSecretPatternsAreWhatIsMatched(t *testing.T) {
	reference, err := patternmatcher.New(SecretPatterns())
	check(t, err)
	var names []string
	for _, p := range SecretPatterns() {
		p = strings.TrimPrefix(p, "**/")
		name := strings.ReplaceAll(p, "*", "x")
		names = append(names, name, "a/"+name, "a/b/"+name, "x"+name, name+"x", name+"/x", "a/x"+name+"/y", strings.ReplaceAll(p, "*", ""), path.Base(name))
	}
	table := newSecretNames()
	covered := 0
	for _, rel := range names {
		got := false
		for p := rel; p != "."; p = path.Dir(p) {
			got = got || table.match(p, path.Base(p))
		}
		want, err := reference.MatchesOrParentMatches(rel)
		check(t, err)
		if got != want {
			t.Errorf("%s: secret %v, the patterns say %v", rel, got, want)
		}
		if want {
			covered++
		}
	}
	if covered == 0 || covered == len(names) {
		t.Errorf("%d of %d names are secrets: the test compares nothing", covered, len(names))
	}
}
