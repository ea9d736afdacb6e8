import { PromptHistory } from "../src/PromptHistory.ts"
import { suite } from "../src/testing/PromptHistoryContract.ts"

suite("memory", PromptHistory.layerMemory)
