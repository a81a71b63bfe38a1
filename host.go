//go:build !remotebox_runner

package remote

import (
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/local"
)

// defaultBackend is where functions run that were given no backend.
func defaultBackend() driver.Backend { return local.Backend{} }
