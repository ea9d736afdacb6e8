import { RunningReplies } from "../src/RunningReplies.ts"
import * as RunningRepliesContract from "../src/testing/RunningRepliesContract.ts"

RunningRepliesContract.suite("memory", RunningReplies.layerLeft)
