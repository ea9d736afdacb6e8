import { SessionStore } from "../src/SessionStore.ts"
import { suite } from "../src/testing/SessionStoreContract.ts"

suite("memory", SessionStore.layerMemory)
