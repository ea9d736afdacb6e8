/** The few signs that are drawn rather than written. */
const shared = {
  width: 16,
  height: 16,
  viewBox: "0 0 16 16",
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.5
} as const

const icon = (d: string) => () => (
  <svg {...shared} strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
    <path d={d} />
  </svg>
)

export const Search = icon("M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.5-1.5L14 14")
export const Gear = icon(
  "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4ZM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4"
)
export const Branch = icon(
  "M4.5 3v10M4.5 9.5c0-3 7-1.5 7-5M4.5 3a.1.1 0 1 0 0-.1M11.5 4a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6Z"
)
export const Tree = icon("M3 3h4M3 3v9.5h4M3 8h4M9.5 3H13M9.5 8H13M9.5 12.5H13")
export const Panel = icon("M2 3h12v10H2zM10 3v10")
export const Download = icon("M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.5h11")
export const Link = icon(
  "M6.5 9.5 9.5 6.5M7 4.5l1.2-1.2a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.2 1.2a2.8 2.8 0 0 1-4-4L5 7.5"
)
export const Close = icon("M4 4l8 8M12 4l-8 8")
export const Left = icon("M10 3 5 8l5 5")
export const Right = icon("M6 3l5 5-5 5")
export const Down = icon("M3 6l5 5 5-5")
export const Bin = icon("M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9")
export const Swap = icon("M2.5 5.5h10M9.5 2.5l3 3-3 3M13.5 10.5h-10M6.5 7.5l-3 3 3 3")
export const Graph = icon(
  "M4 8h3M7 8c3 0 1-4.5 5-4.5M7 8c3 0 1 4.5 5 4.5M4 8a1.4 1.4 0 1 1-2.8 0A1.4 1.4 0 0 1 4 8ZM14.8 3.5a1.4 1.4 0 1 1-2.8 0 1.4 1.4 0 0 1 2.8 0ZM14.8 12.5a1.4 1.4 0 1 1-2.8 0 1.4 1.4 0 0 1 2.8 0Z"
)
export const Columns = icon("M2 3h5v10H2zM9 3h5v10H9z")
export const Copy = icon("M6 6h7.5v7.5H6zM10 6V2.5H2.5V10H6")

/** A tree whose trunk forks: what Grove keeps. */
export const Logo = () => (
  <svg
    width="20"
    height="20"
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.8"
    aria-hidden="true"
  >
    <path d="M10 18V9M10 13c0-3 5-2 5-6M10 10.5c0-2.6-5-1.8-5-5.5" strokeLinecap="round" />
    <circle cx="10" cy="4.4" r="2.2" fill="currentColor" stroke="none" />
    <circle cx="15.2" cy="6" r="1.9" fill="currentColor" stroke="none" />
    <circle cx="4.8" cy="4.6" r="1.9" fill="currentColor" stroke="none" />
    <path d="M10 9V6" />
  </svg>
)
