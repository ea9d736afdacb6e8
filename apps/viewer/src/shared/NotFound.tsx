"use client"
import { Frame } from "./Frame.tsx"
import { SettingsProvider, useWords } from "./Settings.tsx"

const Words = () => {
  const { notFound } = useWords()
  return (
    <main id="main" className="empty">
      <h2>{notFound.title}</h2>
      <a href="/">{notFound.home}</a>
    </main>
  )
}

export const NotFound = () => (
  <SettingsProvider>
    <Frame current={null}>
      <Words />
    </Frame>
  </SettingsProvider>
)
