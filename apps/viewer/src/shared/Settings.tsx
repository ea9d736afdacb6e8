/** What a person prefers: theme, language, density. Kept in the browser, applied before anything is drawn. */
"use client"
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react"
import { choose, languages, type Words } from "../words/index.ts"
import { SETTINGS_KEY } from "./Early.ts"

export interface Settings {
  readonly theme: "system" | "light" | "dark"
  /** A tag of `languages`, or what the browser asks for. */
  readonly language: string | null
  readonly density: "comfortable" | "compact"
}

const DEFAULTS: Settings = { theme: "system", language: null, density: "comfortable" }

const read = (): Settings => {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(SETTINGS_KEY) ?? "{}") }
  } catch {
    return DEFAULTS
  }
}

interface Chosen {
  readonly settings: Settings
  readonly words: Words
  readonly set: (change: Partial<Settings>) => void
}

const Context = createContext<Chosen>({ settings: DEFAULTS, words: languages.en!, set: () => {} })

export const SettingsProvider = ({ children }: { readonly children: ReactNode }) => {
  const [settings, setSettings] = useState<Settings | undefined>(undefined)
  useEffect(() => setSettings(read()), [])
  const tag = settings === undefined ? "en" : (settings.language ?? choose(navigator.languages))
  useEffect(() => {
    if (settings === undefined) return
    const { dataset } = document.documentElement
    document.documentElement.lang = tag
    if (settings.theme === "system") delete dataset.theme
    else dataset.theme = settings.theme
    dataset.density = settings.density
  }, [settings, tag])
  const chosen = useMemo(
    () => ({
      settings: settings ?? DEFAULTS,
      words: languages[tag] ?? languages.en!,
      set: (change: Partial<Settings>) =>
        setSettings((before) => {
          const next = { ...(before ?? DEFAULTS), ...change }
          try {
            localStorage.setItem(SETTINGS_KEY, JSON.stringify(next))
          } catch {
            // A browser that keeps nothing still shows what was chosen.
          }
          return next
        })
    }),
    [settings, tag]
  )
  // Nothing is said before it is known in which language.
  return <Context value={chosen}>{settings === undefined ? null : children}</Context>
}

export const useSettings = (): Chosen => useContext(Context)
export const useWords = (): Words => useContext(Context).words
