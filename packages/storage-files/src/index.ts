/** Grove's storage on plain files. */
export * as FileBlobStore from "./FileBlobStore.ts"
export * as FileCheck from "./FileCheck.ts"
export * as ImageBlobs from "./ImageBlobs.ts"
export * as JsonlSessionStore from "./JsonlSessionStore.ts"
export * as SessionPaths from "./SessionPaths.ts"
