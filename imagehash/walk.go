package imagehash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Walk reads the directory root and returns what a build with it as its context could put into an image. Files are hashed
// in parallel. Walk changes nothing, follows no symlink but root itself, and has stopped all its work when it returns.
//
// Errors: an [*IgnoreError]; every [*EntryError] and [*ChangedError] that was met, joined and in the order of their paths;
// or ctx's.
func Walk(ctx context.Context, root string, o Options) (*Tree, error) {
	return walk(ctx, root, o, realSystem())
}

func walk(ctx context.Context, root string, o Options, sys system) (*Tree, error) {
	root, err := resolveRoot(root)
	if err != nil {
		return nil, err
	}
	ignore, err := readIgnoreFile(root, o)
	if err != nil {
		return nil, err
	}
	at := place{root: root, ignoreFile: ignore.path}
	w := walker{place: at, rules: newRules(ignore, o), sys: sys, hashers: startHashers(ctx, at, o.workers(), sys)}
	w.dir(ctx, "", verdict{})
	failures := w.hashers.wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("imagehash: walk of %s: %w", printable(root), err)
	}
	if len(failures) > 0 {
		return nil, joinByPath(failures)
	}
	return newTree(at, w.entries, w.withheld, sys), nil
}

// resolveRoot makes root absolute and follows it if it is a symlink, as Docker does.
func resolveRoot(root string) (string, error) {
	// An unset variable is not a wish for the working directory.
	if root == "" {
		return "", badRoot(root, errors.New("no directory given"))
	}
	abs, err := filepath.Abs(root)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", badRoot(root, err)
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return "", badRoot(root, err)
	}
	return abs, nil
}

func badRoot(root string, err error) error {
	return &EntryError{Root: root, Path: ".", Err: err, Hint: "give the directory that holds the files to build from"}
}
