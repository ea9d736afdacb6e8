/** The tree beside the transcript: the rows of `grove tree`, or what a search has found. */
import { type Entry, Preview, TreeLayout, TreeView } from "@grove/core/model"
import { h, inSlices, marked, oneLine } from "./dom.ts"
import type { Session } from "./Session.ts"

const ROW = 30
const STEP = 14
const MOST_STEPS = 8

interface Row {
  readonly row: number
  readonly depth: number
}

/** Who speaks in a row, or what it does: in the words of the terminal. */
const who: { readonly [roleOrType: string]: string } = {
  ...{ user: "you", assistant: "ai", toolResult: "tool", bashExecution: "run", pythonExecution: "run" },
  ...{ custom: "note", system: "sys", developer: "sys", fileMention: "file", custom_message: "note" },
  ...{ branch_summary: "was", compaction: "", model_change: "set", thinking_level_change: "set", mode_change: "set" },
  ...{ label: "tag", session_info: "name" }
}

const thousands = (tokens: number): string => (tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`)

const saidIn = (entry: Entry.Entry): string => {
  const { type, tokensBefore, summary } = entry
  if (type === "compaction" && typeof tokensBefore === "number" && typeof summary === "string") {
    return `compacted ${thousands(tokensBefore)} → ${thousands(Math.ceil(summary.length / 4))} tokens`
  }
  return oneLine(Preview.textOfEntry(entry)) || `(${oneLine(type, 40)})`
}

export class TreePane {
  readonly #session: Session
  readonly #goTo: (row: number) => void
  readonly #box = h("div", { class: "rows", role: "tree", "aria-label": "Tree of the session", tabindex: 0 })
  readonly #inner = h("div", { class: "inner" })
  readonly #status = h("p", { class: "status", "aria-live": "polite" })
  readonly #filters: ReadonlyArray<HTMLButtonElement>
  readonly #input = h("input", { type: "search", placeholder: "Search (/)", "aria-label": "Search the session" })
  readonly element: HTMLElement
  #filter: TreeView.Filter = "turns"
  #leaf = -1
  #plan: TreeLayout.Plan | undefined
  #unfolded = new Set<number>()
  #rows: ReadonlyArray<Row> = []
  #selected = -1
  /** Words that are searched for, and what holds them all. */
  #words: ReadonlyArray<string> = []
  #found: Array<Row> | undefined
  #search = 0
  onWords: (words: ReadonlyArray<string>) => void = () => {}

  constructor(session: Session, goTo: (row: number) => void) {
    this.#session = session
    this.#goTo = goTo
    this.#filters = TreeView.filters.map((name) =>
      h("button", { type: "button", "aria-pressed": "false", onclick: () => this.filter(name) }, name)
    )
    this.#press()
    this.#box.append(this.#inner)
    let isAsked = false
    const later = () => {
      if (isAsked) return
      isAsked = true
      requestAnimationFrame(() => {
        isAsked = false
        this.#draw()
      })
    }
    this.#box.addEventListener("scroll", later, { passive: true })
    new ResizeObserver(later).observe(this.#box)
    this.#box.addEventListener("keydown", (event) => this.#key(event))
    this.#box.addEventListener("focus", () => this.#draw())
    this.#box.addEventListener("blur", () => this.#draw())
    this.#input.addEventListener("input", () => this.search(this.#input.value))
    this.#input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.clear()
      else if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault()
        this.focus()
        if (event.key === "Enter" && this.#found !== undefined) this.#move(0)
      }
    })
    this.element = h(
      "aside",
      { id: "tree" },
      h(
        "div",
        { class: "tools" },
        this.#input,
        h("div", { class: "filters", role: "group", "aria-label": "Filter" }, ...this.#filters)
      ),
      this.#status,
      this.#box
    )
  }

  focus(): void {
    this.#box.focus()
  }
  focusSearch(): void {
    this.#input.focus()
    this.#input.select()
  }

  clear(): void {
    this.#input.value = ""
    this.search("")
    this.#box.focus()
  }

  filter(name: TreeView.Filter): void {
    this.#filter = name
    this.#press()
    if (name === "errors" && this.#session.failed === undefined) this.#findFailures()
    else this.#replan()
  }

  #press(): void {
    for (const [i, button] of this.#filters.entries()) {
      button.setAttribute("aria-pressed", String(TreeView.filters[i] === this.#filter))
    }
  }

  nextFilter(): void {
    const at = TreeView.filters.indexOf(this.#filter)
    this.filter(TreeView.filters[(at + 1) % TreeView.filters.length]!)
  }

  /** Whether something failed is only in its body: all of them are read, a few at a time. */
  #findFailures(): void {
    const failed = new Uint8Array(this.#session.size)
    let row = 0
    inSlices(
      () => {
        if (row >= this.#session.size) {
          this.#session.failed = failed
          this.#replan()
          return true
        }
        if (TreeView.isError(this.#session.entry(row))) failed[row] = 1
        row++
        if (row % 500 === 0)
          this.#status.textContent = `looking for errors, ${Math.floor((row / this.#session.size) * 100)} %`
        return false
      },
      () => this.#filter === "errors"
    )
  }

  /** The branch that is shown has changed. */
  follow(leaf: number, selected: number): void {
    const isNew = leaf !== this.#leaf
    this.#leaf = leaf
    this.#selected = selected
    if (isNew || this.#plan === undefined) this.#replan()
    else this.#reveal()
  }

  /** The reader has come to another entry. */
  select(row: number): void {
    if (row === this.#selected || this.#found !== undefined) return
    this.#selected = row
    this.#reveal()
  }

  #replan(): void {
    const view = this.#session.view(this.#filter)
    this.#plan = TreeLayout.plan(view, (this.#session.index.ids[this.#leaf] ?? null) as never)
    this.#layout()
    this.#reveal()
  }

  #layout(): void {
    const rows: Array<Row> = []
    const plan = this.#plan!
    TreeLayout.walk(
      plan,
      { rows: plan.view.childrenOf(-1), depth: 0 },
      (row) => this.#unfolded.has(row),
      (row, depth) => {
        rows.push({ row, depth })
      }
    )
    this.#rows = rows
    const folded = rows.filter(({ row }) => plan.isSide(row) && !this.#unfolded.has(row)).length
    const parts = [
      `${rows.length.toLocaleString("en-US")} rows`,
      ...(folded > 0 ? [`${folded} side ${folded === 1 ? "branch" : "branches"} folded`] : [])
    ]
    this.#status.textContent = rows.length === 0 ? `Nothing passes “${this.#filter}”.` : parts.join(" · ")
    this.#draw()
  }

  get #shown(): ReadonlyArray<Row> {
    return this.#found ?? this.#rows
  }

  /** Where the selected entry is, or the nearest shown above it. */
  #position(): number {
    const shown = this.#shown
    if (this.#found !== undefined) return shown.findIndex(({ row }) => row === this.#selected)
    const nearest = this.#plan?.view.nearest(this.#selected) ?? -1
    return shown.findIndex(({ row }) => row === nearest)
  }

  #reveal(): void {
    const at = this.#position()
    if (at >= 0) {
      const top = at * ROW
      const { scrollTop, clientHeight } = this.#box
      if (top < scrollTop || top + ROW > scrollTop + clientHeight) this.#box.scrollTop = top - clientHeight / 2
    }
    this.#draw()
  }

  #toggle(row: number): void {
    if (this.#unfolded.has(row)) this.#unfolded.delete(row)
    else this.#unfolded.add(row)
    this.#layout()
  }

  #draw(): void {
    const shown = this.#shown
    this.#inner.style.height = `${shown.length * ROW}px`
    const first = Math.max(0, Math.floor(this.#box.scrollTop / ROW) - 8)
    const last = Math.min(shown.length, first + Math.ceil(this.#box.clientHeight / ROW) + 16)
    const selected = this.#position()
    const nodes: Array<HTMLElement> = []
    for (let at = first; at < last; at++) nodes.push(this.#row(shown[at]!, at, at === selected))
    this.#inner.replaceChildren(...nodes)
    const active = shown[selected]
    if (active === undefined) this.#box.removeAttribute("aria-activedescendant")
    else this.#box.setAttribute("aria-activedescendant", `row${active.row}`)
  }

  #row({ row, depth }: Row, at: number, isSelected: boolean): HTMLElement {
    const session = this.#session
    const plan = this.#plan!
    const entry = session.entry(row)
    const isSearch = this.#found !== undefined
    const isSide = !isSearch && plan.isSide(row)
    const isFolded = isSide && !this.#unfolded.has(row)
    const said = saidIn(entry)
    const label = session.labels.get(row)
    const size = isFolded ? plan.sizeOf(row) : undefined
    const tools = isSearch || isFolded ? 0 : plan.view.toolsOf(row)
    const isUser = session.role(row) === "user"
    const isBreak = entry.type === "compaction" || entry.type === "branch_summary"
    const sign = row === plan.here && !isSearch ? "◆" : isBreak ? "⊙" : isUser ? (plan.isOnPath(row) ? "●" : "○") : ""
    const element = h(
      "div",
      {
        ...{ id: `row${row}`, role: "treeitem", "aria-level": depth + 1, "aria-selected": isSelected },
        "aria-posinset": at + 1,
        "aria-setsize": this.#shown.length,
        "aria-expanded": isSide ? !isFolded : undefined,
        class: [
          "row",
          plan.isOnPath(row) ? "on-path" : "off-path",
          isSelected ? "selected" : "",
          isUser ? "user" : "",
          session.muted.has(row) ? "muted" : ""
        ].join(" "),
        onclick: () => this.#goTo(row)
      },
      h("span", { class: "gutter" }),
      isSide
        ? h(
            "button",
            {
              ...{ class: "toggle", tabindex: -1, "aria-label": isFolded ? "unfold" : "fold" },
              onclick: (event: MouseEvent) => {
                event.stopPropagation()
                this.#toggle(row)
              }
            },
            isFolded ? "▸" : "▾"
          )
        : h("span", { class: "sign" }, sign),
      h("span", { class: "who" }, entry.type === "custom" ? "ext" : (who[session.role(row) ?? entry.type] ?? "·")),
      h("span", { class: "said" }, isSearch ? marked(this.#snippet(row), this.#words) : said),
      label === undefined ? undefined : h("span", { class: "label" }, oneLine(label, 24)),
      TreeView.isError(entry) ? h("span", { class: "bad", title: "failed" }, "✕") : undefined,
      tools > 0 ? h("span", { class: "dim" }, `⚙${tools}`) : undefined,
      size === undefined
        ? undefined
        : h(
            "span",
            { class: "dim" },
            size.leaves > 1 ? `${size.entries} in ${size.leaves} branches` : `${size.entries} more`
          )
    )
    element.style.transform = `translateY(${at * ROW}px)`
    ;(element.firstChild as HTMLElement).style.width = `${Math.min(depth, MOST_STEPS) * STEP}px`
    return element
  }

  // ---------------------------------------------------------------------------------------------------------- keys

  #move(by: number): void {
    const shown = this.#shown
    const at = Math.min(shown.length - 1, Math.max(0, this.#position() + by))
    const next = shown[at]
    if (next === undefined) return
    this.#selected = next.row
    this.#reveal()
  }

  #key(event: KeyboardEvent): void {
    const row = this.#shown[this.#position()]?.row ?? -1
    const page = Math.max(1, Math.floor(this.#box.clientHeight / ROW) - 1)
    const isSide = row >= 0 && this.#plan!.isSide(row)
    const moves: { readonly [key: string]: () => void } = {
      ArrowDown: () => this.#move(1),
      ArrowUp: () => this.#move(-1),
      PageDown: () => this.#move(page),
      PageUp: () => this.#move(-page),
      Home: () => this.#move(Number.NEGATIVE_INFINITY),
      End: () => this.#move(Number.POSITIVE_INFINITY),
      ArrowRight: () => (isSide && !this.#unfolded.has(row) ? this.#toggle(row) : this.#move(1)),
      ArrowLeft: () => {
        if (isSide && this.#unfolded.has(row)) return this.#toggle(row)
        const parent = this.#plan!.view.parentOf(row)
        if (parent < 0) return
        this.#selected = parent
        this.#reveal()
      },
      Enter: () => row >= 0 && this.#goTo(row),
      " ": () => isSide && this.#toggle(row),
      Escape: () => this.clear()
    }
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    move()
  }

  // -------------------------------------------------------------------------------------------------------- search

  /** All words must be in an entry, in any order, in any case. */
  search(query: string): void {
    const search = ++this.#search
    this.#words = query
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "")
    this.onWords(this.#words)
    if (this.#words.length === 0) {
      this.#found = undefined
      this.#layout()
      this.#reveal()
      return
    }
    const words = this.#words
    const found: Array<Row> = []
    this.#found = found
    this.#box.scrollTop = 0
    let row = 0
    let drawn = -1
    const tell = () => {
      const share = Math.floor((row / Math.max(1, this.#session.size)) * 100)
      const state = row >= this.#session.size ? "" : ` · ${share} %`
      this.#status.textContent = `${found.length.toLocaleString("en-US")} found${state}`
      if (found.length !== drawn && (drawn < 200 || state === "")) this.#draw()
      drawn = found.length
    }
    inSlices(
      () => {
        for (let i = 0; i < 50 && row < this.#session.size; i++, row++) {
          const said = textOf(this.#session, row).toLowerCase()
          if (words.every((word) => said.includes(word))) found.push({ row, depth: 0 })
        }
        if (row >= this.#session.size || row % 1000 === 0) tell()
        return row >= this.#session.size
      },
      () => this.#search === search
    )
    this.#draw()
  }

  #snippet(row: number): string {
    const said = textOf(this.#session, row).replace(/\s+/g, " ")
    const at = said.toLowerCase().indexOf(this.#words[0] ?? "")
    const from = Math.max(0, at - 24)
    return oneLine(`${from > 0 ? "…" : ""}${said.slice(from, from + 300)}`)
  }
}

/** Everything of an entry that a person could have read. */
const textOf = (session: Session, row: number): string => {
  const strings: Array<string> = [session.labels.get(row) ?? ""]
  const pending: Array<unknown> = [session.entry(row)]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === "string") strings.push(value)
    else if (typeof value === "object" && value !== null) {
      const isImage = (value as { type?: unknown }).type === "image"
      const isEntry = value === session.entry(row)
      for (const [name, member] of Object.entries(value)) {
        if (isImage || (isEntry && (name === "id" || name === "parentId" || name === "type" || name === "timestamp")))
          continue
        if (name !== "type" && name !== "role" && name !== "thinkingSignature") pending.push(member)
      }
    }
  }
  return strings.reverse().join("\n")
}
