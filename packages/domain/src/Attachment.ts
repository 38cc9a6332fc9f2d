/**
 * Attachment: the bodies that an attachment entry may carry, keyed on the body's own `type` (FORMAT §3.5).
 *
 * 1. Reading is total. A body of unknown type, or of a known type that does not fit, is an `UnknownBody`, kept whole.
 * 2. Only keys without which a body means nothing are required; bodies known from third parties require none.
 * 3. What a body says to the model is a reading of its keys. Where the entry has `rendered`, that is sent instead
 *    (`Message.sent`). A body that only informs people or programs says nothing.
 */
import * as Schema from "effect/Schema"
import * as Content from "./Content.ts"
import * as Wire from "./internal/wire.ts"

const { any, count, each, flag, list, text: string, texts } = Wire

const body = <const T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.tag(type), ...fields })

/** A body that was not seen by us: its keys are not known. */
const foreign = <const T extends string>(type: T) => body(type, {})

const records = <F extends Schema.Struct.Fields>(fields: F) => Schema.optionalKey(Schema.Array(Schema.Struct(fields)))

const hook = each(string, "hookName", "hookEvent", "toolUseID")
const hookRun = { ...hook, ...each(string, "stdout", "stderr", "command"), ...each(count, "exitCode", "durationMs") }
const stringOrTexts = Schema.Union([Schema.String, Schema.Array(Schema.String)])

/** A file as the reading tool gives it: `file.content` is its text, other shapes (images, notebooks) are kept. */
const fileContent = Schema.optionalKey(
  Schema.Struct({ type: string, file: Schema.optionalKey(Schema.Struct({ filePath: string, content: any })) })
)

/**
 * The schema of each known body, by its `type`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = {
  // hooks; `toolUseID` of a hook that belongs to no tool is an id of its own
  hook_success: body("hook_success", {
    ...hookRun,
    ...each(Schema.String, "hookName", "hookEvent", "toolUseID", "content")
  }),
  hook_non_blocking_error: body("hook_non_blocking_error", hookRun),
  hook_cancelled: body("hook_cancelled", hookRun),
  hook_additional_context: body("hook_additional_context", { ...hook, content: stringOrTexts }),
  hook_system_message: body("hook_system_message", { ...hook, content: stringOrTexts }),
  async_hook_response: body("async_hook_response", { ...hookRun, processId: string, response: any }),
  hook_blocking_error: foreign("hook_blocking_error"),
  hook_stopped_continuation: foreign("hook_stopped_continuation"),
  hook_permission_decision: foreign("hook_permission_decision"),
  hook_error_during_execution: foreign("hook_error_during_execution"),
  // prompts, files, memory
  queued_command: body("queued_command", {
    prompt: Schema.Union([Schema.String, Schema.Array(Schema.Unknown)]),
    ...each(string, "commandMode", "source_uuid", "timestamp", "delivery_id"),
    ...each(any, "origin", "rowSource", "hostsOwnTurn")
  }),
  file: body("file", { ...each(string, "filename", "displayPath"), content: fileContent }),
  already_read_file: body("already_read_file", { ...each(string, "filename", "displayPath"), content: fileContent }),
  directory: body("directory", each(string, "path", "content", "displayPath")),
  compact_file_reference: body("compact_file_reference", each(string, "filename", "displayPath")),
  edited_text_file: body("edited_text_file", each(string, "filename", "snippet", "displayPath")),
  opened_file_in_ide: body("opened_file_in_ide", each(string, "filename")),
  selected_lines_in_ide: body("selected_lines_in_ide", {
    ...each(string, "ideName", "filename", "displayPath", "content"),
    ...each(count, "lineStart", "lineEnd")
  }),
  diagnostics: body("diagnostics", {
    files: records({ uri: string, diagnostics: records({ ...each(string, "message", "severity"), range: any }) }),
    isNew: flag
  }),
  nested_memory: body("nested_memory", {
    ...each(string, "path", "displayPath"),
    content: Schema.optionalKey(
      Schema.Struct({ ...each(string, "path", "type", "content", "rawContent"), globs: list })
    )
  }),
  instructions: body("instructions", { files: records(each(string, "path", "type", "content")) }),
  read_truncation_notice: body("read_truncation_notice", each(string, "toolUseID", "banner")),
  // skills, tools, agents
  skill_listing: body("skill_listing", {
    content: string,
    names: texts,
    ...each(any, "digests", "skillCount", "isInitial")
  }),
  dynamic_skill: body("dynamic_skill", { ...each(string, "skillDir", "displayPath"), skillNames: texts }),
  invoked_skills: body("invoked_skills", { skills: records(each(string, "name", "path", "content")) }),
  deferred_tools_delta: body("deferred_tools_delta", {
    ...each(texts, "addedNames", "addedLines", "removedNames", "readdedNames"),
    ...each(list, "pendingMcpServers", "needsAuthMcpServers", "wireHiddenNames", "failedMcpServers")
  }),
  agent_listing_delta: body("agent_listing_delta", {
    ...each(texts, "addedTypes", "addedLines", "removedTypes"),
    ...each(any, "isInitial", "showConcurrencyNote", "builtInTypes", "builtInPluginTypes")
  }),
  mcp_instructions_delta: body("mcp_instructions_delta", each(texts, "addedNames", "addedBlocks", "removedNames")),
  command_permissions: body("command_permissions", { allowedTools: list, model: string }),
  // reminders and modes
  task_reminder: body("task_reminder", {
    content: records({
      ...each(string, "id", "subject", "description", "status", "activeForm"),
      ...each(list, "blocks", "blockedBy")
    }),
    itemCount: count
  }),
  todo_reminder: body("todo_reminder", {
    content: records(each(string, "content", "status", "activeForm")),
    itemCount: count
  }),
  critical_system_reminder: body("critical_system_reminder", { content: string }),
  total_tokens_reminder: body("total_tokens_reminder", { text: string }),
  plan_mode: body("plan_mode", {
    ...each(string, "planFilePath", "reminderType"),
    ...each(flag, "planExists", "isSubAgent")
  }),
  plan_mode_exit: body("plan_mode_exit", { planFilePath: string, planExists: flag }),
  plan_mode_reentry: body("plan_mode_reentry", { planFilePath: string }),
  plan_file_reference: body("plan_file_reference", each(string, "planFilePath", "planContent")),
  auto_mode: body("auto_mode", {
    reminderType: string,
    ...each(any, "autoModeConsentFlow", "bashFirst", "bypass", "steerOnly", "finishExposedWork", "bashFirstSteer")
  }),
  ultra_effort_enter: body("ultra_effort_enter", { reminderType: string }),
  goal_status: body("goal_status", {
    ...each(string, "condition", "reason"),
    ...each(flag, "met", "sentinel"),
    ...each(count, "iterations", "tokens", "durationMs")
  }),
  companion_intro: body("companion_intro", each(string, "name", "species")),
  // where the session runs
  date_change: body("date_change", { newDate: string }),
  date: body("date", { date: string }),
  environment: body("environment", { snapshot: any }),
  model: body("model", { text: string, identity: any }),
  remote_session_change: body("remote_session_change", {
    ...each(any, "url", "commit", "pr", "sendUserFileHint", "managedCommit", "managedPr")
  }),
  session_context: body("session_context", { context: any }),
  prompt_snapshot: body("prompt_snapshot", each(any, "systemPrompt", "tools", "cliPrefix", "contextRendering")),
  // known from third parties
  task_status: foreign("task_status"),
  output_style: foreign("output_style"),
  relevant_memories: foreign("relevant_memories"),
  mcp_resource: foreign("mcp_resource"),
  pdf_reference: foreign("pdf_reference"),
  agent_mention: foreign("agent_mention"),
  structured_output: foreign("structured_output"),
  token_usage: foreign("token_usage"),
  budget_usd: foreign("budget_usd"),
  team_context: foreign("team_context"),
  teammate_mailbox: foreign("teammate_mailbox"),
  compaction_reminder: foreign("compaction_reminder"),
  verify_plan_reminder: foreign("verify_plan_reminder"),
  plan_verification: foreign("plan_verification")
} as const

/**
 * A known body type.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = keyof typeof schemas

/**
 * The body of a known type.
 *
 * @category models
 * @since 0.1.0
 */
export type Of<K extends Kind> = (typeof schemas)[K]["Type"]

/**
 * Any known body.
 *
 * @category models
 * @since 0.1.0
 */
export type Body = { readonly [K in Kind]: Of<K> }[Kind]

/**
 * A body that no schema fits, kept whole.
 *
 * @category models
 * @since 0.1.0
 */
export interface UnknownBody {
  readonly type: string
  readonly [key: string]: unknown
}

const fits: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries(schemas).map(([kind, schema]) => [kind, Schema.is(schema as Schema.Schema<unknown>)])
)

/**
 * Is it a body of this known type, with the keys that the type asks for?
 *
 * @category guards
 * @since 0.1.0
 */
export const is = <K extends Kind>(kind: K, attachment: unknown): attachment is Of<K> =>
  Wire.isObject(attachment) && attachment.type === kind && fits.get(kind)?.(attachment) === true

/**
 * The body of an attachment entry, as it was read; undefined for null, for no object and for an object without a
 * string `type`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const read = (attachment: unknown): Body | UnknownBody | undefined =>
  Wire.isObject(attachment) && typeof attachment.type === "string"
    ? (attachment as unknown as Body | UnknownBody)
    : undefined

/**
 * The blocks that a body sends to the model where its entry has no `rendered`: a queued prompt as it is, images
 * included, else its text. None: it says nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const content = (attachment: unknown): ReadonlyArray<Content.Block> => {
  if (is("queued_command", attachment)) return Content.blocks(attachment.prompt)
  const said = text(attachment)
  return said === undefined ? [] : [Content.text(said)]
}

/**
 * The text that a body sends to the model where its entry has no `rendered`: what people wrote as it is, everything
 * else marked as a reminder. Undefined: it says nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const text = (attachment: unknown): string | undefined => {
  if (is("queued_command", attachment)) return filled(Content.textOf(attachment.prompt))
  const kind = read(attachment)?.type
  if (kind === undefined || fits.get(kind)?.(attachment) !== true) return undefined
  const said = filled(
    (says as { readonly [kind: string]: ((body: unknown) => string) | undefined })[kind]?.(attachment)
  )
  return said === undefined ? undefined : `<system-reminder>\n${said}\n</system-reminder>`
}

const filled = (said: string | undefined) => (said === undefined || said.trim() === "" ? undefined : said)

/** A heading above what it is about; nothing where there is nothing below it. */
const under = (heading: string, ...parts: ReadonlyArray<string | undefined>) => {
  const found = parts.filter((part) => filled(part) !== undefined)
  return found.length === 0 ? "" : `${heading}\n${found.join("\n")}`
}

const shown = (file: { readonly displayPath?: string; readonly filename?: string; readonly path?: string }) =>
  file.filename ?? file.path ?? file.displayPath ?? "a file"

const fileText = (file: Of<"file"> | Of<"already_read_file">) =>
  typeof file.content?.file?.content === "string" ? file.content.file.content : undefined

const joined = (value: string | ReadonlyArray<string>) => (typeof value === "string" ? value : value.join("\n"))

const says: { readonly [K in Kind]?: (body: Of<K>) => string } = {
  // what these two hooks print is context for the model, what the others print is not
  hook_success: (body) =>
    body.hookEvent === "SessionStart" || body.hookEvent === "UserPromptSubmit"
      ? under(`Output of the hook ${body.hookName}:`, body.content)
      : "",
  hook_additional_context: (body) =>
    under(`Context added by the hook ${body.hookName ?? body.hookEvent ?? ""}:`, joined(body.content)),
  file: (body) => under(`Content of ${shown(body)}:`, fileText(body)),
  already_read_file: (body) => under(`Content of ${shown(body)}, already read:`, fileText(body)),
  directory: (body) => under(`Content of the directory ${shown(body)}:`, body.content),
  compact_file_reference: (body) =>
    `${shown(body)} was read before the conversation was summarised; read it again if it is needed.`,
  edited_text_file: (body) =>
    under(`${shown(body)} was changed outside of this conversation. It now holds:`, body.snippet),
  opened_file_in_ide: (body) => `The user has opened ${shown(body)} in the editor.`,
  selected_lines_in_ide: (body) =>
    under(
      `The user has selected lines ${body.lineStart ?? "?"}-${body.lineEnd ?? "?"} of ${shown(body)}:`,
      body.content
    ),
  diagnostics: (body) =>
    under(
      "New diagnostics:",
      ...(body.files ?? []).map((file) =>
        under(
          `${file.uri ?? ""}:`,
          ...(file.diagnostics ?? []).map((one) => `${one.severity ?? ""}: ${one.message ?? ""}`)
        )
      )
    ),
  nested_memory: (body) => under(`Content of ${body.path ?? "a memory file"}:`, body.content?.content),
  instructions: (body) =>
    (body.files ?? [])
      .map((file) => under(`Content of ${file.path ?? "the instructions"}:`, file.content))
      .join("\n\n"),
  read_truncation_notice: (body) => body.banner ?? "",
  skill_listing: (body) => under("Available skills:", body.content),
  invoked_skills: (body) =>
    (body.skills ?? []).map((skill) => under(`Skill ${skill.name ?? ""}:`, skill.content)).join("\n\n"),
  deferred_tools_delta: (body) => delta("tools", body.addedLines ?? body.addedNames, body.removedNames),
  agent_listing_delta: (body) => delta("agent types", body.addedLines ?? body.addedTypes, body.removedTypes),
  mcp_instructions_delta: (body) => delta("instructions of servers", body.addedBlocks, body.removedNames),
  task_reminder: (body) =>
    under(
      "Current tasks:",
      ...(body.content ?? []).map((task) => `#${task.id ?? ""} [${task.status ?? ""}] ${task.subject ?? ""}`)
    ),
  todo_reminder: (body) =>
    under("Current todos:", ...(body.content ?? []).map((todo) => `[${todo.status ?? ""}] ${todo.content ?? ""}`)),
  critical_system_reminder: (body) => body.content ?? "",
  total_tokens_reminder: (body) => body.text ?? "",
  plan_mode: (body) => `Plan mode is on: plan, and change nothing but ${body.planFilePath ?? "the plan"}.`,
  plan_mode_exit: () => "Plan mode is off: changes may be made.",
  plan_mode_reentry: (body) => `Plan mode is on again; the earlier plan is in ${body.planFilePath ?? "its file"}.`,
  plan_file_reference: (body) => under(`The plan in ${body.planFilePath ?? "its file"}:`, body.planContent),
  auto_mode: () => "Auto mode is on: work on without asking where that is safe.",
  date_change: (body) => under("The date has changed. Today is:", body.newDate),
  date: (body) => under("Today is:", body.date),
  model: (body) => body.text ?? ""
}

const delta = (what: string, added: ReadonlyArray<string> = [], removed: ReadonlyArray<string> = []) =>
  [under(`Newly available ${what}:`, ...added), under(`No longer available ${what}:`, ...removed)]
    .filter((part) => part !== "")
    .join("\n")
