/** How a command fails: in one line that says what, where and what to do. */
import { Data } from "effect"

/** Wrong usage: exit 2. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

/** The command was understood, but failed or was refused: exit 1. */
export class Failure extends Data.TaggedError("Failure")<{ readonly message: string }> {}

/** Done, but the answer is no (`check` found problems): exit 1, and what was printed says why. */
export class Negative extends Data.TaggedError("Negative")<{}> {}
