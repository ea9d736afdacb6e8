/** What a browser is told about every answer, whatever it is: run nothing and load nothing that is not ours. */
import { randomBytes } from "node:crypto"

/** Fresh for each answer; only scripts and styles that carry it run. */
export const nonce = (): string => randomBytes(18).toString("base64")

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

export const of = (nonce: string): { readonly [name: string]: string } => ({
  "content-security-policy": policy(nonce),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()"
})
