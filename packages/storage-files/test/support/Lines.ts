/** Lines that tests write. Nothing is imported here, so that programs which write them start at once. */

export const HEADER =
  '{"type":"session","version":3,"id":"session-0001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/ada"}\n'

/** An entry as one line, its text so long. */
export const line = (id: string, length = 40, role = "user", parentId: string | null = null): string =>
  `${JSON.stringify({
    type: "message",
    id,
    parentId,
    timestamp: "2026-01-01T00:01:00.000Z",
    message: { role, content: `${id} `.padEnd(length, "x") }
  })}\n`

export const bytesOf = (text: string): Uint8Array => Buffer.from(text)
