import { Consents } from "../src/Consents.ts"
import { suite } from "../src/testing/ConsentsContract.ts"

suite("memory", Consents.layerMemory)
