/**
 * Progress: the legacy entry of versions 2.1.9–2.1.83, read and never written (FORMAT §3.8).
 *
 * It has the envelope of a message and is the parent of messages, but it is none: readers look through it to the nearest
 * ancestor that is one (RECOVERY §3).
 */
import * as Schema from "effect/Schema"
import * as Message from "./Message.ts"
import * as Wire from "./internal/wire.ts"

/**
 * A running hook, command, agent or server call; `data.type` says which: `bash_progress`, `hook_progress`,
 * `agent_progress`, `mcp_progress`, `query_update`, `search_results_received`, `waiting_for_task` (open).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Progress = Schema.Struct({
  ...Message.Envelope.fields,
  type: Schema.tag("progress"),
  data: Wire.nullable(Schema.Struct({ type: Wire.text })),
  ...Wire.each(Wire.text, "toolUseID", "parentToolUseID")
})

/**
 * What {@link Progress} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Progress = typeof Progress.Type

/**
 * The schema by its wire type.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schemas = { progress: Progress } as const
