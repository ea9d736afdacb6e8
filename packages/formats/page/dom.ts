/** Elements made of data. Text is only ever text: nothing here takes HTML. */

type Child = Node | string | undefined
type Attributes = { readonly [name: string]: string | number | boolean | ((event: never) => void) | undefined }

/** `on…` attributes are listeners; false and undefined are left out. */
export const h = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: ReadonlyArray<Child>
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener)
    else element.setAttribute(name, value === true ? "" : String(value))
  }
  for (const child of children) if (child !== undefined) element.append(child)
  return element
}

/** Invisible characters that turn text around or hide it. */
const TRICKS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

export const inert = (text: string): string =>
  text.replace(TRICKS, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `\\u{${code.toString(16)}}`
  })

/** One line of the beginning of a text. */
export const oneLine = (text: string, most = 300): string =>
  inert(
    text
      .slice(0, most * 2)
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, most)
  )

/** The text with what was searched for marked. `words` are in lower case. */
export const marked = (text: string, words: ReadonlyArray<string>): DocumentFragment => {
  const fragment = document.createDocumentFragment()
  const folded = text.toLowerCase()
  // Lower case may be longer than the text; then nothing is marked rather than the wrong letters.
  const wanted = folded.length === text.length ? words.filter((word) => word !== "") : []
  let from = 0
  while (from < text.length) {
    let at = -1
    let length = 0
    for (const word of wanted) {
      const found = folded.indexOf(word, from)
      if (found >= 0 && (at < 0 || found < at)) {
        at = found
        length = word.length
      }
    }
    if (at < 0) break
    fragment.append(text.slice(from, at), h("mark", {}, text.slice(at, at + length)))
    from = at + length
  }
  fragment.append(text.slice(from))
  return fragment
}

/** Calls `work` again and again until it says that it is done, and lets the browser draw in between. */
export const inSlices = (work: () => boolean, isWanted: () => boolean): void => {
  const run = () => {
    const end = performance.now() + 12
    while (performance.now() < end) if (!isWanted() || work()) return
    setTimeout(run, 0)
  }
  setTimeout(run, 0)
}
