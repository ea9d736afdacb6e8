/** Goes to anything by name: what this page can do, and every session. */
"use client"
import { useEffect, useMemo, useRef, useState } from "react"
import type { Sessions } from "../wire/Wire.ts"
import { useAnswer } from "./Api.ts"
import { Dialog } from "./Dialog.tsx"
import { useWords } from "./Settings.tsx"
import { titleOf } from "./Titles.ts"

export interface PaletteCommand {
  readonly name: string
  readonly keys?: string
  readonly run: () => void
}

const MOST = 50

export const Palette = ({
  onClose,
  commands
}: {
  readonly onClose: () => void
  readonly commands: ReadonlyArray<PaletteCommand>
}) => {
  const words = useWords()
  const { answer } = useAnswer<Sessions>("/api/sessions")
  const [query, setQuery] = useState("")
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const found = useMemo(() => {
    const wanted = query.toLowerCase().split(/\s+/u).filter(Boolean)
    const fits = (text: string) => wanted.every((word) => text.toLowerCase().includes(word))
    const sessions = answer.is === "here" ? answer.value.sessions : []
    return [
      ...commands.filter(({ name }) => fits(name)),
      ...sessions
        .map((row) => ({ name: titleOf(row, words), detail: row.cwd, key: row.key }))
        .filter(({ name, detail }) => fits(`${name} ${detail ?? ""}`))
        .map(({ name, key }) => ({
          name,
          keys: undefined,
          run: () => window.location.assign(`/s/${encodeURIComponent(key)}`)
        }))
    ].slice(0, MOST)
  }, [query, answer, commands, words])
  const selected = Math.min(at, found.length - 1)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is selected is kept in view
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" })
  }, [selected])
  const run = (index: number) => {
    const chosen = found[index]
    onClose()
    chosen?.run()
  }
  return (
    <Dialog title={words.palette.title} onClose={onClose} className="palette">
      <input
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={selected >= 0 ? `palette-${selected}` : undefined}
        aria-label={words.palette.placeholder}
        placeholder={words.palette.placeholder}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
          if (step !== 0) {
            event.preventDefault()
            setAt((selected + step + found.length) % Math.max(found.length, 1))
          } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
            event.preventDefault()
            run(selected)
          }
        }}
      />
      <div id="palette-list" className="palette-list" role="listbox" aria-label={words.palette.title} ref={list}>
        {found.map((each, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat
            key={index}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === selected}
            tabIndex={-1}
            onClick={() => run(index)}
            onKeyDown={() => {}}
          >
            <span>{each.name}</span>
            {each.keys === undefined ? null : <kbd className="kbd">{each.keys}</kbd>}
          </div>
        ))}
        {found.length === 0 ? <div className="nothing">{words.palette.nothing}</div> : null}
      </div>
    </Dialog>
  )
}
