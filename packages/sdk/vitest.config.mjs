export { default } from "@grove/vitest"
