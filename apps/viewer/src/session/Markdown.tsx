/** Markdown as React nodes: no HTML of its own, no address but those that are safe to follow, no image from elsewhere. */
"use client"
import { Preview } from "@grove/core/model"
import { memo, type ReactNode } from "react"
import ReactMarkdown, { type Components } from "react-markdown"
import remarkGfm from "remark-gfm"
import { useWords } from "../shared/Settings.tsx"
import { Code } from "./Code.tsx"

const SAFE = /^(https?:|mailto:|#)/i

/** Longer texts are shown as they are: parsing them would freeze the page. */
const LONGEST = 100_000

const addressOf = (url: string): string => (SAFE.test(url.trim()) ? url : "")

const hostOf = (url: string | undefined): string => {
  try {
    return new URL(url ?? "").host || "?"
  } catch {
    return "?"
  }
}

const RemoteImage = ({ src, alt }: { readonly src: string | undefined; readonly alt: string | undefined }) => {
  const words = useWords()
  return (
    <span className="chip" title={alt}>
      {words.session.remoteImage(hostOf(src))}
    </span>
  )
}

const textIn = (node: ReactNode): string =>
  typeof node === "string"
    ? node
    : Array.isArray(node)
      ? node.map((each) => (typeof each === "string" ? each : "")).join("")
      : ""

const components: Components = {
  a: ({ href, children, title }) =>
    href ? (
      <a href={href} title={title} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    ) : (
      <span className="dead-link">{children}</span>
    ),
  img: ({ src, alt }) => <RemoteImage src={typeof src === "string" ? src : undefined} alt={alt} />,
  pre: ({ children }) => <>{children}</>,
  code: ({ className, children }) => {
    const language = /language-(\S+)/.exec(className ?? "")?.[1]
    const text = textIn(children)
    return language === undefined && !text.includes("\n") ? (
      <code>{children}</code>
    ) : (
      <Code text={text.replace(/\n$/, "")} language={language} />
    )
  },
  // Headings of an answer are below those of the page.
  h1: ({ children }) => <h3 className="md-h1">{children}</h3>,
  h2: ({ children }) => <h4 className="md-h2">{children}</h4>,
  h3: ({ children }) => <h5 className="md-h3">{children}</h5>,
  h4: ({ children }) => <h6 className="md-h4">{children}</h6>,
  table: ({ children }) => (
    <div className="table">
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => <span aria-hidden="true">{checked ? "☑ " : "☐ "}</span>
}

export const Markdown = memo(({ text }: { readonly text: string }) => {
  const inert = Preview.inert(text.replaceAll("\r\n", "\n").replaceAll("\t", "    "))
  if (text.length > LONGEST) return <div className="plain">{inert}</div>
  return (
    <div className="markdown" dir="auto">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components} urlTransform={addressOf} skipHtml={false}>
        {inert}
      </ReactMarkdown>
    </div>
  )
})
Markdown.displayName = "Markdown"
