/** A long column of which only what is seen is built, whatever the heights of its items. */

/** Prefix sums that can be changed: where an item begins, and which item is at a place, in log n steps. */
class Offsets {
  readonly #heights: Float64Array
  readonly #sums: Float64Array

  constructor(heights: Float64Array) {
    this.#heights = heights
    this.#sums = new Float64Array(heights.length + 1)
    for (let i = 1; i <= heights.length; i++) {
      this.#sums[i]! += heights[i - 1]!
      const next = i + (i & -i)
      if (next <= heights.length) this.#sums[next]! += this.#sums[i]!
    }
  }

  set(at: number, height: number): void {
    const change = height - this.#heights[at]!
    this.#heights[at] = height
    for (let i = at + 1; i < this.#sums.length; i += i & -i) this.#sums[i]! += change
  }

  /** Where item `at` begins; of the number of items, the whole height. */
  before(at: number): number {
    let sum = 0
    for (let i = at; i > 0; i -= i & -i) sum += this.#sums[i]!
    return sum
  }

  height(at: number): number {
    return this.#heights[at]!
  }

  at(offset: number): number {
    let found = 0
    let left = offset
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.#heights.length))); step >= 1; step /= 2) {
      if (found + step < this.#sums.length && this.#sums[found + step]! <= left) {
        found += step
        left -= this.#sums[found]!
      }
    }
    return Math.min(found, this.#heights.length - 1)
  }
}

const BEYOND = 600
/** What is left free above an item that is gone to. */
const MARGIN = 12

export interface Items {
  readonly count: number
  readonly estimate: (at: number) => number
  readonly render: (at: number) => HTMLElement
}

export class Scroller {
  readonly #box: HTMLElement
  readonly #inner: HTMLElement
  readonly #mounted = new Map<number, HTMLElement>()
  readonly #sizes: ResizeObserver
  #items: Items = { count: 0, estimate: () => 0, render: () => document.createElement("div") }
  #offsets = new Offsets(new Float64Array(0))
  #isDrawing = false
  onScroll: () => void = () => {}

  constructor(box: HTMLElement, inner: HTMLElement) {
    this.#box = box
    this.#inner = inner
    this.#sizes = new ResizeObserver(() => this.#measure())
    let isAsked = false
    box.addEventListener(
      "scroll",
      () => {
        if (isAsked) return
        isAsked = true
        requestAnimationFrame(() => {
          isAsked = false
          this.draw()
          this.onScroll()
        })
      },
      { passive: true }
    )
    new ResizeObserver(() => this.draw()).observe(box)
  }

  show(items: Items): void {
    this.#items = items
    this.#offsets = new Offsets(Float64Array.from({ length: items.count }, (_, at) => items.estimate(at)))
    this.refresh()
  }

  /** Builds again what is seen. */
  refresh(): void {
    for (const element of this.#mounted.values()) {
      this.#sizes.unobserve(element)
      element.remove()
    }
    this.#mounted.clear()
    this.draw()
  }

  /** The item at the top of what is seen, below the margin. */
  get first(): number {
    return this.#items.count === 0 ? -1 : this.#offsets.at(this.#box.scrollTop + MARGIN + 2)
  }

  element(at: number): HTMLElement | undefined {
    return this.#mounted.get(at)
  }

  /** An item that was estimated may turn out larger once it is built, so this is done until it stays. */
  scrollTo(at: number): void {
    for (let attempt = 0; attempt < 4; attempt++) {
      const wanted = Math.max(0, this.#offsets.before(at) - MARGIN)
      this.#box.scrollTop = wanted
      this.draw()
      if (Math.abs(this.#offsets.before(at) - MARGIN - wanted) < 1) break
    }
    this.onScroll()
  }

  draw(): void {
    if (this.#isDrawing) return
    this.#isDrawing = true
    const { count } = this.#items
    this.#inner.style.height = `${this.#offsets.before(count)}px`
    if (count > 0) {
      const top = this.#box.scrollTop - BEYOND
      const bottom = this.#box.scrollTop + this.#box.clientHeight + BEYOND
      const first = this.#offsets.at(Math.max(0, top))
      let last = first
      for (let end = this.#offsets.before(first); last < count && end < bottom; last++)
        end += this.#offsets.height(last)
      for (const [at, element] of this.#mounted) {
        if (at >= first && at < last) continue
        this.#sizes.unobserve(element)
        element.remove()
        this.#mounted.delete(at)
      }
      for (let at = first; at < last; at++) {
        if (this.#mounted.has(at)) continue
        const element = this.#items.render(at)
        this.#mounted.set(at, element)
        this.#inner.append(element)
        this.#sizes.observe(element)
      }
    }
    this.#isDrawing = false
    this.#measure()
  }

  /** Takes the heights that items really have; what is looked at stays where it is. */
  #measure(): void {
    if (this.#isDrawing) return
    const { scrollTop } = this.#box
    const anchor = this.first
    const into = anchor < 0 ? 0 : scrollTop - this.#offsets.before(anchor)
    let isChanged = false
    for (const [at, element] of this.#mounted) {
      const height = element.offsetHeight
      if (Math.abs(height - this.#offsets.height(at)) < 0.5) continue
      this.#offsets.set(at, height)
      isChanged = true
    }
    for (const [at, element] of this.#mounted) element.style.transform = `translateY(${this.#offsets.before(at)}px)`
    if (!isChanged) return
    this.#inner.style.height = `${this.#offsets.before(this.#items.count)}px`
    const kept = this.#offsets.before(anchor) + into
    if (Math.abs(kept - scrollTop) >= 1) this.#box.scrollTop = kept
    this.draw()
  }
}
