/**
 * Identifier: the ids of a session and of what it holds, branded so that one cannot be passed for another.
 *
 * 1. Brands are for doors of the API. Wire schemas keep ids as plain strings, because logs hold hand-made and redacted
 *    ids too (FORMAT §3.1).
 * 2. Ids are opaque and case-sensitive: they are compared as they are, never normalised.
 * 3. Each brand is a namespace of its own: equal strings of two brands name different things (FORMAT §4).
 *
 * `SessionId.make(text)` checks and throws on a mistake of the program; the guards are total.
 */
import * as Schema from "effect/Schema"

/**
 * Id of a session and name of its log: 8-4-4-4-12 hexadecimal digits, in any case (FORMAT §1).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SessionId = Schema.String.check(Schema.isGUID()).pipe(Schema.brand("SessionId"))

/**
 * A checked session id.
 *
 * @category models
 * @since 0.1.0
 */
export type SessionId = typeof SessionId.Type

/**
 * Is it the id of a session?
 *
 * @category guards
 * @since 0.1.0
 */
export const isSessionId: (value: unknown) => value is SessionId = Schema.is(SessionId)

/**
 * Id of an entry of the parent chain (`uuid` on the wire): any string that is not empty, for not all are UUIDs
 * (FORMAT §3.1).
 *
 * @category schemas
 * @since 0.1.0
 */
export const EntryId = Schema.NonEmptyString.pipe(Schema.brand("EntryId"))

/**
 * A checked entry id.
 *
 * @category models
 * @since 0.1.0
 */
export type EntryId = typeof EntryId.Type

/**
 * Is it the id of an entry?
 *
 * @category guards
 * @since 0.1.0
 */
export const isEntryId: (value: unknown) => value is EntryId = Schema.is(EntryId)

/**
 * Id of a subagent, a part of its log's name: any string that is safe as a file name, so without separators, control
 * characters, `.` and `..` (FORMAT §1).
 *
 * @category schemas
 * @since 0.1.0
 */
export const AgentId = Schema.String.check(Schema.isPattern(/^(?!\.{1,2}$)[^/\\\p{Cc}\p{Cs}]+$/u)).pipe(
  Schema.brand("AgentId")
)

/**
 * A checked agent id.
 *
 * @category models
 * @since 0.1.0
 */
export type AgentId = typeof AgentId.Type

/**
 * Is it the id of a subagent?
 *
 * @category guards
 * @since 0.1.0
 */
export const isAgentId: (value: unknown) => value is AgentId = Schema.is(AgentId)

/**
 * Id that joins a tool call with its result: any string that is not empty.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolUseId = Schema.NonEmptyString.pipe(Schema.brand("ToolUseId"))

/**
 * A checked tool use id.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolUseId = typeof ToolUseId.Type

/**
 * Is it the id of a tool use?
 *
 * @category guards
 * @since 0.1.0
 */
export const isToolUseId: (value: unknown) => value is ToolUseId = Schema.is(ToolUseId)

/**
 * Name of the folder that holds the logs of one directory: letters, digits and `-` (FORMAT §1, project key).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ProjectKey = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9-]+$/)).pipe(Schema.brand("ProjectKey"))

/**
 * A checked project key.
 *
 * @category models
 * @since 0.1.0
 */
export type ProjectKey = typeof ProjectKey.Type

/**
 * Is it the key of a project?
 *
 * @category guards
 * @since 0.1.0
 */
export const isProjectKey: (value: unknown) => value is ProjectKey = Schema.is(ProjectKey)
