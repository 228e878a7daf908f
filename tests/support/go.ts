// How the long suites build Go programs, which takes minutes the first time. The programs' own
// speed does not matter, so the compiler does not optimise and writes nothing for debuggers: a
// fifth less CPU time.
const flags = ["'-gcflags=all=-N -l -dwarf=false'", '-buildvcs=false'];

/** The environment of `go build` and `go run`. Both find in Go's cache what the other has built. */
export const goEnv = { CGO_ENABLED: '0', GOFLAGS: flags.join(' ') } as const;
