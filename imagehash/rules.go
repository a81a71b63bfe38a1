package imagehash

import (
	"io/fs"
	"path"

	"github.com/moby/patternmatcher"
)

// rules decides what is part of a context. It is not safe for concurrent use: Docker's matcher is not.
type rules struct {
	ignore  ignoreFile
	always  map[string]nameRule
	secrets secretNames
	exclude map[string]bool
}

func newRules(ignore ignoreFile, o Options) rules {
	return rules{
		ignore:  ignore,
		always:  alwaysExcluded(),
		secrets: newSecretNames(),
		exclude: o.exclude(),
	}
}

// verdict is what the rules say about one path, and what they have to know about a directory to judge what is in it.
type verdict struct {
	never   bool // left out with all below, and no rule can bring any of it back
	ignored bool // left out by the ignore file
	secret  bool // left out as a secret, or as part of one
	asked   bool // a secret that a "!" line asks for, or part of one

	matches patternmatcher.MatchInfo
}

func (v verdict) out() bool { return v.never || v.ignored || v.secret }

// judge is asked about a path after it was asked about the directory that the path is in.
func (r *rules) judge(parent verdict, rel string, t fs.FileMode) (verdict, error) {
	name := path.Base(rel)
	if rule, ok := r.always[name]; ok && rule.covers(t) || r.exclude[rel] {
		return verdict{never: true}, nil
	}
	v := verdict{secret: parent.secret, asked: parent.asked}
	if m := r.ignore.matcher; m != nil {
		var err error
		// Not MatchesOrParentMatches, which can disagree: this is the one that decides what COPY sees.
		v.ignored, v.matches, err = m.MatchesUsingParentResults(rel, parent.matches)
		if err != nil {
			return verdict{}, err
		}
	}
	if !v.asked && (v.secret || r.secrets.match(rel, name)) {
		v.asked = r.asksFor(rel)
		v.secret = !v.asked
	}
	return v, nil
}

// mayKeepBelow reports whether something below a directory that is left out might be part of the context all the same.
func (r *rules) mayKeepBelow(v verdict, rel string) bool {
	if v.never {
		return false
	}
	for _, e := range r.ignore.exceptions {
		if (!v.secret || e.named) && e.below(rel) {
			return true
		}
	}
	return false
}

func (r *rules) asksFor(rel string) bool {
	for _, e := range r.ignore.exceptions {
		if e.asksFor(rel) {
			return true
		}
	}
	return false
}
