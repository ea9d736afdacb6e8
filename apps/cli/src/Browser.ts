/** The person's browser, where there is a screen to open it on. */
import { Effect } from "effect"
import type { Surroundings } from "./Environment.ts"

/** Not over ssh, not without a display. */
const hasScreen = ({ variables, isInteractive }: Surroundings): boolean => {
  if (!isInteractive.output || variables.SSH_CONNECTION || variables.SSH_TTY) return false
  const needsDisplay = process.platform === "linux" && !variables.WSL_DISTRO_NAME
  return !needsDisplay || Boolean(variables.DISPLAY || variables.WAYLAND_DISPLAY)
}

/** Without a browser the link on the screen is all there is, and enough. */
export const show = (link: string, surroundings: Surroundings): Effect.Effect<void> =>
  Effect.promise(async () => {
    if (!hasScreen(surroundings)) return
    const { default: open } = await import("open")
    const child = await open(link).catch(() => undefined)
    child?.on("error", () => {})
  })
