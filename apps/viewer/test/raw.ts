/** Requests written by hand, as no browser would send them. */
import { connect } from "node:net"

export interface Answer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Sends lines and reads until the connection closes. */
export const raw = (port: number, lines: ReadonlyArray<string>): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk) => chunks.push(chunk))
    socket.on("error", reject)
    socket.on("close", () => {
      const text = Buffer.concat(chunks).toString("utf8")
      const [head = "", ...rest] = text.split("\r\n\r\n")
      const [first = "", ...headers] = head.split("\r\n")
      const pairs = headers.map(
        (line) => [line.split(":", 1)[0]!.toLowerCase(), line.replace(/^[^:]*:\s*/, "")] as const
      )
      resolve({ status: Number(first.split(" ")[1]), headers: new Map(pairs), body: rest.join("\r\n\r\n") })
    })
    socket.write([...lines, "", ""].join("\r\n"))
  })

/** A request with these headers; `Host` is right unless given. */
export const ask = (
  port: number,
  target: string,
  headers: ReadonlyArray<string> = [],
  method = "GET"
): Promise<Answer> => {
  const host = headers.some((line) => /^host:/i.test(line)) ? [] : [`Host: 127.0.0.1:${port}`]
  return raw(port, [`${method} ${target} HTTP/1.1`, ...host, ...headers, "Connection: close"])
}
