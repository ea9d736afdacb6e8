/** All state of a page is in its address: read from it, written to it, and followed when the person goes back. */
"use client"
import { useCallback, useSyncExternalStore } from "react"

const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  if (listeners.size === 0) window.addEventListener("popstate", tell)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) window.removeEventListener("popstate", tell)
  }
}

export type Change = { readonly [name: string]: string | null | undefined }

/** Empty and absent values leave the address. `undefined` keeps what is there. */
export const changed = (search: string, change: Change): string => {
  const params = new URLSearchParams(search)
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === "") params.delete(name)
    else if (value !== undefined) params.set(name, value)
  }
  const text = params.toString()
  return text === "" ? "" : `?${text}`
}

/**
 * Goes around the router of the framework, whose own `pushState` would have it fetch pages that exist only as one
 * exported shell.
 */
const write = (how: "pushState" | "replaceState", search: string) => {
  History.prototype[how].call(
    window.history,
    how === "replaceState" ? window.history.state : null,
    "",
    `${window.location.pathname}${search}`
  )
  tell()
}

export const useAddress = () => {
  const search = useSyncExternalStore(
    subscribe,
    () => window.location.search,
    () => ""
  )
  const go = useCallback((change: Change, how: "push" | "replace" = "push") => {
    const next = changed(window.location.search, change)
    if (next !== window.location.search) write(how === "push" ? "pushState" : "replaceState", next)
  }, [])
  return { params: new URLSearchParams(search), search, go }
}
