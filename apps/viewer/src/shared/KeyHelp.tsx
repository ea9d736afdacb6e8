/** The list of keys. */
"use client"
import { Dialog } from "./Dialog.tsx"
import { useWords } from "./Settings.tsx"

export const KeyHelp = ({ onClose }: { readonly onClose: () => void }) => {
  const { keys } = useWords()
  const rows: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
    [["j", "k"], keys.turn],
    [["J", "K"], keys.prompt],
    [["[", "]"], keys.sibling],
    [["{", "}"], keys.fork],
    [["t"], keys.tree],
    [["/"], keys.find],
    [["n", "N"], keys.hit],
    [["G"], keys.end],
    [["i"], keys.inspector],
    [["c"], keys.compare],
    [["e"], keys.export],
    [["Ctrl", "K"], keys.palette],
    [["Esc"], keys.escape],
    [["?"], keys.help]
  ]
  return (
    <Dialog title={keys.title} onClose={onClose}>
      <h2>{keys.title}</h2>
      <dl className="keys">
        {rows.map(([names, meaning]) => (
          <div key={meaning} className="keys-row">
            <dt>
              {names.map((name) => (
                <kbd key={name} className="kbd">
                  {name}
                </kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
