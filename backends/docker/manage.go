//go:build !remotebox_runner

package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/remote-box/remote/driver"
)

var (
	_ driver.ImageStore = Backend{}
	_ driver.Diagnoser  = Backend{}
)

// Images implements driver.ImageStore. An image is one of ours by its label and by its prefix.
func (b Backend) Images(ctx context.Context) ([]driver.StoredImage, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	e, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close()
	list, err := e.ImageList(ctx, client.ImageListOptions{Filters: client.Filters{}.Add("label", label+"=1")})
	if err != nil {
		return nil, e.explain(err)
	}
	var images []driver.StoredImage
	for _, i := range list.Items {
		for _, name := range i.RepoTags {
			if strings.HasPrefix(name, b.settings().Prefix+":") {
				images = append(images, driver.StoredImage{
					Name: name, Program: i.Labels[labelProgram], Created: time.Unix(i.Created, 0).UTC(), Size: i.Size,
				})
			}
		}
	}
	slices.SortFunc(images, func(x, y driver.StoredImage) int { return strings.Compare(x.Name, y.Name) })
	return images, nil
}

// RemoveImage implements driver.ImageStore. The engine keeps an image that a container was made
// from.
func (b Backend) RemoveImage(ctx context.Context, name string) error {
	if !strings.HasPrefix(name, b.settings().Prefix+":") {
		return fmt.Errorf("docker: %s is no image of the prefix %s", name, b.settings().Prefix)
	}
	e, err := b.connect(ctx)
	if err != nil {
		return err
	}
	defer e.close()
	_, err = e.ImageRemove(ctx, name, client.ImageRemoveOptions{PruneChildren: true})
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("docker: removing the image %s: %w", name, err)
	}
	return nil
}

// Diagnose implements driver.Diagnoser.
func (b Backend) Diagnose(ctx context.Context) []driver.Finding {
	if err := b.check(); err != nil {
		return []driver.Finding{{What: "docker: the backend value", Problem: err.Error(), Mend: "change the field that is named"}}
	}
	e, err := b.connect(ctx)
	if err != nil {
		host, _ := b.host()
		return []driver.Finding{{What: "Docker Engine at " + host, Problem: err.Error(), Mend: "docker info"}}
	}
	defer e.close()
	v, err := e.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return []driver.Finding{{What: "Docker Engine at " + e.host, Problem: e.explain(err).Error(), Mend: "docker info"}}
	}
	return []driver.Finding{{What: fmt.Sprintf("Docker Engine %s (%s/%s) at %s", v.Version, v.Os, v.Arch, e.host)}}
}
