/** A block of code: plain at once, coloured when it is in view and the browser has time. */
"use client"
import { memo, useEffect, useRef, useState } from "react"
import { useWords } from "../shared/Settings.tsx"
import { type Colored, highlight } from "./Highlighter.ts"

const useIsSeen = () => {
  const ref = useRef<HTMLPreElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (element === null || isSeen) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true), {
      rootMargin: "200px"
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [isSeen])
  return { ref, isSeen }
}

export const CopyButton = ({ text }: { readonly text: string }) => {
  const words = useWords()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <button
      type="button"
      className="copy"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {isCopied ? words.copied : words.copy}
    </button>
  )
}

export const Code = memo(({ text, language }: { readonly text: string; readonly language: string | undefined }) => {
  const { ref, isSeen } = useIsSeen()
  const [lines, setLines] = useState<Colored | null>(null)
  useEffect(() => {
    if (!isSeen || language === undefined) return
    let isWanted = true
    highlight(text, language).then((found) => isWanted && setLines(found))
    return () => {
      isWanted = false
    }
  }, [isSeen, text, language])
  return (
    <div className="code">
      {language === undefined ? null : <span className="code-language">{language.slice(0, 24)}</span>}
      <CopyButton text={text} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by key */}
      <pre ref={ref} tabIndex={0}>
        <code>
          {lines === null
            ? text
            : lines.map((line, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place
                <span key={at}>
                  {line.map(({ text, kind }, place) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: nor have tokens
                    <span key={place} className={kind}>
                      {text}
                    </span>
                  ))}
                  {"\n"}
                </span>
              ))}
        </code>
      </pre>
    </div>
  )
})
Code.displayName = "Code"
