//go:build !remotebox_runner

package e2b

import "errors"

// forms counts the forms in which credentials are given.
func (r Registry) forms() (general, aws, gcp bool) {
	return r.Username != "" || r.Password != "",
		r.AWSAccessKeyID != "" || r.AWSSecretAccessKey != "" || r.AWSRegion != "",
		r.GCPServiceAccount != ""
}

func (r Registry) check() error {
	general, aws, gcp := r.forms()
	n := 0
	for _, given := range []bool{general, aws, gcp} {
		if given {
			n++
		}
	}
	switch {
	case n > 1:
		return errors.New("e2b.Backend.Registry: credentials are given in more than one form")
	case general && (r.Username == "" || r.Password == ""):
		return errors.New("e2b.Backend.Registry: Username and Password are needed both")
	case aws && (r.AWSAccessKeyID == "" || r.AWSSecretAccessKey == "" || r.AWSRegion == ""):
		return errors.New("e2b.Backend.Registry: AWSAccessKeyID, AWSSecretAccessKey and AWSRegion are needed all")
	}
	return nil
}

// wire is the schema FromImageRegistry, or nil.
func (r Registry) wire() map[string]string {
	switch general, aws, gcp := r.forms(); {
	case general:
		return map[string]string{"type": "registry", "username": r.Username, "password": string(r.Password)}
	case aws:
		return map[string]string{
			"type": "aws", "awsAccessKeyId": r.AWSAccessKeyID,
			"awsSecretAccessKey": string(r.AWSSecretAccessKey), "awsRegion": r.AWSRegion,
		}
	case gcp:
		return map[string]string{"type": "gcp", "serviceAccountJson": string(r.GCPServiceAccount)}
	}
	return nil
}
