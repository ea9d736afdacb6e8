/** A modal on the browser's own `dialog`, which keeps the focus and closes on Escape by itself. */
"use client"
import { type ReactNode, useEffect, useRef } from "react"

export const Dialog = ({
  title,
  onClose,
  className,
  children
}: {
  readonly title: string
  readonly onClose: () => void
  readonly className?: string
  readonly children: ReactNode
}) => {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = ref.current
    if (dialog?.open === false) dialog.showModal()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; Escape does so by itself
    <dialog
      ref={ref}
      aria-label={title}
      className={className}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose()
      }}
    >
      {children}
    </dialog>
  )
}
