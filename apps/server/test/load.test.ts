/** Many at once: two hundred sockets, fifty replies. What is measured here is what the page on the server says. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Frame } from "../src/Frame.ts"
import { isDone, Picture, served } from "./support.ts"

const SOCKETS = 200
const REPLIES = 50

const quantile = (sorted: ReadonlyArray<number>, part: number): number =>
  sorted[Math.floor((sorted.length - 1) * part)]!

it.live(`${SOCKETS} sockets hear ${REPLIES} replies that grow at once: none lost, none twice, in bounded memory`, () =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* served({ limits: { burst: 10_000, perSecond: 10_000 } })
      yield* Effect.promise(async () => {
        const chat = await server.create("busy")
        const before = await chat.tree()
        const sockets = Array.from({ length: SOCKETS }, () => chat.socket(before.seq))
        await Promise.all(sockets.map(({ opened }) => opened))
        const memory = process.memoryUsage().rss
        const began = performance.now()
        const asked: Array<number> = []
        const answers = await Promise.all(
          Array.from({ length: REPLIES }, async (_, at) => {
            const from = performance.now()
            const answer = await chat.say(`!sprout slow 4\n!sprout say ${`word${at} `.repeat(40)}`, null)
            asked.push(performance.now() - from)
            return answer
          })
        )
        assert.isTrue(answers.every(({ status }) => status === 202))
        await Promise.all(sockets.map(({ until }) => until(isDone(REPLIES))))
        const took = performance.now() - began
        const grown = process.memoryUsage().rss - memory
        const first = sockets[0]!.frames
        for (const { frames } of sockets) {
          assert.lengthOf(frames, first.length)
          assert.isTrue(frames.every(({ seq }, at) => seq === first[at]!.seq && (at === 0 || seq > first[at - 1]!.seq)))
        }
        const picture = new Picture(before)
        for (const frame of first) picture.take(frame)
        assert.deepStrictEqual(picture.shape, new Picture(await chat.tree()).shape)
        for (const { body } of answers) {
          const id = body.nodes[0].id
          const said = first.flatMap((frame: Frame) =>
            frame.event === "node.content.updated" && frame.data.id === id ? [frame.data.contentChunk] : []
          )
          assert.strictEqual(said.join("").trim(), picture.tree.nodes[id]!.content.trim())
        }
        // The test itself keeps every frame of every socket; the server keeps each once.
        assert.isBelow(grown, 600 << 20)
        asked.sort((a, b) => a - b)
        const sent = first.length * SOCKETS
        console.log(
          `${first.length} frames to ${SOCKETS} sockets: ${sent} in ${Math.round(took)} ms, ${Math.round(sent / (took / 1000))} a second; ` +
            `a message was answered in ${Math.round(quantile(asked, 0.5))} ms (p95 ${Math.round(quantile(asked, 0.95))}); ${Math.round(grown / (1 << 20))} MB more, server and clients together`
        )
        await Promise.all(sockets.map(({ close }) => close()))
      })
    })
  )
)
