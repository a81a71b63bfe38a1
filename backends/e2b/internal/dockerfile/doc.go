// Package dockerfile translates Dockerfiles into the build steps of E2B, which builds no
// Dockerfiles. What the steps do is what BuildKit would have done; what they can't do is an error
// that names the line. What depends on the base image's own configuration, which is not known here, is
// an error or a warning: its variables are those of RUN only, except that $PATH in ENV is the PATH of
// root's login shell; its USER and WORKDIR do not count.
//
// It differs from the translation in E2B's own SDKs: commands are run by the shell that the
// Dockerfile means, with the PATH of its image; exec forms and here-documents work; quotes are
// understood; arguments are substituted and do not last; files are root's unless --chown says
// otherwise; nothing is dropped silently.
package dockerfile
