/** What an entry of type `message` holds: one utterance, by whoever made it. */
import { Schema } from "effect"
import { open } from "./open.ts"
import { Usage } from "./Usage.ts"

export const TextBlock = open({ type: Schema.tag("text"), text: Schema.String })
/** `data` is base64, or `blob:sha256:<hash>` when the bytes are kept outside the line. */
export const ImageBlock = open({ type: Schema.tag("image"), data: Schema.String, mimeType: Schema.String })
export const ThinkingBlock = open({ type: Schema.tag("thinking"), thinking: Schema.String })
export const RedactedThinkingBlock = open({ type: Schema.tag("redactedThinking"), data: Schema.String })
export const ToolCallBlock = open({
  type: Schema.tag("toolCall"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.Record(Schema.String, Schema.Unknown)
})
export type ToolCallBlock = typeof ToolCallBlock.Type

export const ContentBlock = Schema.Union([TextBlock, ImageBlock])
export const Content = Schema.Union([Schema.String, Schema.Array(ContentBlock)])
export type Content = typeof Content.Type
export const AssistantBlock = Schema.Union([TextBlock, ImageBlock, ThinkingBlock, RedactedThinkingBlock, ToolCallBlock])

/** Unix milliseconds, where the entry around it has an ISO string. */
const timestamp = Schema.optionalKey(Schema.Finite)

export const UserMessage = open({ role: Schema.tag("user"), content: Content, timestamp })
export const DeveloperMessage = open({ role: Schema.tag("developer"), content: Content, timestamp })
export const AssistantMessage = open({
  role: Schema.tag("assistant"),
  content: Schema.Array(AssistantBlock),
  provider: Schema.String,
  model: Schema.String,
  api: Schema.optionalKey(Schema.String),
  usage: Schema.optionalKey(Usage),
  stopReason: Schema.optionalKey(Schema.String),
  errorMessage: Schema.optionalKey(Schema.NullOr(Schema.String)),
  latencyMs: Schema.optionalKey(Schema.Finite),
  timestamp
})
export const ToolResultMessage = open({
  role: Schema.tag("toolResult"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  content: Content,
  isError: Schema.Boolean,
  timestamp
})
const execution = {
  output: Schema.String,
  exitCode: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  cancelled: Schema.optionalKey(Schema.Boolean),
  truncated: Schema.optionalKey(Schema.Boolean),
  excludeFromContext: Schema.optionalKey(Schema.Boolean),
  timestamp
}
export const BashExecutionMessage = open({ role: Schema.tag("bashExecution"), command: Schema.String, ...execution })
export const PythonExecutionMessage = open({ role: Schema.tag("pythonExecution"), code: Schema.String, ...execution })
export const FileMentionMessage = open({
  role: Schema.tag("fileMention"),
  files: Schema.Array(Schema.Unknown),
  timestamp
})
const injected = { customType: Schema.String, content: Content, display: Schema.optionalKey(Schema.Boolean), timestamp }
export const CustomMessage = open({ role: Schema.tag("custom"), ...injected })
/** The name `custom` had before version 3; still found in version 3 files. */
export const HookMessage = open({ role: Schema.tag("hookMessage"), ...injected })
export const SystemMessage = open({ role: Schema.tag("system"), content: Content, timestamp })

export const Message = Schema.Union([
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  BashExecutionMessage,
  CustomMessage,
  SystemMessage,
  DeveloperMessage,
  PythonExecutionMessage,
  FileMentionMessage,
  HookMessage
])
export type Message = typeof Message.Type
export type AssistantMessage = typeof AssistantMessage.Type
