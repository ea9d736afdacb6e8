/** `grove completions`. */
import { assert, describe, it } from "@effect/vitest"
import { assertRefused, fileOf, header, program, run, sandbox } from "../support.ts"

describe("completions", () => {
  const box = sandbox()

  it("bash completes commands, flags and sessions with them", async () => {
    box.write("home/sessions/--w--/2026-01-01T00-00-00-000Z_completed-01.jsonl", fileOf(header({ id: "completed-01" })))
    const script = (await box.grove(["completions", "bash"])).stdout
    const completed = async (...words: ReadonlyArray<string>) => {
      const ask = `grove() { "${process.execPath}" "${program}" "$@"; }
${script}
COMP_WORDS=(grove ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _grove; printf '%s\\n' "\${COMPREPLY[@]}"`
      return (await run("bash", ["-c", ask], { env: box.env })).stdout.trim().split("\n")
    }
    assert.deepStrictEqual(await completed("br"), ["branches"])
    assert.deepStrictEqual(await completed("tree", "--filter", "la"), ["labeled"])
    assert.deepStrictEqual(await completed("tree", "compl"), ["completed-01"])
  })

  it.each(["bash", "zsh", "fish"])("there is a script for %s", async (shell) => {
    const ran = await box.grove(["completions", shell])
    assert.strictEqual(ran.code, 0)
    assert.include(ran.stdout, "grove completions next --")
  })

  it("there is none for other shells", async () => {
    assertRefused(await box.grove(["completions", "tcsh"]), 2, /bash, zsh, fish/)
    assertRefused(await box.grove(["completions"]), 2, /needs <shell>/)
  })
})
