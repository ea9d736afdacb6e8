/** Holds the documents to their word: their code compiles and runs, their commands print what they show, their links lead somewhere. Needs a build. */
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join, posix, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { transformSync } from "esbuild"
import { anchors, blocks, commands, isPrinted, links } from "./markdown.mjs"
