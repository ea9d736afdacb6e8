import type { Metadata, Viewport } from "next"
import type { ReactNode } from "react"
import { EARLY } from "../shared/Early.ts"
import "../styles/base.css"
import "../styles/sessions.css"
import "../styles/session.css"
import "../styles/across.css"
import "../styles/compare.css"
import "../styles/graph.css"

export const metadata: Metadata = { title: "Grove" }
export const viewport: Viewport = { width: "device-width", initialScale: 1 }

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en" suppressHydrationWarning>
      <head>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own text, before the first paint */}
        <script dangerouslySetInnerHTML={{ __html: EARLY }} />
      </head>
      <body>{children}</body>
    </html>
  )
}
