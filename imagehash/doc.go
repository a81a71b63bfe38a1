// Package imagehash says what a build context contains: which files are part of it, and one digest of them all.
//
// [Walk] reads a directory once, under Docker's .dockerignore rules, and returns a [Tree]. The digest, every upload
// ([Tree.WriteTar], [Tree.Open]) and every explanation ([Tree.Summary], [Diff]) come from that one walk, so that they
// cannot disagree: what is uploaded is what was hashed, or it is a [*ChangedError].
//
// # The digest
//
// [Tree.Digest] is "c1:" and the SHA-256 of one record an entry, in the byte order of their paths. On Linux, in a
// directory from which nothing is left out (an unpacked [Tree.WriteTar] is one), this command prints the same digits:
//
//	find . -mindepth 1 -print0 | LC_ALL=C sort -z | xargs -0 -r sh -c '
//	    for p do
//	        if [ -h "$p" ]; then kind=l sum=$(readlink -n "$p" | sha256sum)
//	        elif [ -d "$p" ]; then kind=d sum=-
//	        elif [ "$(find "$p" -perm -u=x)" ]; then kind=x sum=$(sha256sum <"$p")
//	        else kind=f sum=$(sha256sum <"$p")
//	        fi
//	        printf "%s %s %s\0" "$kind" "${sum%% *}" "${p#./}"
//	    done' sh | sha256sum
//
// A record is a kind, a space, the SHA-256 of the content (of the target, for a symlink; "-" for a directory), a space,
// the path and a NUL, so no name, whatever bytes it is made of, reads as another record. Directories count, because an
// empty one is copied too. Times, owners, umask and every mode bit but the owner's executable bit do not.
//
// # What is left out
//
// In this order:
//
//   - [AlwaysExcluded]: VCS internals, caches, virtualenvs, node_modules, at any depth and whatever the ignore file says;
//     remote-box.lock.json, which names images by their digest and so cannot be part of one; and [Options.Exclude].
//   - What the ignore file excludes: NAME.dockerignore beside the Dockerfile NAME, else .dockerignore at the root. Parsing
//     and matching are Docker's own code, and the order in which its results are used is BuildKit's. The Dockerfile and
//     the ignore file are files like any other: COPY sees them unless a line excludes them.
//   - [SecretPatterns]: .env files, private keys, credential files, unless a "!" line asks for them by name. A line asks if it
//     matches the secret itself and its last element holds a letter or a digit: !config/dev.pem and !**/.env.example ask,
//     !config, !config/** and !.* do not. [Tree.Withheld] lists what was left out for this reason alone.
//
// A directory that is left out is not read, unless a "!" line could match below it. Symlinks are kept as they are, never
// followed. Sockets, pipes, devices and unreadable files are an [*EntryError], unless they are left out.
//
// # Non-goals
//
// Two file systems that disagree about names (Unicode normalization, case) or have no executable bit (Windows) give two
// digests. A change within one tick of the file system's clock that keeps a file's size can escape the check made while
// hashing; it cannot escape the one made while uploading, which compares content.
package imagehash
