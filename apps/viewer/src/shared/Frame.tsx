/** What surrounds every page: the bar on top, settings, the list of keys, the palette. */
"use client"
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react"
import { languages } from "../words/index.ts"
import * as Icons from "./Icons.tsx"
import { KeyHelp } from "./KeyHelp.tsx"
import { useKeys } from "./Keys.ts"
import { Palette, type PaletteCommand } from "./Palette.tsx"
import { type Settings, useSettings, useWords } from "./Settings.tsx"

/** The pages that the bar leads to. */
const PAGES = [
  { path: "/", name: "sessions" },
  { path: "/search", name: "search" },
  { path: "/history", name: "prompts" },
  { path: "/usage", name: "usage" }
] as const

export type PageName = (typeof PAGES)[number]["name"]

/** Closes when something else is clicked, or on Escape. */
export const Menu = ({
  label,
  icon,
  children,
  isWordy = false
}: {
  readonly label: string
  readonly icon: ReactNode
  readonly children: ReactNode
  /** The label is shown, not only read out. */
  readonly isWordy?: boolean
}) => {
  const [isOpen, setOpen] = useState(false)
  const ref = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const onPointer = (event: PointerEvent) => {
      if (!ref.current?.contains(event.target as Node)) setOpen(false)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return
      event.stopPropagation()
      setOpen(false)
      button.current?.focus()
    }
    document.addEventListener("pointerdown", onPointer)
    document.addEventListener("keydown", onKey, true)
    return () => {
      document.removeEventListener("pointerdown", onPointer)
      document.removeEventListener("keydown", onKey, true)
    }
  }, [isOpen])
  return (
    <div className="menu" ref={ref}>
      <button
        type="button"
        ref={button}
        className="button quiet"
        aria-expanded={isOpen}
        aria-label={isWordy ? undefined : label}
        title={label}
        onClick={() => setOpen(!isOpen)}
      >
        {icon}
        {isWordy ? <span className="hide-narrow">{label}</span> : null}
      </button>
      {isOpen ? <div className="sheet">{children}</div> : null}
    </div>
  )
}

const Choice = <Value extends string>(props: {
  readonly label: string
  readonly value: Value
  readonly options: ReadonlyArray<readonly [Value, string]>
  readonly onChange: (value: Value) => void
}) => (
  <label>
    {props.label}
    <select className="select" value={props.value} onChange={(event) => props.onChange(event.target.value as Value)}>
      {props.options.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  </label>
)

const SettingsMenu = () => {
  const { settings, words, set } = useSettings()
  const { settings: say } = words
  return (
    <Menu label={words.nav.settings} icon={<Icons.Gear />}>
      <Choice<Settings["theme"]>
        label={say.theme}
        value={settings.theme}
        options={[
          ["system", say.system],
          ["light", say.light],
          ["dark", say.dark]
        ]}
        onChange={(theme) => set({ theme })}
      />
      <Choice<string>
        label={say.language}
        value={settings.language ?? ""}
        options={[
          ["", say.system],
          ...Object.entries(languages).map(([tag, { language }]) => [tag, language] as const)
        ]}
        onChange={(language) => set({ language: language || null })}
      />
      <Choice<Settings["density"]>
        label={say.density}
        value={settings.density}
        options={[
          ["comfortable", say.comfortable],
          ["compact", say.compact]
        ]}
        onChange={(density) => set({ density })}
      />
    </Menu>
  )
}

interface FrameProps {
  readonly current: PageName | null
  /** Stands in the bar: what this page is about, and what can be done with it. */
  readonly bar?: ReactNode
  readonly children: ReactNode
  readonly commands?: ReadonlyArray<PaletteCommand>
  /** A page of its own needs the room: the other pages are reached through the mark. */
  readonly isDeep?: boolean
}

export const Frame = ({ current, bar, children, commands = [], isDeep = false }: FrameProps) => {
  const words = useWords()
  const [shown, setShown] = useState<"help" | "palette" | null>(null)
  const hide = useCallback(() => setShown(null), [])
  useKeys({
    "?": () => setShown("help"),
    "mod+k": () => setShown("palette")
  })
  return (
    <div className="page">
      <header className="bar">
        <a className="skip" href="#main">
          {words.skip}
        </a>
        <a className="brand" href="/" aria-label="Grove">
          <Icons.Logo />
          <span className="hide-narrow">Grove</span>
        </a>
        {isDeep ? null : (
          <nav className="nav" aria-label="Grove">
            {PAGES.map(({ path, name }) => (
              <a key={path} href={path} aria-current={current === name ? "page" : undefined}>
                {words.nav[name]}
              </a>
            ))}
          </nav>
        )}
        {bar ?? <span className="spring" />}
        <button
          type="button"
          className="button quiet hide-narrow"
          title={words.keys.title}
          aria-label={words.keys.title}
          onClick={() => setShown("help")}
        >
          <span className="kbd">?</span>
        </button>
        <SettingsMenu />
      </header>
      {children}
      {shown === "help" ? <KeyHelp onClose={hide} /> : null}
      {shown === "palette" ? <Palette onClose={hide} commands={commands} /> : null}
    </div>
  )
}
