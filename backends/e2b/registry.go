package e2b

// Registry are the credentials of the registry that a base image is pulled from, in one of three
// forms. They are no part of a template's name.
type Registry struct {
	// Username and Password are for any registry.
	Username string
	Password Secret
	// AWSAccessKeyID, AWSSecretAccessKey and AWSRegion are for Amazon's.
	AWSAccessKeyID     string
	AWSSecretAccessKey Secret
	AWSRegion          string
	// GCPServiceAccount is for Google's: the JSON of a service account's key.
	GCPServiceAccount Secret
}
