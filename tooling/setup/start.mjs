/** Builds what is stale, then gives the terminal to the chat. */
import { spawn } from "node:child_process"
import { existsSync, globSync, readdirSync, statSync, utimesSync } from "node:fs"
