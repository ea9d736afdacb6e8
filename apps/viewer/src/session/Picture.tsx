/** A picture of an entry, from this server and nowhere else. */
"use client"
import { createContext, useContext, useState } from "react"
import { useWords } from "../shared/Settings.tsx"

/** The address of the session's data. */
export const DataPath = createContext("")

export const Picture = ({ entry, data }: { readonly entry: string; readonly data: unknown }) => {
  const words = useWords()
  const path = useContext(DataPath)
  const [isBroken, setBroken] = useState(false)
  const place = typeof data === "string" && data.startsWith("image:") ? data.slice("image:".length) : undefined
  if (isBroken || place === undefined) return <p className="chip warn">{words.session.imageMissing}</p>
  return (
    // biome-ignore lint/performance/noImgElement: there is no server to make it smaller
    <img
      className="picture"
      loading="lazy"
      alt={words.session.image}
      src={`${path}/image?entry=${encodeURIComponent(entry)}&at=${encodeURIComponent(place)}`}
      onError={() => setBroken(true)}
    />
  )
}
