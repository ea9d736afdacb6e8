/** What a page shows instead of what it was asked for. */
"use client"
import type { ReactNode } from "react"
import { useWords } from "./Settings.tsx"

export const Empty = ({
  title,
  help,
  children
}: {
  readonly title: string
  readonly help?: string | undefined
  readonly children?: ReactNode
}) => (
  <div className="empty">
    <h2>{title}</h2>
    {help === undefined ? null : <p>{help}</p>}
    {children}
  </div>
)

export const Loading = () => (
  <p className="empty" role="status">
    {useWords().loading}
  </p>
)

export const Failed = ({ error, again }: { readonly error: Error; readonly again: () => void }) => {
  const words = useWords()
  return (
    <Empty title={error.message}>
      <button type="button" className="button" onClick={again}>
        {words.retry}
      </button>
    </Empty>
  )
}
