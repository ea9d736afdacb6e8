/** One map of keys for each part of a page; letters typed into a field are text. */
"use client"
import { useEffect, useRef } from "react"

/** By `event.key`; `mod+` means Ctrl or Command. */
export type KeyMap = { readonly [key: string]: (event: KeyboardEvent) => void }

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))

export const useKeys = (map: KeyMap): void => {
  const latest = useRef(map)
  latest.current = map
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.altKey) return
      const hasMod = event.ctrlKey || event.metaKey
      const name = hasMod ? `mod+${event.key.toLowerCase()}` : event.key
      const act = Object.hasOwn(latest.current, name) ? latest.current[name] : undefined
      if (act === undefined || (!hasMod && (isTyping(event.target) || document.querySelector("dialog[open]") !== null)))
        return
      event.preventDefault()
      act(event)
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [])
}
