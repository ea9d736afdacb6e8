/** Pictures in entries, inline or as blobs. What a picture is, its first bytes say; drawings that can hold scripts are none. */
import { join } from "node:path"
import { Blobs } from "@grove/core"
import { type Entry, isObject } from "@grove/core/model"
import { BlobFiles } from "@grove/storage-files/read"
import { valueAt } from "./Bodies.ts"

export interface Picture {
  readonly type: string
  readonly bytes: Uint8Array
}

const latin = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString("latin1")

const SIGNATURES: ReadonlyArray<readonly [type: string, test: (bytes: Uint8Array) => boolean]> = [
  ["image/png", (bytes) => latin(bytes, 0, 4) === "\x89PNG"],
  ["image/jpeg", (bytes) => latin(bytes, 0, 2) === "\xff\xd8"],
  ["image/gif", (bytes) => latin(bytes, 0, 4) === "GIF8"],
  ["image/webp", (bytes) => latin(bytes, 0, 4) === "RIFF" && latin(bytes, 8, 12) === "WEBP"]
]

const typeOf = (bytes: Uint8Array): string | undefined => SIGNATURES.find(([, test]) => test(bytes))?.[0]

/** The picture at a place in an entry; `undefined` where there is none that can be shown. */
export const at = async (
  entry: Entry.Entry,
  pointer: string,
  places: ReadonlyArray<string>
): Promise<Picture | undefined> => {
  const { value, above } = valueAt(entry, pointer)
  if (typeof value !== "string" || !isObject(above) || above.type !== "image") return undefined
  const hash = Blobs.hashIn(value)
  const bytes =
    hash === undefined
      ? Buffer.from(value, "base64")
      : await BlobFiles.readBest(
          places.map((place) => join(place, hash)),
          hash
        )
  if (bytes === undefined || (hash !== undefined && Blobs.hashOf(bytes) !== hash)) return undefined
  const type = typeOf(bytes)
  return type === undefined ? undefined : { type, bytes }
}
