/** What was typed, once the person rests. */
"use client"
import { useEffect, useState } from "react"

const REST = 150

export const useRested = (text: string): string => {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}
