/** What reads Grove's files and nothing that writes any but caches: for programs that must not be able to. */
export * as BlobFiles from "./BlobFiles.ts"
export * as Catalogue from "./Catalogue.ts"
export * as SessionPaths from "./SessionPaths.ts"
export * as SessionReader from "./SessionReader.ts"
