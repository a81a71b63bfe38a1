//go:build !remotebox_runner

package docker

import (
	"encoding/json"
	"io/fs"
)

// tmpMode is the mode of /tmp.
const tmpMode = fs.ModeDir | fs.ModeSticky | 0o777

// config makes an image's configuration out of what a Dockerfile said, which may hold fields that
// no Go type here knows and that are kept.
func (i *builtImage) config(from []byte) ([]byte, error) {
	image, config := map[string]any{}, map[string]any{}
	if from != nil {
		if err := json.Unmarshal(from, &image); err != nil {
			return nil, err
		}
		if c, ok := image["config"].(map[string]any); ok {
			config = c
		}
	} else {
		image["os"], image["architecture"] = i.platform.OS, i.platform.Architecture
		if i.platform.Variant != "" {
			image["variant"] = i.platform.Variant
		}
		image["rootfs"] = map[string]any{"type": "layers", "diff_ids": nil}
		config["User"] = userName
		config["WorkingDir"] = workDir
		config["Env"] = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
		config["Entrypoint"] = []string{runnerPath}
	}
	labels, _ := config["Labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
	}
	labels[label] = "1"
	labels[labelProgram] = i.program
	labels[labelIdentity] = i.image.Identity
	config["Labels"] = labels
	image["config"] = config
	history, _ := image["history"].([]any)
	image["history"] = append(history, map[string]any{"created_by": "COPY " + runnerPath + " # remote-box", "comment": "remote-box"})
	return json.Marshal(image)
}

// Labels of images, besides label.
const (
	labelProgram  = "remote-box.program"
	labelIdentity = "remote-box.identity"
)
