package imagehash

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/moby/patternmatcher"
)

// exception is a "!" line of an ignore file, looked at by itself. Two questions are asked of it that Docker's matcher has
// no answer to: could it match something below a directory, and does it ask for a secret?
type exception struct {
	elems    []string // the pattern, split at slashes
	fixed    int      // how many of elems each match exactly one element of a path
	anywhere bool     // the pattern is not bound to the beginning of a path
	named    bool     // its last element holds a letter or a digit
	self     selfMatcher
}

// newException takes a pattern apart. What the matcher makes of a pattern is a regular expression, and some characters
// reach it unescaped: from the first element that could match a slash, or that is no plain glob, nothing is concluded.
func newException(pattern string, self selfMatcher) exception {
	e := exception{elems: strings.Split(pattern, "/"), self: self}
	e.fixed = len(e.elems)
	for i, elem := range e.elems {
		if strings.Contains(elem, "**") || strings.ContainsAny(elem, `[]\^`) {
			e.fixed = i
			break
		}
	}
	// An alternation ends the anchor at the beginning; the replacement character matches any byte that is not UTF-8. Without
	// a wildcard the pattern is compared as a string, and there is nothing to be careful about.
	e.anywhere = strings.ContainsAny(pattern, `*?[]\`) && strings.ContainsAny(pattern, "|{}\uFFFD")
	e.named = strings.ContainsFunc(e.elems[len(e.elems)-1], func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	})
	return e
}

// below reports whether the pattern could match a path below dir, where "could" errs on the side of yes.
func (e exception) below(dir string) bool {
	if e.anywhere {
		return true
	}
	rest := dir
	for _, elem := range e.elems[:e.fixed] {
		if rest == "" {
			return true // it names something deeper than dir
		}
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		if ok, err := path.Match(elem, first); err == nil && !ok {
			return false
		}
	}
	return e.fixed < len(e.elems) // else the pattern ends at dir or above it
}

// asksFor reports whether the line asks for the secret at rel: by matching it, not a directory above it, and by a name, not
// by wildcards alone.
func (e exception) asksFor(rel string) bool {
	return e.named && e.self.match(rel)
}

// selfMatcher matches one pattern against a path alone, where Docker's matcher takes a match of any directory above it too.
type selfMatcher struct {
	matcher *patternmatcher.PatternMatcher
	parent  patternmatcher.MatchInfo // says that no directory above matched
}

// newSelfMatcher takes a pattern as [patternmatcher.Pattern.String] returns it, without its "!".
func newSelfMatcher(pattern string) (selfMatcher, error) {
	// What the matcher would read as a negation, or trim, is a literal here.
	if r, size := utf8.DecodeRuneInString(pattern); r == '!' || unicode.IsSpace(r) {
		pattern = "[" + pattern[:size] + "]" + pattern[size:]
	}
	matcher, err := patternmatcher.New([]string{pattern})
	if err != nil {
		return selfMatcher{}, err
	}
	nothing, err := patternmatcher.New([]string{"a"})
	if err != nil {
		return selfMatcher{}, err
	}
	_, parent, err := nothing.MatchesUsingParentResults("b", patternmatcher.MatchInfo{})
	if err != nil {
		return selfMatcher{}, err
	}
	// The expression is compiled by the first match.
	_, _, err = matcher.MatchesUsingParentResults("b", parent)
	return selfMatcher{matcher: matcher, parent: parent}, err
}

func (s selfMatcher) match(rel string) bool {
	ok, _, err := s.matcher.MatchesUsingParentResults(rel, s.parent)
	return err == nil && ok
}
