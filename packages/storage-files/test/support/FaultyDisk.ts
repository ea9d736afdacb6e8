/** A disk whose operations a test can watch, hold up or make fail, one by one. */
import type { Disk } from "../../src/Disk.ts"

type Operation = keyof Disk
type Call<O extends Operation> = (go: Disk[O], ...parameters: Parameters<Disk[O]>) => ReturnType<Disk[O]>

export interface FaultyDisk extends Disk {
  /** How often each operation was asked for. */
  readonly calls: { readonly [O in Operation]: number }
  /** The next call of the operation that nothing else waits for goes through `call`. */
  readonly next: <O extends Operation>(operation: O, call: Call<O>) => void
  /** Every call goes through `call`, until it is taken away again. */
  readonly every: <O extends Operation>(operation: O, call: Call<O> | undefined) => void
}

const operations: ReadonlyArray<Operation> = [
  "open",
  "close",
  "stat",
  "statOpen",
  "read",
  "write",
  "sync",
  "syncDirectory",
  "makeDirectory",
  "rename",
  "link",
  "remove"
]

type AnyCall = (
  go: (...parameters: ReadonlyArray<unknown>) => unknown,
  ...parameters: ReadonlyArray<unknown>
) => unknown

export const make = (disk: Disk): FaultyDisk => {
  const calls = Object.fromEntries(operations.map((operation) => [operation, 0])) as Record<Operation, number>
  const queued = new Map<Operation, Array<AnyCall>>(operations.map((operation) => [operation, []]))
  const lasting = new Map<Operation, AnyCall>()
  const wrapped = Object.fromEntries(
    operations.map((operation) => [
      operation,
      (...parameters: ReadonlyArray<unknown>) => {
        calls[operation]++
        const go = disk[operation] as (...parameters: ReadonlyArray<unknown>) => unknown
        const call = queued.get(operation)!.shift() ?? lasting.get(operation)
        return call === undefined ? go(...parameters) : call(go, ...parameters)
      }
    ])
  ) as unknown as Disk
  return {
    ...wrapped,
    calls,
    next: (operation, call) => queued.get(operation)!.push(call as AnyCall),
    every: (operation, call) => {
      if (call === undefined) lasting.delete(operation)
      else lasting.set(operation, call as AnyCall)
    }
  }
}

export const failure = (code: string): Error => Object.assign(new Error(`${code}: made to fail`), { code })

export const failing = (code: string) => (): never => {
  throw failure(code)
}

/** Writes only so many of the bytes, as a disk does that becomes full. */
export const shortBy =
  (kept: (length: number) => number) =>
  (go: Disk["write"], file: number, bytes: Uint8Array): number => {
    const length = kept(bytes.length)
    return length === 0 ? 0 : go(file, bytes.subarray(0, length))
  }
