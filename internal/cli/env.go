package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/joho/godotenv"
)

// loadEnv loads the env file: the one that was named, which must exist, or .env in the working
// directory if there is one. Variables that are set already win, also those set to nothing.
// --env-file "" loads none.
func (a *app) loadEnv() error {
	name := a.envFile
	if a.noEnvFile {
		name = ".env"
	}
	if name == "" {
		return nil
	}
	b, err := os.ReadFile(name)
	if a.noEnvFile && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &misuse{fmt.Errorf("the env file: %w", err)}
	}
	vars, err := parseEnv(b)
	if err != nil {
		return &misuse{fmt.Errorf("the env file: %s:%w", name, err)}
	}
	for _, k := range slices.Sorted(maps.Keys(vars)) {
		if _, set := os.LookupEnv(k); set {
			continue
		}
		if err := os.Setenv(k, vars[k]); err != nil {
			return &misuse{fmt.Errorf("the env file: %s: %q can't be set", name, k)}
		}
	}
	return nil
}

// parseEnv reads an env file in godotenv's dialect, after a byte order mark. Its error says the
// line and nothing of what is in it: that may be a secret.
func parseEnv(b []byte) (map[string]string, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	vars, err := godotenv.UnmarshalBytes(b)
	if err == nil {
		return vars, nil
	}
	lines := strings.SplitAfter(string(b), "\n")
	good := 0
	for n := range lines {
		if _, err := godotenv.Unmarshal(strings.Join(lines[:n], "")); err == nil {
			good = n
		}
	}
	return nil, fmt.Errorf("%d: not of the form NAME=value, or a quote that is not closed", good+1)
}
