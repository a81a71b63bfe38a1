package remote_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/subprocess"
)

var ErrEmpty = remote.RegisterError(errors.New("nothing to count"))

func countWords(_ context.Context, text string) (int, error) {
	if text == "" {
		return 0, ErrEmpty
	}
	return len(strings.Fields(text)), nil
}

// Functions are registered by package variables.
var CountWords = remote.New(countWords)

var (
	Save = remote.New(func(_ context.Context, text string) (int, error) {
		return len(text), os.WriteFile("saved.txt", []byte(text), 0o600)
	}, remote.Name("save"))

	Load = remote.New(func(context.Context, struct{}) (string, error) {
		b, err := os.ReadFile("saved.txt")
		return string(b), err
	}, remote.Name("load"))
)

func ExampleRemote_Call() {
	n, err := CountWords.Call(context.Background(), "to be or not to be")
	fmt.Println(n, err)
	// Output: 6 <nil>
}

func ExampleRegisterError() {
	_, err := CountWords.Call(context.Background(), "")
	fmt.Println(errors.Is(err, ErrEmpty))
	var failed *remote.ExecutionError
	if errors.As(err, &failed) {
		fmt.Println(failed.Message)
	}
	// Output:
	// true
	// nothing to count
}

func ExampleMap() {
	texts := []string{"one", "one two", "one two three"}
	for n, err := range remote.Map(context.Background(), CountWords, texts, 2) {
		fmt.Println(n, err)
	}
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 3 <nil>
}

func ExampleWithSession() {
	err := remote.WithSession(context.Background(), subprocess.Backend{}, func(ctx context.Context) error {
		if _, err := Save.Call(ctx, "kept from call to call"); err != nil {
			return err
		}
		text, err := Load.Call(ctx, struct{}{})
		fmt.Println(text)
		return err
	})
	fmt.Println(err)
	// Output:
	// kept from call to call
	// <nil>
}

func ExampleSession_Pause() {
	ctx := context.Background()
	s := remote.NewSession(subprocess.Backend{})
	if _, err := Save.Call(s.Context(ctx), "found again"); err != nil {
		fmt.Println(err)
		return
	}
	ref, err := s.Pause(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	// In any process, later, with the ref's JSON at hand:
	again, err := remote.Resume(ctx, ref, subprocess.Backend{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer again.Close(ctx)
	text, err := Load.Call(again.Context(ctx), struct{}{})
	fmt.Println(text, err)
	// Output: found again <nil>
}
