package backendtest

// clauses is the contract, in the order in which a new backend best meets it.
func clauses() []clause {
	return []clause{
		{"exec", "Exec runs a process with its arguments, environment and output, and returns its exit code.", execRuns},
		{"exec/canceled", "When Exec's context ends, the process is killed and Exec returns the context's error.", execCanceled},
		{"close", "Close may be called twice, and also with a context that has ended; then the sandbox is gone for Attach.", closeTwice},
		{"attach/unknown", "Attaching to a sandbox that never was is an error, not a new sandbox.", attachUnknown},

		{"values", "A value comes back as it went in: any text, bytes, numbers, times, nested values.", values},
		{"large", "There is no size limit from argv, environment or exec: megabytes go in and out, with a session and without.", large},
		{"output", "What Go code, children and raw writes print to stdout and stderr arrives, all of it, before the call returns.", output},
		{"output/streams", "Output arrives while the function runs.", outputStreams},
		{"output/noise", "Whatever a function prints, binary noise and things that look like frames included, is output and no answer.", outputNoise},
		{"errors", "errors.Is and errors.As find registered and well-known errors through the whole chain, joins included.", errorsTravel},
		{"panic", "A panic is a PanicError with its stack; if its value was an error, errors.Is finds it.", panics},
		{"exit", "A process that ends before the function does is an ExitError with code, signal and the end of stderr.", exits},
		{"encode", "A value that can't travel is an EncodeError that says whether the function ran.", encodes},
		{"deadline", "A deadline ends the function and the error is context.DeadlineExceeded.", deadline},
		{"cancel", "Cancelling ends the function and the error is context.Canceled.", cancelled},
		{"cancel/why", "The function's context says why it ended: DeadlineExceeded when the time was up, Canceled when its caller gave up.", endsSeen},
		{"cancel/early", "A call may be cancelled at any moment of its beginning; it ends, and the session lives on.", cancelledEarly},
		{"cancel/stubborn", "What ignores its context is killed with everything that it started, processes in sessions of their own included; the sandbox lives on.", stubbornEnds},
		{"environment", "A function finds PATH, HOME, a place for temporary files, an empty stdin and the backend's Env, and no key; InRemoteExecution is true.", environment},
		{"trace", "Trace context arrives.", traced},
		{"nested", "A Remote called inside a sandbox runs in place.", nestedInPlace},
		{"fresh", "A call without a session gets a sandbox of its own, destroyed before the call returns.", fresh},
		{"fresh/canceled", "A call whose context ends while its sandbox is being made leaves none behind.", freshCanceled},

		{"session/files", "Calls of a session share files; two sessions do not.", sessionFiles},
		{"session/variables", "Package variables do not last from call to call.", sessionVariables},
		{"session/background", "A process that a call leaves running is there for the next call, may go on printing, and ends with the sandbox.", sessionBackground},
		{"session/serial", "Calls of a session run one after another, unless Concurrency says otherwise.", sessionSerial},
		{"session/concurrent", "Concurrency(n) lets n calls run at once.", sessionConcurrent},
		{"session/one", "However many goroutines start a session, one sandbox is made.", sessionOne},
		{"session/ref", "A paused session is found again by its ref, whose JSON is small; its files are there.", sessionRef},
		{"session/pause", "A call on a paused session resumes it.", sessionPause},
		{"session/close", "Close ends the calls under way with ErrSessionClosed, and works though its context has ended.", sessionClose},
		{"session/race", "Start, Pause, calls and Close may race; nothing hangs and nothing is left.", sessionRace},
		{"session/gone", "A sandbox that was destroyed from outside is reported as ErrSandboxGone, and no other takes its place.", sessionGone},
	}
}
