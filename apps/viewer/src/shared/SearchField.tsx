/** The field on top of a page that finds things: `/` goes to it, Escape empties it, the arrow goes to what was found. */
"use client"
import { useRef } from "react"
import * as Icons from "./Icons.tsx"
import { useKeys } from "./Keys.ts"

export const SearchField = ({
  label,
  value,
  onChange
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const field = useRef<HTMLInputElement>(null)
  useKeys({ "/": () => field.current?.focus() })
  return (
    <label className="field sessions-search">
      <Icons.Search />
      <span className="visually-hidden">{label}</span>
      <input
        ref={field}
        type="search"
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onChange("")
          if (event.key !== "ArrowDown") return
          event.preventDefault()
          document.querySelector<HTMLElement>("[data-found]")?.focus()
        }}
      />
      <span className="kbd hide-narrow">/</span>
    </label>
  )
}

/** `j`, `k` and the arrows go through what was found. */
export const useFoundKeys = (): void => {
  const move = (step: number) => {
    const found = [...document.querySelectorAll<HTMLElement>("[data-found]")]
    const at = found.indexOf(document.activeElement as HTMLElement)
    found[at === -1 ? 0 : Math.min(Math.max(at + step, 0), found.length - 1)]?.focus()
  }
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) })
}
