/** Pages without a server of their own: exported once, served as files. */
import { fileURLToPath } from "node:url"

export default {
  output: "export",
  // Types are checked with all others; the exporter would write its own wishes into tsconfig.json.
  typescript: { ignoreBuildErrors: true, tsconfigPath: "tsconfig.next.json" },
  turbopack: { root: fileURLToPath(new URL("../../", import.meta.url)) },
  images: { unoptimized: true },
  reactStrictMode: true,
  poweredByHeader: false
}
