/** A session for pages that look at one as it is now: its tree, and its words as they are needed. */
"use client"
import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react"
import { SessionModel } from "../session/SessionModel.ts"
import type { Session } from "../wire/Wire.ts"
import { ask, Refused } from "./Api.ts"
import { Frame } from "./Frame.tsx"
import { useWords } from "./Settings.tsx"
import { Empty, Loading } from "./States.tsx"

/** `/s/<key>/…` */
const keyInAddress = (): string => decodeURIComponent(window.location.pathname.split("/")[2] ?? "")

const none = () => () => {}

/** Draws `children` once the session is there, and again whenever more of it is known. */
export const OneSession = ({
  children
}: {
  readonly children: (model: SessionModel, version: number) => ReactNode
}) => {
  const words = useWords()
  const [model, setModel] = useState<SessionModel | null>(null)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    ask<Session>(`/api/s/${encodeURIComponent(keyInAddress())}`, controller.signal).then(
      (session) => setModel(new SessionModel(session)),
      (cause) => {
        if (!controller.signal.aborted) setError(cause as Error)
      }
    )
    return () => controller.abort()
  }, [])
  const version = useSyncExternalStore(model?.subscribe ?? none, model?.snapshot ?? (() => 0), () => 0)
  if (model !== null) return children(model, version)
  const isUnknown = error instanceof Refused && error.status === 404
  return (
    <Frame current={null} isDeep>
      <main id="main">
        {error === null ? (
          <Loading />
        ) : (
          <Empty
            title={isUnknown ? words.session.unknownSession : words.session.unreadable}
            help={isUnknown ? words.session.unknownSessionHelp : error.message}
          >
            <a href="/">{words.session.back}</a>
          </Empty>
        )}
      </main>
    </Frame>
  )
}
