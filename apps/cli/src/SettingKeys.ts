/** The settings by name; apart from how they are read, so that the help can be shown without that. */

/** What can be set with `grove config`, by the way to it, and what it is for. */
export const KEYS: { readonly [key: string]: string } = {
  model: "provider/model that answers in sessions that name none",
  "compaction.enabled": "true, false: whether long conversations are compacted by themselves (true)",
  "compaction.trigger": "pi, neovate: by which rule a conversation is too long (pi)",
  "compaction.reserveTokens": "room left for the answer (16384)",
  "compaction.keepRecentTokens": "how much of the end stays word for word (20000)",
  "compaction.model": "provider/model that writes summaries (the session's own)",
  providers: "a list of servers that speak OpenAI's chat completions: [{id, baseUrl, name?, keyVariable?}]",
  "models.overrides": "by provider/model: prices, window, maxOutput, tools, images, thinking",
  theme: "dark, light, none: how the chat looks (as the terminal says)",
  ascii: "true, false: signs that every terminal has (as the locale says)",
  roots: "false, or a list of {format, folder}: where sessions of other programs are shown from (the usual places)",
  doubleEscape: "branch, tree, fork, none: what Escape twice does in the chat (branch)"
}
